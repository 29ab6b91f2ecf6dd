// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_alloc.c - memory and files of libsyncevent-doca: nothing is allocated after a
 * context has started, nothing is left when all has ended, after many tasks either, and
 * each function that allocates says NO_MEMORY when it cannot and is as before.
 */
#include "doca.h"

#include <doca_argp.h>
#include <doca_comch.h>
#include <doca_log.h>

#include <dirent.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEEDS_MALLOC	SKIP(return, "the sanitizer has a malloc of its own")
#else
#define NEEDS_MALLOC	do { } while (0)

/* Of this program and the libraries in it, whatever thread. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);
#endif

static long calls;	/* allocations */
static long live;	/* not yet freed */
static long fail_at;	/* from now on the allocation that fails; 0: none */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static bool allowed(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (!fail_at || --fail_at)
		return true;
	errno = ENOMEM;
	return false;
}

static void *counted(void *p)
{
	if (p)
		__atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
	return p;
}

void *malloc(size_t size)
{
	return allowed() ? counted(__libc_malloc(size)) : NULL;
}

void *calloc(size_t n, size_t size)
{
	return allowed() ? counted(__libc_calloc(n, size)) : NULL;
}

void *realloc(void *p, size_t size)
{
	if (!allowed())
		return NULL;
	return p ? __libc_realloc(p, size) : counted(__libc_malloc(size));
}

void free(void *p)
{
	if (p)
		__atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
	__libc_free(p);
}
#endif

static unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static uint64_t got;

/* One of each kind of task, all to their end; the value is 0 before and after. */
static doca_error_t round_of_tasks(struct async *a)
{
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_neq *neq;
	struct doca_sync_event_task_wait_eq *eq, *never;
	struct doca_sync_event_task_get *get;
	struct doca_sync_event *event = a->event;
	doca_error_t r;

	a->seen.done = 0;
	r = doca_sync_event_task_wait_eq_alloc_init(event, 7, SE_ALL, no_data, &eq);
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_wait_eq_alloc_init(event, 8, SE_ALL, no_data,
									&never));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_wait_neq_alloc_init(event, 0, SE_ALL, no_data,
									 &neq));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_notify_set_alloc_init(event, 4, no_data,
									   &set));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_notify_add_alloc_init(event, 3, NULL, no_data,
									   &add));
	DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_get_alloc_init(event, &got, no_data, &get));
	if (r)
		return r;
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(wait_eq, eq)));
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(wait_eq, never)));
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(wait_neq, neq)));
	DOCA_ERROR_PROPAGATE(r, doca_pe_request_notification(a->pe));
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(notify_set, set)));
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(notify_add, add)));
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(get, get)));
	DOCA_ERROR_PROPAGATE(r, doca_pe_clear_notification(a->pe, 0));
	doca_task_free(AS_TASK(wait_eq, never));
	if (r || !progress_until(a->pe, a->seen.done == 5) || got != 7)
		return DOCA_ERROR_UNEXPECTED;
	r = doca_sync_event_task_notify_set_alloc_init(event, 0, no_data, &set);
	DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(notify_set, set)));
	return !r && progress_until(a->pe, a->seen.done == 6) ? DOCA_SUCCESS :
								DOCA_ERROR_UNEXPECTED;
}

TEST(none_after_start)
{
	struct doca_sync_event_task_wait_eq *eq;
	static struct async a;
	unsigned int i;
	long before;

	NEEDS_MALLOC;
	OK(async_start(&a, 2));
	before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	ASSERT_LT(0, before);
	for (i = 0; i < 200; i++)
		OK(round_of_tasks(&a));
	/* Nor to the end. */
	OK(doca_sync_event_task_wait_eq_alloc_init(a.event, 7, SE_ALL, no_data, &eq));
	OK(doca_task_submit(AS_TASK(wait_eq, eq)));
	FAILS(IN_PROGRESS, doca_ctx_stop(a.ctx));
	ASSERT_TRUE(progress_until(a.pe, state_of(a.ctx) == DOCA_CTX_STATE_IDLE));
	ASSERT_EQ(before, __atomic_load_n(&calls, __ATOMIC_RELAXED));
	OK(async_end(&a));
}

/* Events in memory of the program are looked at by the library's thread. */
TEST(none_after_start_in_memory)
{
	static uint64_t counter;
	static struct async a;
	unsigned int i;
	long before;

	NEEDS_MALLOC;
	OK(async_make(&a, 2));
	OK(doca_sync_event_set_addr(a.event, &counter));
	OK(doca_ctx_start(a.ctx));
	before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	for (i = 0; i < 20; i++)
		OK(round_of_tasks(&a));
	ASSERT_EQ(before, __atomic_load_n(&calls, __ATOMIC_RELAXED));
	OK(async_end(&a));
}

enum end { NOT_STARTED, STARTED, LEAKED, STOPPED, FREED, LIVES };

static doca_error_t life(enum end end)
{
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event *other = NULL;
	static struct async a;
	const uint8_t *blob;
	doca_error_t r;
	size_t size;

	r = async_make(&a, 4);
	if (end != NOT_STARTED) {
		DOCA_ERROR_PROPAGATE(r, doca_ctx_start(a.ctx));
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_export_to_remote_pci(a.event, a.dev, &blob,
									     &size));
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_create_from_export(a.dev, blob, size,
									   &other));
	}
	if (end >= LEAKED) {
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_task_wait_eq_alloc_init(
						a.event, 7, SE_ALL, no_data, &eq));
		DOCA_ERROR_PROPAGATE(r, doca_task_submit(AS_TASK(wait_eq, eq)));
	}
	if (!r && end >= STOPPED && doca_ctx_stop(a.ctx) != DOCA_ERROR_IN_PROGRESS)
		r = DOCA_ERROR_UNEXPECTED;
	if (!r && end == STOPPED &&
	    !progress_until(a.pe, state_of(a.ctx) == DOCA_CTX_STATE_IDLE))
		r = DOCA_ERROR_UNEXPECTED;
	if (!r && end == FREED)
		doca_task_free(AS_TASK(wait_eq, eq));
	if (other)
		DOCA_ERROR_PROPAGATE(r, doca_sync_event_destroy(other));
	DOCA_ERROR_PROPAGATE(r, async_end(&a));
	return r;
}

TEST(nothing_is_left)
{
	unsigned int i, files = 0;
	long before = 0;

	for (i = 0; i < se_times(300); i++) {
		OK(life(i % LIVES));
		/* What the library makes once, its thread, is there by then. */
		if (i == 1) {
			before = __atomic_load_n(&live, __ATOMIC_RELAXED);
			files = open_files();
		}
	}
	if (i > LIVES) {
		ASSERT_EQ(before, __atomic_load_n(&live, __ATOMIC_RELAXED));
		ASSERT_EQ(files, open_files());
	}
}

/* What a context has its engine keep for it, it gives back when it is IDLE. */
TEST(given_back_in_idle)
{
	static struct async a;
	unsigned int i;
	long idle = 0;

	OK(async_start(&a, 4));
	for (i = 0; i < 10; i++) {
		OK(round_of_tasks(&a));
		OK(doca_ctx_stop(a.ctx));
		if (!i)
			idle = __atomic_load_n(&live, __ATOMIC_RELAXED);
		ASSERT_EQ(idle, __atomic_load_n(&live, __ATOMIC_RELAXED));
		OK(doca_ctx_start(a.ctx));
	}
	OK(async_end(&a));
}

TEST(a_million_tasks)
{
	const unsigned int rounds = se_times(1000000 / 7 + 1);
	static struct async a;
	unsigned int i, files;
	long before;

	OK(async_start(&a, 2));
	OK(round_of_tasks(&a));
	before = __atomic_load_n(&live, __ATOMIC_RELAXED);
	files = open_files();
	for (i = 0; i < rounds; i++)
		OK(round_of_tasks(&a));
	ASSERT_EQ(before, __atomic_load_n(&live, __ATOMIC_RELAXED));
	ASSERT_EQ(files, open_files());
	OK(async_end(&a));
}

/* ---- no memory ------------------------------------------------------------------------ */

/* Have each allocation that @call makes fail in turn; then it succeeds. */
#define EACH_FAILS(call) do {								\
	long __n, __before = live;							\
	doca_error_t __r = DOCA_ERROR_NO_MEMORY;					\
											\
	for (__n = 1; __r; __n++) {							\
		fail_at = __n;								\
		__r = (call);								\
		if (__r) {								\
			FAILS(NO_MEMORY, __r);						\
			ASSERT_EQ(__before, live);					\
		}									\
	}										\
	fail_at = 0;									\
	/* It does allocate. */								\
	ASSERT_LT(2, __n);								\
} while (0)

TEST(no_memory)
{
	struct doca_devinfo_rep **reps;
	struct doca_buf_inventory *inventory;
	struct doca_sync_event *event, *import;
	static struct async a, b;
	struct doca_devinfo **list;
	struct doca_dev_rep *rep;
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	const uint8_t *blob;
	struct doca_pe *pe;
	uint32_t n;
	size_t size;

	NEEDS_MALLOC;
	/* The library's thread is there. */
	OK(async_start(&a, 4));
	EACH_FAILS(doca_devinfo_create_list(&list, &n));
	OK(doca_dev_close(a.dev) == DOCA_ERROR_IN_USE ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED);
	EACH_FAILS(doca_dev_open(list[0], &dev));
	OK(doca_devinfo_destroy_list(list));
	OK(doca_dev_close(dev));
	EACH_FAILS(doca_devinfo_rep_create_list(a.dev, 0, &reps, &n));
	EACH_FAILS(doca_dev_rep_open(reps[0], &rep));
	OK(doca_dev_rep_close(rep));
	OK(doca_devinfo_rep_destroy_list(reps));
	EACH_FAILS(doca_pe_create(&pe));
	OK(doca_pe_destroy(pe));
	EACH_FAILS(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_cpu(event, a.dev));
	OK(doca_sync_event_add_subscriber_location_cpu(event, a.dev));
	EACH_FAILS(doca_sync_event_start(event));
	OK(doca_sync_event_destroy(event));
	OK(doca_sync_event_export_to_remote_pci(a.event, a.dev, &blob, &size));
	EACH_FAILS(doca_sync_event_create_from_export(a.dev, blob, size, &import));
	OK(doca_sync_event_destroy(import));
	EACH_FAILS(doca_mmap_create(&mmap));
	EACH_FAILS(doca_mmap_add_dev(mmap, a.dev));
	OK(doca_mmap_destroy(mmap));
	EACH_FAILS(doca_buf_inventory_create(8, &inventory));
	OK(doca_buf_inventory_destroy(inventory));

	OK(async_make(&b, 4));
	fail_at = 1;
	FAILS(NO_MEMORY, doca_ctx_start(b.ctx));
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(b.ctx));
	for (n = 2; ; n++) {
		doca_error_t r;

		fail_at = n;
		r = doca_ctx_start(b.ctx);
		if (!r)
			break;
		FAILS(NO_MEMORY, r);
		ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(b.ctx));
	}
	fail_at = 0;
	OK(round_of_tasks(&b));
	OK(async_end(&b));
	OK(async_end(&a));
}

/* Starts with each allocation failing in turn: the last answer, and it is IDLE before. */
static doca_error_t start_without_memory(struct doca_ctx *ctx)
{
	doca_error_t r = DOCA_ERROR_NO_MEMORY;
	long n;

	for (n = 1; r == DOCA_ERROR_NO_MEMORY; n++) {
		if (state_of(ctx) != DOCA_CTX_STATE_IDLE)
			return DOCA_ERROR_UNEXPECTED;
		fail_at = n;
		r = doca_ctx_start(ctx);
	}
	fail_at = 0;
	return n > 2 ? r : DOCA_ERROR_UNEXPECTED;
}

static void sent(struct doca_comch_task_send *task, union doca_data task_data,
		 union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

/* A client for which a server has no memory is refused; the next one is not. */
TEST(no_memory_for_comch)
{
	struct doca_devinfo_rep **reps;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	char domain[32];
	uint32_t n;

	NEEDS_MALLOC;
	snprintf(domain, sizeof(domain), "alloc-%d", getpid());
	setenv("SYNCEVENT_DOCA_DOMAIN", domain, 1);
	dev = open_dev(DPU);
	OK(doca_devinfo_rep_create_list(dev, 0, &reps, &n));
	OK(doca_dev_rep_open(reps[0], &rep));
	OK(doca_devinfo_rep_destroy_list(reps));
	OK(doca_pe_create(&pe));
	EACH_FAILS(doca_comch_server_create(dev, rep, "server", &server));
	EACH_FAILS(doca_comch_client_create(dev, "server", &client));
	OK(doca_comch_server_task_send_set_conf(server, sent, sent, 1));
	OK(doca_comch_client_task_send_set_conf(client, sent, sent, 1));
	OK(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(server)));
	OK(start_without_memory(doca_comch_server_as_ctx(server)));
	ctx = doca_comch_client_as_ctx(client);
	OK(doca_pe_connect_ctx(pe, ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, start_without_memory(ctx));
	fail_at = 1;
	ASSERT_EQ(1, doca_pe_progress(pe));
	ASSERT_EQ(0, fail_at);
	ASSERT_EQ(DOCA_CTX_STATE_IDLE, state_of(ctx));
	ASSERT_EQ(DOCA_ERROR_IN_PROGRESS, doca_ctx_start(ctx));
	while (state_of(ctx) == DOCA_CTX_STATE_STARTING)
		ASSERT_EQ(1, doca_pe_progress(pe));
	ASSERT_EQ(DOCA_CTX_STATE_RUNNING, state_of(ctx));
	OK(doca_ctx_stop(ctx));
	OK(doca_ctx_stop(doca_comch_server_as_ctx(server)));
	OK(doca_comch_client_destroy(client));
	OK(doca_comch_server_destroy(server));
	OK(doca_pe_destroy(pe));
	OK(doca_dev_rep_close(rep));
	OK(doca_dev_close(dev));
}

static doca_error_t take_flag(void *value, void *config)
{
	(void)value;
	(void)config;
	return DOCA_SUCCESS;
}

TEST(no_memory_for_flags_and_logs)
{
	char *argv[] = { "program", "--flag", "--flag", NULL };
	struct doca_log_backend *backend;
	struct doca_argp_param *param;
	doca_error_t r = DOCA_ERROR_NO_MEMORY;
	int source, n;

	NEEDS_MALLOC;
	EACH_FAILS(doca_log_register_source("name", &source));
	EACH_FAILS(doca_log_backend_create_with_file_sdk(stderr, &backend));
	EACH_FAILS(doca_argp_init("name", NULL));
	OK(doca_argp_destroy());
	for (n = 1; r; n++) {
		OK(doca_argp_init("name", NULL));
		EACH_FAILS(doca_argp_param_create(&param));
		fail_at = 1;
		doca_argp_param_set_long_name(param, "flag");
		FAILS(NO_MEMORY, doca_argp_register_param(param));
		OK(doca_argp_param_create(&param));
		doca_argp_param_set_long_name(param, "flag");
		doca_argp_param_set_type(param, DOCA_ARGP_TYPE_BOOLEAN);
		doca_argp_param_set_multiplicity(param);
		doca_argp_param_set_callback(param, take_flag);
		OK(doca_argp_register_param(param));
		fail_at = n;
		r = doca_argp_start(3, argv);
		fail_at = 0;
		if (n == 1)
			FAILS(NO_MEMORY, r);
		OK(doca_argp_destroy());
	}
	/* The command line, and a value for each flag. */
	ASSERT_EQ(1 + 3 + 2 + 1, n);
}

TEST_HARNESS_MAIN
