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

/* Loss of a PMC on one CPU that the last record in its log is about. */
struct hwpmc_logged {
	u64 found;		/* the loss, as of struct hwpmc_loss */
	u64 since;		/* start, as in that record */
	u64 doubt;		/* its reason and detail; 0: the counter counts */
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
		       const struct hwpmc_logged *logged, u8 flags)
{
	struct hwpmc_log_loss *r;

	preempt_disable();
	r = hwpmc_log_reserve(pmc->owner->log, HWPMC_LOG_LOSS, sizeof(*r));
	if (r) {
		r->hdr.flags = flags;
		r->hdr.id = pmc->id;
		r->cpu = cpu;
		r->reason = logged->doubt >> 32;
		r->detail = (s32)logged->doubt;
		r->__reserved = 0;
		r->since = logged->since;
		hwpmc_log_commit(pmc->owner->log);
	}
	preempt_enable();
	return r;
}

static bool end_loss(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_logged *logged)
{
	if (!write_loss(pmc, cpu, logged, HWPMC_LOSS_OVER))
		return false;
	logged->doubt = 0;
	return true;
}

/* Returns false if a record is still to be written. */
static bool log_found(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_logged *logged,
		      const struct hwpmc_loss *loss)
{
	struct hwpmc_logged new = { .found = loss->found, .doubt = loss->doubt };
	bool differs = logged->doubt >> 32 != loss->doubt >> 32;

	/* It has another reason, or it is another loss: the counter has counted in between. */
	if (logged->doubt && (differs || loss->since > logged->found))
		end_loss(pmc, cpu, logged);
	if (logged->doubt) {
		logged->found = differs ? logged->found : loss->found;
		return !differs;
	}
	new.since = log_time_of(max(loss->since, pmc->began));
	if (!write_loss(pmc, cpu, &new, 0))
		return false;
	*logged = new;
	return true;
}

/*
 * A loss that was open at the stop stays open over the next start, until the counter is found
 * to count. Later findings concern others if the log has all of this PMC.
 * Returns false if a record is still to be written.
 */
static bool log_changes(const struct hwpmc_pmc *pmc, unsigned int cpu, struct hwpmc_logged *logged)
{
	struct hwpmc_loss loss;
	bool all = true;

	hwpmc_doubt_last(cpu, pmc->row, &loss);
	if (loss.found > pmc->began && loss.found != logged->found && !pmc->logged_all)
		all = log_found(pmc, cpu, logged, &loss);
	if (logged->doubt && loss.sound > logged->found)
		all &= end_loss(pmc, cpu, logged);
	return all;
}

/* Without memory the next look tries again. */
static bool has_logged(struct hwpmc_pmc *pmc)
{
	if (!pmc->logged)
		pmc->logged = kvcalloc(hwpmc_pmc_is_system(pmc) ? 1 : nr_cpu_ids,
				       sizeof(*pmc->logged),
				       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return pmc->logged;
}

/* Returns true if the log has all. */
static bool log_all_cpus(struct hwpmc_pmc *pmc)
{
	unsigned int cpu;
	bool all = true;

	if (hwpmc_pmc_is_system(pmc))
		return log_changes(pmc, pmc->cpu, pmc->logged);
	for_each_possible_cpu(cpu)
		all &= log_changes(pmc, cpu, &pmc->logged[cpu]);
	return all;
}

void hwpmc_log_losses(struct hwpmc_pmc *pmc)
{
	bool final;

	lockdep_assert_held(&hwpmc_lock);
	if (likely(!READ_ONCE(hwpmc_unreliable.doubts)) || !hwpmc_log_is_open(pmc->owner))
		return;
	final = hwpmc_doubt_is_final(pmc);
	if ((pmc->logged || hwpmc_pmc_doubts(pmc)) && has_logged(pmc) && log_all_cpus(pmc))
		pmc->logged_all |= final;
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
