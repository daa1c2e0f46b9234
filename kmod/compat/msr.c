// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* msr.c - see msr.h. */
#include "msr.h"

union hwpmc_unreliable hwpmc_unreliable;
