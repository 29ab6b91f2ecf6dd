// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * dev.c - devices and their other sides
 *
 * A devinfo is a constant with a count of those who use it: lists and open devices. An
 * open device is one object for the whole process, which is counted too, by how often it
 * was opened and by what was made with it. Representors likewise, each device its own.
 */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define VIRTUAL_HOST	"0000:01:00.0"
#define VIRTUAL_DPU	"0000:03:00.0"
#define SIDES_MAX	64

/* What doca_devinfo_rep_is_equal_pci_addr() and others are given; the same as a devinfo. */
struct doca_devinfo {
	struct sed_dev_id id;
	unsigned int users;
};

struct doca_devinfo_rep {
	struct doca_devinfo info;
};

/**
 * struct doca_dev - an open device or representor
 * @info: which
 * @opens: how often it was opened
 * @users: what was made with it
 * @link: in the list of all
 */
struct doca_dev {
	struct doca_devinfo *info;
	unsigned int opens;
	unsigned int users;
	LIST_ENTRY(doca_dev) link;
};

struct doca_dev_rep {
	struct doca_dev dev;
};

LIST_HEAD(devs, doca_dev);

/* Protects all counts and the lists. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct devs devs = LIST_HEAD_INITIALIZER(devs);
static struct devs reps = LIST_HEAD_INITIALIZER(reps);

static void lock_all(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_all(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child uses devices as well, whatever other threads were doing to them. */
__attribute__((constructor)) static void dev_load(void)
{
	pthread_atfork(lock_all, unlock_all, unlock_all);
}

/* ---- lists ----------------------------------------------------------------------- */

/* Arrays end with NULL, by which they are destroyed. */
struct list {
	struct doca_devinfo **infos;
	uint32_t n;
};

static void put_info(struct doca_devinfo *info)
{
	if (!--info->users)
		free(info);
}

static doca_error_t list_add(struct list *list, const struct sed_dev_id *id)
{
	struct doca_devinfo **infos =
		realloc(list->infos, (list->n + 2) * sizeof(struct doca_devinfo *));

	if (!infos)
		return DOCA_ERROR_NO_MEMORY;
	list->infos = infos;
	infos[list->n] = malloc(sizeof(**infos));
	if (!infos[list->n])
		return DOCA_ERROR_NO_MEMORY;
	*infos[list->n] = (struct doca_devinfo){ .id = *id, .users = 1 };
	infos[++list->n] = NULL;
	return DOCA_SUCCESS;
}

static doca_error_t destroy_list(struct doca_devinfo **infos)
{
	uint32_t i;

	if (!infos)
		return DOCA_ERROR_INVALID_VALUE;
	lock_all();
	for (i = 0; infos[i]; i++)
		put_info(infos[i]);
	unlock_all();
	free(infos);
	return DOCA_SUCCESS;
}

static void set_address(char to[16], const char *from)
{
	snprintf(to, 16, "%.15s", from);
}

static doca_error_t list_virtual(struct list *list)
{
	static const struct sed_dev_id pair[] = {
		{ SED_DEV_VIRTUAL_HOST, VIRTUAL_HOST, "", "syncevent_host", 0 },
		{ SED_DEV_VIRTUAL_DPU, VIRTUAL_DPU, "", "syncevent_dpu", 0 },
	};
	doca_error_t result = list_add(list, &pair[0]);

	return result == DOCA_SUCCESS ? list_add(list, &pair[1]) : result;
}

/* All PCI devices that may be opened; @denied: there is one that may not. */
static doca_error_t list_pci(struct list *list, bool *denied)
{
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct sed_dev_id id = { .kind = SED_DEV_PCI };
	doca_error_t result = DOCA_SUCCESS;
	unsigned int i;
	int err;

	for (i = 0; result == DOCA_SUCCESS; i++) {
		const char *name;

		err = syncevent_pci_get(i, &pci);
		if (err == -EACCES) {
			*denied = true;
			continue;
		}
		/* Without the module there are none. */
		if (err)
			return err == -ENOENT || err == -ENODEV ? DOCA_SUCCESS : sed_error(err);
		name = strrchr(pci.device, '/');
		set_address(id.address, pci.address);
		set_address(id.device, pci.address);
		snprintf(id.name, sizeof(id.name), "%.31s", name ? name + 1 : pci.device);
		result = list_add(list, &id);
	}
	return result;
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct list list = { 0 };
	doca_error_t result;
	bool denied = false;

	if (!dev_list || !nb_devs)
		return DOCA_ERROR_INVALID_VALUE;
	result = list_pci(&list, &denied);
	if (result == DOCA_SUCCESS && !list.n)
		result = denied ? DOCA_ERROR_NOT_PERMITTED : list_virtual(&list);
	if (result != DOCA_SUCCESS) {
		(void)destroy_list(list.infos);
		return result;
	}
	*dev_list = list.infos;
	*nb_devs = list.n;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	return destroy_list(dev_list);
}

/* ---- what they are ----------------------------------------------------------------- */

/* "3a:00.0" or "0000:3a:00.0". */
static bool is_address(const char *s)
{
	static const char form[] = "xxxx:xx:xx.x";
	const char *f = strlen(s) == sizeof("xx:xx.x") - 1 ? form + 5 : form;

	while (*f && (*f == 'x' ? isxdigit((unsigned char)*s) : *s == *f))
		f++, s++;
	return !*f && !*s;
}

static doca_error_t is_equal(const struct doca_devinfo *info, const char *address,
			     uint8_t *equal)
{
	const char *own;

	if (!info || !address || !equal || !is_address(address))
		return DOCA_ERROR_INVALID_VALUE;
	own = info->id.address;
	if (strlen(address) < strlen(own))
		*equal = !strncmp(own, "0000:", 5) && !strcasecmp(own + 5, address);
	else
		*equal = !strcasecmp(own, address);
	return DOCA_SUCCESS;
}

static doca_error_t get_address(const struct doca_devinfo *info, char *address)
{
	if (!info || !address)
		return DOCA_ERROR_INVALID_VALUE;
	snprintf(address, DOCA_DEVINFO_PCI_ADDR_SIZE, "%.12s", info->id.address);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *equal)
{
	return is_equal(devinfo, pci_addr_str, equal);
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
					   char *pci_addr_str)
{
	return get_address(devinfo, pci_addr_str);
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo,
					 char *iface_name, uint32_t size)
{
	if (!devinfo || !iface_name || size < DOCA_DEVINFO_IFACE_NAME_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo,
					 char *ibdev_name, uint32_t size)
{
	if (!devinfo || !ibdev_name || size < DOCA_DEVINFO_IBDEV_NAME_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	snprintf(ibdev_name, size, "%s", devinfo->id.name);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
					    enum doca_pci_func_type *pci_func_type)
{
	if (!devinfo || !pci_func_type)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = DOCA_PCI_FUNC_TYPE_PF;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
	return devinfo && sf_index ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
}

/* ---- open devices -------------------------------------------------------------------- */

static bool same(const struct sed_dev_id *a, const struct sed_dev_id *b)
{
	return a->kind == b->kind && !strcmp(a->address, b->address) &&
	       !strcmp(a->device, b->device) && a->side == b->side;
}

/* The open device of @info, or a new one of @size. */
static doca_error_t open_dev(struct devs *all, struct doca_devinfo *info, size_t size,
			     struct doca_dev **out)
{
	struct doca_dev *dev;

	lock_all();
	LIST_FOREACH(dev, all, link)
		if (same(&dev->info->id, &info->id))
			break;
	if (!dev) {
		dev = calloc(1, size);
		if (dev) {
			dev->info = info;
			info->users++;
			LIST_INSERT_HEAD(all, dev, link);
		}
	}
	if (dev)
		dev->opens++;
	unlock_all();
	*out = dev;
	return dev ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t close_dev(struct doca_dev *dev)
{
	doca_error_t result = DOCA_SUCCESS;

	lock_all();
	if (dev->opens > 1) {
		dev->opens--;
	} else if (dev->users) {
		result = DOCA_ERROR_IN_USE;
	} else {
		LIST_REMOVE(dev, link);
		put_info(dev->info);
		free(dev);
	}
	unlock_all();
	return result;
}

static void use(struct doca_dev *dev, int more)
{
	lock_all();
	dev->users += (unsigned int)more;
	unlock_all();
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	struct doca_dev *opened;
	doca_error_t result;

	if (!devinfo || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	result = open_dev(&devs, devinfo, sizeof(*opened), &opened);
	if (result == DOCA_SUCCESS)
		*dev = opened;
	return result;
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
	return dev ? close_dev(dev) : DOCA_ERROR_INVALID_VALUE;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev ? dev->info : NULL;
}

const struct sed_dev_id *sed_devinfo_id(const struct doca_devinfo *info)
{
	return &info->id;
}

const struct sed_dev_id *sed_dev_id(const struct doca_dev *dev)
{
	return &dev->info->id;
}

doca_error_t sed_dev_default(struct sed_dev_id *id)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	*id = list[0]->id;
	return doca_devinfo_destroy_list(list);
}

bool sed_dev_reaches(const struct sed_dev_id *dev, const struct sed_dev_id *other)
{
	return (dev->kind == SED_DEV_PCI) == (other->kind == SED_DEV_PCI) &&
	       !strcmp(dev->device, other->device);
}

void sed_dev_get(struct doca_dev *dev)
{
	use(dev, 1);
}

void sed_dev_put(struct doca_dev *dev)
{
	if (dev)
		use(dev, -1);
}

/* ---- representors ---------------------------------------------------------------------- */

int sed_dev_pci(const struct sed_dev_id *dev, struct syncevent_pci *pci)
{
	int err, result = -ENODEV;
	unsigned int i;

	*pci = (struct syncevent_pci){ .size = sizeof(*pci) };
	for (i = 0; (err = syncevent_pci_get(i, pci)) != -ENOENT; i++) {
		if (!err && !strcmp(pci->address, dev->device))
			return 0;
		/* It may have been this one. */
		if (err)
			result = err;
	}
	return result;
}

static doca_error_t list_sides(struct list *list, const struct sed_dev_id *dev)
{
	struct syncevent_pci_side side = { .size = sizeof(side) };
	struct sed_dev_id id = *dev;
	struct syncevent_pci pci;
	doca_error_t result = sed_error(sed_dev_pci(dev, &pci));
	unsigned int i;

	for (i = 0; result == DOCA_SUCCESS && i < pci.sides && i < SIDES_MAX; i++) {
		if (i == pci.side || syncevent_pci_side(dev->device, i, &side) || !side.alive)
			continue;
		set_address(id.address, side.address);
		id.side = i;
		result = list_add(list, &id);
	}
	return result;
}

doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep)
{
	struct list list = { 0 };
	struct sed_dev_id id;
	doca_error_t result = DOCA_SUCCESS;

	if (!dev || !dev_list_rep || !nb_devs_rep ||
	    filter & ~(DOCA_DEVINFO_REP_FILTER_NET | DOCA_DEVINFO_REP_FILTER_EMULATED))
		return DOCA_ERROR_INVALID_VALUE;
	id = dev->info->id;
	if (id.kind == SED_DEV_VIRTUAL_HOST)
		return DOCA_ERROR_NOT_SUPPORTED;
	list.infos = calloc(1, sizeof(struct doca_devinfo *));
	if (!list.infos)
		return DOCA_ERROR_NO_MEMORY;
	if (filter == DOCA_DEVINFO_REP_FILTER_EMULATED) {
		result = DOCA_SUCCESS;
	} else if (id.kind == SED_DEV_VIRTUAL_DPU) {
		set_address(id.address, VIRTUAL_HOST);
		result = list_add(&list, &id);
	} else {
		result = list_sides(&list, &id);
	}
	if (result != DOCA_SUCCESS) {
		(void)destroy_list(list.infos);
		return result;
	}
	*dev_list_rep = (struct doca_devinfo_rep **)(void *)list.infos;
	*nb_devs_rep = list.n;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	return destroy_list((struct doca_devinfo **)(void *)dev_list_rep);
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *equal)
{
	return is_equal(devinfo_rep ? &devinfo_rep->info : NULL, pci_addr_str, equal);
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str)
{
	return get_address(devinfo_rep ? &devinfo_rep->info : NULL, pci_addr_str);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
				       char *rep_vuid, uint32_t size)
{
	const struct sed_dev_id *id;

	if (!devinfo_rep || !rep_vuid || size < DOCA_DEVINFO_REP_VUID_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	id = &devinfo_rep->info.id;
	snprintf(rep_vuid, size, "%s-side%u-%s", id->name, id->side, id->address);
	return DOCA_SUCCESS;
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
	struct doca_dev *opened;
	doca_error_t result;

	if (!devinfo || !dev_rep)
		return DOCA_ERROR_INVALID_VALUE;
	result = open_dev(&reps, &devinfo->info, sizeof(struct doca_dev_rep), &opened);
	if (result == DOCA_SUCCESS)
		*dev_rep = SED_OF(opened, struct doca_dev_rep, dev);
	return result;
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	return dev ? close_dev(&dev->dev) : DOCA_ERROR_INVALID_VALUE;
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(const struct doca_dev_rep *dev_rep)
{
	return dev_rep ? SED_OF(dev_rep->dev.info, struct doca_devinfo_rep, info) : NULL;
}

const struct sed_dev_id *sed_dev_rep_id(const struct doca_dev_rep *rep)
{
	return &rep->dev.info->id;
}

void sed_dev_rep_get(struct doca_dev_rep *rep)
{
	use(&rep->dev, 1);
}

void sed_dev_rep_put(struct doca_dev_rep *rep)
{
	if (rep)
		use(&rep->dev, -1);
}
