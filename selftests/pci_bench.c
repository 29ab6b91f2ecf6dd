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

/* Short spells that alternate, as the host moves emulated CPUs about, and many of them. */
#define SPELLS		400
#define TURNS		500	/* round trips of spinners in a spell */
#define RUNS		10	/* in which what the spells run beside is made anew; least: 3 */
#define SLEEPS		25	/* round trips of sleepers in a spell, SPELLS / RUNS of them a run */
#define EVENTS		500	/* that each side makes: 1,000 in all */

/* Nanoseconds of a round trip, of ours and of the peer in turn. */
struct figures {
	double ours[SPELLS], peer[SPELLS];
	unsigned int n;
};

/* Where the two meet; the second event of a pair is the other side's. */
struct table {
	struct syncevent *ev[2];
	struct syncevent_cell *cell[2];
	uint64_t *word[2];
	uint64_t at;
	uint64_t word_at;
	int err;		/* not 0: a turn failed */
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

/* Neither leaves while the other waits. Return: what went wrong since they sat down. */
static int stand_up(struct table *t)
{
	t->err |= meet(t);
	t->err |= syncevent_set(t->ev[!my_side()], ++t->at);
	syncevent_close(t->ev[!my_side()]);
	se_sleep_ms(300);
	syncevent_close(t->ev[my_side()]);
	return t->err;
}

static void word_turns(struct table *t, unsigned int turns)
{
	uint64_t *mine = t->word[my_side()], *other = t->word[!my_side()];
	const bool first = is_owner();

	while (turns--) {
		t->word_at++;
		if (first)
			(void)__atomic_exchange_n(other, t->word_at, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < t->word_at)
			syncevent_cell_pause();
		if (!first)
			(void)__atomic_exchange_n(other, t->word_at, __ATOMIC_SEQ_CST);
	}
}

static void inline_turns(struct table *t, unsigned int turns)
{
	struct syncevent_cell *mine = t->cell[my_side()], *other = t->cell[!my_side()];
	struct syncevent *ev = t->ev[!my_side()];
	const bool first = is_owner();
	int err = 0;

	while (turns--) {
		t->at++;
		if (first) {
			syncevent_cell_own(other);
			err |= syncevent_inline_set(ev, other, t->at);
		}
		err |= syncevent_inline_spin(mine, SYNCEVENT_GE, t->at, UINT64_MAX, NULL);
		if (!first) {
			syncevent_cell_own(other);
			err |= syncevent_inline_set(ev, other, t->at);
		}
	}
	t->err |= err;
}

static void call_turns(struct table *t, unsigned int turns, enum syncevent_how how)
{
	const struct syncevent_wait_opts opts = {
		.size = sizeof(opts), .deadline = SYNCEVENT_FOREVER, .how = how,
	};
	const unsigned int me = my_side();
	const bool first = is_owner();
	int err = 0;

	while (turns--) {
		t->at++;
		if (first)
			err |= syncevent_set(t->ev[!me], t->at);
		err |= syncevent_wait(t->ev[me], SYNCEVENT_GE, t->at, UINT64_MAX, &opts, NULL);
		if (!first)
			err |= syncevent_set(t->ev[!me], t->at);
	}
	t->err |= err;
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

static void print_figures(struct figures *f, const char *what, const char *peer)
{
	const unsigned int n = f->n;
	double ratio[SPELLS];
	unsigned int i;

	for (i = 0; i < n; i++)
		ratio[i] = f->ours[i] / f->peer[i];
	qsort(ratio, n, sizeof(*ratio), smaller);
	qsort(f->ours, n, sizeof(*f->ours), smaller);
	qsort(f->peer, n, sizeof(*f->peer), smaller);
	if (is_owner())
		printf("# %s: %.0f ns a round trip, %s %.0f: %.2f (quartiles %.2f to %.2f), least %.0f and %.0f: %.2f\n",
		       what, f->ours[n / 2], peer, f->peer[n / 2], ratio[n / 2], ratio[n / 4],
		       ratio[n * 3 / 4], f->ours[0], f->peer[0], f->ours[0] / f->peer[0]);
}

/* Nanoseconds of a round trip, once; none after one that failed. */
static double once(struct table *t, void (*turns)(struct table *, unsigned int), unsigned int n)
{
	uint64_t begin;

	t->err |= meet(t);
	if (t->err)
		return 0;
	begin = se_now(CLOCK_MONOTONIC);
	turns(t, n);
	return (double)(se_now(CLOCK_MONOTONIC) - begin) / n;
}

static void compare(struct table *t, const char *what,
		    void (*ours)(struct table *, unsigned int))
{
	static struct figures f;

	for (f.n = 0; f.n < se_times(SPELLS); f.n++) {
		f.ours[f.n] = once(t, ours, TURNS);
		f.peer[f.n] = once(t, word_turns, TURNS);
	}
	print_figures(&f, what, "a bare word");
}

/* The spells of one run, of the sleepers alone. */
static void sleep_spells(struct table *t, double *ns)
{
	unsigned int i;

	for (i = 0; i < SPELLS / RUNS; i++)
		ns[i] = once(t, sleeping_turns, SLEEPS);
}

TEST(spinners)
{
	struct table t;

	ASSERT_EQ(0, sit_down(&t, "spin"));
	compare(&t, "spin, inlines", inline_turns);
	compare(&t, "spin, functions", function_turns);
	EXPECT_EQ(0, stand_up(&t));
}

/* One event of many that are exported, imported and waited for, and one alone. */
TEST(one_of_many)
{
	static struct syncevent *many[2 * EVENTS];
	static struct figures f;
	struct syncevent_pci pci = { .size = sizeof(pci) };
	struct syncevent_queue *q;
	struct table t;
	char name[32];
	unsigned int i, run;

	ASSERT_EQ(0, sit_down(&t, "many"));
	ASSERT_EQ(0, syncevent_queue_create(&q));
	for (run = 0; run < runs(); run++, f.n += SPELLS / RUNS) {
		sleep_spells(&t, &f.peer[f.n]);
		ASSERT_EQ(0, meet(&t));
		for (i = 0; i < 2 * EVENTS; i++) {
			const bool mine = i % 2 == my_side();

			snprintf(name, sizeof(name), "many-%u-%u", run, i);
			ASSERT_EQ(0, mine ? make(&many[i], name, 0) : find(&many[i], name));
			ASSERT_EQ(0, syncevent_queue_add(q, many[i], SYNCEVENT_EQ, 1, UINT64_MAX,
							 i, SYNCEVENT_FOREVER));
		}
		sleep_spells(&t, &f.ours[f.n]);
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
	}
	print_figures(&f, "asleep, beside 1,000 other events", "alone");
	syncevent_queue_close(q);
	EXPECT_EQ(0, stand_up(&t));
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
	uint64_t at;
};

static int bare_turns(struct bare *b, unsigned int turns)
{
	uint64_t *mine = &b->word[my_side() * 8], *other = &b->word[!my_side() * 8];
	const bool first = is_owner();
	uint32_t number;

	while (turns--) {
		b->at++;
		if (first) {
			__atomic_store_n(other, b->at, __ATOMIC_SEQ_CST);
			if (write(b->fd, &b->peer, 4) != 4)
				return -EIO;
		}
		while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < b->at)
			if (read(b->fd, &number, 4) != 4)
				return -EIO;
		if (!first) {
			__atomic_store_n(other, b->at, __ATOMIC_SEQ_CST);
			if (write(b->fd, &b->peer, 4) != 4)
				return -EIO;
		}
	}
	return 0;
}

/* Both spin here until both have come, the second time with the words at rest. */
static bool bare_meet(struct bare *b, uint64_t step)
{
	uint64_t *mine = &b->word[16 + my_side() * 8], *other = &b->word[16 + !my_side() * 8];

	__atomic_store_n(mine, step, __ATOMIC_SEQ_CST);
	return se_until(__atomic_load_n(other, __ATOMIC_ACQUIRE) >= step);
}

/* The spells of one run, by doorbells alone; the driver has the device. */
static int bare_spells(double *ns, uint64_t run)
{
	const uint32_t *registers;
	struct bare b = { 0 };
	int fd, err = 0;
	uint64_t begin;
	unsigned int i;

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
	for (i = 0; i < SPELLS / RUNS; i++) {
		begin = se_now(CLOCK_MONOTONIC);
		err |= bare_turns(&b, SLEEPS);
		ns[i] = (double)(se_now(CLOCK_MONOTONIC) - begin) / SLEEPS;
	}
	munmap((void *)(uintptr_t)registers, 4096);
	munmap(b.word, 4096);
	close(fd);
	close(b.fd);
	return err;
}

TEST(doorbells)
{
	static struct figures f;
	char address[16];
	struct table t;
	unsigned int i;
	int fd;

	snprintf(address, sizeof(address), "%s", region());
	fd = open("/t/doorbell.ko", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, syscall(SYS_finit_module, fd, "", 0));
	close(fd);
	for (i = 0; i < runs(); i++, f.n += SPELLS / RUNS) {
		ASSERT_EQ(0, sit_down(&t, "asleep"));
		sleep_spells(&t, &f.ours[f.n]);
		EXPECT_EQ(0, stand_up(&t));
		ASSERT_EQ(0, hand_over(address, "syncevent", "doorbell"));
		EXPECT_EQ(0, bare_spells(&f.peer[f.n], i));
		ASSERT_EQ(0, hand_over(address, "doorbell", "syncevent"));
	}
	print_figures(&f, "asleep", "by doorbells alone");
	EXPECT_EQ(0, syscall(SYS_delete_module, "doorbell", 0));
}

TEST_HARNESS_MAIN
