// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * clock.c - the clock of all logs: the time-stamp counter where the kernel trusts it
 * on all CPUs, else CLOCK_MONOTONIC. Chosen once, at load: where the kernel marks the
 * TSC unstable later, logs keep the clock that their INITIALIZE record names.
 *
 * A guest whose hypervisor does not promise a constant TSC has the second one, at
 * several times the cost. What compares times of one CPU alone, throttle.c, reads the
 * TSC everywhere.
 */
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/timekeeping.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "log.h"

u64 hwpmc_log_tsc_offset __read_mostly;	/* set while one CPU is online, with its IRQs off */
static u64 suspended_at;		/* likewise */
bool hwpmc_log_is_tsc __read_mostly;	/* all three set at load */
static u64 ticks_per_ms = NSEC_PER_MSEC;
u64 hwpmc_cpu_ticks_per_ms __read_mostly = NSEC_PER_MSEC;

void hwpmc_log_clock_init(void)
{
	hwpmc_log_is_tsc = boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && tsc_khz &&
		  !check_tsc_unstable();
	if (tsc_khz)
		hwpmc_cpu_ticks_per_ms = tsc_khz;
	if (hwpmc_log_is_tsc)
		ticks_per_ms = tsc_khz;
}

void hwpmc_log_clock_suspend_irqoff(void)
{
	lockdep_assert_irqs_disabled();
	suspended_at = hwpmc_cpu_time_nmi() + hwpmc_log_tsc_offset;
}

/*
 * S3 restarts the TSC on most machines, and on others it goes on, while CLOCK_MONOTONIC stands
 * still. Times of a log never go back, and readers compute its rate from both clocks: so the
 * log's clock stands still as well.
 */
void hwpmc_log_clock_resume_irqoff(void)
{
	lockdep_assert_irqs_disabled();
	hwpmc_log_tsc_offset = suspended_at - hwpmc_cpu_time_nmi();
}

u64 hwpmc_log_time_nmi(void)
{
	return hwpmc_log_time_at_nmi(hwpmc_cpu_time_nmi());
}

u64 hwpmc_log_ticks_nmi(unsigned int ms)
{
	return ms * ticks_per_ms;
}

u32 hwpmc_log_clock_kind(void)
{
	return hwpmc_log_is_tsc ? HWPMC_CLOCK_TSC : HWPMC_CLOCK_MONOTONIC;
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
