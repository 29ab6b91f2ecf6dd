/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the firmware needs of the board that it runs on: QEMU's "virt" with an ivshmem
 * device. For another board write another board.c.
 */
#ifndef DPA_BOARD_H
#define DPA_BOARD_H

#include <stdint.h>

/* Of board_clock(). */
#define BOARD_HZ	10000000

/**
 * struct board_memory - memory that is shared with the machines
 * @base: where this unit sees it
 * @len: bytes
 * @address: of the device: bus << 8 | device and function
 */
struct board_memory {
	void *base;
	uint64_t len;
	uint32_t address;
};

void print(const char *text);
void print_number(int64_t n);
__attribute__((__noreturn__)) void board_halt(int status);
uint32_t board_side(void);
uint64_t board_seed(void);
uint64_t board_clock(void *device);
int board_find(struct board_memory *memory);
void board_ring(void *device, uint32_t doorbell);

#endif /* DPA_BOARD_H */
