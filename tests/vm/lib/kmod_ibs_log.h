/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_ibs_log.h - what the tests of class IBS share: a session whose samples are added up by the
 * oracle's items, and the comparison of both.
 */
#ifndef KMOD_IBS_LOG_H
#define KMOD_IBS_LOG_H

#include "kmod_session.h"

#define CPUS		8
#define BIT(n)		(1ull << (n))
#define CAP_TARGET	BIT(5)
/* All words that the model has. */
#define ALL		(HWPMC_F_EXACT | HWPMC_F_MEMORY | (has(CAP_TARGET) ? HWPMC_F_BRANCHES : 0))

/* What the log has, in the oracle's items; and the oracle between the last two note_oracle(). */
extern uint64_t seen[VPMU_IBS_ITEMS], oracle[VPMU_IBS_ITEMS];
extern uint64_t inexact;	/* samples without the mark of an exact address */
extern uint32_t fetch_row;	/* of a PMC that samples fetches; 0: none */

extern uint64_t plain_rows;	/* bits: of PMCs that sample by counters */
extern uint64_t plain;		/* their samples */

/* Does the processor have this capability of CPUID 0x8000001b? */
bool has(uint32_t cap);

/* The fixture: what the tests need of the machine. */
void ibs_setup(void);
void begin_ibs(struct session *s);
/* Adds up a record. */
void look(const struct hwpmc_record *r);
int allocate_ibs(struct session *s, uint32_t ev, uint32_t cpu, uint32_t flags, uint64_t config,
		 uint32_t mode_caps, uint64_t period, uint32_t *id);
void note_oracle(void);
/* All PMCs are stopped: reads all records, and the oracle. */
void end_ibs(struct session *s);

/* Loads, stores, calls, branches, system calls. */
void work(void *rounds);
void work_on_each_cpu(long rounds);
/* Knobs are those of the CPU that turns them: of each one. */
void set_knob(int knob, uint64_t value);

/* Where fewer events are left than the hardware can be armed for, a period may end before the
 * hardware overflows: a stop then declares it as late. */
void check_number(const struct session *s, uint64_t samples, uint64_t of);
/* Each sample of the oracle is one of the log, or a drop of one of these causes. Where none was
 * dropped, the sums are equal, too. */
void check_ops(struct session *s, uint64_t filtered);
void check_sums(const struct session *s);

#endif
