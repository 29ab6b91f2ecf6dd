// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping the cell. The page is refcounted memory that the fault handler returns,
 * so it outlives MADV_DONTNEED, fork and the event itself, and can be pinned.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "internal.h"

/**
 * se_revoked_page() - what a mapping of a revoked event shows
 * @ev: the event
 *
 * A page in which a spinner sees REVOKED, and where stray updates go nowhere.
 *
 * Return: a reference, or NULL.
 */
struct page *se_revoked_page(const struct se_event *ev)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	struct syncevent_cell *cell;

	if (!page)
		return NULL;
	cell = page_address(page);
	cell->value = ev->final;
	cell->state = ev->generation << SYNCEVENT_STATE_GEN_SHIFT |
		      SYNCEVENT_STATE_REVOKED;
	cell->sides = 1;
	return page;
}

/*
 * Each mapping of a revoked event gets a page for it alone.
 *
 * It is put into the page table here. Were it returned, the fault would lock it
 * while the page table holds the only reference, and a zap (a revocation, or
 * MADV_DONTNEED of another thread) could free it under that lock.
 */
static vm_fault_t se_fault_revoked(struct se_event *ev, struct vm_fault *vmf)
{
	struct page *page = se_revoked_page(ev);
	int ret;

	if (!page)
		return VM_FAULT_OOM;
	ret = vm_insert_page(vmf->vma, vmf->address & PAGE_MASK, page);
	put_page(page);
	if (ret == -EBUSY)	/* another thread was faster */
		ret = 0;
	return ret ? vmf_error(ret) : VM_FAULT_NOPAGE;
}

/*
 * The page is returned locked and stays so until it is in the page table.
 * se_revoke() changes the state under the same lock before it zaps the mappings:
 * a fault either sees the state or is zapped.
 */
static vm_fault_t se_fault(struct vm_fault *vmf)
{
	struct se_event *ev = se_file_event(vmf->vma->vm_file);

	if (ev->slot)
		return se_slot_fault(ev, vmf);
	lock_page(ev->page);
	if (READ_ONCE(ev->revoked)) {
		unlock_page(ev->page);
		return se_fault_revoked(ev, vmf);
	}
	get_page(ev->page);
	vmf->page = ev->page;
	return VM_FAULT_LOCKED;
}

/*
 * A publisher may have been killed between its update and its ring; its mapping
 * goes with it. Nobody else would judge that update.
 */
static void se_vma_close(struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_MAYWRITE)
		se_judge_sides(se_file_event(vma->vm_file));
}

static const struct vm_operations_struct se_vm_ops = {
	.fault = se_fault,
	.close = se_vma_close,
};

/**
 * se_mmap() - map the cell
 * @file: an event
 * @vma: one page at offset 0, shared
 *
 * Return: 0, -EINVAL, -EPERM, -EIDRM.
 */
int se_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct se_event *ev = se_file_event(file);
	vm_flags_t clear = VM_MAYEXEC;
	int ret = 0;

	/* For a read-only file do_mmap() has cleared VM_SHARED: ask VM_MAYSHARE. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (ev->slot)
		ret = se_slot_mmap(ev, vma);
	else if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE)
		ret = -EINVAL;
	if (ret)
		return ret;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (READ_ONCE(ev->revoked))
		return -EIDRM;

	if (!(file->f_mode & FMODE_WRITE))
		clear |= VM_MAYWRITE;
	/* What the fault handler inserts: pages of the kernel, or those of a BAR. */
	vm_flags_mod(vma, VM_DONTEXPAND | (ev->slot ? VM_PFNMAP | VM_IO : VM_MIXEDMAP), clear);
	vma->vm_ops = &se_vm_ops;
	return 0;
}
