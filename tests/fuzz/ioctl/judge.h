/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.h - is what an operation answered one of the answers that its manual
 * (the comments of include/uapi/hwpmc.h) gives? */
#ifndef JUDGE_H
#define JUDGE_H

#include "op.h"

/* NULL, or what is wrong. `crowd`: other threads change the slots meanwhile. */
const char *judge(const struct op *op, const struct outcome *out, bool crowd);

#endif
