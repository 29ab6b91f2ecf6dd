// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The tracepoints of events between machines, with their fields: what each side gives to
 * others, and what it sees become of sides. Side 1 suffers, side 0 looks on.
 */
#include "pci.h"
#include "tracer.h"

#include <inttypes.h>
#include <stdarg.h>

#define DRIVER	"/sys/bus/pci/drivers/syncevent/"

FIXTURE(trace) {
	char wanted[1024];
};

FIXTURE_SETUP(trace)
{
	ASSERT_TRUE(se_until(pci_alive(3)));
	self->wanted[0] = '\0';
}

FIXTURE_TEARDOWN(trace)
{
	tracer_end();
}

__attribute__((format(printf, 2, 3)))
static void expect(struct _test_data_trace *self, const char *format, ...)
{
	size_t used = strlen(self->wanted);
	va_list ap;

	va_start(ap, format);
	vsnprintf(self->wanted + used, sizeof(self->wanted) - used, format, ap);
	va_end(ap);
}

/* All that there is by now. */
static const char *seen(void)
{
	FILE *trace = fopen(INSTANCE "/trace", "re");
	static char all[2048];
	const char *event;
	size_t used = 0;

	all[0] = '\0';
	while ((event = tracer_next(trace)) && used < sizeof(all))
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s\n", event);
	if (trace)
		fclose(trace);
	return all;
}

/* What sides notice in their own time. */
#define EXPECT_SEEN() ({								\
	se_until(!strcmp(self->wanted, seen()));					\
	EXPECT_STREQ(self->wanted, seen());						\
})

/* ---- exports ------------------------------------------------------------------------ */

static void expect_export(struct _test_data_trace *self, int fd,
			  const struct syncevent_blob *blob, uint32_t rights, bool named)
{
	struct syncevent_info info;

	if (!se_info(fd, &info))
		expect(self, "syncevent_export: id=%" PRIu64 " region=0 slot=%u generation=%u "
		       "rights=0x%x named=%d\n", (uint64_t)info.id, blob->slot, blob->generation,
		       rights, named);
}

TEST_F(trace, exports)
{
	const char *name = is_owner() ? "traced-0" : "traced-1";
	struct syncevent_blob blob, other, unused;
	int fd, twin, import, only_read;
	struct pci_pair pair;

	ASSERT_EQ(0, pci_join(&pair, 0));
	ASSERT_EQ(0, tracer_begin("/syncevent_export"));
	ASSERT_LE(0, fd = pci_create(0, 0));
	ASSERT_LE(0, twin = pci_create(0, 0));
	ASSERT_EQ(0, pci_export(fd, SYNCEVENT_RIGHT_READ, &blob));
	ASSERT_EQ(0, pci_export(twin, SYNCEVENT_RIGHT_UPDATE, &other));
	ASSERT_EQ(0, pci_name(fd, name, SYNCEVENT_RIGHT_READ | SYNCEVENT_RIGHT_UPDATE));
	ASSERT_EQ(0, pci_name(fd, name, SYNCEVENT_RIGHT_READ));
	/* What is refused leaves no trace. */
	EXPECT_EQ(-EEXIST, pci_name(twin, name, SYNCEVENT_RIGHT_READ));
	ASSERT_LE(0, only_read = se_dup(fd, SYNCEVENT_DUP_RDONLY));
	EXPECT_EQ(-EBADF, pci_export(only_read, SYNCEVENT_RIGHT_UPDATE, &unused));
	ASSERT_LE(0, import = pci_await(is_owner() ? "traced-1" : "traced-0"));
	EXPECT_EQ(-EPERM, pci_export(import, SYNCEVENT_RIGHT_READ, &unused));
	ASSERT_EQ(0, se_revoke(twin));
	EXPECT_EQ(-EIDRM, pci_export(twin, SYNCEVENT_RIGHT_READ, &unused));
	EXPECT_NE(blob.slot, other.slot);

	expect_export(self, fd, &blob, 1, false);
	expect_export(self, twin, &other, 2, false);
	expect_export(self, fd, &blob, 3, true);
	expect_export(self, fd, &blob, 1, true);
	EXPECT_STREQ(self->wanted, seen());
	/* The other side has imported it by then. */
	ASSERT_EQ(0, pci_meet(&pair));
	ASSERT_EQ(0, pci_name(fd, name, 0));
	expect_export(self, fd, &blob, 0, true);
	EXPECT_STREQ(self->wanted, seen());
	close(import);
	close(only_read);
	close(twin);
	close(fd);
	EXPECT_EQ(0, pci_part(&pair));
}

/* ---- sides -------------------------------------------------------------------------- */

/* Both look: what is done next is seen by both. */
static int look(void)
{
	struct pci_pair pair;

	return tracer_begin("/syncevent_peer") ?: pci_join(&pair, 0) ?: pci_part(&pair);
}

TEST_F(trace, stopped_for_long)
{
	ASSERT_EQ(0, look());
	if (is_owner()) {
		fault("stop", PCI_OTHER);
		expect(self, "syncevent_peer: region=0 side=1 died\n");
		EXPECT_SEEN();
		fault("continue", PCI_OTHER);
	} else {
		expect(self, "syncevent_peer: region=0 side=1 fenced\n"
		       "syncevent_peer: region=0 side=1 detached\n"
		       "syncevent_peer: region=0 side=1 attached\n");
	}
	expect(self, "syncevent_peer: region=0 side=%u came\n", !my_side());
	EXPECT_SEEN();
}

TEST_F(trace, taken_from_its_driver)
{
	char place[64];

	ASSERT_EQ(0, look());
	if (is_owner()) {
		expect(self, "syncevent_peer: region=0 side=1 left\n");
	} else {
		ASSERT_EQ(0, se_read_text("/sys/module/syncevent/parameters/pci_side", place,
					  sizeof(place)));
		place[strcspn(place, "=")] = '\0';
		pci_dev_close();
		ASSERT_EQ(0, se_write_text(DRIVER "unbind", place));
		expect(self, "syncevent_peer: region=0 side=1 detached\n");
		EXPECT_SEEN();
		ASSERT_EQ(0, se_write_text(DRIVER "bind", place));
		expect(self, "syncevent_peer: region=0 side=1 attached\n");
	}
	expect(self, "syncevent_peer: region=0 side=%u came\n", !my_side());
	EXPECT_SEEN();
}

TEST_HARNESS_MAIN
