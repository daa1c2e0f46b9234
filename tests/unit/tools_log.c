/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_log.c - what the tools write and print of logs: addresses told from names of
 * files, notes, records as text, compressed logs. On the host, under ASan and UBSan.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/logtext.h"
#include "common/missing.h"
#include "record/net.h"
#include "record/note.h"
#include "record/sink.h"
#include "harness.h"
#include "pauses.h"

static const char *parsed(const char *text)
{
	static char out[600];
	struct net_address a;

	if (!net_parse(text, &a))
		return "file";
	snprintf(out, sizeof(out), "%s %s", a.host, a.port);
	return out;
}

START_TEST(addresses_are_told_from_names_of_files)
{
	ck_assert_str_eq(parsed("host:99"), "host 99");
	ck_assert_str_eq(parsed("10.0.0.1:99"), "10.0.0.1 99");
	ck_assert_str_eq(parsed("[::1]:99"), "::1 99");
	ck_assert_str_eq(parsed(":99"), " 99");
	ck_assert_str_eq(parsed("host:name"), "host name");
	ck_assert_str_eq(parsed("log"), "file");
	ck_assert_str_eq(parsed("./a:99"), "file");
	ck_assert_str_eq(parsed("/a:99"), "file");
	ck_assert_str_eq(parsed("a:/b"), "file");
	ck_assert_str_eq(parsed("a:"), "file");
	ck_assert_str_eq(parsed("[::1]"), "file");
	ck_assert_str_eq(parsed("[::1]99"), "file");
	ck_assert_str_eq(parsed(""), "file");
}
END_TEST

START_TEST(addresses_that_are_too_long_are_no_addresses)
{
	char text[600];

	memset(text, 'h', sizeof(text));
	strcpy(text + 400, ":99");
	ck_assert_str_eq(parsed(text), "file");
	memset(text, 'p', sizeof(text));
	text[0] = ':';
	text[500] = '\0';
	ck_assert_str_eq(parsed(text), "file");
}
END_TEST

START_TEST(notes_are_cut_to_what_a_record_holds)
{
	static char value[2 * HWPMC_LOG_MAX];
	union note n;

	ck_assert_uint_eq(note_fill(&n, 7, "key", "value"), 32);
	ck_assert_str_eq(n.record.text, "key=value");
	ck_assert_uint_eq(n.record.hdr.id, 7);
	memset(value, 'x', sizeof(value) - 1);
	ck_assert_uint_eq(note_fill(&n, 7, "key", value), HWPMC_LOG_MAX);
	ck_assert_uint_eq(strlen(n.record.text),
			  HWPMC_LOG_MAX - sizeof(n.record) - 1);
}
END_TEST

/* ---- text ---------------------------------------------------------------- */

static union {
	struct hwpmc_log_hdr hdr;
	struct hwpmc_log_initialize initialize;
	struct hwpmc_log_drop drop;
	struct hwpmc_log_allocate allocate;
	struct hwpmc_log_attach attach;
	struct hwpmc_log_value value;
	struct hwpmc_log_throttle throttle;
	struct hwpmc_log_loss loss;
	struct hwpmc_log_sample sample;
	struct hwpmc_log_task task;
	struct hwpmc_log_fork fork;
	struct hwpmc_log_exec exec;
	struct hwpmc_log_map map;
	struct hwpmc_log_unmap unmap;
	struct hwpmc_log_note note;
	struct hwpmc_log_clock clock;
	char bytes[512];
} rec;

static void blank(uint8_t type)
{
	memset(&rec, 0, sizeof(rec));
	rec.hdr.type = type;
	rec.hdr.id = 0x4070701;
	rec.hdr.len = 64;
}

static const char *text(uint32_t npc)
{
	struct hwpmc_record r = {
		.hdr = &rec.hdr, .cpu = 3, .pid = 812, .tid = 813, .npc = npc,
	};
	static char buf[1024];
	FILE *f;

	memset(buf, 0, sizeof(buf));
	f = fmemopen(buf, sizeof(buf), "w");
	logtext_record(f, &r);
	fclose(f);
	return buf;
}

START_TEST(samples_have_a_line_with_thread_cpu_mode_and_addresses)
{
	blank(HWPMC_LOG_CALLCHAIN);
	rec.sample.hdr.flags = HWPMC_SAMPLE_USER;
	rec.sample.pc[0] = 0x41f2aa;
	rec.sample.pc[1] = 0x41c001;
	ck_assert_str_eq(text(2), "callchain 812 813 0x4070701 3 u 0x41f2aa 0x41c001\n");
	rec.sample.hdr.flags = HWPMC_SAMPLE_SPLIT | HWPMC_SAMPLE_HIDDEN;
	rec.sample.pc[0] = HWPMC_PC_HIDDEN;
	rec.sample.pc[1] = HWPMC_PC_USER;
	rec.sample.pc[2] = 0x41c001;
	ck_assert_str_eq(text(3), "callchain 812 813 0x4070701 3 s hidden user 0x41c001\n");
}
END_TEST

START_TEST(records_about_pmcs_have_their_lines)
{
	blank(HWPMC_LOG_PMCALLOCATE);
	rec.allocate.class = HWPMC_CLASS_IAP;
	rec.allocate.ev = 0xc0;
	rec.allocate.flags = 0x280;
	rec.allocate.config = 0x1c0;
	rec.allocate.mode = HWPMC_MODE_TS;
	rec.allocate.count = 65536;
	ck_assert_str_eq(text(0), "allocate 0x4070701 \"IAP-0x1c0\" 0x280 TS 65536\n");
	strcpy(rec.allocate.name, "CLOCK.PROF");
	rec.hdr.type = HWPMC_LOG_PMCALLOCATEDYN;
	ck_assert_str_eq(text(0), "allocatedyn 0x4070701 \"CLOCK.PROF\" 0x280 TS 65536\n");
	blank(HWPMC_LOG_PMCATTACH);
	rec.attach.pid = 812;
	strcpy(rec.attach.path, "/usr/bin/cc");
	ck_assert_str_eq(text(0), "attach 0x4070701 812 \"/usr/bin/cc\"\n");
	rec.hdr.type = HWPMC_LOG_PMCDETACH;
	ck_assert_str_eq(text(0), "detach 0x4070701 812\n");
	blank(HWPMC_LOG_PROCCSW);
	rec.value.pid = 812;
	rec.value.tid = 813;
	rec.value.value = UINT64_MAX;
	ck_assert_str_eq(text(0), "cswval 0x4070701 812 813 18446744073709551615\n");
	rec.hdr.type = HWPMC_LOG_PROCEXIT;
	ck_assert_str_eq(text(0), "exitval 0x4070701 812 18446744073709551615\n");
	blank(HWPMC_LOG_THROTTLE);
	rec.throttle.cpu = 1;
	rec.throttle.percent = 55;
	ck_assert_str_eq(text(0), "throttle 0x4070701 1 off 55\n");
	blank(HWPMC_LOG_LOSS);
	rec.loss.cpu = 1;
	rec.loss.reason = HWPMC_WHY_COUNTER_TAKEN;
	rec.loss.detail = 3;
	rec.loss.since = 4711;
	ck_assert_str_eq(text(0), "loss 0x4070701 1 off \"the host took the counter for some "
			 "time, in which it did not count (row 3)\" 4711\n");
	rec.hdr.flags = HWPMC_LOSS_OVER;
	rec.loss.reason = 9999;
	ck_assert_str_eq(text(0), "loss 0x4070701 1 on \"reason 9999 of a newer module\" "
			 "4711\n");
}
END_TEST

START_TEST(records_about_processes_have_their_lines)
{
	blank(HWPMC_LOG_PROCEXEC);
	rec.exec.pid = 812;
	strcpy(rec.exec.path, "/bin/\"x\"\n\\");
	ck_assert_str_eq(text(0), "exec 812 \"/bin/\\\"x\\\"\\x0a\\\\\"\n");
	blank(HWPMC_LOG_PROCFORK);
	rec.fork.parent = 1;
	rec.fork.child = 2;
	ck_assert_str_eq(text(0), "fork 1 2\n");
	blank(HWPMC_LOG_SYSEXIT);
	rec.task.pid = 812;
	rec.task.tid = 813;
	ck_assert_str_eq(text(0), "exit 812\n");
	rec.hdr.type = HWPMC_LOG_THR_EXIT;
	ck_assert_str_eq(text(0), "thr-exit 813\n");
	strcpy(rec.task.comm, "cc");
	rec.hdr.type = HWPMC_LOG_PROC_CREATE;
	ck_assert_str_eq(text(0), "create 812 0x0 \"cc\"\n");
	rec.hdr.type = HWPMC_LOG_THR_CREATE;
	ck_assert_str_eq(text(0), "thr-create 813 812 0x0 \"cc\"\n");
	rec.hdr.type = HWPMC_LOG_COMM_NAME;
	ck_assert_str_eq(text(0), "comm 812 813 \"cc\"\n");
	blank(HWPMC_LOG_MAP_IN);
	rec.map.pid = 812;
	rec.map.start = 0x400000;
	rec.map.end = 0x401000;
	rec.map.offset = 0x1000;
	strcpy(rec.map.path, "/usr/bin/cc");
	ck_assert_str_eq(text(0), "map-in 812 0x400000 \"/usr/bin/cc\" 0x401000 0x1000\n");
	blank(HWPMC_LOG_MAP_OUT);
	rec.unmap.pid = 812;
	rec.unmap.start = 0x400000;
	rec.unmap.end = 0x401000;
	ck_assert_str_eq(text(0), "map-out 812 0x400000 0x401000\n");
}
END_TEST

START_TEST(records_about_the_log_have_their_lines)
{
	blank(HWPMC_LOG_INITIALIZE);
	rec.initialize.schema = HWPMC_LOG_SCHEMA;
	rec.initialize.ncpu = 2;
	rec.initialize.khz = 1000;
	rec.initialize.cputype = 0xffffff;
	strcpy(rec.initialize.cpuid, "SomeCPU");
	ck_assert_str_eq(text(0), "initlog 0x00010000 \"SomeCPU\" 2 cpus 1000 kHz\n");
	blank(HWPMC_LOG_DROPNOTIFY);
	rec.drop.cpu = 1;
	rec.drop.ncause = HWPMC_DROP_FIXED;
	rec.drop.samples[HWPMC_DROP_FULL] = 12;
	rec.drop.others[HWPMC_DROP_FULL] = 3;
	ck_assert_str_eq(text(0), "drop 1 12+3 \"ring full\"\n");
	/* Of a later module. */
	rec.drop.ncause = HWPMC_DROP__COUNT + 1;
	((struct hwpmc_log_drop_pair *)(&rec.drop + 1))[0].samples = 0;
	((struct hwpmc_log_drop_pair *)(&rec.drop + 1))[1].samples = 7;
	((struct hwpmc_log_drop_pair *)(&rec.drop + 1))[3].samples = 4;
	ck_assert_str_eq(text(0), "drop 1 12+3 \"ring full\" 7+0 \"mode not sampled\" "
			 "4+0 \"other causes\"\n");
	blank(HWPMC_LOG_USERDATA);
	ck_assert_str_eq(text(0), "userdata 0x4070701\n");
	blank(HWPMC_LOG_NOTE);
	strcpy(rec.note.text, "event=cycles");
	ck_assert_str_eq(text(0), "note 0x4070701 \"event=cycles\"\n");
	blank(HWPMC_LOG_CLOCK);
	rec.clock.tick = 1;
	rec.clock.realtime = 2;
	ck_assert_str_eq(text(0), "clock 1 2\n");
	blank(HWPMC_LOG_CLOSELOG);
	ck_assert_str_eq(text(0), "closelog\n");
	blank(200);
	ck_assert_str_eq(text(0), "unknown 200 64\n");
}
END_TEST

START_TEST(records_of_the_stream_itself_have_no_line)
{
	static const uint8_t types[] = {
		HWPMC_LOG_CPU, HWPMC_LOG_CONTEXT, HWPMC_LOG_PADDING,
	};

	for (size_t i = 0; i < sizeof(types); i++) {
		blank(types[i]);
		ck_assert_str_eq(text(0), "");
	}
}
END_TEST

/* ---- sinks --------------------------------------------------------------- */

static void put_log(struct sink *s, unsigned int notes)
{
	struct hwpmc_log_initialize r = {
		.hdr = { .len = sizeof(r), .type = HWPMC_LOG_INITIALIZE },
		.magic = HWPMC_LOG_MAGIC, .schema = HWPMC_LOG_SCHEMA,
		.ncpu = 1, .khz = 1000,
	};

	sink_write(s, &r, sizeof(r));
	for (unsigned int i = 0; i < notes; i++) {
		sink_note(s, i, "key", "a value that comes again");
		if (i % 1000 == 0)
			sink_flush(s);
	}
}

static unsigned int notes_in(struct hwpmc_input *in)
{
	struct hwpmc_record r;
	unsigned int n = 0;

	while (hwpmc_input_next(in, &r) > 0) {
		if (r.hdr->type != HWPMC_LOG_NOTE)
			continue;
		ck_assert_uint_eq(r.hdr->id, n);
		n++;
	}
	ck_assert_str_eq(hwpmc_input_error(in), "");
	hwpmc_input_close(in);
	return n;
}

START_TEST(compressed_logs_are_smaller_and_read_back_whole)
{
	char path[] = "/tmp/tools_log.XXXXXX", err[600];
	struct sink s;

	close(mkstemp(path));
	for (int level = 0; level <= 3; level += 3) {
		uint64_t bytes;

		ck_assert_int_eq(sink_open(&s, path, level, err, sizeof(err)), 0);
		put_log(&s, 100000);
		bytes = s.bytes;
		ck_assert_int_eq(sink_close(&s), 0);
		if (level)
			ck_assert_uint_lt(bytes, 1000000);
		else
			ck_assert_uint_gt(bytes, 4000000);
		ck_assert_uint_eq(notes_in(hwpmc_input_open(path, err,
							    sizeof(err))),
				  100000);
		unlink(path);
	}
}
END_TEST

static void throttle(struct pauses *p, uint32_t id, uint32_t cpu, uint8_t flags,
		     uint64_t time, uint32_t percent)
{
	struct hwpmc_log_throttle r = {
		.hdr = { .id = id, .flags = flags, .time = time },
		.cpu = cpu, .percent = percent,
	};

	pauses_add(p, &r);
}

static const char *pauses_text(const struct pauses *p, uint64_t lost)
{
	static char text[300];
	struct missing_pauses m = {
		.times = p->times, .ns = p->ticks, .percent = p->percent,
		.lost = lost, .all = 520,
	};
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!missing_put_pauses(f, "# ", &m))
		fputs("none", f);
	fclose(f);
	return text;
}

START_TEST(pauses_are_added_up_by_cpu_and_told_with_their_share)
{
	struct pauses p = { .n = 0 };

	/* The end of one that began before the log. */
	throttle(&p, 1, 0, 1, 5, 0);
	ck_assert_uint_eq(p.times, 0);
	ck_assert_str_eq(pauses_text(&p, 0), "none");
	/* Two PMCs of a CPU in one pause. */
	throttle(&p, 1, 0, 0, 100000000, 57);
	throttle(&p, 2, 0, 0, 100000100, 57);
	throttle(&p, 1, 0, 1, 300000000, 0);
	throttle(&p, 2, 0, 1, 350000000, 0);
	ck_assert_uint_eq(p.times, 1);
	ck_assert_uint_eq(p.ticks, 250000000);
	ck_assert_str_eq(pauses_text(&p, 25),
			 "# sampling was paused 1 time, 0.250 s in all: 25 of 520 samples (4.8 %) "
			 "are missing; sampling used up to 57 % of a CPU; sample less often "
			 "(-F, -c), or see kern.hwpmc.selfcost in hwpmc(4)");
	ck_assert_ptr_nonnull(strstr(pauses_text(&p, 26), "# warning: sampling was paused"));
	ck_assert_ptr_nonnull(strstr(pauses_text(&p, 26), "26 of 520 samples (5.0 %) are missing"));
	/* An older module did not count the drops of pauses. */
	ck_assert_ptr_nonnull(strstr(pauses_text(&p, 0), "0.250 s in all; sampling used up to"));
	/* Another CPU, and time that runs backwards. */
	throttle(&p, 1, 3, 0, 400000000, 20);
	throttle(&p, 1, 3, 1, 650000000, 0);
	throttle(&p, 1, 3, 0, 900000000, 20);
	throttle(&p, 1, 3, 1, 800000000, 0);
	ck_assert_uint_eq(p.ticks, 500000000);
	ck_assert_ptr_nonnull(strstr(pauses_text(&p, 0), "3 times, 0.500 s in all"));
}
END_TEST

/* A log that ends in pauses. */
START_TEST(pauses_that_go_on_are_counted_to_the_end)
{
	struct pauses p = { .n = 0 };

	throttle(&p, 1, 0, 0, 100, 57);
	ck_assert_uint_eq(pauses_until(&p, 150), 50);
	ck_assert_uint_eq(pauses_until(&p, 100), 0);
	ck_assert_uint_eq(pauses_until(&p, 99), 0);
	throttle(&p, 2, 0, 0, 120, 57);
	throttle(&p, 1, 3, 0, 130, 57);
	ck_assert_uint_eq(pauses_until(&p, 150), 50 + 20);
	throttle(&p, 1, 0, 1, 160, 0);
	throttle(&p, 1, 3, 1, 170, 0);
	ck_assert_uint_eq(pauses_until(&p, 200), 40 + 100);
	throttle(&p, 2, 0, 1, 200, 0);
	ck_assert_uint_eq(pauses_until(&p, 1000), 40 + 100);
}
END_TEST

/* Pieces begin with the pauses that go on: merged, they have two beginnings of one pause. */
START_TEST(pause_that_begins_twice_ends_once)
{
	struct pauses p = { .n = 0 };

	throttle(&p, 1, 0, 0, 100, 57);
	throttle(&p, 2, 0, 0, 110, 57);
	throttle(&p, 1, 0, 0, 150, 57);
	throttle(&p, 2, 0, 0, 150, 57);
	throttle(&p, 1, 0, 1, 200, 0);
	/* The end of another, which began before the log. */
	throttle(&p, 3, 0, 1, 210, 0);
	throttle(&p, 2, 0, 1, 220, 0);
	ck_assert_uint_eq(p.times, 1);
	ck_assert_uint_eq(p.ticks, 120);
	ck_assert_uint_eq(pauses_until(&p, 1000), 120);
	/* More PMCs than there is room for are counted. */
	for (uint32_t id = 0; id < 40; id++)
		throttle(&p, id, 0, 0, 300, 57);
	for (uint32_t id = 40; id-- > 0; )
		throttle(&p, id, 0, 1, 400, 0);
	ck_assert_uint_eq(pauses_until(&p, 1000), 220);
	for (uint32_t id = 0; id < 40; id++)
		throttle(&p, id, 0, 0, 500, 57);
	for (uint32_t id = 0; id < 40; id++)
		throttle(&p, id, 0, 1, 600, 0);
	ck_assert_uint_eq(pauses_until(&p, 1000), 320);
}
END_TEST

START_TEST(advice_fits_the_cause_of_a_drop)
{
	ck_assert_ptr_nonnull(strstr(missing_advice(HWPMC_DROP_FULL), "--ring-size"));
	ck_assert_ptr_nonnull(strstr(missing_advice(HWPMC_DROP_LATE), "-c"));
	ck_assert_ptr_null(strstr(missing_advice(HWPMC_DROP_LATE), "--ring-size"));
	ck_assert_ptr_nonnull(strstr(missing_advice(HWPMC_DROP_PAUSED), "-c"));
	ck_assert_ptr_null(strstr(missing_advice(HWPMC_DROP_PAUSED), "--ring-size"));
	for (uint32_t i = HWPMC_DROP_CLOSED; i < HWPMC_DROP_SLOTS; i++) {
		if (i == HWPMC_DROP_PAUSED || i == HWPMC_DROP_UNCOUNTED)
			continue;
		ck_assert_ptr_nonnull(missing_advice(i));
		ck_assert_ptr_null(strstr(missing_advice(i), "-c"));
	}
	ck_assert_str_eq(hwpmc_name_of_drop(HWPMC_DROP_LATE),
			 "counter stopped or interrupt late");
}
END_TEST

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

/* The first word of a file, "" where there is none. */
static const char *text_of(const char *path)
{
	static char word[32];
	FILE *f = fopen(path, "r");

	word[0] = '\0';
	if (f && fscanf(f, "%31s", word) != 1)
		word[0] = '\0';
	if (f)
		fclose(f);
	return word;
}

/* An empty directory, and names of a log in it; log_names_end() expects it empty. */
struct log_names {
	char dir[32], path[64], part[64], old[64];
};

static void log_names_begin(struct log_names *l)
{
	strcpy(l->dir, "/tmp/tools_log.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(l->dir));
	snprintf(l->path, sizeof(l->path), "%s/a", l->dir);
	snprintf(l->part, sizeof(l->part), "%s/a.part", l->dir);
	snprintf(l->old, sizeof(l->old), "%s/a.old", l->dir);
}

static void log_names_end(struct log_names *l)
{
	ck_assert_int_eq(rmdir(l->dir), 0);
}

START_TEST(a_log_gets_its_name_when_it_is_complete_and_the_old_one_is_kept)
{
	struct log_names l;
	char err[600];
	struct sink s;

	log_names_begin(&l);
	write_text(l.path, "before");
	write_text(l.part, "of one that was killed");
	ck_assert_int_eq(sink_open(&s, l.path, 0, err, sizeof(err)), 0);
	put_log(&s, 100);
	ck_assert_str_eq(text_of(l.path), "before");
	ck_assert_int_eq(sink_close(&s), 0);
	ck_assert_str_eq(text_of(l.old), "before");
	ck_assert_uint_eq(notes_in(hwpmc_input_open(l.path, err, sizeof(err))), 100);
	unlink(l.path);
	unlink(l.old);
	/* Nothing is kept of an empty file. */
	write_text(l.path, "");
	ck_assert_int_eq(sink_open(&s, l.path, 0, err, sizeof(err)), 0);
	ck_assert_int_eq(sink_close(&s), 0);
	unlink(l.path);
	log_names_end(&l);
}
END_TEST

START_TEST(a_log_that_is_discarded_leaves_the_old_one_as_it_is)
{
	struct log_names l;
	char err[600];
	struct sink s;

	log_names_begin(&l);
	write_text(l.path, "before");
	ck_assert_int_eq(sink_open(&s, l.path, 3, err, sizeof(err)), 0);
	put_log(&s, 100);
	sink_discard(&s);
	ck_assert_str_eq(text_of(l.path), "before");
	unlink(l.path);
	log_names_end(&l);
}
END_TEST

START_TEST(two_recordings_do_not_write_one_log)
{
	struct sink s, other;
	struct log_names l;
	char err[600];

	log_names_begin(&l);
	ck_assert_int_eq(sink_open(&s, l.path, 0, err, sizeof(err)), 0);
	ck_assert_int_eq(sink_open(&other, l.path, 0, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "another recording writes to it"));
	put_log(&s, 100);
	ck_assert_int_eq(sink_close(&s), 0);
	ck_assert_uint_eq(notes_in(hwpmc_input_open(l.path, err, sizeof(err))), 100);
	unlink(l.path);
	log_names_end(&l);
}
END_TEST

START_TEST(a_log_by_a_link_replaces_what_the_link_names)
{
	struct log_names l;
	char err[600], link[64];
	struct sink s;

	log_names_begin(&l);
	snprintf(link, sizeof(link), "%s/link", l.dir);
	ck_assert_int_eq(symlink("a", link), 0);
	write_text(l.path, "before");
	ck_assert_int_eq(sink_open(&s, link, 0, err, sizeof(err)), 0);
	ck_assert_int_eq(sink_close(&s), 0);
	ck_assert_str_eq(text_of(l.old), "before");
	ck_assert_int_eq(unlink(link), 0);
	unlink(l.path);
	unlink(l.old);
	/* Others can write here: it may be theirs. */
	ck_assert_int_eq(chmod(l.dir, 01777), 0);
	ck_assert_int_eq(symlink("b", l.part), 0);
	ck_assert_int_eq(sink_open(&s, l.path, 0, err, sizeof(err)), -1);
	unlink(l.part);
	log_names_end(&l);
}
END_TEST

/* A reader that has opened the pipe and takes nothing; the pipe is full. */
static int full_pipe(const char *path)
{
	int fd;

	ck_assert(!mkfifo(path, 0600));
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	while (write(fd, path, 1) == 1)
		;
	return fd;
}

START_TEST(a_reader_that_stands_still_does_not_hold_up_the_end)
{
	char dir[] = "/tmp/tools_log.XXXXXX", path[64], err[600];
	int fd, stop = eventfd(1, EFD_CLOEXEC);
	struct sink s;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pipe", dir);
	fd = full_pipe(path);
	for (int signalled = 0; signalled < 2; signalled++) {
		ck_assert_int_eq(sink_open(&s, path, 0, err, sizeof(err)), 0);
		s.stop_fd = signalled ? stop : -1;
		s.patience_ms = signalled ? -1 : 10;
		put_log(&s, 1);
		ck_assert_int_eq(s.error, EINTR);
		ck_assert_int_eq(sink_close(&s), -1);
	}
	close(stop);
	close(fd);
	unlink(path);
	rmdir(dir);
}
END_TEST

START_TEST(a_full_disk_is_kept_and_told_at_the_end)
{
	char err[600];
	struct sink s;

	for (int level = 0; level <= 3; level += 3) {
		ck_assert_int_eq(sink_open(&s, "/dev/full", level, err,
					   sizeof(err)), 0);
		put_log(&s, 2000);
		ck_assert_int_eq(s.error, ENOSPC);
		ck_assert_int_eq(sink_close(&s), -1);
		ck_assert_int_eq(errno, ENOSPC);
	}
	ck_assert_int_eq(sink_open(&s, "/nowhere/log", 0, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "cannot write '/nowhere/log': No such file or directory");
}
END_TEST

START_TEST(who_does_not_read_is_waited_for_until_told_otherwise)
{
	int stop[2], data[2];
	struct sink s = { .stop_fd = -1, .may_block = true };

	ck_assert_int_eq(pipe(stop), 0);
	ck_assert_int_eq(pipe(data), 0);
	s.fd = data[1];
	s.stop_fd = stop[0];
	ck_assert_int_eq(write(stop[1], "", 1), 1);
	/* What fits is written, though it may stop at once. */
	put_log(&s, 100);
	ck_assert_int_eq(s.error, 0);
	put_log(&s, 10000);
	ck_assert_int_eq(s.error, EINTR);
	ck_assert_uint_ge(s.bytes, 4096);
	ck_assert_int_eq(sink_close(&s), -1);
}
END_TEST

static void *send_log(void *arg)
{
	char err[600];
	struct sink s;

	while (sink_open(&s, arg, 0, err, sizeof(err)) < 0)
		usleep(10000);
	put_log(&s, 1000);
	ck_assert_int_eq(sink_close(&s), 0);
	return NULL;
}

/* A port of 127.0.0.1 that was free, and its socket. */
static int bind_port(unsigned int *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	ck_assert_int_eq(bind(fd, (void *)&at, sizeof(at)), 0);
	getsockname(fd, (void *)&at, &(socklen_t){ sizeof(at) });
	*port = ntohs(at.sin_port);
	return fd;
}

START_TEST(a_log_arrives_through_a_connection)
{
	char address[64], err[600], peer[NET_PEER];
	struct hwpmc_input *in;
	unsigned int port;
	pthread_t sender;
	int fd;

	close(bind_port(&port));
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	pthread_create(&sender, NULL, send_log, address);
	fd = net_accept(address, peer, err, sizeof(err));
	ck_assert_int_ge(fd, 0);
	in = hwpmc_input_fd(fd, err, sizeof(err));
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(notes_in(in), 1000);
	pthread_join(sender, NULL);
	close(fd);
}
END_TEST

/* Whether a socket listens there, or at all addresses: by the kernel's own list. */
static bool is_listening(unsigned int port)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned int at, state;
	char line[256];
	bool found = false;

	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*d: %*8x:%x %*8x:%*x %x", &at, &state) == 2 &&
			at == port && state == 0x0a;
	fclose(f);
	return found;
}

/* 0, or why 127.0.0.LAST does not take a connection; *fd is the connection. */
static int connect_to(unsigned int last, unsigned int port, int *fd)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x7f000000 + last),
	};

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(*fd, (void *)&to, sizeof(to)) == 0 ? 0 : errno;
}

static char listened[NET_PEER];

static void *accept_one(void *address)
{
	char err[600];
	intptr_t fd = net_accept(address, listened, err, sizeof(err));

	return (void *)fd;
}

/* 127.0.0.2 is of this machine too, as each of its addresses in a network is. */
START_TEST(one_connection_from_this_machine_alone_is_taken)
{
	char address[64], from[64];
	struct sockaddr_in mine;
	unsigned int port;
	pthread_t listener;
	int fd, other;
	void *got;

	close(bind_port(&port));
	snprintf(address, sizeof(address), ":%u", port);
	pthread_create(&listener, NULL, accept_one, address);
	while (!is_listening(port))
		usleep(1000);
	ck_assert_int_eq(connect_to(2, port, &other), ECONNREFUSED);
	close(other);
	ck_assert_int_eq(connect_to(1, port, &fd), 0);
	pthread_join(listener, &got);
	ck_assert_int_ge((intptr_t)got, 0);
	getsockname(fd, (void *)&mine, &(socklen_t){ sizeof(mine) });
	snprintf(from, sizeof(from), "127.0.0.1:%u", ntohs(mine.sin_port));
	ck_assert_str_eq(listened, from);
	ck_assert_int_eq(connect_to(1, port, &other), ECONNREFUSED);
	close(other);
	close(fd);
	close((intptr_t)got);
}
END_TEST

START_TEST(a_connection_that_says_nothing_is_waited_for_up_to_its_limit)
{
	struct net_limits limits = { .silence = 7, .first = 1 };
	struct timeval silence;
	char err[600];
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(net_wait_first(fd[0], &limits, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "log: no data received for 1 s");
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_eq(net_wait_first(fd[0], &limits, err, sizeof(err)), 0);
	getsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &silence,
		   &(socklen_t){ sizeof(silence) });
	ck_assert_int_eq(silence.tv_sec, 7);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(a_port_that_another_has_at_one_address_is_refused)
{
	char address[64], told[96], err[600], peer[NET_PEER];
	unsigned int port;
	int fd = bind_port(&port);

	snprintf(address, sizeof(address), ":%u", port);
	snprintf(told, sizeof(told), "cannot listen at ':%u': Address already in use",
		 port);
	ck_assert_int_eq(net_accept(address, peer, err, sizeof(err)), -1);
	ck_assert_str_eq(err, told);
	close(fd);
}
END_TEST

START_TEST(addresses_that_nobody_has_are_told_with_the_reason)
{
	char err[600], peer[NET_PEER];

	ck_assert_int_eq(net_connect("127.0.0.1:1", err, sizeof(err)), -1);
	ck_assert_str_eq(err, "cannot connect to '127.0.0.1:1': Connection refused");
	ck_assert_int_eq(net_accept("127.0.0.1:no-such-service", peer, err,
				    sizeof(err)), -1);
	ck_assert_int_eq(strncmp(err, "cannot find '127.0.0.1:no-such-service': ", 41), 0);
	ck_assert_int_eq(net_connect("file", err, sizeof(err)), -1);
	ck_assert_str_eq(err, "'file' is not host:port");
}
END_TEST

int main(void)
{
	/* As a tool that is being watched: EPIPE instead of a signal. */
	signal(SIGPIPE, SIG_IGN);
	harness_add(addresses_are_told_from_names_of_files);
	harness_add(addresses_that_are_too_long_are_no_addresses);
	harness_add(notes_are_cut_to_what_a_record_holds);
	harness_add(samples_have_a_line_with_thread_cpu_mode_and_addresses);
	harness_add(records_about_pmcs_have_their_lines);
	harness_add(records_about_processes_have_their_lines);
	harness_add(records_about_the_log_have_their_lines);
	harness_add(records_of_the_stream_itself_have_no_line);
	harness_add(pauses_are_added_up_by_cpu_and_told_with_their_share);
	harness_add(pauses_that_go_on_are_counted_to_the_end);
	harness_add(pause_that_begins_twice_ends_once);
	harness_add(advice_fits_the_cause_of_a_drop);
	harness_add(compressed_logs_are_smaller_and_read_back_whole);
	harness_add(a_log_gets_its_name_when_it_is_complete_and_the_old_one_is_kept);
	harness_add(a_log_that_is_discarded_leaves_the_old_one_as_it_is);
	harness_add(two_recordings_do_not_write_one_log);
	harness_add(a_log_by_a_link_replaces_what_the_link_names);
	harness_add(a_reader_that_stands_still_does_not_hold_up_the_end);
	harness_add(a_full_disk_is_kept_and_told_at_the_end);
	harness_add(who_does_not_read_is_waited_for_until_told_otherwise);
	harness_add(a_log_arrives_through_a_connection);
	harness_add(one_connection_from_this_machine_alone_is_taken);
	harness_add(a_connection_that_says_nothing_is_waited_for_up_to_its_limit);
	harness_add(a_port_that_another_has_at_one_address_is_refused);
	harness_add(addresses_that_nobody_has_are_told_with_the_reason);
	return harness_run();
}
