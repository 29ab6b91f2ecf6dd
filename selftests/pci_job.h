/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The machine's part of samples/dpa/job.h: give jobs to the firmware.
 */
#ifndef SELFTESTS_PCI_JOB_H
#define SELFTESTS_PCI_JOB_H

#include "pci.h"

#include "../samples/dpa/job.h"

/**
 * struct jobs - the events that the firmware finds
 * @request: counts jobs that were given
 * @reply: counts those that are done; waits for it depend on the firmware
 * @job: in the payload of @request
 * @n: jobs that were given
 */
struct jobs {
	int request;
	int reply;
	struct job *job;
	uint64_t n;
};

static inline int jobs_open(struct jobs *jobs)
{
	const uint32_t all = SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE;
	struct syncevent_pci_create create = {
		.publishers = SYNCEVENT_LOC_REMOTE_PCI, .subscribers = SYNCEVENT_LOC_CPU,
		.home = SYNCEVENT_PCI_HOME_ANY,
	};

	jobs->n = 0;
	jobs->request = pci_offer(JOB_REQUEST, 0, 1);
	jobs->reply = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &create);
	if (jobs->request < 0 || jobs->reply < 0)
		return -EIO;
	jobs->job = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, jobs->request, 4096);
	return jobs->job == MAP_FAILED ? -errno : pci_name(jobs->reply, JOB_REPLY, all);
}

static inline void jobs_close(struct jobs *jobs)
{
	munmap(jobs->job, 4096);
	close(jobs->reply);
	close(jobs->request);
}

/* What firmware knows an event by. */
static inline uint64_t handle_of(int fd)
{
	struct syncevent_blob blob;

	return pci_export(fd, SYNCEVENT_RIGHT_UPDATE, &blob) ? 0 :
	       (uint64_t)blob.generation << 32 | blob.slot;
}

#define JOB_NOT_DONE	12345

static inline int job_begin(struct jobs *jobs, struct job job)
{
	job.status = JOB_NOT_DONE;
	*jobs->job = job;
	jobs->n++;
	return se_add(jobs->request, 1, NULL);
}

/* Asleep until the job is done; what the firmware says of it. */
static inline int job_finish(struct jobs *jobs)
{
	int ret = pci_wait(jobs->reply, SYNCEVENT_COND_GE, jobs->n, NULL);

	return ret ?: jobs->job->status;
}

static inline int job_do(struct jobs *jobs, struct job job)
{
	return job_begin(jobs, job) ?: job_finish(jobs);
}

#endif /* SELFTESTS_PCI_JOB_H */
