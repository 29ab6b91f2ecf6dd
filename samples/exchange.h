/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What local_pci and remote_pci have in common: options, signals, waits, figures.
 */
#ifndef SAMPLES_EXCHANGE_H
#define SAMPLES_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <syncevent.h>

/* The value that says: that was all. */
#define EXCHANGE_LAST	UINT64_MAX

/**
 * struct exchange - two programs that take turns
 * @pci: which region, as attr.pci
 * @name: of the event in the region
 * @blob: file of the event's description, which is used and not the name; or NULL
 * @signals: how many to send; 0: who answers takes as many as come
 * @timeout: seconds to wait for one signal; 0: for ever
 * @atomic: add to the value, do not set it
 * @async: wait in an event loop
 * @ev: the event
 * @epoll: its event loop
 * @value: last one sent or seen
 * @sent_ns: when; 0: nothing was sent yet
 * @trips, @total_ns, @best_ns, @worst_ns: from a signal to its answer
 */
struct exchange {
	const char *pci;
	const char *name;
	const char *blob;
	uint64_t signals;
	unsigned int timeout;
	bool atomic;
	bool async;

	struct syncevent *ev;
	int epoll;
	uint64_t value;
	uint64_t sent_ns;
	uint64_t trips;
	uint64_t total_ns;
	uint64_t best_ns;
	uint64_t worst_ns;
};

/* Ends the program if @ret is an error; passes it through if not. */
int must(int ret, const char *what);

/* @doc: what --help says of the program. x->signals: 0, or how many by default. */
void exchange_options(struct exchange *x, const char *doc, int argc, char **argv);

/* Where both machines have memory: x->pci or, if it is not said, the first there is. */
const char *exchange_region(struct exchange *x);

/* Call it once x->ev is there. */
void exchange_begin(struct exchange *x);

/* Makes the event this value. */
void exchange_signal(struct exchange *x, uint64_t value);

/* Waits for this value or the last; tells whether it was this one. */
bool exchange_await(struct exchange *x, uint64_t value);

/* Closes the event, and prints how it was. */
void exchange_end(struct exchange *x);

#endif /* SAMPLES_EXCHANGE_H */
