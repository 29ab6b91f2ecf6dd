// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * QEMU's RISC-V board "virt": a serial port, clocks, and the ivshmem device on its PCIe
 * bus. There is no firmware below this one, so the device gets its addresses here.
 */
#include <stddef.h>

#include "board.h"

#define REGISTER8(address)	(*(volatile uint8_t *)(address))
#define REGISTER32(address)	(*(volatile uint32_t *)(address))

#define TEST_DEVICE	0x100000UL
#define RTC		0x101000UL
#define UART		0x10000000UL
#define ECAM		0x30000000UL
#define CONFIG		0x81fffff8UL	/* the last word of 32 MiB of memory */

/* Within the window of the bus below 4 GiB. A BAR is aligned to its size. */
#define REGISTERS_AT	0x40000000UL
#define MEMORY_AT	0x60000000UL
#define MEMORY_MAX	0x20000000UL

#define PCI_ID			0x00
#define PCI_COMMAND		0x04
#define PCI_BAR(n)		(0x10 + 4 * (n))
#define PCI_COMMAND_MEMORY	2U
#define PCI_COMMAND_MASTER	4U	/* or no doorbell rings */
#define IVSHMEM			0x11101af4U
#define IVSHMEM_DOORBELL	12

static void print_char(char c)
{
	while (!(REGISTER8(UART + 5) & 0x20))
		;
	REGISTER8(UART) = (uint8_t)c;
}

void print(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			print_char('\r');
		print_char(*text);
	}
}

void print_number(int64_t n)
{
	uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	char digits[20];
	unsigned int i = 0;

	if (n < 0)
		print_char('-');
	do {
		digits[i++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	while (i)
		print_char(digits[--i]);
}

/* Ends QEMU too, with this status. */
void board_halt(int status)
{
	REGISTER32(TEST_DEVICE) = status ? (uint32_t)status << 16 | 0x3333 : 0x5555;
	for (;;)
		__asm__ __volatile__("wfi");
}

/* From crt0.S: there is nothing that could go on. */
void trapped(uint64_t cause, uint64_t pc, uint64_t address);
void trapped(uint64_t cause, uint64_t pc, uint64_t address)
{
	print("trap: cause ");
	print_number((int64_t)cause);
	print(" pc ");
	print_number((int64_t)pc);
	print(" address ");
	print_number((int64_t)address);
	print("\n");
	board_halt(3);
}

/* -device loader,addr=0x81fffff8,data=SIDE,data-len=4 */
uint32_t board_side(void)
{
	uint32_t side = REGISTER32(CONFIG);

	return side ? side : 1;
}

/* Nanoseconds since 1970: another number at each start. */
uint64_t board_seed(void)
{
	uint32_t low = REGISTER32(RTC);	/* first: it latches the other half */

	return (uint64_t)REGISTER32(RTC + 4) << 32 | low;
}

uint64_t board_clock(void *device)
{
	uint64_t time;

	(void)device;
	__asm__ __volatile__("rdtime %0" : "=r" (time));
	return time;
}

/* Returns whether there is one that fits; it has its addresses then. */
int board_find(struct board_memory *memory)
{
	uintptr_t device;
	uint64_t size;
	uint32_t n;

	for (n = 0; n < 32; n++) {
		device = ECAM + (n << 15);
		if (REGISTER32(device + PCI_ID) != IVSHMEM)
			continue;
		REGISTER32(device + PCI_BAR(2)) = ~0U;
		REGISTER32(device + PCI_BAR(3)) = ~0U;
		size = (uint64_t)REGISTER32(device + PCI_BAR(3)) << 32 |
		       (REGISTER32(device + PCI_BAR(2)) & ~15U);
		size = 0 - size;
		if (size > MEMORY_MAX)
			return 0;
		REGISTER32(device + PCI_BAR(0)) = REGISTERS_AT;
		REGISTER32(device + PCI_BAR(2)) = MEMORY_AT;
		REGISTER32(device + PCI_BAR(3)) = 0;
		REGISTER32(device + PCI_COMMAND) |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
		memory->base = (void *)MEMORY_AT;
		memory->len = size;
		memory->address = n << 3;
		return 1;
	}
	return 0;
}

/* What was written to the memory comes first, for the machine that is rung too. */
void board_ring(void *device, uint32_t doorbell)
{
	(void)device;
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
	REGISTER32(REGISTERS_AT + IVSHMEM_DOORBELL) = doorbell << 16;
}
