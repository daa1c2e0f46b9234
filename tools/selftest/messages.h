/* SPDX-License-Identifier: BSD-2-Clause */
/* messages.h - lines of the kernel's log since a moment. */
#ifndef TOOLS_SELFTEST_MESSAGES_H
#define TOOLS_SELFTEST_MESSAGES_H

#include <stdbool.h>

#define MESSAGE_UNKNOWN_NMI	"NMI received for unknown reason"

/* From now on. A descriptor, or -1 with errno. */
int messages_open(void);

/* How many lines since then, or since the last call, have each text; sets count[n]. True:
 * some lines were overwritten before they were read. */
bool messages_count(int fd, const char *const text[], unsigned int *count, unsigned int n);

#endif
