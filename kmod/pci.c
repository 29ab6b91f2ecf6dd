// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/syncevent_pciN: makes and imports events of a region, and tells about it.
 */
#include <linux/file.h>
#include <linux/idr.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/slab.h>

#include "region.h"
#include "trace.h"

static DEFINE_IDA(se_numbers);

/* Jiffies that an import waits for another of its slot to go. */
#define SE_ENTER_MAX	(5 * HZ)

static struct se_region *se_file_region(struct file *file)
{
	return file->private_data;
}

/* ---- making and importing ------------------------------------------------------------ */

/* An event with a slot that lies nowhere yet, and its inode: one reference of each. */
static struct se_event *se_pci_event(struct se_region *r,
				     const struct syncevent_create *create)
{
	struct se_slot *slot = se_slot_alloc(r);
	struct inode *inode;
	struct se_event *ev;

	if (!slot)
		return ERR_PTR(-ENOMEM);
	inode = alloc_anon_inode(se_mnt->mnt_sb);
	if (IS_ERR(inode)) {
		se_slot_put(slot);
		return ERR_CAST(inode);
	}
	ev = se_event_alloc(create, inode, slot);
	if (IS_ERR(ev)) {
		iput(inode);
		se_slot_put(slot);
	}
	return ev;
}

static void se_pci_drop(struct se_event *ev)
{
	iput(ev->inode);
	se_event_put(ev);
}

/* Takes over an event as from se_slot_hold(). */
static int se_pci_install(struct se_event *ev, int fd, int flags)
{
	/* Not the one that is mounted now: an event may be older than that. */
	struct vfsmount *mnt = ev->slot->mnt;
	struct inode *inode = ev->inode;
	struct file *file;

	ihold(inode);
	file = se_file_open(ev, mnt, flags);
	if (IS_ERR(file)) {
		se_slot_unhold(ev);
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	iput(inode);
	mntput(mnt);
	fd_install(fd, file);
	return fd;
}

static long se_pci_create(struct file *file, void *arg)
{
	const struct syncevent_pci_create *in = arg;
	struct se_region *r = se_file_region(file);
	const struct syncevent_create create = {
		.flags = in->flags | (r->transport->doorbells ? 0 :
				      SYNCEVENT_CREATE_SILENT),
		.publishers = in->publishers,
		.subscribers = in->subscribers,
	};
	int fd, ret, flags = O_RDWR | O_CLOEXEC;
	struct se_event *ev;
	u32 home = in->home;

	if (!se_create_valid(&create) || in->reserved)
		return -EINVAL;
	if (!se_attached(r))
		return -ENODEV;
	if (home == SYNCEVENT_PCI_HOME_ANY)
		home = r->geo.sides == 2 &&
		       create.subscribers == SYNCEVENT_LOC_REMOTE_PCI ? !r->side : r->side;
	if (home >= r->geo.sides)
		return -EINVAL;
	if (in->pages > r->geo.payload_pages)
		return -ENOSPC;
	if (in->flags & SYNCEVENT_CREATE_NONBLOCK)
		flags |= O_NONBLOCK;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return fd;
	ev = se_pci_event(r, &create);
	if (IS_ERR(ev)) {
		put_unused_fd(fd);
		return PTR_ERR(ev) == -EDQUOT ? -EMFILE : PTR_ERR(ev);
	}
	ev->slot->home = home;
	ev->slot->pages = in->pages;
	ret = se_slot_make(ev, in->value);
	if (ret) {
		put_unused_fd(fd);
		se_pci_drop(ev);
		return ret;
	}
	trace_syncevent_create(ev->id, in->value, create.flags);
	return se_pci_install(ev, fd, flags);
}

/* The slot's event, held; there is one for each slot, whoever imports it. */
static struct se_event *se_pci_enter(struct se_region *r, u32 index, u32 generation,
				     const struct syncevent_region_desc *desc, bool update)
{
	const struct syncevent_create create = {
		.flags = desc->flags & SYNCEVENT_CELL_SILENT ? SYNCEVENT_CREATE_SILENT : 0,
		.publishers = desc->publishers,
		.subscribers = desc->subscribers,
	};
	struct se_event *fresh, *ev;
	unsigned int tries = 0;

	fresh = se_pci_event(r, &create);
	if (IS_ERR(fresh))
		return fresh;
	fresh->slot->index = index;
	fresh->slot->generation = generation;
	fresh->slot->owner = se_slot_owner(r, index);
	fresh->slot->home = se_slot_part(r, index) / r->geo.sides;
	fresh->slot->payload = desc->payload_first;
	fresh->slot->pages = desc->payload_pages;
	fresh->slot->cell_flags = desc->flags;
	/* Whatever the creator can: adds of this machine are not atomic towards others. */
	if (!r->transport->direct_atomics && fresh->slot->home != r->side)
		fresh->slot->cell_flags |= SYNCEVENT_CELL_NO_REMOTE_ADD;
	fresh->generation = generation;
	se_event_cell(fresh, se_slot_cell(r, index), r->side);

	/* What was imported before under this number is about to go. */
	do {
		ev = se_slot_enter(fresh, update);
	} while (ev == ERR_PTR(-EAGAIN) && !fatal_signal_pending(current) &&
		 !schedule_timeout_killable(1) && tries++ < SE_ENTER_MAX);
	if (ev != fresh)
		se_pci_drop(fresh);
	return ev;
}

static long se_pci_import_slot(struct se_region *r, u32 index, u32 generation,
			       const u8 *key, const char *name, u32 flags)
{
	struct syncevent_region_desc desc;
	int fd, rights, open = O_CLOEXEC;
	struct se_event *ev;

	rights = se_slot_check(r, index, generation, key, name, &desc);
	if (rights < 0)
		return rights;
	if (flags & SYNCEVENT_DUP_RDONLY)
		rights = SYNCEVENT_RIGHT_READ;
	open |= rights & SYNCEVENT_RIGHT_UPDATE ? O_RDWR : O_RDONLY;
	if (flags & SYNCEVENT_DUP_NONBLOCK)
		open |= O_NONBLOCK;

	fd = get_unused_fd_flags(open);
	if (fd < 0)
		return fd;
	ev = se_pci_enter(r, index, generation, &desc, rights & SYNCEVENT_RIGHT_UPDATE);
	if (IS_ERR(ev)) {
		put_unused_fd(fd);
		return PTR_ERR(ev) == -EDQUOT ? -EMFILE : PTR_ERR(ev);
	}
	return se_pci_install(ev, fd, open);
}

static long se_pci_import(struct file *file, void *arg)
{
	const struct syncevent_import *in = arg;
	struct se_region *r = se_file_region(file);

	if (in->flags & ~(SYNCEVENT_DUP_RDONLY | SYNCEVENT_DUP_NONBLOCK) || in->reserved)
		return -EINVAL;
	if (!se_attached(r))
		return -ENODEV;
	if (!se_blob_valid(&in->blob, &r->geo, r->id))
		return -EINVAL;
	return se_pci_import_slot(r, array_index_nospec(in->blob.slot, r->geo.slots),
				  in->blob.generation, in->blob.key,
				  NULL, in->flags);
}

static long se_pci_import_name(struct file *file, void *arg)
{
	const struct syncevent_pci_name *in = arg;
	struct se_region *r = se_file_region(file);
	u32 generation;
	int index;

	if (in->flags & ~(SYNCEVENT_DUP_RDONLY | SYNCEVENT_DUP_NONBLOCK) || in->rights ||
	    !in->name[0] || in->name[SYNCEVENT_PCI_NAME_MAX])
		return -EINVAL;
	if (!se_attached(r))
		return -ENODEV;
	index = se_slot_find(r, in->name, &generation);
	if (index < 0)
		return index;
	return se_pci_import_slot(r, index, generation, NULL, in->name, in->flags);
}

/**
 * se_event_export() - SYNCEVENT_IOC_EXPORT
 * @file: of an event
 * @arg: struct syncevent_export
 *
 * Return: 0, -EINVAL, -EBADF, -EIDRM, -EPERM on an import, -EOPNOTSUPP outside regions.
 */
long se_event_export(struct file *file, void *arg)
{
	struct se_event *ev = se_file_event(file);
	struct syncevent_export *export = arg;
	u32 right = export->right;

	if ((right != SYNCEVENT_RIGHT_READ && right != SYNCEVENT_RIGHT_UPDATE) ||
	    export->reserved)
		return -EINVAL;
	if (right == SYNCEVENT_RIGHT_UPDATE && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (READ_ONCE(ev->revoked))
		return -EIDRM;
	return ev->slot ? se_slot_export(ev, right, &export->blob) : -EOPNOTSUPP;
}

/**
 * se_event_name() - SYNCEVENT_IOC_EXPORT_NAME
 * @file: of an event
 * @arg: struct syncevent_pci_name
 *
 * Return: 0, -EINVAL, -EBADF, -EIDRM, -EEXIST, -EPERM on an import, -EOPNOTSUPP
 * outside regions.
 */
long se_event_name(struct file *file, void *arg)
{
	struct se_event *ev = se_file_event(file);
	const struct syncevent_pci_name *name = arg;

	if (name->rights & ~(SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE) || name->flags ||
	    !name->name[0] || name->name[SYNCEVENT_PCI_NAME_MAX])
		return -EINVAL;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (READ_ONCE(ev->revoked))
		return -EIDRM;
	return ev->slot ? se_slot_name(ev, name->name, name->rights) : -EOPNOTSUPP;
}

/* ---- mappings ------------------------------------------------------------------------------ */

/**
 * se_slot_mmap() - may this be mapped?
 * @ev: an event with a slot
 * @vma: the cell, at offset 0, or payload pages, from the second page on
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP if this machine's pages hold more than one slot.
 */
int se_slot_mmap(struct se_event *ev, struct vm_area_struct *vma)
{
	struct se_slot *slot = ev->slot;
	unsigned long n = vma_pages(vma);

	if (PAGE_SIZE != SYNCEVENT_REGION_PAGE)
		return -EOPNOTSUPP;
	if (vma->vm_pgoff > slot->pages || n > slot->pages + 1 - vma->vm_pgoff)
		return -EINVAL;
	return 0;
}

/* One for all mappings of the event: the page table does not count them. */
static bool se_slot_grave(struct se_event *ev)
{
	struct page *fresh;

	if (READ_ONCE(ev->page))
		return true;
	fresh = se_revoked_page(ev);
	if (fresh && cmpxchg(&ev->page, NULL, fresh))
		put_page(fresh);
	return fresh;
}

/**
 * se_slot_fault() - the fault handler of mappings
 * @ev: an event with a slot
 * @vmf: as passed to a fault handler
 *
 * Of a revoked event the cell is a page of this kernel, of which the other sides see
 * nothing, and the payload is not there.
 */
vm_fault_t se_slot_fault(struct se_event *ev, struct vm_fault *vmf)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	phys_addr_t at = r->phys;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct page *page;
	unsigned long pfn;

	/*
	 * Before the lock is held, which all revocations wait for: this may wait for memory.
	 * The page shows the value at the revocation; pairs with se_revoke().
	 */
	if (smp_load_acquire(&ev->revoked) && !vmf->pgoff && !se_slot_grave(ev))
		return VM_FAULT_OOM;

	down_read(&r->faults);
	if (READ_ONCE(ev->revoked)) {
		if (vmf->pgoff)
			goto out;
		/* It may have been revoked just now: the access faults again. */
		ret = VM_FAULT_NOPAGE;
		page = READ_ONCE(ev->page);
		if (!page)
			goto out;
		pfn = page_to_pfn(page);
	} else {
		at += vmf->pgoff ? r->geo.payload +
		      (slot->payload + vmf->pgoff - 1) * (u64)SYNCEVENT_REGION_PAGE :
		      se_slot_offset(r, slot->index);
		pfn = PHYS_PFN(at);
	}
	/*
	 * vm_page_prot is write-back, like the transport's mapping for the kernel. On
	 * arm64, which checks nothing, two attributes for the same memory would cost
	 * coherence; x86 looks up the kernel's and takes that.
	 */
	ret = vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, pfn);
out:
	up_read(&r->faults);
	return ret;
}

/* ---- telling ------------------------------------------------------------------------------- */

static long se_pci_info(struct file *file, void *arg)
{
	struct se_region *r = se_file_region(file);
	struct syncevent_pci_info *info = arg;
	u32 side;

	*info = (struct syncevent_pci_info){
		.side = r->side,
		.address = r->address,
	};
	mutex_lock(&r->lock);
	if (r->epoch) {
		info->flags |= SYNCEVENT_PCI_ATTACHED;
		info->sides = r->geo.sides;
		info->id[0] = r->id[0];
		info->id[1] = r->id[1];
		info->slots = r->geo.slots;
		info->slots_used = bitmap_weight(r->used, r->geo.slots);
		info->payload_pages = r->geo.payload_pages;
		for (side = 0; side < r->geo.sides; side++) {
			if (side == r->side || r->peer[side].alive)
				info->alive |= 1ULL << side;
			info->rung += atomic64_read(&r->peer[side].rung);
		}
	}
	mutex_unlock(&r->lock);
	if (r->transport->doorbells)
		info->flags |= SYNCEVENT_PCI_DOORBELL;
	if (r->transport->direct_atomics)
		info->flags |= SYNCEVENT_PCI_ATOMICS;
	info->irqs = atomic64_read(&r->irqs);
	info->masked = READ_ONCE(r->masked);
	return 0;
}

static long se_pci_peer(struct file *file, void *arg)
{
	struct se_region *r = se_file_region(file);
	struct syncevent_pci_peer *peer = arg;
	struct syncevent_region_side *record;
	int ret = -EINVAL;

	if (peer->reserved)
		return ret;
	mutex_lock(&r->lock);
	if (!r->epoch) {
		ret = -ENODEV;
	} else if (peer->side < r->geo.sides) {
		u32 side = array_index_nospec(peer->side, r->geo.sides);

		record = se_side(r, side);
		peer->address = READ_ONCE(record->address);
		peer->alive = side == r->side || r->peer[side].alive;
		/* One that no tick has seen yet, or of another format, is not dead. */
		peer->epoch = peer->alive || se_peer_dead(r, side) ?
			      READ_ONCE(record->epoch) : 0;
		ret = 0;
	}
	mutex_unlock(&r->lock);
	return ret;
}

/* ---- the device ---------------------------------------------------------------------------- */

static const struct se_ioctl se_pci_ioctls[] = {
	{ SYNCEVENT_IOC_PCI_CREATE, se_pci_create },
	{ SYNCEVENT_IOC_IMPORT, se_pci_import },
	{ SYNCEVENT_IOC_IMPORT_NAME, se_pci_import_name },
	{ SYNCEVENT_IOC_PCI_INFO, se_pci_info },
	{ SYNCEVENT_IOC_PCI_PEER, se_pci_peer },
};

static long se_pci_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return se_ioctl_dispatch(file, cmd, arg, se_pci_ioctls, ARRAY_SIZE(se_pci_ioctls));
}

static int se_pci_open(struct inode *inode, struct file *file)
{
	/* misc_open() holds what misc_deregister() takes: the region is there. */
	struct se_region *r = container_of(file->private_data, struct se_region, misc);
	int ret = se_fs_pin();

	if (ret)
		return ret;
	kref_get(&r->ref);
	file->private_data = r;
	return nonseekable_open(inode, file);
}

static int se_pci_release(struct inode *inode, struct file *file)
{
	se_region_put(se_file_region(file));
	se_fs_unpin();
	return 0;
}

static const struct file_operations se_pci_fops = {
	.owner = THIS_MODULE,
	.open = se_pci_open,
	.release = se_pci_release,
	.unlocked_ioctl = se_pci_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/**
 * se_pci_register() - make /dev/syncevent_pciN
 * @r: the region
 *
 * Return: 0 or a negative errno.
 */
int se_pci_register(struct se_region *r)
{
	int ret;

	r->number = ida_alloc(&se_numbers, GFP_KERNEL);
	if (r->number < 0)
		return r->number;
	r->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = kasprintf(GFP_KERNEL, "syncevent_pci%d", r->number),
		.fops = &se_pci_fops,
		.parent = r->parent,
		.mode = 0660,
		.groups = se_pci_groups,
	};
	ret = -ENOMEM;
	if (!r->misc.name)
		goto err_number;
	ret = misc_register(&r->misc);
	if (ret)
		goto err_name;
	return 0;

err_name:
	kfree(r->misc.name);
err_number:
	ida_free(&se_numbers, r->number);
	return ret;
}

/**
 * se_pci_unregister() - undo se_pci_register()
 * @r: the region; open files of the device keep it
 */
void se_pci_unregister(struct se_region *r)
{
	misc_deregister(&r->misc);
	kfree(r->misc.name);
	ida_free(&se_numbers, r->number);
}
