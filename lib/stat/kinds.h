/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.h - which kind of core each CPU of a log is, by its CPU_KIND records. */
#ifndef HWPMC_LIB_KINDS_H
#define HWPMC_LIB_KINDS_H

#include <stdint.h>

struct hwpmc_record;

struct kinds {
	uint8_t *of;			/* HWPMC_KIND_*, by CPU; 0: not known */
	uint32_t n;
};

void kinds_learn(struct kinds *k, const struct hwpmc_record *r);
void kinds_free(struct kinds *k);

static inline uint8_t kinds_get(const struct kinds *k, int32_t cpu)
{
	return cpu >= 0 && (uint32_t)cpu < k->n ? k->of[cpu] : 0;
}

#endif /* HWPMC_LIB_KINDS_H */
