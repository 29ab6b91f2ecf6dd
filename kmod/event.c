// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: making, ending and freeing them; and the internal file system, in which
 * those without a name have their inodes.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>

#include "internal.h"

/* ---- the internal file system --------------------------------------------------- */

static int se_fs_init_context(struct fs_context *fc)
{
	if (!init_pseudo(fc, SE_FS_MAGIC))
		return -ENOMEM;
	fc->s_iflags |= SB_I_NOEXEC | SB_I_NODEV;
	return 0;
}

static struct file_system_type se_fs_type = {
	.name = "syncevent",
	.owner = THIS_MODULE,
	.init_fs_context = se_fs_init_context,
	.kill_sb = kill_anon_super,
};

struct vfsmount *se_mnt;
static int se_mnt_count;

/**
 * se_fs_pin() - have the file system mounted while a device file is open
 *
 * A mount for the life of the module would pin the module. Events hold theirs by
 * their own files.
 */
int se_fs_pin(void)
{
	return simple_pin_fs(&se_fs_type, &se_mnt, &se_mnt_count);
}

/** se_fs_unpin() - undo se_fs_pin() */
void se_fs_unpin(void)
{
	simple_release_fs(&se_mnt, &se_mnt_count);
}

/* ---- lifetime ---------------------------------------------------------------------- */

static atomic64_t se_next_id = ATOMIC64_INIT(0);

/**
 * se_create_valid() - may an event be made so?
 * @create: from user space
 */
bool se_create_valid(const struct syncevent_create *create)
{
	return !(create->flags & ~(SYNCEVENT_CREATE_SILENT | SYNCEVENT_CREATE_NONBLOCK)) &&
	       !(create->publishers & ~SYNCEVENT_LOC_ALL) &&
	       !(create->subscribers & ~SYNCEVENT_LOC_ALL) && !create->reserved;
}

/**
 * se_event_cell() - where the cell of an event is
 * @ev: an event that nobody else knows
 * @cell: kernel address
 * @side: index of this machine's hint
 */
void se_event_cell(struct se_event *ev, struct syncevent_cell *cell, u16 side)
{
	ev->cell = cell;
	/* Hints beyond the third follow the cell. */
	ev->asks = (struct syncevent_hint *)
		   ((char *)cell + offsetof(struct syncevent_cell, hint)) + side;
}

static int se_event_page(struct se_event *ev, u64 value)
{
	ev->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ev->page)
		return -ENOMEM;
	se_event_cell(ev, page_address(ev->page), 0);
	*ev->cell = (struct syncevent_cell){
		.value = value,
		.state = ev->generation << SYNCEVENT_STATE_GEN_SHIFT |
			 SYNCEVENT_STATE_LIVE,
		.sides = 1,
		.flags = se_silent(ev) ? SYNCEVENT_CELL_SILENT : 0,
		.hint[0].wake_above = SYNCEVENT_WAKE_NONE,
		.hint[1].wake_above = SYNCEVENT_WAKE_NONE,
		.hint[2].wake_above = SYNCEVENT_WAKE_NONE,
	};
	return 0;
}

/**
 * se_event_alloc() - make an event
 * @create: checked
 * @inode: of its own, for its mappings; stays the caller's
 * @slot: whose cell will be where it lies, or NULL. Taken over on success
 *
 * Return: a reference with one holder, which the caller makes a file or a name, or
 * -EDQUOT, -ENOMEM.
 */
struct se_event *se_event_alloc(const struct syncevent_create *create,
				struct inode *inode, struct se_slot *slot)
{
	struct se_event *ev;
	int ret = -ENOMEM;

	ev = kzalloc(sizeof(*ev), GFP_KERNEL_ACCOUNT);
	if (!ev)
		return ERR_PTR(ret);
	ev->user = se_user_get();
	if (!ev->user)
		goto err_free;
	ret = -EDQUOT;
	if (!se_user_charge(&ev->user->events, READ_ONCE(se_events_max)))
		goto err_user;

	ev->inode = inode;
	ev->id = atomic64_inc_return(&se_next_id);
	ev->flags = create->flags & SYNCEVENT_CREATE_SILENT;
	ev->publishers = create->publishers ?: SYNCEVENT_LOC_CPU;
	ev->subscribers = create->subscribers ?: SYNCEVENT_LOC_CPU;
	ev->generation = 1;
	ev->slot = slot;
	kref_init(&ev->ref);
	atomic_set(&ev->holders, 1);
	se_engine_init(ev);
	ret = slot ? 0 : se_event_page(ev, create->value);
	if (ret)
		goto err_charge;
	return ev;

err_charge:
	se_user_uncharge(&ev->user->events);
err_user:
	se_user_put(ev->user);
err_free:
	kfree(ev);
	return ERR_PTR(ret);
}

/**
 * se_event_free_now() - free the memory of an event
 * @ev: an event that nobody can reach
 *
 * Context: process, may sleep; not the event's own work.
 */
void se_event_free_now(struct se_event *ev)
{
	cancel_delayed_work_sync(&ev->work);
	se_engine_exit(ev);
	se_user_put(ev->user);
	if (ev->page)
		put_page(ev->page);
	kfree(ev);
}

static void se_event_free(struct kref *ref)
{
	struct se_event *ev = container_of(ref, struct se_event, ref);

	se_user_uncharge(&ev->user->events);
	if (ev->slot)
		se_slot_free_event(ev);
	else
		se_event_free_now(ev);
}

/**
 * se_event_put() - drop a reference
 * @ev: an event
 *
 * Context: process, may sleep; not the event's own work.
 */
void se_event_put(struct se_event *ev)
{
	kref_put(&ev->ref, se_event_free);
}

/**
 * se_event_hold() - become one more holder
 * @ev: an event, to which the caller has a reference
 *
 * Return: false if the last one has left already.
 */
bool se_event_hold(struct se_event *ev)
{
	return atomic_inc_not_zero(&ev->holders);
}

/**
 * se_event_unhold() - be no longer a holder; the last one ends the event
 * @ev: an event, of whose inode the caller still has a reference
 */
void se_event_unhold(struct se_event *ev)
{
	if (atomic_dec_and_test(&ev->holders))
		se_revoke(ev);
}

/**
 * se_revoke() - end an event for everyone
 * @ev: an event, of whose inode the caller has a reference
 *
 * Return: 0, or -EIDRM if it has ended already.
 */
int se_revoke(struct se_event *ev)
{
	int ret = -EIDRM;

	/* against se_fault() */
	if (ev->slot)
		se_slot_revoke_lock(ev->slot);
	else
		lock_page(ev->page);
	spin_lock_irq(&ev->lock);
	if (!ev->revoked) {
		ret = 0;
		ev->final = se_value(ev);
		WRITE_ONCE(ev->dead, false);
		/* @final comes with it: pairs with se_slot_value() and se_slot_fault(). */
		smp_store_release(&ev->revoked, true);
		if (!ev->slot || se_slot_revoking(ev))
			WRITE_ONCE(ev->cell->state,
				   ev->generation << SYNCEVENT_STATE_GEN_SHIFT |
				   SYNCEVENT_STATE_REVOKED);
	}
	spin_unlock_irq(&ev->lock);
	if (ev->slot)
		se_slot_revoke_unlock(ev->slot);
	else
		unlock_page(ev->page);
	if (ret)
		return ret;

	unmap_mapping_range(ev->inode->i_mapping, 0, 0, 1);
	se_end_all(ev, -EIDRM);
	if (ev->slot)
		se_slot_ended(ev);
	return 0;
}
