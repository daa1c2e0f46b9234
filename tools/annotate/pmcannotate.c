/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcannotate.c - pmcannotate(8) of FreeBSD: a program's functions, with the part of
 * their samples before each instruction. The work is hwpmc annotate's. Samples that
 * are not shown, of other functions and other programs, are lines with a count.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "annotate.h"
#include "common/fmt.h"
#include "common/doubts.h"
#include "common/logopts.h"
#include "common/msg.h"
#include "source.h"

static const char help[] =
"usage: pmcannotate [-a] [-k kernel] [-l level] log binary\n"
"\n"
"Show the functions of a program, a library or the kernel that the samples of a\n"
"log hit: each instruction with its share of the samples of the function. The\n"
"binary is a file, or a name in the log, such as [kernel].\n"
"\n"
"  -a          show instructions without source lines\n"
"  -k KERNEL   read the kernel from this vmlinux, or from the vmlinux and modules\n"
"              in this directory\n"
"  -l PERCENT  show functions with at least this share of the samples of an\n"
"              event; default: 0.5\n"
"  -h, --help  --version\n"
"\n"
"Exit status: 0; 1 if the log cannot be read, or no sample hit the binary; 2 for\n"
"an invalid option.\n";

struct pmcannotate {
	struct logopts log;
	struct annotate_options a;
	double level;
	const char *binary;
	bool end;			/* help or version: nothing is to be done */
	struct hwpmc_profile *profile;
	struct sources sources;
};

/* ---- options ------------------------------------------------------------- */

static int parse_option(struct pmcannotate *pa, int c)
{
	switch (c) {
	case 'a':
		pa->a.no_lines = true;
		return 0;
	case 'k':
		pa->log.o.symbols.kernel = optarg;
		return 0;
	case 'l':
		return logopts_percent(optarg, &pa->level);
	default:
		fputs(c == 'h' ? help : "pmcannotate " VERSION "\n", stdout);
		pa->end = true;
		return 0;
	}
}

static int parse_options(struct pmcannotate *pa, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 256 },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	while ((c = getopt_long(argc, argv, "+:ahk:l:", options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		err = parse_option(pa, c);
		if (err || pa->end)
			return err;
	}
	if (argc - optind < 2)
		return msg_usage("give a log and a binary");
	if (argc - optind > 2)
		return msg_usage("unexpected argument '%s'",
				 argv[optind + 2]);
	pa->log.input = argv[optind];
	pa->binary = argv[optind + 1];
	return 0;
}

/* ---- which image --------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static bool is_meant(const struct pmcannotate *pa,
		     const struct hwpmc_image *image)
{
	const char *kernel = pa->log.o.symbols.kernel;

	if (strcmp(pa->binary, image->path) == 0)
		return true;
	if (image->kind == HWPMC_IMAGE_KERNEL && kernel)
		return is_same_file(pa->binary, kernel);
	return image->kind == HWPMC_IMAGE_ELF &&
	       is_same_file(pa->binary, image->path);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What has its name, but is another file. */
static const char *similar_image(const struct pmcannotate *pa)
{
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(pa->profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (image[i]->samples &&
		    strcmp(image[i]->name, last_part(pa->binary)) == 0)
			return image[i]->path;
	return NULL;
}

static uint64_t samples_of_binary(const struct pmcannotate *pa)
{
	struct hwpmc_image *const *image;
	uint64_t samples = 0;
	uint32_t n;

	image = hwpmc_profile_images(pa->profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (image[i]->samples && is_meant(pa, image[i]))
			samples += image[i]->samples;
	return samples;
}

static int refuse_binary(const struct pmcannotate *pa)
{
	const char *other = similar_image(pa);

	if (other)
		msg("no sample of '%s' hit '%s', but '%s' was hit", pa->log.input,
		    pa->binary, other);
	else
		msg("no sample of '%s' hit '%s'; see: hwpmc report -i %s -s image",
		    pa->log.input, pa->binary, pa->log.input);
	return EXIT_FAILED;
}

/* ---- functions ----------------------------------------------------------- */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* The line before another one's instructions; its column is empty. */
static void print_source(struct pmcannotate *pa, const struct annotate_insn *insn)
{
	printf("%8s | ", "");
	fmt_put_plain(stdout, last_part(insn->file), 0);
	printf(":%u: ", insn->line);
	fmt_put_plain(stdout, source_line(&pa->sources, insn->file, insn->line), 0);
	putchar('\n');
}

static bool is_new_line(const struct annotate *a, uint32_t i)
{
	const struct annotate_insn *insn = &a->insn[i];

	return insn->file &&
	       (!i || insn[-1].line != insn->line || !insn[-1].file ||
		strcmp(insn[-1].file, insn->file));
}

static void print_insns(struct pmcannotate *pa, const struct annotate *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct annotate_insn *insn = &a->insn[i];

		if (is_new_line(a, i))
			print_source(pa, insn);
		if (insn->samples)
			printf("%7.2f%%", percent_of(insn->samples, a->samples));
		else
			printf("%8s", "");
		printf(" | %8" PRIx64 ":  ", insn->addr);
		fmt_put_plain(stdout, insn->text, 0);
		putchar('\n');
	}
	if (a->outside)
		printf("%7.2f%% | (after the code that could be read)\n",
		       percent_of(a->outside, a->samples));
}

static void print_function(struct pmcannotate *pa, uint32_t event,
			   const struct annotate_function *f,
			   const struct hwpmc_profile_event *ev)
{
	struct annotate *a;
	char why[5000];

	putchar('\n');
	fmt_put_plain(stdout, f->symbol->name, 0);
	printf("() [%.2f%%, %" PRIu64 " %s]\n", percent_of(f->samples, ev->samples),
	       f->samples, logopts_unit(ev));
	a = annotate_new(pa->profile, event, f->symbol, &pa->a, why,
			 sizeof(why));
	if (!a) {
		printf("cannot be shown: %s\n", fmt_plain(why));
		return;
	}
	sources_of(&pa->sources, f->symbol->image);
	print_insns(pa, a);
	annotate_free(a);
}

static void print_rest(const char *what, uint64_t samples,
		       const struct hwpmc_profile_event *ev)
{
	if (samples)
		printf("\n%s [%.2f%%, %" PRIu64 " %s]\n", what,
		       percent_of(samples, ev->samples), samples, logopts_unit(ev));
}

static void print_event(struct pmcannotate *pa, uint32_t event,
			const struct hwpmc_profile_event *ev)
{
	uint64_t below = 0, elsewhere = 0;
	struct annotate_function *f;
	char taken[LOGOPTS_RATE];
	uint32_t n;

	fputs(event ? "\n" : "", stdout);
	fmt_put_plain(stdout, ev->name, 0);
	printf(": %s\n", logopts_taken(ev, taken));
	f = annotate_functions(&pa->a.hits, event, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_meant(pa, f[i].symbol->image))
			elsewhere += f[i].samples;
		else if (percent_of(f[i].samples, ev->samples) < pa->level)
			below += f[i].samples;
		else
			print_function(pa, event, &f[i], ev);
	}
	print_rest("other functions", below, ev);
	print_rest("not in this binary", elsewhere, ev);
	free(f);
}

static int print_profile(struct pmcannotate *pa)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	if (!samples_of_binary(pa))
		return refuse_binary(pa);
	ev = hwpmc_profile_events(pa->profile, &n);
	annotate_hits_make(&pa->a.hits, pa->profile);
	for (uint32_t e = 0; e < n; e++)
		print_event(pa, e, &ev[e]);
	annotate_hits_free(&pa->a.hits);
	doubts_tell(pa->profile);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	msg("cannot write to standard output: %s", strerror(errno));
	return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
	struct pmcannotate pa = { .level = 0.5 };
	int status;

	msg_prog = "pmcannotate";
	logopts_init(&pa.log);
	status = parse_options(&pa, argc, argv);
	if (status || pa.end)
		return status;
	pa.log.o.leaf_only = true;
	pa.profile = logopts_read(&pa.log, pa.log.input);
	status = pa.profile ? print_profile(&pa) : EXIT_FAILED;
	hwpmc_profile_free(pa.profile);
	sources_free(&pa.sources);
	logopts_free(&pa.log);
	return status;
}
