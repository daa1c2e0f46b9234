/* SPDX-License-Identifier: BSD-2-Clause */
/* sys/user.h - a process. */
#ifndef HWPMC_FREEBSD_SYS_USER_H
#define HWPMC_FREEBSD_SYS_USER_H

#include <sys/resource.h>
#include <sys/types.h>

#define COMMLEN		19

struct kinfo_proc {
	pid_t		ki_pid;
	char		ki_comm[COMMLEN + 1];
};

#endif /* HWPMC_FREEBSD_SYS_USER_H */
