// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * expected_nmi.c - see expected_nmi.h.
 */
#include <linux/ktime.h>
#include <asm/cpufeature.h>

#include "expected_nmi.h"
#include "log.h"

/*
 * Bare metal delays an NMI until the end of another one; a hypervisor may also take the CPU
 * away for hundreds of milliseconds.
 */
bool hwpmc_nmi_may_arrive_nmi(u64 since, u64 now)
{
	unsigned int ms = boot_cpu_has(X86_FEATURE_HYPERVISOR) ? 1000 : 100;

	/* An NMI may have set `since` after `now` was read. */
	return since && (s64)(now - since) <= (s64)hwpmc_log_ticks_nmi(ms);
}
