// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exports: who else may have an event of a region, by a blob or by a name, written into its
 * descriptor by the side that made it, and checked by the side that imports. The descriptor
 * is everybody's to write: what is checked is a copy.
 */
#include "region.h"
#include "trace.h"

/* ---- own slots ------------------------------------------------------------------------- */

/**
 * se_slot_export() - let blobs give a right
 * @ev: an own event
 * @right: SYNCEVENT_RIGHT_READ or SYNCEVENT_RIGHT_UPDATE
 * @blob: gets what to take to the other side
 *
 * Return: 0, -EIDRM, -EPERM.
 */
int se_slot_export(struct se_event *ev, u32 right, struct syncevent_blob *blob)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	struct syncevent_region_desc *desc;
	int ret = -EIDRM;

	if (slot->import)
		return -EPERM;
	mutex_lock(&r->lock);
	if (rcu_access_pointer(r->table[slot->index]) != ev || READ_ONCE(ev->revoked))
		goto out;
	desc = se_desc(r, slot->index);
	WRITE_ONCE(desc->exported, READ_ONCE(desc->exported) | right);
	*blob = (struct syncevent_blob){
		.magic = SE_BLOB_MAGIC,
		.version = SE_BLOB_VERSION,
		.region = { r->id[0], r->id[1] },
		.slot = slot->index,
		.generation = slot->generation,
	};
	memcpy(blob->key, desc->key[right == SYNCEVENT_RIGHT_UPDATE], sizeof(blob->key));
	blob->checksum = se_blob_checksum(blob);
	trace_syncevent_export(ev->id, r->number, slot->index, slot->generation, right, false);
	ret = 0;
out:
	mutex_unlock(&r->lock);
	return ret;
}

static bool se_desc_named(const struct syncevent_region_desc *desc, const char *name)
{
	return READ_ONCE(desc->name_rights) &&
	       (READ_ONCE(desc->state) & SYNCEVENT_STATE_MASK) == SYNCEVENT_STATE_LIVE &&
	       !strncmp(desc->name, name, SYNCEVENT_PCI_NAME_MAX + 1);
}

/**
 * se_slot_name() - let everybody who may open the device import by a name
 * @ev: an own event
 * @name: not empty, ends with a zero
 * @rights: SYNCEVENT_RIGHT_*, 0 takes the name away
 *
 * Return: 0, -EIDRM, -EPERM, -EEXIST.
 */
int se_slot_name(struct se_event *ev, const char *name, u32 rights)
{
	struct se_slot *slot = ev->slot;
	struct se_region *r = slot->region;
	struct syncevent_region_desc *desc;
	int ret = -EEXIST;
	u32 i;

	if (slot->import)
		return -EPERM;
	mutex_lock(&r->lock);
	if (rcu_access_pointer(r->table[slot->index]) != ev || READ_ONCE(ev->revoked)) {
		ret = -EIDRM;
		goto out;
	}
	for (i = 0; rights && i < r->geo.slots; i++)
		if (i != slot->index && se_desc_named(se_desc(r, i), name) &&
		    !se_peer_gone(r, se_slot_owner(r, i)))
			goto out;
	desc = se_desc(r, slot->index);
	WRITE_ONCE(desc->name_rights, 0);
	virt_wmb();	/* no rights by a name that is half another */
	strscpy_pad(desc->name, rights ? name : "", sizeof(desc->name));
	/* The name comes with them; se_slot_check() compares its copy of both. */
	virt_store_release(&desc->name_rights, rights);
	trace_syncevent_export(ev->id, r->number, slot->index, slot->generation, rights, true);
	ret = 0;
out:
	mutex_unlock(&r->lock);
	return ret;
}

/* ---- those of others ------------------------------------------------------------------ */

/**
 * se_slot_find() - the slot of a name
 * @r: the region
 * @name: ends with a zero
 * @generation: gets that of the slot
 *
 * What a side left that is dead, or no longer there, counts if there is nothing else.
 *
 * Return: its index, or -ENOENT.
 */
int se_slot_find(struct se_region *r, const char *name, u32 *generation)
{
	int found = -ENOENT;
	u32 i;

	for (i = 0; i < r->geo.slots; i++) {
		struct syncevent_region_desc *desc = se_desc(r, i);
		u32 now = READ_ONCE(desc->state) >> SYNCEVENT_STATE_GEN_SHIFT;
		bool gone;

		if (!se_desc_named(desc, name))
			continue;
		gone = se_peer_gone(r, se_slot_owner(r, i));
		if (gone && found >= 0)
			continue;
		*generation = now;
		found = i;
		if (!gone)
			break;
	}
	return found;
}

/* The rights that a key, or else the name, of a descriptor gives. */
static u32 se_slot_rights(const struct syncevent_region_desc *desc, const u8 *key,
			  const char *name)
{
	u32 rights = 0;

	if (name)
		return strncmp(desc->name, name, sizeof(desc->name)) ? 0 :
		       desc->name_rights;
	if (desc->exported & SYNCEVENT_RIGHT_READ &&
	    !crypto_memneq(desc->key[0], key, SYNCEVENT_KEY_SIZE))
		rights = SYNCEVENT_RIGHT_READ;
	if (desc->exported & SYNCEVENT_RIGHT_UPDATE &&
	    !crypto_memneq(desc->key[1], key, SYNCEVENT_KEY_SIZE))
		rights = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE;
	return rights;
}

/**
 * se_slot_check() - may this slot be imported, and what is it?
 * @r: the region
 * @index: of the slot, within the region
 * @generation: that it must have
 * @key: of a right, or
 * @name: of a named export
 * @desc: gets a copy of the descriptor
 *
 * Return: SYNCEVENT_RIGHT_*, or -EIDRM, -EACCES, -EPROTO if it makes no sense.
 */
int se_slot_check(struct se_region *r, u32 index, u32 generation, const u8 *key,
		  const char *name, struct syncevent_region_desc *desc)
{
	struct syncevent_region_desc *shared = se_desc(r, index);
	u32 share = r->geo.payload_pages / r->geo.sides;
	u32 first = se_slot_owner(r, index) * share;
	u32 rights;

	/* Pairs with the release of se_slot_write(): what is copied belongs to it. */
	if (virt_load_acquire(&shared->state) !=
	    se_state(generation, SYNCEVENT_STATE_LIVE))
		return -EIDRM;
	/* Pairs with the release of se_slot_name(). */
	rights = virt_load_acquire(&shared->name_rights);
	memcpy(desc, shared, sizeof(*desc));
	virt_rmb();	/* of se_slot_name(): the rights are 0 while the name changes */
	if (name && (rights != desc->name_rights ||
		     rights != READ_ONCE(shared->name_rights)))
		return -EACCES;
	rights = se_slot_rights(desc, key, name) &
		 (SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
	if (!rights)
		return -EACCES;
	/* The pages of its creator, and no others. */
	if (desc->payload_pages > share ||
	    (desc->payload_pages && (desc->payload_first < first ||
	     desc->payload_first - first > share - desc->payload_pages)) ||
	    desc->publishers & ~SYNCEVENT_LOC_ALL || desc->subscribers & ~SYNCEVENT_LOC_ALL)
		return -EPROTO;
	return rights | SYNCEVENT_RIGHT_READ;
}
