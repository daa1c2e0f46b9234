/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat.c - count events as FreeBSD's pmcstat(8) does: positional options,
 * one column a PMC. Here are the options only; sampling and logs are refused.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "fmt.h"
#include "msg.h"
#include "pmcstat.h"
#include "procs.h"

static const char help[] =
"usage: pmcstat [option ...] [command [argument ...]]\n"
"\n"
"Count events of processes (-p) and of CPUs (-s), one column each.\n"
"\n"
"  -p EVENT    count EVENT in the target processes\n"
"  -s EVENT    count EVENT on each CPU of the last -c\n"
"  -c CPUS     CPUs of the -s options that follow: 0,2-3 or *; default *\n"
"  -d          toggle: the -p options that follow count descendants too\n"
"  -C          toggle: the options that follow show totals, not increments\n"
"  -t PID|RE   attach to a process, or to those whose name matches; repeatable\n"
"  -w SECONDS  print so often; default 5, fractions are allowed\n"
"  -l SECONDS  end after this time\n"
"  -o FILE     print there instead of to standard error\n"
"  -q          no warnings          -v  tell what is done\n"
"      --help  --version\n"
"\n"
"Ends when the command exits, when the last target is gone, with -l, or at an\n"
"interrupt.\n";

/* Options of FreeBSD's that need samples or a log. */
#define SAMPLING_OPTIONS	"P:S:n:NUO:R:TG:F:gD:eM:m:a:f:Ii:k:r:z:EWLu:"

/* What positional options have set so far. */
struct position {
	struct cpus cpus;
	bool descendants, cumulative;
};

static void add_event(struct pmcstat *ps, const struct position *pos,
		      const char *spec, bool system, uint32_t cpu)
{
	ps->event = must_realloc(ps->event, ps->nevent + 1, sizeof(*ps->event));
	ps->event[ps->nevent++] = (struct pmcstat_event){
		.spec = spec, .system = system, .cpu = cpu,
		.descendants = pos->descendants,
		.cumulative = pos->cumulative, .id = HWPMC_ID_INVALID,
	};
}

static void add_system_event(struct pmcstat *ps, const struct position *pos,
			     const char *spec)
{
	for (unsigned int i = 0; i < pos->cpus.n; i++)
		add_event(ps, pos, spec, true, pos->cpus.cpu[i]);
}

static int parse_cpus(struct position *pos, const char *arg)
{
	int err = strcmp(arg, "*") == 0 ? cpus_online(&pos->cpus) :
		  cpus_parse(arg, &pos->cpus);

	return err < 0 ? msg_usage("'%s' is no list of CPUs", arg) : 0;
}

static int parse_seconds(const char *arg, uint64_t *ns)
{
	char *end;
	double s = strtod(arg, &end);

	if (end == arg || *end || !(s >= 1e-3 && s <= 1e9))
		return msg_usage("'%s' is no number of seconds", arg);
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
		return msg_usage("'%s' is no process id and no regular "
				 "expression", pattern);
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

static int parse_option(struct pmcstat *ps, struct position *pos, int c)
{
	switch (c) {
	case 'p':
		add_event(ps, pos, optarg, false, HWPMC_CPU_ANY);
		return 0;
	case 's':
		add_system_event(ps, pos, optarg);
		return 0;
	case 'c':
		return parse_cpus(pos, optarg);
	case 'd':
		pos->descendants = !pos->descendants;
		return 0;
	case 'C':
		pos->cumulative = !pos->cumulative;
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
	case 'q':
		ps->quiet = true;
		return 0;
	case 'v':
		ps->verbose++;
		return 0;
	default:
		msg("cannot take option -%c: sampling and logs are not in this "
		    "version; it counts, by -p and -s", c);
		return EXIT_USAGE;
	}
}

static bool has_process_event(const struct pmcstat *ps)
{
	for (unsigned int i = 0; i < ps->nevent; i++)
		if (!ps->event[i].system)
			return true;
	return false;
}

static int check_options(const struct pmcstat *ps)
{
	if (!ps->nevent)
		return msg_usage("an event is missing: -p or -s");
	if (has_process_event(ps) && !ps->command && !ps->npid)
		return msg_usage("-p needs a command or -t");
	if (!has_process_event(ps) && ps->npid)
		return msg_usage("-t needs an event of process scope: -p");
	return 0;
}

static int parse(struct pmcstat *ps, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 256 },
		{ "version", no_argument, NULL, 257 },
		{ NULL, 0, NULL, 0 },
	};
	struct position pos = { .descendants = false };
	int c, err;

	if (cpus_online(&pos.cpus) < 0) {
		msg("cannot tell which CPUs are online: %s", strerror(errno));
		return EXIT_FAILED;
	}
	while ((c = getopt_long(argc, argv,
				"+:p:s:c:dCt:w:l:o:qv" SAMPLING_OPTIONS,
				options, NULL)) != -1) {
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
	}
	if (optind < argc)
		ps->command = argv + optind;
	return check_options(ps);
}

static int open_output(struct pmcstat *ps)
{
	ps->out = stderr;
	if (!ps->output_path)
		return 0;
	ps->out = strcmp(ps->output_path, "-") == 0 ? stdout :
		  fopen(ps->output_path, "we");
	if (ps->out)
		return 0;
	msg("cannot write '%s': %s", ps->output_path, strerror(errno));
	return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
	struct pmcstat ps = { .interval_ns = 5000000000ull };
	int status;

	msg_prog = "pmcstat";
	status = parse(&ps, argc, argv);
	if (!status)
		status = open_output(&ps);
	if (!status && hwpmc_open(&ps.h) < 0) {
		msg("%s", hwpmc_error(NULL));
		status = EXIT_FAILED;
	}
	if (!status)
		status = pmcstat_run(&ps);
	hwpmc_close(ps.h);
	if (ps.out && ps.out != stderr && fclose(ps.out) && !status) {
		msg("cannot write the counts: %s", strerror(errno));
		status = EXIT_FAILED;
	}
	free(ps.event);
	free(ps.pid);
	return status;
}
