/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_lines.c - source lines and inlined functions: addresses that the program's
 * own marks know, lines that are found by searching its text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stat_log.h"

#define BASE	0x555500000000ull

static struct log log_;
static struct hwpmc_profile *p;

static uint64_t mark(const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "mark_%s", name);
	return BASE + nm_addr(program("inlined"), text);
}

static void read_with(bool inlines)
{
	struct hwpmc_profile_options o = log_options();
	uint64_t chain[2] = { mark("outer"), mark("after_call") };

	o.symbols.inlines = inlines;
	log_begin(&log_);
	log_program(&log_, 42, BASE, program("inlined"));
	log_context(&log_, 42, 42);
	log_user(&log_, mark("innermost"));
	log_user(&log_, mark("middle"));
	log_stack(&log_, HWPMC_SAMPLE_USER, 2, chain);
	p = log_profile(&log_, &o);
	check_conservation(&log_, p);
}

static void done(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void check_frame(const struct hwpmc_frame *f, const char *name,
			bool inlined, const char *text)
{
	const char *file = NULL;
	unsigned int line = 0;

	ck_assert_str_eq(f->symbol->name, name);
	ck_assert_int_eq(f->inlined, inlined);
	ck_assert_int_eq(f->symbol->inlined, inlined);
	ck_assert_int_eq(hwpmc_frame_line(p, f, &file, &line), 1);
	ck_assert_str_eq(base_name(file), "inlined.c");
	ck_assert_uint_eq(line, line_with("inlined.c", text));
}

START_TEST(source_lines_are_those_of_the_programs_marks)
{
	const struct hwpmc_stack *s;

	read_with(false);
	check_frame(stack_at(p, mark("innermost"))->frame[0], "outer", false,
		    "MARK(innermost);");
	s = stack_at(p, mark("outer"));
	check_frame(s->frame[0], "outer", false, "MARK(outer);");
	check_frame(s->frame[1], "caller", false, "call of outer");
	ck_assert_uint_eq(samples_in(p, "outer"), 3);
	done();
}
END_TEST

START_TEST(inlined_functions_are_frames_before_what_they_are_inlined_into)
{
	const struct hwpmc_stack *s;

	read_with(true);
	s = stack_at(p, mark("innermost"));
	ck_assert_uint_eq(s->nframe, 3);
	check_frame(s->frame[0], "innermost", true, "MARK(innermost);");
	check_frame(s->frame[1], "middle", true, "call of innermost");
	check_frame(s->frame[2], "outer", false, "call of middle");
	s = stack_at(p, mark("middle"));
	ck_assert_uint_eq(s->nframe, 2);
	check_frame(s->frame[0], "middle", true, "MARK(middle);");
	check_frame(s->frame[1], "outer", false, "call of middle");
	s = stack_at(p, mark("outer"));
	ck_assert_uint_eq(s->nframe, 2);
	check_frame(s->frame[0], "outer", false, "MARK(outer);");
	check_frame(s->frame[1], "caller", false, "call of outer");
	done();
}
END_TEST

START_TEST(lines_of_any_address_of_an_image_are_told)
{
	const struct hwpmc_image *img;
	const char *file;
	unsigned int line;

	read_with(false);
	img = image_of(p, "inlined");
	ck_assert_int_eq(hwpmc_image_line(p, img, mark("middle") - BASE, &file,
					  &line), 1);
	ck_assert_uint_eq(line, line_with("inlined.c", "MARK(middle);"));
	ck_assert_int_eq(hwpmc_image_line(p, img, 0x10, &file, &line), 0);
	ck_assert_ptr_null(file);
	done();
}
END_TEST

START_TEST(images_without_dwarf_say_so_where_lines_are_asked_for)
{
	const struct hwpmc_stack *s;
	const char *file;
	unsigned int line;

	log_begin(&log_);
	log_program(&log_, 42, BASE, program("no-dwarf"));
	log_context(&log_, 42, 42);
	log_user(&log_, BASE + nm_addr(program("no-dwarf"), "outer"));
	log_user(&log_, 0x10);
	p = log_profile(&log_, NULL);
	s = stack_at(p, BASE + nm_addr(program("no-dwarf"), "outer"));
	ck_assert_ptr_null(s->frame[0]->image->no_lines);
	ck_assert_int_eq(hwpmc_frame_line(p, s->frame[0], &file, &line), 0);
	ck_assert_str_eq(s->frame[0]->image->no_lines,
			 "it has no debugging information");
	s = stack_at(p, 0x10);
	ck_assert_int_eq(hwpmc_frame_line(p, s->frame[0], &file, &line), 0);
	ck_assert_ptr_nonnull(s->frame[0]->image->no_lines);
	done();
}
END_TEST

/* ---- against addr2line(1) ------------------------------------------------ */

#define OTHER	"libother.so"		/* a few files of this project */

/* "0x…" begins an address; then a function and a line, innermost first. */
struct reference {
	FILE *f;
	char line[4096];
	bool more;
};

static bool next_line(struct reference *r)
{
	r->more = fgets(r->line, sizeof(r->line), r->f) != NULL;
	r->line[strcspn(r->line, "\n")] = 0;
	return r->more;
}

static void compare_frame(struct reference *r, const struct hwpmc_frame *f,
			  bool outermost)
{
	char told[4096];
	const char *file, *colon;
	unsigned int line;

	/* Of the outermost one it has the name of the source. */
	if (!outermost)
		ck_assert_str_eq(f->symbol->raw, r->line);
	ck_assert(next_line(r));
	r->line[strcspn(r->line, " ")] = 0;	/* "(discriminator 3)" */
	colon = strrchr(r->line, ':');
	if (!colon || atoi(colon + 1) == 0) {
		ck_assert_int_eq(hwpmc_frame_line(p, f, &file, &line), 0);
		return;
	}
	ck_assert_int_eq(hwpmc_frame_line(p, f, &file, &line), 1);
	snprintf(told, sizeof(told), "%s:%u", base_name(file), line);
	ck_assert_str_eq(told, base_name(r->line));
}

static unsigned int compare_stack(struct reference *r,
				  const struct hwpmc_stack *s)
{
	uint32_t n = 0;

	ck_assert_uint_eq(strtoull(r->line, NULL, 16), s->frame[0]->addr);
	while (next_line(r) && strncmp(r->line, "0x", 2)) {
		ck_assert_uint_lt(n, s->nframe);
		compare_frame(r, s->frame[n], n + 1 == s->nframe);
		n++;
	}
	ck_assert_uint_eq(n, s->nframe);
	return n - 1;
}

/* Each third byte of the functions of one file. */
static void sample_all(FILE *addrs)
{
	uint64_t from = nm_addr(program(OTHER), "hwpmc_parser_new");

	log_begin(&log_);
	log_program(&log_, 42, BASE, program(OTHER));
	log_context(&log_, 42, 42);
	for (uint64_t addr = from; addr < from + 4096; addr += 3) {
		log_user(&log_, BASE + addr);
		fprintf(addrs, "%#lx\n", addr);
	}
	fclose(addrs);
}

START_TEST(lines_and_inlined_functions_of_each_address_are_those_of_addr2line)
{
	char addrs[] = "/tmp/hwpmc-lines-XXXXXX", command[9000];
	struct hwpmc_profile_options o = log_options();
	unsigned int inlined = 0;
	const struct hwpmc_stack *s;
	struct reference r;
	uint32_t n;

	sample_all(fdopen(mkstemp(addrs), "w"));
	o.symbols.inlines = true;
	p = log_profile(&log_, &o);
	s = hwpmc_profile_stacks(p, &n);
	snprintf(command, sizeof(command), "addr2line -a -i -f -e '%s' <%s",
		 program(OTHER), addrs);
	r.f = popen(command, "r");
	next_line(&r);
	for (uint32_t i = 0; i < n; i++)
		if (!s[i].frame[0]->symbol->unknown)
			inlined += compare_stack(&r, &s[i]);
		else	/* between functions it takes the one before */
			while (next_line(&r) && strncmp(r.line, "0x", 2))
				;
	ck_assert(!r.more);
	ck_assert_uint_gt(inlined, 100);
	pclose(r.f);
	unlink(addrs);
	done();
}
END_TEST

int main(void)
{
	harness_add(source_lines_are_those_of_the_programs_marks);
	harness_add(inlined_functions_are_frames_before_what_they_are_inlined_into);
	harness_add(lines_of_any_address_of_an_image_are_told);
	harness_add(images_without_dwarf_say_so_where_lines_are_asked_for);
	harness_add_timed(lines_and_inlined_functions_of_each_address_are_those_of_addr2line,
			  60);
	return harness_run();
}
