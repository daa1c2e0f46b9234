/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * refusal.h - refuses a request with an errno and a reason. The header of an operation is
 * what all code fills in that may refuse: a refusal needs no other type. It is left alone
 * where nothing is refused. Pure.
 */
#ifndef HWPMC_REFUSAL_H
#define HWPMC_REFUSAL_H

#include "../compat/types.h"
#include "hwpmc.h"		/* uapi */

static inline int hwpmc_refuse(struct hwpmc_hdr *hdr, int err, u32 reason, s32 detail)
{
	*hdr = (struct hwpmc_hdr){ .reason = reason, .detail = detail };
	return err;
}

#endif /* HWPMC_REFUSAL_H */
