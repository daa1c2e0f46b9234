/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_reserve.h - exclusive use of the counters, against perf, the NMI watchdog and
 * KVM, by the kernel's reservation of MSRs.
 */
#ifndef HWPMC_X86_RESERVE_H
#define HWPMC_X86_RESERVE_H

#include "backend.h"
#include "x86_msr.h"

/*
 * The core counters of this machine, by the addresses under which perf
 * reserves them. Classes that live in one bank (IAF, IAP) share its claim.
 */
#define HWPMC_X86_FIXED_MAX	16	/* fields of four bits in their control */

struct hwpmc_x86_bank {
	u32 num;
	u32 sel, sel_step;	/* selects */
	u32 sel_runs;		/* enable bit of a select */
	u32 ctr, ctr_step;	/* counters */
	u32 fixed_ctrl;		/* control of the fixed counters; 0: none */
	u64 fixed_runs;		/* bits in it that let one count */
	u32 global_ctrl;	/* global control that the class leaves at 0; 0: none */
	/* Where perf may reserve others than these, and the table has not all of them: those
	 * that are reserved, step 1, and x86_guard.c is used too. 0: the table has them. */
	u32 listed_sel, listed_ctr;
};

static inline u32 hwpmc_x86_sel(const struct hwpmc_x86_bank *b, unsigned int i)
{
	return b->sel + i * b->sel_step;
}

static inline u32 hwpmc_x86_ctr(const struct hwpmc_x86_bank *b, unsigned int i)
{
	return b->ctr + i * b->ctr_step;
}

static inline bool hwpmc_x86_guarded(const struct hwpmc_x86_bank *b)
{
	return b->listed_sel;
}

/* Reserve the whole bank or nothing; see claim() in backend.h. Counts its users. */
int hwpmc_x86_claim(const struct hwpmc_x86_bank *bank, struct hwpmc_hdr *hdr);
void hwpmc_x86_release(struct hwpmc_class *cls);
/* See running_irqoff() in backend.h; 0 where a class has claimed the bank before, or where
 * counters that run are taken over (x86_firmware.c). */
u32 hwpmc_x86_running_irqoff(const struct hwpmc_x86_bank *bank);
/* The same of the bank that is claimed. */
u32 hwpmc_x86_running_all_irqoff(const struct hwpmc_class *cls);

/* The register, where it has another value in these bits; else 0. By RDMSR. */
u32 hwpmc_x86_differs_irqoff(u32 msr, u64 value, u64 bits);

/* Can this kernel not keep perf away from the bank? False while perf has the counters. */
bool hwpmc_x86_is_shared(const struct hwpmc_x86_bank *bank);

/* Are the counters claimed, held by others or idle? enum hwpmc_pmu_state. Takes nothing. */
u32 hwpmc_x86_state(const struct hwpmc_class *cls);
/* taken_times() of all classes here. */
u64 hwpmc_x86_taken_times(const struct hwpmc_class *cls);

/*
 * Do the counters exist and does RDPMC read them? Hypervisors may ignore writes. They
 * can be tested only while they are free; if they are held they are taken to work.
 */
bool hwpmc_x86_works(const struct hwpmc_x86_bank *bank);
/* Does a select keep these bits, which let nothing count? 1, 0, or -EBUSY while others have it. */
int hwpmc_x86_select_keeps(const struct hwpmc_x86_bank *bank, u64 bits);

/*
 * x86_firmware.c - running counters without a reservation, where the administrator
 * lets the module take them. take: on this CPU, what they are programmed with is kept;
 * put_back: on all CPUs, after the classes are off, they go on as they were.
 */
void hwpmc_x86_take_irqoff(const struct hwpmc_x86_bank *bank);
void hwpmc_x86_put_back(const struct hwpmc_x86_bank *bank);

#endif /* HWPMC_X86_RESERVE_H */
