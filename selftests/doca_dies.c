// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_dies.c - one of two processes is killed between any two of its calls
 *
 * Both go through what programs written for DOCA do: the owner of an event and whoever
 * imports it meet over comch, the export is a message, and each wakes the other's task.
 * Whichever call is the last of one, the other comes to an orderly end: each error that it
 * is told is one of those in docs/porting-from-doca.md, what is of its own goes on, all is
 * stopped and destroyed, and nothing of it is left.
 */
#include "doca.h"
#include "doca_ends.h"

#define NAME	"dies"
/* Values that they wake each other with. */
#define TURNS	4

/**
 * struct party - one of the two processes
 * @end: of the connection, with an engine that has the event as well
 * @lifeline: end of a pipe whose other end only the other process has
 * @alone: the other one has ended, or its end of the connection
 */
struct party {
	struct end end;
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct seen seen;
	int lifeline;
	bool alone;
};

/* Calls of this process before it is killed; less than 0: it is not. */
static int steps_left;

static void step(void)
{
	if (!steps_left--)
		raise(SIGKILL);
}

#define STEP(call) ({ step(); call; })

/* What went wrong is said at once: the process has no test of its own. */
#define NEED(condition) do {								\
	if (!(condition)) {								\
		printf("# line %d: %s\n", __LINE__, #condition);			\
		fflush(stdout);								\
		_exit(1);								\
	}										\
} while (0)

#define DO(call)	NEED(STEP(call) == DOCA_SUCCESS)

/* One of these is what the documentation says of it. */
#define may_be(result, ...) ({								\
	const doca_error_t __known[] = { DOCA_SUCCESS, __VA_ARGS__ };			\
	const doca_error_t __result = (result);						\
	bool __ok = false;								\
	size_t __i;									\
											\
	for (__i = 0; __i < sizeof(__known) / sizeof(*__known); __i++)			\
		__ok |= __result == __known[__i];					\
	if (!__ok)									\
		printf("# it is %s\n", doca_error_get_name(__result));			\
	NEED(__ok);									\
	__result;									\
})

static bool other_is_dead(const struct party *p)
{
	struct pollfd pfd = { .fd = p->lifeline };

	return poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLHUP | POLLERR);
}

static bool is_connected(const struct party *p)
{
	return p->end.server ? p->end.comes > p->end.goes :
			       end_state_of(&p->end) == DOCA_CTX_STATE_RUNNING;
}

/*
 * Progress until the condition holds. False: the other one has gone before, and nothing
 * that it has left makes it hold. Who is connected is told of it by comch; who is not sees
 * it by the lifeline. Only a progress that does something is one to count.
 */
#define progress_to(p, condition) ({							\
	const uint64_t __end = se_patience();						\
	bool __was = is_connected(p);							\
											\
	while (!(condition) && !(p)->alone) {						\
		const bool __dead = other_is_dead(p);					\
											\
		if (STEP(doca_pe_progress((p)->end.pe))) {				\
			(p)->alone = __was && !is_connected(p);				\
			__was = is_connected(p);					\
			continue;							\
		}									\
		steps_left++;								\
		(p)->alone = __dead && !is_connected(p);				\
		NEED(se_now(CLOCK_MONOTONIC) < __end);					\
		sched_yield();								\
	}										\
	(condition);									\
})

/* ---- what both do ------------------------------------------------------------------------ */

static void start_engine(struct party *p, struct doca_ctx *ctx)
{
	p->end.ctx = ctx;
	DO(doca_pe_create(&p->end.pe));
	DO(doca_pe_connect_ctx(p->end.pe, ctx));
	DO(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = &p->end }));
	DO(doca_ctx_set_state_changed_cb(ctx, end_state));
}

/* Tasks of the event, in the engine of the connection. */
static void start_event(struct party *p)
{
	p->ctx = STEP(doca_sync_event_as_ctx(p->event));
	DO(doca_sync_event_task_get_set_conf(p->event, get_done, get_failed, 1));
	DO(doca_sync_event_task_notify_add_set_conf(p->event, notify_add_done,
						    notify_add_failed, 1));
	DO(doca_sync_event_task_wait_eq_set_conf(p->event, wait_eq_done, wait_eq_failed, 1));
	DO(doca_pe_connect_ctx(p->end.pe, p->ctx));
	DO(doca_ctx_set_user_data(p->ctx, (union doca_data){ .ptr = &p->seen }));
	DO(doca_ctx_start(p->ctx));
	p->seen.keep = true;
}

/* Add 1: what the other one waits for. Done when it was submitted. */
static void add(struct party *p)
{
	struct doca_sync_event_task_notify_add *add;
	const unsigned int done = p->seen.done;
	struct doca_task *task;

	DO(doca_sync_event_task_notify_add_alloc_init(p->event, 1, NULL, no_data, &add));
	task = AS_TASK(notify_add, add);
	DO(doca_task_submit(task));
	while (doca_task_get_status(task) == DOCA_ERROR_IN_PROGRESS)
		STEP(doca_pe_progress(p->end.pe));
	if (may_be(doca_task_get_status(task), DOCA_ERROR_SHUTDOWN) == DOCA_SUCCESS)
		NEED(p->seen.done == done + 1);
	STEP(doca_task_free(task));
}

/* Wait for a value. It is in flight still when the other one has gone. */
static void await(struct party *p, uint64_t value)
{
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_task *task;

	DO(doca_sync_event_task_wait_eq_alloc_init(p->event, value, SE_ALL, no_data, &eq));
	task = AS_TASK(wait_eq, eq);
	DO(doca_task_submit(task));
	if (!progress_to(p, doca_task_get_status(task) != DOCA_ERROR_IN_PROGRESS))
		return;
	may_be(doca_task_get_status(task), DOCA_ERROR_SHUTDOWN);
	STEP(doca_task_free(task));
}

/* A message; it is sent, or the other one has gone. */
static void say(struct party *p, const void *message, uint32_t n)
{
	const unsigned int ended = p->end.sent + p->end.unsent;
	struct doca_comch_task_send *task;
	doca_error_t result;

	/* A client that has lost its server is IDLE. */
	result = may_be(STEP(end_alloc(&p->end, message, n, &task)), DOCA_ERROR_BAD_STATE,
			DOCA_ERROR_INVALID_VALUE);
	if (result == DOCA_SUCCESS) {
		result = may_be(STEP(doca_task_submit(doca_comch_task_send_as_task(task))),
				DOCA_ERROR_NOT_CONNECTED, DOCA_ERROR_BAD_STATE);
		if (result != DOCA_SUCCESS)
			doca_task_free(doca_comch_task_send_as_task(task));
	}
	if (result != DOCA_SUCCESS) {
		p->alone = true;
		return;
	}
	progress_to(p, p->end.sent + p->end.unsent > ended);
	if (p->end.unsent)
		NEED(p->end.status == DOCA_ERROR_CONNECTION_RESET);
}

static void stop(struct doca_pe *pe, struct doca_ctx *ctx)
{
	const uint64_t end = se_patience();

	if (state_of(ctx) == DOCA_CTX_STATE_IDLE)
		return;
	may_be(STEP(doca_ctx_stop(ctx)), DOCA_ERROR_IN_PROGRESS);
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE) {
		NEED(se_now(CLOCK_MONOTONIC) < end);
		if (!STEP(doca_pe_progress(pe)))
			steps_left++;
	}
}

/* In the order of NVIDIA's samples, whatever has been made. */
static void end_all(struct party *p)
{
	struct doca_sync_event_task_get *get;
	uint64_t value = SE_POISON64;
	unsigned int failed;

	if (p->event && p->alone) {
		/* What is of its own goes on without the other one, that of a dead owner too. */
		failed = p->seen.failed;
		DO(doca_sync_event_task_get_alloc_init(p->event, &value, no_data, &get));
		DO(doca_task_submit(AS_TASK(get, get)));
		while (doca_task_get_status(AS_TASK(get, get)) == DOCA_ERROR_IN_PROGRESS)
			STEP(doca_pe_progress(p->end.pe));
		if (may_be(doca_task_get_status(AS_TASK(get, get)), DOCA_ERROR_SHUTDOWN))
			NEED(p->end.client && p->seen.failed == failed + 1);
		else
			NEED(value <= TURNS);
		STEP(doca_task_free(AS_TASK(get, get)));
	}
	/* A task that waits for the other one ends now, and is told of. */
	if (p->event) {
		p->seen.keep = false;
		stop(p->end.pe, p->ctx);
		DO(doca_sync_event_destroy(p->event));
	}
	stop(p->end.pe, p->end.ctx);
	if (p->end.server)
		DO(doca_comch_server_destroy(p->end.server));
	else
		DO(doca_comch_client_destroy(p->end.client));
	DO(doca_pe_destroy(p->end.pe));
	if (p->end.rep)
		DO(doca_dev_rep_close(p->end.rep));
	DO(doca_dev_close(p->end.dev));
}

/* ---- the owner --------------------------------------------------------------------------- */

static void be_owner(struct party *p)
{
	struct end *end = &p->end;
	const uint8_t *blob;
	uint64_t turn;
	size_t size;

	end->dev = STEP(doca_open(DPU));
	end->rep = STEP(doca_open_rep(end->dev));
	DO(doca_comch_server_create(end->dev, end->rep, NAME, &end->server));
	DO(doca_comch_server_task_send_set_conf(end->server, end_sent, end_unsent, 4));
	DO(doca_comch_server_event_msg_recv_register(end->server, end_message));
	DO(doca_comch_server_event_connection_status_changed_register(end->server, end_comes,
								      end_goes));
	start_engine(p, doca_comch_server_as_ctx(end->server));
	DO(doca_sync_event_create(&p->event));
	DO(doca_sync_event_add_publisher_location_cpu(p->event, end->dev));
	DO(doca_sync_event_add_subscriber_location_cpu(p->event, end->dev));
	start_event(p);
	DO(doca_sync_event_export_to_remote_pci(p->event, end->dev, &blob, &size));
	DO(doca_ctx_start(end->ctx));
	/* The other one may begin. */
	NEED(STEP(write(STDERR_FILENO, "l", 1)) == 1);
	if (progress_to(p, end->comes))
		say(p, blob, (uint32_t)size);
	if (!p->alone && progress_to(p, end->messages)) {
		for (turn = 1; turn <= TURNS && !p->alone; turn += 2) {
			await(p, turn);
			add(p);
		}
	}
	if (!p->alone)
		progress_to(p, end->goes);
	end_all(p);
}

/* ---- who imports ------------------------------------------------------------------------- */

static doca_error_t import(struct party *p, struct doca_sync_event **event)
{
	const doca_error_t result = doca_sync_event_create_from_export(p->end.dev, p->end.last,
								       p->end.bytes, event);

	if (result != DOCA_SUCCESS)
		*event = NULL;
	return result;
}

/* Nobody can import what a dead process has made, once all of its files are closed. */
static bool is_gone(struct party *p)
{
	struct doca_sync_event *again;
	const doca_error_t result = import(p, &again);

	if (result == DOCA_SUCCESS)
		(void)doca_sync_event_destroy(again);
	return result == DOCA_ERROR_NOT_FOUND;
}

static void be_importer(struct party *p)
{
	struct end *end = &p->end;
	uint64_t turn;

	end->dev = STEP(doca_open(HOST));
	DO(doca_comch_client_create(end->dev, NAME, &end->client));
	DO(doca_comch_client_task_send_set_conf(end->client, end_sent, end_unsent, 4));
	DO(doca_comch_client_event_msg_recv_register(end->client, end_message));
	start_engine(p, doca_comch_client_as_ctx(end->client));
	NEED(STEP(doca_ctx_start(end->ctx)) == DOCA_ERROR_IN_PROGRESS);
	if (progress_to(p, is_connected(p)))
		DO(doca_comch_client_get_connection(end->client, &end->conn));
	if (!p->alone && progress_to(p, end->messages)) {
		/* The export of one that may have died meanwhile. */
		if (may_be(STEP(import(p, &p->event)), DOCA_ERROR_NOT_FOUND, DOCA_ERROR_SHUTDOWN)) {
			NEED(se_until(other_is_dead(p)));
			p->alone = true;
		} else {
			start_event(p);
		}
	}
	if (!p->alone)
		say(p, "here", 5);
	for (turn = 2; turn <= TURNS && !p->alone; turn += 2) {
		add(p);
		await(p, turn);
	}
	if (p->event && other_is_dead(p))
		NEED(se_until(is_gone(p)));
	end_all(p);
}

/* ---- both -------------------------------------------------------------------------------- */

/**
 * struct process - one of the two, as the test sees it
 * @ready: end of a pipe, to which the owner says when it listens
 * @lifeline: both ends of the pipe that ends with this process
 */
struct process {
	pid_t pid;
	int ready;
	int lifeline[2];
};

static void run(struct process *self, struct process *other, bool owner, int k, int ready)
{
	struct party p = { .lifeline = -1 };
	int files;

	alarm(SE_HANG_S);
	/* Of the other one's lifeline it holds no end but that which tells. */
	close(other->lifeline[1]);
	close(self->lifeline[0]);
	if (dup2(ready, STDERR_FILENO) < 0)
		_exit(2);
	p.lifeline = other->lifeline[0];
	files = count_fds();
	steps_left = k;
	if (owner)
		be_owner(&p);
	else
		be_importer(&p);
	NEED(count_fds() == files);
	_exit(0);
}

static bool start(struct process *self, struct process *other, bool owner, int k)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return false;
	fflush(NULL);
	self->pid = fork();
	if (!self->pid)
		run(self, other, owner, k, pipes[1]);
	close(pipes[1]);
	self->ready = pipes[0];
	return self->pid > 0;
}

static int how_ended(const struct process *process)
{
	int status = -1;

	close(process->ready);
	return waitpid(process->pid, &status, 0) == process->pid ? status : -1;
}

/* One session, in which the victim dies before its call number @k. How both ended. */
static bool session(bool owner_dies, int k, int *victim, int *survivor)
{
	struct process owner, importer;
	bool ok;
	char c;

	if (pipe2(owner.lifeline, O_CLOEXEC) || pipe2(importer.lifeline, O_CLOEXEC))
		return false;
	ok = start(&owner, &importer, true, owner_dies ? k : -1);
	/* It listens, or is dead. */
	ok = ok && read(owner.ready, &c, 1) >= 0 &&
	     start(&importer, &owner, false, owner_dies ? -1 : k);
	close(owner.lifeline[0]);
	close(owner.lifeline[1]);
	close(importer.lifeline[0]);
	close(importer.lifeline[1]);
	if (!ok)
		return false;
	*victim = how_ended(owner_dies ? &owner : &importer);
	*survivor = how_ended(owner_dies ? &importer : &owner);
	return true;
}

FIXTURE(two) { };
FIXTURE_VARIANT(two) { bool owner; };
FIXTURE_VARIANT_ADD(two, owner) { .owner = true };
FIXTURE_VARIANT_ADD(two, importer) { .owner = false };
FIXTURE_SETUP(two)
{
	doca_own_domain();
}
FIXTURE_TEARDOWN(two) { }

TEST_F(two, dies)
{
	int victim = -1, survivor, k;

	for (k = 0; victim; k++) {
		ASSERT_TRUE(session(variant->owner, k, &victim, &survivor));
		ASSERT_EQ(0, survivor) {
			TH_LOG("the survivor, when the other one was killed before call %d", k);
		}
		ASSERT_TRUE(!victim || (WIFSIGNALED(victim) && WTERMSIG(victim) == SIGKILL)) {
			TH_LOG("status %x before call %d", victim, k);
		}
	}
	/* The last one had all of its calls. */
	ASSERT_LT(40, k);
	TH_LOG("%d calls", k - 1);
}

TEST_HARNESS_MAIN
