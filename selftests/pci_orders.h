/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * One of two machines gives orders, the other obeys, and suffers what vm/pair does to it:
 * the victim. It obeys in a process that ends with the orders, which are an event of the
 * other machine: so nothing is left of one test in the next.
 */
#ifndef SELFTESTS_PCI_ORDERS_H
#define SELFTESTS_PCI_ORDERS_H

#include "pci.h"

#include <setjmp.h>
#include <sys/prctl.h>

/* A device that vm/pair plugs in, and takes out. */
#define PLUGGED_DEV	"/dev/syncevent_pci1"
/* Which side is it? */
#ifndef VICTIM
#define VICTIM		1U
#endif
/* Events that it has at a time. */
#define HELD		4

enum verb {
	MAKE,		/* make event no. @event as @create says, by @name */
	IMPORT,		/* import it by @name */
	DROP,		/* close it */
	GET,		/* answer with its value, and the first byte of its payload */
	SET,		/* to @value */
	PULSE,		/* add 1 to it each millisecond */
	SCRIBBLE,	/* write @value to cell and payload, on and on, whatever happens */
	LOOK,		/* answer with what the scribbler saw; end it if @value */
	RACE,		/* import @name, write, close, until told to stop */
	PLUGGED,	/* make and import in the region that was plugged in */
	LIMIT,		/* peer_timeout_ms becomes @value */
	TWIN,		/* be the other side for a moment */
	OWN,		/* what this program has for @value: own_verb() */
	QUIT,
};

struct order {
	enum verb verb;
	uint32_t event;
	uint64_t value;
	struct syncevent_pci_create create;
	char name[SYNCEVENT_PCI_NAME_MAX + 1];
};

struct answer {
	int32_t result;
	uint32_t byte;
	uint64_t value;
	uint32_t slot;
	uint32_t generation;
	uint64_t imported, missed, buses;
	uint32_t state;
};

/* In the payload of the orders; @size, @bytes: for what OWN does. */
struct box {
	struct order order;
	struct answer answer;
	uint32_t stop;
	uint32_t size;
	uint8_t bytes[256];
};

/* Return: 0 or a negative errno, or more than 0 for errors of another kind */
static int (*own_verb)(struct box *box, const struct order *o, struct answer *answer);

static inline void *map_payload(int fd)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);

	return p == MAP_FAILED ? NULL : p;
}

static inline int use_plugged(void)
{
	if (!se_until(!pci_dev_use(PLUGGED_DEV)) || !se_until(pci_alive(3)))
		return -ETIMEDOUT;
	return 0;
}

/* ---- files of the module -------------------------------------------------------------- */

static inline int set_limit(unsigned int ms)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ms);
	return se_write_text("/sys/module/syncevent/parameters/peer_timeout_ms", text);
}

static inline unsigned int get_limit(void)
{
	char text[16] = "";

	se_read_text("/sys/module/syncevent/parameters/peer_timeout_ms", text, sizeof(text));
	return (unsigned int)strtoul(text, NULL, 10);
}

/* ---- the victim ----------------------------------------------------------------------- */

/**
 * struct victim - what survives a process of it
 * @scribbler: process that writes, or 0
 * @rounds: that it did
 * @buses: pages that it found gone
 * @state: of the cell, as it sees it
 * @twin: be the other side for a moment
 * @quit: it is over
 */
static struct victim {
	pid_t scribbler;
	uint64_t rounds;
	uint64_t buses;
	uint32_t state;
	bool twin;
	bool quit;
} *victim;

struct held {
	int fd;
	volatile struct syncevent_cell *cell;
	volatile uint32_t *payload;
};

static sigjmp_buf page_gone;
static volatile bool may_be_gone;

/* Elsewhere it is the orders that have ended. */
static inline void on_sigbus(int sig)
{
	if (!may_be_gone)
		_exit(0);
	siglongjmp(page_gone, sig);
}

static inline void hold(struct held *h, int fd)
{
	h->fd = fd;
	h->cell = pci_map(fd, PROT_READ | PROT_WRITE);
	h->payload = map_payload(fd);
}

static inline void let_go(struct held *h)
{
	if (h->fd < 0)
		return;
	munmap((void *)h->cell, 4096);
	if (h->payload)
		munmap((void *)h->payload, 4096);
	close(h->fd);
	h->fd = -1;
}

/* Write to a mapping. False if the payload is gone. */
static inline bool scrawl(const struct held *h, uint32_t value)
{
	volatile bool there = false;

	h->cell->value = value;
	if (!h->payload)
		return true;
	may_be_gone = true;
	if (!sigsetjmp(page_gone, 1)) {
		*h->payload = value;
		there = true;
	}
	may_be_gone = false;
	return there;
}

static inline void pulse(const struct held *h)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		se_add(h->fd, 1, NULL);
		se_sleep_ms(1);
	}
}

/* It goes on when the process that began it has ended: a program that looks nowhere. */
static inline void scribble(const struct held *h, uint32_t value)
{
	unsigned int i;
	pid_t pid;

	victim->rounds = 0;
	victim->buses = 0;
	pid = fork();
	if (pid) {
		victim->scribbler = pid;
		return;
	}
	for (;;) {
		for (i = 0; i < 100; i++)
			if (!scrawl(h, value) && !i)
				victim->buses++;
		victim->state = h->cell->state;
		__atomic_fetch_add(&victim->rounds, 1, __ATOMIC_RELEASE);
		se_sleep_ms(1);
	}
}

static inline void end_scribbler(void)
{
	if (!victim->scribbler)
		return;
	kill(victim->scribbler, SIGKILL);
	victim->scribbler = 0;
}

/* Each event gets its generation, and what was mapped of the one before its own. */
static inline int race_alone(struct box *box, const char *name, struct answer *answer)
{
	struct held old = { .fd = -1 }, now;
	struct syncevent_info info;
	uint32_t mine, before = 0;
	int fd, ret = 0;

	while (!__atomic_load_n(&box->stop, __ATOMIC_ACQUIRE)) {
		fd = pci_import_name(name, 0);
		if (fd < 0) {
			if (fd != -ENOENT && fd != -EIDRM && fd != -EACCES)
				ret = fd;
			answer->missed++;
			continue;
		}
		answer->imported++;
		hold(&now, fd);
		if (now.cell && now.payload && !se_info(fd, &info)) {
			mine = info.generation;
			answer->buses += !scrawl(&now, mine);
			if (old.fd >= 0)
				answer->buses += !scrawl(&old, before);
			let_go(&old);
			old = now;
			before = mine;
			/* So that there is none, for the moment. */
			if (answer->imported % 2)
				let_go(&old);
		} else {
			/* It has ended already. */
			if (now.cell)
				munmap((void *)now.cell, 4096);
			close(fd);
		}
	}
	let_go(&old);
	return ret;
}

/* Two processes: what one lets go of is about to end when the other imports it again. */
static inline int race(struct box *box, const char *name, struct answer *answer)
{
	struct answer other = { .result = 0 };
	int ret, status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(race_alone(box, name, &other) ? 1 : 0);
	ret = race_alone(box, name, answer);
	return waitpid(pid, &status, 0) == pid && !status ? ret : -ECHILD;
}

static inline int make(const struct order *o, struct answer *answer)
{
	int fd = se_ioctl(pci_dev(), SYNCEVENT_IOC_PCI_CREATE, &o->create), ret;
	struct syncevent_blob blob;

	if (fd < 0)
		return fd;
	ret = pci_name(fd, o->name, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE);
	if (!ret)
		ret = pci_export(fd, SYNCEVENT_RIGHT_READ, &blob);
	if (ret) {
		close(fd);
		return ret;
	}
	answer->slot = blob.slot;
	answer->generation = blob.generation;
	return fd;
}

static inline int obey(struct box *box, const struct order *o, struct answer *answer,
		       struct held *h)
{
	int fd;

	switch (o->verb) {
	case MAKE:
	case IMPORT:
		let_go(h);
		fd = o->verb == MAKE ? make(o, answer) : pci_await(o->name);
		if (fd < 0)
			return fd;
		hold(h, fd);
		return h->cell ? 0 : -EIO;
	case DROP:
		let_go(h);
		return 0;
	case GET:
		answer->byte = h->payload ? *(volatile unsigned char *)h->payload : 0;
		return se_get(h->fd, &answer->value);
	case SET:
		return se_set(h->fd, o->value);
	case PULSE:
		pulse(h);
		return 0;
	case SCRIBBLE:
		scribble(h, (uint32_t)o->value);
		return 0;
	case LOOK:
		answer->value = __atomic_load_n(&victim->rounds, __ATOMIC_ACQUIRE);
		answer->buses = victim->buses;
		answer->state = victim->state;
		if (o->value)
			end_scribbler();
		return 0;
	case RACE:
		return race(box, o->name, answer);
	case PLUGGED:
		return use_plugged();
	case LIMIT:
		return set_limit((unsigned int)o->value);
	case TWIN:
		victim->twin = true;
		return 0;
	case OWN:
		return own_verb ? own_verb(box, o, answer) : -EINVAL;
	case QUIT:
		victim->quit = true;
		return 0;
	}
	return -EINVAL;
}

/* From the first of these orders to their end, wherever that is. */
static inline int session(void *unused)
{
	struct held held[HELD] = { { .fd = -1 }, { .fd = -1 }, { .fd = -1 }, { .fd = -1 } };
	struct answer answer;
	struct order order;
	int orders, answers, ret;
	struct box *box;
	uint64_t n;

	(void)unused;
	signal(SIGBUS, on_sigbus);
	/* There may be none for long: no machine, or no test yet. */
	while ((orders = pci_import_name("orders", 0)) < 0)
		se_sleep_ms(10);
	answers = pci_import_name("answers", 0);
	box = map_payload(orders);
	if (answers < 0 || !box || se_get(answers, &n))
		return 0;
	while (!victim->quit && !victim->twin) {
		ret = se_wait(orders, SYNCEVENT_COND_GT, n, SE_FOREVER, NULL);
		if (ret == -EPIPE) {
			se_sleep_ms(10);
			continue;
		}
		if (ret)
			return 0;
		order = box->order;
		memset(&answer, 0, sizeof(answer));
		answer.result = order.event < HELD ?
				obey(box, &order, &answer, &held[order.event]) : -EINVAL;
		box->answer = answer;
		se_set(answers, ++n);
	}
	return 0;
}

/* As if somebody had copied the other machine, and noticed. */
static inline int be_twin(void)
{
	char places[64], wrong[64];
	int ret;

	victim->twin = false;
	ret = get_places(places, sizeof(places));
	if (ret)
		return ret;
	snprintf(wrong, sizeof(wrong), "%.*s=%u", (int)strcspn(places, "="), places, !my_side());
	if (!se_until(!module_unload()))
		return -EBUSY;
	ret = module_load(wrong);
	if (!ret && !se_until(pci_alive(1ULL << !my_side())))
		ret = -ETIMEDOUT;
	pci_dev_close();
	if (!se_until(!module_unload()))
		return -EBUSY;
	return module_load(places) ?: ret;
}

static inline int be_victim(void)
{
	int ret = 0, status;
	pid_t pid;

	printf("TAP version 13\n1..1\n");
	victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (victim == MAP_FAILED)
		return 1;
	while (!victim->quit && !ret) {
		pid = se_fork(session, NULL);
		waitpid(pid, &status, 0);
		if (victim->twin)
			ret = be_twin();
		if (pid < 0 || status)
			ret = -ECHILD;
	}
	end_scribbler();
	printf("%s 1 victim\n", ret ? "not ok" : "ok");
	return !!ret;
}

/* ---- whoever gives the orders ----------------------------------------------------------- */

struct orders {
	int orders, answers;
	struct box *box;
	uint64_t n;
};

static inline int begin_orders(struct orders *o)
{
	/* The victim may still hold what the last test left to it. */
	if (!se_until((o->answers = pci_offer("answers", 0, 0)) != -EEXIST) || o->answers < 0)
		return o->answers;
	o->orders = pci_offer("orders", 0, 1);
	if (o->orders < 0)
		return o->orders;
	o->box = map_payload(o->orders);
	o->n = 0;
	return o->box ? 0 : -ENOMEM;
}

static inline void end_orders(struct orders *o)
{
	munmap(o->box, 4096);
	close(o->orders);
	close(o->answers);
}

/* It may take long: go on meanwhile. */
static inline int give(struct orders *o, const struct order *order)
{
	o->box->order = *order;
	o->box->stop = 0;
	return se_set(o->orders, ++o->n);
}

static inline int answered(struct orders *o)
{
	return pci_wait(o->answers, SYNCEVENT_COND_GE, o->n, NULL) ?:
	       o->box->answer.result;
}

#define tell(o, ...) ({								\
	const struct order __order = { __VA_ARGS__ };				\
										\
	give(o, &__order) ?: answered(o);					\
})

/* ---- both ------------------------------------------------------------------------------- */

static inline int run_cases(void *unused)
{
	(void)unused;
	return test_harness_run(0, NULL);
}

/* The harness runs the cases on one machine, in which the other has its part. */
static inline int be_either(void)
{
	struct orders o;
	int status;
	pid_t pid;

	if (my_side() == VICTIM)
		return be_victim();
	/* The harness ends its process. */
	pid = se_fork(run_cases, NULL);
	if (waitpid(pid, &status, 0) != pid)
		status = -1;
	if (!se_until(pci_alive(3)) || begin_orders(&o) || tell(&o, .verb = QUIT))
		printf("# the other side does not end\n");
	return status ? 1 : 0;
}

/* Behind the last case, as TEST_HARNESS_MAIN, whose first half is this. @prepare: 0 */
#define ORDERS_MAIN(prepare)							\
static void __attribute__((constructor)) __constructor_order_last(void)	\
{										\
	if (!__constructor_order)						\
		__constructor_order = _CONSTRUCTOR_ORDER_BACKWARD;		\
}										\
										\
int main(void)									\
{										\
	return (prepare) ?: be_either();					\
}

#endif /* SELFTESTS_PCI_ORDERS_H */
