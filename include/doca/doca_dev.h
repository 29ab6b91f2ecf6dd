/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * doca_dev.h - devices, and who is on the other side of them
 *
 * The devices are the PCI devices that share memory with other machines (syncevent.ko),
 * each under its address here. Where there is none they are a virtual pair,
 * 0000:01:00.0 (the host's) and 0000:03:00.0 (the DPU's), which all processes have.
 *
 * Threads: all functions may be called by any thread at any time.
 */
#ifndef DOCA_DEV_H
#define DOCA_DEV_H

#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_devinfo_rep;

/* Bytes, with the final NUL. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE	13
#define DOCA_DEVINFO_PCI_BDF_SIZE	8
#define DOCA_DEVINFO_IFACE_NAME_SIZE	256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE	64
#define DOCA_DEVINFO_VUID_SIZE		128
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE	13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE	8
#define DOCA_DEVINFO_REP_VUID_SIZE	128

/* ---- devices ------------------------------------------------------------------ */

/**
 * doca_devinfo_create_list() - which devices are there?
 * @dev_list: gets an array, to be given back by doca_devinfo_destroy_list()
 * @nb_devs: its length
 *
 * Return: or INVALID_VALUE; NO_MEMORY; NOT_PERMITTED: there are some, and no right to
 * open any.
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/** doca_devinfo_destroy_list() - what is open stays so, with its info. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * doca_dev_open() - use a device
 * @devinfo: one of a list
 * @dev: gets it: the same for the same device, to be closed as often as opened
 *
 * Return: or INVALID_VALUE; NO_MEMORY.
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/** doca_dev_close() - Return: or INVALID_VALUE; IN_USE: something was made with it */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/** doca_dev_as_devinfo() - valid until @dev is closed. Return: NULL if @dev is */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * doca_devinfo_is_equal_pci_addr() - is it the device of this address?
 * @devinfo: a device
 * @pci_addr_str: as "0000:3a:00.0" or "3a:00.0", in any case
 * @is_equal: gets 1 or 0
 *
 * Return: or INVALID_VALUE: NULL, or no address.
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal);

/** doca_devinfo_get_pci_addr_str() - @pci_addr_str: DOCA_DEVINFO_PCI_ADDR_SIZE bytes */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
					   char *pci_addr_str);

/** doca_devinfo_get_iface_name() - Return: NOT_SUPPORTED: it has none; INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo,
					 char *iface_name, uint32_t size);

/**
 * doca_devinfo_get_ibdev_name() - a name of the device
 * @size: of @ibdev_name, at least DOCA_DEVINFO_IBDEV_NAME_SIZE
 *
 * Return: or INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo,
					 char *ibdev_name, uint32_t size);

/** doca_devinfo_get_pci_func_type() - it is DOCA_PCI_FUNC_TYPE_PF. Return: or INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
					    enum doca_pci_func_type *pci_func_type);

/** doca_devinfo_get_sf_index() - Return: NOT_SUPPORTED: it is none; INVALID_VALUE */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

/* ---- representors: the other sides of a device ------------------------------------ */

/** enum doca_devinfo_rep_filter - which; ALL and NET are the same here, EMULATED are none */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2,
};

/**
 * doca_devinfo_rep_create_list() - who is on the other side?
 * @dev: a device
 * @filter: of enum doca_devinfo_rep_filter
 * @dev_list_rep: gets an array, to be given back by doca_devinfo_rep_destroy_list()
 * @nb_devs_rep: its length, which may be 0
 *
 * One for each machine that is alive, with the address that the device has there. On the
 * DPU's device of the virtual pair it is the host's.
 *
 * Return: or INVALID_VALUE; NOT_SUPPORTED: it is the host's device of the virtual pair;
 * NO_MEMORY; NOT_FOUND: the device has gone.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

/** doca_devinfo_rep_destroy_list() - what is open stays so. Return: or INVALID_VALUE */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/** doca_devinfo_rep_is_equal_pci_addr() - as doca_devinfo_is_equal_pci_addr() */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr_str, uint8_t *is_equal);

/** doca_devinfo_rep_get_pci_addr_str() - DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep,
					       char *pci_addr_str);

/**
 * doca_devinfo_rep_get_vuid() - a name that no other has
 * @size: of @rep_vuid, at least DOCA_DEVINFO_REP_VUID_SIZE
 *
 * Return: or INVALID_VALUE.
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
				       char *rep_vuid, uint32_t size);

/** doca_dev_rep_open() - Return: or INVALID_VALUE; NO_MEMORY */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/** doca_dev_rep_close() - Return: or INVALID_VALUE; IN_USE: something was made with it */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/** doca_dev_rep_as_devinfo() - valid until @dev_rep is closed. Return: NULL if @dev_rep is */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(const struct doca_dev_rep *dev_rep);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H */
