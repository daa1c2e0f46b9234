/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rapl_units.h - which registers have the energy of which part, and in which unit, by
 * model. Pure.
 */
#ifndef HWPMC_RAPL_UNITS_H
#define HWPMC_RAPL_UNITS_H

#include "../compat/types.h"

enum rapl_domain {
	RAPL_PKG, RAPL_CORES, RAPL_GPU, RAPL_DRAM, RAPL_PLATFORM, RAPL_DOMAINS,
};

struct hwpmc_rapl_units {
	u32 msr;		/* of the unit */
	u32 reg[RAPL_DOMAINS];	/* 0: there is none */
	bool atom;		/* the unit is 2^n microjoules, else 2^-n joules */
	bool dram_fixed;	/* of memory: 2^-16 joules whatever the register says */
	bool platform_joule;	/* of the platform: 1 joule */
	u8 n;			/* the register's */
};

/* By vendor, family, model. False: no register is known. */
bool hwpmc_rapl_model(struct hwpmc_rapl_units *u, bool intel, bool amd, u32 family,
		      u32 model);
/* And what the unit's register says. */
void hwpmc_rapl_unit(struct hwpmc_rapl_units *u, u64 value);

static inline u32 hwpmc_rapl_register(const struct hwpmc_rapl_units *u, enum rapl_domain d)
{
	return u->reg[d];
}

/* Of so many units. Exact but for less than a microjoule. */
u64 hwpmc_rapl_microjoules(const struct hwpmc_rapl_units *u, enum rapl_domain d, u64 n);

/* How often a register has to be read: half the time in which the one of the finest unit
 * could wrap at 2 kW, in milliseconds; 10 to 60000. */
u32 hwpmc_rapl_wrap_ms(const struct hwpmc_rapl_units *u);

#endif /* HWPMC_RAPL_UNITS_H */
