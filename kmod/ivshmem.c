// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transport for ivshmem, QEMU's memory shared between virtual machines: BAR 2 is
 * the memory. With a server each machine has a number and MSI-X vectors that the
 * others can ring (BAR 0, BAR 1); without, there are no doorbells.
 */
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "region.h"

#define IVSHMEM_POSITION	0x08
#define IVSHMEM_DOORBELL	0x0c	/* peer << 16 | vector */

#define IVSHMEM_BAR_REGISTERS	0
#define IVSHMEM_BAR_MEMORY	2

static char *se_pci_side[16];
static int se_pci_side_count;
module_param_array_named(pci_side, se_pci_side, charp, &se_pci_side_count, 0444);
MODULE_PARM_DESC(pci_side, "side of a region by PCI address: 0000:00:04.0=1,...");

static unsigned int se_pci_sides = 2;
module_param_named(pci_sides, se_pci_sides, uint, 0444);
MODULE_PARM_DESC(pci_sides, "sides of a region that side 0 formats here");

static bool se_direct_atomics = true;
module_param_named(direct_atomics, se_direct_atomics, bool, 0444);
MODULE_PARM_DESC(direct_atomics, "no: adds work at home alone, to events made here and by this machine");

/* ---- the operations ------------------------------------------------------------------------ */

static void se_ivshmem_ring(struct se_region *r, u32 doorbell)
{
	/* writel() comes after what was written to the memory before. */
	writel(doorbell << 16, r->registers + IVSHMEM_DOORBELL);
}

static void se_ivshmem_mask(struct se_region *r, bool mask)
{
	if (mask)
		disable_irq_nosync(r->irq);
	else
		enable_irq(r->irq);
}

static void se_ivshmem_unmap(struct se_region *r)
{
	if (r->base)
		memunmap(r->base);
}

static struct se_transport se_ivshmem_doorbell = {
	.doorbells = true,
	.ring = se_ivshmem_ring,
	.mask = se_ivshmem_mask,
	.unmap = se_ivshmem_unmap,
};

static struct se_transport se_ivshmem_plain = {
	.unmap = se_ivshmem_unmap,
};

static irqreturn_t se_ivshmem_irq(int irq, void *data)
{
	se_region_irq(data);
	return IRQ_HANDLED;
}

/* ---- the driver ------------------------------------------------------------------------------ */

/* The side that was configured, or -1. */
static int se_ivshmem_side(struct pci_dev *pdev)
{
	const char *name = pci_name(pdev);
	size_t len = strlen(name);
	u8 side;
	int i;

	for (i = 0; i < se_pci_side_count; i++) {
		if (strncmp(se_pci_side[i], name, len) || se_pci_side[i][len] != '=')
			continue;
		if (kstrtou8(se_pci_side[i] + len + 1, 0, &side) ||
		    side >= SYNCEVENT_SIDES_MAX)
			return -EINVAL;
		return side;
	}
	return -ENOENT;
}

static int se_ivshmem_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int side = se_ivshmem_side(pdev), position, ret;
	bool configured;
	const struct se_transport *transport;
	void __iomem *registers;
	struct se_region *r;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	/*
	 * One that was enabled before, through sysfs, stays in the unknown state that the
	 * last driver left it in, which has no MSI-X.
	 */
	pci_set_power_state(pdev, PCI_D0);
	ret = pcim_iomap_regions(pdev, BIT(IVSHMEM_BAR_REGISTERS), "syncevent");
	if (ret)
		return ret;
	ret = pci_request_region(pdev, IVSHMEM_BAR_MEMORY, "syncevent");
	if (ret)
		return ret;
	/* The header has to be there before it can be looked at. */
	if (pci_resource_len(pdev, IVSHMEM_BAR_MEMORY) < SYNCEVENT_REGION_PAGE) {
		pci_release_region(pdev, IVSHMEM_BAR_MEMORY);
		return -ENODEV;
	}
	registers = pcim_iomap_table(pdev)[IVSHMEM_BAR_REGISTERS];
	pci_set_master(pdev);
	transport = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX) == 1 ?
		    &se_ivshmem_doorbell : &se_ivshmem_plain;
	position = transport->doorbells ? readl(registers + IVSHMEM_POSITION) : -1;
	configured = side >= 0;
	if (side == -ENOENT && position >= 0 && position < SYNCEVENT_SIDES_MAX)
		side = position;
	if (side < 0) {
		pci_err(pdev, "which side is this? pci_side=%s=N\n", pci_name(pdev));
		ret = -EINVAL;
		goto err_vectors;
	}

	r = se_region_alloc(&pdev->dev, transport);
	if (!r) {
		ret = -ENOMEM;
		goto err_vectors;
	}
	r->registers = registers;
	r->side = side;
	r->sides = se_pci_sides;
	r->configured = configured;
	r->doorbell = position;
	r->address = pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
	r->phys = pci_resource_start(pdev, IVSHMEM_BAR_MEMORY);
	r->len = pci_resource_len(pdev, IVSHMEM_BAR_MEMORY);
	ret = -ENOMEM;
	r->base = memremap(r->phys, r->len, MEMREMAP_WB);
	if (!r->base)
		goto err_region;
	if (transport->doorbells) {
		/* Kept: to ask for it takes a mutex. */
		r->irq = pci_irq_vector(pdev, 0);
		ret = request_irq(r->irq, se_ivshmem_irq, 0, "syncevent", r);
		if (ret)
			goto err_region;
	}
	ret = se_region_add(r);
	if (ret)
		goto err_irq;
	pci_set_drvdata(pdev, r);
	return 0;

err_irq:
	if (transport->doorbells)
		free_irq(r->irq, r);
err_region:
	se_region_put(r);
err_vectors:
	pci_free_irq_vectors(pdev);
	pci_release_region(pdev, IVSHMEM_BAR_MEMORY);
	return ret;
}

static void se_ivshmem_remove(struct pci_dev *pdev)
{
	struct se_region *r = pci_get_drvdata(pdev);

	se_region_remove(r);
	if (r->transport->doorbells)
		free_irq(r->irq, r);
	pci_free_irq_vectors(pdev);
	pci_release_region(pdev, IVSHMEM_BAR_MEMORY);
	se_region_put(r);
}

static const struct pci_device_id se_ivshmem_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110) },
	{}
};
MODULE_DEVICE_TABLE(pci, se_ivshmem_ids);

static struct pci_driver se_ivshmem_driver = {
	.name = "syncevent",
	.id_table = se_ivshmem_ids,
	.probe = se_ivshmem_probe,
	.remove = se_ivshmem_remove,
};

/** se_ivshmem_init() - from the module's init */
int se_ivshmem_init(void)
{
	int ret;

	se_ivshmem_doorbell.direct_atomics = se_direct_atomics;
	se_ivshmem_plain.direct_atomics = se_direct_atomics;
	se_region_workqueue = alloc_workqueue("syncevent_pci", WQ_UNBOUND, 0);
	if (!se_region_workqueue)
		return -ENOMEM;
	ret = pci_register_driver(&se_ivshmem_driver);
	if (ret)
		destroy_workqueue(se_region_workqueue);
	return ret;
}

/** se_ivshmem_exit() - undo se_ivshmem_init() */
void se_ivshmem_exit(void)
{
	pci_unregister_driver(&se_ivshmem_driver);
	rcu_barrier();	/* se_slot_free_event() */
	destroy_workqueue(se_region_workqueue);
}
