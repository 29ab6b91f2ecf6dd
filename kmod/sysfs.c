// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/misc/syncevent_pciN: what PCI_INFO and PCI_PEER tell, for people and for
 * those who may not open the device.
 */
#include <linux/bitmap.h>
#include <linux/sysfs.h>

#include "region.h"

/* Removed, and no longer read, before the device lets the region go. */
static struct se_region *se_sysfs_region(struct device *dev)
{
	return container_of(dev_get_drvdata(dev), struct se_region, misc);
}

static int se_sysfs_address(char *buf, int at, u32 address)
{
	return sysfs_emit_at(buf, at, "%04x:%02x:%02x.%x\n", address >> 16,
			     address >> 8 & 0xff, address >> 3 & 0x1f, address & 7);
}

static ssize_t address_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return se_sysfs_address(buf, 0, se_sysfs_region(dev)->address);
}
static DEVICE_ATTR_RO(address);

static ssize_t side_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", se_sysfs_region(dev)->side);
}
static DEVICE_ATTR_RO(side);

static ssize_t sides_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct se_region *r = se_sysfs_region(dev);

	return sysfs_emit(buf, "%u\n", se_attached(r) ? r->geo.sides : 0);
}
static DEVICE_ATTR_RO(sides);

static ssize_t region_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct se_region *r = se_sysfs_region(dev);
	u64 id[2] = {};

	mutex_lock(&r->lock);
	if (r->epoch)
		memcpy(id, r->id, sizeof(id));
	mutex_unlock(&r->lock);
	return sysfs_emit(buf, "%016llx%016llx\n", id[0], id[1]);
}
static DEVICE_ATTR_RO(region_id);

static ssize_t slots_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct se_region *r = se_sysfs_region(dev);

	return sysfs_emit(buf, "%u\n", se_attached(r) ? r->geo.slots : 0);
}
static DEVICE_ATTR_RO(slots);

static ssize_t slots_used_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct se_region *r = se_sysfs_region(dev);
	unsigned int used = 0;

	mutex_lock(&r->lock);
	if (r->epoch)
		used = bitmap_weight(r->used, r->geo.slots);
	mutex_unlock(&r->lock);
	return sysfs_emit(buf, "%u\n", used);
}
static DEVICE_ATTR_RO(slots_used);

static ssize_t peers_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct se_region *r = se_sysfs_region(dev);
	int at = 0;
	u32 side;

	mutex_lock(&r->lock);
	for (side = 0; r->epoch && side < r->geo.sides; side++) {
		if (side == r->side)
			continue;
		at += sysfs_emit_at(buf, at, "%u %s ", side,
				    r->peer[side].alive ? "alive" :
				    se_peer_dead(r, side) ? "dead" : "absent");
		at += se_sysfs_address(buf, at, READ_ONCE(se_side(r, side)->address));
	}
	mutex_unlock(&r->lock);
	return at;
}
static DEVICE_ATTR_RO(peers);

static struct attribute *se_pci_attrs[] = {
	&dev_attr_address.attr,
	&dev_attr_side.attr,
	&dev_attr_sides.attr,
	&dev_attr_region_id.attr,
	&dev_attr_slots.attr,
	&dev_attr_slots_used.attr,
	&dev_attr_peers.attr,
	NULL
};

static const struct attribute_group se_pci_group = {
	.attrs = se_pci_attrs,
};

/* Of the device from its beginning: who hears of it finds them. */
const struct attribute_group *se_pci_groups[] = {
	&se_pci_group,
	NULL
};
