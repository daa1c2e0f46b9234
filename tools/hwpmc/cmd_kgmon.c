/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_kgmon.c - "hwpmc kgmon": the histogram of the kernel, begun, halted, reset and
 * written as gmon.out. The PMCs that drive it belong to a process of ours that stays
 * until it is halted.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "common/commands.h"
#include "common/cpus.h"
#include "common/fmt.h"
#include "common/machine.h"
#include "common/msg.h"
#include "common/output.h"
#include "export/gmon.h"

#define DEFAULT_PERIOD	1000003
#define LINKED_AT	0xffffffff81000000ull	/* _stext of a kernel's file */
#define KEEPER_MS	100

const char cmd_kgmon_help[] =
"usage: hwpmc kgmon [-b] [-h] [-r] [-p] [option ...]\n"
"\n"
"Collect a histogram of kernel addresses for gprof. Without -b, -h, -r or -p:\n"
"show the state. The order of actions is halt, write, reset, begin.\n"
"\n"
"  -b                  begin: sample on all CPUs\n"
"  -h                  halt: stop sampling, keep the histogram\n"
"  -p                  write gmon.out; to read it: gprof VMLINUX gmon.out\n"
"  -r                  reset: clear the histogram\n"
"  -e EVENT            with -b: sample this event; default: cycles, kernel mode\n"
"  -c PERIOD           with -b: sample every PERIOD events; default: 1000003\n"
"  -k VMLINUX          with -p: read the address of the kernel from this file;\n"
"                      needed if it is not linked at the usual address\n"
"  -o FILE             with -p: write to FILE instead of gmon.out\n"
"\n"
"Exit status: 0; 1 if an action failed; 2 for an invalid option.\n";

struct kgmon {
	bool begin, halt, write, reset;
	const char *event, *vmlinux, *output;
	uint64_t period;
	struct hwpmc *h;
};

static int do_op(struct kgmon *k, uint32_t command, struct hwpmc_op_kgmon *op)
{
	op->command = command;
	if (hwpmc_kgmon(k->h, op) == 0)
		return 0;
	msg("%s", hwpmc_error(k->h));
	return -1;
}

/* ---- the process that keeps the PMCs ------------------------------------- */

static int start_on(struct kgmon *k, const char *event, uint32_t cpu)
{
	uint32_t id;

	if (hwpmc_allocate(k->h, event, HWPMC_MODE_SS, HWPMC_F_KGMON, cpu,
			   k->period, &id) == 0 && hwpmc_start(k->h, id) == 0)
		return 0;
	msg("%s", hwpmc_error(k->h));
	return -1;
}

static int start_all(struct kgmon *k)
{
	struct hwpmc_op_kgmon op = { .nentry = 0 };
	struct cpus cpus = { .n = 0 };
	const char *event = k->event;

	if (!event)
		event = machine_has_counters(k->h) ? "cycles:k" : "clock.prof:k";
	if (cpus_online(&cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		return -1;
	}
	for (unsigned int i = 0; i < cpus.n; i++)
		if (start_on(k, event, cpus.cpu[i]) < 0)
			return -1;
	return do_op(k, HWPMC_KGMON_ON, &op);
}

/* Holds the PMCs until the histogram is halted. */
static _Noreturn void kgmon_keep(struct kgmon *k, int ready)
{
	const struct timespec step = { .tv_nsec = KEEPER_MS * 1000000l };
	struct hwpmc_op_kgmon op = { .nentry = 0 };

	setsid();
	if (start_all(k) < 0)
		_exit(EXIT_FAILED);
	if (write(ready, "", 1) != 1)
		_exit(EXIT_FAILED);
	close(ready);
	if (!freopen("/dev/null", "r+", stdin) ||
	    dup2(STDIN_FILENO, STDOUT_FILENO) < 0 ||
	    dup2(STDIN_FILENO, STDERR_FILENO) < 0 || chdir("/"))
		_exit(EXIT_FAILED);
	do {
		nanosleep(&step, NULL);
		op = (struct hwpmc_op_kgmon){ .command = HWPMC_KGMON_READ };
	} while (hwpmc_kgmon(k->h, &op) == 0 && op.on);
	_exit(0);
}

static int kgmon_begin(struct kgmon *k)
{
	struct hwpmc_op_kgmon op = { .nentry = 0 };
	int ready[2];
	pid_t pid;
	char c;

	if (do_op(k, HWPMC_KGMON_READ, &op) < 0)
		return -1;
	if (op.on && op.users) {
		msg("the histogram is already being collected; to stop: hwpmc kgmon -h");
		return -1;
	}
	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		msg("cannot start a process: %s", strerror(errno));
		return -1;
	}
	if (!pid) {
		/* An owner of its own. */
		hwpmc_close(k->h);
		close(ready[0]);
		if (hwpmc_open(&k->h) < 0) {
			msg("%s", hwpmc_error(NULL));
			_exit(EXIT_FAILED);
		}
		kgmon_keep(k, ready[1]);
	}
	close(ready[1]);
	/* Nothing comes where it has failed, and said why. */
	return read(ready[0], &c, 1) == 1 ? 0 : -1;
}

/* ---- writing ------------------------------------------------------------- */

static uint64_t symbol_in(Elf *elf, Elf_Scn *section, const char *name)
{
	GElf_Shdr head;
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(section, &head) ||
	    head.sh_type != SHT_SYMTAB)
		return 0;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *its = elf_strptr(elf, head.sh_link, symbol.st_name);

		if (its && strcmp(its, name) == 0)
			return symbol.st_value;
	}
	return 0;
}

/* Where the file has the beginning of the kernel's text; 0: it does not say. */
static uint64_t linked_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	uint64_t at = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	while (elf && !at && (section = elf_nextscn(elf, section)))
		at = symbol_in(elf, section, "_stext");
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return at;
}

struct text {
	uint64_t start, end;		/* where the running kernel has it */
};

static int find_text(struct text *t)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t at;

	*t = (struct text){ 0, 0 };
	while (f && fgets(line, sizeof(line), f) && !(t->start && t->end)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, name) != 2)
			continue;
		if (strcmp(name, "_stext") == 0)
			t->start = at;
		if (strcmp(name, "_etext") == 0)
			t->end = at;
	}
	if (f)
		fclose(f);
	if (t->start && t->end)
		return 0;
	msg("cannot find the address of the kernel: /proc/kallsyms shows no addresses; as root: sysctl kernel.kptr_restrict=1");
	return -1;
}

static int read_entries(struct kgmon *k, struct hwpmc_op_kgmon *op,
			struct hwpmc_kgmon_entry **entries)
{
	uint32_t room;

	if (do_op(k, HWPMC_KGMON_READ, op) < 0)
		return -1;
	/* While it is collected there may be more by then. */
	room = op->nentry + op->nentry / 8 + 1024;
	*entries = must_calloc(room, sizeof(**entries));
	op->nentry = room;
	op->entries = (uintptr_t)*entries;
	return do_op(k, HWPMC_KGMON_READ, op);
}

static uint64_t write_buckets(FILE *f, const struct hwpmc_kgmon_entry *e,
			      uint32_t n, const struct text *t, uint64_t base)
{
	struct gmon_bucket *b = must_calloc(n + 1, sizeof(*b));
	uint64_t elsewhere = 0;
	uint32_t out = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (e[i].address < t->start || e[i].address >= t->end) {
			elsewhere += e[i].count;
			continue;
		}
		b[out++] = (struct gmon_bucket){
			(e[i].address - t->start + base) / GMON_BUCKET,
			e[i].count,
		};
	}
	gmon_begin(f);
	if (out)
		gmon_put_buckets(f, 8, 1, b, out);
	free(b);
	return elsewhere;
}

static int write_file(struct kgmon *k, const struct hwpmc_op_kgmon *op,
		      const struct hwpmc_kgmon_entry *entries)
{
	uint64_t base = k->vmlinux ? linked_at(k->vmlinux) : LINKED_AT;
	uint64_t elsewhere;
	struct text text;
	FILE *f;

	if (!base) {
		msg("'%s' is not a kernel with symbols: it has no _stext", k->vmlinux);
		return -1;
	}
	if (find_text(&text) < 0)
		return -1;
	f = output_fopen(k->output);
	if (f)
		elsewhere = write_buckets(f, entries, op->nentry, &text, base);
	if (!f || ferror(f) | fclose(f)) {
		msg("cannot write '%s': %s", k->output, strerror(errno));
		return -1;
	}
	fprintf(stderr, "%" PRIu64 " samples of the kernel in %s\n",
		(uint64_t)op->kernel - elsewhere, k->output);
	if (elsewhere)
		msg("%" PRIu64 " samples in modules were not written: gprof reads one program only",
		    elsewhere);
	if (op->lost)
		msg("%" PRIu64 " samples were dropped: the histogram is full", (uint64_t)op->lost);
	return 0;
}

static int write_histogram(struct kgmon *k)
{
	struct hwpmc_kgmon_entry *entries = NULL;
	struct hwpmc_op_kgmon op = { .nentry = 0 };
	int rc = read_entries(k, &op, &entries);

	if (!rc)
		rc = write_file(k, &op, entries);
	free(entries);
	return rc;
}

/* ---- the command --------------------------------------------------------- */

static int kgmon_show(struct kgmon *k)
{
	struct hwpmc_op_kgmon op = { .nentry = 0 };

	if (do_op(k, HWPMC_KGMON_READ, &op) < 0)
		return -1;
	printf("%s, %u counters; %" PRIu64 " samples in the kernel, %" PRIu64
	       " in user mode, %" PRIu64 " lost\n", op.on ? "collecting" : "halted",
	       op.users, (uint64_t)op.kernel, (uint64_t)op.user,
	       (uint64_t)op.lost);
	return 0;
}

static int kgmon_run(struct kgmon *k)
{
	struct hwpmc_op_kgmon op = { .nentry = 0 };

	if (k->halt && do_op(k, HWPMC_KGMON_OFF, &op) < 0)
		return -1;
	if (k->write && write_histogram(k) < 0)
		return -1;
	if (k->reset && do_op(k, HWPMC_KGMON_RESET, &op) < 0)
		return -1;
	if (k->begin && kgmon_begin(k) < 0)
		return -1;
	return k->halt || k->write || k->reset || k->begin ? 0 : kgmon_show(k);
}

static int parse_option(struct kgmon *k, int c)
{
	switch (c) {
	case 'b':
		k->begin = true;
		break;
	case 'h':
		k->halt = true;
		break;
	case 'p':
		k->write = true;
		break;
	case 'r':
		k->reset = true;
		break;
	case 'e':
		k->event = optarg;
		break;
	case 'k':
		k->vmlinux = optarg;
		break;
	case 'o':
		k->output = optarg;
		break;
	default:
		if (fmt_parse_u64(optarg, 1, INT64_MAX, &k->period) < 0)
			return msg_usage("invalid period '%s'", optarg);
	}
	return 0;
}

int cmd_kgmon(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'H' },
		{ NULL, 0, NULL, 0 },
	};
	struct kgmon k = { .period = DEFAULT_PERIOD, .output = "gmon.out" };
	int c, status = 0;

	while ((c = getopt_long(argc, argv, ":bhpre:c:k:o:", options,
				NULL)) != -1) {
		if (c == 'H') {
			fputs(cmd_kgmon_help, stdout);
			return 0;
		}
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		status = parse_option(&k, c);
		if (status)
			return status;
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (hwpmc_open(&k.h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	status = kgmon_run(&k) < 0 ? EXIT_FAILED : 0;
	hwpmc_close(k.h);
	return status;
}
