/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gone.h - processes and threads that a user has named and that have ended: the others are
 * measured all the same.
 */
#ifndef TOOLS_GONE_H
#define TOOLS_GONE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Remove those that have ended, zombies too, from the list, with a message for each: "cannot VERB process 7".
 * The list stays as it is, without a message, if all have ended: the use of the first one then reports this.
 */
void gone_remove(pid_t *pid, unsigned int *n, const char *verb, const char *what);

/* Is this one of several, and has it ended, and another one not? Then it is removed, as above. */
bool gone_remove_one(pid_t *pid, unsigned int *n, unsigned int which, const char *verb,
		     const char *what);

#endif
