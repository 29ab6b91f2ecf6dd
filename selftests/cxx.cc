// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Every function and inline of the public headers from C++11: compiled with
 * -Wpedantic -Werror, linked with the shared library, run without the module
 * (pkg-config.sh, which also looks that no name is missing here).
 */
#include <syncevent.h>
#include <syncevent/cell.h>
#include <syncevent/inline.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>

static int failures;

#define CHECK(what) do {							\
	if (!(what)) {								\
		std::printf("cxx.cc:%d: %s\n", __LINE__, #what);		\
		failures++;							\
	}									\
} while (0)

static syncevent_wait_opts how(syncevent_how h, uint64_t deadline)
{
	syncevent_wait_opts opts = syncevent_wait_opts();

	opts.size = sizeof(opts);
	opts.how = static_cast<uint32_t>(h);
	opts.deadline = deadline;
	return opts;
}

static void data_path(syncevent *ev)
{
	struct syncevent_cell *cell = syncevent_cell(ev);
	uint64_t v = 0;

	CHECK(syncevent_set(ev, 5) == 0);
	CHECK(syncevent_add(ev, 2, &v) == 0 && v == 5);
	CHECK(syncevent_get(ev, &v) == 0 && v == 7);
	CHECK(syncevent_ring(ev) == 0);
	CHECK(cell != nullptr && syncevent_cell_live(cell));
	CHECK(syncevent_cell_get(cell) == 7);
	CHECK(syncevent_cell_set(cell, 8) == 0);
	CHECK(syncevent_cell_add(cell, 1, &v) == 0 && v == 8);
	syncevent_cell_se_a();
	CHECK(syncevent_cell_must_ring(cell, 9) == 0);
	syncevent_cell_pause();
	CHECK(syncevent_inline_set(ev, cell, 20) == 0);
	CHECK(syncevent_inline_add(ev, cell, 3, &v) == 0 && v == 20);
	CHECK(syncevent_inline_get(cell, &v) == 0 && v == 23);
	CHECK(syncevent_inline_holds(SYNCEVENT_GT, 23, UINT64_MAX, 22));
	CHECK(syncevent_inline_spin(cell, SYNCEVENT_GE, 23, UINT64_MAX, &v) == 0 && v == 23);
	syncevent_cell_own(cell);
}

static void waits(syncevent *ev)
{
	syncevent_wait_opts block = how(SYNCEVENT_BLOCK, SYNCEVENT_FOREVER);
	syncevent_wait_opts look = how(SYNCEVENT_SPIN, 0);
	syncevent_many many[2] = {
		{ ev, 99, UINT64_MAX, 0, SYNCEVENT_EQ, 0 },
		{ ev, 30, UINT64_MAX, 0, SYNCEVENT_GE, 0 },
	};
	unsigned int index = 9;
	uint64_t seen = 0;

	CHECK(syncevent_wait(ev, SYNCEVENT_GT, 100, UINT64_MAX, &look, nullptr) == -ETIMEDOUT);
	std::thread other([ev] { CHECK(syncevent_set(ev, 30) == 0); });
	CHECK(syncevent_wait(ev, SYNCEVENT_GE, 30, UINT64_MAX, &block, &seen) == 0 && seen == 30);
	other.join();
	CHECK(syncevent_wait_many(many, 2, 0, &block, &index) == 0 && index == 1);
}

static void polls(syncevent *ev)
{
	pollfd p = pollfd();
	uint64_t v = 0;

	p.fd = syncevent_poll_fd(ev);
	p.events = POLLIN;
	CHECK(p.fd >= 0);
	CHECK(syncevent_arm(ev, SYNCEVENT_GE, 31, UINT64_MAX) == 0);
	CHECK(syncevent_read(ev, &v) == -EAGAIN);
	CHECK(syncevent_set(ev, 31) == 0);
	CHECK(poll(&p, 1, 60000) == 1);
	CHECK(syncevent_read(ev, &v) == 0 && v == 31);
	CHECK(syncevent_disarm(ev) == 0);
}

static void queues(syncevent *ev)
{
	syncevent_done done = syncevent_done();
	syncevent_queue *q = nullptr;

	CHECK(syncevent_queue_create_on(&q, SYNCEVENT_PROVIDER_DEFAULT) == 0);
	syncevent_queue_close(q);
	CHECK(syncevent_queue_create(&q) == 0);
	CHECK(syncevent_queue_reserve(q, 1) == 0);
	CHECK(syncevent_queue_fd(q) >= 0);
	CHECK(syncevent_queue_add(q, ev, SYNCEVENT_EQ, 31, UINT64_MAX, 7, SYNCEVENT_FOREVER) == 0);
	CHECK(syncevent_queue_reap(q, &done, 1, SYNCEVENT_FOREVER) == 1);
	CHECK(done.cookie == 7 && done.status == 0 && done.value == 31);
	CHECK(syncevent_queue_cancel(q, 7) == -ENOENT);
	syncevent_queue_close(q);
}

/* Not without the module: what is refused, and how. */
static void between_machines(syncevent *ev)
{
	struct syncevent_pci pci = {};
	struct syncevent_pci_side side = {};
	syncevent *other;
	uint64_t handle;
	size_t len;
	void *ptr;

	pci.size = sizeof(pci);
	side.size = sizeof(side);
	CHECK(syncevent_pci_get(0, &pci) == -ENOENT);
	CHECK(syncevent_pci_side("0000:00:10.0", 0, &side) == -ENODEV);
	CHECK(syncevent_import_name(&other, "0000:00:10.0", "name", 0) == -ENODEV);
	CHECK(syncevent_export_name(ev, "name", 0) == -EOPNOTSUPP);
	CHECK(syncevent_payload(ev, &ptr, &len) == -EOPNOTSUPP);
	CHECK(syncevent_dpa_handle(ev, &handle) == -EOPNOTSUPP);
}

static void handles(syncevent *ev)
{
	const std::string name = "cxx-" + std::to_string(getpid());
	syncevent *other = nullptr;
	unsigned char blob[SYNCEVENT_BLOB_MAX];
	int size;

	CHECK(syncevent_dup(&other, ev, SYNCEVENT_RDONLY) == 0);
	CHECK(syncevent_set(other, 1) == -EBADF);
	syncevent_close(other);
	CHECK(syncevent_from_fd(&other, syncevent_fd(ev)) == 0);
	syncevent_close(other);
	size = syncevent_export(ev, 0, blob, sizeof(blob));
	CHECK(size > 0);
	CHECK(syncevent_import(&other, blob, static_cast<size_t>(size)) == 0);
	syncevent_close(other);
	between_machines(ev);
	CHECK(syncevent_open(&other, name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, nullptr) == 0);
	CHECK(syncevent_unlink(name.c_str()) == 0);
	CHECK(syncevent_revoke(other) == 0);
	CHECK(syncevent_set(other, 1) == -EIDRM);
	syncevent_close(other);
}

int main()
{
	syncevent_attr attr = syncevent_attr();
	struct syncevent_caps caps = syncevent_caps();
	struct syncevent_stat stat;
	syncevent *ev = nullptr;

	attr.size = sizeof(attr);
	caps.size = sizeof(caps);
	std::memset(&stat, 0, sizeof(stat));
	stat.size = sizeof(stat);
	CHECK(syncevent_query(SYNCEVENT_PROVIDER_DEFAULT, &caps) == 0);
	CHECK(syncevent_create(&ev, &attr) == 0);
	if (!ev)
		return 1;
	CHECK(syncevent_stat(ev, &stat) == 0 && stat.provider == caps.provider);
	CHECK(std::strlen(syncevent_strerror(-EIDRM)) > 0);
	data_path(ev);
	waits(ev);
	polls(ev);
	queues(ev);
	handles(ev);
	syncevent_close(ev);
	return failures != 0;
}
