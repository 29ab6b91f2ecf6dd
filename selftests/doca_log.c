// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* doca_log.c - what programs log: where it goes, how it looks, what is left out */
#include <doca_log.h>
#include <doca_version.h>

#include <regex.h>

#include "child.h"

DOCA_LOG_REGISTER(SYNC_EVENT::TEST);

static bool matches(const char *text, const char *pattern)
{
	regex_t regex;
	bool yes;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	yes = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return yes;
}

static void each_level(void *standard)
{
	if (standard)
		doca_log_backend_create_standard();
	DOCA_LOG_CRIT("critical %d", 1);
	DOCA_LOG_ERR("error %s", "2");
	DOCA_LOG_WARN("warning");
	DOCA_LOG_INFO("info");
	DOCA_LOG_DBG("debug");
	DOCA_LOG_TRC("trace");
}

#define LINE(level, text) \
	"\\[[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}\\]\\[" level "\\]\\[SYNC_EVENT::TEST\\]" \
	"\\[doca_log\\.c:[0-9]+\\]\\[each_level\\] " text "\n"

/* INFO is the level from the beginning; warnings and worse go to stderr, in this order. */
TEST(levels)
{
	struct said said;

	child_run(&said, each_level, "");
	ASSERT_EQ(CHILD_RETURNED, said.status);
	ASSERT_TRUE(matches(said.err, "^" LINE("CRT", "critical 1") LINE("ERR", "error 2")
				      LINE("WRN", "warning") "$"));
	ASSERT_TRUE(matches(said.out, "^" LINE("INF", "info") "$"));
}

TEST(no_backend_no_output)
{
	struct said said;

	child_run(&said, each_level, NULL);
	ASSERT_EQ(CHILD_RETURNED, said.status);
	ASSERT_STREQ("", said.err);
	ASSERT_STREQ("", said.out);
}

static void twice(void *arg)
{
	(void)arg;
	doca_log_backend_create_standard();
	doca_log_backend_create_standard();
	DOCA_LOG_INFO("once");
}

TEST(one_standard_backend)
{
	struct said said;
	char *at;

	child_run(&said, twice, NULL);
	at = strstr(said.out, "once");
	ASSERT_NE(NULL, at);
	ASSERT_EQ(NULL, strstr(at + 1, "once"));
}

static doca_error_t log_as(uint32_t level, int source)
{
	return doca_log(level, source, "dir/file.c", 7, "func", "%s", "text");
}

static void sources(void *arg)
{
	char name[] = "OTHER";
	int source = -1;

	(void)arg;
	doca_log_backend_create_standard();
	if (doca_log_register_source(name, &source) != DOCA_SUCCESS)
		exit(1);
	/* The name was copied. */
	memset(name, 'x', 5);
	log_as(DOCA_LOG_LEVEL_INFO, source);
	log_as(DOCA_LOG_LEVEL_INFO, 0);
}

TEST(names_of_sources)
{
	struct said said;

	child_run(&said, sources, NULL);
	ASSERT_EQ(CHILD_RETURNED, said.status);
	ASSERT_TRUE(matches(said.out, "^\\[[0-9:.]+\\]\\[INF\\]\\[OTHER\\]\\[file\\.c:7\\]\\[func\\] text\n"
				      "\\[[0-9:.]+\\]\\[INF\\]\\[DOCA\\]\\[file\\.c:7\\]\\[func\\] text\n$"));
}

TEST(refusals)
{
	struct doca_log_backend *backend = NULL;
	int source = -1;

	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log_register_source(NULL, &source));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log_register_source("x", NULL));
	ASSERT_EQ(-1, source);
	ASSERT_EQ(DOCA_SUCCESS, doca_log_register_source("x", &source));
	ASSERT_EQ(DOCA_SUCCESS, doca_log(DOCA_LOG_LEVEL_INFO, source, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(10, 0, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(55, 0, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(80, 0, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(50, -1, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(50, source + 1, "f", 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(50, source, NULL, 1, "g", "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log(50, source, "f", 1, NULL, "text"));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log_backend_create_with_file_sdk(NULL, &backend));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log_backend_create_with_file_sdk(stderr, NULL));
	ASSERT_EQ(NULL, backend);
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE,
		  doca_log_backend_set_sdk_level(NULL, DOCA_LOG_LEVEL_INFO));
	ASSERT_EQ(DOCA_SUCCESS, doca_log_backend_create_with_file_sdk(stderr, &backend));
	ASSERT_EQ(DOCA_ERROR_INVALID_VALUE, doca_log_backend_set_sdk_level(backend, 45));
	ASSERT_EQ(DOCA_SUCCESS, doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE));
}

/* ---- several threads: their lines do not mix ----------------------------------------- */

enum { THREADS = 4, LINES = 15, WIDTH = 30 };

static void *talk(void *arg)
{
	char text[WIDTH + 1] = "";
	int i;

	memset(text, 'a' + (int)(intptr_t)arg, WIDTH);
	for (i = 0; i < LINES; i++)
		DOCA_LOG_INFO("%s", text);
	return NULL;
}

static void talk_all(void *arg)
{
	pthread_t threads[THREADS];
	intptr_t i;

	(void)arg;
	doca_log_backend_create_standard();
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, talk, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

TEST(lines_do_not_mix)
{
	struct said said;
	unsigned int lines = 0;
	char *line, *rest;

	child_run(&said, talk_all, NULL);
	ASSERT_EQ(CHILD_RETURNED, said.status);
	for (line = strtok_r(said.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ASSERT_TRUE(matches(line, "^\\[[0-9:.]+\\]\\[INF\\]\\[SYNC_EVENT::TEST\\]"
					  "\\[doca_log\\.c:[0-9]+\\]\\[talk\\] "
					  "(a{30}|b{30}|c{30}|d{30})$"));
		lines++;
	}
	ASSERT_EQ(THREADS * LINES, lines);
}

/* ---- threads that end, children -------------------------------------------------------- */

/* Cancelled before its line, it ends behind it. */
static void *log_and_end(void *arg)
{
	pthread_cancel(pthread_self());
	DOCA_LOG_INFO("cancelled");
	pthread_testcancel();
	return arg;
}

static void log_after_it(void *arg)
{
	pthread_t thread;
	void *end;

	doca_log_backend_create_standard();
	pthread_create(&thread, NULL, log_and_end, arg);
	pthread_join(thread, &end);
	if (end != PTHREAD_CANCELED)
		exit(1);
	DOCA_LOG_INFO("goes on");
}

TEST(cancelled)
{
	struct said said;

	child_run(&said, log_after_it, NULL);
	ASSERT_EQ(CHILD_RETURNED, said.status);
	ASSERT_NE(NULL, strstr(said.out, "cancelled\n"));
	ASSERT_NE(NULL, strstr(said.out, "goes on\n"));
}

static int log_one(void *text)
{
	DOCA_LOG_INFO("%s", (char *)text);
	return 0;
}

/* Not se_fork(), which would flush what the other thread writes to. */
static int fork_and_log(void *text)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(SE_HANG_S);
		DOCA_LOG_ERR("%s", (char *)text);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* A child is made beside a thread whose line does not get into a full pipe. */
static void fork_beside_a_line(void *arg)
{
	struct se_thread logs, forks;
	char bytes[4096] = "";
	int fds[2];

	(void)arg;
	doca_log_backend_create_standard();
	if (pipe2(fds, O_NONBLOCK) || dup2(fds[1], STDOUT_FILENO) < 0)
		exit(1);
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	/* Of the description: that of stdout, too. */
	if (errno != EAGAIN || fcntl(fds[1], F_SETFL, 0))
		exit(2);
	if (se_start(&logs, log_one, "waits") || !se_until_sleeps_in(&logs, SYS_write))
		exit(3);
	if (se_start(&forks, fork_and_log, "of the child") || !se_until_sleeps(&forks))
		exit(4);
	while (!se_is_done(&logs))
		if (read(fds[0], bytes, sizeof(bytes)) < 0 && errno != EAGAIN)
			exit(5);
	if (se_join(&logs) || se_join(&forks))
		exit(6);
}

TEST(forked)
{
	struct said said;

	child_run(&said, fork_beside_a_line, NULL);
	ASSERT_EQ(CHILD_RETURNED, said.status);
	ASSERT_NE(NULL, strstr(said.err, "of the child\n"));
}

TEST(standard_backend)
{
	ASSERT_EQ(DOCA_SUCCESS, doca_log_backend_create_standard());
	ASSERT_EQ(DOCA_SUCCESS, doca_log_backend_create_standard());
}

TEST(versions)
{
	ASSERT_STREQ("3.0.0", doca_version());
	ASSERT_STREQ("3.0.0", doca_version_runtime());
}

TEST_HARNESS_MAIN
