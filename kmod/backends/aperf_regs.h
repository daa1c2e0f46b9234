/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * aperf_regs.h - Intel's manual, volume 3, "Hardware coordination feedback"; AMD's have
 * the same addresses. CPUID 6 ECX bit 0 says that they exist.
 */
#ifndef HWPMC_APERF_REGS_H
#define HWPMC_APERF_REGS_H

#define APERF_MSR_MPERF		0xe7
#define APERF_MSR_APERF		0xe8

#endif /* HWPMC_APERF_REGS_H */
