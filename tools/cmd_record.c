/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_record.c - "hwpmc record": sample a command, processes or CPUs into a log.
 * The rings are mapped; this one thread takes what is in them to the file, many
 * times a second, and tells how it goes once a second on a terminal.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cpus.h"
#include "evlist.h"
#include "fmt.h"
#include "hwpmc.h"
#include "launch.h"
#include "msg.h"
#include "sink.h"
#include "watch.h"

#define DEFAULT_EVENT	"cycles"
#define DEFAULT_PERIOD	1000003		/* prime: no beat with loops */
#define DEFAULT_OUTPUT	"hwpmc.log"
#define STEP_NS		20000000ull
#define SECOND_NS	1000000000ull

const char cmd_record_help[] =
"usage: hwpmc record [option ...] [--] command [argument ...]\n"
"       hwpmc record [option ...] -p pid[,pid ...] [command ...]\n"
"       hwpmc record [option ...] -a | -C cpu[,cpu-cpu ...] [command ...]\n"
"\n"
"Write down where a command and its descendants, processes that run already, or\n"
"whole CPUs are, each time that an event has happened so many times; hwpmc report\n"
"shows it. Ends with the command, the last of the processes, or Ctrl-C.\n"
"\n"
"  -e EVENTS           sample these (see: hwpmc list); default: cycles\n"
"  -c PERIOD           a sample every so many events; default: 1000003\n"
"  -g                  with call chains\n"
"      --user-callchain  with the user's chain behind samples of the kernel\n"
"  -a                  all CPUs, everything that runs there\n"
"  -C CPUS             these CPUs: 0,2-3\n"
"  -p PIDS             these processes\n"
"      --no-descendants  without the processes that they start\n"
"  -d SECONDS          end after so long\n"
"  -o FILE|HOST:PORT   write there; default: hwpmc.log; - is standard output\n"
"  -z, --compress[=N]  compressed by zstd (level N), which hwpmc report reads\n"
"      --csw           count the events too, and log each thread's count at each\n"
"                      of its context switches\n"
"      --exit          log each process's count when it exits\n"
"      --ring-size KIB  memory for samples on their way, a CPU\n"
"  -q                  say nothing\n"
"\n"
"Exit status: the command's; 128+N when signal N ended it; 126 or 127 when it\n"
"cannot be run; 125 when nothing could be recorded, or not all; 2 for a wrong\n"
"option.\n";

enum {
	OPT_HELP = 256, OPT_NO_DESC, OPT_USER_CHAIN, OPT_RING_SIZE, OPT_CSW,
	OPT_EXIT,
};

struct pmc_list {
	uint32_t *id;
	unsigned int n;
};

struct record {
	struct evlist events;
	uint64_t period;
	uint32_t flags;			/* HWPMC_F_*CALLCHAIN */
	uint32_t values;		/* HWPMC_F_LOG_*, 0: samples only */
	bool all, system, descendants, quiet;
	struct cpus cpus;
	pid_t *pid;
	unsigned int npid;
	uint64_t duration_ns;
	uint32_t ring_size;
	const char *output;
	int level;			/* of zstd, 0: plain */
	char **command;

	struct hwpmc *h;
	struct hwpmc_rings *rings;
	struct pmc_list pmcs;
	struct sink sink;
	uint64_t samples;		/* in the file */
	bool begun;			/* INITIALIZE is in the file */
};

/* ---- options ------------------------------------------------------------- */

static int parse_pids(struct record *r, char *arg)
{
	uint64_t pid;

	for (char *s = strsep(&arg, ","); s; s = strsep(&arg, ",")) {
		if (fmt_parse_u64(s, 1, INT32_MAX, &pid) < 0)
			return msg_usage("'%s' is no process id", s);
		r->pid = must_realloc(r->pid, r->npid + 1, sizeof(*r->pid));
		r->pid[r->npid++] = pid;
	}
	return 0;
}

static int parse_number(const char *what, const char *arg, uint64_t hi,
			uint64_t *value)
{
	if (fmt_parse_u64(arg, 1, hi, value) < 0)
		return msg_usage("'%s' is no %s from 1 to %" PRIu64, arg, what,
				 hi);
	return 0;
}

static int parse_ring_size(struct record *r, const char *arg)
{
	uint64_t kib;
	int err = parse_number("number of KiB", arg, 64 * 1024, &kib);

	if (err)
		return err;
	if (kib & (kib - 1) || kib < 4)
		return msg_usage("a ring has a power of two of KiB, 4 at least: not '%s'",
				 arg);
	r->ring_size = kib * 1024;
	return 0;
}

static int parse_option(struct record *r, int c)
{
	uint64_t n;
	int err;

	switch (c) {
	case 'e':
		if (evlist_add(&r->events, optarg) < 0)
			return msg_usage("'%s' is no list of events", optarg);
		return 0;
	case 'c':
		return parse_number("period", optarg, INT64_MAX, &r->period);
	case 'g':
		r->flags |= HWPMC_F_CALLCHAIN;
		return 0;
	case OPT_USER_CHAIN:
		r->flags |= HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
		return 0;
	case 'a':
		r->all = true;
		return 0;
	case 'C':
		r->system = true;
		if (cpus_parse(optarg, &r->cpus) < 0)
			return msg_usage("'%s' is no list of CPUs", optarg);
		return 0;
	case 'p':
		return parse_pids(r, optarg);
	case 'd':
		err = parse_number("number of seconds", optarg, 1000000, &n);
		r->duration_ns = err ? 0 : n * SECOND_NS;
		return err;
	case 'o':
		r->output = optarg;
		return 0;
	case OPT_RING_SIZE:
		return parse_ring_size(r, optarg);
	case 'z':
		n = 3;
		err = optarg ? parse_number("level", optarg, 19, &n) : 0;
		r->level = n;
		return err;
	case OPT_CSW:
		r->values |= HWPMC_F_LOG_PROCCSW;
		return 0;
	case OPT_EXIT:
		r->values |= HWPMC_F_LOG_PROCEXIT;
		return 0;
	case 'q':
		r->quiet = true;
		return 0;
	default:
		r->descendants = false;
		return 0;
	}
}

static int check_options(struct record *r)
{
	if (r->all && r->system)
		return msg_usage("-a and -C exclude each other");
	r->system |= r->all;
	if (r->system && r->npid)
		return msg_usage("-p does not go with -a or -C");
	if (!r->command && !r->system && !r->npid)
		return msg_usage("what to sample is missing: a command, -p, -a or -C");
	if (r->system && r->values)
		return msg_usage("--csw and --exit are of processes: not with -a or -C");
	if (r->all && cpus_online(&r->cpus) < 0) {
		msg("cannot tell which CPUs are online: %s", strerror(errno));
		return EXIT_STAT_FAILED;
	}
	if (!r->events.n)
		evlist_add(&r->events, DEFAULT_EVENT);
	return 0;
}

static int parse(struct record *r, int argc, char *argv[], bool *help)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		{ "event", required_argument, NULL, 'e' },
		{ "count", required_argument, NULL, 'c' },
		{ "call-graph", no_argument, NULL, 'g' },
		{ "user-callchain", no_argument, NULL, OPT_USER_CHAIN },
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "pid", required_argument, NULL, 'p' },
		{ "no-descendants", no_argument, NULL, OPT_NO_DESC },
		{ "duration", required_argument, NULL, 'd' },
		{ "output", required_argument, NULL, 'o' },
		{ "ring-size", required_argument, NULL, OPT_RING_SIZE },
		{ "compress", optional_argument, NULL, 'z' },
		{ "csw", no_argument, NULL, OPT_CSW },
		{ "exit", no_argument, NULL, OPT_EXIT },
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	*r = (struct record){
		.descendants = true, .period = DEFAULT_PERIOD,
		.output = DEFAULT_OUTPUT, .sink = { .fd = -1 },
	};
	/* "+": the command's options are its own. */
	while ((c = getopt_long(argc, argv, "+:e:c:gaC:p:d:o:qz::", options,
				NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		*help = c == OPT_HELP;
		if (*help) {
			fputs(cmd_record_help, stdout);
			return 0;
		}
		err = parse_option(r, c);
		if (err)
			return err;
	}
	if (optind < argc)
		r->command = argv + optind;
	return check_options(r);
}

/* ---- the log ------------------------------------------------------------- */

static uint64_t count_samples(const void *data, size_t len)
{
	const char *at = data, *end = at + len;
	uint64_t n = 0;

	while (at < end) {
		const struct hwpmc_log_hdr *h = (const void *)at;

		n += h->type == HWPMC_LOG_CALLCHAIN;
		at += h->len;
	}
	return n;
}

static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct record *r = arg;
	struct hwpmc_log_hdr mark;

	/* The file begins with INITIALIZE, which the first ring has. */
	if (r->begun) {
		hwpmc_rings_mark(cpu, &mark);
		sink_write(&r->sink, &mark, sizeof(mark));
	}
	r->begun = true;
	sink_write(&r->sink, data, len);
	if (!r->sink.error)
		r->samples += count_samples(data, len);
	return 0;
}

static void drain(struct record *r)
{
	hwpmc_rings_read(r->rings, take, r, NULL);
}

static void write_notes(struct record *r)
{
	char line[4096] = "";
	struct utsname u;
	size_t n = 0;

	for (char **arg = r->command; arg && *arg && n < sizeof(line); arg++)
		n += snprintf(line + n, sizeof(line) - n, "%s%s",
			      n ? " " : "", *arg);
	if (r->command)
		sink_note(&r->sink, 0, "command", line);
	sink_note(&r->sink, 0, "version", VERSION);
	if (uname(&u) == 0) {
		sink_note(&r->sink, 0, "hostname", u.nodename);
		sink_note(&r->sink, 0, "release", u.release);
	}
}

static int begin_log(struct record *r)
{
	char err[600];

	if (sink_open(&r->sink, r->output, r->level, err, sizeof(err)) < 0) {
		msg("%s", err);
		return -1;
	}
	if (hwpmc_open(&r->h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return -1;
	}
	if (hwpmc_rings_open(r->h, r->ring_size, 0, &r->rings) < 0) {
		msg("%s", hwpmc_error(r->h));
		return -1;
	}
	drain(r);
	write_notes(r);
	return 0;
}

/* ---- PMCs ---------------------------------------------------------------- */

static int add_pmc(struct record *r, const char *spec, enum hwpmc_mode mode,
		   uint32_t flags, uint32_t cpu)
{
	uint64_t period = mode == HWPMC_MODE_TC ? 0 : r->period;
	uint32_t id;

	if (hwpmc_allocate(r->h, spec, mode, flags, cpu, period, &id) < 0) {
		msg("%s", hwpmc_error(r->h));
		return -1;
	}
	r->pmcs.id = must_realloc(r->pmcs.id, r->pmcs.n + 1, sizeof(id));
	r->pmcs.id[r->pmcs.n++] = id;
	sink_note(&r->sink, id, "event", spec);
	return 0;
}

static int add_event(struct record *r, const char *spec, bool own)
{
	uint32_t flags = r->flags;

	if (!r->system) {
		uint32_t whom = (r->descendants ? HWPMC_F_DESCENDANTS : 0) |
				(own ? HWPMC_F_EXEC_START : 0);

		if (r->values && add_pmc(r, spec, HWPMC_MODE_TC,
					 whom | r->values, HWPMC_CPU_ANY) < 0)
			return -1;
		return add_pmc(r, spec, HWPMC_MODE_TS, whom | flags,
			       HWPMC_CPU_ANY);
	}
	for (unsigned int i = 0; i < r->cpus.n; i++)
		if (add_pmc(r, spec, HWPMC_MODE_SS, flags, r->cpus.cpu[i]) < 0)
			return -1;
	return 0;
}

static int each_pmc(struct record *r, int (*op)(struct hwpmc *, uint32_t))
{
	for (unsigned int i = 0; i < r->pmcs.n; i++) {
		if (op(r->h, r->pmcs.id[i]) == 0)
			continue;
		msg("%s", hwpmc_error(r->h));
		return -1;
	}
	return 0;
}

static int attach(struct record *r, pid_t pid)
{
	for (unsigned int i = 0; i < r->pmcs.n; i++) {
		if (hwpmc_attach(r->h, r->pmcs.id[i], pid) == 0)
			continue;
		msg("%s", hwpmc_error(r->h));
		return -1;
	}
	return 0;
}

static int attach_all(struct record *r, struct watch *w, struct launch *l)
{
	if (!r->npid)
		return r->system ? 0 : attach(r, l->pid);
	for (unsigned int i = 0; i < r->npid; i++) {
		if (watch_target(w, r->pid[i]) < 0) {
			msg("cannot sample process %d: %s", r->pid[i],
			    strerror(errno));
			return -1;
		}
		if (attach(r, r->pid[i]) < 0)
			return -1;
	}
	return 0;
}

/*
 * Starting tells the log of all processes that there are: more than a ring may hold.
 * So another thread starts, and this one reads meanwhile.
 */
struct starter {
	struct record *r;
	atomic_bool done;
	int rc;
};

static void *start_all(void *arg)
{
	struct starter *s = arg;

	s->rc = each_pmc(s->r, hwpmc_start);
	s->done = true;
	return NULL;
}

static int start_and_read(struct record *r)
{
	struct starter s = { .r = r };
	pthread_t thread;
	int err;

	err = pthread_create(&thread, NULL, start_all, &s);
	if (err) {
		msg("cannot start a thread: %s", strerror(err));
		return -1;
	}
	while (!s.done) {
		drain(r);
		hwpmc_rings_wait(r->rings, 10);
	}
	pthread_join(thread, NULL);
	drain(r);
	return s.rc;
}

/* ---- the run ------------------------------------------------------------- */

static uint64_t dropped(struct record *r)
{
	uint64_t samples[HWPMC_DROP__COUNT], others[HWPMC_DROP__COUNT], n = 0;

	hwpmc_rings_drops(r->rings, samples, others);
	for (int i = 0; i < HWPMC_DROP__COUNT; i++)
		n += samples[i] + others[i];
	return n;
}

static void show_progress(struct record *r, uint64_t ns, bool last)
{
	static bool shown;

	if (r->quiet || !isatty(STDERR_FILENO))
		return;
	if (last) {
		if (shown)
			fputs("\r\033[K", stderr);
		return;
	}
	shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " s, %" PRIu64 " samples, %" PRIu64
		" KiB, %" PRIu64 " dropped", (uint64_t)(ns / SECOND_NS), r->samples,
		r->sink.bytes / 1024, dropped(r));
	fflush(stderr);
}

static void run_until_end(struct record *r, struct watch *w)
{
	uint64_t start = watch_now(), told = start, now = start;

	/* An interrupt does not wait for who does not read. */
	r->sink.stop_fd = w->signal_fd;
	while (watch_wait(w, now + STEP_NS) == WATCH_TIME) {
		now = watch_now();
		drain(r);
		if (now - told >= SECOND_NS) {
			sink_flush(&r->sink);
			show_progress(r, now - start, false);
			told = now;
		}
		if (r->duration_ns && now - start >= r->duration_ns)
			break;
		if (r->sink.error)
			break;
	}
	show_progress(r, now - start, true);
}

/*
 * Stop, take everything, have what is missing declared (there is room for that
 * now), and end the log.
 */
static void end_log(struct record *r)
{
	each_pmc(r, hwpmc_stop);
	drain(r);
	hwpmc_flush_log(r->h);
	drain(r);
	hwpmc_close_log(r->h);
	drain(r);
	sink_flush(&r->sink);
}

static void summary(struct record *r)
{
	uint64_t lost = dropped(r);

	if (r->quiet)
		return;
	if (lost)
		msg("%" PRIu64 " records are missing in the log: take a longer period (-c) or larger rings (--ring-size)",
		    lost);
	fprintf(stderr, "%" PRIu64 " samples, %" PRIu64 " dropped, %" PRIu64
		" KiB in %s\n", r->samples, lost, r->sink.bytes / 1024,
		r->sink.name);
}

static int end_command(struct record *r, struct watch *w, int status)
{
	struct rusage usage;
	int wait_status;

	if (!r->command)
		return status;
	/* Time was up, or the disk full: the command goes with the recording. */
	if (w->child && (r->duration_ns || r->sink.error))
		kill(w->child, SIGTERM);
	watch_reap(w, &wait_status, &usage);
	return status ? status : launch_exit_status(wait_status);
}

static int run_prepared(struct record *r, struct watch *w, struct launch *l)
{
	int err = r->command ? launch_go(l) : 0;

	if (err)
		return launch_error(r->command[0], err);
	run_until_end(r, w);
	end_log(r);
	return end_command(r, w, 0);
}

static int prepare(struct record *r, struct watch *w, struct launch *l)
{
	bool own = r->command && !r->system && !r->npid;

	for (unsigned int i = 0; i < r->events.n; i++)
		if (add_event(r, r->events.spec[i], own) < 0)
			return -1;
	if (r->command && launch_prepare(l, r->command) < 0) {
		msg("cannot start '%s': %s", r->command[0], strerror(errno));
		return -1;
	}
	if (r->command && watch_child(w, l->pid) < 0) {
		msg("cannot watch process %d: %s", l->pid, strerror(errno));
		goto err_launch;
	}
	if (attach_all(r, w, l) < 0 || start_and_read(r) < 0)
		goto err_launch;
	return 0;

err_launch:
	if (r->command)
		launch_cancel(l);
	return -1;
}

static int run(struct record *r)
{
	struct launch l = { .pid = 0 };
	int status = EXIT_STAT_FAILED;
	struct watch w;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return status;
	}
	if (begin_log(r) == 0 && prepare(r, &w, &l) == 0) {
		status = run_prepared(r, &w, &l);
		summary(r);
	}
	watch_close(&w);
	return status;
}

static int close_output(struct record *r, int status)
{
	if (r->sink.fd < 0 || sink_close(&r->sink) == 0)
		return status;
	msg("cannot write '%s': %s: the log is not complete", r->sink.name,
	    strerror(errno));
	return EXIT_STAT_FAILED;
}

int cmd_record(int argc, char *argv[])
{
	struct record r;
	bool help = false;
	int status = parse(&r, argc, argv, &help);

	if (status || help)
		return status;
	status = run(&r);
	hwpmc_rings_close(r.rings);
	hwpmc_close(r.h);
	status = close_output(&r, status);
	free(r.pmcs.id);
	free(r.pid);
	evlist_free(&r.events);
	return status;
}
