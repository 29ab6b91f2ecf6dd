// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * headers.c - the layout of every public structure, asserted at compile time
 *
 * headers.sh compiles it in each language and word size: the numbers are the
 * same for all, so it proves that a 32-bit program, a 64-bit program, C and C++
 * mean the same bytes; but for the pointers in three structures of the library,
 * which no other program sees. With FREESTANDING it takes the headers alone that are
 * for units without Linux.
 */
#include <stddef.h>
#include <syncevent/cell.h>
#include <syncevent/dpa.h>
#ifndef FREESTANDING
#include <linux/syncevent.h>
#include <syncevent.h>
#endif

#define PASTE2(a, b)	a##b
#define PASTE(a, b)	PASTE2(a, b)
/* C99 has no _Static_assert. */
#define ASSERT(what)	typedef char PASTE(assert_, __LINE__)[(what) ? 1 : -1]
#define SIZE(type, size) \
	ASSERT(sizeof(struct type) == (size))
#define FIELD(type, field, offset, size) \
	ASSERT(offsetof(struct type, field) == (offset) && \
	       sizeof(((struct type *)0)->field) == (size))

SIZE(syncevent_hint, 16);
FIELD(syncevent_hint, wake_above, 0, 8);
FIELD(syncevent_hint, flags, 8, 4);
FIELD(syncevent_hint, deaths, 12, 4);

SIZE(syncevent_cell, 64);
FIELD(syncevent_cell, value, 0, 8);
FIELD(syncevent_cell, state, 8, 4);
FIELD(syncevent_cell, sides, 12, 2);
FIELD(syncevent_cell, flags, 14, 2);
FIELD(syncevent_cell, hint, 16, 48);
ASSERT(SYNCEVENT_HINT_WAKE_ALL == 1 && SYNCEVENT_HINT_PEER_DEAD == 2);
ASSERT(SYNCEVENT_STATE_MASK == 3 && SYNCEVENT_STATE_LIVE == 1);
ASSERT(SYNCEVENT_SIDES_MAX == 64);

SIZE(syncevent_region_header, 104);
FIELD(syncevent_region_header, magic, 0, 8);
FIELD(syncevent_region_header, version, 8, 4);
FIELD(syncevent_region_header, sides, 12, 4);
FIELD(syncevent_region_header, size, 16, 8);
FIELD(syncevent_region_header, id, 24, 16);
FIELD(syncevent_region_header, format_epoch, 40, 8);
FIELD(syncevent_region_header, slots, 48, 4);
FIELD(syncevent_region_header, slot_shift, 52, 4);
FIELD(syncevent_region_header, side_offset, 56, 8);
FIELD(syncevent_region_header, desc_offset, 64, 8);
FIELD(syncevent_region_header, ack_offset, 72, 8);
FIELD(syncevent_region_header, ring_offset, 80, 8);
FIELD(syncevent_region_header, slot_offset, 88, 8);
FIELD(syncevent_region_header, payload_offset, 96, 8);

SIZE(syncevent_region_side, 1024);
FIELD(syncevent_region_side, epoch, 0, 8);
FIELD(syncevent_region_side, heartbeat, 8, 8);
FIELD(syncevent_region_side, format_epoch, 16, 8);
FIELD(syncevent_region_side, doorbell, 24, 4);
FIELD(syncevent_region_side, address, 28, 4);
FIELD(syncevent_region_side, fenced, 64, 512);

SIZE(syncevent_region_desc, 256);
FIELD(syncevent_region_desc, state, 0, 4);
FIELD(syncevent_region_desc, flags, 4, 4);
FIELD(syncevent_region_desc, publishers, 8, 4);
FIELD(syncevent_region_desc, subscribers, 12, 4);
FIELD(syncevent_region_desc, payload_first, 16, 4);
FIELD(syncevent_region_desc, payload_pages, 20, 4);
FIELD(syncevent_region_desc, exported, 24, 4);
FIELD(syncevent_region_desc, name_rights, 28, 4);
FIELD(syncevent_region_desc, key, 32, 32);
FIELD(syncevent_region_desc, name, 64, 64);

SIZE(syncevent_region_ack, 8);
FIELD(syncevent_region_ack, gone, 0, 4);
FIELD(syncevent_region_ack, import, 4, 4);

SIZE(syncevent_region_ring, 2176);
FIELD(syncevent_region_ring, tail, 0, 4);
FIELD(syncevent_region_ring, overflow, 4, 4);
FIELD(syncevent_region_ring, head, 64, 4);
FIELD(syncevent_region_ring, request, 68, 4);
FIELD(syncevent_region_ring, entry, 128, 2048);

ASSERT(SYNCEVENT_REGION_MAGIC == 0x4e4f494745524553ULL && SYNCEVENT_REGION_VERSION == 1);
ASSERT(SYNCEVENT_REGION_PAGE == 4096 && SYNCEVENT_RING_ENTRIES == 256);
ASSERT(SYNCEVENT_WAKE_NONE == UINT64_MAX);
ASSERT(SYNCEVENT_STATE_FREE == 0 && SYNCEVENT_STATE_REVOKED == 2);
ASSERT(SYNCEVENT_STATE_DRAIN == 3 && SYNCEVENT_STATE_GEN_SHIFT == 2);
ASSERT(SYNCEVENT_CELL_SILENT == 1 && SYNCEVENT_CELL_NO_REMOTE_ADD == 2);
ASSERT(SYNCEVENT_RIGHT_READ == 1 && SYNCEVENT_RIGHT_UPDATE == 2);
ASSERT(SYNCEVENT_COND_EQ == 0 && SYNCEVENT_COND_NEQ == 1 && SYNCEVENT_COND_GT == 2);
ASSERT(SYNCEVENT_COND_GE == 3 && SYNCEVENT_COND_LT == 4 && SYNCEVENT_COND_LE == 5);

#ifndef FREESTANDING
SIZE(syncevent_create, 24);
FIELD(syncevent_create, value, 0, 8);
FIELD(syncevent_create, flags, 8, 4);
FIELD(syncevent_create, publishers, 12, 4);
FIELD(syncevent_create, subscribers, 16, 4);
FIELD(syncevent_create, reserved, 20, 4);

SIZE(syncevent_wait_entry, 40);
FIELD(syncevent_wait_entry, fd, 0, 4);
FIELD(syncevent_wait_entry, cond, 4, 4);
FIELD(syncevent_wait_entry, operand, 8, 8);
FIELD(syncevent_wait_entry, mask, 16, 8);
FIELD(syncevent_wait_entry, value, 24, 8);
FIELD(syncevent_wait_entry, status, 32, 4);
FIELD(syncevent_wait_entry, reserved, 36, 4);

SIZE(syncevent_wait_many, 32);
FIELD(syncevent_wait_many, entries, 0, 8);
FIELD(syncevent_wait_many, deadline, 8, 8);
FIELD(syncevent_wait_many, count, 16, 4);
FIELD(syncevent_wait_many, flags, 20, 4);
FIELD(syncevent_wait_many, index, 24, 4);
FIELD(syncevent_wait_many, reserved, 28, 4);

SIZE(syncevent_queue_create, 8);
FIELD(syncevent_queue_create, flags, 0, 4);
FIELD(syncevent_queue_create, reserved, 4, 4);

SIZE(syncevent_dev_info, 64);
FIELD(syncevent_dev_info, abi, 0, 4);
FIELD(syncevent_dev_info, wait_max, 4, 4);
FIELD(syncevent_dev_info, caps, 8, 8);
FIELD(syncevent_dev_info, events_max, 16, 8);
FIELD(syncevent_dev_info, events, 24, 8);
FIELD(syncevent_dev_info, entries_max, 32, 8);
FIELD(syncevent_dev_info, entries, 40, 8);
FIELD(syncevent_dev_info, silent_min_ns, 48, 8);
FIELD(syncevent_dev_info, silent_max_ns, 56, 8);

SIZE(syncevent_value, 8);
FIELD(syncevent_value, value, 0, 8);

SIZE(syncevent_add, 16);
FIELD(syncevent_add, value, 0, 8);
FIELD(syncevent_add, old, 8, 8);

SIZE(syncevent_wait, 40);
FIELD(syncevent_wait, operand, 0, 8);
FIELD(syncevent_wait, mask, 8, 8);
FIELD(syncevent_wait, deadline, 16, 8);
FIELD(syncevent_wait, value, 24, 8);
FIELD(syncevent_wait, cond, 32, 4);
FIELD(syncevent_wait, flags, 36, 4);

SIZE(syncevent_arm, 24);
FIELD(syncevent_arm, operand, 0, 8);
FIELD(syncevent_arm, mask, 8, 8);
FIELD(syncevent_arm, cond, 16, 4);
FIELD(syncevent_arm, flags, 20, 4);

SIZE(syncevent_dup, 8);
FIELD(syncevent_dup, flags, 0, 4);
FIELD(syncevent_dup, reserved, 4, 4);

SIZE(syncevent_info, 64);
FIELD(syncevent_info, id, 0, 8);
FIELD(syncevent_info, value, 8, 8);
FIELD(syncevent_info, flags, 16, 4);
FIELD(syncevent_info, generation, 20, 4);
FIELD(syncevent_info, publishers, 24, 4);
FIELD(syncevent_info, subscribers, 28, 4);
FIELD(syncevent_info, side, 32, 2);
FIELD(syncevent_info, sides, 34, 2);
FIELD(syncevent_info, waiters, 36, 4);
FIELD(syncevent_info, rings, 40, 8);
FIELD(syncevent_info, wakes, 48, 8);
FIELD(syncevent_info, pages, 56, 4);
FIELD(syncevent_info, home, 60, 2);
FIELD(syncevent_info, reserved, 62, 2);

SIZE(syncevent_queue_add, 48);
FIELD(syncevent_queue_add, cookie, 0, 8);
FIELD(syncevent_queue_add, operand, 8, 8);
FIELD(syncevent_queue_add, mask, 16, 8);
FIELD(syncevent_queue_add, deadline, 24, 8);
FIELD(syncevent_queue_add, fd, 32, 4);
FIELD(syncevent_queue_add, cond, 36, 4);
FIELD(syncevent_queue_add, flags, 40, 4);
FIELD(syncevent_queue_add, reserved, 44, 4);

SIZE(syncevent_queue_cancel, 8);
FIELD(syncevent_queue_cancel, cookie, 0, 8);

SIZE(syncevent_completion, 24);
FIELD(syncevent_completion, cookie, 0, 8);
FIELD(syncevent_completion, value, 8, 8);
FIELD(syncevent_completion, status, 16, 4);
FIELD(syncevent_completion, reserved, 20, 4);

#define POINTER	sizeof(void *)

SIZE(syncevent_attr, 40 + 2 * POINTER);
FIELD(syncevent_attr, size, 0, 4);
FIELD(syncevent_attr, flags, 4, 4);
FIELD(syncevent_attr, value, 8, 8);
FIELD(syncevent_attr, publishers, 16, 4);
FIELD(syncevent_attr, subscribers, 20, 4);
FIELD(syncevent_attr, provider, 24, 4);
FIELD(syncevent_attr, reserved, 28, 4);
FIELD(syncevent_attr, addr, 32, POINTER);
FIELD(syncevent_attr, pci, 32 + POINTER, POINTER);
FIELD(syncevent_attr, home, 32 + 2 * POINTER, 4);
FIELD(syncevent_attr, pages, 36 + 2 * POINTER, 4);

SIZE(syncevent_stat, 72);
FIELD(syncevent_stat, size, 0, 4);
FIELD(syncevent_stat, provider, 4, 4);
FIELD(syncevent_stat, id, 8, 8);
FIELD(syncevent_stat, value, 16, 8);
FIELD(syncevent_stat, flags, 24, 4);
FIELD(syncevent_stat, publishers, 28, 4);
FIELD(syncevent_stat, subscribers, 32, 4);
FIELD(syncevent_stat, waiters, 36, 4);
FIELD(syncevent_stat, rings, 40, 8);
FIELD(syncevent_stat, wakes, 48, 8);
FIELD(syncevent_stat, payload, 56, 8);
FIELD(syncevent_stat, side, 64, 4);
FIELD(syncevent_stat, home, 68, 4);

SIZE(syncevent_pci, 120);
FIELD(syncevent_pci, size, 0, 4);
FIELD(syncevent_pci, flags, 4, 4);
FIELD(syncevent_pci, device, 8, 32);
FIELD(syncevent_pci, address, 40, 16);
FIELD(syncevent_pci, id, 56, 16);
FIELD(syncevent_pci, alive, 72, 8);
FIELD(syncevent_pci, side, 80, 4);
FIELD(syncevent_pci, sides, 84, 4);
FIELD(syncevent_pci, slots, 88, 4);
FIELD(syncevent_pci, slots_used, 92, 4);
FIELD(syncevent_pci, payload_pages, 96, 4);
FIELD(syncevent_pci, masked, 100, 4);
FIELD(syncevent_pci, rung, 104, 8);
FIELD(syncevent_pci, irqs, 112, 8);

SIZE(syncevent_pci_side, 32);
FIELD(syncevent_pci_side, size, 0, 4);
FIELD(syncevent_pci_side, alive, 4, 4);
FIELD(syncevent_pci_side, epoch, 8, 8);
FIELD(syncevent_pci_side, address, 16, 16);

SIZE(syncevent_caps, 72 + 2 * POINTER);
FIELD(syncevent_caps, size, 0, 4);
FIELD(syncevent_caps, provider, 4, 4);
FIELD(syncevent_caps, guarantees, 8, 8);
FIELD(syncevent_caps, abi, 16, 4);
FIELD(syncevent_caps, wait_max, 20, 4);
FIELD(syncevent_caps, events_max, 24, 8);
FIELD(syncevent_caps, events, 32, 8);
FIELD(syncevent_caps, entries_max, 40, 8);
FIELD(syncevent_caps, entries, 48, 8);
FIELD(syncevent_caps, late_max_ns, 56, 8);
FIELD(syncevent_caps, recheck_ns, 64, 8);
FIELD(syncevent_caps, names, 72, POINTER);
FIELD(syncevent_caps, name_prefix, 72 + POINTER, POINTER);

SIZE(syncevent_many, POINTER + 32);
FIELD(syncevent_many, ev, 0, POINTER);
FIELD(syncevent_many, operand, POINTER, 8);
FIELD(syncevent_many, mask, POINTER + 8, 8);
FIELD(syncevent_many, value, POINTER + 16, 8);
FIELD(syncevent_many, cond, POINTER + 24, 4);
FIELD(syncevent_many, status, POINTER + 28, 4);

SIZE(syncevent_wait_opts, 24);
FIELD(syncevent_wait_opts, size, 0, 4);
FIELD(syncevent_wait_opts, flags, 4, 4);
FIELD(syncevent_wait_opts, deadline, 8, 8);
FIELD(syncevent_wait_opts, spin_ns, 16, 4);
FIELD(syncevent_wait_opts, how, 20, 4);

SIZE(syncevent_done, 24);
FIELD(syncevent_done, cookie, 0, 8);
FIELD(syncevent_done, value, 8, 8);
FIELD(syncevent_done, status, 16, 4);
FIELD(syncevent_done, reserved, 20, 4);

/* One ioctl number of each direction: the rest follows from the sizes. */
ASSERT(SYNCEVENT_IOC_CREATE == 0x4018b900);
ASSERT(SYNCEVENT_IOC_WAIT_MANY == 0xc020b901);
ASSERT(SYNCEVENT_IOC_DEV_INFO == 0x8040b903);
ASSERT(SYNCEVENT_IOC_RING == 0xb913);
#endif

/* The inline functions are compiled as well, not only parsed. */
uint64_t use_cell(struct syncevent_cell *cell);
uint64_t use_cell(struct syncevent_cell *cell)
{
	uint64_t old = 0;

	if (syncevent_cell_set(cell, 1) || syncevent_cell_add(cell, 1, &old))
		return old;
	while (syncevent_cell_live(cell) && syncevent_cell_get(cell) < 3)
		syncevent_cell_pause();
	return syncevent_cell_get(cell);
}

int use_dpa(struct syncevent_dpa *dpa);
int use_dpa(struct syncevent_dpa *dpa)
{
	uint64_t handle = 0, value = 0;
	int ret = syncevent_dpa_attach(dpa);

	if (ret || syncevent_dpa_find(dpa, "name", &handle) < 0 ||
	    syncevent_dpa_import(dpa, handle, SYNCEVENT_RIGHT_READ))
		return ret;
	ret = syncevent_dpa_wait(dpa, handle, SYNCEVENT_COND_GT, 1, UINT64_MAX,
				 SYNCEVENT_DPA_FOREVER, &value);
	if (ret || syncevent_dpa_set(dpa, handle, 1) || syncevent_dpa_tick(dpa) ||
	    syncevent_dpa_add(dpa, handle, 1, &value) || syncevent_dpa_ring(dpa, handle, 1) ||
	    syncevent_dpa_get(dpa, handle, &value))
		return ret;
	syncevent_dpa_forget(dpa, handle);
	syncevent_dpa_detach(dpa);
	return syncevent_dpa_payload(dpa, handle, &value) != NULL;
}
