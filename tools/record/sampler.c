/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampler.c - from options to PMCs that sample, and records out of the mapped rings.
 * One thread takes them; another one is there only while PMCs are started.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/gone.h"
#include "common/machine.h"
#include "common/missing.h"
#include "common/msg.h"
#include "common/usermode.h"
#include "sampler.h"

#define DEFAULT_EVENT	"cycles"
#define SOFT_EVENT	"clock.prof"	/* where there are no counters */
#define SOFT_PERIOD	8		/* of SOFT_EVENT: about 1000 a second */

/* ---- options ------------------------------------------------------------- */

void sampler_init(struct sampler *s)
{
	*s = (struct sampler){ .descendants = true };
}

void sampler_free(struct sampler *s)
{
	/* Its thread uses the handle until it has ended. */
	tables_free(&s->tables);
	hwpmc_rings_close(s->rings);
	hwpmc_close(s->h);
	free(s->id);
	free(s->asked);
	free(s->of);
	free(s->pid);
	evlist_free(&s->events);
}

static int parse_pids(struct sampler *s, const char *arg)
{
	char *copy = must_strdup(arg), *rest = copy;
	uint64_t pid = 0;
	int status = 0;

	for (char *word = strsep(&rest, ","); word && !status;
	     word = strsep(&rest, ",")) {
		if (fmt_parse_u64(word, 1, INT32_MAX, &pid) < 0)
			status = msg_usage("invalid process ID '%s'", word);
		s->pid = must_realloc(s->pid, s->npid + 1, sizeof(*s->pid));
		s->pid[s->npid++] = pid;
	}
	free(copy);
	return status;
}

int sampler_number(const char *what, const char *arg, uint64_t hi,
		   uint64_t *value)
{
	if (fmt_parse_u64(arg, 1, hi, value) < 0)
		return msg_usage("invalid %s '%s' (1 to %" PRIu64 ")", what,
				 arg, hi);
	return 0;
}

static int parse_ring_size(struct sampler *s, const char *arg)
{
	uint64_t kib;
	int err = sampler_number("number of KiB", arg, 64 * 1024, &kib);

	if (err)
		return err;
	if (kib & (kib - 1) || kib < 4)
		return msg_usage("invalid ring size '%s': must be a power of two, at least 4 (KiB)",
				 arg);
	s->ring_size = kib * 1024;
	return 0;
}

/* perf takes the kind without "=", as the word that follows. */
void sampler_take_word(int c, char *argv[])
{
	static const char *const kinds[] = { "fp", "dwarf", "lbr" };

	if (c != SAMPLER_CALL_GRAPH || optarg || !argv[optind])
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[optind], kinds[i]) == 0)
			optarg = argv[optind];
	optind += optarg != NULL;
}

static int parse_call_graph(struct sampler *s, const char *arg)
{
	if (!arg)
		arg = "tables,fp";
	s->frame_pointers = strcmp(arg, "fp") == 0;
	s->flags &= ~HWPMC_F_TABLES_FP;
	if (strcmp(arg, "tables,fp") == 0)
		s->flags |= HWPMC_F_CALLCHAIN | HWPMC_F_TABLES_FP;
	else if (s->frame_pointers || strcmp(arg, "tables") == 0)
		s->flags |= HWPMC_F_CALLCHAIN;
	else if (strcmp(arg, "none") == 0)
		s->flags &= ~HWPMC_F_CALLCHAIN;
	else
		return msg_usage("invalid kind of call chains '%s' (tables; tables,fp; fp; none)",
				 arg);
	return 0;
}

int sampler_parse(struct sampler *s, int c, const char *arg)
{
	switch (c) {
	case 'e':
		if (evlist_add(&s->events, arg) < 0)
			return msg_usage("invalid event list '%s': %s", arg,
					 s->events.why);
		if (s->events.ngroup)
			return msg_usage("invalid event list '%s': events are sampled independently; remove the braces",
					 arg);
		return 0;
	case 'c':
		return sampler_number("period", arg, INT64_MAX, &s->period);
	case 'F':
		return sampler_number("frequency", arg, HWPMC_FREQUENCY_MAX,
				      &s->frequency);
	case 'g':
	case SAMPLER_USER_CHAIN:
		/* A kind that was given stays. */
		return s->flags & HWPMC_F_CALLCHAIN ? 0 : parse_call_graph(s, NULL);
	case SAMPLER_CALL_GRAPH:
		return parse_call_graph(s, arg);
	case SAMPLER_TABLE_CACHE:
		s->table_cache = arg;
		return 0;
	case 'a':
		s->all = true;
		return 0;
	case 'C':
		s->system = true;
		if (cpus_parse(arg, &s->cpus) < 0)
			return msg_usage("invalid CPU list '%s' (0,2-5)", arg);
		return 0;
	case 'p':
		return parse_pids(s, arg);
	case SAMPLER_NO_DESC:
		s->descendants = false;
		return 0;
	case SAMPLER_RING_SIZE:
		return parse_ring_size(s, arg);
	default:
		return 1;
	}
}

void sampler_remove_gone(struct sampler *s)
{
	gone_remove(s->pid, &s->npid, "sample", "process");
}

int sampler_check(struct sampler *s)
{
	if (s->period && s->frequency)
		return msg_usage("-c and -F cannot be combined; for one event write EVENT/period=N/ or EVENT/freq=N/");
	if (s->all && s->system)
		return msg_usage("-a and -C cannot be combined");
	s->system |= s->all;
	if (s->system && s->npid)
		return msg_usage("-p cannot be combined with -a or -C");
	if (!s->command && !s->system && !s->npid)
		return msg_usage("no target: give a command, -p, -a or -C");
	/* The callers of kernel code are the program's as well. */
	if (s->flags & HWPMC_F_CALLCHAIN)
		s->flags |= HWPMC_F_USERCALLCHAIN;
	if (s->flags & HWPMC_F_CALLCHAIN && !s->frame_pointers)
		s->flags |= HWPMC_F_TABLES | HWPMC_F_TABLES_ALL;
	if (s->all && cpus_online(&s->cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		return EXIT_STAT_FAILED;
	}
	return 0;
}

/* ---- the rings ----------------------------------------------------------- */

static int take_records(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct sampler *s = arg;

	tables_see(&s->tables, data, len);
	return s->take(cpu, data, len, s->arg);
}

void sampler_drain(struct sampler *s)
{
	hwpmc_rings_read(s->rings, take_records, s, NULL);
}

int sampler_open(struct sampler *s)
{
	if (hwpmc_open(&s->h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return -1;
	}
	if (hwpmc_rings_open(s->h, s->ring_size, 0, &s->rings) < 0) {
		msg("%s", hwpmc_error(s->h));
		return -1;
	}
	sampler_drain(s);
	return 0;
}

const struct evrate *sampler_asked(const struct sampler *s, uint32_t id)
{
	static const struct evrate none;

	for (unsigned int i = 0; i < s->nid; i++)
		if (s->id[i] == id)
			return &s->asked[i];
	return &none;
}

uint64_t sampler_dropped(const struct sampler *s)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS], sum = 0;

	hwpmc_rings_drop_counts(s->rings, samples, others, HWPMC_DROP_SLOTS);
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		sum += others[i];
	return sum + missing_sum(samples, HWPMC_DROP_SLOTS);
}

/* ---- PMCs ---------------------------------------------------------------- */

static void choose_event(struct sampler *s)
{
	if (s->events.n)
		return;
	if (machine_has_counters(s->h)) {
		evlist_add(&s->events, DEFAULT_EVENT);
		return;
	}
	evlist_add(&s->events, SOFT_EVENT);
	if (!s->quiet)
		msg("this machine has no usable hardware counters: sampling " SOFT_EVENT
		    ", a timer; %s (see hwpmc doctor)", machine_without_counters(s->h));
}

/* An event's own rate, that of the options, or a default: each time where that is rare. */
static struct evrate rate_of(const struct sampler *s, const struct evrate *own,
			     const struct hwpmc_event *event)
{
	if (own->period || own->frequency)
		return *own;
	if (s->period || s->frequency)
		return (struct evrate){ s->period, s->frequency };
	if (event->code[0].class_id != HWPMC_CLASS_SOFT)
		return (struct evrate){ .frequency = SAMPLER_RATE };
	return (struct evrate){
		.period = event->code[0].ev == HWPMC_EV_SOFT_CLOCK_PROF ? SOFT_PERIOD : 1,
	};
}

static void keep_pmc(struct sampler *s, uint32_t id, char **spec, const struct evrate *rate)
{
	s->id = must_realloc(s->id, s->nid + 1, sizeof(id));
	s->of = must_realloc(s->of, s->nid + 1, sizeof(*s->of));
	s->asked = must_realloc(s->asked, s->nid + 1, sizeof(*s->asked));
	s->of[s->nid] = spec;
	s->asked[s->nid] = *rate;
	s->id[s->nid++] = id;
}

static int add_pmc(struct sampler *s, char **spec, enum hwpmc_mode mode,
		   uint32_t flags, uint32_t cpu)
{
	struct usermode_request r = {
		.mode = mode, .flags = flags, .cpu = cpu, .pid = s->npid ? s->pid[0] : 0,
	};
	struct evrate rate = { 0 };
	struct hwpmc_event event;
	bool replaced = false;
	uint32_t id;

	if (hwpmc_event_parse(s->h, *spec, &event) < 0) {
		msg("%s", hwpmc_error(s->h));
		return -1;
	}
	if (mode != HWPMC_MODE_TC) {
		rate = rate_of(s, &s->events.rate[spec - s->events.spec], &event);
		r.count = rate.frequency ? rate.frequency : rate.period;
		r.flags |= rate.frequency ? HWPMC_F_FREQUENCY : 0;
	}
	if (usermode_allocate(s->h, spec, &r, &id, &replaced) < 0) {
		msg("%s", hwpmc_error(s->h));
		return -1;
	}
	if (replaced && !s->quiet)
		msg("sampling '%s', " USERMODE_NOTE, *spec);
	keep_pmc(s, id, spec, &rate);
	s->note(s->arg, id, "event", *spec);
	return 0;
}

static int add_event(struct sampler *s, char **spec, bool own)
{
	uint32_t flags = s->flags;

	if (!s->system) {
		uint32_t whom = (s->descendants ? HWPMC_F_DESCENDANTS : 0) |
				(own ? HWPMC_F_EXEC_START : 0);

		if (s->values && add_pmc(s, spec, HWPMC_MODE_TC,
					 whom | s->values, HWPMC_CPU_ANY) < 0)
			return -1;
		return add_pmc(s, spec, HWPMC_MODE_TS, whom | flags,
			       HWPMC_CPU_ANY);
	}
	for (unsigned int i = 0; i < s->cpus.n; i++)
		if (add_pmc(s, spec, HWPMC_MODE_SS, flags, s->cpus.cpu[i]) < 0)
			return -1;
	return 0;
}

static int each_pmc(struct sampler *s, int (*op)(struct hwpmc *, uint32_t))
{
	for (unsigned int i = 0; i < s->nid; i++) {
		if (op(s->h, s->id[i]) == 0)
			continue;
		msg("%s", hwpmc_error(s->h));
		return -1;
	}
	return 0;
}

static int sampler_attach(struct sampler *s, pid_t pid)
{
	for (unsigned int i = 0; i < s->nid; i++) {
		if (hwpmc_attach(s->h, s->id[i], pid) == 0)
			continue;
		/* It was opened for this one. */
		if (errno == EEXIST && s->npid && pid == s->pid[0])
			continue;
		msg("%s", hwpmc_error(s->h));
		return -1;
	}
	return 0;
}

static int attach_all(struct sampler *s, struct watch *w, struct launch *l)
{
	if (!s->npid)
		return s->system ? 0 : sampler_attach(s, l->pid);
	for (unsigned int i = 0; i < s->npid; i++) {
		if (i && gone_remove_one(s->pid, &s->npid, i, "sample", "process")) {
			i--;
			continue;
		}
		if (watch_target(w, s->pid[i]) < 0) {
			msg("cannot sample process %d: %s", s->pid[i],
			    strerror(errno));
			return -1;
		}
		if (sampler_attach(s, s->pid[i]) < 0)
			return -1;
	}
	return 0;
}

/*
 * Starting logs all existing processes: more than a ring may hold.
 * So another thread starts, and this one reads meanwhile.
 */
struct starter {
	struct sampler *sampler;
	atomic_bool done;
	int rc;
};

static void *start_all(void *arg)
{
	struct starter *starter = arg;

	starter->rc = each_pmc(starter->sampler, hwpmc_start);
	starter->done = true;
	return NULL;
}

static int start_and_read(struct sampler *s)
{
	struct starter starter = { .sampler = s };
	pthread_t thread;
	int err;

	err = pthread_create(&thread, NULL, start_all, &starter);
	if (err) {
		msg("cannot start a thread: %s", strerror(err));
		return -1;
	}
	while (!starter.done) {
		sampler_drain(s);
		hwpmc_rings_wait(s->rings, 10);
	}
	pthread_join(thread, NULL);
	sampler_drain(s);
	return starter.rc;
}

int sampler_start(struct sampler *s, struct watch *w, struct launch *l)
{
	bool own = s->command && !s->system && !s->npid;

	choose_event(s);
	/* Before PMCs are allocated for the first process. */
	sampler_remove_gone(s);
	if (s->flags & HWPMC_F_TABLES &&
	    tables_begin(&s->tables, s->h, s->command, s->table_cache) < 0)
		return -1;
	for (unsigned int i = 0; i < s->events.n; i++)
		if (add_event(s, &s->events.spec[i], own) < 0)
			return -1;
	if (!s->quiet)
		machine_say_findings(s->h);
	if (s->command && launch_prepare(l, s->command) < 0) {
		msg("cannot start '%s': %s", s->command[0], strerror(errno));
		return -1;
	}
	if (s->command && watch_child(w, l->pid) < 0) {
		msg("cannot watch process %d: %s", l->pid, strerror(errno));
		goto err_launch;
	}
	s->tables.command = l->pid;
	if (attach_all(s, w, l) < 0)
		goto err_launch;
	tables_attached(&s->tables, s->pid, s->npid);
	if (start_and_read(s) < 0)
		goto err_launch;
	return 0;

err_launch:
	if (s->command)
		launch_cancel(l);
	return -1;
}

/* "EVENT: counted on cpu_core only: ..."; false: it counted on all kinds of core. */
static bool uncounted_text(struct sampler *s, unsigned int i, char *text, size_t size)
{
	uint64_t ns, slices;
	uint32_t kinds;
	const char *kind;

	if (hwpmc_uncounted(s->h, s->id[i], &kinds, &ns, &slices) < 0 || !kinds)
		return false;
	kind = hwpmc_name_of_kind(kinds);
	snprintf(text, size, "%s: counted on %s only: %.3f ms in %" PRIu64 " %s ran elsewhere",
		 *s->of[i], kind ? kind : "some cores", ns / 1e6, slices,
		 slices == 1 ? "slice" : "slices");
	return true;
}

/* A PMC of one kind of core has no samples of what ran on others: that is said, and kept in a
 * note of the whole log, with "; " between events. */
static void note_uncounted(struct sampler *s)
{
	char text[512], all[2048] = "";

	for (unsigned int i = 0; i < s->nid && !s->system; i++) {
		size_t used = strlen(all);

		if (!uncounted_text(s, i, text, sizeof(text)))
			continue;
		if (!s->quiet)
			msg("%s", text);
		if (used + strlen(text) + 3 < sizeof(all))
			sprintf(all + used, "%s%s", used ? "; " : "", text);
	}
	if (all[0])
		s->note(s->arg, 0, "uncounted", all);
}

void sampler_end(struct sampler *s)
{
	tables_end(&s->tables);
	each_pmc(s, hwpmc_stop);
	note_uncounted(s);
	sampler_drain(s);
	hwpmc_flush_log(s->h);
	sampler_drain(s);
	hwpmc_close_log(s->h);
	sampler_drain(s);
}
