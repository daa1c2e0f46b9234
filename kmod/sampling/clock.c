// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * clock.c - the clock of all logs: the time-stamp counter where the kernel trusts it
 * on all CPUs, else CLOCK_MONOTONIC. Chosen once, at load: where the kernel marks the
 * TSC unstable later, logs keep the clock that their INITIALIZE record names.
 */
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "log.h"

static bool use_tsc;		/* both set at load */
static u64 ticks_per_ms = NSEC_PER_MSEC;

void hwpmc_log_clock_init(void)
{
	use_tsc = boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && tsc_khz &&
		  !check_tsc_unstable();
	if (use_tsc)
		ticks_per_ms = tsc_khz;
}

u64 hwpmc_log_time_nmi(void)
{
	return likely(use_tsc) ? rdtsc() : ktime_get_mono_fast_ns();
}

u64 hwpmc_log_ticks_nmi(unsigned int ms)
{
	return ms * ticks_per_ms;
}

u32 hwpmc_log_clock_kind(void)
{
	return use_tsc ? HWPMC_CLOCK_TSC : HWPMC_CLOCK_MONOTONIC;
}

u32 hwpmc_log_clock_khz(void)
{
	return ticks_per_ms;
}

/* Interrupts are off so that the three are as close together as possible. */
void hwpmc_log_clock_read(u64 *tick, u64 *monotonic, u64 *realtime)
{
	unsigned long flags;

	local_irq_save(flags);
	*tick = hwpmc_log_time_nmi();
	*monotonic = ktime_get_ns();
	*realtime = ktime_get_real_ns();
	local_irq_restore(flags);
}
