// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * What events between machines cost, beside a bare word in the same memory: ratios of
 * one run, the median of many. The numbers of emulated machines mean nothing else.
 */
#include "pci.h"

#include <inttypes.h>
#include <sys/syscall.h>
#include <syncevent.h>
#include <syncevent/inline.h>

#define RUNS		9	/* at most; 3 where it is tried out only */
#define TURNS		20000	/* round trips of spinners in a run */
#define SLEEPS		500	/* of sleepers */
#define EVENTS		500	/* that each side makes: 1,000 in all */

/* Where the two meet; the second event of a pair is the other side's. */
struct table {
	struct syncevent *ev[2];
	struct syncevent_cell *cell[2];
	uint64_t *word[2];
	uint64_t at;
	uint64_t word_at;
};

static unsigned int runs(void)
{
	return se_times(RUNS) < 3 ? 3 : se_times(RUNS);
}

static const char *region(void)
{
	static struct syncevent_pci pci = { .size = sizeof(pci) };

	return syncevent_pci_get(0, &pci) ? "none" : pci.address;
}

/* By a device file that is opened anew: another driver may have had the device. */
static bool both_alive(void)
{
	struct syncevent_pci pci = { .size = sizeof(pci) };

	return !syncevent_pci_get(0, &pci) && pci.alive == 3;
}

static int make(struct syncevent **ev, const char *name, uint32_t pages)
{
	const struct syncevent_attr attr = {
		.size = sizeof(attr), .pci = region(), .pages = pages,
		.publishers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
		.subscribers = SYNCEVENT_LOC_CPU | SYNCEVENT_LOC_REMOTE_PCI,
	};
	int err = syncevent_create(ev, &attr);

	return err ? err : syncevent_export_name(*ev, name, 0);
}

static int find(struct syncevent **ev, const char *name)
{
	int err = -ENOENT;

	se_until((err = syncevent_import_name(ev, region(), name, 0)) != -ENOENT);
	return err;
}

/* Both events, on both sides: each side's is homed on it. */
static int sit_down(struct table *t, const char *name)
{
	const unsigned int me = my_side();
	char text[2][32];
	unsigned int i;
	void *page;
	int err;

	*t = (struct table){ 0 };
	if (!se_until(both_alive()))
		return -ETIMEDOUT;
	for (i = 0; i < 2; i++)
		snprintf(text[i], sizeof(text[i]), "%s-%u", name, i);
	err = make(&t->ev[me], text[me], 1);
	if (!err)
		err = find(&t->ev[!me], text[!me]);
	for (i = 0; !err && i < 2; i++) {
		t->cell[i] = syncevent_cell(t->ev[i]);
		err = syncevent_payload(t->ev[i], &page, NULL);
		t->word[i] = page;
	}
	return err;
}

static int meet(struct table *t)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = se_patience(), .how = SYNCEVENT_BLOCK,
	};
	int err = syncevent_set(t->ev[!my_side()], ++t->at);

	return err ? err : syncevent_wait(t->ev[my_side()], SYNCEVENT_GE, t->at, UINT64_MAX,
					  &opts, NULL);
}

/* Neither leaves while the other waits. */
static void stand_up(struct table *t)
{
	meet(t);
	syncevent_set(t->ev[!my_side()], ++t->at);
	syncevent_close(t->ev[!my_side()]);
	se_sleep_ms(300);
	syncevent_close(t->ev[my_side()]);
}

static void word_turns(struct table *t, unsigned int turns)
{
	uint64_t *mine = t->word[my_side()], *other = t->word[!my_side()];

	while (turns--) {
		t->word_at++;
		if (is_owner())
			(void)__atomic_exchange_n(other, t->word_at, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < t->word_at)
			syncevent_cell_pause();
		if (!is_owner())
			(void)__atomic_exchange_n(other, t->word_at, __ATOMIC_SEQ_CST);
	}
}

static void inline_turns(struct table *t, unsigned int turns)
{
	const unsigned int me = my_side();

	while (turns--) {
		t->at++;
		if (is_owner())
			syncevent_inline_set(t->ev[!me], t->cell[!me], t->at);
		syncevent_inline_spin(t->cell[me], SYNCEVENT_GE, t->at, UINT64_MAX, NULL);
		if (!is_owner())
			syncevent_inline_set(t->ev[!me], t->cell[!me], t->at);
	}
}

static void call_turns(struct table *t, unsigned int turns, enum syncevent_how how)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = SYNCEVENT_FOREVER, .how = how,
	};
	const unsigned int me = my_side();

	while (turns--) {
		t->at++;
		if (is_owner())
			syncevent_set(t->ev[!me], t->at);
		syncevent_wait(t->ev[me], SYNCEVENT_GE, t->at, UINT64_MAX, &opts, NULL);
		if (!is_owner())
			syncevent_set(t->ev[!me], t->at);
	}
}

static void function_turns(struct table *t, unsigned int turns)
{
	call_turns(t, turns, SYNCEVENT_SPIN);
}

static void sleeping_turns(struct table *t, unsigned int turns)
{
	call_turns(t, turns, SYNCEVENT_BLOCK);
}

static int smaller(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds of a round trip, once. */
static double once(struct table *t, void (*turns)(struct table *, unsigned int), unsigned int n)
{
	uint64_t begin;

	if (meet(t))
		return -1;
	begin = se_now(CLOCK_MONOTONIC);
	turns(t, n);
	return (double)(se_now(CLOCK_MONOTONIC) - begin) / n;
}

/* Medians of runs that alternate. */
static void compare(struct table *t, const char *what, unsigned int n,
		    void (*ours)(struct table *, unsigned int),
		    void (*bare)(struct table *, unsigned int))
{
	double a[RUNS], b[RUNS], ratio[RUNS];
	unsigned int i;

	n = se_times(n);
	for (i = 0; i < runs(); i++) {
		a[i] = once(t, ours, n);
		b[i] = once(t, bare, n);
		ratio[i] = a[i] / b[i];
	}
	qsort(a, runs(), sizeof(*a), smaller);
	qsort(b, runs(), sizeof(*b), smaller);
	qsort(ratio, runs(), sizeof(*ratio), smaller);
	if (is_owner())
		printf("# %s: %.0f ns a round trip, bare word %.0f: %.2f (%.2f to %.2f)\n", what,
		       a[runs() / 2], b[runs() / 2], ratio[runs() / 2], ratio[0], ratio[runs() - 1]);
}

TEST(spinners)
{
	struct table t;

	ASSERT_EQ(0, sit_down(&t, "spin"));
	compare(&t, "spin, inlines", TURNS, inline_turns, word_turns);
	compare(&t, "spin, functions", TURNS, function_turns, word_turns);
	EXPECT_EQ(0, meet(&t));
	stand_up(&t);
}

/* One event of many that are exported, imported and waited for, and one alone. */
TEST(one_of_many)
{
	double alone[RUNS], among[RUNS], ratio[RUNS];
	static struct syncevent *many[2 * EVENTS];
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct syncevent_queue *q;
	struct table t;
	char name[32];
	unsigned int i, run;

	ASSERT_EQ(0, sit_down(&t, "many"));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (run = 0; run < runs(); run++) {
		alone[run] = once(&t, sleeping_turns, se_times(SLEEPS));
		ASSERT_EQ(0, meet(&t));
		for (i = 0; i < 2 * EVENTS; i++) {
			const bool mine = i % 2 == my_side();

			snprintf(name, sizeof(name), "many-%u-%u", run, i);
			ASSERT_EQ(0, mine ? make(&many[i], name, 0) : find(&many[i], name));
			ASSERT_EQ(0, syncevent_queue_add(q, many[i], SYNCEVENT_EQ, 1, UINT64_MAX,
							 i, SYNCEVENT_FOREVER));
		}
		among[run] = once(&t, sleeping_turns, se_times(SLEEPS));
		ASSERT_EQ(0, meet(&t));
		for (i = 0; i < 2 * EVENTS; i++)
			ASSERT_EQ(0, syncevent_queue_cancel(q, i));
		/* The end of an event would be a completion over there. */
		ASSERT_EQ(0, meet(&t));
		for (i = 0; i < 2 * EVENTS; i++)
			syncevent_close(many[i]);
		/* Slots are free again once the other side has let go of them. */
		ASSERT_TRUE(se_until(!syncevent_pci_get(0, &pci) && pci.slots_used <= 1));
		ASSERT_EQ(0, meet(&t));
		ratio[run] = among[run] / alone[run];
	}
	qsort(alone, runs(), sizeof(*alone), smaller);
	qsort(among, runs(), sizeof(*among), smaller);
	qsort(ratio, runs(), sizeof(*ratio), smaller);
	if (is_owner())
		printf("# asleep: %.0f us a round trip, beside %u other events %.0f: %.2f (%.2f to %.2f)\n",
		       alone[runs() / 2] / 1000, 2 * EVENTS, among[runs() / 2] / 1000, ratio[runs() / 2],
		       ratio[0], ratio[runs() - 1]);
	syncevent_queue_close(q);
	stand_up(&t);
}

/* ---- beside the least driver ------------------------------------------------------------ */

#define SYSFS		"/sys/bus/pci/"
#define LAST_WORDS	((16U << 20) - 4096)	/* a page that no event has by now */

/* Give the device to a driver, whoever has it. */
static int hand_over(const char *address, const char *from, const char *to)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), SYSFS "drivers/%s/unbind", from);
	ret = se_write_text(path, address);
	snprintf(path, sizeof(path), SYSFS "devices/%s/driver_override", address);
	if (!ret)
		ret = se_write_text(path, to);
	snprintf(path, sizeof(path), SYSFS "drivers/%s/bind", to);
	return ret ?: se_write_text(path, address);
}

/* Both sides' numbers and turns in the device's memory. */
struct bare {
	int fd;
	uint32_t peer;
	uint64_t *word;		/* 0, 1: turns; 2, 3: numbers, plus 1 */
};

static void bare_turns(struct bare *b, unsigned int turns)
{
	uint64_t *mine = &b->word[my_side() * 8], *other = &b->word[!my_side() * 8];
	uint32_t number;
	uint64_t at = 0;

	while (turns--) {
		at++;
		if (is_owner()) {
			__atomic_store_n(other, at, __ATOMIC_SEQ_CST);
			if (write(b->fd, &b->peer, 4) != 4)
				return;
		}
		while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < at)
			if (read(b->fd, &number, 4) != 4)
				return;
		if (!is_owner()) {
			__atomic_store_n(other, at, __ATOMIC_SEQ_CST);
			if (write(b->fd, &b->peer, 4) != 4)
				return;
		}
	}
}

/* Both spin here until both have come, the second time with the words at rest. */
static bool bare_meet(struct bare *b, uint64_t step)
{
	uint64_t *mine = &b->word[16 + my_side() * 8], *other = &b->word[16 + !my_side() * 8];

	__atomic_store_n(mine, step, __ATOMIC_SEQ_CST);
	return se_until(__atomic_load_n(other, __ATOMIC_ACQUIRE) >= step);
}

/* Nanoseconds of a round trip by doorbells alone; the driver has the device. */
static double bare_once(unsigned int turns, uint64_t run)
{
	const uint32_t *registers;
	struct bare b;
	uint64_t begin;
	double ns;
	int fd;

	b.fd = open("/dev/doorbell", O_RDWR | O_CLOEXEC);
	b.word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, b.fd, LAST_WORDS);
	fd = open(SYSFS "devices/0000:00:10.0/resource0", O_RDWR | O_CLOEXEC);
	registers = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (b.fd < 0 || b.word == MAP_FAILED || registers == MAP_FAILED)
		return -1;
	b.word[my_side() * 8] = 0;
	b.word[32 + my_side() * 8] = ((const volatile uint32_t *)registers)[2];
	if (!bare_meet(&b, 2 * run + 1))
		return -1;
	b.peer = (uint32_t)b.word[32 + !my_side() * 8];
	if (!bare_meet(&b, 2 * run + 2))
		return -1;
	begin = se_now(CLOCK_MONOTONIC);
	bare_turns(&b, turns);
	ns = (double)(se_now(CLOCK_MONOTONIC) - begin) / turns;
	munmap((void *)(uintptr_t)registers, 4096);
	munmap(b.word, 4096);
	close(fd);
	close(b.fd);
	return ns;
}

TEST(doorbells)
{
	const unsigned int turns = se_times(SLEEPS);
	double ours[RUNS], bare[RUNS], ratio[RUNS];
	char address[16];
	struct table t;
	unsigned int i;
	int fd;

	snprintf(address, sizeof(address), "%s", region());
	fd = open("/t/doorbell.ko", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syscall(SYS_finit_module, fd, "", 0));
	close(fd);
	for (i = 0; i < runs(); i++) {
		ASSERT_EQ(0, sit_down(&t, "asleep"));
		ours[i] = once(&t, sleeping_turns, turns);
		EXPECT_EQ(0, meet(&t));
		stand_up(&t);
		ASSERT_EQ(0, hand_over(address, "syncevent", "doorbell"));
		bare[i] = bare_once(turns, i);
		EXPECT_LT(0, bare[i]);
		ASSERT_EQ(0, hand_over(address, "doorbell", "syncevent"));
		ratio[i] = ours[i] / bare[i];
	}
	qsort(ours, runs(), sizeof(*ours), smaller);
	qsort(bare, runs(), sizeof(*bare), smaller);
	qsort(ratio, runs(), sizeof(*ratio), smaller);
	if (is_owner())
		printf("# asleep: %.0f us a round trip, by doorbells alone %.0f: %.2f (%.2f to %.2f)\n",
		       ours[runs() / 2] / 1000, bare[runs() / 2] / 1000, ratio[runs() / 2], ratio[0],
		       ratio[runs() - 1]);
	EXPECT_EQ(0, syscall(SYS_delete_module, "doorbell", 0));
}

TEST_HARNESS_MAIN
