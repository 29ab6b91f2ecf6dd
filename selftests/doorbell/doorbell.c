// SPDX-License-Identifier: GPL-2.0-only
/*
 * doorbell.c - the least that a driver of ivshmem can do, to measure others beside it
 *
 * /dev/doorbell: read(2) sleeps until the doorbell has rung since the last read, write(2)
 * of a u32 rings the peer of that number, mmap(2) maps the memory. One user at a time.
 * It takes no device by itself: driver_override says which.
 */
#include <linux/interrupt.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define IVPOSITION	8
#define DOORBELL	12

static DECLARE_WAIT_QUEUE_HEAD(waiters);
static struct pci_dev *device;
static void __iomem *registers;
static atomic_t rang;
static int seen;

static irqreturn_t doorbell_irq(int irq, void *data)
{
	atomic_inc(&rang);
	wake_up(&waiters);
	return IRQ_HANDLED;
}

/* Answers with the own number. */
static ssize_t doorbell_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	u32 number = readl(registers + IVPOSITION);
	int ret;

	if (size != sizeof(number))
		return -EINVAL;
	ret = wait_event_interruptible(waiters, atomic_read(&rang) != seen);
	if (ret)
		return ret;
	seen = atomic_read(&rang);
	return copy_to_user(buf, &number, sizeof(number)) ? -EFAULT : sizeof(number);
}

static ssize_t doorbell_write(struct file *file, const char __user *buf, size_t size,
			      loff_t *pos)
{
	u32 number;

	if (size != sizeof(number))
		return -EINVAL;
	if (copy_from_user(&number, buf, sizeof(number)))
		return -EFAULT;
	writel(number << 16, registers + DOORBELL);
	return sizeof(number);
}

static int doorbell_mmap(struct file *file, struct vm_area_struct *vma)
{
	return vm_iomap_memory(vma, pci_resource_start(device, 2), pci_resource_len(device, 2));
}

static const struct file_operations doorbell_fops = {
	.owner = THIS_MODULE,
	.read = doorbell_read,
	.write = doorbell_write,
	.mmap = doorbell_mmap,
};

static struct miscdevice doorbell_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "doorbell",
	.fops = &doorbell_fops,
};

static int doorbell_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int ret;

	if (device)
		return -EBUSY;
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	registers = pcim_iomap(pdev, 0, 0);
	if (!registers)
		return -ENOMEM;
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, 0), doorbell_irq, 0, "doorbell", pdev);
	if (ret)
		goto err_vectors;
	device = pdev;
	ret = misc_register(&doorbell_misc);
	if (ret)
		goto err_irq;
	return 0;

err_irq:
	device = NULL;
	free_irq(pci_irq_vector(pdev, 0), pdev);
err_vectors:
	pci_free_irq_vectors(pdev);
	return ret;
}

static void doorbell_remove(struct pci_dev *pdev)
{
	misc_deregister(&doorbell_misc);
	free_irq(pci_irq_vector(pdev, 0), pdev);
	pci_free_irq_vectors(pdev);
	device = NULL;
}

/* None: driver_override is all that matches. */
static const struct pci_device_id doorbell_ids[] = { { } };

static struct pci_driver doorbell_driver = {
	.name = "doorbell",
	.id_table = doorbell_ids,
	.probe = doorbell_probe,
	.remove = doorbell_remove,
};
module_pci_driver(doorbell_driver);

MODULE_DESCRIPTION("Minimal driver of ivshmem doorbells, for measurements");
MODULE_LICENSE("GPL");
