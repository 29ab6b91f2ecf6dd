// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* error.c - names of errors, and what libsyncevent's are here */
#include "internal.h"

#include <errno.h>

static const struct {
	const char *name;
	const char *descr;
} errors[] = {
#define ERROR(name, descr) [name] = { #name, descr }
	ERROR(DOCA_SUCCESS, "success"),
	ERROR(DOCA_ERROR_UNKNOWN, "unknown error"),
	ERROR(DOCA_ERROR_NOT_PERMITTED, "operation not permitted"),
	ERROR(DOCA_ERROR_IN_USE, "resource already in use"),
	ERROR(DOCA_ERROR_NOT_SUPPORTED, "operation not supported"),
	ERROR(DOCA_ERROR_AGAIN, "resource temporarily unavailable, try again"),
	ERROR(DOCA_ERROR_INVALID_VALUE, "invalid argument"),
	ERROR(DOCA_ERROR_NO_MEMORY, "no memory, or none left of a pool"),
	ERROR(DOCA_ERROR_INITIALIZATION, "initialization failed"),
	ERROR(DOCA_ERROR_TIME_OUT, "time-out"),
	ERROR(DOCA_ERROR_SHUTDOWN, "shut down: it was stopped, or the event has ended"),
	ERROR(DOCA_ERROR_CONNECTION_RESET, "the peer has gone"),
	ERROR(DOCA_ERROR_CONNECTION_ABORTED, "connection aborted"),
	ERROR(DOCA_ERROR_CONNECTION_INPROGRESS, "connection in progress"),
	ERROR(DOCA_ERROR_NOT_CONNECTED, "not connected"),
	ERROR(DOCA_ERROR_NO_LOCK, "the lock could not be had"),
	ERROR(DOCA_ERROR_NOT_FOUND, "not found"),
	ERROR(DOCA_ERROR_IO_FAILED, "input or output failed"),
	ERROR(DOCA_ERROR_BAD_STATE, "not in this state"),
	ERROR(DOCA_ERROR_UNSUPPORTED_VERSION, "version not supported"),
	ERROR(DOCA_ERROR_OPERATING_SYSTEM, "a call of the operating system failed"),
	ERROR(DOCA_ERROR_DRIVER, "the driver failed"),
	ERROR(DOCA_ERROR_UNEXPECTED, "something unexpected happened"),
	ERROR(DOCA_ERROR_ALREADY_EXIST, "it exists already"),
	ERROR(DOCA_ERROR_FULL, "full"),
	ERROR(DOCA_ERROR_EMPTY, "empty"),
	ERROR(DOCA_ERROR_IN_PROGRESS, "in progress"),
	ERROR(DOCA_ERROR_TOO_BIG, "too big"),
	ERROR(DOCA_ERROR_AUTHENTICATION, "authentication failed"),
	ERROR(DOCA_ERROR_BAD_CONFIG, "the configuration is incomplete, or does not fit"),
	ERROR(DOCA_ERROR_SKIPPED, "skipped"),
#undef ERROR
};

const char *doca_error_get_name(doca_error_t error)
{
	return (unsigned int)error < SED_ARRAY_SIZE(errors) ? errors[error].name :
							      "DOCA_ERROR_UNKNOWN";
}

const char *doca_error_get_descr(doca_error_t error)
{
	return (unsigned int)error < SED_ARRAY_SIZE(errors) ? errors[error].descr :
							      "unknown error";
}

doca_error_t sed_error(int err)
{
	switch (-err) {
	case 0:
		return DOCA_SUCCESS;
	case EIDRM:
		return DOCA_ERROR_SHUTDOWN;
	case EPIPE:
		return DOCA_ERROR_CONNECTION_RESET;
	case EACCES:
	case EPERM:
	case EBADF:
		return DOCA_ERROR_NOT_PERMITTED;
	case ENOMEM:
	case ENOSPC:
	case EMFILE:
		return DOCA_ERROR_NO_MEMORY;
	case EINVAL:
		return DOCA_ERROR_INVALID_VALUE;
	case EOPNOTSUPP:
		return DOCA_ERROR_NOT_SUPPORTED;
	case ENODEV:
	case ENOENT:
		return DOCA_ERROR_NOT_FOUND;
	default:
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
}
