/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_stat.c - "hwpmc stat": options, and the runs. A command is held back
 * until all counters run; it counts from its exec on (HWPMC_F_EXEC_START), so
 * nothing of this program is in its numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/gone.h"
#include "common/msg.h"
#include "common/output.h"
#include "common/watch.h"
#include "record/launch.h"
#include "stat.h"

#define RUNS_MAX	100000
#define INTERVAL_MAX_MS	(24 * 3600 * 1000)
#define ROTATE_DEFAULT_MS 100
/* Records are taken so long after the first: all that come meanwhile at once. */
#define RINGS_WAIT_NS	10000000
/* The kernel does not tell when a thread ends: it is looked for. */
#define THREADS_LOOK_NS	100000000
#define REPORT_BUFFER	65536

const char cmd_stat_help[] =
"usage: hwpmc stat [option ...] [--] command [argument ...]\n"
"       hwpmc stat [option ...] -p pid[,pid ...] | -t tid[,tid ...] |\n"
"                  -G cgroup[,cgroup ...] [command ...]\n"
"       hwpmc stat [option ...] -a | -C cpu[,cpu-cpu ...] [command ...]\n"
"\n"
"Count events of a command and its descendants, of running processes, or of\n"
"whole CPUs. With -p, -a or -C and a command, count while the command runs.\n"
"\n"
"  -e EVENTS           count these events (see: hwpmc list); default: those of\n"
"                      cycles, instructions, branches, branch-misses,\n"
"                      cache-references and cache-misses that have a counter,\n"
"                      page-faults, context-switches and task-clock; without\n"
"                      hardware counters: SOFT events;\n"
"                      {a,b} is a group: counted together or not at all\n"
"  -M METRICS          count all events of these metrics, or of groups of metrics\n"
"                      (see: hwpmc list --metrics); print the metrics\n"
"  -a                  count on all CPUs, all processes\n"
"  -C CPUS             count on these CPUs: 0,2-3\n"
"      --per-cpu       with -a or -C: print the count of each CPU and the total;\n"
"      --per-core, --per-socket  the count of each core or socket and the total\n"
"      --per-thread    with a command, -p or -t: print the count of each thread\n"
"      --ring-size KIB  memory of each CPU for the counts of threads (512)\n"
"      --per-type      print each hardware event by kind of core, and the sum\n"
"  -p PIDS             count these processes\n"
"  -t TIDS             count these threads\n"
"  -G CGROUPS          count the processes that are in these cgroups when\n"
"                      counting starts\n"
"      --no-descendants  do not count the children of processes\n"
"  -I MILLISECONDS     print the counts of each interval of this length\n"
"      --delay MILLISECONDS  start counting after this time (-1: on 'enable' via\n"
"                      --control)\n"
"      --rotate[=MILLISECONDS]  if there are too few counters, count events in\n"
"                      turns of this time (100), and print how long each counted\n"
"      --timeout MILLISECONDS  stop counting after this time and end the command\n"
"      --control fd:N[,ACK]  read commands from descriptor N: enable, disable,\n"
"                      ping, stop; write 'ack' to ACK; or fifo:PATH[,PATH]\n"
"  -r N                run the command N times; print mean and deviation\n"
"      --json          print one JSON object per line\n"
"      --csv           print comma-separated values\n"
"  -x SEPARATOR        print the fields of perf stat -x, divided by SEPARATOR\n"
"  -o FILE             write to FILE instead of standard error (-: to standard\n"
"                      output)\n"
"      --no-big-num    do not group digits\n"
"      --markers       count the events of the marks in the command's programs\n"
"                      (HWPMC_MARK_BEGIN) too; with --per-thread, of each thread\n"
"\n"
"Exit status: that of the command; 128+N if signal N ended it; 126 or 127 if it\n"
"cannot be run; 125 if nothing could be counted, or an event was lost and the\n"
"command succeeded; 2 for an invalid option.\n";

enum { OPT_HELP = 256, OPT_NO_DESC, OPT_JSON, OPT_CSV, OPT_NO_BIG_NUM,
       OPT_PER_CPU, OPT_PER_CORE, OPT_PER_SOCKET, OPT_PER_THREAD, OPT_RING_SIZE, OPT_DELAY, OPT_TIMEOUT,
       OPT_CONTROL, OPT_PER_TYPE, OPT_ROTATE, OPT_MARKERS };

static int parse_cpus(struct stat_options *o, const char *arg)
{
	if (cpus_parse(arg, &o->cpus) < 0)
		return msg_usage("invalid CPU list '%s' (0,2-5)", arg);
	o->system = true;
	return 0;
}

static int parse_ids(const char *what, char *arg, unsigned int *n, pid_t **list)
{
	uint64_t id;

	for (char *s = strsep(&arg, ","); s; s = strsep(&arg, ",")) {
		if (fmt_parse_u64(s, 1, INT32_MAX, &id) < 0)
			return msg_usage("invalid %s ID '%s'", what, s);
		*list = must_realloc(*list, *n + 1, sizeof(**list));
		(*list)[(*n)++] = id;
	}
	return 0;
}

static int parse_number(const char *what, const char *arg, uint64_t hi,
			uint64_t *value)
{
	if (fmt_parse_u64(arg, 1, hi, value) < 0)
		return msg_usage("invalid number of %s '%s' (1 to %llu)", what,
				 arg, (unsigned long long)hi);
	return 0;
}

static int parse_format(struct stat_options *o, enum stat_format format)
{
	if (o->format != STAT_TEXT && o->format != format)
		return msg_usage("--json, --csv and -x cannot be combined");
	o->format = format;
	return 0;
}

static int parse_by(struct stat_options *o, enum stat_by by)
{
	if (o->by != BY_ALL && o->by != by)
		return msg_usage("--per-cpu, --per-core, --per-socket and --per-thread cannot be combined");
	o->by = by;
	return 0;
}

static int parse_ring_size(struct stat_options *o, const char *arg)
{
	uint64_t kib;

	if (fmt_parse_u64(arg, 4, 64 * 1024, &kib) < 0 || kib & (kib - 1))
		return msg_usage("invalid ring size '%s': must be a power of two from 4 to 65536 (KiB)", arg);
	o->ring_size = kib * 1024;
	return 0;
}

static int parse_delay(struct stat_options *o, const char *arg)
{
	uint64_t n;
	int err;

	o->delay_ns = UINT64_MAX;
	if (strcmp(arg, "-1") == 0)
		return 0;
	err = parse_number("milliseconds", arg, INTERVAL_MAX_MS, &n);
	o->delay_ns = err ? 0 : n * 1000000;
	return err;
}

/* Options of when to count, and of cgroups. 1: c is none of them. */
static int parse_when(struct stat_options *o, int c)
{
	uint64_t n = 0;
	int err;

	switch (c) {
	case OPT_DELAY:
		return parse_delay(o, optarg);
	case OPT_TIMEOUT:
		err = parse_number("milliseconds", optarg, INTERVAL_MAX_MS, &n);
		o->timeout_ns = n * 1000000;
		return err;
	case OPT_ROTATE:
		n = ROTATE_DEFAULT_MS;
		err = optarg ? parse_number("milliseconds", optarg, INTERVAL_MAX_MS, &n) : 0;
		o->rotate_ns = n * 1000000;
		return err;
	case OPT_CONTROL:
		return stat_ctl_open(&o->ctl, optarg);
	case 'G':
		return stat_cgroup_add(o, optarg);
	default:
		return 1;
	}
}

static int parse_option(struct stat_options *o, int c, bool *all)
{
	uint64_t n;
	int err = parse_when(o, c);

	if (err != 1)
		return err;
	switch (c) {
	case 'e':
		if (evlist_add(&o->events, optarg) < 0)
			return msg_usage("invalid event list '%s': %s", optarg,
					 o->events.why);
		if (evlist_has_rate(&o->events))
			return msg_usage("invalid event list '%s': period= and freq= are for hwpmc record and top; remove them",
					 optarg);
		return 0;
	case 'M':
		if (o->metric)
			return msg_usage("give -M only once; separate the names by commas");
		o->metric = optarg;
		return 0;
	case 'a':
		*all = true;
		return 0;
	case 'C':
		return parse_cpus(o, optarg);
	case 'p':
		return parse_ids("process", optarg, &o->npid, &o->pid);
	case 't':
		return parse_ids("thread", optarg, &o->ntid, &o->tid);
	case 'I':
		err = parse_number("milliseconds", optarg, INTERVAL_MAX_MS, &n);
		if (!err)
			o->interval_ns = n * 1000000;
		return err;
	case 'r':
		err = parse_number("runs", optarg, RUNS_MAX, &n);
		if (!err)
			o->runs = n;
		return err;
	case 'o':
		o->output = optarg;
		return 0;
	case 'x':
		o->separator = optarg;
		return *optarg ? parse_format(o, STAT_SEPARATED) :
		       msg_usage("the separator of -x is empty: give one or more characters");
	case OPT_NO_DESC:
		o->descendants = false;
		return 0;
	case OPT_JSON:
		return parse_format(o, STAT_JSON);
	case OPT_CSV:
		return parse_format(o, STAT_CSV);
	case OPT_PER_CPU:
		return parse_by(o, BY_CPU);
	case OPT_PER_CORE:
		return parse_by(o, BY_CORE);
	case OPT_PER_SOCKET:
		return parse_by(o, BY_SOCKET);
	case OPT_PER_THREAD:
		return parse_by(o, BY_THREAD);
	case OPT_RING_SIZE:
		return parse_ring_size(o, optarg);
	case OPT_PER_TYPE:
		o->per_type = true;
		return 0;
	case OPT_MARKERS:
		o->markers = true;
		return 0;
	default:
		o->big_num = false;
		return 0;
	}
}

static int check_rotate(const struct stat_options *o)
{
	if (!o->rotate_ns)
		return 0;
	if (o->interval_ns || o->runs > 1 || o->delay_ns || o->ctl.fd >= 0)
		return msg_usage("--rotate cannot be combined with -I, -r, --delay or --control");
	if ((o->npid || o->ncgroup) && o->descendants)
		return msg_usage("--rotate with -p or -G needs --no-descendants: a child whose parent has exited would miss its later turns");
	return 0;
}

/* What is counted, and how it is divided. */
static int check_scope(const struct stat_options *o)
{
	if (o->system && (o->npid || o->ntid))
		return msg_usage("-p and -t cannot be combined with -a or -C");
	if (!!o->npid + !!o->ntid + !!o->ncgroup > 1)
		return msg_usage("-p, -t and -G cannot be combined");
	if (o->system && o->ncgroup)
		return msg_usage("-G cannot be combined with -C");
	if (o->system && !o->descendants)
		return msg_usage("--no-descendants cannot be combined with -a or -C");
	if (o->system && o->by == BY_THREAD)
		return msg_usage("--per-thread cannot be combined with -a or -C");
	if (!o->system && o->by != BY_ALL && o->by != BY_THREAD)
		return msg_usage("--per-cpu, --per-core and --per-socket need -a or -C");
	if (!o->command && !o->system && !o->npid && !o->ntid && !o->ncgroup)
		return msg_usage("no target: give a command, -p, -t, -G, -a or -C");
	if (stat_by_threads(o) && (o->runs > 1 || o->rotate_ns))
		return msg_usage("-r and --rotate cannot be combined with --per-thread or -t");
	return 0;
}

/* Options that are right one by one may not go together. */
static int check_options(struct stat_options *o, bool all)
{
	if (all && o->system)
		return msg_usage("-a and -C cannot be combined");
	/* For perf a cgroup is counted on all CPUs, and so it is here. */
	all = all && !o->ncgroup;
	o->system |= all;
	if (check_scope(o))
		return EXIT_USAGE;
	if (!o->command && o->runs > 1)
		return msg_usage("-r needs a command");
	if (o->delay_ns == UINT64_MAX && o->ctl.fd < 0)
		return msg_usage("--delay -1 needs --control, whose 'enable' starts counting");
	if (all && cpus_online(&o->cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		return EXIT_STAT_FAILED;
	}
	if (o->ntid) {
		o->descendants = false;
		if (stat_threads_choose(o) < 0)
			return EXIT_STAT_FAILED;
	}
	o->defaults = !o->events.n && !o->metric;
	if (stat_marks_check(o))
		return EXIT_USAGE;
	return check_rotate(o);
}

/* 0, or the status to exit with; *help: help was printed. */
static int parse_options(struct stat_options *o, int argc, char *argv[], bool *help)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		{ "event", required_argument, NULL, 'e' },
		{ "metrics", required_argument, NULL, 'M' },
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'I' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "output", required_argument, NULL, 'o' },
		{ "no-descendants", no_argument, NULL, OPT_NO_DESC },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "csv", no_argument, NULL, OPT_CSV },
		{ "no-big-num", no_argument, NULL, OPT_NO_BIG_NUM },
		{ "per-cpu", no_argument, NULL, OPT_PER_CPU },
		{ "per-core", no_argument, NULL, OPT_PER_CORE },
		{ "per-socket", no_argument, NULL, OPT_PER_SOCKET },
		{ "per-thread", no_argument, NULL, OPT_PER_THREAD },
		{ "ring-size", required_argument, NULL, OPT_RING_SIZE },
		{ "per-type", no_argument, NULL, OPT_PER_TYPE },
		{ "field-separator", required_argument, NULL, 'x' },
		{ "delay", required_argument, NULL, OPT_DELAY },
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },
		{ "control", required_argument, NULL, OPT_CONTROL },
		{ "rotate", optional_argument, NULL, OPT_ROTATE },
		{ "cgroup", required_argument, NULL, 'G' },
		{ "markers", no_argument, NULL, OPT_MARKERS },
		{ NULL, 0, NULL, 0 },
	};
	bool all = false;
	int c, err;

	*o = (struct stat_options){
		.descendants = true, .runs = 1, .big_num = true,
		.ctl = { .fd = -1, .ack_fd = -1 },
	};
	/* "+": the command's options are its own. */
	while ((c = getopt_long(argc, argv, "+:e:M:aC:p:t:I:r:o:x:G:", options,
				NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		*help = c == OPT_HELP;
		if (*help) {
			fputs(cmd_stat_help, stdout);
			return 0;
		}
		err = parse_option(o, c, &all);
		if (err)
			return err;
	}
	if (optind < argc)
		o->command = argv + optind;
	return check_options(o, all);
}

/* ------------------------------------------------------------------------ */

/* One invocation: what lasts longer than a run. */
struct session {
	struct stat_options o;
	struct stat_set set;
	FILE *out;
	bool printed;			/* something, so headers too */
	unsigned int nrun;		/* runs that have ended */
	uint64_t *elapsed;		/* of each */
	struct stat_times sum;
	bool timed_out;			/* the command is to end too */
	int status;			/* of the last command that failed */
	int signal;
};

static void print_report(struct session *s, const struct stat_report *r)
{
	static void (*const print[])(FILE *f, const struct stat_report *r,
				     bool first) = {
		[STAT_TEXT] = stat_print_text,
		[STAT_JSON] = stat_print_json,
		[STAT_CSV] = stat_print_csv,
		[STAT_SEPARATED] = stat_print_separated,
	};

	print[s->o.format](s->out, r, !s->printed);
	s->printed = true;
	fflush(s->out);
	if (ferror(s->out))
		watch_end_without_reader(fileno(s->out));
}

static void print_interval(struct session *s, uint64_t time, uint64_t length)
{
	struct stat_report r = {
		.o = &s->o, .set = &s->set, .interval = true, .time = time,
		.length = length,
	};

	print_report(s, &r);
	stat_set_shown(&s->set);
}

static void print_total(struct session *s)
{
	struct stat_report r = {
		.o = &s->o, .set = &s->set, .nrun = s->nrun,
		.has_status = s->o.command != NULL, .status = s->status,
		.signal = s->signal, .mean = s->sum,
	};

	/* Lines of another shape would end the lines of intervals. */
	if (s->o.format == STAT_SEPARATED && s->o.interval_ns)
		return;
	r.mean.elapsed = stat_mean(s->elapsed, s->nrun);
	r.elapsed_dev = stat_deviation(s->elapsed, s->nrun);
	r.mean.user /= s->nrun;
	r.mean.sys /= s->nrun;
	print_report(s, &r);
}

/* 0, or -1 after a message. A member of a cgroup may be gone. */
static int watch_processes(struct session *s, struct watch *w)
{
	for (unsigned int i = 0; i < s->o.npid; i++) {
		if (watch_target(w, s->o.pid[i]) == 0 || (s->o.ncgroup && errno == ESRCH))
			continue;
		/* It has ended since the options were read. */
		if (errno == ESRCH && gone_remove_one(s->o.pid, &s->o.npid, i, "count", "process")) {
			i--;
			continue;
		}
		msg("cannot count process %d: %s", s->o.pid[i], strerror(errno));
		return -1;
	}
	return 0;
}

/* Attach to what is measured, and have it watched. */
static int attach_all(struct session *s, struct watch *w, struct launch *l)
{
	if (s->o.ncgroup)
		return stat_cgroups_attach(&s->set, &s->o) < 0 ? -1 : watch_processes(s, w);
	if (!s->o.npid && !s->o.system) {
		s->set.command = l->pid;
		return stat_set_attach(&s->set, l->pid);
	}
	if (watch_processes(s, w) < 0)
		return -1;
	for (unsigned int i = 0; i < s->o.npid; i++) {
		if (i && gone_remove_one(s->o.pid, &s->o.npid, i, "count", "process"))
			i--;
		else if (stat_set_attach(&s->set, s->o.pid[i]) < 0)
			return -1;
	}
	return 0;
}

/* Everything up to where the command may go. On failure nothing is left. */
static int prepare_target(struct session *s, struct watch *w, struct launch *l)
{
	bool own = s->o.command && !s->o.system && !s->o.npid && !s->o.ncgroup;

	if (stat_set_allocate(&s->set, own && !s->o.delay_ns) < 0)
		return -1;
	if (s->o.command && launch_prepare(l, s->o.command) < 0) {
		msg("cannot start '%s': %s", s->o.command[0], strerror(errno));
		return -1;
	}
	if (s->o.command && watch_child(w, l->pid) < 0) {
		msg("cannot watch process %d: %s", l->pid, strerror(errno));
		goto err_launch;
	}
	if (attach_all(s, w, l) < 0 ||
	    (!s->o.delay_ns && stat_set_start(&s->set) < 0))
		goto err_launch;
	return 0;

err_launch:
	if (s->o.command)
		launch_cancel(l);
	return -1;
}

/* A run: when what is due, and how long has been counted. */
struct counting {
	uint64_t start, last;		/* of the run; of the interval */
	uint64_t interval, delay, timeout, turn;	/* watch_now() of the next; 0: none */
	uint64_t rings, look;		/* the same: for records, and for threads that end */
	uint64_t since, ran;		/* it counts since then; ns before that */
	bool on, begun;
	bool over;
};

static int switch_on(struct session *s, struct counting *c)
{
	int rc = stat_set_start_late(&s->set);

	c->delay = 0;
	/* Its end will be told in a moment. */
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!c->on)
		c->since = watch_now();
	c->on = c->begun = true;
	return 0;
}

static int switch_off(struct session *s, struct counting *c)
{
	if (!c->on)
		return 0;
	c->on = false;
	if (stat_set_stop(&s->set) < 0)
		return -1;
	c->ran += watch_now() - c->since;
	return 0;
}

static int follow_order(struct session *s, struct watch *w, struct counting *c)
{
	enum stat_order order = stat_ctl_read(&s->o.ctl);
	int rc = 0;

	if (order == ORDER_GONE)
		w->input_fd = -1;
	if (order == ORDER_NONE || order == ORDER_GONE)
		return 0;
	if (order == ORDER_ENABLE)
		rc = switch_on(s, c);
	/* An order has been followed when it is acknowledged. */
	else if (order == ORDER_DISABLE || order == ORDER_STOP)
		rc = switch_off(s, c);
	c->over = order == ORDER_STOP;
	if (!rc)
		stat_ctl_ack(&s->o.ctl);
	return rc;
}

static int end_interval(struct session *s, struct counting *c, uint64_t now)
{
	if (stat_set_read(&s->set) < 0)
		return -1;
	print_interval(s, now - c->start, now - c->last);
	c->last = now;
	/* A late reader skips intervals; it does not hurry after. */
	while (c->interval <= now)
		c->interval += s->o.interval_ns;
	return 0;
}

static int take_turn(struct session *s, struct counting *c)
{
	int rc = rotate_next(&s->set);

	c->turn = watch_now() + s->o.rotate_ns;
	if (rc <= 0)
		return rc;
	c->over = true;
	c->on = false;
	c->ran += watch_now() - c->since;
	return 0;
}

/* Of counting by threads: what is due now. */
static void take_threads(struct session *s, struct watch *w, struct counting *c, uint64_t now)
{
	if (c->rings && now >= c->rings) {
		stat_threads_drain(&s->set);
		w->rings_fd = hwpmc_fd(s->set.h);
		c->rings = 0;
	}
	if (c->look && now >= c->look) {
		c->look = now + THREADS_LOOK_NS;
		c->over |= !w->child && stat_threads_are_gone(&s->o);
	}
}

/* What is due now. */
static int take_time(struct session *s, struct watch *w, struct counting *c)
{
	uint64_t now = watch_now();

	take_threads(s, w, c, now);
	if (c->delay && now >= c->delay && switch_on(s, c) < 0)
		return -1;
	if (c->interval && now >= c->interval && end_interval(s, c, now) < 0)
		return -1;
	if (c->turn && now >= c->turn && take_turn(s, c) < 0)
		return -1;
	c->over |= c->timeout && now >= c->timeout;
	return 0;
}

static uint64_t sooner_of(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static uint64_t next_time(const struct counting *c)
{
	uint64_t next = sooner_of(sooner_of(c->interval, c->turn),
				  sooner_of(c->delay, c->timeout));

	return sooner_of(next, sooner_of(c->rings, c->look));
}

static void begin_counting(const struct stat_options *o, struct counting *c,
			   uint64_t start)
{
	*c = (struct counting){
		.start = start, .last = start, .since = start,
		.on = !o->delay_ns, .begun = !o->delay_ns,
	};
	if (o->interval_ns)
		c->interval = start + o->interval_ns;
	if (o->delay_ns && o->delay_ns != UINT64_MAX)
		c->delay = start + o->delay_ns;
	if (o->timeout_ns)
		c->timeout = start + o->timeout_ns;
	if (o->rotate_ns)
		c->turn = start + o->rotate_ns;
	if (o->ntid)
		c->look = start + THREADS_LOOK_NS;
}

static void wait_for_more(struct watch *w, struct counting *c)
{
	w->rings_fd = -1;
	c->rings = watch_now() + RINGS_WAIT_NS;
}

/* Until the end of the run; prints the intervals on the way. */
static int run_until_end(struct session *s, struct watch *w, uint64_t start)
{
	struct counting c;
	int rc = 0;

	begin_counting(&s->o, &c, start);
	rotate_begin(&s->set, start);
	w->input_fd = s->o.ctl.fd;
	w->rings_fd = s->set.threads ? hwpmc_fd(s->set.h) : -1;
	w->device_fd = hwpmc_fd(s->set.h);
	w->revoked_status = EXIT_STAT_FAILED;
	while (!rc && !c.over) {
		enum watch_event ev = watch_wait(w, next_time(&c));

		if (ev == WATCH_INPUT)
			rc = follow_order(s, w, &c);
		else if (ev == WATCH_TIME)
			rc = take_time(s, w, &c);
		else if (ev == WATCH_RINGS)
			wait_for_more(w, &c);
		else
			c.over = true;
	}
	w->input_fd = w->rings_fd = -1;
	rotate_end(&s->set, watch_now());
	rotate_finish(&s->set);
	s->timed_out = c.timeout && watch_now() >= c.timeout;
	if (rc < 0 || switch_off(s, &c) < 0 || stat_set_read(&s->set) < 0)
		return -1;
	s->elapsed[s->nrun] = c.ran;
	if (!c.begun)
		msg("nothing was counted: the measurement ended before counting started");
	if (s->o.interval_ns)
		print_interval(s, watch_now() - start, watch_now() - c.last);
	return 0;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000ull + tv.tv_usec * 1000ull;
}

static void end_command(struct session *s, struct watch *w)
{
	struct rusage usage;
	int status;

	if (s->timed_out && w->child)
		kill(w->child, SIGTERM);
	watch_reap(w, &status, &usage);
	/* From here on its number may be another process's. */
	s->set.command = 0;
	/* The CPU time of a command that only sets how long others are counted is not theirs. */
	s->sum.has_task = !s->o.npid && !s->o.ncgroup && !s->o.system;
	s->sum.user += timeval_ns(usage.ru_utime);
	s->sum.sys += timeval_ns(usage.ru_stime);
	if (launch_exit_status(status))
		s->status = launch_exit_status(status);
}

/* 0, or the status to exit with at once. */
static int run_prepared(struct session *s, struct watch *w, struct launch *l)
{
	uint64_t start = watch_now();
	int err = s->o.command ? launch_go(l) : 0;

	if (err)
		return launch_error(s->o.command[0], err);
	err = run_until_end(s, w, start);
	if (s->o.command)
		end_command(s, w);
	s->signal = w->signal;
	if (err < 0 || stat_set_uncounted(&s->set) < 0)
		return EXIT_STAT_FAILED;
	stat_cgroups_look_again(&s->set);
	stat_set_keep(&s->set, s->nrun++);
	return 0;
}

static int run_once(struct session *s)
{
	struct launch l = { .pid = 0 };
	int status = EXIT_STAT_FAILED;
	struct watch w;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return status;
	}
	if (prepare_target(s, &w, &l) == 0)
		status = run_prepared(s, &w, &l);
	stat_set_release(&s->set);
	watch_close(&w);
	return status;
}

static int run_all(struct session *s)
{
	int status = 0;

	s->elapsed = must_calloc(s->o.runs, sizeof(*s->elapsed));
	for (unsigned int i = 0; i < s->o.runs && !status && !s->signal; i++)
		status = run_once(s);
	if (s->nrun)
		print_total(s);
	/* Other forms have no place for it. */
	if (s->nrun && (s->o.interval_ns || s->o.format == STAT_CSV))
		stat_say_uncounted(&s->set);
	if (s->nrun && s->o.format != STAT_TEXT && s->o.format != STAT_JSON)
		stat_say_cgroups(&s->set);
	if (s->nrun && s->o.format == STAT_CSV)
		stat_marks_say(&s->set);
	if (!status && !s->status && stat_has_losses(&s->set))
		status = EXIT_STAT_FAILED;
	return status ? status : s->status;
}

/* A report is written by one call: standard error itself has no buffer. */
static FILE *buffered_stderr(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f ? f : stderr;
}

static int open_output(struct session *s)
{
	if (!s->o.output)
		s->out = buffered_stderr();
	else
		s->out = strcmp(s->o.output, "-") == 0 ? stdout :
			 output_fopen(s->o.output);
	if (!s->out) {
		msg("cannot write '%s': %s", s->o.output, strerror(errno));
		return -1;
	}
	if (s->out != stderr)
		setvbuf(s->out, NULL, _IOFBF, REPORT_BUFFER);
	return 0;
}

/* A full disk shows at the end only; the counts are then lost, so say it. */
static int close_output(struct session *s, int status)
{
	int bad = fflush(s->out) || ferror(s->out);

	if (bad)
		watch_end_without_reader(fileno(s->out));
	if (s->out != stderr)
		bad |= fclose(s->out);
	if (!bad)
		return status;
	msg("cannot write the results: %s", strerror(errno));
	return status ? status : EXIT_STAT_FAILED;
}

int cmd_stat(int argc, char *argv[])
{
	struct session s = { .out = NULL };
	bool help = false;
	int status = parse_options(&s.o, argc, argv, &help);

	if (status || help)
		return status;
	gone_remove(s.o.pid, &s.o.npid, "count", "process");
	if (open_output(&s) < 0)
		return EXIT_STAT_FAILED;
	status = EXIT_STAT_FAILED;
	if (stat_set_open(&s.set, &s.o) == 0) {
		if (stat_marks_open(&s.set) == 0)
			status = run_all(&s);
		stat_marks_close(&s.set);
		stat_set_close(&s.set);
	}
	status = close_output(&s, status);
	free(s.elapsed);
	free(s.o.pid);
	free(s.o.tid);
	stat_cgroups_free(&s.o);
	evlist_free(&s.o.events);
	return status;
}
