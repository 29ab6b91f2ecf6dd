// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * doca_memory.c - errors, devices and representors of the virtual pair, memory maps,
 * buffers, accelerators: each function with its effect and its errors.
 */
#include "doca.h"

/* ---- errors and types ---------------------------------------------------------------- */

TEST(errors)
{
	doca_error_t first = DOCA_SUCCESS;
	char seen[31][64] = { { 0 } };
	int i, j;

	for (i = DOCA_SUCCESS; i <= DOCA_ERROR_SKIPPED; i++) {
		ASSERT_EQ(0, strncmp(doca_error_get_name((doca_error_t)i), "DOCA_", 5));
		ASSERT_LT(0, strlen(doca_error_get_descr((doca_error_t)i)));
		snprintf(seen[i], sizeof(seen[i]), "%s", doca_error_get_name((doca_error_t)i));
		for (j = 0; j < i; j++)
			ASSERT_NE(0, strcmp(seen[i], seen[j]));
	}
	ASSERT_STREQ("DOCA_SUCCESS", doca_error_get_name(DOCA_SUCCESS));
	ASSERT_STREQ("DOCA_ERROR_IN_PROGRESS", doca_error_get_name(DOCA_ERROR_IN_PROGRESS));
	ASSERT_STREQ("DOCA_ERROR_UNKNOWN", doca_error_get_name((doca_error_t)31));
	ASSERT_STREQ("DOCA_ERROR_UNKNOWN", doca_error_get_name((doca_error_t)-1));
	ASSERT_NE(NULL, doca_error_get_descr((doca_error_t)-1));
	ASSERT_FALSE(DOCA_IS_ERROR(DOCA_SUCCESS));
	ASSERT_TRUE(DOCA_IS_ERROR(DOCA_ERROR_AGAIN));
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_FULL);
	ASSERT_EQ(DOCA_ERROR_AGAIN, first);
}

/* What a program that was compiled with NVIDIA's headers has in it. */
TEST(values)
{
	ASSERT_EQ(26, DOCA_ERROR_IN_PROGRESS);
	ASSERT_EQ(30, DOCA_ERROR_SKIPPED);
	ASSERT_EQ(3, DOCA_CTX_STATE_STOPPING);
	ASSERT_EQ(8, sizeof(union doca_data));
	ASSERT_EQ(1 << 6, DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING);
	ASSERT_EQ(4, DOCA_DEVINFO_REP_FILTER_EMULATED);
	ASSERT_EQ(13, DOCA_DEVINFO_PCI_ADDR_SIZE);
	ASSERT_EQ(128, DOCA_DEVINFO_REP_VUID_SIZE);
}

/* ---- devices ------------------------------------------------------------------------- */

FIXTURE(dev) {
	struct doca_dev *dpu;
	struct doca_dev *host;
};

FIXTURE_SETUP(dev)
{
	self->dpu = open_dev(DPU);
	self->host = open_dev(HOST);
	ASSERT_NE(NULL, self->dpu);
	ASSERT_NE(NULL, self->host);
}

FIXTURE_TEARDOWN(dev)
{
	ENDS(doca_dev_close(self->dpu));
	ENDS(doca_dev_close(self->host));
}

TEST(list)
{
	struct doca_devinfo **list = NULL;
	uint32_t n = 0;

	FAILS(INVALID_VALUE, doca_devinfo_create_list(NULL, &n));
	FAILS(INVALID_VALUE, doca_devinfo_create_list(&list, NULL));
	FAILS(INVALID_VALUE, doca_devinfo_destroy_list(NULL));
	OK(doca_devinfo_create_list(&list, &n));
	ASSERT_EQ(2, n);
	OK(doca_devinfo_destroy_list(list));
}

TEST(open_and_close)
{
	struct doca_devinfo **list, *info;
	struct doca_dev *dev, *again;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t n;

	OK(doca_devinfo_create_list(&list, &n));
	FAILS(INVALID_VALUE, doca_dev_open(NULL, &dev));
	FAILS(INVALID_VALUE, doca_dev_open(list[0], NULL));
	FAILS(INVALID_VALUE, doca_dev_close(NULL));
	OK(doca_dev_open(list[0], &dev));
	/* What is open outlives the list, with its info. */
	OK(doca_devinfo_destroy_list(list));
	info = doca_dev_as_devinfo(dev);
	ASSERT_NE(NULL, info);
	ASSERT_EQ(NULL, doca_dev_as_devinfo(NULL));
	OK(doca_devinfo_get_pci_addr_str(info, address));
	ASSERT_STREQ(HOST, address);
	/* The same device, counted. */
	again = open_dev(HOST);
	ASSERT_EQ(dev, again);
	OK(doca_dev_close(again));
	OK(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), address));
	OK(doca_dev_close(dev));
}

TEST_F(dev, close_in_use)
{
	struct doca_sync_event *event = make_event(self->dpu);

	FAILS(IN_USE, doca_dev_close(self->dpu));
	OK(doca_dev_close(self->host));
	OK(doca_sync_event_destroy(event));
	OK(doca_dev_close(self->dpu));
	self->dpu = open_dev(DPU);
	self->host = open_dev(HOST);
}

/**
 * struct user - a thread that opens and closes a device
 * @stop: it shall end
 */
struct user {
	struct doca_devinfo *info;
	bool stop;
};

static void *use_and_close(void *arg)
{
	struct user *user = arg;
	struct doca_dev *dev;

	while (!__atomic_load_n(&user->stop, __ATOMIC_RELAXED))
		if (doca_dev_open(user->info, &dev) || doca_dev_close(dev))
			return NULL;
	return arg;
}

/* A child may use devices, whatever other threads were doing when it was made. */
TEST_F(dev, forked)
{
	struct user user = { .info = doca_dev_as_devinfo(self->dpu) };
	pthread_t thread;
	unsigned int i;
	int status;
	void *done;
	pid_t pid;

	ASSERT_EQ(0, pthread_create(&thread, NULL, use_and_close, &user));
	for (i = se_times(1000); i; i--) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			alarm(SE_HANG_S);
			_exit(doca_dev_close(self->dpu) != DOCA_SUCCESS);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
	__atomic_store_n(&user.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, &done);
	ASSERT_EQ(&user, done);
}

TEST_F(dev, addresses)
{
	static const char *const good[] = { "0000:03:00.0", "03:00.0", "0000:01:00.0", "01:00.0",
					    "ffff:03:00.0", "AB:cd.7", "0000:FF:00.0" };
	static const char *const bad[] = { "", "0", "0000:03:00", "0000:03:00.00", "03:00:0",
					   "0000.03:00.0", "000:03:00.0", "03:00.g", "x3:00.0" };
	struct doca_devinfo *info = doca_dev_as_devinfo(self->dpu);
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE + 1];
	uint8_t equal;
	unsigned int i;

	FAILS(INVALID_VALUE, doca_devinfo_is_equal_pci_addr(NULL, DPU, &equal));
	FAILS(INVALID_VALUE, doca_devinfo_is_equal_pci_addr(info, NULL, &equal));
	FAILS(INVALID_VALUE, doca_devinfo_is_equal_pci_addr(info, DPU, NULL));
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		equal = 2;
		OK(doca_devinfo_is_equal_pci_addr(info, good[i], &equal));
		ASSERT_EQ(i < 2, equal);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(INVALID_VALUE, doca_devinfo_is_equal_pci_addr(info, bad[i], &equal));
	se_poison(address, sizeof(address));
	FAILS(INVALID_VALUE, doca_devinfo_get_pci_addr_str(NULL, address));
	FAILS(INVALID_VALUE, doca_devinfo_get_pci_addr_str(info, NULL));
	OK(doca_devinfo_get_pci_addr_str(info, address));
	ASSERT_STREQ(DPU, address);
	ASSERT_TRUE(se_poisoned(address + DOCA_DEVINFO_PCI_ADDR_SIZE, 1));
}

TEST_F(dev, names)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(self->dpu);
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE], other[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	enum doca_pci_func_type type;
	uint32_t index;

	FAILS(INVALID_VALUE, doca_devinfo_get_iface_name(NULL, name, sizeof(name)));
	FAILS(INVALID_VALUE, doca_devinfo_get_iface_name(info, NULL, sizeof(name)));
	FAILS(INVALID_VALUE, doca_devinfo_get_iface_name(info, name, 1));
	FAILS(NOT_SUPPORTED, doca_devinfo_get_iface_name(info, name, sizeof(name)));
	FAILS(INVALID_VALUE, doca_devinfo_get_ibdev_name(NULL, other, sizeof(other)));
	FAILS(INVALID_VALUE, doca_devinfo_get_ibdev_name(info, NULL, sizeof(other)));
	FAILS(INVALID_VALUE, doca_devinfo_get_ibdev_name(info, other, sizeof(other) - 1));
	OK(doca_devinfo_get_ibdev_name(info, other, sizeof(other)));
	OK(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(self->host), name, sizeof(name)));
	ASSERT_NE(0, strcmp(name, other));
	FAILS(INVALID_VALUE, doca_devinfo_get_pci_func_type(NULL, &type));
	FAILS(INVALID_VALUE, doca_devinfo_get_pci_func_type(info, NULL));
	OK(doca_devinfo_get_pci_func_type(info, &type));
	ASSERT_EQ(DOCA_PCI_FUNC_TYPE_PF, type);
	FAILS(INVALID_VALUE, doca_devinfo_get_sf_index(NULL, &index));
	FAILS(NOT_SUPPORTED, doca_devinfo_get_sf_index(info, &index));
}

TEST_F(dev, representors)
{
	struct doca_devinfo_rep **list = NULL;
	struct doca_dev_rep *rep, *again;
	char vuid[DOCA_DEVINFO_REP_VUID_SIZE], address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	uint8_t equal = 0;
	uint32_t n = 7;

	FAILS(INVALID_VALUE, doca_devinfo_rep_create_list(NULL, 0, &list, &n));
	FAILS(INVALID_VALUE, doca_devinfo_rep_create_list(self->dpu, 1, &list, &n));
	FAILS(INVALID_VALUE, doca_devinfo_rep_create_list(self->dpu, 0, NULL, &n));
	FAILS(INVALID_VALUE, doca_devinfo_rep_create_list(self->dpu, 0, &list, NULL));
	FAILS(NOT_SUPPORTED, doca_devinfo_rep_create_list(self->host, DOCA_DEVINFO_REP_FILTER_ALL,
							  &list, &n));
	OK(doca_devinfo_rep_create_list(self->dpu, DOCA_DEVINFO_REP_FILTER_EMULATED, &list, &n));
	ASSERT_EQ(0, n);
	OK(doca_devinfo_rep_destroy_list(list));
	OK(doca_devinfo_rep_create_list(self->dpu, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n));
	ASSERT_EQ(1, n);
	OK(doca_devinfo_rep_destroy_list(list));
	OK(doca_devinfo_rep_create_list(self->dpu, DOCA_DEVINFO_REP_FILTER_NET, &list, &n));
	ASSERT_EQ(1, n);
	FAILS(INVALID_VALUE, doca_devinfo_rep_is_equal_pci_addr(NULL, HOST, &equal));
	FAILS(INVALID_VALUE, doca_devinfo_rep_is_equal_pci_addr(list[0], NULL, &equal));
	FAILS(INVALID_VALUE, doca_devinfo_rep_is_equal_pci_addr(list[0], HOST, NULL));
	FAILS(INVALID_VALUE, doca_devinfo_rep_is_equal_pci_addr(list[0], "?", &equal));
	OK(doca_devinfo_rep_is_equal_pci_addr(list[0], "01:00.0", &equal));
	ASSERT_EQ(1, equal);
	OK(doca_devinfo_rep_is_equal_pci_addr(list[0], DPU, &equal));
	ASSERT_EQ(0, equal);
	FAILS(INVALID_VALUE, doca_devinfo_rep_get_pci_addr_str(NULL, address));
	FAILS(INVALID_VALUE, doca_devinfo_rep_get_pci_addr_str(list[0], NULL));
	OK(doca_devinfo_rep_get_pci_addr_str(list[0], address));
	ASSERT_STREQ(HOST, address);
	FAILS(INVALID_VALUE, doca_devinfo_rep_get_vuid(NULL, vuid, sizeof(vuid)));
	FAILS(INVALID_VALUE, doca_devinfo_rep_get_vuid(list[0], NULL, sizeof(vuid)));
	FAILS(INVALID_VALUE, doca_devinfo_rep_get_vuid(list[0], vuid, sizeof(vuid) - 1));
	OK(doca_devinfo_rep_get_vuid(list[0], vuid, sizeof(vuid)));
	ASSERT_LT(0, strlen(vuid));
	FAILS(INVALID_VALUE, doca_dev_rep_open(NULL, &rep));
	FAILS(INVALID_VALUE, doca_dev_rep_open(list[0], NULL));
	OK(doca_dev_rep_open(list[0], &rep));
	OK(doca_dev_rep_open(list[0], &again));
	ASSERT_EQ(rep, again);
	OK(doca_devinfo_rep_destroy_list(list));
	ASSERT_EQ(NULL, doca_dev_rep_as_devinfo(NULL));
	OK(doca_devinfo_rep_is_equal_pci_addr(doca_dev_rep_as_devinfo(rep), HOST, &equal));
	ASSERT_EQ(1, equal);
	OK(doca_dev_rep_close(again));
	OK(doca_dev_rep_close(rep));
	FAILS(INVALID_VALUE, doca_dev_rep_close(NULL));
	FAILS(INVALID_VALUE, doca_devinfo_rep_destroy_list(NULL));
}

/* ---- memory ---------------------------------------------------------------------------- */

#define RIGHTS	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |	\
		 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)

FIXTURE(memory) {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	_Alignas(8) char bytes[64];
};

FIXTURE_SETUP(memory)
{
	self->dev = open_dev(DPU);
	OK(doca_mmap_create(&self->mmap));
	OK(doca_mmap_add_dev(self->mmap, self->dev));
	OK(doca_mmap_set_memrange(self->mmap, self->bytes, sizeof(self->bytes)));
	OK(doca_mmap_set_permissions(self->mmap, RIGHTS));
	OK(doca_buf_inventory_create(3, &self->inventory));
}

FIXTURE_TEARDOWN(memory)
{
	ENDS(doca_buf_inventory_destroy(self->inventory));
	ENDS(doca_mmap_destroy(self->mmap));
	ENDS(doca_dev_close(self->dev));
}

TEST(mmap_arguments)
{
	struct doca_dev *dev = open_dev(DPU);
	struct doca_mmap *mmap;
	const void *desc;
	char bytes[8];
	size_t size;

	FAILS(INVALID_VALUE, doca_mmap_create(NULL));
	FAILS(INVALID_VALUE, doca_mmap_destroy(NULL));
	FAILS(INVALID_VALUE, doca_mmap_start(NULL));
	FAILS(INVALID_VALUE, doca_mmap_stop(NULL));
	OK(doca_mmap_create(&mmap));
	FAILS(BAD_STATE, doca_mmap_stop(mmap));
	FAILS(BAD_CONFIG, doca_mmap_start(mmap));
	FAILS(INVALID_VALUE, doca_mmap_set_memrange(NULL, bytes, sizeof(bytes)));
	FAILS(INVALID_VALUE, doca_mmap_set_memrange(mmap, NULL, sizeof(bytes)));
	FAILS(INVALID_VALUE, doca_mmap_set_memrange(mmap, bytes, 0));
	FAILS(INVALID_VALUE, doca_mmap_set_memrange(mmap, bytes, SIZE_MAX));
	OK(doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	FAILS(NOT_PERMITTED, doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	FAILS(BAD_CONFIG, doca_mmap_start(mmap));
	FAILS(INVALID_VALUE, doca_mmap_add_dev(NULL, dev));
	FAILS(INVALID_VALUE, doca_mmap_add_dev(mmap, NULL));
	OK(doca_mmap_add_dev(mmap, dev));
	FAILS(IN_USE, doca_dev_close(dev));
	FAILS(INVALID_VALUE, doca_mmap_set_permissions(NULL, 0));
	FAILS(INVALID_VALUE, doca_mmap_set_permissions(mmap, 1U << 7));
	OK(doca_mmap_set_permissions(mmap, RIGHTS));
	FAILS(INVALID_VALUE, doca_mmap_set_dmabuf_memrange(NULL, 0, bytes, 0, 8));
	FAILS(NOT_SUPPORTED, doca_mmap_set_dmabuf_memrange(mmap, 0, bytes, 0, 8));
	OK(doca_mmap_start(mmap));
	FAILS(BAD_STATE, doca_mmap_start(mmap));
	FAILS(BAD_STATE, doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	FAILS(BAD_STATE, doca_mmap_set_permissions(mmap, 0));
	FAILS(BAD_STATE, doca_mmap_add_dev(mmap, dev));
	FAILS(NOT_SUPPORTED, doca_mmap_export_pci(mmap, dev, &desc, &size));
	FAILS(INVALID_VALUE, doca_mmap_export_pci(NULL, dev, &desc, &size));
	FAILS(NOT_SUPPORTED, doca_mmap_export_rdma(mmap, dev, &desc, &size));
	FAILS(INVALID_VALUE, doca_mmap_export_rdma(mmap, NULL, &desc, &size));
	FAILS(NOT_SUPPORTED, doca_mmap_create_from_export(NULL, bytes, 8, dev, &mmap));
	FAILS(INVALID_VALUE, doca_mmap_create_from_export(NULL, NULL, 8, dev, &mmap));
	OK(doca_mmap_stop(mmap));
	FAILS(BAD_STATE, doca_mmap_stop(mmap));
	OK(doca_mmap_start(mmap));
	OK(doca_mmap_destroy(mmap));
	OK(doca_dev_close(dev));
}

TEST_F(memory, inventory)
{
	struct doca_buf *bufs[4];
	char *b = self->bytes;
	unsigned int i;

	FAILS(INVALID_VALUE, doca_buf_inventory_create(0, &self->inventory));
	FAILS(INVALID_VALUE, doca_buf_inventory_create(1, NULL));
	FAILS(NO_MEMORY, doca_buf_inventory_create(SIZE_MAX, &self->inventory));
	FAILS(INVALID_VALUE, doca_buf_inventory_destroy(NULL));
	FAILS(INVALID_VALUE, doca_buf_inventory_start(NULL));
	FAILS(INVALID_VALUE, doca_buf_inventory_stop(NULL));
	FAILS(BAD_STATE, doca_buf_inventory_stop(self->inventory));
	FAILS(BAD_STATE, doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, b, 8,
							     &bufs[0]));
	FAILS(BAD_STATE, doca_buf_inventory_buf_get_by_data(self->inventory, self->mmap, b, 8,
							     &bufs[0]));
	OK(doca_buf_inventory_start(self->inventory));
	FAILS(BAD_STATE, doca_buf_inventory_start(self->inventory));
	FAILS(BAD_STATE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b, 8,
							     b, 8, &bufs[0]));
	OK(doca_mmap_start(self->mmap));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(NULL, self->mmap, b, 8, b, 8,
								 &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, NULL, b, 8, b, 8,
								 &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b, 8,
								 b, 8, NULL));
	/* Beyond the memory, beyond the buffer. */
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b, 65,
								 b, 0, &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b - 1,
								 8, b, 0, &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b + 8,
								 8, b, 8, &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b, 8,
								 b + 1, 8, &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, b + 60,
								 5, &bufs[0]));
	FAILS(INVALID_VALUE, doca_buf_inventory_buf_get_by_data(self->inventory, self->mmap, b + 60,
								 5, &bufs[0]));
	for (i = 0; i < 3; i++)
		OK(doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b + 8 * i, 8,
						      b + 8 * i + 1, 2, &bufs[i]));
	FAILS(NO_MEMORY, doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, b, 8,
							     &bufs[3]));
	FAILS(NO_MEMORY, doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, b, 8, b, 8,
							     &bufs[3]));
	FAILS(NO_MEMORY, doca_buf_inventory_buf_get_by_data(self->inventory, self->mmap, b, 8,
							     &bufs[3]));
	FAILS(IN_USE, doca_buf_inventory_stop(self->inventory));
	FAILS(IN_USE, doca_buf_inventory_destroy(self->inventory));
	FAILS(NOT_PERMITTED, doca_mmap_stop(self->mmap));
	FAILS(NOT_PERMITTED, doca_mmap_destroy(self->mmap));
	OK(doca_buf_dec_refcount(bufs[1], NULL));
	OK(doca_buf_inventory_buf_get_by_data(self->inventory, self->mmap, b, 8, &bufs[3]));
	ASSERT_EQ(bufs[1], bufs[3]);
	for (i = 0; i < 3; i++)
		OK(doca_buf_dec_refcount(bufs[i], NULL));
	OK(doca_buf_inventory_stop(self->inventory));
	OK(doca_buf_inventory_start(self->inventory));
}

TEST_F(memory, buffers)
{
	struct doca_buf *a, *b, *c;
	char *bytes = self->bytes;
	uint16_t refs = 9;
	void *where;
	size_t len;

	OK(doca_mmap_start(self->mmap));
	OK(doca_buf_inventory_start(self->inventory));
	OK(doca_buf_inventory_buf_get_by_args(self->inventory, self->mmap, bytes, 16, bytes + 4, 8,
					      &a));
	FAILS(INVALID_VALUE, doca_buf_get_head(NULL, &where));
	FAILS(INVALID_VALUE, doca_buf_get_head(a, NULL));
	FAILS(INVALID_VALUE, doca_buf_get_data(NULL, &where));
	FAILS(INVALID_VALUE, doca_buf_get_len(NULL, &len));
	FAILS(INVALID_VALUE, doca_buf_get_data_len(NULL, &len));
	OK(doca_buf_get_head(a, &where));
	ASSERT_EQ(bytes, where);
	OK(doca_buf_get_len(a, &len));
	ASSERT_EQ(16, len);
	OK(doca_buf_get_data(a, &where));
	ASSERT_EQ(bytes + 4, where);
	OK(doca_buf_get_data_len(a, &len));
	ASSERT_EQ(8, len);
	FAILS(INVALID_VALUE, doca_buf_set_data(NULL, bytes, 1));
	FAILS(INVALID_VALUE, doca_buf_set_data(a, bytes + 15, 2));
	OK(doca_buf_set_data(a, bytes + 15, 1));
	OK(doca_buf_get_data(a, &where));
	ASSERT_EQ(bytes + 15, where);
	FAILS(INVALID_VALUE, doca_buf_reset_data_len(NULL));
	OK(doca_buf_reset_data_len(a));
	OK(doca_buf_get_data_len(a, &len));
	ASSERT_EQ(0, len);

	FAILS(INVALID_VALUE, doca_buf_inc_refcount(NULL, &refs));
	FAILS(INVALID_VALUE, doca_buf_dec_refcount(NULL, &refs));
	FAILS(INVALID_VALUE, doca_buf_get_refcount(a, NULL));
	OK(doca_buf_inc_refcount(a, &refs));
	ASSERT_EQ(1, refs);
	OK(doca_buf_get_refcount(a, &refs));
	ASSERT_EQ(2, refs);
	for (len = 2; len < UINT16_MAX; len++)
		OK(doca_buf_inc_refcount(a, NULL));
	FAILS(FULL, doca_buf_inc_refcount(a, NULL));
	for (len = 1; len < UINT16_MAX; len++)
		OK(doca_buf_dec_refcount(a, &refs));
	ASSERT_EQ(2, refs);

	/* Lists: all go with the first. */
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &b));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &c));
	FAILS(INVALID_VALUE, doca_buf_chain_list(a, NULL));
	FAILS(INVALID_VALUE, doca_buf_chain_list(NULL, a));
	FAILS(INVALID_VALUE, doca_buf_chain_list(a, a));
	OK(doca_buf_chain_list(a, b));
	FAILS(INVALID_VALUE, doca_buf_chain_list(c, b));
	FAILS(INVALID_VALUE, doca_buf_chain_list(b, c));
	OK(doca_buf_chain_list(a, c));
	FAILS(NOT_PERMITTED, doca_buf_dec_refcount(c, NULL));
	OK(doca_buf_dec_refcount(a, NULL));
	OK(doca_buf_inventory_stop(self->inventory));
}

TEST_F(memory, events_in_buffers)
{
	struct doca_sync_event *event = make_event(self->dev), *other = make_event(self->dev);
	struct doca_buf *buf, *odd, *small;
	const uint8_t *blob;
	uint64_t value;
	uint16_t refs;
	size_t size;

	OK(doca_mmap_start(self->mmap));
	OK(doca_buf_inventory_start(self->inventory));
	memset(self->bytes, 0, sizeof(self->bytes));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, self->bytes, 8, &buf));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, self->bytes + 4, 8,
					      &odd));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, self->bytes, 4, &small));
	FAILS(INVALID_VALUE, doca_sync_event_set_doca_buf(NULL, buf));
	FAILS(INVALID_VALUE, doca_sync_event_set_doca_buf(event, NULL));
	FAILS(NOT_PERMITTED, doca_sync_event_set_doca_buf(event, small));
	FAILS(INVALID_VALUE, doca_sync_event_set_doca_buf(event, odd));
	OK(doca_buf_dec_refcount(odd, NULL));
	OK(doca_buf_dec_refcount(small, NULL));
	OK(doca_sync_event_set_doca_buf(event, buf));
	OK(doca_sync_event_set_doca_buf(other, buf));
	OK(doca_buf_get_refcount(buf, &refs));
	ASSERT_EQ(3, refs);
	/* The last word counts; the event holds the buffer. */
	OK(doca_sync_event_set_doca_buf(event, buf));
	OK(doca_buf_get_refcount(buf, &refs));
	ASSERT_EQ(3, refs);
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_start(other));
	FAILS(BAD_STATE, doca_sync_event_set_doca_buf(event, buf));
	OK(doca_sync_event_update_set(event, 6));
	OK(doca_sync_event_wait_eq(other, 6, SE_ALL));
	OK(doca_sync_event_get(other, &value));
	ASSERT_EQ(6, value);
	memcpy(&value, self->bytes, 8);
	ASSERT_EQ(6, value);
	FAILS(NOT_SUPPORTED, doca_sync_event_export_to_remote_pci(event, self->dev, &blob, &size));
	OK(doca_buf_dec_refcount(buf, NULL));
	FAILS(NOT_PERMITTED, doca_mmap_stop(self->mmap));
	OK(doca_sync_event_destroy(event));
	OK(doca_sync_event_destroy(other));
	OK(doca_mmap_stop(self->mmap));

	/* Each right is needed. */
	for (size = 0; size < 4; size++) {
		event = make_event(self->dev);
		OK(doca_mmap_set_permissions(self->mmap, RIGHTS & ~(1U << size)));
		OK(doca_mmap_start(self->mmap));
		OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, self->bytes, 8,
						      &buf));
		FAILS(NOT_PERMITTED, doca_sync_event_set_doca_buf(event, buf));
		OK(doca_sync_event_destroy(event));
		OK(doca_buf_dec_refcount(buf, NULL));
		OK(doca_mmap_stop(self->mmap));
	}
}

/* The first of a list goes, and with it its hold on a buffer that an event has, too. */
TEST_F(memory, event_in_a_list)
{
	struct doca_sync_event *event = make_event(self->dev);
	struct doca_buf *first, *second, *third, *other;
	char *bytes = self->bytes;
	uint16_t refs;

	OK(doca_mmap_start(self->mmap));
	OK(doca_buf_inventory_start(self->inventory));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &first));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes + 8, 8, &second));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes + 16, 8, &third));
	OK(doca_sync_event_set_doca_buf(event, second));
	OK(doca_buf_chain_list(first, second));
	OK(doca_buf_chain_list(first, third));
	OK(doca_buf_dec_refcount(first, NULL));
	OK(doca_buf_get_refcount(second, &refs));
	ASSERT_EQ(1, refs);
	FAILS(NOT_PERMITTED, doca_mmap_stop(self->mmap));
	FAILS(IN_USE, doca_buf_inventory_stop(self->inventory));
	/* The other two can be had again; it can be the first of a list. */
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &first));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &third));
	FAILS(NO_MEMORY, doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8,
							     &other));
	OK(doca_buf_chain_list(second, third));
	OK(doca_sync_event_destroy(event));
	OK(doca_buf_get_refcount(first, &refs));
	ASSERT_EQ(1, refs);
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, self->mmap, bytes, 8, &other));
	OK(doca_buf_dec_refcount(other, NULL));
	OK(doca_buf_dec_refcount(first, NULL));
	OK(doca_mmap_stop(self->mmap));
	OK(doca_buf_inventory_stop(self->inventory));
}

/* The map's rights say nothing of the page's. */
TEST_F(memory, event_in_read_only_memory)
{
	struct doca_sync_event *event = make_event(self->dev);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct doca_mmap *map;
	struct doca_buf *buf;

	ASSERT_NE(MAP_FAILED, page);
	OK(doca_mmap_create(&map));
	OK(doca_mmap_add_dev(map, self->dev));
	OK(doca_mmap_set_memrange(map, page, 4096));
	OK(doca_mmap_set_permissions(map, RIGHTS));
	OK(doca_mmap_start(map));
	OK(doca_buf_inventory_start(self->inventory));
	OK(doca_buf_inventory_buf_get_by_addr(self->inventory, map, page, 8, &buf));
	FAILS(NOT_SUPPORTED, doca_sync_event_set_doca_buf(event, buf));
	OK(doca_buf_dec_refcount(buf, NULL));
	OK(doca_sync_event_destroy(event));
	OK(doca_mmap_destroy(map));
	munmap(page, 4096);
}

/* ---- accelerators: the virtual pair has none ------------------------------------------------ */

static void program(void)
{
}

TEST_F(dev, no_accelerator)
{
	struct doca_dpa *dpa = NULL;
	char some;

	FAILS(INVALID_VALUE, doca_dpa_create(NULL, &dpa));
	FAILS(INVALID_VALUE, doca_dpa_create(self->dpu, NULL));
	FAILS(NOT_SUPPORTED, doca_dpa_create(self->dpu, &dpa));
	ASSERT_EQ(NULL, dpa);
	FAILS(INVALID_VALUE, doca_dpa_destroy(NULL));
	FAILS(INVALID_VALUE, doca_dpa_start(NULL));
	FAILS(INVALID_VALUE, doca_dpa_stop(NULL));
	FAILS(INVALID_VALUE, doca_dpa_kernel_launch_update_set(NULL, NULL, 0, NULL, 0, 1, program));
	FAILS(INVALID_VALUE, doca_dpa_kernel_launch_update_add((void *)&some, NULL, 0, NULL, 0, 1,
								NULL));
	FAILS(NOT_SUPPORTED, doca_dpa_kernel_launch_update_set((void *)&some, NULL, 0, NULL, 0, 1,
								program));
	FAILS(NOT_SUPPORTED, doca_dpa_kernel_launch_update_add((void *)&some, NULL, 0, NULL, 0, 1,
								program));
	program();
}

TEST_HARNESS_MAIN
