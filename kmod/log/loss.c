// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * loss.c - see loss.h.
 *
 * CPUs note when they found each row in doubt last, and when they found it in order; this file
 * compares the times with those that the log of a PMC has. So no record is written where a
 * loss is found, which may be in a switch, and a loss that goes on is one record.
 */
#include <linux/math64.h>
#include <linux/slab.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "loss.h"

static_assert(sizeof(struct hwpmc_log_loss) == 40);

/* What the log of a PMC has of a CPU. */
struct hwpmc_told {
	u64 found;		/* the loss, as of struct hwpmc_loss */
	u64 since;		/* of the last record, */
	u64 doubt;		/* and its reason and detail; 0: the counter counts */
};

/* A time of CLOCK_MONOTONIC, in the clock of logs. */
static u64 log_time_of(u64 ns)
{
	u64 tick, monotonic, realtime;

	hwpmc_log_clock_read(&tick, &monotonic, &realtime);
	if (ns >= monotonic)
		return tick;
	return tick - mul_u64_u32_div(monotonic - ns, hwpmc_log_clock_khz(), NSEC_PER_MSEC);
}

/* Returns false if the ring had no room: the next look tries again. */
static bool write_loss(const struct hwpmc_pmc *pmc, unsigned int cpu,
		       const struct hwpmc_told *told, u8 flags)
{
	struct hwpmc_log_loss *r;

	preempt_disable();
	r = hwpmc_log_reserve(pmc->owner->log, HWPMC_LOG_LOSS, sizeof(*r));
	if (r) {
		r->hdr.flags = flags;
		r->hdr.id = pmc->id;
		r->cpu = cpu;
		r->reason = told->doubt >> 32;
		r->detail = (s32)told->doubt;
		r->__reserved = 0;
		r->since = told->since;
		hwpmc_log_commit(pmc->owner->log);
	}
	preempt_enable();
	return r;
}

static bool end_loss(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_told *told)
{
	if (!write_loss(pmc, cpu, told, HWPMC_LOSS_OVER))
		return false;
	told->doubt = 0;
	return true;
}

/* Returns false if a record is still to be written. */
static bool log_found(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_told *told,
		      const struct hwpmc_loss *loss)
{
	struct hwpmc_told new = { .found = loss->found, .doubt = loss->doubt };
	bool differs = told->doubt >> 32 != loss->doubt >> 32;

	/* It has another reason, or it is another loss: the counter has counted in between. */
	if (told->doubt && (differs || loss->since > told->found))
		end_loss(pmc, cpu, told);
	if (told->doubt) {
		told->found = differs ? told->found : loss->found;
		return !differs;
	}
	new.since = log_time_of(max(loss->since, pmc->began));
	if (!write_loss(pmc, cpu, &new, 0))
		return false;
	*told = new;
	return true;
}

/*
 * A loss that was open at the stop stays open over the next start, until the counter is found
 * to count. Later findings concern others if the log has all of this PMC.
 * Returns false if a record is still to be written.
 */
static bool log_changes(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_told *told)
{
	struct hwpmc_loss loss;
	bool all = true;

	hwpmc_doubt_last(cpu, pmc->row, &loss);
	if (loss.found > pmc->began && loss.found != told->found && !pmc->told_all)
		all = log_found(pmc, cpu, told, &loss);
	if (told->doubt && loss.sound > told->found)
		all &= end_loss(pmc, cpu, told);
	return all;
}

/* Without memory the next look tries again. */
static bool has_told(struct hwpmc_pmc *pmc)
{
	if (!pmc->told)
		pmc->told = kcalloc(hwpmc_pmc_is_system(pmc) ? 1 : nr_cpu_ids,
				    sizeof(*pmc->told), GFP_KERNEL_ACCOUNT);
	return pmc->told;
}

/* Returns true if the log has all. */
static bool log_all_cpus(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;
	bool all = true;

	if (hwpmc_pmc_is_system(pmc))
		return log_changes(pmc, pmc->cpu, pmc->told);
	for_each_possible_cpu(cpu)
		all &= log_changes(pmc, cpu, &pmc->told[cpu]);
	return all;
}

void hwpmc_log_losses(struct hwpmc_pmc *pmc)
{
	bool final;

	lockdep_assert_held(&hwpmc_lock);
	if (likely(!READ_ONCE(hwpmc_unreliable.doubts)) || !hwpmc_log_is_open(pmc->owner))
		return;
	final = hwpmc_doubt_is_final(pmc);
	if ((pmc->told || hwpmc_pmc_doubts(pmc)) && has_told(pmc) && log_all_cpus(pmc))
		pmc->told_all |= final;
}

void hwpmc_log_all_losses(void)
{
	struct hwpmc_owner *owner;
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	if (!READ_ONCE(hwpmc_unreliable.doubts))
		return;
	list_for_each_entry(owner, &hwpmc_owners, node)
		list_for_each_entry(pmc, &owner->pmcs, owner_node)
			if (pmc->state == HWPMC_STATE_RUNNING)
				hwpmc_log_losses(pmc);
}
