/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_memory.c - what happens without memory: each allocation of reading a log
 * fails once, alone and with all after it. Either the answer is ENOMEM or it is
 * right; never anything else, and nothing is lost or freed twice (ASan, LSan).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stat_log.h"

#define BASE	0x555500000000ull
#define PID	42

/* The linker puts these in the place of calloc(), malloc(), realloc(). */
void *__real_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool armed, only_one, failed;
static unsigned int left;

static bool may_have(void)
{
	if (!armed)
		return true;
	if (left) {
		left--;
		return true;
	}
	if (failed && only_one)
		return true;
	failed = true;
	errno = ENOMEM;
	return false;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may_have() ? __real_calloc(n, size) : NULL;
}

void *__wrap_malloc(size_t size)
{
	return may_have() ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	return may_have() ? __real_realloc(p, size) : NULL;
}

static void arm(unsigned int n, bool one)
{
	armed = true;
	only_one = one;
	failed = false;
	left = n;
}

/* ---- a log with something of everything ---------------------------------- */

static struct log log_;
static struct hwpmc_profile_options options;
static char dir[64], kallsyms[80];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void setup(void)
{
	char path[100];

	snprintf(dir, sizeof(dir), "/tmp/hwpmc-memory-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	write_file(kallsyms, "ffffffff81000000 T _stext\n"
		   "ffffffff81000100 T do_it\n"
		   "ffffffffc0000000 t mod_a\t[mod]\n"
		   "ffffffffc0900000 t bpf_a\t[bpf]\n");
	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	write_file(path, "10000 100 old\n10000 100 generated\n");
	options = log_options();
	options.by_thread = options.timeline = true;
	options.symbols.kallsyms = kallsyms;
	options.symbols.perf_map = dir;
	options.symbols.inlines = true;
}

static void teardown(void)
{
	char command[100];

	log_free(&log_);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void make_log(const char *name)
{
	uint64_t inner = BASE + nm_addr(program(name), "mark_innermost");
	uint64_t chain[4] = { 0xffffffff81000110, HWPMC_PC_USER, inner,
			      BASE + nm_addr(program(name), "main") + 4 };

	log_begin(&log_);
	log_note(&log_, "event=instructions");
	log_exec(&log_, PID, program(name), "prog");
	log_program(&log_, PID, BASE, program(name));
	log_map(&log_, PID, 0x10000, 0x1000, 0, "//anon")->hdr.flags |=
		HWPMC_MAP_ANON;
	log_map(&log_, -1, 0xffffffffc0000000, 0x1000, 0, "[mod]");
	log_context(&log_, PID, PID);
	log_stack(&log_, HWPMC_SAMPLE_SPLIT, 4, chain);
	log_user(&log_, inner);
	log_user(&log_, 0x10010);
	log_kernel(&log_, 0xffffffffc0000010);
	log_kernel(&log_, 0xffffffffc0900010);
	log_fork(&log_, PID, 43);
	log_context(&log_, 43, 44);
	log_user(&log_, inner);
	log_event(&log_, 9, "other", 1);
	log_user(&log_, 0x10);
}

static void check_names(struct hwpmc_profile *p)
{
	const char *file;
	unsigned int line, rc;

	check_conservation(&log_, p);
	ck_assert_uint_eq(samples_in(p, "innermost"), 2);
	ck_assert_uint_eq(samples_in(p, "generated"), 1);
	ck_assert_uint_eq(samples_in(p, "do_it"), 1);
	ck_assert_uint_eq(samples_in(p, "mod_a"), 1);
	ck_assert_uint_eq(samples_in(p, "bpf_a"), 1);
	rc = hwpmc_frame_line(p, stack_at(p, 0xffffffff81000110)->frame[1],
			      &file, &line);
	ck_assert_int_eq(rc, 1);
}

/* 1: all is there; 0: there was no memory, and that is what was told. */
static int read_log(void)
{
	struct hwpmc_input *in = hwpmc_input_memory(log_.bytes, log_.len);
	struct hwpmc_profile *p = NULL;
	char err[600] = "";
	int why = errno;

	if (in) {
		p = hwpmc_profile_read(in, &options, NULL, NULL, err,
				       sizeof(err));
		why = errno;
	}
	armed = false;
	if (p)
		check_names(p);
	else
		ck_assert_int_eq(why, ENOMEM);
	ck_assert(p || !in || strstr(err, "memory"));
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	return p != NULL;
}

static void fail_each(int (*what)(void), bool one)
{
	unsigned int n, refused = 0;

	for (n = 0; n < 100000; n++) {
		arm(n, one);
		refused += !what();
		if (!failed)
			break;
	}
	/* It has come to where nothing failed, and failed before. */
	ck_assert_uint_lt(n, 100000);
	ck_assert_uint_gt(refused, 50);
}

START_TEST(reading_a_log_without_memory_is_enomem)
{
	make_log("inlined");
	fail_each(read_log, false);
}
END_TEST

START_TEST(reading_a_log_with_one_failed_allocation_is_right_or_enomem)
{
	make_log("inlined");
	fail_each(read_log, true);
}
END_TEST

/* ---- step by step, as hwpmc top ------------------------------------------ */

static int feed_log(void)
{
	struct hwpmc_input *in = hwpmc_input_memory(log_.bytes, log_.len);
	struct hwpmc_profile *p = in ? hwpmc_profile_new(&options) : NULL;
	struct hwpmc_record r;
	int more = 0, rc = 0;

	while (p && rc == 0 && (more = hwpmc_input_next(in, &r)) > 0)
		rc = hwpmc_profile_feed(p, &r);
	if (p && rc == 0 && more == 0)
		rc = hwpmc_profile_resolve(p);
	armed = false;
	if (p && rc == 0 && more == 0)
		check_names(p);
	if (p && rc != 0) {
		/* And so it stays. */
		ck_assert_int_eq(hwpmc_profile_resolve(p), -1);
		ck_assert_int_eq(errno, ENOMEM);
	}
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	return p && rc == 0 && more == 0;
}

START_TEST(a_profile_that_had_no_memory_once_refuses_ever_after)
{
	make_log("inlined");
	fail_each(feed_log, true);
}
END_TEST

/* ---- sample after sample ------------------------------------------------- */

static bool looks_right(struct hwpmc_lookup *l, const struct hwpmc_record *r)
{
	const struct hwpmc_place *const *place;
	uint32_t n;

	place = hwpmc_lookup_stack(l, r, UINT32_MAX, &n);
	if (n == 0)
		return false;
	if (r->sample->pc[0] == 0x10010)
		return !strcmp(place[0]->frame.symbol->name, "generated");
	if (r->sample->pc[0] == 0xffffffff81000110)
		return !strcmp(place[0]->frame.symbol->name, "do_it") &&
		       !strcmp(hwpmc_lookup_task(l, r)->info.process, "prog");
	return true;
}

static int look_up(void)
{
	struct hwpmc_input *in = hwpmc_input_memory(log_.bytes, log_.len);
	struct hwpmc_lookup *l = in ? hwpmc_lookup_new(&options.symbols) : NULL;
	bool learned, right = true;
	struct hwpmc_record r;
	char err[600];
	int rc = 1;

	learned = l && hwpmc_lookup_learn(l, in, err, sizeof(err)) == 1;
	while (learned && (rc = hwpmc_input_next(in, &r)) > 0)
		if (r.hdr->type == HWPMC_LOG_CALLCHAIN)
			right &= looks_right(l, &r);
	armed = false;
	right &= l && learned && rc == 0;
	/* What was wrong was told. */
	if (!right && learned && rc == 0)
		ck_assert_int_eq(hwpmc_lookup_error(l), ENOMEM);
	if (learned && !failed)
		ck_assert_int_eq(hwpmc_lookup_error(l), 0);
	hwpmc_lookup_free(l);
	hwpmc_input_close(in);
	return right;
}

START_TEST(looking_up_without_memory_is_told_at_the_end)
{
	make_log("inlined");
	fail_each(look_up, false);
	fail_each(look_up, true);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add_timed(reading_a_log_without_memory_is_enomem, 60);
	harness_add_timed(reading_a_log_with_one_failed_allocation_is_right_or_enomem,
			  60);
	harness_add_timed(a_profile_that_had_no_memory_once_refuses_ever_after,
			  60);
	harness_add_timed(looking_up_without_memory_is_told_at_the_end, 60);
	return harness_run();
}
