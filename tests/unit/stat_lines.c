/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_lines.c - source lines and inlined functions: addresses that the program's
 * own marks know, lines that are found by searching its text.
 */
#include <stdio.h>

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

int main(void)
{
	harness_add(source_lines_are_those_of_the_programs_marks);
	harness_add(inlined_functions_are_frames_before_what_they_are_inlined_into);
	harness_add(lines_of_any_address_of_an_image_are_told);
	harness_add(images_without_dwarf_say_so_where_lines_are_asked_for);
	return harness_run();
}
