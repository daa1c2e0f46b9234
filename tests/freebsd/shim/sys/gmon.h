/* SPDX-License-Identifier: BSD-2-Clause */
/* sys/gmon.h - FreeBSD's gmon.out. */
#ifndef HWPMC_FREEBSD_SYS_GMON_H
#define HWPMC_FREEBSD_SYS_GMON_H

#include <stdint.h>

#define GMONVERSION	0x00051879
#define HISTCOUNTER	unsigned short
#define FUNCTION_ALIGNMENT 4

struct gmonhdr {
	uintptr_t	lpc, hpc;
	int		ncnt, version, profrate, histcounter_type, spare[2];
};

struct rawarc {
	unsigned long	raw_frompc, raw_selfpc;
	long		raw_count;
};

#endif /* HWPMC_FREEBSD_SYS_GMON_H */
