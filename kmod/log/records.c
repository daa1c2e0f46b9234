// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * records.c - records that begin and end a log, and records about PMCs.
 * Process context, under hwpmc_lock.
 */
#include <linux/slab.h>

#include "../core/class.h"
#include "../core/cursor.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../core/total.h"
#include "../sampling/log_object.h"
#include "../task/readable.h"
#include "../task/target.h"
#include "records.h"

static_assert(sizeof(struct hwpmc_log_hdr) == 16);
static_assert(sizeof(struct hwpmc_log_initialize) == 144);
static_assert(sizeof(struct hwpmc_log_clock) == 40);
static_assert(sizeof(struct hwpmc_log_drop) == 96);
/* The page of a ring has a pair for PAUSED and for each cause behind it. */
static_assert(HWPMC_DROP__COUNT - HWPMC_DROP_PAUSED - 1 <= ARRAY_SIZE(((struct hwpmc_log_ring *)0)->each_dropped));
static_assert(sizeof(struct hwpmc_log_allocate) == 128);
static_assert(sizeof(struct hwpmc_log_attach) == 24);
static_assert(sizeof(struct hwpmc_log_value) == 40);
static_assert(sizeof(struct hwpmc_log_cpu_kind) == 24);
static_assert(sizeof(struct hwpmc_log_context) == 24);
static_assert(sizeof(struct hwpmc_log_file) == 24);
static_assert(sizeof(struct hwpmc_log_period) == 24);
static_assert(sizeof(struct hwpmc_log_task) == 48);
static_assert(sizeof(struct hwpmc_log_map) == 88);
static_assert(offsetof(struct hwpmc_log_ring, tail) == 128);

void hwpmc_records_fill_cpu(struct hwpmc_log_hdr *hdr, unsigned int cpu)
{
	*hdr = (struct hwpmc_log_hdr){
		.len = sizeof(*hdr), .type = HWPMC_LOG_CPU, .id = cpu,
		.time = hwpmc_log_time_nmi(),
	};
}

void hwpmc_records_fill_sync(struct hwpmc_log_hdr *hdr, u64 time)
{
	*hdr = (struct hwpmc_log_hdr){
		.len = sizeof(*hdr), .type = HWPMC_LOG_SYNC, .time = time,
	};
}

static void fill_init(const struct hwpmc_log *log,
		      struct hwpmc_log_initialize *r)
{
	struct hwpmc_owner *owner = log->owner;

	memset((void *)r + sizeof(r->hdr), 0, sizeof(*r) - sizeof(r->hdr));
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->api = HWPMC_API_VERSION;
	r->cputype = hwpmc_machine.cputype;
	r->ncpu = nr_cpu_ids;
	r->clock = hwpmc_log_clock_kind();
	r->khz = hwpmc_log_clock_khz();
	hwpmc_log_clock_read(&r->tick, &r->monotonic, &r->realtime);
	r->owner = pid_nr_ns(owner->tgid, owner->pid_ns);
	r->flags = (log->privileged ? HWPMC_LOG_INIT_PRIVILEGED : 0) |
		   (log->mapped ? 0 : HWPMC_LOG_INIT_SYNC);
	strscpy(r->cpuid, hwpmc_machine.cpuid, sizeof(r->cpuid));
}

/*
 * INITIALIZE is the first record of the first ring that a reader looks at. This may
 * run on another CPU: the log is not published, so no ring has a writer yet.
 */
void hwpmc_records_begin(struct hwpmc_log *log)
{
	unsigned int first = cpumask_first(cpu_possible_mask);
	struct hwpmc_ring *ring = &per_cpu_ptr(log->cpus, first)->ring;
	struct hwpmc_log_initialize *r;

	r = hwpmc_ring_reserve_nmi(ring, sizeof(*r));
	r->hdr = (struct hwpmc_log_hdr){
		.len = sizeof(*r), .type = HWPMC_LOG_INITIALIZE,
		.time = hwpmc_log_time_nmi(),
	};
	fill_init(log, r);
	hwpmc_ring_commit_nmi(ring);
}

/* The kernel's, or what the owner calls it. */
static const char *event_name(const struct hwpmc_pmc *pmc)
{
	const struct hwpmc_class *cls = hwpmc_rows[pmc->row].cls;
	const char *name = NULL;

	if (cls->ops->events.name)
		name = cls->ops->events.name(cls, pmc->ev);
	return name ?: pmc->name;
}

static void emit_allocate(struct hwpmc_log *log, const struct hwpmc_pmc *pmc)
{
	const struct hwpmc_class *cls = hwpmc_rows[pmc->row].cls;
	struct hwpmc_log_allocate *r;
	u8 type = HWPMC_LOG_PMCALLOCATE;

	if (cls->id == HWPMC_CLASS_SOFT)
		type = HWPMC_LOG_PMCALLOCATEDYN;
	preempt_disable();
	r = hwpmc_log_reserve(log, type, sizeof(*r));
	if (r) {
		r->hdr.id = pmc->id;
		r->class = cls->id;
		r->ev = pmc->ev;
		r->flags = pmc->flags;
		r->caps = pmc->caps;
		r->mode = pmc->mode;
		r->cpu = pmc->cpu;
		r->config = pmc->config;
		r->config1 = pmc->config1;
		r->count = hwpmc_pmc_samples(pmc) ? hwpmc_pmc_asked(pmc) :
			   hwpmc_pmc_total(pmc);
		memset(r->name, 0, sizeof(r->name));
		strscpy(r->name, event_name(pmc), sizeof(r->name));
		hwpmc_log_commit(log);
	}
	preempt_enable();
}

void hwpmc_log_allocated(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_log_is_open(pmc->owner))
		emit_allocate(pmc->owner->log, pmc);
}

enum { PIDS = 32 };

static unsigned int next_pids(struct hwpmc_pmc *pmc, struct hwpmc_cursor *cursor,
			      struct pid **pids)
{
	struct list_head *entry;
	unsigned long flags;
	unsigned int n = 0;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	while (n < PIDS && (entry = hwpmc_cursor_next(cursor, &pmc->process.links)))
		pids[n++] = get_pid(list_entry(entry, struct hwpmc_link,
					       node)->target->pid);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return n;
}

/* ATTACH records of processes that the PMC was attached to before the log began. To write
 * one can sleep; hwpmc_lock keeps the PMC. */
static void emit_links(struct hwpmc_pmc *pmc)
{
	struct hwpmc_cursor cursor;
	struct pid *pids[PIDS];
	unsigned long flags;
	unsigned int n, i;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_cursor_begin(&cursor, &pmc->process.cursors, &pmc->process.links);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	while ((n = next_pids(pmc, &cursor, pids))) {
		for (i = 0; i < n; i++) {
			hwpmc_record_attach(pmc, pids[i]);
			put_pid(pids[i]);
		}
	}
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_cursor_end(&cursor);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

void hwpmc_records_pmcs(struct hwpmc_log *log)
{
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(pmc, &log->owner->pmcs, owner_node) {
		/* This log has no losses yet. */
		kvfree(pmc->logged);
		pmc->logged = NULL;
		pmc->logged_all = false;
		emit_allocate(log, pmc);
		emit_links(pmc);
	}
}

void hwpmc_records_clock(struct hwpmc_log *log)
{
	struct hwpmc_log_clock *r;

	preempt_disable();
	r = hwpmc_log_reserve(log, HWPMC_LOG_CLOCK, sizeof(*r));
	if (r) {
		hwpmc_log_clock_read(&r->tick, &r->monotonic, &r->realtime);
		hwpmc_log_commit(log);
	}
	preempt_enable();
}

static bool emit_end(struct hwpmc_log *log)
{
	struct {
		struct hwpmc_log_clock clock;
		struct hwpmc_log_closelog close;
	} *r;

	/* Not by hwpmc_log_reserve(), which refuses a log that is not open. */
	r = hwpmc_ring_reserve_nmi(hwpmc_log_ring(log), sizeof(*r));
	if (!r)
		return false;
	r->clock.hdr = (struct hwpmc_log_hdr){
		.len = sizeof(r->clock), .type = HWPMC_LOG_CLOCK,
		.time = hwpmc_log_time_nmi(),
	};
	hwpmc_log_clock_read(&r->clock.tick, &r->clock.monotonic,
			     &r->clock.realtime);
	r->close.hdr = (struct hwpmc_log_hdr){
		.len = sizeof(r->close), .type = HWPMC_LOG_CLOSELOG,
		.time = hwpmc_log_time_nmi(),
	};
	hwpmc_log_commit(log);
	log->end_cpu = smp_processor_id();
	return true;
}

void hwpmc_records_end(struct hwpmc_log *log)
{
	mutex_lock(&log->end_lock);
	if (!log->ended && hwpmc_log_declare_all(log)) {
		preempt_disable();
		log->ended = emit_end(log);
		preempt_enable();
	}
	mutex_unlock(&log->end_lock);
}
