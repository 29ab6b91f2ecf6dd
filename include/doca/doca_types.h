/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* doca_types.h - types that most headers use */
#ifndef DOCA_TYPES_H
#define DOCA_TYPES_H

#include <stdint.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** doca_event_handle_t - a file descriptor, for poll(2) and epoll(7) */
typedef int doca_event_handle_t;
typedef doca_event_handle_t doca_notification_handle_t;

/** doca_event_invalid_handle - no file descriptor */
static const doca_event_handle_t doca_event_invalid_handle
	__attribute__((__unused__)) = -1;

/** union doca_data - what a program wants to be given back */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/** enum doca_access_flag - who may do what to memory; may be combined */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = 1 << 0,
	DOCA_ACCESS_FLAG_RDMA_READ = 1 << 1,
	DOCA_ACCESS_FLAG_RDMA_WRITE = 1 << 2,
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = 1 << 3,
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = 1 << 4,
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = 1 << 5,
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = 1 << 6,
};

/** enum doca_pci_func_type - what kind of PCI function a device is */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0,
	DOCA_PCI_FUNC_TYPE_VF,
	DOCA_PCI_FUNC_TYPE_SF,
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H */
