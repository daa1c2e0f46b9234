/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.h - which programs a command will execute, as far as its words say that. */
#ifndef TOOLS_PROGRAMS_H
#define TOOLS_PROGRAMS_H

#include <stdbool.h>

#define PROGRAMS_MOST	16

/*
 * Paths of the command's program and, where that executes another one (env, nice, taskset,
 * sh -c, the dynamic loader), of those behind it, each once; of a script, its interpreter
 * too. Returns how many; each is to be freed.
 */
unsigned int programs_of(char *const *command, char *path[PROGRAMS_MOST]);
/* It is loaded by the dynamic loader: only then that can list its libraries. Others can
 * crash it. */
bool programs_is_dynamic(const char *path);

#endif
