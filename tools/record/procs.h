/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * procs.h - find processes by the name of their command.
 */
#ifndef TOOLS_PROCS_H
#define TOOLS_PROCS_H

#include <regex.h>
#include <sys/types.h>

/*
 * All processes but this one whose command name (as in /proc/PID/comm) matches:
 * *pid is an array to free(). Their number, or -1 with errno.
 */
int procs_match(const regex_t *re, pid_t **pid);

#endif
