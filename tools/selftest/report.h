/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - the report of a selftest as JSON: hwpmc-selftest(8) describes it. */
#ifndef TOOLS_SELFTEST_REPORT_H
#define TOOLS_SELFTEST_REPORT_H

#include "selftest.h"

/* "-": standard output. 0, or -1, and a message says why. */
int report_write(struct selftest *t, const char *path);

/* The member "machine". */
void machine_write(FILE *f, struct selftest *t);
bool machine_has_hypervisor(void);

#endif
