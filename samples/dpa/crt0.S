/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Where the unit begins, in machine mode. One hart runs main(); the others sleep.
 */
	.section .text.start
	.globl	start
start:
	csrr	t0, mhartid
	bnez	t0, park
	la	t0, trap
	csrw	mtvec, t0
	la	sp, stack_top

	la	t0, bss
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sd	zero, (t0)
	addi	t0, t0, 8
	j	1b

2:	call	main
	call	board_halt

park:
	wfi
	j	park

	.align	2
trap:
	csrr	a0, mcause
	csrr	a1, mepc
	csrr	a2, mtval
	la	sp, stack_top
	call	trapped
