/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Two guests that share a region run the same program: SE_SIDE says which is which.
 * They meet before each test, so that they run the same one.
 */
#ifndef SELFTESTS_PCI_H
#define SELFTESTS_PCI_H

#include "common.h"

#include <stddef.h>
#include <linux/syncevent_region.h>
#include <syncevent/cell.h>

#define PCI_DEV		"/dev/syncevent_pci0"
/* The one that is not side 0. */
#ifndef PCI_OTHER
#define PCI_OTHER	1U
#endif
#define PCI_BOTH	(1ULL | 1ULL << PCI_OTHER)

/* Which of the machines is this? */
static inline uint32_t my_side(void)
{
	const char *side = getenv("SE_SIDE");

	return side ? (uint32_t)strtoul(side, NULL, 10) : 0;
}

static inline bool is_owner(void)
{
	return my_side() == 0;
}

static int pci_dev_fd = -1;

static inline int pci_dev(void)
{
	if (pci_dev_fd < 0)
		pci_dev_fd = open(PCI_DEV, O_RDWR | O_CLOEXEC);
	return pci_dev_fd < 0 ? -errno : pci_dev_fd;
}

/* Before the module goes. */
static inline void pci_dev_close(void)
{
	close(pci_dev_fd);
	pci_dev_fd = -1;
}

/* Another region than the first, from now on. */
static inline int pci_dev_use(const char *path)
{
	pci_dev_close();
	pci_dev_fd = open(path, O_RDWR | O_CLOEXEC);
	return pci_dev_fd < 0 ? -errno : 0;
}

static inline int pci_info(struct syncevent_pci_info *info)
{
	se_poison(info, sizeof(*info));
	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_INFO, info);
}

/* When a side counts as dead. */
static inline int pci_peer_timeout(const char *ms)
{
	return se_write_text("/sys/module/syncevent/parameters/peer_timeout_ms", ms);
}

/* "ADDRESS=SIDE,ADDRESS=SIDE", as it was loaded; the first is that of PCI_DEV. */
static inline int get_places(char *places, size_t size)
{
	return se_read_text("/sys/module/syncevent/parameters/pci_side", places, size);
}

static inline int module_unload(void)
{
	return syscall(SYS_delete_module, "syncevent", O_NONBLOCK) ? -errno : 0;
}

static inline int module_load(const char *places)
{
	int fd = open("/m/syncevent.ko", O_RDONLY | O_CLOEXEC), ret;
	char parameters[160];

	if (fd < 0)
		return -errno;
	snprintf(parameters, sizeof(parameters), "pci_side=%s", places);
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static inline bool pci_alive(uint64_t sides)
{
	struct syncevent_pci_info info;

	return !pci_info(&info) && info.flags & SYNCEVENT_PCI_ATTACHED &&
	       (info.alive & sides) == sides;
}

static inline int pci_create(uint64_t value, uint32_t pages)
{
	struct syncevent_pci_create create = {
		.value = value,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.home = SYNCEVENT_PCI_HOME_ANY, .pages = pages,
	};

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create);
}

static inline int pci_name(int fd, const char *text, uint32_t rights)
{
	struct syncevent_pci_name name = { .rights = rights };

	snprintf(name.name, sizeof(name.name), "%s", text);
	return se_ioctl(fd, SYNCEVENT_IOC_EXPORT_NAME, &name);
}

static inline int pci_import_name(const char *text, uint32_t flags)
{
	struct syncevent_pci_name name = { .flags = flags };

	snprintf(name.name, sizeof(name.name), "%s", text);
	return se_ioctl(pci_dev(), SYNCEVENT_IOC_IMPORT_NAME, &name);
}

static inline int pci_export(int fd, uint32_t right, struct syncevent_blob *blob)
{
	struct syncevent_export export = { .right = right };
	int ret = se_ioctl(fd, SYNCEVENT_IOC_EXPORT, &export);

	*blob = export.blob;
	return ret;
}

static inline int pci_import(const struct syncevent_blob *blob, uint32_t flags)
{
	struct syncevent_import import = { .blob = *blob, .flags = flags };

	return se_ioctl(pci_dev(), SYNCEVENT_IOC_IMPORT, &import);
}

/* Make an event for all, by this name; or wait for the other side's. */
static inline int pci_offer(const char *name, uint64_t value, uint32_t pages)
{
	int fd = pci_create(value, pages), ret;

	if (fd < 0)
		return fd;
	ret = pci_name(fd, name, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static inline int pci_await(const char *name)
{
	int fd = -ENOENT;

	if (!se_until((fd = pci_import_name(name, 0)) != -ENOENT))
		return -ETIMEDOUT;
	return fd;
}

/* So that a forged blob is looked at more closely. */
static inline void pci_set_checksum(struct syncevent_blob *blob)
{
	const unsigned char *bytes = (const unsigned char *)blob;
	uint32_t sum = 0x811c9dc5U;
	size_t i;

	for (i = 0; i < offsetof(struct syncevent_blob, checksum); i++)
		sum = (sum ^ bytes[i]) * 0x01000193U;
	blob->checksum = sum;
}

static inline struct syncevent_cell *pci_map(int fd, int prot)
{
	void *cell = mmap(NULL, 4096, prot, MAP_SHARED, fd, 0);

	return cell == MAP_FAILED ? NULL : cell;
}

/* By a mapping, as a program sets that has one. */
static inline int pci_store(int fd, struct syncevent_cell *cell, uint64_t value)
{
	return syncevent_cell_set(cell, value) ? se_ring(fd) : 0;
}

/*
 * Wait for what the other side does. A wait whose wake-up was lost looks once more at its
 * deadline and finds what it waits for; here it has failed.
 */
static inline int pci_woken(int ret, uint64_t deadline)
{
	return se_now(CLOCK_MONOTONIC) < deadline ? ret : -ETIMEDOUT;
}

static inline int pci_wait(int fd, uint32_t cond, uint64_t operand, uint64_t *value)
{
	uint64_t deadline = se_patience();

	return pci_woken(se_wait(fd, cond, operand, deadline, value), deadline);
}

/* vm/pair does that to this machine. */
static inline void fault(const char *verb, uint32_t side)
{
	printf("@@ fault %s %u\n", verb, side);
	fflush(stdout);
}

/* ---- two machines in a test ------------------------------------------------------- */

/**
 * struct pci_pair - events by which the sides keep in step
 * @here: counts the steps of this side
 * @there: those of the other
 * @step: so many
 */
struct pci_pair {
	int here;
	int there;
	uint64_t step;
};

/* Neither side goes on before the other has come here. */
static inline int pci_meet(struct pci_pair *pair)
{
	int ret = se_set(pair->here, ++pair->step);

	return ret ?: pci_wait(pair->there, SYNCEVENT_COND_GE, pair->step, NULL);
}

/* The event of this side has so many pages. */
static inline int pci_join(struct pci_pair *pair, uint32_t pages)
{
	if (pci_dev() < 0)
		return pci_dev();
	if (!se_until(pci_alive(PCI_BOTH)))
		return -ETIMEDOUT;
	/* The other side may still hold what the last test left to it. */
	se_until((pair->here = pci_offer(is_owner() ? "step-0" : "step-1", 0, pages)) != -EEXIST);
	if (pair->here < 0)
		return pair->here;
	pair->there = pci_await(is_owner() ? "step-1" : "step-0");
	if (pair->there < 0)
		return pair->there;
	pair->step = 0;
	return pci_meet(pair);
}

static inline int pci_part(struct pci_pair *pair)
{
	/* A side that closes first would end the other's last wait. */
	int ret = pci_meet(pair) ?: pci_name(pair->here, "gone", 0);

	se_set(pair->here, ++pair->step);
	pci_wait(pair->there, SYNCEVENT_COND_GE, pair->step, NULL);
	close(pair->there);
	close(pair->here);
	return ret;
}

/**
 * pci_rings_once() - are doorbells rung for a sleeper alone, and only when it is to wake?
 * @fd: an event of value 0, of which the other side waits for more than @above
 * @hint: the other side's
 * @above: so many updates ring nobody
 *
 * Return: 0; -EPROTO if not; another negative errno.
 */
static inline int pci_rings_once(int fd, volatile struct syncevent_hint *hint, uint64_t above)
{
	struct syncevent_pci_info before, below, after;
	int ret = se_until(hint->wake_above == above) ? pci_info(&before) : -ETIMEDOUT;
	uint64_t i;

	for (i = 1; !ret && i <= above; i++)
		ret = se_set(fd, i);
	ret = ret ?: pci_info(&below) ?: se_set(fd, above + 1) ?: pci_info(&after);
	return ret ?: below.rung == before.rung && after.rung == before.rung + 1 ? 0 : -EPROTO;
}

/**
 * pci_add_together() - add on both sides at the same time
 * @pair: of machines
 * @fd: an event of value 0 for both
 * @mapped: adds of a program
 * @calls: after how many of those the kernel does one
 *
 * Return: 0 if no add was lost; 1 if some were, or one saw less than the one before;
 * or a negative errno.
 */
static inline int pci_add_together(struct pci_pair *pair, int fd, unsigned int mapped,
				   unsigned int calls)
{
	struct syncevent_cell *cell = pci_map(fd, PROT_READ | PROT_WRITE);
	uint64_t old, last = 0, back = 0, v;
	unsigned int i;
	int ret = cell ? pci_meet(pair) : -errno;

	for (i = 0; !ret && i < mapped; i++) {
		old = __atomic_fetch_add(&cell->value, 1, __ATOMIC_SEQ_CST);
		back += i && old <= last;
		last = old;
		if (i % calls)
			continue;
		ret = se_add(fd, 1, &old);
		back += old <= last;
		last = old;
	}
	/* Whoever made it ends it by closing: not before the other has looked. */
	ret = ret ?: pci_meet(pair) ?: se_get(fd, &v) ?: pci_meet(pair);
	if (cell)
		munmap(cell, 4096);
	if (ret)
		return ret;
	old = 2 * (mapped + (uint64_t)(mapped + calls - 1) / calls);
	printf("# %llu of %llu adds, %llu went back\n", (unsigned long long)v,
	       (unsigned long long)old, (unsigned long long)back);
	return v != old || back;
}

#endif /* SELFTESTS_PCI_H */
