// SPDX-License-Identifier: GPL-2.0-only
/*
 * synceventfs: names of events. A flat directory of special files, a fresh one for
 * each mount, in which files are created, opened, unlinked and chmod'ed and nothing
 * else, but that one may be created first and named later. What open(2) gives is an
 * event's file as any other.
 *
 * The files are FIFOs to the VFS: streams of their own kind, which O_TRUNC and
 * truncate(2) leave alone and which programs that read whole trees pass over. With
 * regular ones io_uring would take 8 bytes read for a short read, and go on.
 */
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "internal.h"
#include "trace.h"

#define SE_NAMES_MODE	01777	/* everybody may create names, and unlink their own */

/* ---- inodes -------------------------------------------------------------------------- */

static int se_names_setattr(struct mnt_idmap *idmap, struct dentry *dentry,
			    struct iattr *attr)
{
	/* Owners answer for the limit, so there is no giving away. */
	if (attr->ia_valid & (ATTR_UID | ATTR_GID | ATTR_SIZE | ATTR_ATIME | ATTR_MTIME))
		return -EPERM;
	return simple_setattr(idmap, dentry, attr);
}

static const struct inode_operations se_names_file_iops = {
	.setattr = se_names_setattr,
};

/* An event's inode. Its holder is what the caller makes of it. */
static struct inode *se_names_inode(struct mnt_idmap *idmap, struct inode *dir,
				    umode_t mode)
{
	static const struct syncevent_create defaults;
	struct inode *inode = new_inode(dir->i_sb);
	struct se_event *ev;

	if (!inode)
		return ERR_PTR(-ENOMEM);
	ev = se_event_alloc(&defaults, inode, NULL);
	if (IS_ERR(ev)) {
		iput(inode);
		return ERR_CAST(ev);
	}
	inode->i_ino = get_next_ino();
	inode_init_owner(idmap, inode, dir, S_IFIFO | (mode & S_IALLUGO));
	se_inode_init_times(inode);
	inode->i_flags |= S_NOCMTIME;	/* a store to a mapping is no business of the VFS */
	inode->i_op = &se_names_file_iops;
	inode->i_fop = &se_event_fops;
	inode->i_private = ev;
	trace_syncevent_create(ev->id, 0, 0);
	return inode;
}

static int se_names_create(struct mnt_idmap *idmap, struct inode *dir,
			   struct dentry *dentry, umode_t mode, bool excl)
{
	struct inode *inode = se_names_inode(idmap, dir, mode);

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	se_inode_touch(dir);
	d_make_persistent(dentry, inode);
	return 0;
}

/* O_TMPFILE: an event that gets its name by linkat(2), once it is what it shall be. */
static int se_names_tmpfile(struct mnt_idmap *idmap, struct inode *dir,
			    struct file *file, umode_t mode)
{
	struct inode *inode = se_names_inode(idmap, dir, mode);
	struct se_event *ev;
	int ret;

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	ev = inode->i_private;
	ev->nameless = true;
	d_tmpfile(file, inode);
	ret = finish_open_simple(file, 0);
	/* Opened, the file is a holder; there is no name that could be one. */
	se_event_unhold(ev);
	return ret;
}

static int se_names_link(struct dentry *from, struct inode *dir, struct dentry *dentry)
{
	struct inode *inode = d_inode(from);
	struct se_event *ev = inode->i_private;
	int ret = 0;

	if (!se_event_hold(ev))
		return -EIDRM;
	spin_lock_irq(&ev->lock);
	if (ev->revoked)
		ret = -EIDRM;
	else if (!ev->nameless)
		ret = -EPERM;	/* one name, once */
	ev->nameless = false;
	spin_unlock_irq(&ev->lock);
	if (!ret)
		ret = simple_link(from, dir, dentry);
	if (ret)
		se_event_unhold(ev);
	return ret;
}

static int se_names_unlink(struct inode *dir, struct dentry *dentry)
{
	struct se_event *ev = d_inode(dentry)->i_private;
	int ret = simple_unlink(dir, dentry);

	if (!ret)
		se_event_unhold(ev);
	return ret;
}

static const struct inode_operations se_names_dir_iops = {
	.lookup = simple_lookup,
	.create = se_names_create,
	.tmpfile = se_names_tmpfile,
	.link = se_names_link,
	.unlink = se_names_unlink,
	.setattr = se_names_setattr,
};

static void se_names_evict(struct inode *inode)
{
	struct se_event *ev = inode->i_private;

	/* It still has its name: the file system is going, and all names with it. */
	if (ev && inode->i_nlink)
		se_event_unhold(ev);
	clear_inode(inode);
	if (ev)
		se_event_put(ev);
}

/* ---- mounts ------------------------------------------------------------------------------ */

/**
 * struct se_names_options - what a mount may choose about its directory
 * @uid: owner
 * @gid: group
 * @mode: permissions
 */
struct se_names_options {
	kuid_t uid;
	kgid_t gid;
	umode_t mode;
};

/* Those of the directory as it is: the options, until it is chmod'ed. */
static int se_names_show_options(struct seq_file *m, struct dentry *root)
{
	struct inode *dir = d_inode(root);
	struct user_namespace *ns = seq_user_ns(m);

	if ((dir->i_mode & S_IALLUGO) != SE_NAMES_MODE)
		seq_printf(m, ",mode=%03o", dir->i_mode & S_IALLUGO);
	if (!uid_eq(dir->i_uid, GLOBAL_ROOT_UID))
		seq_printf(m, ",uid=%u", from_kuid_munged(ns, dir->i_uid));
	if (!gid_eq(dir->i_gid, GLOBAL_ROOT_GID))
		seq_printf(m, ",gid=%u", from_kgid_munged(ns, dir->i_gid));
	return 0;
}

static const struct super_operations se_names_sops = {
	.statfs = simple_statfs,
	.evict_inode = se_names_evict,
	.show_options = se_names_show_options,
};

static int se_names_fill_super(struct super_block *sb, struct fs_context *fc)
{
	const struct se_names_options *options = fc->fs_private;
	struct inode *dir;

	sb->s_maxbytes = MAX_LFS_FILESIZE;
	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = SE_FS_MAGIC;
	sb->s_time_gran = 1;
	sb->s_iflags |= SB_I_NOEXEC | SB_I_NODEV;
	sb->s_op = &se_names_sops;

	dir = new_inode(sb);
	if (!dir)
		return -ENOMEM;
	dir->i_ino = 1;
	dir->i_mode = S_IFDIR | options->mode;
	dir->i_uid = options->uid;
	dir->i_gid = options->gid;
	se_inode_init_times(dir);
	dir->i_op = &se_names_dir_iops;
	dir->i_fop = &simple_dir_operations;
	inc_nlink(dir);
	sb->s_root = d_make_root(dir);
	return sb->s_root ? 0 : -ENOMEM;
}

enum { SE_OPT_UID, SE_OPT_GID, SE_OPT_MODE };

static const struct fs_parameter_spec se_names_params[] = {
	fsparam_u32("uid", SE_OPT_UID),
	fsparam_u32("gid", SE_OPT_GID),
	fsparam_u32oct("mode", SE_OPT_MODE),
	{}
};

static int se_names_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct se_names_options *options = fc->fs_private;
	struct fs_parse_result result;
	int opt = fs_parse(fc, se_names_params, param, &result);

	switch (opt) {
	case SE_OPT_UID:
		options->uid = make_kuid(current_user_ns(), result.uint_32);
		if (!kuid_has_mapping(fc->user_ns, options->uid))
			return invalfc(fc, "no such uid here: %u", result.uint_32);
		return 0;
	case SE_OPT_GID:
		options->gid = make_kgid(current_user_ns(), result.uint_32);
		if (!kgid_has_mapping(fc->user_ns, options->gid))
			return invalfc(fc, "no such gid here: %u", result.uint_32);
		return 0;
	case SE_OPT_MODE:
		if (result.uint_32 & ~S_IALLUGO)
			return invalfc(fc, "mode has bits beyond 07777");
		options->mode = result.uint_32;
		return 0;
	default:
		return opt;
	}
}

static int se_names_get_tree(struct fs_context *fc)
{
	return get_tree_nodev(fc, se_names_fill_super);
}

static void se_names_free_context(struct fs_context *fc)
{
	kfree(fc->fs_private);
}

static const struct fs_context_operations se_names_context_ops = {
	.parse_param = se_names_parse_param,
	.get_tree = se_names_get_tree,
	.free = se_names_free_context,
};

static int se_names_init_context(struct fs_context *fc)
{
	struct se_names_options *options = kzalloc(sizeof(*options), GFP_KERNEL_ACCOUNT);

	if (!options)
		return -ENOMEM;
	options->uid = current_fsuid();
	options->gid = current_fsgid();
	options->mode = SE_NAMES_MODE;
	fc->fs_private = options;
	fc->ops = &se_names_context_ops;
	return 0;
}

struct file_system_type se_names_type = {
	.name = "synceventfs",
	.owner = THIS_MODULE,
	.init_fs_context = se_names_init_context,
	.parameters = se_names_params,
	.kill_sb = kill_persistent_super,
	.fs_flags = FS_USERNS_MOUNT,
};
MODULE_ALIAS_FS("synceventfs");
