/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c - annotated functions: as text first the lines of the source,
 * then the instructions with the lines between; as data a line an instruction.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "print.h"

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* ---- text ---------------------------------------------------------------- */

static void print_count(struct annotate_printer *pr, uint64_t samples,
			uint64_t all)
{
	/* What has none leaves the eye to what has. */
	if (!samples) {
		fprintf(pr->out.f, "%8s  %10s", "", "");
		return;
	}
	pager_heat(&pr->out, percent_of(samples, all));
	fprintf(pr->out.f, "%7.2f%%  %10" PRIu64, percent_of(samples, all), samples);
	pager_plain(&pr->out);
}

static void print_named(struct annotate_printer *pr, const char *lead,
			const char *name)
{
	fputs(lead, pr->out.f);
	fmt_put_plain(pr->out.f, name, 0);
	fputc('\n', pr->out.f);
}

static void print_source_text(struct annotate_printer *pr, const char *file,
			      unsigned int line)
{
	fmt_put_plain(pr->out.f, source_line(&pr->sources, file, line), 0);
	fputc('\n', pr->out.f);
}

/* The lines between are shown in the function's own file, if they are not many. */
#define GAP	100

static void print_gap(struct annotate_printer *pr, const struct annotate *a,
		      const char *file, unsigned int from, unsigned int to)
{
	if (strcmp(file, a->insn[0].file ? a->insn[0].file : "") ||
	    to - from > GAP || source_absent(&pr->sources, file))
		return;
	for (unsigned int l = from; l < to; l++) {
		fprintf(pr->out.f, "%20s  %6u  ", "", l);
		print_source_text(pr, file, l);
	}
}

/* One line says that a source cannot be shown, not each of its lines. */
static void print_file(struct annotate_printer *pr, const char *file)
{
	const char *absent = source_absent(&pr->sources, file);

	fputs("# percent     samples    line  ", pr->out.f);
	fmt_put_plain(pr->out.f, file, 0);
	if (absent)
		fprintf(pr->out.f, "  %s", absent);
	fputc('\n', pr->out.f);
}

static void print_lines(struct annotate_printer *pr, const struct annotate *a)
{
	const struct annotate_line *before = NULL;

	for (uint32_t i = 0; i < a->nline; i++) {
		const struct annotate_line *l = &a->line[i];

		if (!l->file) {
			print_count(pr, l->samples, a->samples);
			fputs("  (instructions without a source line)\n", pr->out.f);
			continue;
		}
		if (!before || strcmp(before->file, l->file))
			print_file(pr, l->file);
		else
			print_gap(pr, a, l->file, before->line + 1, l->line);
		print_count(pr, l->samples, a->samples);
		fprintf(pr->out.f, "  %6u  ", l->line);
		print_source_text(pr, l->file, l->line);
		before = l;
	}
}

static bool is_same_line(const struct annotate_insn *a,
			 const struct annotate_insn *b)
{
	return a->line == b->line && a->file && b->file &&
	       strcmp(a->file, b->file) == 0;
}

static void print_insns(struct annotate_printer *pr, const struct annotate *a)
{
	fputs("# percent     samples   address  instruction\n", pr->out.f);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct annotate_insn *insn = &a->insn[i];

		if (pr->source && insn->file &&
		    (!i || !is_same_line(insn - 1, insn))) {
			const char *slash = strrchr(insn->file, '/');

			fprintf(pr->out.f, "%20s  ", "");
			fmt_put_plain(pr->out.f, slash ? slash + 1 : insn->file, 0);
			fprintf(pr->out.f, ":%u  ", insn->line);
			print_source_text(pr, insn->file, insn->line);
		}
		print_count(pr, insn->samples, a->samples);
		fprintf(pr->out.f, "  %8" PRIx64 ":  ", insn->addr);
		print_named(pr, "", insn->text);
	}
}

static void print_outside(struct annotate_printer *pr, const struct annotate *a)
{
	if (!a->outside)
		return;
	print_count(pr, a->outside, a->samples);
	fputs("  (after the code that could be read)\n", pr->out.f);
}

static void print_text(struct annotate_printer *pr,
		       const struct annotate_function *f,
		       const struct annotate *a, const char *why)
{
	const char *no_lines = f->symbol->image->no_lines;

	fputs("\n# ", pr->out.f);
	fmt_put_plain(pr->out.f, f->symbol->name, 0);
	fputs(" in ", pr->out.f);
	fmt_put_plain(pr->out.f, f->symbol->image->path, 0);
	fprintf(pr->out.f, ": %" PRIu64 " %s, %.2f%% of all\n", f->samples,
		logopts_unit(pr->event), percent_of(f->samples, pr->event->samples));
	if (!a) {
		print_named(pr, "# cannot be shown: ", why);
		return;
	}
	print_named(pr, "# code: ", a->from);
	if (f->symbol->image->doubt)
		print_named(pr, "# doubtful: ", f->symbol->image->doubt);
	if (pr->source && !a->nline)
		print_named(pr, no_lines ? "# no source lines: " : "# no source lines",
			    no_lines ? no_lines : "");
	if (pr->source && a->nline)
		print_lines(pr, a);
	if (pr->assembly || !a->nline)
		print_insns(pr, a);
	print_outside(pr, a);
}

/* ---- data ---------------------------------------------------------------- */

struct row {
	const struct hwpmc_symbol *symbol;	/* NULL: several */
	const struct annotate_insn *insn;	/* NULL: none */
	uint64_t samples;
	const char *problem;			/* why there is none */
};

static void csv_row(const struct annotate_printer *pr, const struct row *r)
{
	FILE *f = pr->out.f;

	fmt_csv_field(f, pr->event->name);
	fprintf(f, ",%" PRIu64 ",%.4f,", r->samples,
		percent_of(r->samples, pr->event->samples));
	fmt_csv_field(f, r->symbol ? r->symbol->image->path : "");
	fputc(',', f);
	fmt_csv_field(f, r->symbol ? r->symbol->name : "");
	fputc(',', f);
	if (r->insn)
		fprintf(f, "0x%" PRIx64, r->insn->addr);
	fputc(',', f);
	fmt_csv_field(f, r->insn ? r->insn->text : "");
	fputc(',', f);
	fmt_csv_field(f, r->insn && r->insn->file ? r->insn->file : "");
	fputc(',', f);
	if (r->insn && r->insn->file)
		fprintf(f, "%u", r->insn->line);
	fputc(',', f);
	fmt_csv_field(f, r->problem ? r->problem : "");
	fputc('\n', f);
}

static void json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":", key);
	if (value)
		fmt_json_string(f, value);
	else
		fputs("null", f);
}

static void json_row(const struct annotate_printer *pr, const struct row *r)
{
	FILE *f = pr->out.f;

	fputs("{\"event\":", f);
	fmt_json_string(f, pr->event->name);
	fprintf(f, ",\"samples\":%" PRIu64 ",\"percent\":%.4f", r->samples,
		percent_of(r->samples, pr->event->samples));
	json_member(f, "image", r->symbol ? r->symbol->image->path : NULL);
	json_member(f, "symbol", r->symbol ? r->symbol->name : NULL);
	if (r->insn)
		fprintf(f, ",\"address\":\"0x%" PRIx64 "\"", r->insn->addr);
	else
		json_member(f, "address", NULL);
	json_member(f, "instruction", r->insn ? r->insn->text : NULL);
	json_member(f, "file", r->insn ? r->insn->file : NULL);
	if (r->insn && r->insn->file)
		fprintf(f, ",\"line\":%u", r->insn->line);
	else
		json_member(f, "line", NULL);
	json_member(f, "problem", r->problem);
	json_member(f, "unit", logopts_unit(pr->event));
	fputs("}\n", f);
}

static void print_row(const struct annotate_printer *pr, struct row r)
{
	if (pr->format == LOGOPTS_JSON)
		json_row(pr, &r);
	else
		csv_row(pr, &r);
}

static void print_data(const struct annotate_printer *pr,
		       const struct annotate_function *f,
		       const struct annotate *a, const char *why)
{
	if (!a) {
		print_row(pr, (struct row){ f->symbol, NULL, f->samples, why });
		return;
	}
	for (uint32_t i = 0; i < a->n; i++)
		print_row(pr, (struct row){ f->symbol, &a->insn[i],
					    a->insn[i].samples, NULL });
	if (a->outside)
		print_row(pr, (struct row){ f->symbol, NULL, a->outside,
					    "after the code that could be read" });
}

/* ---- either -------------------------------------------------------------- */

void annotate_print_event(struct annotate_printer *pr,
			  const struct hwpmc_profile_event *event)
{
	char rate[LOGOPTS_RATE], taken[LOGOPTS_RATE];

	if (!pr->event && pr->format == LOGOPTS_CSV)
		fputs("event,samples,percent,image,symbol,address,instruction,file,line,problem\n",
		      pr->out.f);
	if (pr->format == LOGOPTS_TEXT) {
		fputs(pr->event ? "\n# event " : "# event ", pr->out.f);
		fmt_put_plain(pr->out.f, event->name, 0);
		fprintf(pr->out.f, ", %s: %s\n", logopts_rate(event, rate),
			logopts_taken(event, taken));
	}
	pr->event = event;
}

void annotate_print_function(struct annotate_printer *pr,
			     const struct annotate_function *f,
			     const struct annotate *a, const char *why)
{
	pr->functions += a != NULL;
	if (!a)
		snprintf(pr->why, sizeof(pr->why), "%s", why);
	else
		sources_of(&pr->sources, f->symbol->image);
	if (pr->format == LOGOPTS_TEXT)
		print_text(pr, f, a, why);
	else
		print_data(pr, f, a, why);
}

void annotate_print_rest(struct annotate_printer *pr, uint64_t samples)
{
	if (!samples)
		return;
	if (pr->format == LOGOPTS_TEXT)
		fprintf(pr->out.f, "\n# other functions: %" PRIu64
			" %s, %.2f%% of all\n", samples, logopts_unit(pr->event),
			percent_of(samples, pr->event->samples));
	else
		print_row(pr, (struct row){ NULL, NULL, samples,
					    "other functions" });
}

void annotate_printer_free(struct annotate_printer *pr)
{
	sources_free(&pr->sources);
}
