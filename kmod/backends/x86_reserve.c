// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_reserve.c - reserves all core counters against perf, or none, and releases
 * them. While the module has them perf_event_open() fails with EBUSY; while perf has
 * an event open (the NMI watchdog is one) the module refuses with EBUSY.
 *
 * The kernel's table does not cover all addresses, and a reservation of others always
 * succeeds. With full-width writes only the reservation of the selects keeps perf out,
 * on Netburst only that of the counters. Fixed counters go with the selects.
 *
 * Process context, under hwpmc_lock.
 */
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "../base/lock.h"
#include "../compat/msr.h"
#include "../debug/tunables.h"
#include "x86_guard.h"
#include "x86_held.h"
#include "x86_mediated.h"
#include "x86_reserve.h"

/* The bank of this machine's counters while it is claimed, and by how many classes. hwpmc_lock. */
static const struct hwpmc_x86_bank *claimed_bank;
static unsigned int bank_users;

static u32 reserved_sel(const struct hwpmc_x86_bank *bank, unsigned int i)
{
	return hwpmc_x86_guarded(bank) ? bank->listed_sel + i : hwpmc_x86_sel(bank, i);
}

static u32 reserved_ctr(const struct hwpmc_x86_bank *bank, unsigned int i)
{
	return hwpmc_x86_guarded(bank) ? bank->listed_ctr + i : hwpmc_x86_ctr(bank, i);
}

static void table_unreserve(const struct hwpmc_x86_bank *bank, unsigned int num)
{
	while (num--) {
		release_perfctr_nmi(reserved_ctr(bank, num));
		release_evntsel_nmi(reserved_sel(bank, num));
	}
}

/* 0, or the MSR that is reserved already. */
static u32 table_reserve(const struct hwpmc_x86_bank *bank)
{
	unsigned int i;

	for (i = 0; i < bank->num; i++) {
		if (!reserve_evntsel_nmi(reserved_sel(bank, i))) {
			table_unreserve(bank, i);
			return reserved_sel(bank, i);
		}
		if (!reserve_perfctr_nmi(reserved_ctr(bank, i))) {
			release_evntsel_nmi(reserved_sel(bank, i));
			table_unreserve(bank, i);
			return reserved_ctr(bank, i);
		}
	}
	return 0;
}

static void bank_unreserve(const struct hwpmc_x86_bank *bank)
{
	if (hwpmc_x86_guarded(bank))
		hwpmc_x86_guard_set(false);
	table_unreserve(bank, bank->num);
}

static int bank_try(const struct hwpmc_x86_bank *bank, u32 *msr)
{
	int ret;

	*msr = table_reserve(bank);
	if (*msr)
		return -EBUSY;
	if (!hwpmc_x86_guarded(bank))
		return 0;
	hwpmc_x86_guard_set(true);
	ret = hwpmc_x86_guard_asks();
	if (ret == -EBUSY)
		return 0;
	bank_unreserve(bank);
	*msr = hwpmc_x86_sel(bank, 0);
	return ret || !hwpmc_x86_guard_works() ? -EOPNOTSUPP : -EBUSY;
}

/* 0, -EBUSY and in *msr what is reserved already, or -EOPNOTSUPP: perf is not kept out. */
static int bank_reserve(const struct hwpmc_x86_bank *bank, u32 *msr)
{
	int ret;

	hwpmc_x86_held_try();
	ret = bank_try(bank, msr);
	hwpmc_x86_held_tried(ret == -EBUSY);
	return ret;
}

/* The MSR, where it lets a counter run. */
static u32 find_enable_bits(u32 msr, u64 runs)
{
	u64 value;

	if (hwpmc_rdmsr_safe(msr, &value)) {
		hwpmc_x86_note_fault_nmi(msr);
		return 0;
	}
	return value & runs ? msr : 0;
}

u32 hwpmc_x86_differs_irqoff(u32 msr, u64 value, u64 bits)
{
	u64 now;

	if (hwpmc_rdmsr_safe(msr, &now)) {
		hwpmc_x86_note_fault_nmi(msr);
		return 0;
	}
	return (now ^ value) & bits ? msr : 0;
}

/* Counters that global control lets run, by their bits there; all where there is none. */
static u64 globally_enabled(const struct hwpmc_x86_bank *bank)
{
	u64 value;

	if (!bank->global_ctrl || hwpmc_rdmsr_safe(bank->global_ctrl, &value))
		return ~0ULL;
	return value;
}

/* Returns the bits of `runs` in the control of the fixed counters that global control enables. */
static u64 fixed_enabled(u64 global, u64 runs)
{
	unsigned int i;
	u64 bits = 0;

	for (i = 0; i < HWPMC_X86_FIXED_MAX; i++)
		if (global >> (32 + i) & 1)
			bits |= 0xfULL << 4 * i;
	return runs & bits;
}

u32 hwpmc_x86_running_irqoff(const struct hwpmc_x86_bank *bank)
{
	unsigned int i;
	u32 msr = 0;
	u64 global;

	if (bank_users > 1)
		return 0;
	/* It may fault since the VM was moved to another host: noted before a PMC counts. */
	hwpmc_rdpmc(0);
	global = globally_enabled(bank);
	for (i = 0; !msr && i < bank->num; i++)
		msr = find_enable_bits(hwpmc_x86_sel(bank, i),
				       global >> i & 1 ? bank->sel_runs : 0);
	if (!msr && bank->fixed_ctrl)
		msr = find_enable_bits(bank->fixed_ctrl,
				       fixed_enabled(global, bank->fixed_runs));
	if (!msr || !hwpmc_takerunning)
		return msr;
	hwpmc_x86_take_irqoff(bank);
	return 0;
}

u32 hwpmc_x86_running_all_irqoff(const struct hwpmc_class *cls)
{
	return hwpmc_x86_running_irqoff(claimed_bank);
}

/* It opens an event of perf, whose reservation is no other's. */
static bool keep_guests_out(void)
{
	bool ret;

	hwpmc_x86_held_try();
	ret = hwpmc_x86_mediated_keep_out();
	hwpmc_x86_held_asked();
	return ret;
}

int hwpmc_x86_claim(const struct hwpmc_x86_bank *bank, struct hwpmc_hdr *hdr)
{
	u32 msr;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (bank_users) {
		bank_users++;
		return 0;
	}
	if (!keep_guests_out())
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_PMU_MEDIATED, 0);
	ret = bank_reserve(bank, &msr);
	if (ret)
		hwpmc_x86_mediated_let_in();
	if (ret == -EOPNOTSUPP)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_PMU_SHARED, msr);
	if (ret) {
		pr_info_ratelimited("counters are held by perf events or the NMI watchdog (MSR %#x): end perf, or run `sysctl kernel.nmi_watchdog=0`\n",
				    msr);
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_PMU_RESERVED, msr);
	}
	/* The MSR that faulted for former users may work again. */
	WRITE_ONCE(hwpmc_msr_faulted, 0);
	claimed_bank = bank;
	bank_users = 1;
	return 0;
}

static void warn_of_fault(u32 faulted)
{
	if (faulted & HWPMC_FAULT_RDPMC)
		pr_warn_ratelimited("RDPMC of counter %#x has faulted: counts may be wrong\n",
				    faulted & ~HWPMC_FAULT_RDPMC);
	else if (faulted)
		pr_warn_ratelimited("access to MSR %#x has faulted: counts may be wrong\n",
				    faulted);
}

void hwpmc_x86_release(struct hwpmc_class *cls)
{
	lockdep_assert_held(&hwpmc_lock);
	if (--bank_users)
		return;
	hwpmc_x86_put_back(claimed_bank);
	bank_unreserve(claimed_bank);
	hwpmc_x86_mediated_let_in();
	warn_of_fault(READ_ONCE(hwpmc_msr_faulted));
}

bool hwpmc_x86_is_shared(const struct hwpmc_x86_bank *bank)
{
	u32 msr;
	int ret;

	if (!hwpmc_x86_guarded(bank))
		return false;
	ret = bank_reserve(bank, &msr);
	if (!ret)
		bank_unreserve(bank);
	return ret == -EOPNOTSUPP;
}

u32 hwpmc_x86_state(const struct hwpmc_class *cls)
{
	if (bank_users)
		return HWPMC_PMU_CLAIMED;
	return hwpmc_x86_is_held() ? HWPMC_PMU_HELD : HWPMC_PMU_IDLE;
}

u64 hwpmc_x86_taken_times(const struct hwpmc_class *cls)
{
	return hwpmc_x86_held_times();
}

/* Does the first counter, which is stopped, keep a value that is written to it? Written
 * twice: by an erratum a Pentium 4 may take only the second one. */
static bool keeps_a_value(u32 ctr)
{
	const u64 pattern = 0x5a5a5a;	/* fits in every width, also signed */
	u64 old, seen;

	if (hwpmc_rdmsr_safe(ctr, &old) || hwpmc_wrmsr_safe(ctr, pattern) ||
	    hwpmc_wrmsr_safe(ctr, pattern))
		return false;
	if (hwpmc_rdmsr_safe(ctr, &seen) || seen != pattern)
		return false;
	hwpmc_wrmsr_safe(ctr, 0);
	return true;
}

bool hwpmc_x86_works(const struct hwpmc_x86_bank *bank)
{
	bool works;
	u32 msr;
	u64 sel;

	if (hwpmc_rdpmc_faults(0))
		return false;
	if (bank_reserve(bank, &msr))
		return true;
	get_cpu();	/* the same CPU for the write and the read */
	works = !hwpmc_rdmsr_safe(hwpmc_x86_sel(bank, 0), &sel) &&
		(sel & bank->sel_runs ||
		 keeps_a_value(hwpmc_x86_ctr(bank, 0)));
	put_cpu();
	bank_unreserve(bank);
	return works;
}

int hwpmc_x86_select_keeps(const struct hwpmc_x86_bank *bank, u64 bits)
{
	u32 msr, sel = hwpmc_x86_sel(bank, 0);
	u64 old, seen = 0;

	if (bank_reserve(bank, &msr))
		return -EBUSY;
	get_cpu();	/* the same CPU for the write and the read */
	if (!hwpmc_rdmsr_safe(sel, &old) && !(old & bank->sel_runs) &&
	    !hwpmc_wrmsr_safe(sel, bits)) {
		hwpmc_rdmsr_safe(sel, &seen);
		hwpmc_wrmsr_safe(sel, old);
	}
	put_cpu();
	bank_unreserve(bank);
	return seen == bits;
}
