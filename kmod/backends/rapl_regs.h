/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rapl_regs.h - registers of energy: Intel's manual, volume 3, "Platform specific power
 * management support"; AMD's processor references of family 17h.
 */
#ifndef HWPMC_RAPL_REGS_H
#define HWPMC_RAPL_REGS_H

#define RAPL_INTEL_UNIT		0x606	/* bits 12:8: energy */
#define RAPL_INTEL_PKG		0x611
#define RAPL_INTEL_DRAM		0x619
#define RAPL_INTEL_CORES	0x639
#define RAPL_INTEL_GPU		0x641
#define RAPL_INTEL_PLATFORM	0x64d

#define RAPL_AMD_UNIT		0xc0010299
#define RAPL_AMD_CORE		0xc001029a	/* of one core */
#define RAPL_AMD_PKG		0xc001029b

#define RAPL_UNIT_SHIFT		8
#define RAPL_UNIT_MASK		0x1f

#endif /* HWPMC_RAPL_REGS_H */
