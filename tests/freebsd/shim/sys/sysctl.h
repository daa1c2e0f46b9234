/* SPDX-License-Identifier: BSD-2-Clause */
/* sys/sysctl.h - the few values that FreeBSD's tools of counters ask for. */
#ifndef HWPMC_FREEBSD_SYS_SYSCTL_H
#define HWPMC_FREEBSD_SYS_SYSCTL_H

#include <stddef.h>

#define CTL_KERN	1
#define KERN_CLOCKRATE	12

struct clockinfo {
	int hz, tick, spare, stathz, profhz;
};

#ifdef __cplusplus
extern "C" {
#endif
int sysctlbyname(const char *name, void *old, size_t *oldlen, const void *value,
		 size_t len);
int sysctl(const int *name, unsigned int n, void *old, size_t *oldlen, const void *value,
	   size_t len);
#ifdef __cplusplus
}
#endif

#endif /* HWPMC_FREEBSD_SYS_SYSCTL_H */
