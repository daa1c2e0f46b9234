/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_profile.c - the sums of a profile are those of its log, whatever is in the
 * log, how it is read and where it ends; and what the options keep.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* pipe2() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "stat_log.h"

#define PID	42
#define TEXT	0x400000ull

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;

static void setup(void)
{
	options = log_options();
	options.symbols.no_symbols = true;
	log_begin(&log_);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static void read_it(void)
{
	hwpmc_profile_free(p);
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
}

static const struct hwpmc_profile_totals *totals(void)
{
	return hwpmc_profile_totals(p);
}

/* ---- any log ------------------------------------------------------------- */

static uint32_t seed;

static uint32_t roll(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void any_sample(void)
{
	static const uint8_t flags[] = {
		0, HWPMC_SAMPLE_USER, HWPMC_SAMPLE_SPLIT, HWPMC_SAMPLE_HIDDEN,
		HWPMC_SAMPLE_HIDDEN | HWPMC_SAMPLE_SPLIT,
		HWPMC_SAMPLE_USER | HWPMC_SAMPLE_CUT,
	};
	uint64_t pc[8];
	uint32_t n = 1 + roll(8);

	for (uint32_t i = 0; i < n; i++)
		switch (roll(6)) {
		case 0:
			pc[i] = HWPMC_PC_HIDDEN;
			break;
		case 1:
			pc[i] = HWPMC_PC_USER;
			break;
		case 2:
			pc[i] = 0xffffffff81000000 + roll(64);
			break;
		default:
			pc[i] = TEXT + 0x800 * roll(32);
			break;
		}
	log_stack(&log_, flags[roll(6)], n, pc);
	if (roll(20) == 0)
		((struct hwpmc_log_hdr *)(log_.bytes + log_.len - 16 - 8 * n))->id =
			roll(3) + 7;
}

static void any_record(void)
{
	static const char *const paths[] = { "/bin/a", "/bin/b", "//anon" };
	int32_t pid = 40 + roll(4);
	struct hwpmc_log_map *map;

	log_.time = 2000 + roll(5000);
	switch (roll(12)) {
	case 0:
		log_cpu(&log_, roll(2));
		break;
	case 1:
		log_context(&log_, pid, pid + roll(2));
		break;
	case 2:
		log_exec(&log_, pid, paths[roll(2)], "name");
		break;
	case 3:
		log_fork(&log_, pid, 40 + roll(4));
		break;
	case 4:
		map = log_map(&log_, (int32_t)roll(5) ? pid : -1,
			      TEXT + 0x1000 * roll(16), 0x1000 * roll(4), 0,
			      paths[roll(3)]);
		map->hdr.flags |= roll(4) ? 0 : HWPMC_MAP_ANON;
		break;
	case 5:
		log_unmap(&log_, roll(5) ? pid : -1, TEXT + 0x1000 * roll(16),
			  0x1000 * roll(4));
		break;
	case 6:
		log_exit(&log_, pid);
		break;
	default:
		any_sample();
		break;
	}
}

START_TEST(each_sample_of_any_log_is_counted_once)
{
	int32_t any_cpu[1];

	for (seed = 1; seed < 400; seed += 1) {
		uint32_t number = seed;

		log_free(&log_);
		log_begin(&log_);
		for (uint32_t n = roll(200); n > 0; n--)
			any_record();
		options.by_thread = roll(2);
		options.leaf_only = roll(2);
		options.depth = roll(4);
		options.cpus = any_cpu;
		options.ncpu = roll(4) ? 0 : 1;
		any_cpu[0] = roll(2);
		options.timeline = roll(2);
		read_it();
		seed = number;
	}
}
END_TEST

START_TEST(a_log_that_ends_anywhere_has_the_samples_before)
{
	size_t whole;

	log_context(&log_, PID, PID);
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
	for (int i = 0; i < 5; i++)
		log_user(&log_, TEXT + i);
	log_add(&log_, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_closelog));
	whole = log_.len;
	for (size_t len = 8; len <= whole; len++) {
		struct log part = { .len = len };
		size_t at = 0;

		while (at + sizeof(struct hwpmc_log_hdr) <= len) {
			const struct hwpmc_log_hdr *h = (void *)(log_.bytes + at);

			if (at + h->len > len)
				break;
			part.samples += h->type == HWPMC_LOG_CALLCHAIN;
			at += h->len;
		}
		if (!at)
			continue;	/* not even a whole record: no log */
		part.bytes = malloc(len);
		memcpy(part.bytes, log_.bytes, len);
		p = log_profile(&part, &options);
		check_conservation(&part, p);
		ck_assert_int_eq(totals()->cut, len != whole);
		hwpmc_profile_free(p);
		free(part.bytes);
	}
	p = NULL;
}
END_TEST

START_TEST(a_damaged_log_is_refused_with_offset_and_reason)
{
	struct hwpmc_input *in;
	char err[600];
	size_t at;

	log_context(&log_, PID, PID);
	at = log_.len;
	log_user(&log_, TEXT);
	log_user(&log_, TEXT);
	((struct hwpmc_log_hdr *)(log_.bytes + at))->len = 20;
	in = hwpmc_input_memory(log_.bytes, log_.len);
	p = hwpmc_profile_read(in, &options, NULL, NULL, err, sizeof(err));
	ck_assert_ptr_null(p);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_msg(strstr(err, "offset") && strstr(err, "CALLCHAIN"), "%s",
		      err);
	hwpmc_input_close(in);
}
END_TEST

/* ---- where it comes from ------------------------------------------------- */

static void some_samples(void)
{
	log_context(&log_, PID, PID);
	for (int i = 0; i < 3000; i++)
		log_user(&log_, TEXT + i % 700);
	/* Behind the samples that it explains. */
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
}

static void *write_to_pipe(void *fd)
{
	for (size_t at = 0; at < log_.len; ) {
		size_t n = log_.len - at < 1001 ? log_.len - at : 1001;

		ck_assert_int_eq(write(*(int *)fd, log_.bytes + at, n), n);
		at += n;
	}
	close(*(int *)fd);
	return NULL;
}

START_TEST(a_log_from_a_pipe_gives_the_same_profile)
{
	struct hwpmc_input *in;
	pthread_t writer;
	char err[600];
	int fd[2];

	some_samples();
	ck_assert_int_eq(pipe(fd), 0);
	pthread_create(&writer, NULL, write_to_pipe, &fd[1]);
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(hwpmc_input_rewind(in), -1);
	ck_assert_int_eq(errno, ESPIPE);
	p = hwpmc_profile_read(in, &options, NULL, NULL, err, sizeof(err));
	ck_assert_msg(p, "%s", err);
	check_conservation(&log_, p);
	ck_assert_uint_eq(image_of(p, "program")->samples, 3000);
	hwpmc_input_close(in);
	pthread_join(writer, NULL);
	close(fd[0]);
}
END_TEST

START_TEST(a_file_that_is_truncated_while_it_is_read_is_an_error)
{
	char path[] = "/tmp/hwpmc-cut-XXXXXX", err[600];
	int fd = mkstemp(path), rc;
	struct hwpmc_input *in;
	struct hwpmc_record r;
	size_t head = log_.len;

	unlink(path);
	some_samples();
	ck_assert_int_eq(write(fd, log_.bytes, log_.len), log_.len);
	/* More than is read at once. */
	for (int i = 0; i < 20; i++)
		ck_assert_int_gt(write(fd, log_.bytes + head, log_.len - head), 0);
	in = hwpmc_input_fd(fd, err, sizeof(err));
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(hwpmc_input_next(in, &r), 1);
	ck_assert_int_eq(ftruncate(fd, 100), 0);
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		;
	ck_assert_int_eq(rc, -1);
	ck_assert_ptr_nonnull(strstr(hwpmc_input_error(in),
				     "it was truncated while it was read"));
	hwpmc_input_close(in);
	close(fd);
}
END_TEST

/* Records of a pipe with that limit, or -1 and errno. */
static int read_limited(uint64_t limit)
{
	struct hwpmc_input *in;
	struct hwpmc_record r;
	pthread_t writer;
	char err[600];
	int fd[2], rc, n = 0;

	ck_assert_int_eq(pipe(fd), 0);
	pthread_create(&writer, NULL, write_to_pipe, &fd[1]);
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_ptr_nonnull(in);
	hwpmc_input_limit(in, limit);
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		n++;
	n = rc < 0 ? -errno : n;
	pthread_join(writer, NULL);
	hwpmc_input_close(in);
	close(fd[0]);
	return n;
}

/* Records until nothing more has come; the end: -1. */
static int read_what_has_come(struct hwpmc_input *in)
{
	struct hwpmc_record r;
	int rc, n = 0;

	while ((rc = hwpmc_input_next(in, &r)) > 0)
		n++;
	if (!rc)
		return n ? n : -1;
	ck_assert_msg(errno == EAGAIN, "%s", hwpmc_input_error(in));
	ck_assert_ptr_nonnull(strstr(hwpmc_input_error(in), "no more data has arrived yet"));
	return n;
}

static void read_in_an_event_loop(const void *bytes, size_t len, size_t piece, bool keep, int all)
{
	struct hwpmc_input *in;
	char err[600];
	int fd[2], n, sum = 0;

	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	/* Nothing is there when it is opened. */
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_msg(in, "%s", err);
	if (keep)
		ck_assert_int_eq(hwpmc_input_keep(in), 0);
	ck_assert_int_eq(read_what_has_come(in), 0);
	for (size_t at = 0; at < len; at += piece) {
		size_t some = len - at < piece ? len - at : piece;

		ck_assert_int_eq(write(fd[1], (const char *)bytes + at, some), some);
		n = read_what_has_come(in);
		ck_assert_int_ge(n, 0);
		sum += n;
	}
	close(fd[1]);
	ck_assert_int_eq(read_what_has_come(in), -1);
	ck_assert_int_eq(sum, all);
	if (keep) {
		ck_assert_int_eq(hwpmc_input_rewind(in), 0);
		ck_assert_int_eq(read_what_has_come(in), all);
	}
	hwpmc_input_close(in);
	close(fd[0]);
}

START_TEST(log_in_pieces_is_read_in_an_event_loop)
{
	static const size_t pieces[] = { 1, 3, 100, 1000, 50000 };
	size_t size;
	void *packed;
	int all;

	some_samples();
	all = read_limited(0);
	size = ZSTD_compressBound(log_.len);
	packed = malloc(size);
	size = ZSTD_compress(packed, size, log_.bytes, log_.len, 1);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		read_in_an_event_loop(log_.bytes, log_.len, pieces[i], i & 1, all);
		read_in_an_event_loop(packed, size, pieces[i], !(i & 1), all);
	}
	free(packed);
}
END_TEST

START_TEST(a_pipe_is_read_up_to_its_limit)
{
	some_samples();
	ck_assert_int_gt(read_limited(0), 3000);
	ck_assert_int_gt(read_limited(log_.len), 3000);
	ck_assert_int_eq(read_limited(log_.len - 1), -EFBIG);
}
END_TEST

START_TEST(stacks_that_differ_in_one_caller_are_two)
{
	uint64_t one[] = { 0x1000, 0x2000, 0x3000 }, two[] = { 0x1000, 0x2008, 0x3000 };
	uint32_t n;

	log_context(&log_, 42, 42);
	log_stack(&log_, HWPMC_SAMPLE_USER, 3, one);
	log_stack(&log_, HWPMC_SAMPLE_USER, 3, two);
	log_stack(&log_, HWPMC_SAMPLE_USER, 3, one);
	log_stack(&log_, HWPMC_SAMPLE_USER, 2, one);
	p = log_profile(&log_, &options);
	hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 3);
}
END_TEST

static size_t last_frame;

/* In frames of 5000 bytes. */
static size_t compress(uint8_t **out)
{
	size_t len = 0, room = 2 * log_.len + 1000;

	*out = malloc(room);
	for (size_t at = 0; at < log_.len; at += 5000) {
		size_t n = log_.len - at < 5000 ? log_.len - at : 5000;

		n = ZSTD_compress(*out + len, room - len, log_.bytes + at, n, 3);
		ck_assert(!ZSTD_isError(n));
		last_frame = len;
		len += n;
	}
	return len;
}

static struct hwpmc_profile *read_bytes(const void *bytes, size_t len)
{
	struct hwpmc_input *in = hwpmc_input_memory(bytes, len);
	char err[600];

	p = hwpmc_profile_read(in, &options, NULL, NULL, err, sizeof(err));
	ck_assert_msg(p, "%s", err);
	hwpmc_input_close(in);
	return p;
}

START_TEST(a_compressed_log_of_several_frames_is_read_whole)
{
	uint8_t *bytes;
	size_t len;

	some_samples();
	log_add(&log_, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_closelog));
	len = compress(&bytes);
	read_bytes(bytes, len);
	check_conservation(&log_, p);
	ck_assert(!totals()->cut);
	ck_assert_uint_eq(image_of(p, "program")->samples, 3000);
	free(bytes);
}
END_TEST

START_TEST(a_compressed_log_that_was_cut_says_so_and_keeps_what_is_whole)
{
	uint64_t before = 0;
	uint8_t *bytes;
	size_t len;

	some_samples();
	len = compress(&bytes);
	for (size_t n = 2000; n < len; n += 97) {
		uint8_t *part = malloc(n);

		memcpy(part, bytes, n);
		read_bytes(part, n);
		ck_assert(totals()->cut);
		ck_assert_uint_ge(totals()->samples, before);
		ck_assert_uint_eq(totals()->kept, totals()->samples);
		before = totals()->samples;
		hwpmc_profile_free(p);
		free(part);
	}
	ck_assert_uint_gt(before, 1000);
	p = NULL;
	free(bytes);
}
END_TEST

START_TEST(damaged_compression_is_refused_with_the_reason)
{
	struct hwpmc_input *in;
	char err[600] = "";
	uint8_t *bytes;
	size_t len;

	some_samples();
	len = compress(&bytes);
	bytes[last_frame] ^= 1;
	in = hwpmc_input_memory(bytes, len);
	p = hwpmc_profile_read(in, &options, NULL, NULL, err, sizeof(err));
	ck_assert_ptr_null(p);
	ck_assert_msg(strstr(err, "compressed") || strstr(err, "offset"), "%s",
		      err);
	hwpmc_input_close(in);
	free(bytes);
}
END_TEST

/* ---- options ------------------------------------------------------------- */

/* 1, 2, 4, 8 … samples, by thread, CPU, event. */
static void different_samples(void)
{
	static const struct { int32_t pid, tid, cpu; uint32_t n; } what[] = {
		{ 42, 42, 0, 1 }, { 42, 43, 0, 2 }, { 50, 50, 1, 4 },
		{ 50, 51, 0, 8 },
	};

	log_event(&log_, 8, "misses", 1000);
	log_exec(&log_, 42, "/bin/one", "one");
	log_exec(&log_, 50, "/bin/two", "two");
	for (int i = 0; i < 4; i++) {
		log_cpu(&log_, what[i].cpu);
		log_context(&log_, what[i].pid, what[i].tid);
		for (uint32_t n = 0; n < what[i].n; n++)
			log_user(&log_, TEXT);
	}
	log_user(&log_, TEXT);
	((struct hwpmc_log_hdr *)(log_.bytes + log_.len - 24))->id = 8;
}

static uint64_t kept(void)
{
	read_it();
	ck_assert_uint_eq(totals()->samples, 16);
	return totals()->kept;
}

START_TEST(options_of_zeroes_keep_all_samples)
{
	different_samples();
	options = (struct hwpmc_profile_options){ 0 };
	options.symbols.no_symbols = true;
	ck_assert_uint_eq(kept(), 16);
}
END_TEST

START_TEST(what_the_options_keep_out_is_counted_as_filtered)
{
	static const int32_t pids[] = { 42, 99 }, tids[] = { 43, 51 }, cpus[] = { 1, 0 };

	different_samples();
	ck_assert_uint_eq(kept(), 16);
	options.pids = pids;
	options.npid = 2;
	ck_assert_uint_eq(kept(), 3);
	options.pids = NULL;
	options.tids = tids;
	options.ntid = 2;
	ck_assert_uint_eq(kept(), 2 + 8 + 1);
	options.tids = NULL;
	options.cpus = cpus;
	options.ncpu = 1;
	ck_assert_uint_eq(kept(), 4);
	options.cpus = cpus + 1;
	ck_assert_uint_eq(kept(), 1 + 2 + 8 + 1);
	options.cpus = cpus;
	options.ncpu = 2;
	ck_assert_uint_eq(kept(), 16);
	options.cpus = NULL;
	options.comm = "two";
	ck_assert_uint_eq(kept(), 4 + 8 + 1);
	options.comm = NULL;
	options.event = "misses";
	ck_assert_uint_eq(kept(), 1);
	options.event = "no such event";
	ck_assert_uint_eq(kept(), 0);
}
END_TEST

START_TEST(samples_of_an_event_without_a_record_are_counted)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	log_user(&log_, TEXT);
	((struct hwpmc_log_hdr *)(log_.bytes + log_.len - 24))->id = 99;
	read_it();
	ev = hwpmc_profile_events(p, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(ev[1].name, "[unknown]");
	ck_assert_uint_eq(ev[1].samples, 1);
}
END_TEST

START_TEST(threads_are_one_unless_they_are_asked_for)
{
	uint32_t n;

	different_samples();
	options.leaf_only = true;
	read_it();
	hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 3);	/* two processes, and the other event */
	options.by_thread = true;
	read_it();
	hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 5);
}
END_TEST

START_TEST(the_timeline_has_each_sample_in_the_order_of_time)
{
	const struct hwpmc_sample_point *point;
	uint32_t n;

	log_context(&log_, PID, PID);
	log_.time = 9000;
	log_user(&log_, TEXT);
	log_cpu(&log_, 1);
	log_context(&log_, PID, PID);
	log_.time = 4000;
	log_user(&log_, TEXT + 1);
	options.timeline = true;
	read_it();
	point = hwpmc_profile_timeline(p, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(point[0].time, 0);
	ck_assert_int_eq(point[0].cpu, 1);
	ck_assert_uint_eq(point[1].time, 5000);
	ck_assert_uint_eq(totals()->duration, 5000);
}
END_TEST

/* A log of 2,000,000,000 ticks, with two samples, and its clock at the end. */
static struct hwpmc_log_clock *log_of_ticks(uint32_t khz, uint64_t monotonic)
{
	struct hwpmc_log_initialize *init = (void *)log_.bytes;
	struct hwpmc_log_clock *clock;

	init->realtime = 1700000000000000000ull;
	init->khz = khz;
	log_context(&log_, PID, PID);
	log_.time = 1000000;
	log_user(&log_, TEXT);
	log_.time = 2001000000;
	log_user(&log_, TEXT);
	clock = log_add(&log_, HWPMC_LOG_CLOCK, sizeof(*clock));
	clock->tick = 2000000000;
	clock->monotonic = monotonic;
	return clock;
}

START_TEST(times_are_right_though_somebody_set_the_clock)
{
	/* A tick is two nanoseconds; the clock was set back by an hour. */
	struct hwpmc_log_clock *clock = log_of_ticks(499000, 4000000000);

	clock->realtime = 1700000000000000000ull - 3600000000000ull;
	read_it();
	ck_assert_uint_eq(totals()->duration, 4000000000);
	ck_assert_uint_eq(totals()->first, 1700000000002000000ull);
}
END_TEST

/* The machine slept for half of the time: CLOCK_MONOTONIC stopped, and the TSC went on. */
START_TEST(times_of_a_machine_that_slept_keep_the_rate_of_boot)
{
	log_of_ticks(500000, 2000000000);
	read_it();
	ck_assert_uint_eq(totals()->duration, 4000000000);
}
END_TEST

START_TEST(declared_drops_are_told_by_cause)
{
	struct hwpmc_log_drop *r;

	for (int i = 0; i < 2; i++) {
		r = log_add(&log_, HWPMC_LOG_DROPNOTIFY, sizeof(*r));
		r->ncause = HWPMC_DROP_FIXED;
		r->samples[HWPMC_DROP_FULL] = 10;
		r->others[HWPMC_DROP_BUSY] = 3;
	}
	read_it();
	ck_assert_uint_eq(totals()->dropped[HWPMC_DROP_FULL], 20);
	ck_assert_uint_eq(totals()->others_dropped[HWPMC_DROP_BUSY], 6);
	ck_assert(!totals()->closed);
}
END_TEST

START_TEST(drops_of_causes_to_come_are_in_the_totals)
{
	struct hwpmc_log_drop_pair *more;
	struct hwpmc_log_drop *r;

	r = log_add(&log_, HWPMC_LOG_DROPNOTIFY, sizeof(*r) + 4 * sizeof(*more));
	r->ncause = HWPMC_DROP_FIXED + 4;
	more = (void *)(r + 1);
	r->samples[HWPMC_DROP_LATE] = 1;
	more[0].samples = 90;
	more[1].samples = 7;
	more[3].samples = 20;
	more[3].others = 300;
	read_it();
	ck_assert_uint_eq(totals()->dropped[HWPMC_DROP_LATE], 1);
	ck_assert_uint_eq(totals()->dropped[HWPMC_DROP_PAUSED], 90);
	ck_assert_uint_eq(totals()->dropped[HWPMC_DROP_FILTERED], 7);
	ck_assert_uint_eq(totals()->dropped[HWPMC_DROP_OTHER], 20);
	ck_assert_uint_eq(totals()->others_dropped[HWPMC_DROP_OTHER], 300);
}
END_TEST

START_TEST(clear_counts_anew_and_keeps_the_processes)
{
	struct hwpmc_input *in;
	struct hwpmc_record r;

	some_samples();
	in = hwpmc_input_memory(log_.bytes, log_.len);
	p = hwpmc_profile_new(&options);
	while (hwpmc_input_next(in, &r) > 0)
		hwpmc_profile_feed(p, &r);
	hwpmc_profile_resolve(p);
	ck_assert_uint_eq(totals()->kept, 3000);
	hwpmc_profile_clear(p);
	ck_assert_uint_eq(totals()->kept, 0);
	/* The same again: the mapping is known now. */
	hwpmc_input_rewind(in);
	while (hwpmc_input_next(in, &r) > 0)
		if (r.hdr->type == HWPMC_LOG_CALLCHAIN)
			hwpmc_profile_feed(p, &r);
	hwpmc_profile_resolve(p);
	ck_assert_uint_eq(totals()->kept, 3000);
	ck_assert_uint_eq(image_of(p, "program")->samples, 3000);
	hwpmc_input_close(in);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add_timed(each_sample_of_any_log_is_counted_once, 60);
	harness_add_timed(a_log_that_ends_anywhere_has_the_samples_before, 60);
	harness_add(a_damaged_log_is_refused_with_offset_and_reason);
	harness_add(a_log_from_a_pipe_gives_the_same_profile);
	harness_add(a_file_that_is_truncated_while_it_is_read_is_an_error);
	harness_add(a_pipe_is_read_up_to_its_limit);
	harness_add(log_in_pieces_is_read_in_an_event_loop);
	harness_add(options_of_zeroes_keep_all_samples);
	harness_add(stacks_that_differ_in_one_caller_are_two);
	harness_add(a_compressed_log_of_several_frames_is_read_whole);
	harness_add(a_compressed_log_that_was_cut_says_so_and_keeps_what_is_whole);
	harness_add(damaged_compression_is_refused_with_the_reason);
	harness_add(what_the_options_keep_out_is_counted_as_filtered);
	harness_add(samples_of_an_event_without_a_record_are_counted);
	harness_add(threads_are_one_unless_they_are_asked_for);
	harness_add(the_timeline_has_each_sample_in_the_order_of_time);
	harness_add(times_are_right_though_somebody_set_the_clock);
	harness_add(times_of_a_machine_that_slept_keep_the_rate_of_boot);
	harness_add(declared_drops_are_told_by_cause);
	harness_add(drops_of_causes_to_come_are_in_the_totals);
	harness_add(clear_counts_anew_and_keeps_the_processes);
	return harness_run();
}
