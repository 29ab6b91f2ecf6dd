// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Wrong descriptors, numbers, types and directions.
 */
#include "ioctls.h"

#include <sys/eventfd.h>

enum { WRONG_PIPE, WRONG_PIPE_OUT, WRONG_EVENTFD, WRONG_EPOLL, WRONG_NULL, WRONG_FILE,
	WRONG_SOCKET, WRONG_FDS };
enum { NOT_PATH_EVENT, NOT_PATH_DEV, NOT_CLOSED, NOT_MINUS_ONE, NOT_HUGE, NOT_MIN, NOT_FDS };

/*
 * wrong: open files that are no syncevent; not: what is no usable descriptor.
 */
FIXTURE(fd) {
	struct se_subject s;
	unsigned char arg[SE_ARG_MAX];
	int wrong[WRONG_FDS];
	int not[NOT_FDS];
	struct se_held held;
};

static int open_path(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_PATH | O_CLOEXEC);
}

FIXTURE_SETUP(fd)
{
	ASSERT_LE(0, se_dev());
	self->held = se_held();
	ASSERT_EQ(0, se_subject_open(&self->s));
	ASSERT_EQ(0, pipe(&self->wrong[WRONG_PIPE]));
	self->wrong[WRONG_EVENTFD] = eventfd(1, EFD_CLOEXEC);
	self->wrong[WRONG_EPOLL] = epoll_create1(EPOLL_CLOEXEC);
	self->wrong[WRONG_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	self->wrong[WRONG_FILE] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	self->wrong[WRONG_SOCKET] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (int i = 0; i < WRONG_FDS; i++) {
		ASSERT_LE(0, self->wrong[i]) TH_LOG("wrong fd %d: errno %d", i, errno);
	}
	self->not[NOT_PATH_EVENT] = open_path(self->s.fd[SE_ON_EVENT]);
	self->not[NOT_PATH_DEV] = open_path(se_dev());
	ASSERT_LE(0, self->not[NOT_PATH_EVENT]);
	ASSERT_LE(0, self->not[NOT_PATH_DEV]);
	/* Above all that is open: nothing else takes its place. */
	self->not[NOT_CLOSED] = 1000;
	self->not[NOT_MINUS_ONE] = -1;
	self->not[NOT_HUGE] = INT_MAX;
	self->not[NOT_MIN] = INT_MIN;
}

FIXTURE_TEARDOWN(fd)
{
	for (int i = 0; i < WRONG_FDS; i++)
		close(self->wrong[i]);
	close(self->not[NOT_PATH_EVENT]);
	close(self->not[NOT_PATH_DEV]);
	se_subject_close(&self->s);
	se_nothing_held(_metadata, self->held);
}

static void refused_on(struct __test_metadata *_metadata, struct _test_data_fd *self,
		       const struct se_cmd *c, int fd, int err, const char *what,
		       unsigned long n)
{
	se_cmd_valid(c, &self->s, self->arg);
	se_refused(_metadata, &self->s, c, fd, c->request, self->arg, se_cmd_size(c), err,
		   what, n);
}

/* The right number on the wrong kind of descriptor. */
TEST_F(fd, wrong_kind)
{
	se_for_each_cmd(c) {
		for (int kind = 0; kind < se_kinds(); kind++) {
			if (kind != (int)c->on)
				refused_on(_metadata, self, c, self->s.fd[kind], -ENOTTY,
					   "syncevent of kind", (unsigned int)kind);
		}
		for (unsigned int i = 0; i < WRONG_FDS; i++) {
			/* What they say of a command of nobody's: epoll, from 6.9 on, EINVAL. */
			int err = se_ioctl(self->wrong[i], _IO(SYNCEVENT_IOC_TYPE, 0x7f), NULL);

			ASSERT_TRUE(err == -ENOTTY || err == -EINVAL);
			refused_on(_metadata, self, c, self->wrong[i], err, "wrong fd", i);
		}
		for (unsigned int i = 0; i < NOT_FDS; i++)
			refused_on(_metadata, self, c, self->not[i], -EBADF, "no fd", i);
	}
}

TEST_F(fd, field_of_queue_add)
{
	struct syncevent_queue_add *a = (void *)self->arg;
	const struct se_cmd *c = se_cmds;
	int q = self->s.fd[SE_ON_QUEUE];

	while (c->request != SYNCEVENT_IOC_QUEUE_ADD)
		c++;
	for (unsigned int i = 0; i < WRONG_FDS + 2 + NOT_FDS; i++) {
		int fd = i < WRONG_FDS ? self->wrong[i] :
			 i == WRONG_FDS ? se_dev() :
			 i == WRONG_FDS + 1 ? q : self->not[i - WRONG_FDS - 2];

		se_cmd_valid(c, &self->s, self->arg);
		a->fd = fd;
		se_refused(_metadata, &self->s, c, q, c->request, self->arg, sizeof(*a),
			   i < WRONG_FDS + 2 ? -EINVAL : -EBADF, "field fd", i);
		EXPECT_EQ(-ENOENT, se_queue_cancel(q, SE_SUBJECT_COOKIE));
	}
}

/*
 * A bad descriptor at every place of a long WAIT_MANY: what was set up before
 * it is undone. In the entries before it no condition holds, so all are set up.
 */
TEST_F(fd, field_of_wait_many)
{
	struct syncevent_wait_entry e[SYNCEVENT_WAIT_MAX], before[SYNCEVENT_WAIT_MAX];
	struct syncevent_wait_many m;

	for (unsigned int i = 0; i < SYNCEVENT_WAIT_MAX; i++)
		e[i] = se_entry(self->s.fd[SE_ON_EVENT], SYNCEVENT_COND_GT, SE_SUBJECT_VALUE);
	for (unsigned int at = 0; at < SYNCEVENT_WAIT_MAX; at++) {
		for (unsigned int i = 0; i < WRONG_FDS + 2 + NOT_FDS; i++) {
			int fd = i < WRONG_FDS ? self->wrong[i] :
				 i == WRONG_FDS ? se_dev() :
				 i == WRONG_FDS + 1 ? self->s.fd[SE_ON_QUEUE] :
				 self->not[i - WRONG_FDS - 2];

			/* All kinds at a few places, one at the others. */
			if (i && at % 42)
				break;
			e[at].fd = fd;
			memcpy(before, e, sizeof(e));
			m = (struct syncevent_wait_many) {
				.entries = (uintptr_t)e, .deadline = SE_FOREVER,
				.count = SYNCEVENT_WAIT_MAX, .index = SE_POISON32,
				.flags = at & 1 ? SYNCEVENT_WAIT_ALL : 0,
			};
			se_refused(_metadata, &self->s, &se_cmds[1], se_dev(),
				   SYNCEVENT_IOC_WAIT_MANY, &m, sizeof(m),
				   i < WRONG_FDS + 2 ? -EINVAL : -EBADF, "entry", at * 100 + i);
			ASSERT_EQ(0, memcmp(before, e, sizeof(e)));
		}
		e[at].fd = self->s.fd[SE_ON_EVENT];
	}
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* Does @kind of descriptor know this request, but perhaps for its size? */
static bool known(enum se_kind kind, unsigned int request)
{
	se_for_each_cmd(c) {
		if (c->on != kind || _IOC_NR(c->request) != _IOC_NR(request) ||
		    _IOC_DIR(c->request) != _IOC_DIR(request))
			continue;
		if (se_cmd_size(c) || !_IOC_SIZE(request))
			return true;
	}
	return false;
}

/* Every number with every direction; the sizes of all structures among others. */
TEST_F(fd, unknown_numbers_and_directions)
{
	static const unsigned int sizes[] = { 0, 1, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 4096,
					      16383 };
	static unsigned char buf[16384];
	struct se_state old, new;
	unsigned long tried = 0;

	se_state_get(&self->s, &old);
	for (int kind = 0; kind < se_kinds(); kind++) {
		for (unsigned int nr = 0; nr < 256; nr++) {
			for (unsigned int i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
				unsigned int request = _IOC(i % 4, SYNCEVENT_IOC_TYPE, nr,
							    sizes[i / 4]);

				if (known(kind, request))
					continue;
				tried++;
				ASSERT_EQ(-ENOTTY, se_ioctl(self->s.fd[kind], request, buf))
					TH_LOG("kind %d request %#x", kind, request);
			}
		}
	}
	/* It must not be that known() said yes to everything. */
	EXPECT_LT(40000, tried);
	se_state_get(&self->s, &new);
	se_same_state(_metadata, &old, &new, "ioctl", "unknown number", 0);
	EXPECT_TRUE(self->s.fd[SE_ON_EVENT] >= 0);
}

TEST_F(fd, wrong_directions)
{
	se_for_each_cmd(c) {
		for (unsigned int dir = 0; dir < 4; dir++) {
			unsigned int request = _IOC(dir, SYNCEVENT_IOC_TYPE, _IOC_NR(c->request),
						    se_cmd_size(c));

			if (request == c->request)
				continue;
			se_cmd_valid(c, &self->s, self->arg);
			se_refused(_metadata, &self->s, c, self->s.fd[c->on], request, self->arg,
				   se_cmd_size(c), -ENOTTY, "direction", dir);
		}
	}
}

TEST_F(fd, unknown_types)
{
	se_for_each_cmd(c) {
		for (unsigned int type = 0; type < 256; type++) {
			unsigned int request = _IOC(_IOC_DIR(c->request), type,
						    _IOC_NR(c->request), se_cmd_size(c));

			/* 'f' has ioctls of the VFS that every file takes. */
			if (type == SYNCEVENT_IOC_TYPE || type == 'f')
				continue;
			se_cmd_valid(c, &self->s, self->arg);
			se_refused(_metadata, &self->s, c, self->s.fd[c->on], request, self->arg,
				   se_cmd_size(c), -ENOTTY, "type", type);
		}
	}
}

/* ---- no way around the rights -------------------------------------------------------------- */

/* Opening an event again by its name in /proc would give it back its rights. */
TEST_F(fd, events_are_not_opened_again)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	int ro = se_dup(self->s.fd[SE_ON_EVENT], SYNCEVENT_DUP_RDONLY);
	int of[] = { ro, self->s.fd[SE_ON_EVENT], self->s.fd[SE_ON_QUEUE] };
	char path[32];

	ASSERT_LE(0, ro);
	for (unsigned int i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", of[i / 3]);
		EXPECT_EQ(-1, open(path, modes[i % 3] | O_CLOEXEC)) TH_LOG("%u", i);
		EXPECT_TRUE(errno == ENXIO || errno == EACCES) TH_LOG("%u: errno %d", i, errno);
	}
	/* Nor does fcntl make it writable. */
	EXPECT_EQ(0, fcntl(ro, F_SETFL, O_RDWR));
	EXPECT_EQ(O_RDONLY, fcntl(ro, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(-EBADF, se_set(ro, 1));
	close(ro);
}

/* What CREATE, DUP and QUEUE give. */
TEST_F(fd, new_files)
{
	int ro = se_dup(self->s.fd[SE_ON_EVENT], SYNCEVENT_DUP_RDONLY);
	int nb = se_dup(self->s.fd[SE_ON_EVENT], SYNCEVENT_DUP_NONBLOCK);
	int of[] = { self->s.fd[SE_ON_EVENT], self->s.fd[SE_ON_QUEUE], nb, ro };
	static const int mode[] = { O_RDWR, O_RDWR, O_RDWR, O_RDONLY };
	static const int nonblock[] = { 0, O_NONBLOCK, O_NONBLOCK, 0 };

	for (int i = 0; i < 4; i++) {
		ASSERT_LE(0, of[i]);
		EXPECT_EQ(FD_CLOEXEC, fcntl(of[i], F_GETFD)) TH_LOG("%d", i);
		EXPECT_EQ(mode[i], fcntl(of[i], F_GETFL) & O_ACCMODE) TH_LOG("%d", i);
		EXPECT_EQ(nonblock[i], fcntl(of[i], F_GETFL) & O_NONBLOCK) TH_LOG("%d", i);
	}
	close(ro);
	close(nb);
}

TEST_HARNESS_MAIN
