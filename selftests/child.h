/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* child.h - what a function prints, and how it ends the process, in a child */
#ifndef SELFTESTS_CHILD_H
#define SELFTESTS_CHILD_H

#include "common.h"

/* Exit status of a function that returned, or of a child that could not be made. */
#define CHILD_RETURNED	99
#define CHILD_NONE	98

/**
 * struct said - what it said
 * @status: exit status; CHILD_RETURNED; 128 + signal
 * @out: on stdout; @err: on stderr
 */
struct said {
	int status;
	char out[8192];
	char err[8192];
};

static inline void child_text(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Runs @run in a child, whose output goes to files. */
static inline void child_run(struct said *said, void (*run)(void *arg), void *arg)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	int status = -1;
	pid_t pid;

	memset(said, 0, sizeof(*said));
	said->status = CHILD_NONE;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		alarm(SE_HANG_S);
		if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
			_exit(CHILD_NONE);
		run(arg);
		fflush(NULL);
		_exit(CHILD_RETURNED);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		said->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	child_text(out, said->out, sizeof(said->out));
	child_text(err, said->err, sizeof(said->err));
}

#endif /* SELFTESTS_CHILD_H */
