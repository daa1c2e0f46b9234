/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.c - unwind tables to the module. Any thread; no state but the handle's.
 */
#include <inttypes.h>
#include <string.h>

#include "internal.h"

static struct what what_file(const struct hwpmc_unwind *u)
{
	if (u->vdso)
		return what("add the unwind table of the vdso");
	return what("add the unwind table of inode %" PRIu64 " of device %u:%u",
		    u->inode, u->major, u->minor);
}

EXPORT int hwpmc_unwind_add(struct hwpmc *h, const struct hwpmc_unwind *u)
{
	struct hwpmc_op_unwind op;

	if (null_given(h, !h || !u, "hwpmc_unwind_add"))
		return -1;
	op = (struct hwpmc_op_unwind){
		.inode = u->inode, .major = u->major, .minor = u->minor,
		.flags = (u->vdso ? HWPMC_UNWIND_F_VDSO : 0) |
			 (u->none ? HWPMC_UNWIND_F_NONE : 0),
		.nrow = u->nrow, .rows = (uintptr_t)u->row,
		.build_id_len = u->build_id_len,
	};
	memcpy(op.build_id, u->build_id, sizeof(op.build_id));
	if (!handle_call(h, HWPMC_IOC_UNWIND, &op.hdr))
		return 0;
	return error_from_call(h, &op.hdr, what_file(u).text);
}

EXPORT int hwpmc_chain_stats(struct hwpmc *h, uint64_t *chains, unsigned int n)
{
	struct hwpmc_op_getchainstats op = {};
	unsigned int i;

	if (null_given(h, !h || (n && !chains), "hwpmc_chain_stats"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETCHAINSTATS, &op.hdr))
		return error_from_call(h, &op.hdr, "read the statistics of chains");
	for (i = 0; i < n; i++)
		chains[i] = i < ARRAY_LEN(op.chains) ? op.chains[i] : 0;
	return 0;
}
