/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * readable.h - the memory and the program of a process that is remembered by its pid. Since
 * then it may have executed a program that its observer may not see, so the right is checked
 * again at each use, while no exec can change the answer. Process context; `current` is the
 * caller, whose right it is.
 */
#ifndef HWPMC_READABLE_H
#define HWPMC_READABLE_H

#include <linux/types.h>

struct hwpmc_owner;
struct hwpmc_pmc;
struct mm_struct;
struct pid;
struct task_struct;

/* The memory of the process, or NULL: it has none any more. A reference to the struct alone
 * (mmdrop()). The caller holds the task. */
struct mm_struct *hwpmc_memory_grab(struct task_struct *leader);
/* Is it that still? */
bool hwpmc_memory_is(struct task_struct *leader, const struct mm_struct *mm);
/* Between hwpmc_exec_trylock() and hwpmc_exec_unlock(): may the caller see what the process
 * has mapped? privileged: pmc->privileged. */
bool hwpmc_may_see(const struct hwpmc_owner *owner, bool privileged,
		   struct task_struct *leader);
/* PMCATTACH in the log of the PMC's owner, if that has one, with the path of the process's
 * program: "" if it has none, may not be seen, or is being replaced by an exec. hwpmc_lock. */
void hwpmc_record_attach(struct hwpmc_pmc *pmc, struct pid *tgid);

#endif /* HWPMC_READABLE_H */
