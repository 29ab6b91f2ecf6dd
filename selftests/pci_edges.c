// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Conditions between two machines, with values, masks and operands of the whole range:
 * who sleeps on one side is woken by an update on the other if that satisfies him, and
 * only then. Each side waits, on what the other one sets by a call, and by its mapping.
 */
#include "pci.h"
#include "predicate.h"

/* At a time: each side may have more notifications under way. */
#define EVENTS		64

#define CONDS		(SYNCEVENT_COND_LE + 1)
#define ALL_CASES	(unsigned int)(CONDS * ARRAY_SIZE(masks) * ARRAY_SIZE(edges) * ARRAY_SIZE(edges))
/* With no divisor of theirs: the first ones of these steps have some of everything. */
#define STRIDE		7919

/* Who waits, and how the other one updates. */
#define ROUNDS		4
#define WAITS(round)	((round) % 2 == is_owner())
#define MAPPED(round)	((round) / 2)

FIXTURE(edges) {
	struct pci_pair pair;
	int fd[EVENTS];
	struct syncevent_cell *cell[EVENTS];
};

/* Side 0 makes them. */
FIXTURE_SETUP(edges)
{
	char name[16];
	unsigned int i;

	ASSERT_EQ(0, pci_join(&self->pair, 0));
	for (i = 0; i < EVENTS; i++) {
		snprintf(name, sizeof(name), "edge-%u", i);
		self->fd[i] = is_owner() ? pci_offer(name, 0, 0) : pci_await(name);
		ASSERT_LE(0, self->fd[i]);
		ASSERT_TRUE(self->cell[i] = pci_map(self->fd[i], PROT_READ | PROT_WRITE));
	}
	ASSERT_EQ(0, pci_meet(&self->pair));
}

FIXTURE_TEARDOWN(edges)
{
	unsigned int i;

	EXPECT_EQ(0, pci_part(&self->pair));
	for (i = 0; i < EVENTS; i++) {
		munmap(self->cell[i], 4096);
		close(self->fd[i]);
	}
}

static int update(struct _test_data_edges *self, unsigned int i, uint64_t value, bool mapped)
{
	return mapped ? pci_store(self->fd[i], self->cell[i], value) : se_set(self->fd[i], value);
}

/* One who sleeps at @start while the value becomes @end. */
struct sleeper {
	uint32_t cond;
	uint64_t start, operand, mask, end;
	bool woken;
};

/* The nth of all cases. False: that condition always holds. */
static bool sleeper_of(unsigned int n, struct sleeper *s)
{
	size_t end, i;

	s->cond = n % CONDS;
	n /= CONDS;
	s->mask = masks[n % ARRAY_SIZE(masks)];
	n /= ARRAY_SIZE(masks);
	s->operand = edges[n % ARRAY_SIZE(edges)];
	end = n / ARRAY_SIZE(edges);
	s->end = edges[end];
	s->woken = holds(s->cond, s->end, s->mask, s->operand);
	for (i = 1; i <= ARRAY_SIZE(edges); i++) {
		s->start = edges[(end + i) % ARRAY_SIZE(edges)];
		if (!holds(s->cond, s->start, s->mask, s->operand))
			return true;
	}
	return false;
}

/* Each sleeper is alone on its event: no other's hint rings for it. */
TEST_F(edges, wake_whom_they_satisfy_and_nobody_else)
{
	unsigned int cases = se_times(ALL_CASES), round, n, i, count, due, total = 0;
	struct syncevent_completion done;
	struct sleeper s[EVENTS];
	int q = se_queue(0);
	uint64_t end;

	ASSERT_LE(0, q);
	for (round = 0; round < ROUNDS; round++) {
		for (n = 0; n < cases;) {
			for (count = due = 0; count < EVENTS && n < cases; n++) {
				if (!sleeper_of(n * STRIDE % ALL_CASES, &s[count]))
					continue;
				due += s[count++].woken;
			}
			end = se_patience();
			for (i = 0; WAITS(round) && i < count; i++) {
				ASSERT_EQ(0, se_set(self->fd[i], s[i].start));
				ASSERT_EQ(0, se_queue_add_mask(q, self->fd[i], s[i].cond,
							       s[i].operand, s[i].mask, i, end));
			}
			ASSERT_EQ(0, pci_meet(&self->pair));
			for (i = 0; !WAITS(round) && i < count; i++)
				ASSERT_EQ(0, update(self, i, s[i].end, MAPPED(round)));
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (!WAITS(round))
				continue;
			for (; due; due--, total++) {
				ASSERT_EQ(1, se_reap(q, &done, 1));
				ASSERT_EQ(0, pci_woken(done.status, end));
				ASSERT_GT(count, done.cookie);
				i = (unsigned int)done.cookie;
				ASSERT_EQ(s[i].end, done.value);
				ASSERT_TRUE(s[i].woken) {
					TH_LOG("(%llx & %llx) %u %llx", (long long)s[i].end,
					       (long long)s[i].mask, s[i].cond,
					       (long long)s[i].operand);
				}
			}
			for (i = 0; i < count; i++) {
				if (!s[i].woken)
					ASSERT_EQ(0, se_queue_cancel(q, i));
			}
		}
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
	printf("# %u of %u sleepers were to be woken\n", total, cases * ROUNDS / 2);
	close(q);
}

/* A thread in WAIT_MANY. */
struct many {
	struct se_thread t;
	struct syncevent_wait_entry entry[3];
	uint32_t flags, index;
};

static int wait_many(void *arg)
{
	struct many *m = arg;

	return se_wait_many(m->entry, ARRAY_SIZE(m->entry), m->flags, SE_FOREVER, &m->index);
}

static bool all_parked(struct _test_data_edges *self, unsigned int first, unsigned int last)
{
	while (first <= last && se_until_waiters(self->fd[first], 1))
		first++;
	return first > last;
}

TEST_F(edges, wait_for_many)
{
	const uint64_t high = SE_MAX << 32, top = 1ULL << 63;
	unsigned int round, i;
	struct many m;

	for (round = 0; round < 2 * ROUNDS; round++) {
		const bool any = round % 2, mapped = MAPPED(round / 2);

		if (WAITS(round / 2)) {
			m = (struct many){
				.flags = any ? 0 : SYNCEVENT_WAIT_ALL,
				.entry = {
					se_entry(self->fd[0], SYNCEVENT_COND_EQ, 3ULL << 32),
					se_entry(self->fd[1], SYNCEVENT_COND_NEQ, 0),
					se_entry(self->fd[2], SYNCEVENT_COND_GE, top),
				},
			};
			m.entry[0].mask = high;
			m.entry[1].mask = 0xff;
			for (i = 0; i < 3; i++)
				ASSERT_EQ(0, se_set(self->fd[i], 0));
			ASSERT_EQ(0, se_start(&m.t, wait_many, &m));
			ASSERT_TRUE(all_parked(self, 0, 2));
			ASSERT_EQ(0, pci_meet(&self->pair));
			/* All have changed, and not as it wants. */
			ASSERT_EQ(0, pci_meet(&self->pair));
			ASSERT_TRUE(all_parked(self, 0, 2));
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (!any) {
				/* Of the others nothing is waited for, though they change. */
				ASSERT_TRUE(se_until_waiters(self->fd[0], 0));
				ASSERT_TRUE(se_until_waiters(self->fd[1], 0));
				ASSERT_EQ(0, pci_meet(&self->pair));
				ASSERT_EQ(0, pci_meet(&self->pair));
				ASSERT_TRUE(all_parked(self, 2, 2));
				ASSERT_FALSE(se_is_done(&m.t));
				ASSERT_EQ(0, pci_meet(&self->pair));
			}
			ASSERT_EQ(0, se_join(&m.t));
			for (i = 0; i < 3; i++)
				EXPECT_EQ(!any || i == 2, m.entry[i].status);
			EXPECT_EQ(top | 5, m.entry[2].value);
			if (any) {
				EXPECT_EQ(2, m.index);
			} else {
				EXPECT_EQ((3ULL << 32) | 7, m.entry[0].value);
				EXPECT_EQ(top | 1, m.entry[1].value);
			}
		} else {
			ASSERT_EQ(0, pci_meet(&self->pair));
			ASSERT_EQ(0, update(self, 0, top | 3ULL << 32, mapped));
			ASSERT_EQ(0, update(self, 1, top, mapped));
			ASSERT_EQ(0, update(self, 2, top - 1, mapped));
			ASSERT_EQ(0, pci_meet(&self->pair));
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (!any) {
				ASSERT_EQ(0, update(self, 1, top | 1, mapped));
				ASSERT_EQ(0, update(self, 0, (3ULL << 32) | 7, mapped));
				ASSERT_EQ(0, pci_meet(&self->pair));
				ASSERT_EQ(0, update(self, 0, 0, mapped));
				ASSERT_EQ(0, update(self, 1, 0, mapped));
				ASSERT_EQ(0, pci_meet(&self->pair));
				ASSERT_EQ(0, pci_meet(&self->pair));
			}
			ASSERT_EQ(0, update(self, 2, top | 5, mapped));
		}
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
}

/* A thread in read(2). */
struct reader {
	struct se_thread t;
	int fd;
	uint64_t value;
};

static int read_one(void *arg)
{
	struct reader *r = arg;

	return se_read(r->fd, &r->value);
}

/* read(2) sleeps until the value is another one, wherever the two differ. */
TEST_F(edges, read_what_is_new)
{
	unsigned int round, i;
	struct reader r = { .fd = self->fd[0] };
	uint64_t last;

	for (round = 0; round < ROUNDS; round++) {
		/* It was not read before. */
		last = 5 + round;
		if (WAITS(round)) {
			ASSERT_EQ(0, se_set(r.fd, last));
			ASSERT_EQ(0, read_one(&r));
			ASSERT_EQ(last, r.value);
		}
		for (i = 0; i < ARRAY_SIZE(edges); last = edges[i++]) {
			if (WAITS(round)) {
				ASSERT_EQ(0, se_start(&r.t, read_one, &r));
				ASSERT_TRUE(all_parked(self, 0, 0));
			}
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (!WAITS(round))
				ASSERT_EQ(0, update(self, 0, last, MAPPED(round)));
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (WAITS(round))
				ASSERT_TRUE(all_parked(self, 0, 0));
			ASSERT_EQ(0, pci_meet(&self->pair));
			if (!WAITS(round)) {
				ASSERT_EQ(0, update(self, 0, edges[i], MAPPED(round)));
				continue;
			}
			ASSERT_EQ(0, se_join(&r.t));
			ASSERT_EQ(edges[i], r.value);
		}
		ASSERT_EQ(0, pci_meet(&self->pair));
	}
}

TEST_HARNESS_MAIN
