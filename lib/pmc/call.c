/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.c - operations of a handle: a process that has inherited it can only read. Any thread.
 */
#include <errno.h>
#include <unistd.h>

#include "internal.h"

bool handle_has_names_only(const struct hwpmc *h)
{
	return h->fd == -1;
}

bool handle_is_inherited(const struct hwpmc *h)
{
	return getpid() != h->pid;
}

/* Nothing of the parent's changes by it. */
static bool only_reads(unsigned long request, const struct hwpmc_hdr *hdr)
{
	switch (_IOC_NR(request)) {
	case HWPMC_OP_PMCRW:
		return ((const struct hwpmc_op_pmcrw *)hdr)->flags == HWPMC_F_OLDVALUE;
	case HWPMC_OP_BATCH:
		return ((const struct hwpmc_op_batch *)hdr)->command == HWPMC_BATCH_READ;
	case HWPMC_OP_GETCPUINFO:
	case HWPMC_OP_GETDRIVERSTATS:
	case HWPMC_OP_GETMODULEVERSION:
	case HWPMC_OP_GETPMCINFO:
	case HWPMC_OP_GETDYNEVENTINFO:
	case HWPMC_OP_GETCAPS:
	case HWPMC_OP_GETCHAINSTATS:
	case HWPMC_OP_GETKINDS:
	case HWPMC_OP_GETUNCOUNTED:
		return true;
	}
	return false;
}

int handle_call(const struct hwpmc *h, unsigned long request, struct hwpmc_hdr *hdr)
{
	if (!h) {
		*hdr = (struct hwpmc_hdr){ .reason = HWPMC_WHY_NONE };
		errno = EINVAL;
		return -1;
	}
	if (handle_has_names_only(h)) {
		*hdr = (struct hwpmc_hdr){ .reason = HWPMC_WHY_NONE };
		errno = ENXIO;
		return -1;
	}
	if (h->for_heirs || only_reads(request, hdr) || !handle_is_inherited(h))
		return sys_call(h->fd, request, hdr);
	*hdr = (struct hwpmc_hdr){ .reason = HWPMC_WHY_NOT_OWNER, .detail = h->pid };
	errno = ESRCH;
	return -1;
}

uint64_t handle_serial(void)
{
	static atomic_uint_fast64_t last;

	return atomic_fetch_add(&last, 1);
}
