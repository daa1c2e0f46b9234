/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * access.h - which process a caller names, and whether the caller may measure it.
 * Process context, but for hwpmc_exec_gained().
 */
#ifndef HWPMC_ACCESS_H
#define HWPMC_ACCESS_H

#include <linux/types.h>

struct cred;
struct hwpmc_hdr;
struct hwpmc_owner;
struct linux_binprm;
struct task_struct;

/*
 * The leader of process nr in the caller's PID namespace (0: the caller), with a
 * reference; NULL and *ret if there is none.
 */
struct task_struct *hwpmc_process_find(pid_t nr, struct hwpmc_hdr *hdr, int *ret);
/* The thread nr; 0: the calling one. */
struct task_struct *hwpmc_task_find(pid_t nr, struct hwpmc_hdr *hdr, int *ret);

/*
 * May the owner attach a PMC to the process of this leader, or to this thread? 0, or -EPERM
 * with the reason in *hdr. The rule is in access.c.
 */
int hwpmc_may_attach(const struct hwpmc_owner *owner, struct task_struct *leader,
		     struct hwpmc_hdr *hdr);

/*
 * Has the program that current executes more privileges than who attached to it, whose
 * credentials these were (set-id, file capabilities), or may its file not be read? NULL:
 * unknown. A set-id program can also leave the credentials as they were: if the process
 * is traced, has no_new_privs, or its user's ids are those of the file. Called in the exec
 * probe.
 */
bool hwpmc_exec_gained(const struct linux_binprm *bprm, const struct cred *owner);

/* Which of two callers has no right that the other has not; NULL: neither. */
const struct cred *hwpmc_cred_fewer_rights(const struct cred *one, const struct cred *other);

#endif /* HWPMC_ACCESS_H */
