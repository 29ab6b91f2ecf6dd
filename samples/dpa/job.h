/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a machine asks of the firmware in this folder.
 *
 * The machine makes two events that have names, "dpa.request" with a page of payload
 * and "dpa.reply". It writes a job to the payload and adds 1 to the request; the
 * firmware does it, writes the answers, and adds 1 to the reply. A job that was under
 * way when the firmware died is done again when it is back.
 */
#ifndef DPA_JOB_H
#define DPA_JOB_H

#include <stdint.h>

#define JOB_REQUEST	"dpa.request"
#define JOB_REPLY	"dpa.reply"

enum job_op {
	JOB_GET,		/* value */
	JOB_SET,		/* to operand */
	JOB_ADD,		/* operand, count times */
	JOB_WAIT,		/* until the value cond operand */
	JOB_DOCA,		/* by the calls of DOCA: wait for a value above operand, double
				   it, add count */
};

/**
 * struct job - at the beginning of the payload of the request
 * @op: enum job_op
 * @status: answer: 0 or a negative errno; of JOB_ADD -EPROTO too: a value was not more
 *	    than the one before
 * @handle: of the event
 * @cond: SYNCEVENT_COND_*
 * @reserved: nothing
 * @operand: see above
 * @count: see above
 * @value: answer: the event's, of JOB_ADD before the last addition, of JOB_DOCA after the
 *	   wait
 */
struct job {
	uint32_t op;
	int32_t status;
	uint64_t handle;
	uint32_t cond;
	uint32_t reserved;
	uint64_t operand;
	uint64_t count;
	uint64_t value;
};

#endif /* DPA_JOB_H */
