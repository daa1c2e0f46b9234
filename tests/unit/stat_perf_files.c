/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_perf_files.c - files of perf record as logs: mappings, processes, lost records, all forms
 * of files, compressed, cut and damaged.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* pipe2() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "stat_perf_log.h"

/* ---- mappings ------------------------------------------------------------ */

static void check_build_id(uint32_t n, uint32_t len, uint8_t byte)
{
	const struct hwpmc_log_map *m = record(HWPMC_LOG_MAP_IN, n)->map;

	ck_assert_uint_eq(m->build_id_len, len);
	if (len)
		ck_assert_uint_eq(m->build_id[19], byte);
}

START_TEST(perf_mappings_get_build_ids_by_path_or_record)
{
	begin(false, USUAL);
	perfgen_mmap2(&g, PID, PERF_MODE_USER, TEXT, 0x1000, 0x2000, "/bin/a");
	perfgen_mmap2(&g, PID, PERF_MODE_USER | PERF_MISC_BUILD_ID, 2 * TEXT, 0x1000, 0, "/bin/a");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, 3 * TEXT, 0x1000, 0, "/bin/b");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, 4 * TEXT, 0x1000, 0, "/bin/c");
	perfgen_build_id(&g, -1, PERF_MODE_USER, 0xaa, "/bin/a");
	perfgen_build_id(&g, -1, PERF_MODE_USER, 1, "/bin/c");
	perfgen_build_id(&g, -1, PERF_MODE_USER, 2, "/bin/c");
	/* One feature. */
	perfgen_put(&g.feature[0], g.feature[1].bytes, g.feature[1].len);
	perfgen_put(&g.feature[0], g.feature[2].bytes, g.feature[2].len);
	free(g.feature[1].bytes);
	free(g.feature[2].bytes);
	g.nfeature = 1;
	perfgen_finish(&g);
	check_build_id(0, 20, 0xaa);
	check_build_id(1, 20, 0xbb);
	check_build_id(2, 0, 0);
	check_build_id(3, 0, 0);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_IN, 0)->map->offset, 0x2000);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_IN, 2)->map->inode, 4711);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_IN, 2)->map->major, 8);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_IN, 1)->map->inode, 0);
}
END_TEST

START_TEST(perf_kernel_and_modules_have_their_names_of_logs)
{
	const struct hwpmc_log_map *m;

	begin(false, USUAL);
	perfgen_mmap(&g, -1, PERF_MODE_KERNEL, KERNEL, ~0ull, "[kernel.kallsyms]_text");
	perfgen_mmap(&g, -1, PERF_MODE_KERNEL, 0xffffffffc0000000, 0x1000,
		     "/lib/modules/6.1.0/kernel/fs/some-mod.ko.xz");
	perfgen_build_id(&g, -1, PERF_MODE_KERNEL, 0xcc, "[kernel.kallsyms]");
	perfgen_finish(&g);
	m = record(HWPMC_LOG_MAP_IN, 0)->map;
	ck_assert_str_eq(m->path, "[kernel]");
	ck_assert_int_eq(m->pid, -1);
	ck_assert_uint_eq(m->start, KERNEL);
	ck_assert_uint_eq(m->end, UINT64_MAX);
	ck_assert_uint_eq(m->offset, 0);
	check_build_id(0, 20, 0xcc);
	ck_assert_str_eq(record(HWPMC_LOG_MAP_IN, 1)->map->path, "[some_mod]");
}
END_TEST

START_TEST(perf_mappings_of_data_end_those_of_code)
{
	begin(false, USUAL);
	perfgen_mmap2(&g, PID, PERF_MODE_USER | PERF_MISC_MMAP_DATA, TEXT, 0x1000, 0, "/bin/a");
	perfgen_mmap(&g, PID, PERF_MODE_USER | PERF_MISC_MMAP_DATA, TEXT, 0x1000, "/bin/a");
	perfgen_mmap(&g, PID, PERF_MODE_USER, TEXT, 0x1000, "//anon");
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_MAP_OUT), 2);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_OUT, 0)->unmap->end, TEXT + 0x1000);
	ck_assert_uint_eq(count(HWPMC_LOG_MAP_IN), 1);
	ck_assert(record(HWPMC_LOG_MAP_IN, 0)->hdr->flags & HWPMC_MAP_ANON);
}
END_TEST

START_TEST(perf_guests_are_not_taken_for_programs_here)
{
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	perfgen_mmap(&g, 0, PERF_MODE_GUEST_KERNEL, KERNEL, 0x1000, "[guest.kernel.kallsyms]");
	s.misc = PERF_MODE_GUEST_KERNEL;
	s.ip = KERNEL;
	s.nchain = 0;
	perfgen_sample(&g, &s);
	/* The process that runs the guest has something else at that address. */
	s.misc = PERF_MODE_GUEST_USER;
	s.ip = TEXT + 0x10;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_MAP_IN), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hwpmc_record *r = record(HWPMC_LOG_CALLCHAIN, i);

		ck_assert_uint_eq(r->hdr->flags, HWPMC_SAMPLE_USER);
		ck_assert_uint_eq(r->npc, 1);
		ck_assert_uint_eq(r->sample->pc[0], HWPMC_PC_END(HWPMC_CHAIN_NO_MAPPING));
	}
	ck_assert(has_note("perf-left-out=programs of guests"));
}
END_TEST

START_TEST(perf_stripped_program_without_build_id_has_its_debug_file)
{
	struct hwpmc_profile_options o = log_options();
	struct perfgen_sample s = usual_sample();
	const struct hwpmc_stack *stack;
	uint32_t n;

	o.symbols.debug = SYMBOLS_DIR "/stripped/debug";
	begin(true, USUAL);
	perfgen_mmap(&g, PID, PERF_MODE_USER, TEXT, 0x10000, SYMBOLS_DIR "/stripped/program");
	s.ip = TEXT + 0x1000;
	s.nchain = 0;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	profile(&o);
	stack = hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_ptr_nonnull(stack[0].frame[0]->image->file);
	ck_assert_msg(strstr(stack[0].frame[0]->image->file, ".debug"), "%s",
		      stack[0].frame[0]->image->file);
}
END_TEST

/* ---- processes ----------------------------------------------------------- */

START_TEST(perf_exec_has_the_path_of_its_first_mapping)
{
	begin(false, USUAL);
	perfgen_comm(&g, PID, PID, PERF_MISC_COMM_EXEC, "prog");
	perfgen_mmap2(&g, PID + 1, PERF_MODE_USER, TEXT, 0x1000, 0, "/bin/other");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, TEXT, 0x1000, 0, "/bin/program");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, 2 * TEXT, 0x1000, 0, "/lib/ld.so");
	perfgen_comm(&g, PID, PID, PERF_MISC_COMM_EXEC, "gone");
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_PROCEXEC), 2);
	ck_assert_str_eq(record(HWPMC_LOG_PROCEXEC, 0)->exec->path, "/bin/program");
	ck_assert_str_eq(record(HWPMC_LOG_PROCEXEC, 0)->exec->comm, "prog");
	ck_assert_uint_eq(record(HWPMC_LOG_PROCEXEC, 0)->hdr->time, PERFGEN_FIRST);
	ck_assert_str_eq(record(HWPMC_LOG_PROCEXEC, 1)->exec->path, "gone");
}
END_TEST

START_TEST(perf_many_execs_without_mappings_are_kept)
{
	begin(false, USUAL);
	for (int32_t i = 0; i < 200; i++)
		perfgen_comm(&g, 1000 + i, 1000 + i, PERF_MISC_COMM_EXEC, "prog");
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_PROCEXEC), 200);
}
END_TEST

static uint64_t samples_of(const char *comm)
{
	const struct hwpmc_stack *stack;
	uint64_t sum = 0;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(stack[i].thread->comm, comm))
			sum += stack[i].count;
	return sum;
}

START_TEST(perf_threads_have_the_name_of_the_thread_that_made_them)
{
	struct hwpmc_profile_options o = log_options();
	struct perfgen_sample s = usual_sample();

	o.by_thread = true;
	begin(false, USUAL);
	perfgen_comm(&g, PID, PID, 0, "main");
	perfgen_fork(&g, PID, PID, PID, TID);
	perfgen_comm(&g, PID, TID, 0, "worker");
	perfgen_fork(&g, PID, TID, PID, TID + 1);
	perfgen_fork(&g, PID, TID, 77, 77);
	perfgen_comm(&g, PID, PID, 0, "renamed");
	perfgen_fork(&g, PID, PID, 78, 78);
	s.period = 1;
	perfgen_sample(&g, &s);
	s.tid = TID + 1;
	perfgen_sample(&g, &s);
	s.pid = s.tid = 77;
	perfgen_sample(&g, &s);
	s.pid = s.tid = 78;
	perfgen_sample(&g, &s);
	perfgen_exit(&g, 77, 77);
	perfgen_exit(&g, PID, TID);
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 2);
	ck_assert_uint_eq(count(HWPMC_LOG_THR_CREATE), 2);
	ck_assert_uint_eq(count(HWPMC_LOG_SYSEXIT), 1);
	ck_assert_uint_eq(count(HWPMC_LOG_THR_EXIT), 1);
	profile(&o);
	ck_assert_uint_eq(samples_of("worker"), 3);
	ck_assert_uint_eq(samples_of("renamed"), 1);
}
END_TEST

START_TEST(perf_records_of_perf_itself_are_the_snapshot)
{
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	g.time = 0;
	perfgen_fork(&g, 1, 1, PID, PID);
	perfgen_comm(&g, PID, PID, 0, "before");
	perfgen_comm(&g, PID, TID, 0, "thread");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, TEXT, 0x1000, 0, "/bin/a");
	g.time = PERFGEN_FIRST;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_PROCFORK), 0);
	ck_assert(record(HWPMC_LOG_PROC_CREATE, 0)->hdr->flags & HWPMC_LOG_SNAPSHOT);
	ck_assert_str_eq(record(HWPMC_LOG_THR_CREATE, 0)->task->comm, "thread");
	ck_assert(record(HWPMC_LOG_MAP_IN, 0)->hdr->flags & HWPMC_LOG_SNAPSHOT);
	ck_assert_uint_eq(record(HWPMC_LOG_INITIALIZE, 0)->initialize->tick, PERFGEN_FIRST);
}
END_TEST

/* ---- lost ---------------------------------------------------------------- */

static void lost_records(uint64_t format)
{
	uint64_t lost[2] = { 11, 40 }, samples = 30;

	begin(false, USUAL);
	g.event[0].read_format = format;
	some_samples(1);
	perfgen_record(&g, PERF_LOST, 0, lost, sizeof(lost));
	perfgen_record(&g, PERF_LOST_SAMPLES, 0, &samples, sizeof(samples));
	perfgen_record(&g, PERF_LOST_SAMPLES, PERF_MISC_LOST_BY_BPF, &samples, sizeof(samples));
	perfgen_finish(&g);
	profile(NULL);
}

START_TEST(perf_lost_records_and_samples_are_drops)
{
	const struct hwpmc_profile_totals *t;

	lost_records(0);
	t = hwpmc_profile_totals(p);
	ck_assert_uint_eq(t->dropped[HWPMC_DROP_FULL], 40);
	ck_assert_uint_eq(t->dropped[HWPMC_DROP_UNCOUNTED], 30);
	lost_records(PERF_R_LOST);
	t = hwpmc_profile_totals(p);
	ck_assert_uint_eq(t->dropped[HWPMC_DROP_FULL], 30);
	ck_assert_uint_eq(t->others_dropped[HWPMC_DROP_FULL], 10);
	ck_assert_uint_eq(t->dropped[HWPMC_DROP_UNCOUNTED], 0);
}
END_TEST

START_TEST(perf_pauses_of_sampling_are_counted)
{
	uint64_t body[3] = { PERFGEN_FIRST, 11, 1 };

	begin(false, USUAL);
	some_samples(1);
	perfgen_record(&g, PERF_THROTTLE, 0, body, sizeof(body));
	perfgen_record(&g, PERF_UNTHROTTLE, 0, body, sizeof(body));
	perfgen_finish(&g);
	profile(NULL);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->throttles, 1);
	ck_assert_uint_eq(record(HWPMC_LOG_THROTTLE, 1)->hdr->flags, 1);
	ck_assert_uint_eq(record(HWPMC_LOG_THROTTLE, 0)->throttle->cpu, 1);
}
END_TEST

START_TEST(perf_parts_that_are_left_out_are_a_note)
{
	struct perfgen_sample s = usual_sample();
	uint64_t aux[6] = { 24 };

	begin(false, USUAL | PERF_S_RAW | PERF_S_STACK_USER | PERF_S_ADDR | PERF_S_BRANCH_STACK);
	g.event[0].type = PERF_T_TRACEPOINT;
	perfgen_raw(&g, PERF_AUXTRACE, 0, aux, sizeof(aux));
	perfgen_put(&g.data, NULL, 24);
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	profile(NULL);
	ck_assert_str_eq(hwpmc_profile_note(p, "perf-left-out"),
			 "fields of tracepoints, AUX data (Intel PT and others), branch stacks, user stacks for unwinding by DWARF");
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 1);
}
END_TEST

/* ---- forms --------------------------------------------------------------- */

static uint64_t kept(void)
{
	profile(NULL);
	return hwpmc_profile_totals(p)->samples;
}

static void check_packed(bool pipe, uint32_t type, size_t most)
{
	size_t at;

	begin(pipe, USUAL);
	some_samples(3);
	for (uint32_t i = 0; i < 5; i++) {
		at = g.data.len;
		some_samples(1000);
		perfgen_pack(&g, at, type, most);
		some_samples(2);
	}
	perfgen_finish(&g);
	ck_assert_uint_eq(kept(), 5013);
	ck_assert(!hwpmc_profile_totals(p)->cut);
}

START_TEST(perf_compressed_records_are_one_stream)
{
	check_packed(false, PERF_COMPRESSED, 60000);
	check_packed(true, PERF_COMPRESSED, 777);
	check_packed(false, PERF_COMPRESSED2, 100);
	check_packed(true, PERF_COMPRESSED2, 1);
}
END_TEST

/* The file through a pipe, from a child. */
static uint64_t kept_of_pipe(const void *bytes, size_t len)
{
	struct hwpmc_profile_options o = log_options();
	uint64_t n;
	char err[600];
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	if (!fork()) {
		close(fd[0]);
		for (size_t at = 0; at < len; ) {
			ssize_t rc = write(fd[1], (const char *)bytes + at,
					   len - at < 1000 ? len - at : 1000);

			if (rc < 0)
				break;
			at += rc;
		}
		_exit(0);
	}
	close(fd[1]);
	hwpmc_input_close(in);
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_msg(in, "%s", err);
	hwpmc_profile_free(p);
	p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(p, "%s", err);
	ck_assert(!hwpmc_profile_totals(p)->cut);
	n = hwpmc_profile_totals(p)->samples;
	close(fd[0]);
	return n;
}

/* The file becomes a compressed one. */
static void compress_it(void)
{
	size_t room = ZSTD_compressBound(g.out.len), len;
	void *packed = malloc(room);

	len = ZSTD_compress(packed, room, g.out.bytes, g.out.len, 1);
	ck_assert(!ZSTD_isError(len));
	free(g.out.bytes);
	g.out = (struct perfgen_bytes){ packed, len, room };
}

static void check_streams(bool pipe)
{
	begin(pipe, USUAL);
	some_samples(20000);
	perfgen_string(&g, PERF_FEATURE_HOSTNAME, "machine");
	perfgen_finish(&g);
	ck_assert_uint_eq(kept(), 20000);
	ck_assert_uint_eq(kept_of_pipe(g.out.bytes, g.out.len), 20000);
	ck_assert_str_eq(hwpmc_profile_note(p, "hostname"), "machine");
	compress_it();
	ck_assert_uint_eq(kept_of_pipe(g.out.bytes, g.out.len), 20000);
	ck_assert_uint_eq(kept(), 20000);
	ck_assert_str_eq(hwpmc_profile_note(p, "hostname"), "machine");
}

START_TEST(perf_file_by_a_pipe_or_compressed_is_read_whole)
{
	check_streams(false);
	check_streams(true);
}
END_TEST

static void usual_file(bool pipe, uint32_t n)
{
	begin(pipe, USUAL);
	some_samples(n);
	perfgen_finish(&g);
}

#define NOWHERE	"/no such directory"

START_TEST(perf_packed_output_of_a_pipe_needs_no_temporary_file)
{
	char *dir = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;

	setenv("TMPDIR", NOWHERE, 1);
	usual_file(true, 20000);
	compress_it();
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 20000);
	/* Twice: from the begin again. */
	ck_assert_uint_eq(kept(), 20000);
	usual_file(false, 3);
	compress_it();
	check_refused("cannot decompress it to '" NOWHERE "'");
	/* Nor does a file whose header is of none. */
	usual_file(false, 3);
	memset(g.out.bytes + 16, 0, PERF_HEADER_FILE - 16);
	compress_it();
	check_refused("its table of events is damaged: 0 attributes of 0 bytes");
	usual_file(false, 3);
	g.out.len = PERF_HEADER_FILE - 1;
	compress_it();
	check_refused("it ends within its header");
	if (dir)
		setenv("TMPDIR", dir, 1);
	else
		unsetenv("TMPDIR");
	free(dir);
}
END_TEST

/* A part of a file that nothing reads. */
static void file_that_expands(size_t bytes)
{
	usual_file(false, 3);
	perfgen_put(&g.out, NULL, bytes);
	compress_it();
}

START_TEST(perf_packed_file_that_expands_too_far_is_refused)
{
	file_that_expands(63u << 20);
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 3);
	file_that_expands(70u << 20);
	check_refused("it expands to more than 16 times its size; decompress it with zstd -d");
}
END_TEST

/* Returns the errno of reading the file through a pipe with a limit of bytes. */
static int refused_by_limit(uint64_t limit)
{
	struct hwpmc_record r;
	char err[600];
	int fd[2], rc;

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	ck_assert_int_eq(write(fd[1], g.out.bytes, g.out.len), (ssize_t)g.out.len);
	close(fd[1]);
	hwpmc_input_close(in);
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_msg(in, "%s", err);
	hwpmc_input_limit(in, limit);
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		;
	rc = rc < 0 ? errno : 0;
	close(fd[0]);
	return rc;
}

START_TEST(perf_packed_file_expands_within_the_limit_of_bytes)
{
	file_that_expands(1 << 20);
	ck_assert_uint_lt(g.out.len, 60000);
	ck_assert_int_eq(refused_by_limit(2 << 20), 0);
	ck_assert_int_eq(refused_by_limit(1 << 20), EFBIG);
	ck_assert_ptr_nonnull(strstr(hwpmc_input_error(in), "it expands to more than 1048576 bytes"));
}
END_TEST

START_TEST(perf_bytes_behind_records_are_skipped)
{
	uint64_t aux[6] = { 300000 };
	uint32_t trace[2] = { 13 };

	begin(true, USUAL);
	some_samples(1);
	perfgen_raw(&g, PERF_AUXTRACE, 0, aux, sizeof(aux));
	perfgen_put(&g.data, NULL, 300000);
	some_samples(1);
	perfgen_raw(&g, PERF_TRACING_DATA, 0, trace, sizeof(trace));
	perfgen_put(&g.data, NULL, 16);
	some_samples(1);
	perfgen_finish(&g);
	ck_assert_uint_eq(kept(), 3);
}
END_TEST

#define PIECE	(256 * 1024)		/* of input.c */

/* Each packet has as many bytes as a piece, compressed. */
static void send_packets(const struct log *log, int fd)
{
	uint8_t *packed = malloc(2 * PIECE);
	ZSTD_CStream *z = ZSTD_createCStream();

	ZSTD_initCStream(z, 1);
	for (size_t at = 0; at < log->len; at += PIECE) {
		size_t n = log->len - at < PIECE ? log->len - at : PIECE;
		ZSTD_inBuffer from = { log->bytes + at, n, 0 };
		ZSTD_outBuffer to = { packed, 2 * PIECE, 0 };

		ZSTD_compressStream(z, &to, &from);
		if (n < PIECE)
			ZSTD_endStream(z, &to);
		else
			ZSTD_flushStream(z, &to);
		if (send(fd, packed, to.pos, 0) < 0)
			break;
	}
	_exit(0);
}

START_TEST(compressed_log_of_whole_pieces_is_read_whole)
{
	uint32_t n = 100000;
	struct hwpmc_profile_options o = log_options();
	struct log log;
	char err[600];
	int fd[2];

	log_begin(&log);
	for (uint32_t i = 0; i < n; i++)
		log_user(&log, TEXT + i % 7);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);
	if (!fork())
		send_packets(&log, fd[1]);
	close(fd[1]);
	in = hwpmc_input_fd(fd[0], err, sizeof(err));
	ck_assert_msg(in, "%s", err);
	p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(p, "%s", err);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->samples, n);
	close(fd[0]);
	log_free(&log);
}
END_TEST

/* ---- cut and damaged ----------------------------------------------------- */

static void mixed_file(bool pipe)
{
	struct perfgen_event e = usual_event();
	size_t at;

	begin(pipe, USUAL | PERF_S_IDENTIFIER | PERF_S_BRANCH_STACK | PERF_S_STACK_USER);
	e.sample_type = g.event[0].sample_type;
	e.id = 12;
	perfgen_event(&g, &e);
	perfgen_comm(&g, PID, PID, PERF_MISC_COMM_EXEC, "prog");
	perfgen_mmap2(&g, PID, PERF_MODE_USER, TEXT, 0x1000, 0, "/bin/program");
	perfgen_mmap(&g, -1, PERF_MODE_KERNEL, KERNEL, ~0ull, "[kernel.kallsyms]_text");
	perfgen_fork(&g, PID, PID, 77, 77);
	some_samples(4);
	at = g.data.len;
	some_samples(5);
	perfgen_pack(&g, at, PERF_COMPRESSED, 50);
	perfgen_exit(&g, 77, 77);
	perfgen_names(&g);
	perfgen_build_id(&g, -1, PERF_MODE_USER, 0xaa, "/bin/program");
	perfgen_finish(&g);
}

/* Reads it all; the result is of no interest, but it must come. */
static int64_t samples_of_file(const void *bytes, size_t len)
{
	void *copy = malloc(len ? len : 1);
	struct hwpmc_record r;
	int64_t n = 0;
	int rc;

	memcpy(copy, bytes, len);
	hwpmc_input_close(in);
	in = hwpmc_input_memory(copy, len);
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		n += r.hdr->type == HWPMC_LOG_CALLCHAIN;
	if (rc < 0)
		ck_assert_int_gt(strlen(hwpmc_input_error(in)), 0);
	hwpmc_input_close(in);
	in = NULL;
	free(copy);
	return rc < 0 ? -1 - n : n;
}

START_TEST(perf_file_that_was_cut_has_its_whole_records)
{
	int64_t last = -1;

	mixed_file(true);
	for (size_t len = 300; len <= g.out.len; len++) {
		int64_t n = samples_of_file(g.out.bytes, len);

		if (n < 0)
			continue;
		ck_assert_int_ge(n, last);
		last = n;
	}
	ck_assert_int_eq(last, 9);
	/* perf record writes the size of the data, and what follows them, when it ends. */
	begin(false, USUAL);
	some_samples(9);
	perfgen_finish(&g);
	((struct perf_file_header *)g.out.bytes)->data.size = 0;
	profile(NULL);
	ck_assert(hwpmc_profile_totals(p)->cut);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->samples, 9);
}
END_TEST

START_TEST(perf_damaged_files_are_read_or_refused)
{
	uint32_t seed = 7;

	for (int i = 0; i < 2000; i++) {
		mixed_file(i & 1);
		for (int k = 0; k < 1 + i % 4; k++) {
			seed = seed * 1664525 + 1013904223;
			g.out.bytes[(seed >> 8) % g.out.len] = i & 2 ? 0xff : seed >> 24;
		}
		samples_of_file(g.out.bytes, g.out.len);
	}
}
END_TEST

START_TEST(perf_records_too_short_for_their_fields_are_refused)
{
	static const uint32_t types[] = {
		PERF_MMAP, PERF_MMAP2, PERF_COMM, PERF_FORK, PERF_EXIT, PERF_LOST,
		PERF_LOST_SAMPLES, PERF_THROTTLE, PERF_SAMPLE, PERF_HEADER_ATTR, PERF_AUXTRACE,
		PERF_TRACING_DATA, PERF_COMPRESSED2,
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		begin(false, USUAL);
		g.event[0].flags = PERF_A_FREQ;
		some_samples(1);
		perfgen_raw(&g, types[i], 0, NULL, 0);
		perfgen_finish(&g);
		check_refused("perf.data: offset ");
	}
}
END_TEST

/* Events that share a large section would be read for hours. */
START_TEST(perf_events_that_share_their_identifiers_are_refused)
{
	struct perf_file_header h;
	struct perf_section all;

	begin(false, USUAL);
	for (int i = 0; i < 2; i++) {
		struct perfgen_event e = usual_event();

		e.id = 12 + i;
		perfgen_event(&g, &e);
	}
	some_samples(10);
	perfgen_finish(&g);
	memcpy(&h, g.out.bytes, sizeof(h));
	all = (struct perf_section){ 0, g.out.len / 2 & ~7ull };
	for (uint64_t at = h.attrs.offset; at < h.attrs.offset + h.attrs.size; at += h.attr_size)
		memcpy(g.out.bytes + at + h.attr_size - sizeof(all), &all, sizeof(all));
	check_refused("more identifiers than the file has bytes for");
}
END_TEST

/* The table of features: all of these bits have the section, instead of those that it had. */
static void share_section(uint64_t bits, struct perf_section s)
{
	struct perf_file_header h;

	memcpy(&h, g.out.bytes, sizeof(h));
	memset(h.features, 0, sizeof(h.features));
	h.features[0] = bits;
	memcpy(g.out.bytes, &h, sizeof(h));
	g.out.len = h.data.offset + h.data.size;
	for (; bits; bits &= bits - 1)
		perfgen_put(&g.out, &s, sizeof(s));
}

START_TEST(perf_features_that_share_a_section_are_refused)
{
	uint64_t known = 1ull << PERF_FEATURE_HOSTNAME | 1ull << PERF_FEATURE_CPUID |
			 1ull << PERF_FEATURE_VERSION | 1ull << PERF_FEATURE_CMDLINE;

	usual_file(false, 100);
	share_section(known, (struct perf_section){ 0, g.out.len / 2 });
	check_refused("its features have more bytes than the file");
	usual_file(false, 100);
	share_section(known, (struct perf_section){ 0, g.out.len / 8 });
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 100);
}
END_TEST

/* Wherever its section is. */
START_TEST(perf_features_of_no_use_are_not_read)
{
	usual_file(false, 100);
	share_section(1ull << 40 | 1ull << 41, (struct perf_section){ ~0ull / 2, 1000 });
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 100);
	usual_file(false, 100);
	share_section(1ull << 40 | 1ull << 41, (struct perf_section){ 0, g.out.len });
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 100);
}
END_TEST

START_TEST(perf_chain_with_a_huge_count_is_refused)
{
	uint64_t body[] = { TEXT, PID | (uint64_t)TID << 32, PERFGEN_FIRST, 1, 250, ~0ull / 8 + 2,
			    TEXT };

	begin(false, USUAL);
	perfgen_raw(&g, PERF_SAMPLE, PERF_MODE_USER, body, sizeof(body));
	perfgen_finish(&g);
	check_refused("too short for its fields");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(perf_mappings_get_build_ids_by_path_or_record);
	harness_add(perf_kernel_and_modules_have_their_names_of_logs);
	harness_add(perf_mappings_of_data_end_those_of_code);
	harness_add(perf_guests_are_not_taken_for_programs_here);
	harness_add(perf_stripped_program_without_build_id_has_its_debug_file);
	harness_add(perf_exec_has_the_path_of_its_first_mapping);
	harness_add(perf_many_execs_without_mappings_are_kept);
	harness_add(perf_threads_have_the_name_of_the_thread_that_made_them);
	harness_add(perf_records_of_perf_itself_are_the_snapshot);
	harness_add(perf_lost_records_and_samples_are_drops);
	harness_add(perf_pauses_of_sampling_are_counted);
	harness_add(perf_parts_that_are_left_out_are_a_note);
	harness_add(perf_compressed_records_are_one_stream);
	harness_add(perf_file_by_a_pipe_or_compressed_is_read_whole);
	harness_add(perf_packed_output_of_a_pipe_needs_no_temporary_file);
	harness_add_timed(perf_packed_file_that_expands_too_far_is_refused, 60);
	harness_add(perf_packed_file_expands_within_the_limit_of_bytes);
	harness_add(perf_bytes_behind_records_are_skipped);
	harness_add_timed(perf_file_that_was_cut_has_its_whole_records, 60);
	harness_add_timed(perf_damaged_files_are_read_or_refused, 60);
	harness_add(perf_records_too_short_for_their_fields_are_refused);
	harness_add(perf_events_that_share_their_identifiers_are_refused);
	harness_add(perf_features_that_share_a_section_are_refused);
	harness_add(perf_features_of_no_use_are_not_read);
	harness_add(perf_chain_with_a_huge_count_is_refused);
	harness_add(compressed_log_of_whole_pieces_is_read_whole);
	return harness_run();
}
