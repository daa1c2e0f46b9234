/* SPDX-License-Identifier: BSD-2-Clause */
/* libhot.c - the three functions of hot.h in a library, linked or opened late. */
#include "hot.h"

HOT_THREE(lib)
