// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Firmware that does the jobs of job.h for the machines that it shares memory with.
 * What it needs of syncevent is syncevent/dpa.h and, for programs written for DOCA,
 * doca_dpa_dev_sync_event.h; what it needs of the board is board.h.
 */
#include <stddef.h>
#include <doca_dpa_dev_sync_event.h>
#include <syncevent/dpa.h>

#include "board.h"
#include "job.h"

static struct syncevent_dpa dpa;

/* The peer_timeout_ms of the machines. */
#define TIMEOUT		(BOARD_HZ / 10 * 15)

/* It is there, and whoever made it lives. The condition never holds. */
static int lives(uint64_t handle)
{
	return syncevent_dpa_wait(&dpa, handle, SYNCEVENT_COND_LT, 0, UINT64_MAX, 0, NULL) ==
	       -SYNCEVENT_DPA_ETIMEDOUT;
}

/*
 * Both events are there; nobody has made them for us. A machine that died leaves them
 * behind until it, or another, makes new ones.
 */
static int find_events(uint64_t *request, uint64_t *reply)
{
	const uint32_t rights = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE;
	int ret;

	while (syncevent_dpa_find(&dpa, JOB_REQUEST, request) < 0 ||
	       syncevent_dpa_find(&dpa, JOB_REPLY, reply) != (int)rights ||
	       !lives(*request) || !lives(*reply)) {
		ret = syncevent_dpa_tick(&dpa);
		if (ret)
			return ret;
	}
	/* Who waits for the reply depends on us. */
	return syncevent_dpa_import(&dpa, *reply, rights);
}

static int add(struct job *job)
{
	uint64_t last = 0, i;
	int ret;

	for (i = 0; i < job->count; i++) {
		ret = syncevent_dpa_add(&dpa, job->handle, job->operand, &job->value);
		if (!ret)
			ret = i && job->value <= last ? -SYNCEVENT_DPA_EPROTO :
			      syncevent_dpa_tick(&dpa);
		if (ret)
			return ret;
		last = job->value;
	}
	return 0;
}

/* What DOCA's calls need of the firmware. */
static int failed;

struct syncevent_dpa *doca_dpa_dev_unit(void)
{
	return &dpa;
}

void doca_dpa_dev_failed(doca_dpa_dev_sync_event_t event, int error)
{
	(void)event;
	failed = error;
}

static int doca(struct job *job)
{
	failed = 0;
	doca_dpa_dev_sync_event_wait_gt(job->handle, job->operand, UINT64_MAX);
	if (!failed)
		doca_dpa_dev_sync_event_get(job->handle, &job->value);
	if (!failed)
		doca_dpa_dev_sync_event_update_set(job->handle, 2 * job->value);
	if (!failed)
		doca_dpa_dev_sync_event_update_add(job->handle, job->count);
	return failed;
}

static int run(struct job *job)
{
	switch (job->op) {
	case JOB_GET:
		return syncevent_dpa_get(&dpa, job->handle, &job->value);
	case JOB_SET:
		return syncevent_dpa_set(&dpa, job->handle, job->operand);
	case JOB_ADD:
		return add(job);
	case JOB_WAIT:
		return syncevent_dpa_wait(&dpa, job->handle, job->cond, job->operand, UINT64_MAX,
					  SYNCEVENT_DPA_FOREVER, &job->value);
	case JOB_DOCA:
		return doca(job);
	default:
		return -SYNCEVENT_DPA_EINVAL;
	}
}

/* One job after the other, until something ends. */
static int serve(uint64_t request, uint64_t reply)
{
	struct job job, *shared;
	uint64_t done, len;
	int ret;

	ret = syncevent_dpa_get(&dpa, reply, &done);
	for (; !ret; done++) {
		ret = syncevent_dpa_wait(&dpa, request, SYNCEVENT_COND_GT, done, UINT64_MAX,
					 SYNCEVENT_DPA_FOREVER, NULL);
		if (ret)
			break;
		shared = syncevent_dpa_payload(&dpa, request, &len);
		if (!shared)
			return -SYNCEVENT_DPA_EIDRM;
		/* A copy: the machine may write to it while we work. */
		job.op = shared->op;
		job.handle = shared->handle;
		job.cond = shared->cond;
		job.operand = shared->operand;
		job.count = shared->count;
		job.value = 0;
		ret = run(&job);
		if (ret == -SYNCEVENT_DPA_ENODEV || ret == -SYNCEVENT_DPA_EADDRINUSE)
			break;
		/* Ticks have passed. */
		shared = syncevent_dpa_payload(&dpa, request, &len);
		if (!shared)
			return -SYNCEVENT_DPA_EIDRM;
		shared->status = ret;
		shared->value = job.value;
		ret = syncevent_dpa_add(&dpa, reply, 1, NULL);
	}
	return ret;
}

static int attached(void)
{
	uint64_t request = 0, reply = 0;
	int ret;

	do {
		ret = find_events(&request, &reply);
		if (!ret) {
			print("dpa: events found\n");
			ret = serve(request, reply);
			print("dpa: the events ended");
			if (ret != -SYNCEVENT_DPA_EIDRM) {
				print(" for this unit: error ");
				print_number(ret);
			}
			print("\n");
			syncevent_dpa_forget(&dpa, reply);
		}
		/* Revoked, or the machine died: it, or another, makes new ones. */
	} while (ret == -SYNCEVENT_DPA_EIDRM || ret == -SYNCEVENT_DPA_EPIPE);
	return ret;
}

int main(void)
{
	struct board_memory memory;
	int ret;

	if (!board_find(&memory)) {
		print("dpa: no ivshmem device\n");
		return 1;
	}
	dpa.base = memory.base;
	dpa.len = memory.len;
	dpa.address = memory.address;
	dpa.side = board_side();
	dpa.seed = board_seed();
	dpa.timeout = TIMEOUT;
	dpa.clock = board_clock;
	dpa.hz = BOARD_HZ;
	dpa.ring = board_ring;

	do {
		while ((ret = syncevent_dpa_attach(&dpa)) == -SYNCEVENT_DPA_EAGAIN)
			;
		if (!ret) {
			print("dpa: attached as side ");
			print_number(dpa.side);
			print("\n");
			ret = attached();
		}
		/* We were too slow, or the memory was formatted anew. */
	} while (ret == -SYNCEVENT_DPA_ENODEV);
	print("dpa: error ");
	print_number(ret);
	print("\n");
	return 2;
}
