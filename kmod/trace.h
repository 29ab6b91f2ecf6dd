/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: /sys/kernel/tracing/events/syncevent. docs/abi.md lists them. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM syncevent

#if !defined(SYNCEVENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SYNCEVENT_TRACE_H

#include <linux/tracepoint.h>

#define se_show_op(op) __print_symbolic(op,				\
	{ 0, "eq" }, { 1, "neq" }, { 2, "gt" },				\
	{ 3, "ge" }, { 4, "lt" }, { 5, "le" })

/* enum se_peer_change */
#define se_show_change(change) __print_symbolic(change,			\
	{ 0, "attached" }, { 1, "detached" }, { 2, "fenced" },		\
	{ 3, "came" }, { 4, "left" }, { 5, "died" })

TRACE_EVENT(syncevent_create,
	TP_PROTO(u64 id, u64 value, u32 flags),
	TP_ARGS(id, value, flags),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, value)
		__field(u32, flags)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->value = value;
		__entry->flags = flags;
	),
	TP_printk("id=%llu value=%llu flags=%#x",
		  __entry->id, __entry->value, __entry->flags)
);

DECLARE_EVENT_CLASS(syncevent_value,
	TP_PROTO(u64 id, u64 value),
	TP_ARGS(id, value),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->value = value;
	),
	TP_printk("id=%llu value=%llu", __entry->id, __entry->value)
);

DEFINE_EVENT(syncevent_value, syncevent_publish,
	TP_PROTO(u64 id, u64 value),
	TP_ARGS(id, value)
);

DEFINE_EVENT(syncevent_value, syncevent_ring,
	TP_PROTO(u64 id, u64 value),
	TP_ARGS(id, value)
);

TRACE_EVENT(syncevent_wait_begin,
	TP_PROTO(u64 id, u32 op, u64 operand, u64 mask),
	TP_ARGS(id, op, operand, mask),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, operand)
		__field(u64, mask)
		__field(u32, op)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->operand = operand;
		__entry->mask = mask;
		__entry->op = op;
	),
	TP_printk("id=%llu %s %llu mask=%#llx", __entry->id,
		  se_show_op(__entry->op), __entry->operand, __entry->mask)
);

TRACE_EVENT(syncevent_wait_end,
	TP_PROTO(u64 id, u64 value, int ret),
	TP_ARGS(id, value, ret),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, value)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->value = value;
		__entry->ret = ret;
	),
	TP_printk("id=%llu value=%llu ret=%d",
		  __entry->id, __entry->value, __entry->ret)
);

/* No name: it is whatever bytes a user chose. */
TRACE_EVENT(syncevent_export,
	TP_PROTO(u64 id, int region, u32 slot, u32 generation, u32 rights, bool named),
	TP_ARGS(id, region, slot, generation, rights, named),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(int, region)
		__field(u32, slot)
		__field(u32, generation)
		__field(u32, rights)
		__field(bool, named)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->region = region;
		__entry->slot = slot;
		__entry->generation = generation;
		__entry->rights = rights;
		__entry->named = named;
	),
	TP_printk("id=%llu region=%d slot=%u generation=%u rights=%#x named=%d",
		  __entry->id, __entry->region, __entry->slot, __entry->generation,
		  __entry->rights, __entry->named)
);

TRACE_EVENT(syncevent_peer,
	TP_PROTO(int region, u32 side, u32 change),
	TP_ARGS(region, side, change),
	TP_STRUCT__entry(
		__field(int, region)
		__field(u32, side)
		__field(u32, change)
	),
	TP_fast_assign(
		__entry->region = region;
		__entry->side = side;
		__entry->change = change;
	),
	TP_printk("region=%d side=%u %s", __entry->region, __entry->side,
		  se_show_change(__entry->change))
);

#endif /* SYNCEVENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
