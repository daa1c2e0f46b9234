/* SPDX-License-Identifier: BSD-2-Clause */
/* sys/imgact_aout.h - no program here is of that format. */
struct exec { long a_magic; };
#define N_BADMAG(x)	1
