/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * made_report.h - logs that hit the functions of a real program, in a directory of their
 * own, and the commands that read them.
 */
#ifndef TESTS_MADE_REPORT_H
#define TESTS_MADE_REPORT_H

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <unistd.h>

#include "common/commands.h"
#include "harness.h"
#include "made_log.h"

#define CYCLES		0x101
#define BRANCHES	0x102
#define NCYCLES		1053	/* samples that make_log() adds */
#define NBRANCHES	77

static char dir[] = "/tmp/report-XXXXXX";
static char *text;			/* what the last command printed */
static uint64_t at_sixty, at_thirty, at_ten, at_work, at_main, at_inner;

/* ---- logs ---------------------------------------------------------------- */

static uint64_t *place_of(const char *name)
{
	return strcmp(name, "sixty") == 0 ? &at_sixty :
	       strcmp(name, "thirty") == 0 ? &at_thirty :
	       strcmp(name, "ten") == 0 ? &at_ten :
	       strcmp(name, "work") == 0 ? &at_work :
	       strcmp(name, "mark_inner") == 0 ? &at_inner :
	       strcmp(name, "main") == 0 ? &at_main : NULL;
}

static void find_functions(void)
{
	FILE *f = popen("nm " SHARES, "r");
	char line[512], name[256];
	uint64_t addr;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 &&
		    place_of(name))
			*place_of(name) = addr;
	ck_assert_int_eq(pclose(f), 0);
	ck_assert(at_sixty && at_thirty && at_ten && at_work && at_main &&
		  at_inner);
}

static void add_shares(struct made_log *log, uint32_t id, unsigned int times)
{
	uint64_t sixty[] = { at_sixty + 4, at_work + 32, at_main + 16 };
	uint64_t thirty[] = { at_thirty, at_main + 16 };
	uint64_t ten[] = { at_ten, at_work + 32, at_main + 16 };

	made_samples(log, id, HWPMC_SAMPLE_USER, sixty, 3, 60 * times);
	made_samples(log, id, HWPMC_SAMPLE_USER, thirty, 2, 30 * times);
	made_samples(log, id, HWPMC_SAMPLE_USER, ten, 3, 6 * times);
	made_samples(log, id, HWPMC_SAMPLE_USER, ten, 1, 4 * times);
}

static void add_process(struct made_log *log, int32_t pid, const char *path)
{
	uint64_t page = at_main & ~0xfffull;

	made_exec(log, pid, path);
	made_map(log, pid, page, page + 0x1000, page - 0x400000, path);
	made_context(log, pid, pid);
}

/* What is not known, of each kind: no mapping, no file, hidden kernel addresses. */
static void add_unknown(struct made_log *log)
{
	uint64_t nowhere[] = { 0x1234 }, hidden[] = { HWPMC_PC_HIDDEN };
	uint64_t gone[] = { at_ten, 0x4321 };

	made_samples(log, CYCLES, HWPMC_SAMPLE_USER, nowhere, 1, 20);
	made_samples(log, CYCLES, HWPMC_SAMPLE_HIDDEN, hidden, 1, 13);
	add_process(log, 813, "/no/such/file");
	made_samples(log, CYCLES, HWPMC_SAMPLE_USER, gone, 2, 20);
}

static void write_log(struct made_log *log, const char *name)
{
	FILE *f;

	made_end(log);
	f = fopen(name, "w");
	ck_assert_uint_eq(fwrite(log->bytes, 1, log->len, f), log->len);
	fclose(f);
	free(log->bytes);
}

static void make_log(void)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_event(&log, BRANCHES, "branches, \"taken\"");
	add_process(&log, 812, SHARES);
	add_shares(&log, CYCLES, 10);
	made_context(&log, 812, 899);
	made_samples(&log, BRANCHES, HWPMC_SAMPLE_USER, &at_ten, 1, NBRANCHES);
	add_unknown(&log);
	write_log(&log, "log");
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	find_functions();
	make_log();
}

static void teardown(void)
{
	char command[100];

	free(text);
	text = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- commands ------------------------------------------------------------ */

static void read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t size = 0;

	free(text);
	text = NULL;
	ck_assert_ptr_nonnull(f);
	if (getdelim(&text, &size, '\0', f) < 0)
		text[0] = '\0';
	fclose(f);
}

/* Words are separated by blanks. Its output is `text`. */
static int command(const char *format, ...)
{
	char line[1000], *word[40], *rest = line;
	int n = 0, status;
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	while ((word[n] = strsep(&rest, " ")))
		n++;
	word[n++] = "-o";
	word[n++] = "out";
	word[n] = NULL;
	optind = 0;
	status = strcmp(word[0], "report") == 0 ? cmd_report(n, word) :
		 strcmp(word[0], "diff") == 0 ? cmd_diff(n, word) :
		 cmd_annotate(n, word);
	if (status == 0)
		read_text("out");
	return status;
}

/* `text` is what it says besides its output. */
static int said(const char *line)
{
	int kept = dup(STDERR_FILENO);
	FILE *f = fopen("said", "w");
	int status;

	dup2(fileno(f), STDERR_FILENO);
	status = command("%s", line);
	dup2(kept, STDERR_FILENO);
	close(kept);
	fclose(f);
	read_text("said");
	return status;
}

static void has(const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "no '%s' in: %s", line, text);
}

#endif
