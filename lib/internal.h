/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * internal.h - what the files of libsyncevent share
 *
 * event.c	handles: how they are made and ended, and the data path
 * wait.c	waits on one event and on several
 * queue.c	wait queues
 * device.c	/dev/syncevent
 *
 * The library keeps no lock, so fork() is safe at any moment and in any thread.
 * A handle is a file descriptor and a mapping, both of which a child inherits
 * in working order. The only global state is two integers, read and written
 * atomically: device.c's file descriptor and wait.c's number of CPUs.
 */
#ifndef SYNCEVENT_INTERNAL_H
#define SYNCEVENT_INTERNAL_H

/* For ppoll() and F_DUPFD_CLOEXEC: this header comes first. */
#define _GNU_SOURCE 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/syncevent.h>

/* The library is built with -fvisibility=hidden: the public header is the exception. */
#pragma GCC visibility push(default)
#include <syncevent.h>
#pragma GCC visibility pop

#include <syncevent/cell.h>

/**
 * struct syncevent - a handle
 * @cell: the mapped page, PROT_WRITE only if @writable
 * @fd: the event
 * @writable: the right to update. It cannot change: it is the file's own
 *
 * Nothing in it changes until it is closed, so threads share it freely.
 */
struct syncevent {
	struct syncevent_cell *cell;
	int fd;
	bool writable;
};

/**
 * se_ioctl() - ioctl(2) that returns the error
 *
 * Return: what ioctl(2) returns, or a negative errno.
 */
int se_ioctl(int fd, unsigned long command, void *arg);

/**
 * se_above_stdio() - keep a new file descriptor out of 0, 1 and 2
 * @fd: one just made, or a negative errno that is passed through
 *
 * In a program that started with them closed, its own printf() would otherwise
 * land in an event as an addition.
 *
 * Return: a file descriptor in place of @fd, or a negative errno (@fd is closed).
 */
int se_above_stdio(int fd);

/** se_device_open() - open /dev/syncevent. Return: a new fd or a negative errno. */
int se_device_open(void);

/** se_device_ioctl() - an ioctl on the process's lasting /dev/syncevent */
int se_device_ioctl(unsigned long command, void *arg);

/**
 * se_copy_struct() - take a structure that starts with its size
 * @to: where to
 * @from: the caller's
 * @known: how large it is in this version of the library
 *
 * Return: 0; -EINVAL: it is too small; -E2BIG: it asks for what only a later
 * version knows.
 */
int se_copy_struct(void *to, const void *from, size_t known);

/** se_now() - CLOCK_REALTIME or CLOCK_MONOTONIC in nanoseconds */
uint64_t se_now(bool realtime);

#endif /* SYNCEVENT_INTERNAL_H */
