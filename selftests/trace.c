// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What can be seen from outside: the tracepoints with their fields, and that an
 * update which concerns no sleeper makes no system call (watched by ptrace).
 *
 * Runs as root: it makes a trace instance of its own.
 */
#include "tracer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/ptrace.h>

#include <syncevent.h>

FIXTURE(trace) {
	FILE *trace;
};

FIXTURE_SETUP(trace)
{
	ASSERT_EQ(0, tracer_begin("")) TH_LOG("no tracefs?");
	self->trace = NULL;
}

FIXTURE_TEARDOWN(trace)
{
	tracer_end();
	if (self->trace)
		fclose(self->trace);
}

static const char *next_event(struct _test_data_trace *self)
{
	if (!self->trace)
		self->trace = fopen(INSTANCE "/trace", "re");
	return tracer_next(self->trace) ?: "(end)";
}

__attribute__((format(printf, 3, 4)))
static void expect(struct __test_metadata *_metadata, struct _test_data_trace *self,
		   const char *format, ...)
{
	char wanted[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(wanted, sizeof(wanted), format, ap);
	va_end(ap);
	EXPECT_STREQ(wanted, next_event(self));
}

static uint64_t id_of(int fd)
{
	struct syncevent_info info;

	return se_info(fd, &info) ? 0 : info.id;
}

TEST_F(trace, events_and_fields)
{
	int fd = se_create_flags(7, SYNCEVENT_CREATE_SILENT | SYNCEVENT_CREATE_NONBLOCK);
	struct se_waiter w;
	uint64_t id, v;
	int other = se_create(UINT64_MAX);

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	id = id_of(fd);
	ASSERT_EQ(0, se_set(fd, 9));
	ASSERT_EQ(0, se_add(fd, 5, NULL));
	ASSERT_EQ(0, se_write(fd, 1));
	ASSERT_EQ(0, se_ring(fd));
	ASSERT_EQ(0, se_wait_mask(fd, SYNCEVENT_COND_EQ, 7, 0xff7, SE_FOREVER, &v));
	ASSERT_EQ(-ETIMEDOUT, se_wait(fd, SYNCEVENT_COND_LT, 3, 0, NULL));
	ASSERT_EQ(0, se_waiter_start(&w, other, SYNCEVENT_COND_NEQ, UINT64_MAX));
	ASSERT_TRUE(se_until_waiters(other, 1));
	ASSERT_EQ(0, se_set(other, 0));
	ASSERT_EQ(0, se_waiter_join(&w));
	ASSERT_EQ(0, se_waiter_start(&w, other, SYNCEVENT_COND_GE, 2));
	ASSERT_TRUE(se_until_waiters(other, 1));
	ASSERT_EQ(0, se_revoke(other));
	ASSERT_EQ(-EIDRM, se_waiter_join(&w));
	/* The ones that fail leave no trace. */
	EXPECT_EQ(-EIDRM, se_set(other, 1));
	EXPECT_EQ(-EIDRM, se_ring(other));
	EXPECT_EQ(-EINVAL, se_wait(fd, 6, 3, 0, NULL));

	expect(_metadata, self, "syncevent_create: id=%" PRIu64 " value=7 flags=0x3", id);
	expect(_metadata, self, "syncevent_create: id=%" PRIu64 " value=%" PRIu64 " flags=0x0",
	       id_of(other), UINT64_MAX);
	expect(_metadata, self, "syncevent_publish: id=%" PRIu64 " value=9", id);
	expect(_metadata, self, "syncevent_publish: id=%" PRIu64 " value=14", id);
	expect(_metadata, self, "syncevent_publish: id=%" PRIu64 " value=15", id);
	expect(_metadata, self, "syncevent_ring: id=%" PRIu64 " value=15", id);
	expect(_metadata, self, "syncevent_wait_begin: id=%" PRIu64 " eq 7 mask=0xff7", id);
	EXPECT_EQ(15, v);
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=15 ret=0", id);
	expect(_metadata, self,
	       "syncevent_wait_begin: id=%" PRIu64 " lt 3 mask=0xffffffffffffffff", id);
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=0 ret=%d", id,
	       -ETIMEDOUT);
	id = id_of(other);
	expect(_metadata, self, "syncevent_wait_begin: id=%" PRIu64 " neq %" PRIu64
	       " mask=0xffffffffffffffff", id, UINT64_MAX);
	expect(_metadata, self, "syncevent_publish: id=%" PRIu64 " value=0", id);
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=0 ret=0", id);
	expect(_metadata, self,
	       "syncevent_wait_begin: id=%" PRIu64 " ge 2 mask=0xffffffffffffffff", id);
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=0 ret=%d", id, -EIDRM);
	EXPECT_STREQ("(end)", next_event(self));
	close(fd);
	close(other);
}

/* The conditions by name: what the fields mean is what was asked. */
TEST_F(trace, conditions)
{
	static const char *const names[] = { "eq", "neq", "gt", "ge", "lt", "le" };
	static const int ret[] = { -ETIMEDOUT, 0, 0, 0, -ETIMEDOUT, -ETIMEDOUT };
	int fd = se_create(10);
	uint64_t id;

	ASSERT_LE(0, fd);
	id = id_of(fd);
	for (uint32_t cond = 0; cond < 6; cond++) {
		EXPECT_EQ(ret[cond], se_wait(fd, cond, 5, 0, NULL)) TH_LOG("%s", names[cond]);
	}
	next_event(self);
	for (uint32_t cond = 0; cond < 6; cond++) {
		expect(_metadata, self, "syncevent_wait_begin: id=%" PRIu64
		       " %s 5 mask=0xffffffffffffffff", id, names[cond]);
		expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=%d ret=%d", id,
		       ret[cond] ? 0 : 10, ret[cond]);
	}
	close(fd);
}

/* A wait on several events begins and ends on each. */
TEST_F(trace, wait_many)
{
	int a = se_create(1), b = se_create(2);
	struct syncevent_wait_entry e[2];

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	e[0] = se_entry(a, SYNCEVENT_COND_EQ, 9);
	e[1] = se_entry(b, SYNCEVENT_COND_EQ, 2);
	ASSERT_EQ(0, se_wait_many(e, 2, 0, SE_FOREVER, NULL));
	next_event(self);
	next_event(self);
	expect(_metadata, self, "syncevent_wait_begin: id=%" PRIu64
	       " eq 9 mask=0xffffffffffffffff", id_of(a));
	expect(_metadata, self, "syncevent_wait_begin: id=%" PRIu64
	       " eq 2 mask=0xffffffffffffffff", id_of(b));
	/* Not seen to hold: no value. */
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=0 ret=0", id_of(a));
	expect(_metadata, self, "syncevent_wait_end: id=%" PRIu64 " value=2 ret=1", id_of(b));
	close(a);
	close(b);
}

/* ---- system calls that an update makes ------------------------------------------------------ */

/* A system call that fails and that nobody else makes with this argument. */
#define MARK	((pid_t)-4242)

static void mark(void)
{
	syscall(SYS_getpgid, MARK);
}

/**
 * struct calls - what a traced child did between its marks
 * @n: system calls in each stretch
 * @last: number and second argument of the last one in it
 */
struct calls {
	unsigned int n[4];
	struct {
		uint64_t nr;
		uint64_t arg;
	} last[4];
	unsigned int marks;
};

/* Let the child run to its end and count. Returns its exit status or -errno. */
static int count_calls(pid_t pid, struct calls *c)
{
	struct __ptrace_syscall_info info;
	int status, stretch = -1;

	memset(c, 0, sizeof(*c));
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		return -errno;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
			return -errno;
		if (waitpid(pid, &status, 0) != pid)
			return -errno;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return -WTERMSIG(status);
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
			return -errno;
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == SYS_getpgid && (pid_t)info.entry.args[0] == MARK) {
			stretch++;
			c->marks++;
		} else if (stretch >= 0 && stretch < 4) {
			c->n[stretch]++;
			c->last[stretch].nr = info.entry.nr;
			c->last[stretch].arg = info.entry.args[1];
		}
	}
}

enum how { BY_ADD, BY_SET };

/* Update to 1 ... 1000; a mark; update to 1001. */
static int publish(struct syncevent *ev, enum how how)
{
	uint64_t v = 0;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		return 1;
	mark();
	while (v < 1001) {
		if (v == 1000)
			mark();
		v++;
		if (how == BY_ADD ? syncevent_add(ev, 1, NULL) : syncevent_set(ev, v))
			return 2;
	}
	mark();
	return 0;
}

static void updates(struct __test_metadata *_metadata, enum how how, bool parked)
{
	struct syncevent *ev;
	struct se_waiter w;
	struct calls c;
	pid_t pid;
	int fd;

	ASSERT_EQ(0, syncevent_create(&ev, NULL));
	fd = syncevent_fd(ev);
	if (parked) {
		ASSERT_EQ(0, se_waiter_start(&w, fd, SYNCEVENT_COND_GT, 1000));
		ASSERT_TRUE(se_until_waiters(fd, 1));
		ASSERT_TRUE(se_waiter_parked(&w));
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(publish(ev, how));
	ASSERT_EQ(0, count_calls(pid, &c));
	ASSERT_EQ(3, c.marks);
	EXPECT_EQ(0, c.n[0]) TH_LOG("the last one: %" PRIu64, c.last[0].nr);
	EXPECT_EQ(parked, c.n[1]);
	if (parked) {
		EXPECT_EQ(SYS_ioctl, c.last[1].nr);
		EXPECT_EQ(SYNCEVENT_IOC_RING, c.last[1].arg);
		EXPECT_EQ(0, se_waiter_join(&w));
		EXPECT_EQ(1001, w.w.value);
	}
	EXPECT_EQ(parked, se_rings(fd));
	EXPECT_EQ(parked, se_wakes(fd));
	printf("# %s, %s: updates 1 to 1000 made %u system calls, the 1001st %u\n",
	       how == BY_ADD ? "add" : "set", parked ? "a waiter for > 1000" : "no waiter",
	       c.n[0], c.n[1]);
	fflush(stdout);
	syncevent_close(ev);
}

TEST(adds_below_a_parked_threshold_make_no_system_call)
{
	updates(_metadata, BY_ADD, true);
}

TEST(sets_below_a_parked_threshold_make_no_system_call)
{
	updates(_metadata, BY_SET, true);
}

TEST(updates_without_a_waiter_make_no_system_call)
{
	updates(_metadata, BY_ADD, false);
	updates(_metadata, BY_SET, false);
}

/* Of an event at rest, the library's other calls of the data path make none. */
static int read_only_path(struct syncevent *ev)
{
	const struct syncevent_wait_opts spin = {
		.size = sizeof(spin), .deadline = SYNCEVENT_FOREVER, .how = SYNCEVENT_SPIN,
	};
	uint64_t v;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		return 1;
	mark();
	for (int i = 0; i < 1000; i++) {
		if (syncevent_get(ev, &v) ||
		    syncevent_wait(ev, SYNCEVENT_EQ, 0, UINT64_MAX, NULL, &v) ||
		    syncevent_wait(ev, SYNCEVENT_EQ, 0, UINT64_MAX, &spin, &v))
			return 2;
	}
	mark();
	return 0;
}

TEST(get_and_a_satisfied_wait_make_no_system_call)
{
	struct syncevent *ev;
	struct calls c;
	pid_t pid;

	ASSERT_EQ(0, syncevent_create(&ev, NULL));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(read_only_path(ev));
	ASSERT_EQ(0, count_calls(pid, &c));
	ASSERT_EQ(2, c.marks);
	EXPECT_EQ(0, c.n[0]) TH_LOG("the last one: %" PRIu64, c.last[0].nr);
	syncevent_close(ev);
}

TEST_HARNESS_MAIN
