// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * poll.c - an event in an event loop, beside another file
 *
 * Each line of the standard input adds 1 to the event; each change of the event,
 * whoever made it, is told. In another shell: syncevent add NAME
 *
 * usage: poll NAME
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <syncevent.h>

static int fail(const char *what, int err)
{
	fprintf(stderr, "poll: %s: %s\n", what, syncevent_strerror(err));
	return 1;
}

/* What poll(2) announced: it may have been announced once too often (EAGAIN). */
static int on_event(struct syncevent *ev)
{
	uint64_t value;
	int err = syncevent_read(ev, &value);

	if (!err)
		printf("value %" PRIu64 "\n", value);
	return err == -EAGAIN ? 0 : err;
}

/* Adds 1 for each line that is there. Return: 1 at the end of the input. */
static int on_input(struct syncevent *ev)
{
	char buffer[256];
	ssize_t got = read(STDIN_FILENO, buffer, sizeof(buffer)), i;
	uint64_t lines = 0;

	if (got < 0)
		return errno == EINTR ? 0 : -errno;
	for (i = 0; i < got; i++)
		lines += buffer[i] == '\n';
	return got ? syncevent_add(ev, lines, NULL) : 1;
}

int main(int argc, char **argv)
{
	struct pollfd fds[2] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .events = POLLIN },
	};
	struct syncevent *ev;
	uint64_t value;
	int ret;

	if (argc != 2) {
		fputs("usage: poll NAME\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = syncevent_open(&ev, argv[1], O_RDWR | O_CREAT, 0600, NULL);
	if (ret)
		return fail(argv[1], ret);
	fds[1].fd = syncevent_poll_fd(ev);
	if (fds[1].fd < 0)
		return fail("poll_fd", fds[1].fd);

	do {
		ret = poll(fds, 2, -1) < 0 && errno != EINTR ? -errno : 0;
		if (!ret && fds[1].revents)
			ret = on_event(ev);
		if (!ret && fds[0].revents)
			ret = on_input(ev);
	} while (!ret);
	if (ret > 0)
		ret = syncevent_get(ev, &value);
	if (ret)
		return fail(argv[1], ret);
	printf("at the end %" PRIu64 "\n", value);
	syncevent_close(ev);
	return 0;
}
