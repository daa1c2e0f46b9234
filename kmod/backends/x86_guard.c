// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_guard.c - see x86_guard.h.
 *
 * perf reserves all counters before it opens its first event, and releases them after the
 * last one. From Linux 6.12 on it does so by the addresses of perfmon 6, 0x1900 and up. The
 * kernel's table ends far below: such reservations always succeed, and perf is not kept out. So
 * while the module has the counters, the argument of such a reservation is replaced, by the
 * function tracer, with an address that is in the table and that the module has reserved at
 * load: it fails, and perf_event_open() with EBUSY. Releases are left alone: perf has nothing
 * of the table that it could release.
 *
 * What the table cannot tell is whether perf has events open. perf itself can: if it has none,
 * an event that is opened now has to reserve. So each claim ends with the attempt to open one,
 * which must fail. That also shows that perf is kept out on this kernel, whichever addresses it
 * reserves. (doc/decisions/perfmon6.md)
 */
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <asm/nmi.h>

#include "../compat/divert.h"
#include "intel_regs.h"
#include "x86_guard.h"

/* The last addresses of the kernel's table, which no processor has counters at. */
#define TAKEN_PMC	INTEL_PMC(65)
#define TAKEN_EVTSEL	INTEL_EVTSEL(65)

static bool guard_ready;	/* the two addresses are reserved, and calls are diverted */
static bool guard_on;		/* written under hwpmc_lock, read in perf's reservations */

static u32 notrace guarded_address(u32 msr)
{
	if (!READ_ONCE(guard_on) || msr < INTEL_PMC_V6(0) || msr >= INTEL_FIXED_CTR_V6(0))
		return msr;
	return msr & 1 ? TAKEN_EVTSEL : TAKEN_PMC;
}

static void release_taken(void)
{
	release_evntsel_nmi(TAKEN_EVTSEL);
	release_perfctr_nmi(TAKEN_PMC);
}

void hwpmc_x86_guard_init(void)
{
	const unsigned long reserve[] = {
		(unsigned long)reserve_perfctr_nmi, (unsigned long)reserve_evntsel_nmi,
	};

	if (!reserve_perfctr_nmi(TAKEN_PMC))
		return;
	if (!reserve_evntsel_nmi(TAKEN_EVTSEL)) {
		release_perfctr_nmi(TAKEN_PMC);
		return;
	}
	guard_ready = !hwpmc_divert(reserve, ARRAY_SIZE(reserve), guarded_address);
	if (!guard_ready)
		release_taken();
}

void hwpmc_x86_guard_exit(void)
{
	if (!guard_ready)
		return;
	hwpmc_divert_end();
	release_taken();
	guard_ready = false;
}

bool hwpmc_x86_guard_works(void)
{
	return guard_ready;
}

void hwpmc_x86_guard_set(bool on)
{
	WRITE_ONCE(guard_on, on);
}

int hwpmc_x86_guard_asks(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1,
	};
	struct perf_event *event;

	/* Of a thread, so that no CPU and no kind of core matters. */
	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}
