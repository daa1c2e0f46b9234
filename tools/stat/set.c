/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * set.c - the PMCs of one "hwpmc stat": allocated, attached, started and
 * read together. Nothing is multiplexed: an event has its counters for the
 * whole run, or is named with the reason why it has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/machine.h"
#include "common/msg.h"
#include "common/usermode.h"
#include "metrics.h"
#include "stat.h"

/* A count of a whole package is on each of its CPUs: it is taken from the first of those
 * that are counted. AMD's energy of cores is of one core. */
static void choose_cpus(const struct stat_set *set, const struct stat_event *ev,
			const struct cpus *all, struct cpus *list)
{
	bool by_core = ev->kind == KIND_CORE_ENERGY &&
		       strncmp(hwpmc_cpuinfo(set->h)->cpuid, "GenuineIntel", 12) != 0;
	struct cpu_place *place = must_calloc(all->n, sizeof(*place));

	list->n = 0;
	for (unsigned int i = 0, j; i < all->n; i++) {
		place[i] = cpu_place(all->cpu[i]);
		for (j = 0; j < i; j++)
			if (place[j].socket == place[i].socket &&
			    (!by_core || (place[j].die == place[i].die &&
					  place[j].core == place[i].core)))
				break;
		if (j == i)
			list->cpu[list->n++] = all->cpu[i];
	}
	free(place);
}

static void cells_open(const struct stat_set *set, struct stat_event *ev,
		       const struct stat_options *o)
{
	static struct cpus chosen;
	const struct cpus *cpus = &o->cpus;

	if (o->system && !ev->nsum) {
		stat_kinds_choose(set->h, ev->spec, &o->cpus, &chosen);
		cpus = &chosen;
	}
	if (o->system && stat_kind_is_of_package(ev->kind)) {
		choose_cpus(set, ev, &o->cpus, &chosen);
		cpus = &chosen;
	}
	ev->ncell = o->system ? cpus->n : 1;
	ev->cell = must_calloc(ev->ncell, sizeof(*ev->cell));
	ev->run = must_calloc(o->runs, sizeof(*ev->run));
	for (unsigned int i = 0; i < ev->ncell; i++) {
		struct stat_cell *cell = &ev->cell[i];

		cell->id = HWPMC_ID_INVALID;
		cell->cpu = o->system ? cpus->cpu[i] : HWPMC_CPU_ANY;
		cell->run = must_calloc(o->runs, sizeof(*cell->run));
		cell->ncpu = 1;
		snprintf(cell->label, sizeof(cell->label), "%u", cell->cpu);
	}
	stat_parts_open(ev, o);
}

static const char hard_events[] =
	"cycles,instructions,branches,branch-misses,cache-references,"
	"cache-misses";
/* Beside them. */
static const char default_soft_events[] = "page-faults,context-switches";
static const char soft_events[] =
	"page-faults,context-switches,cpu-migrations,clock.prof";

/* Events that were added are sums of nothing. */
static unsigned int *extend_sums(unsigned int *sum, unsigned int from, unsigned int to)
{
	if (to == from)
		return sum;
	sum = must_realloc(sum, to, sizeof(*sum));
	memset(sum + from, 0, (to - from) * sizeof(*sum));
	return sum;
}

/* The events, by kind of core where they have to be; of each its number of events to add. */
static unsigned int *choose_events(struct stat_set *set, struct stat_options *o)
{
	unsigned int *sum, n;

	if (o->defaults)
		evlist_add(&o->events, machine_has_counters(set->h) ? hard_events : soft_events);
	sum = stat_kinds_split(set->h, o);
	n = o->events.n;
	if (!o->defaults || !machine_has_counters(set->h))
		return sum;
	set->nhard = n;
	evlist_add(&o->events, default_soft_events);
	return extend_sums(sum, n, o->events.n);
}

int stat_set_open(struct stat_set *set, struct stat_options *o)
{
	unsigned int ncell = 0, *sum, n;

	memset(set, 0, sizeof(*set));
	if (hwpmc_open(&set->h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return -1;
	}
	if (o->defaults && !machine_has_counters(set->h))
		msg("this machine has no usable hardware counters: counting kernel events; %s (see hwpmc doctor)",
		    machine_without_counters(set->h));
	sum = choose_events(set, o);
	n = o->events.n;
	set->metrics = must_calloc(1, sizeof(*set->metrics));
	if (metrics_open(set->metrics, set->h, o) < 0) {
		free(sum);
		stat_set_close(set);
		return -1;
	}
	sum = extend_sums(sum, n, o->events.n);
	set->o = o;
	set->nevent = o->events.n;
	set->event = must_calloc(set->nevent, sizeof(*set->event));
	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		ev->spec = must_strdup(o->events.spec[i]);
		ev->nsum = sum[i];
		ev->kind = stat_kind_of(ev->spec, &ev->suffix);
		cells_open(set, ev, o);
		ncell += ev->ncell;
	}
	set->entry = must_calloc(ncell, sizeof(*set->entry));
	free(sum);
	if (stat_threads_open(set) == 0)
		return 0;
	stat_set_close(set);
	return -1;
}

void stat_set_close(struct stat_set *set)
{
	stat_threads_close(set);
	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		for (unsigned int j = 0; j < ev->ncell; j++)
			free(ev->cell[j].run);
		stat_parts_close(ev);
		free(ev->cell);
		free(ev->run);
		free(ev->why);
		free(ev->lost);
		free(ev->spec);
	}
	free(set->event);
	free(set->entry);
	metrics_close(set->metrics);
	free(set->metrics);
	hwpmc_close(set->h);
}

void stat_event_release(struct stat_set *set, struct stat_event *ev)
{
	for (unsigned int i = 0; i < ev->ncell; i++) {
		if (ev->cell[i].id != HWPMC_ID_INVALID)
			hwpmc_release(set->h, ev->cell[i].id);
		ev->cell[i].id = HWPMC_ID_INVALID;
	}
}

void stat_set_release(struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent; i++)
		stat_event_release(set, &set->event[i]);
}

/* The process that its PMCs are opened for: 0 if it is not known yet. */
static pid_t first_target(const struct stat_set *set)
{
	if (set->o->system || set->o->ncgroup)
		return 0;
	return set->o->npid ? set->o->pid[0] : set->command;
}

int stat_event_allocate(struct stat_set *set, struct stat_event *ev, bool exec_start)
{
	struct usermode_request r = { .mode = HWPMC_MODE_SC };

	if (!set->o->system) {
		r.mode = HWPMC_MODE_TC;
		r.pid = first_target(set);
		r.flags = (set->o->descendants ? HWPMC_F_DESCENDANTS : 0) |
			  (exec_start ? HWPMC_F_EXEC_START : 0) |
			  (set->threads ? HWPMC_F_LOG_PROCCSW : 0);
	}
	for (unsigned int i = 0; i < ev->ncell; i++) {
		struct stat_cell *cell = &ev->cell[i];

		cell->before = set->nturn ? cell->value : 0;
		cell->value = cell->before;
		cell->shown = 0;
		r.cpu = cell->cpu;
		if (usermode_allocate(set->h, &ev->spec, &r, &cell->id,
				      &ev->user_mode) < 0) {
			cell->id = HWPMC_ID_INVALID;
			return -1;
		}
		set->user_mode |= ev->user_mode;
		ev->kind = stat_kind_of(ev->spec, &ev->suffix);
	}
	ev->has_target = false;
	return 0;
}

/* The error of an event that has no counter; of a group, that it is counted whole. */
void stat_say_refusal(const struct stat_set *set, unsigned int i)
{
	const struct evlist *list = &set->o->events;
	unsigned int n = 0;

	for (unsigned int j = 0; j < list->n; j++)
		n += list->group[j] && list->group[j] == list->group[i];
	if (n && set->o->metric)
		msg("the %u events of metric '%s' cannot be counted together: %s", list->n,
		    set->o->metric, hwpmc_error(set->h));
	else if (n)
		msg("the %u events of a group cannot be counted together: %s", n,
		    hwpmc_error(set->h));
	else
		msg("%s", hwpmc_error(set->h));
}

/*
 * What the user asked for must be counted; of the default events, those that
 * can be, and in the order of the list: the first ones matter most.
 */
static int refuse_event(struct stat_set *set, unsigned int i)
{
	struct stat_event *ev = &set->event[i];

	if (!set->o->defaults) {
		stat_say_refusal(set, i);
		return -1;
	}
	ev->why = must_strdup(hwpmc_error(set->h));
	stat_event_release(set, ev);
	return 0;
}

int stat_set_allocate(struct stat_set *set, bool exec_start)
{
	unsigned int counted = 0;

	if (set->o->rotate_ns && !set->nturn && rotate_plan(set) < 0)
		return -1;
	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		/* What did not fit in the first run stays out of all. */
		if (stat_event_is_active(set, ev) && stat_event_allocate(set, ev, exec_start) < 0 &&
		    refuse_event(set, i) < 0)
			return -1;
		stat_event_check_sum(ev);
		/* Events of the kernel alone are not what was meant. */
		counted += !ev->why && (!set->nhard || i < set->nhard || set->nturn);
	}
	if (!set->told_findings)
		machine_say_findings(set->h);
	set->told_findings = true;
	stat_threads_find_rows(set);
	if (counted)
		return 0;
	msg("%s", set->event[0].why);
	return -1;
}

/* All PMCs in one call: on a CPU, and of a process on a CPU, at one moment. */
static unsigned int fill_entries(struct stat_set *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < set->nevent; i++) {
		const struct stat_event *ev = &set->event[i];

		for (unsigned int j = 0; stat_event_is_active(set, ev) && j < ev->ncell; j++)
			set->entry[n++].pmcid = ev->cell[j].id;
	}
	return n;
}

/* A count that lacks a thread's events is shown as such. */
static bool is_incomplete(const struct hwpmc_batch_entry *entry)
{
	return entry->error == ENOMEM &&
	       entry->hdr.reason == HWPMC_WHY_INCOMPLETE;
}

/* Whoever reads the entries looks at these. */
static bool may_fail(const struct hwpmc_batch_entry *entry)
{
	return is_incomplete(entry) || stat_is_loss(entry->error, entry->hdr.reason);
}

/* Ends with a message at the first entry that failed. */
static int do_all(struct stat_set *set, enum hwpmc_batch_command command)
{
	unsigned int n = fill_entries(set), bad = 0;

	if (hwpmc_batch(set->h, command, set->entry, n) == 0)
		return 0;
	while (bad < n && (!set->entry[bad].error || may_fail(&set->entry[bad])))
		bad++;
	if (bad < n)
		hwpmc_batch_error(set->h, command, &set->entry[bad]);
	else if (may_fail(&(struct hwpmc_batch_entry){
			.error = errno, .hdr.reason = hwpmc_reason(set->h) }))
		return 0;
	msg("%s", hwpmc_error(set->h));
	return -1;
}

/* The processes may end between two attaches. */
static bool has_targets(const struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent && !set->o->system; i++)
		if (stat_event_is_active(set, &set->event[i]) && !set->event[i].has_target)
			return false;
	return true;
}

int stat_set_start(struct stat_set *set)
{
	if (!has_targets(set)) {
		msg("nothing to count: the processes have exited");
		return -1;
	}
	return do_all(set, HWPMC_BATCH_START);
}

int stat_set_start_late(struct stat_set *set)
{
	unsigned int n = fill_entries(set);

	if (!has_targets(set))
		return 1;
	if (hwpmc_batch(set->h, HWPMC_BATCH_START, set->entry, n) == 0)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		if (set->entry[i].error == ESRCH)
			return 1;
	return stat_set_start(set);
}

int stat_set_stop(struct stat_set *set)
{
	if (do_all(set, HWPMC_BATCH_STOP) < 0)
		return -1;
	stat_losses_take(set, HWPMC_BATCH_STOP);
	return 0;
}

/* 0, or -1 and errno. */
static int attach_target(struct stat_set *set, struct stat_event *ev, pid_t pid)
{
	/* It was opened for this one. */
	if (hwpmc_attach(set->h, ev->cell[0].id, pid) < 0 &&
	    (errno != EEXIST || pid != first_target(set)))
		return -1;
	ev->has_target = true;
	return 0;
}

/* Of one event: 1: it is attached; 0: it is left out; -1 after a message. A member of a
 * cgroup may be gone, or be attached already. */
static int attach_event(struct stat_set *set, unsigned int i, pid_t pid, bool member)
{
	if (attach_target(set, &set->event[i], pid) == 0)
		return 1;
	if (member && (errno == EEXIST || errno == ESRCH))
		return 0;
	/* Its row is taken in that process: an event that cannot be. */
	if (hwpmc_reason(set->h) != HWPMC_WHY_TARGET_ROW || !set->o->defaults) {
		msg("%s", hwpmc_error(set->h));
		return -1;
	}
	return refuse_event(set, i);
}

static int attach_process(struct stat_set *set, pid_t pid, bool member)
{
	int any = 0;

	for (unsigned int i = 0; i < set->nevent; i++) {
		int rc;

		stat_event_check_sum(&set->event[i]);
		if (!stat_event_is_active(set, &set->event[i]))
			continue;
		rc = attach_event(set, i, pid, member);
		if (rc < 0)
			return -1;
		any |= rc;
	}
	if (any || !member)
		stat_threads_attached(set, pid);
	return any;
}

int stat_set_attach(struct stat_set *set, pid_t pid)
{
	return attach_process(set, pid, false) < 0 ? -1 : 0;
}

int stat_set_attach_member(struct stat_set *set, pid_t pid)
{
	return attach_process(set, pid, true);
}

bool stat_set_lacks(struct stat_set *set, pid_t pid)
{
	for (unsigned int i = 0; i < set->nevent; i++)
		if (stat_event_is_active(set, &set->event[i]))
			return hwpmc_attach(set->h, set->event[i].cell[0].id, pid) == 0 ||
			       (errno != EEXIST && errno != ESRCH);
	return false;
}

bool stat_set_detach(struct stat_set *set, pid_t pid)
{
	bool any = false;

	for (unsigned int i = 0; i < set->nevent; i++)
		any |= stat_event_is_active(set, &set->event[i]) &&
		       hwpmc_detach(set->h, set->event[i].cell[0].id, pid) == 0;
	return any;
}

int stat_set_attach_again(struct stat_set *set, pid_t pid)
{
	int rc = 0;

	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		if (!stat_event_is_active(set, ev) || attach_target(set, ev, pid) == 0)
			continue;
		if (errno == ESRCH)
			rc = 1;
		if (errno == EEXIST || errno == ESRCH)
			continue;
		msg("%s", hwpmc_error(set->h));
		return -1;
	}
	return rc;
}

int stat_set_read(struct stat_set *set)
{
	const struct hwpmc_batch_entry *entry = set->entry;

	if (do_all(set, HWPMC_BATCH_READ) < 0)
		return -1;
	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		for (unsigned int j = 0; stat_event_is_active(set, ev) && j < ev->ncell;
		     j++, entry++) {
			ev->cell[j].value = ev->cell[j].before + entry->value;
			ev->incomplete |= is_incomplete(entry);
		}
		if (ev->nsum)
			stat_kinds_add(ev);
		stat_parts_read(ev);
	}
	stat_losses_take(set, HWPMC_BATCH_READ);
	return stat_threads_read(set);
}

int stat_set_uncounted(struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent && !set->o->system; i++) {
		struct stat_event *ev = &set->event[i];
		uint64_t ns = 0, slices = 0;

		if (stat_event_is_active(set, ev) && hwpmc_uncounted(set->h, ev->cell[0].id, &ev->kinds, &ns,
						&slices) < 0) {
			msg("%s", hwpmc_error(set->h));
			return -1;
		}
		ev->uncounted_ns += ns;
		ev->uncounted_slices += slices;
	}
	return 0;
}

void stat_set_keep(struct stat_set *set, unsigned int run)
{
	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		ev->run[run] = stat_event_total(ev);
		for (unsigned int j = 0; j < ev->ncell; j++)
			ev->cell[j].run[run] = ev->cell[j].value;
		stat_parts_keep(ev, run);
	}
}

void stat_set_shown(struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent; i++)
		for (unsigned int j = 0; j < set->event[i].ncell; j++) {
			struct stat_cell *cell = &set->event[i].cell[j];

			cell->shown = cell->value;
		}
	stat_threads_shown(set);
}
