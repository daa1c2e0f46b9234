/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_annotate.c - "hwpmc annotate": the instructions and source lines of functions,
 * with their samples. What is not shown, and why not, is a line with a count too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/commands.h"
#include "common/doubts.h"
#include "common/logopts.h"
#include "common/missing.h"
#include "common/msg.h"
#include "print.h"

const char cmd_annotate_help[] =
"usage: hwpmc annotate [option ...] [function ...]\n"
"\n"
"Show the instructions and source lines of functions, and how many samples of a\n"
"log hit each. Without a function: show those with at least 1 percent (see -l).\n"
"\n"
"  -i FILE             read this log; default: hwpmc.log; - is standard input\n"
"  -l, --limit PERCENT show functions with at least this share of the samples;\n"
"                      default: 1, or 0 for functions given by name\n"
"      --image NAME    show only functions of this program or library\n"
"      --source        show only source lines; --asm: only instructions\n"
"      --intel         show instructions in Intel syntax instead of AT&T\n"
"      --json, --csv   print one line per instruction\n"
"      --format FORMAT print text, json or csv\n"
LOGOPTS_FILTER_HELP
LOGOPTS_SYMBOLS_HELP
"  -o FILE             write to FILE\n"
"      --stdio         do not start a pager\n"
"\n"
"Exit status: 0; 1 if the log cannot be read, or nothing can be shown; 2 for an\n"
"invalid option.\n";

enum { OPT_IMAGE = 256, OPT_SOURCE, OPT_ASM, OPT_INTEL };

struct options {
	struct logopts log;
	struct annotate_options a;
	bool source, assembly;
	const char *image;
	char *const *function;
	int nfunction;
};

static int parse_option(void *arg, int c)
{
	struct options *o = arg;

	switch (c) {
	case 'i':
		o->log.input = optarg;
		return 0;
	case OPT_IMAGE:
		o->image = optarg;
		return 0;
	case OPT_SOURCE:
		o->source = true;
		return 0;
	case OPT_ASM:
		o->assembly = true;
		return 0;
	case OPT_INTEL:
		o->a.intel = true;
		return 0;
	default:
		return logopts_parse_output(&o->log, c, optarg);
	}
}

static int parse_options(struct options *o, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "input", required_argument, NULL, 'i' },
		{ "image", required_argument, NULL, OPT_IMAGE },
		{ "source", no_argument, NULL, OPT_SOURCE },
		{ "asm", no_argument, NULL, OPT_ASM },
		{ "intel", no_argument, NULL, OPT_INTEL },
		LOGOPTS_OUTPUT,
		LOGOPTS_FILTER,
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":i:" LOGOPTS_OUTPUT_SHORT LOGOPTS_FILTER_SHORT
		LOGOPTS_SYMBOLS_SHORT, options, cmd_annotate_help, parse_option,
	};

	o->log.limit = -1;
	return logopts_parse_all(&o->log, argc, argv, &command, o);
}

static int check_options(struct options *o, int argc, char *argv[])
{
	o->function = argv + optind;
	o->nfunction = argc - optind;
	if (o->source && o->assembly)
		return msg_usage("--source and --asm cannot be combined");
	if (o->log.format != LOGOPTS_TEXT && o->source)
		return msg_usage("--source cannot be combined with json and csv, which have one line per instruction");
	if (o->log.limit < 0)		/* not given */
		o->log.limit = o->nfunction ? 0 : 1;
	o->a.no_lines = o->assembly;
	o->a.root = o->log.o.symbols.root;
	o->log.o.leaf_only = true;
	return 0;
}

/* ---- what is shown ------------------------------------------------------- */

static bool is_image(const struct hwpmc_image *image, const char *name)
{
	return !name || strcmp(image->name, name) == 0 ||
	       strcmp(image->path, name) == 0;
}

static bool is_named(const struct options *o, const struct hwpmc_symbol *s)
{
	if (!is_image(s->image, o->image))
		return false;
	for (int i = 0; i < o->nfunction; i++)
		if (hwpmc_symbol_is(s, o->function[i]))
			return true;
	return !o->nfunction;
}

/* An event's functions; whatever is left out is counted in *rest. */
static unsigned int print_event(const struct options *o,
				struct hwpmc_profile *profile, uint32_t event,
				struct annotate_printer *pr)
{
	const struct hwpmc_profile_event *ev;
	struct annotate_function *f;
	uint64_t rest = 0;
	unsigned int shown = 0;
	uint32_t n;

	ev = &hwpmc_profile_events(profile, &n)[event];
	f = annotate_functions(&o->a.hits, event, &n);
	annotate_print_event(pr, ev);
	if (o->log.format == LOGOPTS_TEXT) {
		missing_put_losses(pr->out.f, "# ", profile, event);
		if (hwpmc_profile_totals(profile)->cut)
			fputs("# " MISSING_END "\n", pr->out.f);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct annotate *a;
		char why[5000];

		if (!is_named(o, f[i].symbol) ||
		    100.0 * f[i].samples < o->log.limit * ev->samples) {
			rest += f[i].samples;
			continue;
		}
		a = annotate_new(profile, event, f[i].symbol, &o->a, why,
				 sizeof(why));
		annotate_print_function(pr, &f[i], a, why);
		if (a)
			annotate_free(a);
		shown++;
	}
	annotate_print_rest(pr, rest);
	free(f);
	return shown;
}

static bool any_has(const struct options *o, struct hwpmc_profile *profile)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (is_named(o, stack[i].frame[0]->symbol))
			return true;
	return false;
}

/* A name that nothing has is a mistake of typing: nothing would be shown. */
static int check_names(const struct options *o, struct hwpmc_profile *profile)
{
	if (hwpmc_profile_totals(profile)->kept == 0) {
		msg("%s has no samples%s", o->log.input,
		    hwpmc_profile_totals(profile)->samples ?
		    " that the options select" : "");
		return EXIT_FAILED;
	}
	for (int i = 0; i < o->nfunction; i++) {
		struct options one = *o;

		one.function = o->function + i;
		one.nfunction = 1;
		if (any_has(&one, profile))
			continue;
		msg("no sample hit a function '%s'%s%s; see: hwpmc report -i %s",
		    o->function[i], o->image ? " of " : "",
		    o->image ? o->image : "", o->log.input);
		return EXIT_FAILED;
	}
	if (any_has(o, profile))
		return 0;
	msg("no sample hit '%s'; see: hwpmc report -i %s -s image",
	    o->image, o->log.input);
	return EXIT_FAILED;
}

static int print_profile(struct options *o, struct hwpmc_profile *profile)
{
	struct annotate_printer pr = {
		.profile = profile, .format = o->log.format,
		.source = !o->assembly, .assembly = !o->source,
	};
	int status = check_names(o, profile);
	uint32_t n;

	if (!status)
		status = pager_open(&pr.out, o->log.output, o->log.stdio ||
				    o->log.format != LOGOPTS_TEXT);
	if (status)
		return status;
	pr.sources.root = o->a.root;
	annotate_hits_make(&o->a.hits, profile);
	hwpmc_profile_events(profile, &n);
	for (uint32_t e = 0; e < n; e++)
		print_event(o, profile, e, &pr);
	status = pager_close(&pr.out);
	if (o->log.format != LOGOPTS_TEXT)
		doubts_tell(profile);
	/* Named, and not one that has code to show. */
	if (!status && o->nfunction && !pr.functions) {
		msg("%s", pr.why);
		status = EXIT_FAILED;
	}
	annotate_hits_free(&o->a.hits);
	annotate_printer_free(&pr);
	return status;
}

int cmd_annotate(int argc, char *argv[])
{
	struct options o = { .image = NULL };
	struct hwpmc_profile *profile;
	int status;

	logopts_init(&o.log);
	status = parse_options(&o, argc, argv);
	if (!status && !o.log.help)
		status = check_options(&o, argc, argv);
	if (!status && !o.log.help) {
		profile = logopts_read(&o.log, o.log.input);
		status = profile ? logopts_check_event(&o.log, &profile, 1) : EXIT_FAILED;
		if (!status)
			status = print_profile(&o, profile);
		hwpmc_profile_free(profile);
	}
	logopts_free(&o.log);
	return status;
}
