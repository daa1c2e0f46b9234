/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_pmclog.c - FreeBSD's pmclog(3): each event of a log that has every type of
 * record, field by field, from memory in pieces of any size and from descriptors.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmc.h>
#include <pmclog.h>

#include "harness.h"
#include "loggen.h"

#define EVENTS	27			/* more than the log has */

static struct loggen log_;
static struct pmclog_ev events[EVENTS + 1];
static char evnames[EVENTS + 1][PMC_NAME_MAX];

static void teardown(void)
{
	loggen_free(&log_);
}

static void keep(unsigned int n, const struct pmclog_ev *ev)
{
	ck_assert_uint_lt(n, EVENTS + 1);
	events[n] = *ev;
	if (ev->pl_type == PMCLOG_TYPE_PMCALLOCATE)
		strcpy(evnames[n], ev->pl_u.pl_a.pl_evname);
}

/* Feed in pieces, each in memory of exactly its size. */
static unsigned int read_fed(size_t piece, size_t len)
{
	void *cookie = pmclog_open(PMCLOG_FD_NONE);
	struct pmclog_ev ev;
	unsigned int n = 0;
	char *copy = NULL;

	for (size_t at = 0; at < len; at += piece) {
		size_t some = len - at < piece ? len - at : piece;

		ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
		ck_assert_int_eq(ev.pl_state, PMCLOG_REQUIRE_DATA);
		free(copy);
		copy = malloc(some);
		memcpy(copy, log_.bytes + at, some);
		ck_assert_int_eq(pmclog_feed(cookie, copy, some), 0);
		while (pmclog_read(cookie, &ev) == 0)
			keep(n++, &ev);
		ck_assert_int_eq(ev.pl_state, PMCLOG_REQUIRE_DATA);
	}
	free(copy);
	pmclog_close(cookie);
	return n;
}

static const struct pmclog_ev *event_of(enum pmclog_type type, unsigned int n)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		if (events[i].pl_type == type && !n--)
			return &events[i];
	ck_abort_msg("no event of type %d", type);
	return NULL;
}

/* Records that FreeBSD has no event for are used up. */
static unsigned int hidden(void)
{
	static const uint8_t types[] = {
		HWPMC_LOG_CPU, HWPMC_LOG_CONTEXT, HWPMC_LOG_THROTTLE,
		HWPMC_LOG_COMM_NAME, HWPMC_LOG_CLOCK, HWPMC_LOG_NOTE,
		HWPMC_LOG_PADDING, HWPMC_LOG_CPU_KIND,
		HWPMC_LOG_PERIOD, HWPMC_LOG_LOSS, HWPMC_LOG_PRECISE, 200,
	};

	return sizeof(types);
}

START_TEST(pmclog_gives_every_event_of_pieces_of_any_size)
{
	loggen_every_type(&log_);
	for (size_t piece = 1; piece <= 64; piece++) {
		unsigned int n = read_fed(piece, log_.len);

		ck_assert_uint_eq(n, log_.n - hidden());
		ck_assert_uint_eq(events[n - 1].pl_count, n);
		ck_assert_int_eq(events[n - 1].pl_offset, log_.len);
		ck_assert_int_eq(events[0].pl_type, PMCLOG_TYPE_INITIALIZE);
		ck_assert_int_eq(events[n - 1].pl_type, PMCLOG_TYPE_CLOSELOG);
	}
}
END_TEST

START_TEST(pmclog_tells_of_the_log_and_of_pmcs)
{
	const struct pmclog_ev *ev;

	loggen_every_type(&log_);
	read_fed(log_.len, log_.len);
	ev = event_of(PMCLOG_TYPE_INITIALIZE, 0);
	ck_assert_uint_eq(ev->pl_u.pl_i.pl_arch, PMC_CPU_INTEL_SKYLAKE_XEON);
	ck_assert_uint_eq(ev->pl_u.pl_i.pl_tsc_freq, 1000000000);
	ck_assert_int_eq(ev->pl_u.pl_i.pl_ts.tv_sec, 1700000000);
	ck_assert_str_eq(ev->pl_u.pl_i.pl_cpuid, "GenuineIntel-6-55-4");
	ck_assert_uint_eq(ev->pl_tsc, LOGGEN_FIRST);
	/* The note with its name comes behind it, but in the same piece of the log. */
	ev = event_of(PMCLOG_TYPE_PMCALLOCATE, 0);
	ck_assert_str_eq(evnames[ev - events], "cycles");
	ck_assert_uint_eq(ev->pl_u.pl_a.pl_rate, 1000);
	ck_assert_uint_eq(ev->pl_u.pl_a.pl_pmcid, 7);
	ev = event_of(PMCLOG_TYPE_PMCALLOCATEDYN, 0);
	ck_assert_str_eq(ev->pl_u.pl_ad.pl_evname, "CLOCK.PROF");
	ck_assert_uint_eq(ev->pl_u.pl_ad.pl_pmcid, 8);
	ev = event_of(PMCLOG_TYPE_PMCATTACH, 0);
	ck_assert_int_eq(ev->pl_u.pl_t.pl_pid, 42);
	ck_assert_str_eq(ev->pl_u.pl_t.pl_pathname, "/bin/loop");
	ev = event_of(PMCLOG_TYPE_PMCDETACH, 0);
	ck_assert_int_eq(ev->pl_u.pl_d.pl_pid, 41);
	ck_assert_uint_eq(ev->pl_u.pl_d.pl_pmcid, 7);
	ev = event_of(PMCLOG_TYPE_PROCCSW, 0);
	ck_assert_int_eq(ev->pl_u.pl_c.pl_tid, 42);
	ck_assert_uint_eq(ev->pl_u.pl_c.pl_value, 1234);
	ev = event_of(PMCLOG_TYPE_PROCEXIT, 0);
	ck_assert_uint_eq(ev->pl_u.pl_e.pl_pid, 42);
	ck_assert_uint_eq(ev->pl_u.pl_e.pl_value, 5678);
	ev = event_of(PMCLOG_TYPE_DROPNOTIFY, 0);
	ck_assert_uint_eq(ev->pl_u.pl_dn.pl_samples, 12);
	ev = event_of(PMCLOG_TYPE_USERDATA, 0);
	ck_assert_uint_eq(ev->pl_u.pl_u.pl_userdata, 0);
}
END_TEST

START_TEST(pmclog_tells_of_processes_threads_and_mappings)
{
	const struct pmclog_ev *ev;

	loggen_every_type(&log_);
	read_fed(log_.len, log_.len);
	ev = event_of(PMCLOG_TYPE_PROCEXEC, 0);
	ck_assert_int_eq(ev->pl_u.pl_x.pl_pid, 42);
	ck_assert_uint_eq(ev->pl_u.pl_x.pl_pmcid, PMC_ID_INVALID);
	ck_assert_str_eq(ev->pl_u.pl_x.pl_pathname, "/bin/true");
	ev = event_of(PMCLOG_TYPE_PROCFORK, 0);
	ck_assert_int_eq(ev->pl_u.pl_f.pl_oldpid, 42);
	ck_assert_int_eq(ev->pl_u.pl_f.pl_newpid, 44);
	ev = event_of(PMCLOG_TYPE_PROC_CREATE, 0);
	ck_assert_str_eq(ev->pl_u.pl_pc.pl_pcomm, "true");
	ev = event_of(PMCLOG_TYPE_THR_CREATE, 0);
	ck_assert_int_eq(ev->pl_u.pl_tc.pl_tid, 43);
	ck_assert_int_eq(ev->pl_u.pl_tc.pl_pid, 42);
	ck_assert_str_eq(ev->pl_u.pl_tc.pl_tdname, "worker");
	ev = event_of(PMCLOG_TYPE_THR_EXIT, 0);
	ck_assert_int_eq(ev->pl_u.pl_te.pl_tid, 43);
	ev = event_of(PMCLOG_TYPE_SYSEXIT, 0);
	ck_assert_int_eq(ev->pl_u.pl_se.pl_pid, 42);
	ev = event_of(PMCLOG_TYPE_MAP_IN, 0);
	ck_assert_uint_eq(ev->pl_u.pl_mi.pl_start, 0x400000);
	ck_assert_str_eq(ev->pl_u.pl_mi.pl_pathname, "/bin/program");
	ev = event_of(PMCLOG_TYPE_MAP_IN, 1);
	ck_assert_int_eq(ev->pl_u.pl_mi.pl_pid, -1);
	ev = event_of(PMCLOG_TYPE_MAP_OUT, 0);
	ck_assert_uint_eq(ev->pl_u.pl_mo.pl_start, 0x600000);
	ck_assert_uint_eq(ev->pl_u.pl_mo.pl_end, 0x700000);
}
END_TEST

START_TEST(pmclog_samples_have_their_thread_and_no_marks)
{
	const struct pmclog_ev_callchain *cc;

	loggen_every_type(&log_);
	read_fed(log_.len, log_.len);
	cc = &event_of(PMCLOG_TYPE_CALLCHAIN, 0)->pl_u.pl_cc;
	ck_assert_uint_eq(cc->pl_pid, 42);
	ck_assert_uint_eq(cc->pl_tid, 43);
	ck_assert_uint_eq(cc->pl_pmcid, 7);
	ck_assert_uint_eq(PMC_CALLCHAIN_CPUFLAGS_TO_CPU(cc->pl_cpuflags), 1);
	ck_assert(PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags));
	ck_assert(!(cc->pl_cpuflags & PMC_CC_F_MULTIPART));
	ck_assert_uint_eq(cc->pl_npc, 3);
	ck_assert_uint_eq(cc->pl_pc[2], 0x403000);
	cc = &event_of(PMCLOG_TYPE_CALLCHAIN, 1)->pl_u.pl_cc;
	ck_assert(!PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags));
	ck_assert_uint_eq(cc->pl_npc, 2);
	ck_assert_uint_eq(cc->pl_pc[1], 0x401000);
}
END_TEST

START_TEST(pmclog_events_are_named_as_the_user_asked_for_them)
{
	loggen_begin(&log_);
	loggen_note(&log_, 9, "event=LLC-misses:u");
	loggen_allocate(&log_, 9, "IAP-3", 1000);
	loggen_allocate(&log_, 10, "IAP-4", 1000);
	ck_assert_uint_eq(read_fed(log_.len, log_.len), 3);
	ck_assert_str_eq(evnames[1], "LLC-misses:u");
	ck_assert_str_eq(evnames[2], "IAP-4");
}
END_TEST

START_TEST(pmclog_reads_descriptors_that_give_little_at_a_time)
{
	struct pmclog_ev ev;
	unsigned int n = 0;
	void *cookie;
	char byte = 0;
	int fds[2];

	loggen_every_type(&log_);
	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	cookie = pmclog_open(fds[0]);
	ck_assert_int_eq(pmclog_feed(cookie, &byte, 1), -1);
	for (size_t at = 0; at < log_.len; at += 7) {
		size_t some = log_.len - at < 7 ? log_.len - at : 7;

		ck_assert_int_eq(write(fds[1], log_.bytes + at, some), some);
		while (pmclog_read(cookie, &ev) == 0)
			keep(n++, &ev);
		/* A program that does not block asks again later, as FreeBSD's pmcstat -T does. */
		ck_assert_int_eq(ev.pl_state, PMCLOG_REQUIRE_DATA);
		ck_assert_int_eq(errno, EAGAIN);
	}
	close(fds[1]);
	ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
	ck_assert_int_eq(ev.pl_state, PMCLOG_EOF);
	ck_assert_str_eq(pmclog_error(cookie), "");
	ck_assert_uint_eq(n, log_.n - hidden());
	pmclog_close(cookie);
	close(fds[0]);
}
END_TEST

START_TEST(pmclog_goes_on_where_a_growing_file_ended)
{
	char path[] = "/tmp/lib_pmclog.XXXXXX";
	int fd = mkstemp(path);
	struct pmclog_ev ev;
	unsigned int n = 0;
	void *cookie;

	loggen_every_type(&log_);
	cookie = pmclog_open(fd);
	for (size_t at = 0; at < log_.len; at += 100) {
		size_t some = log_.len - at < 100 ? log_.len - at : 100;

		ck_assert_int_eq(pwrite(fd, log_.bytes + at, some, at), some);
		while (pmclog_read(cookie, &ev) == 0)
			keep(n++, &ev);
		ck_assert_int_eq(ev.pl_state, PMCLOG_EOF);
	}
	ck_assert_uint_eq(n, log_.n - hidden());
	pmclog_close(cookie);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(pmclog_says_what_is_wrong_with_a_log)
{
	static char nonsense[64] = "this is no log of hwpmc";
	struct pmclog_ev ev;
	void *cookie;

	cookie = pmclog_open(PMCLOG_FD_NONE);
	ck_assert_int_eq(pmclog_feed(cookie, nonsense, -1), -1);
	ck_assert_int_eq(pmclog_feed(cookie, nonsense, sizeof(nonsense)), 0);
	ck_assert_int_eq(pmclog_feed(cookie, nonsense, sizeof(nonsense)), -1);
	ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
	ck_assert_int_eq(ev.pl_state, PMCLOG_ERROR);
	ck_assert_ptr_nonnull(strstr(pmclog_error(cookie), "offset 0: "));
	ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
	ck_assert_int_eq(ev.pl_state, PMCLOG_ERROR);
	pmclog_close(cookie);
	/* A descriptor that cannot be read. */
	cookie = pmclog_open(12345);
	ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
	ck_assert_int_eq(ev.pl_state, PMCLOG_ERROR);
	ck_assert_str_eq(pmclog_error(cookie),
			 "cannot read the log: Bad file descriptor");
	pmclog_close(cookie);
}
END_TEST

START_TEST(pmclog_cuts_what_is_longer_than_its_events_are)
{
	static char path[8000];
	static uint64_t pc[2000];

	memset(path, 'x', sizeof(path) - 1);
	loggen_begin(&log_);
	loggen_map(&log_, 1, 0, 4096, 0, path);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 2000, pc);
	loggen_exec(&log_, 1, "a_name_of_15_ch", path);
	ck_assert_uint_eq(read_fed(log_.len, log_.len), 4);
	ck_assert_uint_eq(strlen(events[1].pl_u.pl_mi.pl_pathname), PATH_MAX - 1);
	ck_assert_uint_eq(events[2].pl_u.pl_cc.pl_npc, PMC_CALLCHAIN_DEPTH_MAX);
	ck_assert_uint_eq(strlen(events[3].pl_u.pl_x.pl_pathname), PATH_MAX - 1);
}
END_TEST

static void add_at(uint8_t type, uint64_t time, uint32_t id)
{
	struct hwpmc_log_hdr *h = loggen_add(&log_, type, sizeof(*h));

	h->id = id;
	h->time = time;
}

static void sample_at(uint64_t time, uint32_t id)
{
	static const uint64_t pc[] = { 0x401000 };

	loggen_sample(&log_, id, HWPMC_SAMPLE_USER, 1, pc)->hdr.time = time;
}

/*
 * Two rounds over the rings of two CPUs. CPU 1 begins: what its sample names is in the
 * ring of CPU 0, which was read before; pieces end with SYNC records, or do not.
 */
static void make_two_rounds(bool sync)
{
	struct hwpmc_log_initialize *init;

	loggen_begin(&log_);
	init = (void *)log_.bytes;
	init->flags |= sync ? HWPMC_LOG_INIT_SYNC : 0;
	add_at(HWPMC_LOG_USERDATA, 2000, 1);
	loggen_cpu(&log_, 1);
	sample_at(2030, 9);
	if (sync)
		add_at(HWPMC_LOG_SYNC, 2040, 0);
	loggen_cpu(&log_, 0);
	loggen_allocate(&log_, 9, "late", 1000)->hdr.time = sync ? 2041 : 2020;
	loggen_cpu(&log_, 1);
	sample_at(2050, 9);
	if (sync)
		add_at(HWPMC_LOG_SYNC, 2060, 0);
	loggen_cpu(&log_, 0);
	sample_at(2045, 9);
}

/* All from *time on, which is that of the last afterwards. */
static void expect_from(void *cookie, const enum pmclog_type *types, uint64_t *time)
{
	struct pmclog_ev ev;

	for (; *types; types++) {
		ck_assert_int_eq(pmclog_read(cookie, &ev), 0);
		ck_assert_int_eq(ev.pl_type, *types);
		ck_assert_uint_ge(ev.pl_tsc, *time);
		*time = ev.pl_tsc;
	}
	ck_assert_int_eq(pmclog_read(cookie, &ev), -1);
}

static void expect_types(void *cookie, const enum pmclog_type *types)
{
	expect_from(cookie, types, &(uint64_t){ 0 });
}

START_TEST(pmclog_names_a_pmc_before_its_samples_on_other_cpus)
{
	static const enum pmclog_type types[] = {
		PMCLOG_TYPE_INITIALIZE, PMCLOG_TYPE_USERDATA,
		PMCLOG_TYPE_PMCALLOCATE, PMCLOG_TYPE_CALLCHAIN,
		PMCLOG_TYPE_CALLCHAIN, PMCLOG_TYPE_CALLCHAIN, 0,
	};
	char path[] = "/tmp/lib_pmclog.XXXXXX";
	int fd = mkstemp(path);
	void *cookie;

	make_two_rounds(false);
	ck_assert_int_eq(write(fd, log_.bytes, log_.len), log_.len);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	cookie = pmclog_open(fd);
	expect_types(cookie, types);
	pmclog_close(cookie);
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(pmclog_keeps_a_piece_of_a_log_until_its_sync_record)
{
	static const enum pmclog_type nothing[] = { 0 };
	static const enum pmclog_type first[] = {
		PMCLOG_TYPE_INITIALIZE, PMCLOG_TYPE_USERDATA,
		PMCLOG_TYPE_CALLCHAIN, PMCLOG_TYPE_PMCALLOCATE,
		PMCLOG_TYPE_CALLCHAIN, 0,
	};
	static const enum pmclog_type rest[] = { PMCLOG_TYPE_CALLCHAIN, 0 };
	void *cookie = pmclog_open(PMCLOG_FD_NONE);
	uint64_t time = 0;
	size_t half;

	make_two_rounds(true);
	half = sizeof(struct hwpmc_log_initialize) + 48;
	ck_assert_int_eq(pmclog_feed(cookie, (char *)log_.bytes, half), 0);
	expect_types(cookie, nothing);
	ck_assert_int_eq(pmclog_feed(cookie, (char *)log_.bytes + half,
				     log_.len - half), 0);
	expect_from(cookie, first, &time);
	/* It is late: the event has the time of the one before. */
	ck_assert_int_eq(pmclog_feed(cookie, (char *)log_.bytes, 0), 0);
	expect_from(cookie, rest, &time);
	pmclog_close(cookie);
}
END_TEST

START_TEST(pmclog_does_not_wait_where_nothing_says_what_for)
{
	struct pmclog_ev ev;
	unsigned int n = 0;
	void *cookie;
	int fds[2];

	make_two_rounds(false);
	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	ck_assert_int_eq(write(fds[1], log_.bytes, log_.len), log_.len);
	cookie = pmclog_open(fds[0]);
	while (pmclog_read(cookie, &ev) == 0)
		n++;
	ck_assert_uint_eq(n, 6);
	pmclog_close(cookie);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(pmclog_says_the_load_base_of_programs_and_libraries)
{
	struct hwpmc_log_map *map;

	loggen_begin(&log_);
	loggen_map(&log_, 1, 0x7f0000001000, 0x7f0000002000, 0x1000, "/lib/a");
	map = loggen_map(&log_, 1, 0x7f0000003000, 0x7f0000004000, 0x1000, "/lib/b");
	map->hdr.flags |= HWPMC_MAP_HAS_SLIDE;
	map->slide = 2;
	map = loggen_map(&log_, 1, 0x401000, 0x402000, 0x1000, "/bin/fixed");
	map->hdr.flags |= HWPMC_MAP_HAS_SLIDE;
	map->slide = 0x400;
	map = loggen_map(&log_, 1, 0x400000, 0x402000, 0, "/bin/old");
	map->hdr.flags |= HWPMC_MAP_HAS_SLIDE;
	map->slide = 0x400;
	loggen_map(&log_, 1, 0x5000, 0x6000, 0x1000, "//anon")->hdr.flags |=
		HWPMC_MAP_ANON;
	loggen_map(&log_, -1, 0xffffffff81001000, 0xffffffff82000000, 0x1000,
		   "[kernel]");
	ck_assert_uint_eq(read_fed(log_.len, log_.len), 7);
	ck_assert_uint_eq(events[1].pl_u.pl_mi.pl_start, 0x7f0000000000);
	ck_assert_uint_eq(events[2].pl_u.pl_mi.pl_start, 0x7f0000000000);
	ck_assert_uint_eq(events[3].pl_u.pl_mi.pl_start, 0);
	ck_assert_uint_eq(events[4].pl_u.pl_mi.pl_start, 0x400000);
	ck_assert_uint_eq(events[5].pl_u.pl_mi.pl_start, 0x5000);
	ck_assert_uint_eq(events[6].pl_u.pl_mi.pl_start, 0xffffffff81001000);
}
END_TEST

START_TEST(pmclog_says_where_a_program_and_its_interpreter_are)
{
	static const struct hwpmc_log_place place = { 0x7f01, 0x7f00, 0x5500 };
	struct hwpmc_log_exec *exec;
	size_t at;

	loggen_begin(&log_);
	at = log_.len;
	loggen_exec(&log_, 1, "a", "/bin/a");
	/* A padding record becomes the end of the one before. */
	loggen_add(&log_, HWPMC_LOG_PADDING, sizeof(place));
	memcpy(log_.bytes + log_.len - sizeof(place), &place, sizeof(place));
	exec = (void *)(log_.bytes + at);
	exec->hdr.len = log_.len - at;
	exec->hdr.flags = HWPMC_EXEC_HAS_PLACE;
	/* Too short to have one. */
	loggen_exec(&log_, 1, "a", "/bin/abcdefg")->hdr.flags = HWPMC_EXEC_HAS_PLACE;
	ck_assert_uint_eq(read_fed(log_.len, log_.len), 3);
	ck_assert_uint_eq(events[1].pl_u.pl_x.pl_entryaddr, 0x7f01);
	ck_assert_uint_eq(events[1].pl_u.pl_x.pl_baseaddr, 0x7f00);
	ck_assert_uint_eq(events[1].pl_u.pl_x.pl_dynaddr, 0x5500);
	ck_assert_str_eq(events[1].pl_u.pl_x.pl_pathname, "/bin/a");
	ck_assert_uint_eq(events[2].pl_u.pl_x.pl_entryaddr, 0);
	ck_assert_uint_eq(events[2].pl_u.pl_x.pl_baseaddr, 0);
	ck_assert_uint_eq(events[2].pl_u.pl_x.pl_dynaddr, 0);
	ck_assert_str_eq(events[2].pl_u.pl_x.pl_pathname, "/bin/abcdefg");
}
END_TEST

int main(void)
{
	harness_fixture(NULL, teardown);
	harness_add(pmclog_gives_every_event_of_pieces_of_any_size);
	harness_add(pmclog_tells_of_the_log_and_of_pmcs);
	harness_add(pmclog_tells_of_processes_threads_and_mappings);
	harness_add(pmclog_samples_have_their_thread_and_no_marks);
	harness_add(pmclog_events_are_named_as_the_user_asked_for_them);
	harness_add(pmclog_reads_descriptors_that_give_little_at_a_time);
	harness_add(pmclog_goes_on_where_a_growing_file_ended);
	harness_add(pmclog_says_what_is_wrong_with_a_log);
	harness_add(pmclog_cuts_what_is_longer_than_its_events_are);
	harness_add(pmclog_names_a_pmc_before_its_samples_on_other_cpus);
	harness_add(pmclog_keeps_a_piece_of_a_log_until_its_sync_record);
	harness_add(pmclog_does_not_wait_where_nothing_says_what_for);
	harness_add(pmclog_says_the_load_base_of_programs_and_libraries);
	harness_add(pmclog_says_where_a_program_and_its_interpreter_are);
	return harness_run();
}
