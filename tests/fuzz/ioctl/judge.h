/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.h - is what an operation answered one of the answers that its manual
 * (the comments of include/uapi/hwpmc.h) gives? */
#ifndef JUDGE_H
#define JUDGE_H

#include "op.h"

/* Rows that the driver says it has. */
extern unsigned int judge_rows;

/* NULL, or what is wrong. `crowd`: other threads change the slots meanwhile. */
const char *judge(const struct op *op, const struct outcome *out, bool crowd);

#endif
