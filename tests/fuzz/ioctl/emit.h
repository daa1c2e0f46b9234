/* SPDX-License-Identifier: BSD-2-Clause */
/* emit.h - sequences as text, and as a program in C that needs nothing but hwpmc.h:
 *	cc -I include/uapi seed.c -lpthread && ./a.out -v */
#ifndef EMIT_H
#define EMIT_H

#include <stdio.h>

#include "gen.h"

void emit_op(FILE *f, const struct op *op);
/* One thread of the plan (thread -1: all of them, as they ran). */
void emit_c(FILE *f, const struct plan *plan, int thread);

#endif
