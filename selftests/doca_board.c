// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_board.c - a machine and an accelerator: the firmware of samples/dpa, a side of the
 * region on a RISC-V board of its own, knows events by doca_sync_event_get_dpa_handle()
 * and uses all calls of doca_dpa_dev_sync_event.h.
 */
#include "doca.h"
#include "pci_job.h"

FIXTURE(board) {
	int power;		/* who runs this does to the board what it says: nothing */
	struct jobs jobs;
	struct doca_dev *dev;
	struct doca_dpa *dpa;
};

FIXTURE_SETUP(board)
{
	struct doca_devinfo **list;
	uint32_t n;

	ASSERT_LE(0, pci_dev());
	ASSERT_TRUE(se_until(pci_alive(3)));
	ASSERT_LE(0, self->power = pci_offer("dpa.power", 0, 0));
	ASSERT_EQ(0, jobs_open(&self->jobs));
	OK(doca_devinfo_create_list(&list, &n));
	OK(doca_dev_open(list[0], &self->dev));
	OK(doca_devinfo_destroy_list(list));
	OK(doca_dpa_create(self->dev, &self->dpa));
	OK(doca_dpa_start(self->dpa));
}

FIXTURE_TEARDOWN(board)
{
	ENDS(doca_dpa_stop(self->dpa));
	ENDS(doca_dpa_destroy(self->dpa));
	ENDS(doca_dev_close(self->dev));
	jobs_close(&self->jobs);
	close(self->power);
}

/* An event that the accelerator waits for and updates. */
static doca_error_t configure(struct doca_dev *dev, struct doca_dpa *dpa,
			      struct doca_sync_event **event)
{
	doca_error_t r = doca_sync_event_create(event);

	DOCA_ERROR_PROPAGATE(r, doca_sync_event_add_publisher_location_dpa(*event, dpa));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_add_subscriber_location_cpu(*event, dev));
	return r;
}

/* Each job waits for a value above @operand, doubles it and adds @count. */
TEST_F(board, synchronously)
{
	const unsigned int rounds = se_times(50);
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event;
	unsigned int i;
	uint64_t value;

	OK(configure(self->dev, self->dpa, &event));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_get_dpa_handle(event, self->dpa, &handle));
	for (i = 0; i < rounds; i++) {
		OK(doca_sync_event_update_set(event, 7));
		ASSERT_EQ(0, job_begin(&self->jobs, (struct job){
			.op = JOB_DOCA, .handle = handle, .operand = 1000, .count = 5 }));
		OK(doca_sync_event_get(event, &value));
		ASSERT_EQ(7, value);
		OK(doca_sync_event_update_add(event, 1000 + i, NULL));
		OK(doca_sync_event_wait_eq_yield(event, 2 * (1007 + i) + 5, SE_ALL));
		ASSERT_EQ(0, job_finish(&self->jobs));
		ASSERT_EQ(1007 + i, self->jobs.job->value);
	}
	OK(doca_sync_event_destroy(event));
	ASSERT_EQ(-EIDRM, job_do(&self->jobs, (struct job){
		.op = JOB_DOCA, .handle = handle, .operand = 0, .count = 5 }));
}

/* What the accelerator does completes a task, for which the engine sleeps. */
TEST_F(board, by_tasks)
{
	const union doca_data data = { .ptr = &(struct seen){ .keep = true } };
	const unsigned int rounds = se_times(50);
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_eq *eq;
	struct pollfd pfd = { .events = POLLIN };
	doca_dpa_dev_sync_event_t handle;
	struct seen *seen = data.ptr;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	unsigned int i;

	OK(doca_pe_create(&pe));
	OK(configure(self->dev, self->dpa, &event));
	ctx = doca_sync_event_as_ctx(event);
	OK(doca_pe_connect_ctx(pe, ctx));
	OK(doca_ctx_set_user_data(ctx, data));
	OK(conf_all(event, 2));
	OK(doca_ctx_start(ctx));
	OK(doca_pe_get_notification_handle(pe, &pfd.fd));
	OK(doca_sync_event_get_dpa_handle(event, self->dpa, &handle));
	OK(doca_sync_event_task_notify_set_alloc_init(event, 0, no_data, &set));
	OK(doca_sync_event_task_wait_eq_alloc_init(event, 0, SE_ALL, no_data, &eq));
	for (i = 1; i <= rounds; i++) {
		seen->done = 0;
		doca_sync_event_task_wait_eq_set_wait_val(eq, 2 * i + 5);
		OK(doca_task_submit(AS_TASK(wait_eq, eq)));
		doca_sync_event_task_notify_set_set_set_val(set, i);
		OK(doca_task_submit(AS_TASK(notify_set, set)));
		ASSERT_EQ(0, job_begin(&self->jobs, (struct job){
			.op = JOB_DOCA, .handle = handle, .operand = 0, .count = 5 }));
		while (seen->done < 2) {
			OK(doca_pe_request_notification(pe));
			ASSERT_EQ(1, poll(&pfd, 1, SE_HANG_S * 1000));
			OK(doca_pe_clear_notification(pe, 0));
			while (doca_pe_progress(pe))
				;
		}
		ASSERT_EQ(0, seen->failed);
		ASSERT_EQ(0, job_finish(&self->jobs));
	}
	OK(doca_sync_event_destroy(event));
	OK(doca_pe_destroy(pe));
}

TEST_HARNESS_MAIN
