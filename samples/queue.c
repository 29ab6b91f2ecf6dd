// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * queue.c - many waits, one thread
 *
 * Some workers have an event each, to which they add 1 for each item done. The main
 * thread hears of each worker that is half through, and of each that is through.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <syncevent.h>

#define WORKERS	3
#define ITEMS	1000

static void must(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "queue: %s: %s\n", what, syncevent_strerror(ret));
	exit(1);
}

static void *work(void *arg)
{
	struct syncevent *done = arg;
	int i;

	for (i = 0; i < ITEMS; i++)
		must(syncevent_add(done, 1, NULL), "add");
	return NULL;
}

int main(void)
{
	struct syncevent_done done[2 * WORKERS];
	struct syncevent *ev[WORKERS];
	struct syncevent_queue *q;
	pthread_t thread[WORKERS];
	int left = 2 * WORKERS, n, i;

	must(syncevent_queue_create(&q), "queue");
	for (i = 0; i < WORKERS; i++) {
		must(syncevent_create(&ev[i], NULL), "event");
		/* The cookie tells which wait it was: even ones are half-way. */
		must(syncevent_queue_add(q, ev[i], SYNCEVENT_GE, ITEMS / 2, UINT64_MAX,
					 2 * (uint64_t)i, SYNCEVENT_FOREVER), "half-way");
		must(syncevent_queue_add(q, ev[i], SYNCEVENT_GE, ITEMS, UINT64_MAX,
					 2 * (uint64_t)i + 1, SYNCEVENT_FOREVER), "end");
		must(-pthread_create(&thread[i], NULL, work, ev[i]), "thread");
	}
	/* syncevent_queue_fd() would tell an event loop when to reap. */
	while (left) {
		n = syncevent_queue_reap(q, done, 2 * WORKERS, SYNCEVENT_FOREVER);
		must(n, "reap");
		left -= n;
		for (i = 0; i < n; i++) {
			must(done[i].status, "wait");
			printf("worker %" PRIu64 " is %s\n", done[i].cookie / 2,
			       done[i].cookie % 2 ? "through" : "half through");
		}
	}
	for (i = 0; i < WORKERS; i++) {
		pthread_join(thread[i], NULL);
		syncevent_close(ev[i]);
	}
	syncevent_queue_close(q);
	return 0;
}
