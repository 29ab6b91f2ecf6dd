// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/* provider.c - which provider, what it guarantees, and what errors mean */
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int se_choose(uint32_t provider)
{
	const char *env;

	if (provider == SYNCEVENT_PROVIDER_KERNEL || provider == SYNCEVENT_PROVIDER_SHM)
		return (int)provider;
	if (provider != SYNCEVENT_PROVIDER_DEFAULT)
		return -EINVAL;
	env = secure_getenv("SYNCEVENT_PROVIDER");
	if (env && *env) {
		if (!strcmp(env, "kernel"))
			return SYNCEVENT_PROVIDER_KERNEL;
		return strcmp(env, "shm") ? -EINVAL : SYNCEVENT_PROVIDER_SHM;
	}
	/* Anything but its absence, EACCES too, is for the kernel provider to report. */
	if (access(SE_DEVICE, F_OK) && errno == ENOENT)
		return SYNCEVENT_PROVIDER_SHM;
	return SYNCEVENT_PROVIDER_KERNEL;
}

int syncevent_query(enum syncevent_provider provider, struct syncevent_caps *caps)
{
	struct syncevent_caps c = { 0 };
	int chosen = se_choose(provider), err;

	if (chosen < 0)
		return chosen;
	err = se_copy_struct(&c, caps, sizeof(c));
	if (err)
		return err;
	c = (struct syncevent_caps){ .size = caps->size, .provider = (uint32_t)chosen };
	if (chosen == SYNCEVENT_PROVIDER_KERNEL) {
		err = se_kernel_query(&c);
		if (err)
			return err;
	} else {
		se_shm_query(&c);
	}
	*caps = c;
	return 0;
}

const char *syncevent_strerror(int err)
{
	const char *text;

	/* INT_MIN has no positive, and no meaning. */
	if (err < 0 && err >= -INT_MAX)
		err = -err;
	switch (err) {
	case 0:
		return "success";
	case EIDRM:
		return "the event was revoked";
	case EPIPE:
		return "the peer that the wait depends on died";
	case ETIMEDOUT:
		return "the deadline passed before the condition held";
	case EINTR:
		return "a signal interrupted the wait";
	case EBADF:
		return "the event is open for reading only, or the file descriptor is not open";
	case EINVAL:
		return "an argument is out of its range, or the file is not an event";
	case E2BIG:
		return "a structure asks for what this version does not know";
	case ENOENT:
		return "no such event, or the module syncevent is not loaded";
	case ENODEV:
		return "the module syncevent is not loaded, synceventfs is not mounted, or there "
		       "is no such region";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EEXIST:
		return "it exists already";
	case EXDEV:
		return "events of different providers do not go together here";
	case EALREADY:
		return "the entry is completed and waits to be reaped";
	case EAGAIN:
		return "the condition does not hold now";
	case EMFILE:
		return "too many open files of this process or events of this user";
	case EDQUOT:
		return "too many events of this user";
	case ENOSPC:
		return "no room: too many entries of this user, too small a buffer, or a full "
		       "region";
	case EPROTO:
		return "what the region says of the event makes no sense";
	case ENOTSUP:
		return "not supported by this kind of event";
	default:
		text = strerrordesc_np(err);
		return text ? text : "unknown error";
	}
}
