// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parked waiters: their conditions, and the trees in which an update finds those
 * that it satisfies without looking at the others.
 */
#include "internal.h"

/* ---- conditions ------------------------------------------------------------- */

/**
 * se_cond_valid() - is it a SYNCEVENT_COND_*?
 * @op: from user space
 */
bool se_cond_valid(u32 op)
{
	return op <= SYNCEVENT_COND_LE;
}

/**
 * se_holds() - the condition of a waiter
 * @w: the waiter
 * @value: of the event
 */
bool se_holds(const struct se_waiter *w, u64 value)
{
	value &= w->mask;
	switch (w->op) {
	case SYNCEVENT_COND_EQ:
		return value == w->operand;
	case SYNCEVENT_COND_NEQ:
		return value != w->operand;
	case SYNCEVENT_COND_GT:
		return value > w->operand;
	case SYNCEVENT_COND_GE:
		return value >= w->operand;
	case SYNCEVENT_COND_LT:
		return value < w->operand;
	default:
		return value <= w->operand;
	}
}

/*
 * GE k is GT k-1 and LE k is LT k+1, so two trees of strict thresholds serve four
 * conditions. GE 0 and LE U64_MAX have no such threshold; they always hold.
 */
static enum se_class se_class(u32 op, u64 operand, u64 mask, u64 *key)
{
	*key = operand;
	if (mask != SYNCEVENT_MASK_ALL)
		return SE_OTHER;

	switch (op) {
	case SYNCEVENT_COND_EQ:
		return SE_EQUAL;
	case SYNCEVENT_COND_GE:
		if (!operand)
			return SE_OTHER;
		*key = operand - 1;
		return SE_GROW;
	case SYNCEVENT_COND_GT:
		return SE_GROW;
	case SYNCEVENT_COND_LE:
		if (operand == U64_MAX)
			return SE_OTHER;
		*key = operand + 1;
		return SE_SHRINK;
	case SYNCEVENT_COND_LT:
		return SE_SHRINK;
	default:
		return SE_OTHER;
	}
}

/**
 * se_waiter_set() - give a waiter that is not queued its condition
 * @w: the waiter
 * @op: a valid SYNCEVENT_COND_*
 * @operand: right-hand side
 * @mask: applied to the value
 */
void se_waiter_set(struct se_waiter *w, u32 op, u64 operand, u64 mask)
{
	w->op = op;
	w->operand = operand;
	w->mask = mask;
	w->class = se_class(op, operand, mask, &w->key);
	w->told = false;
}

/**
 * se_waiter_aside() - keep a waiter out of the order of its like
 * @w: a waiter with a condition that is not queued
 */
void se_waiter_aside(struct se_waiter *w)
{
	w->class = SE_OTHER;
}

/**
 * se_waiter_told() - park a waiter till another value, though its condition holds
 * @w: a waiter that is not queued
 * @value: the value that it knows of
 */
void se_waiter_told(struct se_waiter *w, u64 value)
{
	se_waiter_aside(w);
	w->key = value;
	w->told = true;
}

/* ---- trees ---------------------------------------------------------------------- */

/* Equal keys go right of one another: first come, first woken. */
static bool se_less(struct rb_node *a, const struct rb_node *b)
{
	return se_key(a) < se_key(b);
}

static bool se_greater(struct rb_node *a, const struct rb_node *b)
{
	return se_key(a) > se_key(b);
}

static int se_compare(const void *key, const struct rb_node *node)
{
	u64 a = *(const u64 *)key, b = se_key(node);

	return a < b ? -1 : a > b;
}

/**
 * se_insert() - link a waiter; se_hint_update() must follow
 * @w: a waiter with a condition, not queued
 */
void se_insert(struct se_waiter *w)
{
	struct se_event *ev = w->ev;

	lockdep_assert_held(&ev->lock);

	switch (w->class) {
	case SE_GROW:
		rb_add_cached(&w->node, &ev->grow, se_less);
		break;
	case SE_SHRINK:
		rb_add_cached(&w->node, &ev->shrink, se_greater);
		break;
	case SE_EQUAL:
		rb_add(&w->node, &ev->equal, se_less);
		break;
	default:
		/* In front, so that a scan under way does not meet it. */
		list_add(&w->link, &ev->others);
		ev->nr_others++;
	}
	ev->nr_waiters++;
	ev->nr_async += w->async;
	w->queued = true;
}

/**
 * se_unlink() - take a waiter out; se_hint_update() must follow
 * @w: a queued waiter
 */
void se_unlink(struct se_waiter *w)
{
	struct se_event *ev = w->ev;

	lockdep_assert_held(&ev->lock);

	switch (w->class) {
	case SE_GROW:
		rb_erase_cached(&w->node, &ev->grow);
		break;
	case SE_SHRINK:
		rb_erase_cached(&w->node, &ev->shrink);
		break;
	case SE_EQUAL:
		rb_erase(&w->node, &ev->equal);
		break;
	default:
		list_del(&w->link);
		ev->nr_others--;
	}
	ev->nr_waiters--;
	ev->nr_async -= w->async;
	w->queued = false;
}

/**
 * se_waiter_back() - put a waiter back into the order of its like
 * @w: a queued waiter; se_hint_update() must follow, and then another look at the value,
 *     since the hint may ask for less than it did
 *
 * Return: whether it had been set aside.
 */
bool se_waiter_back(struct se_waiter *w)
{
	u64 key;

	/* Of a dead event se_wake_orphans() looks for it where it is. */
	if (w->class != SE_OTHER || w->orphan ||
	    se_class(w->op, w->operand, w->mask, &key) == SE_OTHER)
		return false;
	se_unlink(w);
	se_waiter_set(w, w->op, w->operand, w->mask);
	se_insert(w);
	return true;
}

/**
 * se_due() - the next waiter of the trees that a value satisfies
 * @ev: the event
 * @value: of it
 */
struct se_waiter *se_due(struct se_event *ev, u64 value)
{
	struct rb_node *node;

	lockdep_assert_held(&ev->lock);

	node = rb_first_cached(&ev->grow);
	if (node && se_key(node) < value)
		return rb_entry(node, struct se_waiter, node);
	node = rb_first_cached(&ev->shrink);
	if (node && se_key(node) > value)
		return rb_entry(node, struct se_waiter, node);
	node = rb_find_first(&value, &ev->equal, se_compare);
	return node ? rb_entry(node, struct se_waiter, node) : NULL;
}
