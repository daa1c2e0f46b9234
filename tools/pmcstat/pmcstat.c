/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat.c - count and sample events as FreeBSD's pmcstat(8) does: positional
 * options, one column a PMC that counts, a log of those that sample. Here are the
 * options only.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cpus.h"
#include "common/fmt.h"
#include "common/msg.h"
#include "common/output.h"
#include "common/watch.h"
#include "pmcstat.h"
#include "record/procs.h"

static const char help[] =
"usage: pmcstat [option ...] [command [argument ...]]\n"
"       pmcstat -R file|host:port [option ...]\n"
"\n"
"Count events of processes (-p) and of CPUs (-s), one column each; sample them\n"
"(-P, -S) into a log; print a log (-R), or make graphs and lists from it.\n"
"\n"
"  -p EVENT    count EVENT in the target processes; -P EVENT  sample it\n"
"  -s EVENT    count EVENT on each CPU of the last -c; -S EVENT  sample it\n"
"  -t PID|RE   attach to a process, or to those whose name matches; repeatable\n"
"  -w SECONDS  interval between lines; default 5, fractions are allowed\n"
"  -l SECONDS  stop after this time\n"
"  -o FILE     print there instead of to standard error\n"
"  -O FILE|HOST:PORT  write the log there; default: print it as text\n"
"  -R FILE|HOST:PORT  print this log, or listen there for a sender\n"
"  -i LWP      use only the samples of this thread\n"
"  -G FILE     write a call graph to FILE; - is standard output\n"
"  -F FILE     write a call tree for KCachegrind and callgrind_annotate\n"
"  -g          write DIR/EVENT/IMAGE.gmon for gprof; -D DIR  default .\n"
"  -M FILE     with -R and -g: list the .gmon file of each object\n"
"  -e          with -g: accepted and ignored; all counts fit the files\n"
"  -m FILE     with -R: write address, function and its range of each sample\n"
"  -a FILE     with -R: write the functions and source lines of call chains\n"
"  -z DEPTH    limit -G and -T to this many levels\n"
"  -T          show where the samples are, updated every -w seconds\n"
"  -f threshold=PERCENT  omit functions with less from -G and -T\n"
"  -f skiplink=0|1  with -T: show functions without samples as dots in call trees\n"
"  -I          with -G and -T: show the offset in each function\n"
"  -k DIR      search for the kernel and its modules there\n"
"  -r DIR      search for programs and libraries under DIR\n"
"  -L          list the events          -u EVENT  describe one\n"
"  -q          no warnings              -v  verbose\n"
"      --max-size MIB     with -R HOST:PORT: end when more than MIB arrived;\n"
"                  default 4096; 0: no limit\n"
"      --silence SECONDS  with -R HOST:PORT: end after SECONDS without data;\n"
"                  default 3600\n"
"      --help  --version\n"
"\n"
"Options for the events that follow them:\n"
"  -c CPUS     CPUs of -s and -S: 0,2-3 or *; default *\n"
"  -n RATE     sample every RATE events; default 65536\n"
"  -d          toggle: -p and -P include descendants\n"
"  -C          toggle: show totals, not increments\n"
"  -N          toggle: sample without call chains\n"
"  -U          toggle: add the user's call chain to samples of the kernel\n"
"  -W          toggle: log the counts of -p at each context switch\n"
"  -E          toggle: log the counts of -p when a process exits\n"
"\n"
"Ends when the command exits, when the last target is gone, with -l, or at an\n"
"interrupt.\n";

#define DEFAULT_RATE	65536

enum {
	OPT_MAX_SIZE = 258, OPT_SILENCE,
};

/* What positional options have set so far. */
struct position {
	struct cpus cpus;
	uint64_t rate;
	bool descendants, cumulative, no_chain, user_chain, csw, exit;
};

static uint32_t flags_of(const struct position *pos, bool system, bool sampling)
{
	uint32_t flags = 0;

	if (!system && pos->descendants)
		flags |= HWPMC_F_DESCENDANTS;
	if (!system && !sampling)
		flags |= (pos->csw ? HWPMC_F_LOG_PROCCSW : 0) |
			 (pos->exit ? HWPMC_F_LOG_PROCEXIT : 0);
	if (sampling && !pos->no_chain)
		flags |= HWPMC_F_CALLCHAIN |
			 (pos->user_chain ? HWPMC_F_USERCALLCHAIN : 0);
	return flags;
}

static void add_event(struct pmcstat *ps, const struct position *pos,
		      bool system, bool sampling, uint32_t cpu)
{
	uint32_t flags = flags_of(pos, system, sampling);

	ps->event = must_realloc(ps->event, ps->nevent + 1, sizeof(*ps->event));
	ps->event[ps->nevent++] = (struct pmcstat_event){
		.spec = must_strdup(optarg), .system = system, .sampling = sampling,
		.cpu = cpu, .flags = flags,
		.rate = sampling ? pos->rate : 0,
		.cumulative = pos->cumulative, .id = HWPMC_ID_INVALID,
	};
	ps->ncounting += !sampling;
	ps->nsampling += sampling;
	ps->nprocess += !system;
	ps->logging |= sampling ||
		       flags & (HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT);
}

static void add_system_events(struct pmcstat *ps, const struct position *pos,
			      bool sampling)
{
	for (unsigned int i = 0; i < pos->cpus.n; i++)
		add_event(ps, pos, true, sampling, pos->cpus.cpu[i]);
}

static int parse_cpus(struct position *pos, const char *arg)
{
	int err = strcmp(arg, "*") == 0 ? cpus_online(&pos->cpus) :
		  cpus_parse(arg, &pos->cpus);

	return err < 0 ? msg_usage("invalid CPU list '%s' (0,2-5)", arg) : 0;
}

static int parse_seconds(const char *arg, uint64_t *ns)
{
	char *end;
	double s = strtod(arg, &end);

	if (end == arg || *end || !(s >= 1e-3 && s <= 1e9))
		return msg_usage("invalid number of seconds '%s'", arg);
	*ns = s * 1e9;
	return 0;
}

static void add_pid(struct pmcstat *ps, pid_t pid)
{
	/* Two patterns may find the same process. */
	for (unsigned int i = 0; i < ps->npid; i++)
		if (ps->pid[i] == pid)
			return;
	ps->pid = must_realloc(ps->pid, ps->npid + 1, sizeof(*ps->pid));
	ps->pid[ps->npid++] = pid;
}

static int add_matching(struct pmcstat *ps, const char *pattern)
{
	pid_t *pid = NULL;
	regex_t re;
	int n;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return msg_usage("'%s' is neither a process ID nor a "
				 "regular expression", pattern);
	n = procs_match(&re, &pid);
	regfree(&re);
	for (int i = 0; i < n; i++)
		add_pid(ps, pid[i]);
	free(pid);
	if (n > 0)
		return 0;
	msg("cannot attach: no process has a name that matches '%s'", pattern);
	return EXIT_FAILED;
}

static int add_target(struct pmcstat *ps, const char *arg)
{
	uint64_t pid;

	if (fmt_parse_u64(arg, 1, INT32_MAX, &pid) == 0) {
		add_pid(ps, pid);
		return 0;
	}
	return add_matching(ps, arg);
}

static int parse_rate(const char *arg, uint64_t *rate)
{
	if (fmt_parse_u64(arg, 1, INT64_MAX, rate) == 0)
		return 0;
	return msg_usage("invalid sampling rate '%s' (at least 1)", arg);
}

static int parse_lwp(struct pmcstat *ps, const char *arg)
{
	uint64_t lwp;

	if (fmt_parse_u64(arg, 1, INT32_MAX, &lwp) < 0)
		return msg_usage("invalid thread ID '%s'", arg);
	ps->lwp = lwp;
	return 0;
}

/* Of a connection. */
static int parse_limit(const char *what, const char *arg, uint64_t most,
		       uint64_t *limit)
{
	if (fmt_parse_u64(arg, 0, most, limit) < 0)
		return msg_usage("invalid %s '%s'", what, arg);
	return 0;
}

/* Those that say something about the events behind them. */
static int parse_positional(struct pmcstat *ps, struct position *pos, int c)
{
	switch (c) {
	case 'c':
		return parse_cpus(pos, optarg);
	case 'n':
		return parse_rate(optarg, &pos->rate);
	case 'd':
		pos->descendants = !pos->descendants;
		return 0;
	case 'C':
		pos->cumulative = !pos->cumulative;
		return 0;
	case 'N':
		pos->no_chain = !pos->no_chain;
		return 0;
	case 'U':
		pos->user_chain = !pos->user_chain;
		return 0;
	case 'W':
		pos->csw = !pos->csw;
		return 0;
	case 'E':
		pos->exit = !pos->exit;
		return 0;
	default:
		return pmcstat_views_parse(ps, c, optarg);
	}
}

static int parse_option(struct pmcstat *ps, struct position *pos, int c)
{
	switch (c) {
	case 'p':
	case 'P':
		add_event(ps, pos, false, c == 'P', HWPMC_CPU_ANY);
		return 0;
	case 's':
	case 'S':
		add_system_events(ps, pos, c == 'S');
		return 0;
	case 't':
		return add_target(ps, optarg);
	case 'w':
		return parse_seconds(optarg, &ps->interval_ns);
	case 'l':
		return parse_seconds(optarg, &ps->limit_ns);
	case 'o':
		ps->output_path = optarg;
		return 0;
	case 'O':
		ps->log_path = optarg;
		return 0;
	case 'R':
		ps->read_path = optarg;
		return 0;
	case 'i':
		return parse_lwp(ps, optarg);
	case OPT_MAX_SIZE:
		return parse_limit("size", optarg, UINT32_MAX, &ps->max_mib);
	case OPT_SILENCE:
		return parse_limit("time", optarg, INT32_MAX / 1000, &ps->silence);
	case 'L':
		ps->list = true;
		return 0;
	case 'u':
		ps->describe = optarg;
		return 0;
	case 'q':
		ps->quiet = true;
		return 0;
	case 'v':
		ps->verbose++;
		return 0;
	default:
		return parse_positional(ps, pos, c);
	}
}

static int check_reading(const struct pmcstat *ps)
{
	if (ps->log_path)
		return msg_usage("-O and -R cannot be combined");
	if (ps->command || ps->npid || ps->nevent)
		return msg_usage("-R cannot be combined with a command, -t or "
				 "events");
	return 0;
}

static int check_options(const struct pmcstat *ps)
{
	int err;

	if (ps->list || ps->describe)
		return 0;
	err = pmcstat_views_check(ps);
	if (err)
		return err;
	if (ps->read_path)
		return check_reading(ps);
	if (ps->lwp && !ps->views.any && !ps->views.top)
		return msg_usage("-i needs a log to read (-R)");
	if (!ps->nevent)
		return msg_usage("no event is given; use -p, -s, -P or -S");
	if (ps->nprocess && !ps->command && !ps->npid)
		return msg_usage("-p and -P need a command or -t");
	if (!ps->nprocess && ps->npid)
		return msg_usage("-t needs an event of process scope (-p or -P)");
	if (ps->log_path && !ps->logging)
		return msg_usage("-O needs events to log: -P, -S, or -p after "
				 "-W or -E");
	if (ps->ncounting && ps->nsampling && !ps->log_path && !ps->views.any)
		return msg_usage("counting and sampling together need -O");
	return 0;
}

static int parse_options(struct pmcstat *ps, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 256 },
		{ "version", no_argument, NULL, 257 },
		{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
		{ "silence", required_argument, NULL, OPT_SILENCE },
		{ NULL, 0, NULL, 0 },
	};
	struct position pos = { .rate = DEFAULT_RATE };
	int c, err, unused = 0;

	if (cpus_online(&pos.cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		return EXIT_FAILED;
	}
	while ((c = getopt_long(argc, argv,
				"+:p:s:P:S:c:n:dCNUWEt:w:l:o:O:R:i:Lu:qv"
				VIEW_OPTIONS, options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		if (c == 256 || c == 257) {
			fputs(c == 256 ? help : "pmcstat " VERSION "\n",
			      stdout);
			exit(0);
		}
		err = parse_option(ps, &pos, c);
		if (err)
			return err;
		if (c < 128 && strchr("pPsS", c))
			unused = 0;
		else if (c < 128 && strchr("cndCNUWE", c))
			unused = c;
	}
	if (ps->nevent && unused)
		msg("-%c is ignored, as no event follows it; give it before -p, -s, -P or -S", unused);
	if (optind < argc)
		ps->command = argv + optind;
	return check_options(ps);
}

static int open_output(struct pmcstat *ps)
{
	ps->out = ps->read_path || ps->list || ps->describe || ps->views.top ?
		  stdout : stderr;
	/* Lines of a log come fast. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	if (!ps->output_path)
		return 0;
	ps->out = strcmp(ps->output_path, "-") == 0 ? stdout :
		  output_fopen(ps->output_path);
	if (ps->out)
		return 0;
	msg("cannot write '%s': %s", ps->output_path, strerror(errno));
	return EXIT_FAILED;
}

static int print_event(const struct hwpmc_event_info *info, void *arg)
{
	const struct pmcstat *ps = arg;

	if (ps->list)
		fprintf(ps->out, "%s\n", info->name);
	else if (strcasecmp(info->name, ps->describe) == 0)
		return fprintf(ps->out, "%s: %s\n", info->name,
			       info->desc ? info->desc : "");
	return 0;
}

static int show_events(struct pmcstat *ps)
{
	int found = hwpmc_event_each(ps->h, HWPMC_CLASS_EVERY, print_event, ps);

	if (found < 0)
		msg("%s", hwpmc_error(ps->h));
	else if (ps->describe && !found)
		msg("there is no event '%s' here; see: pmcstat -L",
		    ps->describe);
	return found < 0 || (ps->describe && !found) ? EXIT_FAILED : 0;
}

static int pmcstat_work(struct pmcstat *ps)
{
	int status;

	if (ps->read_path)
		return pmcstat_read(ps);
	if (hwpmc_open(&ps->h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	status = ps->list || ps->describe ? show_events(ps) : pmcstat_run(ps);
	hwpmc_close(ps->h);
	return status;
}

static int close_output(struct pmcstat *ps)
{
	int bad = fflush(ps->out) || ferror(ps->out);

	if (bad)
		watch_end_without_reader(fileno(ps->out));
	if (ps->out != stderr && ps->out != stdout)
		bad |= fclose(ps->out);
	if (!bad)
		return 0;
	msg("cannot write '%s': %s",
	    ps->output_path ? ps->output_path : "standard output",
	    strerror(errno));
	return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
	struct pmcstat ps = {
		.interval_ns = 5000000000ull, .log_fd = -1, .back_fd = -1,
		.max_mib = 4096, .silence = 3600,
	};
	int status, bad;

	msg_prog = "pmcstat";
	status = parse_options(&ps, argc, argv);
	if (!status)
		status = open_output(&ps);
	if (!status)
		status = pmcstat_views_open(&ps);
	if (!status)
		status = pmcstat_work(&ps);
	bad = ps.out ? close_output(&ps) : 0;
	for (unsigned int i = 0; i < ps.nevent; i++)
		free(ps.event[i].spec);
	free(ps.event);
	free(ps.pid);
	return status ? status : bad;
}
