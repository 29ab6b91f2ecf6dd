/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * asan_fork.h - forks beside the library's thread, with gcc's address sanitizer
 *
 * That sanitizer does not take the locks of its malloc() around a fork. A child that
 * is made while another thread has one finds it taken for ever, at its next malloc()
 * or in the search for leaks at its exit. The library's thread uses them where it
 * begins and where it frees a closed handle.
 *
 * So a fork waits until that thread sleeps. It does so below the library's lock:
 * handlers that are registered first are called last. There the thread comes no
 * further than to that lock. Threads of the tests are their own affair.
 */
#ifndef SELFTESTS_ASAN_FORK_H
#define SELFTESTS_ASAN_FORK_H

#include <dirent.h>

static inline bool se_thread_sleeps(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[64], name[32];
	bool sleeps = true;

	while (dir && sleeps && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.10s/comm", entry->d_name);
		if (se_read_text(path, name, sizeof(name)) || strcmp(name, "syncevent"))
			continue;
		sleeps = se_sleeps_in(getpid(), atoi(entry->d_name)) >= 0;
	}
	if (dir)
		closedir(dir);
	return sleeps;
}

static inline void se_wait_for_thread(void)
{
	(void)se_until(se_thread_sleeps());
}

__attribute__((constructor(101))) static void se_asan_fork(void)
{
	pthread_atfork(se_wait_for_thread, NULL, NULL);
}

#endif /* SELFTESTS_ASAN_FORK_H */
