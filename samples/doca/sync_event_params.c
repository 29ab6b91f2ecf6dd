// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* sync_event_params.c - the command line of the samples, and their main() */
#include <stdio.h>
#include <stdlib.h>

#include <doca_argp.h>
#include <doca_log.h>

#include "sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT::PARAMS);

static doca_error_t copy_address(char *to, const char *from)
{
	if (strnlen(from, DOCA_DEVINFO_PCI_ADDR_SIZE) == DOCA_DEVINFO_PCI_ADDR_SIZE) {
		DOCA_LOG_ERR("A PCI address is at most %d characters long",
			     DOCA_DEVINFO_PCI_ADDR_SIZE - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memset(to, 0, DOCA_DEVINFO_PCI_ADDR_SIZE);
	strcpy(to, from);
	return DOCA_SUCCESS;
}

static doca_error_t pci_addr_callback(void *param, void *config)
{
	return copy_address(((struct sync_event_config *)config)->dev_pci_addr, param);
}

static doca_error_t rep_pci_callback(void *param, void *config)
{
	return copy_address(((struct sync_event_config *)config)->rep_pci_addr, param);
}

static doca_error_t async_callback(void *param, void *config)
{
	((struct sync_event_config *)config)->is_async = *(bool *)param;
	return DOCA_SUCCESS;
}

static doca_error_t async_num_tasks_callback(void *param, void *config)
{
	const int num = *(int *)param;

	if (num < 1) {
		DOCA_LOG_ERR("The number of tasks is at least 1");
		return DOCA_ERROR_INVALID_VALUE;
	}
	((struct sync_event_config *)config)->async_num_tasks = (uint32_t)num;
	return DOCA_SUCCESS;
}

static doca_error_t atomic_callback(void *param, void *config)
{
	((struct sync_event_config *)config)->is_atomic = *(bool *)param;
	return DOCA_SUCCESS;
}

static const struct {
	const char *short_name;
	const char *long_name;
	const char *arguments;
	const char *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
	bool mandatory;
	bool hidden;	/* another name of the one before */
} params[] = {
	{ "d", "pci-addr", "<address>", "PCI address of the device",
	  DOCA_ARGP_TYPE_STRING, pci_addr_callback, true, false },
	{ "r", "rep-pci", "<address>", "PCI address of the device on the other side; for the server",
	  DOCA_ARGP_TYPE_STRING, rep_pci_callback, false, false },
	{ NULL, "rep-pci-addr", "<address>", "as --rep-pci",
	  DOCA_ARGP_TYPE_STRING, rep_pci_callback, false, true },
	{ NULL, "async", NULL, "Use tasks and a progress engine",
	  DOCA_ARGP_TYPE_BOOLEAN, async_callback, false, false },
	{ NULL, "async-num-tasks", "<number>", "How many tasks (default: 1), the same for both programs",
	  DOCA_ARGP_TYPE_INT, async_num_tasks_callback, false, false },
	{ NULL, "async_num_tasks", "<number>", "as --async-num-tasks",
	  DOCA_ARGP_TYPE_INT, async_num_tasks_callback, false, true },
	{ NULL, "atomic", NULL, "Update by add instead of set",
	  DOCA_ARGP_TYPE_BOOLEAN, atomic_callback, false, false },
};

static doca_error_t register_params(void)
{
	struct doca_argp_param *param;
	doca_error_t result;
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		result = doca_argp_param_create(&param);
		if (result != DOCA_SUCCESS) {
			DOCA_LOG_ERR("Failed to create a flag: %s", doca_error_get_descr(result));
			return result;
		}
		if (params[i].short_name)
			doca_argp_param_set_short_name(param, params[i].short_name);
		doca_argp_param_set_long_name(param, params[i].long_name);
		if (params[i].arguments)
			doca_argp_param_set_arguments(param, params[i].arguments);
		doca_argp_param_set_description(param, params[i].description);
		doca_argp_param_set_callback(param, params[i].callback);
		doca_argp_param_set_type(param, params[i].type);
		if (params[i].mandatory)
			doca_argp_param_set_mandatory(param);
		if (params[i].hidden)
			doca_argp_param_set_hidden(param);
		result = doca_argp_register_param(param);
		if (result != DOCA_SUCCESS) {
			DOCA_LOG_ERR("Failed to register --%s: %s", params[i].long_name,
				     doca_error_get_descr(result));
			return result;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t run(int argc, char **argv, const char *name,
			doca_error_t (*sample)(const struct sync_event_config *config))
{
	struct sync_event_config config = { .async_num_tasks = 1 };
	doca_error_t result;

	result = doca_argp_init(name, &config);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to read flags: %s", doca_error_get_descr(result));
		return result;
	}
	result = register_params();
	if (result == DOCA_SUCCESS)
		result = doca_argp_start(argc, argv);
#ifdef DOCA_ARCH_DPU
	if (result == DOCA_SUCCESS && !config.rep_pci_addr[0]) {
		DOCA_LOG_ERR("The server needs --rep-pci");
		result = DOCA_ERROR_INVALID_VALUE;
	}
#endif
	if (result == DOCA_SUCCESS)
		result = sample(&config);
	doca_argp_destroy();
	return result;
}

int sync_event_main(int argc, char **argv, const char *name,
		    doca_error_t (*sample)(const struct sync_event_config *config))
{
	struct doca_log_backend *sdk_log;
	doca_error_t result;

	result = doca_log_backend_create_standard();
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_create_with_file_sdk(stderr, &sdk_log);
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_set_sdk_level(sdk_log, DOCA_LOG_LEVEL_WARNING);
	if (result == DOCA_SUCCESS)
		result = run(argc, argv, name, sample);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("The sample failed: %s", doca_error_get_descr(result));
		return EXIT_FAILURE;
	}
	DOCA_LOG_INFO("The sample succeeded");
	return EXIT_SUCCESS;
}
