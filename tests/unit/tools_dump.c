/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_dump.c - hwpmc dump on logs made here: what its lines say, which records the
 * options choose, logs from pipes, logs that are damaged. The program whose samples
 * the logs hold is this one. Under ASan and UBSan.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "common/commands.h"
#include "common/msg.h"
#include "harness.h"
#include "loggen.h"

#define HERE_PID	42

static struct loggen log_;
static char log_path[64], out_path[64], err_path[64];
static char expected[4096];

__attribute__((noinline)) static int here(int x)
{
	/* A place that symbols must lead to. */
	return x * 3 + getpid();
}

static void setup(void)
{
	strcpy(log_path, "/tmp/tools_dump.log.XXXXXX");
	strcpy(out_path, "/tmp/tools_dump.out.XXXXXX");
	strcpy(err_path, "/tmp/tools_dump.err.XXXXXX");
	close(mkstemp(log_path));
	close(mkstemp(out_path));
	close(mkstemp(err_path));
	msg_prog = "hwpmc dump";
}

static void teardown(void)
{
	unlink(log_path);
	unlink(out_path);
	unlink(err_path);
	loggen_free(&log_);
}

static void write_log(size_t len)
{
	FILE *f = fopen(log_path, "w");

	ck_assert_uint_eq(fwrite(log_.bytes, 1, len, f), len);
	fclose(f);
}

static char *contents(const char *path)
{
	static char text[2][1 << 20];
	char *to = text[path == err_path];
	FILE *f = fopen(path, "r");
	size_t n = fread(to, 1, sizeof(text[0]) - 1, f);

	to[n] = '\0';
	fclose(f);
	return to;
}

/* Returns the messages, without the line that the log has no end: made logs have none. */
static char *said(void)
{
	char *text = contents(err_path), *line = strstr(text, ": the log has no end: ");

	if (line) {
		while (line > text && line[-1] != '\n')
			line--;
		memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
	}
	return text;
}

/* What "hwpmc dump -i LOG option ..." prints; *status as it exits. */
static char *dump(int *status, const char *options)
{
	char words[256], *argv[16] = { "dump", "-i", log_path, "-o", out_path };
	int argc = 5, saved = dup(STDERR_FILENO);

	strcpy(words, options);
	for (char *s = strtok(words, " "); s; s = strtok(NULL, " "))
		argv[argc++] = s;
	ck_assert_ptr_nonnull(freopen(err_path, "w", stderr));
	optind = 0;
	*status = cmd_dump(argc, argv);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	return contents(out_path);
}

static char *dump_ok(const char *options)
{
	int status;
	char *text = dump(&status, options);

	ck_assert_msg(status == 0, "%s", contents(err_path));
	ck_assert_str_eq(said(), "");
	return text;
}

static unsigned int lines(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static unsigned int times(const char *text, const char *what)
{
	unsigned int n = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		n++;
	return n;
}

/* The first and the third of six lines, in the order of the log. */
static void check_exact(const char *options, const char *mark)
{
	char *text = dump_ok(options), *at = strstr(text, mark), *third;

	ck_assert_uint_eq(lines(text), 6);
	ck_assert_uint_eq(times(text, mark), 2);
	ck_assert_ptr_eq(at + strlen(mark), strchr(text, '\n') + 1);
	third = strchr(strchr(at + strlen(mark), '\n') + 1, '\n') + 1;
	ck_assert_ptr_eq(strstr(at + 1, mark) + strlen(mark), third);
}

static struct hwpmc_log_map *map_file(uint64_t start, uint64_t end, uint64_t offset,
				      const char *path)
{
	size_t len = (sizeof(struct hwpmc_log_map) + strlen(path) + 8) & ~7ul;
	struct hwpmc_log_file *at;
	struct hwpmc_log_map *r;
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	r = loggen_add(&log_, HWPMC_LOG_MAP_IN, len + sizeof(*at));
	r->hdr.flags = HWPMC_MAP_HAS_FILE;
	r->pid = HERE_PID;
	r->start = start;
	r->end = end;
	r->offset = offset;
	r->inode = st.st_ino;
	strcpy(r->path, path);
	at = (void *)((char *)r + len);
	at->size = st.st_size;
	at->mtime = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	at->ctime = st.st_ctim.tv_sec * 1000000000ll + st.st_ctim.tv_nsec;
	return r;
}

/* The mapping of this program that here() lies in, as a record. */
static struct hwpmc_log_map *map_this_program(void)
{
	uint64_t start, end, offset;
	char line[4400], path[4096];
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			   " %*s %*s %4095s", &start, &end, &offset, path) == 4 &&
		    start <= (uintptr_t)here && (uintptr_t)here < end)
			break;
	fclose(f);
	return map_file(start, end, offset, path);
}

static void begin_here(void)
{
	loggen_begin(&log_);
	loggen_allocate(&log_, 7, "", 1000);
	loggen_note(&log_, 7, "event=cycles:u");
	loggen_exec(&log_, HERE_PID, "my prog", "/bin/my prog");
	map_this_program();
	loggen_cpu(&log_, 1);
	loggen_context(&log_, HERE_PID, 43);
	log_.time = LOGGEN_FIRST + 1000000007;
}

static const char *this_program(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n] = '\0';
	return path;
}

START_TEST(a_sample_is_a_line_with_who_when_what_and_where)
{
	uint64_t pc = (uintptr_t)here + 3;

	begin_here();
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	write_log(log_.len);
	sprintf(expected, "my prog 42/43 [001] 6.000000007 1000 cycles:u: %" PRIx64
		" here+0x3 (%s)\n", pc, this_program());
	ck_assert_str_eq(dump_ok("--type sample"), expected);
	sprintf(expected, "my prog 42/43 [001] 2000000007 1000 cycles:u: %" PRIx64
		" (%s)\n", pc, this_program());
	ck_assert_str_eq(dump_ok("--type CALLCHAIN --raw-time --no-symbols"),
			 expected);
	sprintf(expected, "{\"type\":\"CALLCHAIN\",\"cpu\":1,\"pid\":42,\"tid\":43,"
		"\"comm\":\"my prog\",\"process\":\"my prog\",\"time\":6000000007,\"event\":\"cycles:u\","
		"\"period\":1000,\"frames\":[{\"pc\":\"0x%" PRIx64 "\","
		"\"kernel\":false,\"symbol\":\"here\",\"offset\":3,"
		"\"image\":\"%s\"}]}\n", pc, this_program());
	ck_assert_str_eq(dump_ok("--type sample --json"), expected);
}
END_TEST

START_TEST(a_chain_is_one_line_with_callers_and_where_it_was_cut)
{
	uint64_t pc[] = { (uintptr_t)here, (uintptr_t)here + 1, 0x10 };
	uint64_t hidden[] = { HWPMC_PC_HIDDEN, HWPMC_PC_USER, 0x10 };
	uint64_t early[] = { 0x10, HWPMC_PC_END(HWPMC_CHAIN_NO_RULE) };
	char *text;

	begin_here();
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_CUT, 3, pc);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_HIDDEN | HWPMC_SAMPLE_SPLIT, 3,
		      hidden);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_ENDS,
		      2, early);
	write_log(log_.len);
	text = dump_ok("--type sample");
	sprintf(expected, ": %" PRIx64 " here+0x0 (%s) <- %" PRIx64 " here+0x1 (%s)"
		" <- 10 [unknown] ([unknown]) <- [depth limit]\n", pc[0],
		this_program(), pc[1], this_program());
	ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, ": hidden [unknown] ([hidden kernel])"
				     " <- 10 [unknown] ([unknown])\n"));
	ck_assert_ptr_nonnull(strstr(text, ": 10 [unknown] ([unknown]) <-"
				     " [no unwind rule]\n"));
	ck_assert_uint_eq(lines(text), 3);
	text = dump_ok("--type sample --depth 1");
	ck_assert_ptr_null(strstr(text, "here+0x1"));
}
END_TEST

START_TEST(other_records_are_lines_that_begin_with_their_cpu)
{
	char *text;

	loggen_every_type(&log_);
	write_log(log_.len);
	text = dump_ok("");
	/* All but CPU, CONTEXT, PADDING and PERIOD. */
	ck_assert_uint_eq(lines(text), log_.n - 4);
	ck_assert_ptr_nonnull(strstr(text, "[000] 5.000000000 initialize "));
	ck_assert_ptr_nonnull(strstr(text, " map-in 42 0x400000 \"/bin/program\""));
	ck_assert_ptr_nonnull(strstr(text, "[001] "));
	ck_assert_ptr_nonnull(strstr(text, " unknown 200 24\n"));
	/* The same word in text, in JSON and for --type. */
	ck_assert_ptr_nonnull(strstr(text, " procexec 42 "));
	ck_assert_uint_eq(lines(dump_ok("--type procexec")), lines(dump_ok("--type exec")));
	ck_assert_uint_eq(lines(dump_ok("--type all")), log_.n);
	ck_assert_uint_eq(lines(dump_ok("--type all --json")), log_.n);
	ck_assert_ptr_nonnull(strstr(dump_ok("--type context"), " context 42 43\n"));
}
END_TEST

START_TEST(json_lines_have_the_fields_of_their_records)
{
	loggen_every_type(&log_);
	write_log(log_.len);
	ck_assert_str_eq(dump_ok("--json --type map-out"),
			 "{\"type\":\"MAP_OUT\",\"time\":5000015000,\"cpu\":0,"
			 "\"pid\":42,\"start\":\"0x600000\",\"end\":\"0x700000\"}\n");
	ck_assert_str_eq(dump_ok("--json --type dropnotify --raw-time"),
			 "{\"type\":\"DROPNOTIFY\",\"tick\":1000020000,\"cpu\":1,"
			 "\"samples\":{\"ring full\":12,\"counter stopped or interrupt late\":0,"
			 "\"log closed\":0,\"address space busy\":0,\"sampling paused\":0,"
			 "\"mode not sampled\":0,\"hardware buffer full\":0},"
			 "\"others\":{\"ring full\":0,\"counter stopped or interrupt late\":0,"
			 "\"log closed\":0,\"address space busy\":0,\"sampling paused\":0,"
			 "\"mode not sampled\":0,\"hardware buffer full\":0}}\n");
	ck_assert_ptr_null(strstr(dump_ok("--json --type dropnotify"), "other causes"));
	ck_assert_str_eq(dump_ok("--json --type pmcallocatedyn"),
			 "{\"type\":\"PMCALLOCATEDYN\",\"time\":5000002000,"
			 "\"cpu\":0,\"pmc\":8,\"name\":\"CLOCK.PROF\","
			 "\"class\":\"IAP\",\"mode\":\"TS\",\"ev\":0,\"flags\":0,"
			 "\"config\":\"0x0\",\"period\":10}\n");
}
END_TEST

/* The type of a member never depends on its value. */
START_TEST(json_times_and_ticks_are_numbers_of_any_size)
{
	uint64_t pc = (uintptr_t)here;

	begin_here();
	log_.time = (1ull << 53) + 1;
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_unmap(&log_, HERE_PID, 0x600000, 0x700000);
	write_log(log_.len);
	ck_assert_ptr_nonnull(strstr(dump_ok("--type sample --json --raw-time"),
				     ",\"tick\":9007199254740993,"));
	ck_assert_ptr_nonnull(strstr(dump_ok("--type map-out --json --raw-time"),
				     ",\"tick\":9007199254741993,"));
	ck_assert_ptr_null(strstr(dump_ok("--type sample --json"), "\"time\":\""));
	ck_assert_ptr_nonnull(strstr(dump_ok("--type initialize --json"),
				     "\"realtime\":1700000000000000000,"));
}
END_TEST

START_TEST(dump_shows_the_name_of_a_thread_at_its_time)
{
	uint64_t pc = (uintptr_t)here;
	char *text;

	begin_here();
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_task(&log_, HWPMC_LOG_COMM_NAME, HERE_PID, 43, "worker");
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_task(&log_, HWPMC_LOG_COMM_NAME, HERE_PID, 43, "other");
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	write_log(log_.len);
	text = dump_ok("--type sample");
	ck_assert_int_eq(strncmp(text, "my prog 42/43 ", 14), 0);
	ck_assert_ptr_nonnull(strstr(text, "\nworker 42/43 "));
	ck_assert_ptr_nonnull(strstr(text, "\nother 42/43 "));
	text = dump_ok("--type sample --json");
	ck_assert_ptr_nonnull(strstr(text, "\"comm\":\"worker\",\"process\":\"my prog\""));
	ck_assert_uint_eq(lines(dump_ok("--comm worker")), 1);
	ck_assert_uint_eq(lines(dump_ok("--process worker")), 0);
	ck_assert_uint_eq(lines(dump_ok("--type sample --process my")), 0);
}
END_TEST

/* As a module before these fields writes it. */
static void begin_with_a_doubt(uint64_t pc)
{
	loggen_begin(&log_);
	loggen_allocate(&log_, 7, "", 1000);
	loggen_note(&log_, 7, "event=cycles:u");
	map_this_program()->hdr.flags = 0;
	loggen_cpu(&log_, 1);
	loggen_context(&log_, HERE_PID, 43);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	pc++;
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	write_log(log_.len);
}

/* perf script prints such names without a word. */
START_TEST(dump_reports_each_doubtful_image_once)
{
	char *text;
	int status;

	begin_with_a_doubt((uintptr_t)here);
	text = dump(&status, "--type sample");
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(text, "here+0x0"));
	sprintf(expected, "hwpmc dump: symbols of %s are doubtful: the log has neither"
		" a build-id of it nor its size and time: the file may have changed\n",
		this_program());
	ck_assert_str_eq(said(), expected);
	text = dump(&status, "--type sample --json");
	ck_assert_ptr_nonnull(strstr(text, "\",\"doubt\":\"the log has neither a build-id"));
	/* Nothing of it was named. */
	dump(&status, "--type sample --no-symbols");
	ck_assert_str_eq(said(), "");
	dump(&status, "--type map-in");
	ck_assert_str_eq(said(), "");
}
END_TEST

START_TEST(dump_shows_identity_of_mapped_files)
{
	struct hwpmc_log_map *r;
	struct stat st;
	char *text;

	ck_assert_int_eq(stat("/bin/sh", &st), 0);
	loggen_begin(&log_);
	r = map_file(0x1000, 0x2000, 0, "/bin/sh");
	r->hdr.flags |= HWPMC_MAP_UNREAD;
	r->major = 8;
	r->minor = 3;
	r = loggen_map(&log_, HERE_PID, 0x3000, 0x4000, 0, "/with/id");
	r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
	r->build_id_len = 3;
	memcpy(r->build_id, "\x01\xab\xff", 3);
	loggen_map(&log_, HERE_PID, 0x5000, 0x6000, 0, "//anon");
	write_log(log_.len);
	text = dump_ok("--type map-in");
	sprintf(expected, " \"/bin/sh\" 0x2000 0x0 inode 8:3:%ju size %jd mtime %jd%09ld ctime"
		" %jd%09ld unread\n", (uintmax_t)st.st_ino, (intmax_t)st.st_size,
		(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		(intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, " \"/with/id\" 0x4000 0x0 build-id 01abff\n"));
	ck_assert_ptr_nonnull(strstr(text, " \"//anon\" 0x6000 0x0\n"));
	text = dump_ok("--type map-in --json");
	sprintf(expected, "\"build_id\":\"\",\"major\":8,\"minor\":3,\"inode\":%ju,"
		"\"file\":{\"size\":%jd,\"mtime\":%jd%09ld,\"ctime\":%jd%09ld},"
		"\"unread\":true,\"snapshot\":false}\n", (uintmax_t)st.st_ino,
		(intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		(intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"build_id\":\"01abff\",\"major\":0,\"minor\":0,"
				     "\"inode\":0,\"file\":null,\"unread\":false"));
}
END_TEST

#define TAKEN	"the host took the counter for some time, in which it did not count (row 3)"

START_TEST(dump_prints_a_loss_as_a_sentence)
{
	loggen_every_type(&log_);
	write_log(log_.len);
	ck_assert_str_eq(dump_ok("--json --type loss"),
			 "{\"type\":\"LOSS\",\"time\":5000022000,\"cpu\":1,\"pmc\":7,"
			 "\"of_cpu\":1,\"over\":false,\"reason\":94,\"detail\":3,\"text\":\""
			 TAKEN "\",\"since\":5000021000}\n");
	loggen_loss(&log_, 7, 1, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER)->detail = 3;
	write_log(log_.len);
	ck_assert_str_eq(dump_ok("--type loss"),
			 "[001] 5.000022000 loss: CPU 1 may lack events of cycles since "
			 "5.000021000: " TAKEN "\n"
			 "[001] 5.000033000 loss: CPU 1 counts cycles again; events may be "
			 "missing since 5.000032000: " TAKEN "\n");
	ck_assert_ptr_nonnull(strstr(dump_ok("--type loss --raw-time"), "of cycles since 1000021000: "));
}
END_TEST

/* A CPU whose kind is said after its first samples as well. */
START_TEST(samples_say_the_kind_of_core_of_their_cpu)
{
	uint64_t pc[] = { (uintptr_t)here };
	char *text;

	begin_here();
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, pc);
	loggen_kind(&log_, 1, HWPMC_KIND_ATOM);
	loggen_kind(&log_, 0, HWPMC_KIND_CORE);
	loggen_kind(&log_, 3, 64);	/* of a later module */
	loggen_cpu(&log_, 0);
	loggen_context(&log_, HERE_PID, 43);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, pc);
	loggen_cpu(&log_, 2);
	loggen_context(&log_, HERE_PID, 43);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, pc);
	loggen_cpu(&log_, 3);
	loggen_context(&log_, HERE_PID, 43);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, pc);
	write_log(log_.len);
	text = dump_ok("--json --type sample");
	ck_assert_uint_eq(lines(text), 4);
	ck_assert_ptr_nonnull(strstr(text, "\"cpu\":1,\"kind\":\"cpu_atom\",\"pid\":"));
	ck_assert_ptr_nonnull(strstr(text, "\"cpu\":0,\"kind\":\"cpu_core\",\"pid\":"));
	ck_assert_ptr_nonnull(strstr(text, "\"cpu\":2,\"pid\":"));
	ck_assert_ptr_nonnull(strstr(text, "\"cpu\":3,\"pid\":"));
	text = dump_ok("--type cpu-kind");
	ck_assert_ptr_nonnull(strstr(text, " cpu-kind 1 cpu_atom\n"));
	ck_assert_ptr_nonnull(strstr(text, " cpu-kind 3 ?\n"));
	text = dump_ok("--json --type cpu-kind");
	ck_assert_ptr_nonnull(strstr(text, ",\"of\":1,\"kind\":\"cpu_atom\"}\n"));
	ck_assert_ptr_nonnull(strstr(text, ",\"of\":3,\"kind\":64}\n"));
}
END_TEST

/* A record of a later module, in all that prints drops. */
START_TEST(drops_of_causes_to_come_are_printed_as_other_causes)
{
	struct hwpmc_log_drop_pair *more;
	struct hwpmc_log_drop *r;

	loggen_every_type(&log_);
	r = loggen_add(&log_, HWPMC_LOG_DROPNOTIFY, sizeof(*r) + 4 * sizeof(*more));
	r->ncause = HWPMC_DROP_FIXED + 4;
	more = (void *)(r + 1);
	more[3].samples = 70;
	more[3].others = 9;
	write_log(log_.len);
	ck_assert_ptr_nonnull(strstr(dump_ok("--json --type dropnotify"),
				     ",\"mode not sampled\":0,\"hardware buffer full\":0,\"other causes\":70}"));
	ck_assert_ptr_nonnull(strstr(dump_ok("--json --type dropnotify"),
				     ",\"mode not sampled\":0,\"hardware buffer full\":0,\"other causes\":9}}"));
	ck_assert_ptr_nonnull(strstr(dump_ok("--type dropnotify"),
				     " 70+9 \"other causes\"\n"));
}
END_TEST

START_TEST(dump_prints_precise_records_and_marks_exact_samples)
{
	char *text;

	loggen_exact(&log_);
	write_log(log_.len);
	text = dump_ok("--type precise");
	ck_assert_ptr_nonnull(strstr(text, " precise 0x7 ibs-op exact ctl=0x1 rip=0x401000 "
				     "dc-physaddr=0xffff888000000000\n"));
	ck_assert_ptr_nonnull(strstr(text, " precise 0x9 none inexact\n"));
	ck_assert_ptr_nonnull(strstr(text, " precise 0x8 kind-200 exact 40=0x5\n"));
	text = dump_ok("--type precise --json");
	ck_assert_ptr_nonnull(strstr(text, ",\"pmc\":7,\"kind\":\"ibs-op\",\"exact\":true,"
				     "\"words\":{\"ctl\":\"0x1\",\"rip\":\"0x401000\","
				     "\"dc-physaddr\":\"0xffff888000000000\"}}\n"));
	ck_assert_ptr_nonnull(strstr(text, ",\"pmc\":9,\"kind\":\"none\",\"exact\":false,"
				     "\"words\":{}}\n"));
	ck_assert_ptr_nonnull(strstr(text, ",\"pmc\":8,\"kind\":200,\"exact\":true,"
				     "\"words\":{\"40\":\"0x5\"}}\n"));
	check_exact("--type sample", " [exact]\n");
	check_exact("--type sample --raw-time", " [exact]\n");
	check_exact("--type sample --json", ",\"exact\":true}\n");
	/* The first one of each event, whether the other is chosen or not. */
	ck_assert_uint_eq(times(dump_ok("-e cycles"), " [exact]\n"), 1);
	ck_assert_uint_eq(times(dump_ok("-e ops"), " [exact]\n"), 1);
	ck_assert_uint_eq(times(dump_ok("-p 42"), " precise 0x"), 3);
	ck_assert_uint_eq(times(dump_ok("-p 41"), " precise 0x"), 0);
}
END_TEST

/* Without a PERIOD record, behind one that has one. */
START_TEST(dump_shows_a_period_for_its_own_sample_only)
{
	char *text;

	loggen_frequency(&log_);
	write_log(log_.len);
	text = dump_ok("--type sample --json");
	ck_assert_uint_eq(times(text, "\"event\":\"cycles\",\"period\":1000,"), 1);
	ck_assert_uint_eq(times(text, "\"event\":\"instructions\",\"period\":1000,"), 2);
	ck_assert_uint_eq(times(text, "\"event\":\"cycles\",\"period\":99,"), 1);
	ck_assert_uint_eq(times(text, "\"event\":\"instructions\",\"period\":6,"), 1);
}
END_TEST

/* 2 CPUs, 2 processes of 2 threads, 2 events; 3 samples each. */
static unsigned int make_mixed_log(void)
{
	uint64_t pc = 0x1000;
	unsigned int n = 0;

	loggen_begin(&log_);
	loggen_allocate(&log_, 7, "one", 1000);
	loggen_allocate(&log_, 8, "two", 1000);
	loggen_exec(&log_, 50, "fifty", "/bin/fifty");
	loggen_exec(&log_, 60, "sixty", "/bin/sixty");
	for (unsigned int i = 0; i < 16; i++) {
		int32_t pid = i & 1 ? 50 : 60;

		loggen_cpu(&log_, i >> 3);
		loggen_context(&log_, pid, pid + (i >> 1 & 1));
		for (unsigned int j = 0; j < 3; j++, n++)
			loggen_sample(&log_, i & 4 ? 7 : 8, HWPMC_SAMPLE_USER,
				      1, &pc);
	}
	return n;
}

START_TEST(what_filters_choose_adds_up_to_all_samples)
{
	static const char *const pairs[][2] = {
		{ "-p 50", "-p 60" }, { "-t 50,60", "-t 51,61" },
		{ "-e one", "-e two" }, { "--cpu 0,7-9", "-C 1" },
		{ "--comm fifty", "--comm sixty" },
		{ "--time +,0.000045", "--time 5.000045," },
		{ "--time +0.000045,9", "--time 5,5.000045" },
	};
	unsigned int n = make_mixed_log();

	write_log(log_.len);
	ck_assert_uint_eq(n, 48);
	ck_assert_uint_eq(lines(dump_ok("--type sample")), n);
	for (unsigned int i = 0; i < 7; i++)
		for (unsigned int j = 0; j < 2; j++) {
			char options[64];

			sprintf(options, "--type sample %s", pairs[i][j]);
			ck_assert_uint_eq(lines(dump_ok(options)), n / 2);
		}
	ck_assert_uint_eq(lines(dump_ok("--type sample -p 50 -t 51 -e one --cpu 1")),
			  n / 16);
	ck_assert_uint_eq(lines(dump_ok("--type sample -C 0-1")), n);
	ck_assert_uint_eq(lines(dump_ok("--type sample -C 2,3")), 0);
	/* Other records are chosen by what they are about. */
	ck_assert_uint_eq(lines(dump_ok("-p 50 --type procexec,procfork")), 1);
	ck_assert_uint_eq(lines(dump_ok("-e one --type pmcallocate,note")), 1);
}
END_TEST

START_TEST(a_log_from_a_pipe_gives_the_same_lines)
{
	int fds[2], saved = dup(STDIN_FILENO), status;
	char *argv[] = { "dump", "-i", "-", "-o", out_path, NULL };
	char *whole;

	begin_here();
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t pc = (uintptr_t)here + i % 8;

		loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	}
	write_log(log_.len);
	whole = strdup(dump_ok(""));
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], log_.bytes, log_.len), log_.len);
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	optind = 0;
	status = cmd_dump(5, argv);
	dup2(saved, STDIN_FILENO);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(contents(out_path), whole);
	free(whole);
}
END_TEST

START_TEST(a_mapping_behind_its_samples_still_names_them)
{
	uint64_t pc = (uintptr_t)here;

	loggen_begin(&log_);
	loggen_context(&log_, HERE_PID, HERE_PID);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_cpu(&log_, 1);
	log_.time = LOGGEN_FIRST;
	map_this_program();
	loggen_allocate(&log_, 7, "late", 1000);
	write_log(log_.len);
	ck_assert_ptr_nonnull(strstr(dump_ok("--type sample"), " late: "));
	ck_assert_ptr_nonnull(strstr(dump_ok("--type sample"), " here+0x0 "));
}
END_TEST

START_TEST(one_address_has_another_name_when_something_else_is_there)
{
	uint64_t pc = 0x401000;
	char *text;

	loggen_begin(&log_);
	loggen_context(&log_, HERE_PID, HERE_PID);
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/first");
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_unmap(&log_, HERE_PID, 0x400000, 0x500000);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/second");
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	write_log(log_.len);
	text = dump_ok("--type sample");
	text = strstr(text, "(/first)\n");
	ck_assert_ptr_nonnull(text);
	text = strstr(text, "([unknown])\n");
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "(/second)\n"));
}
END_TEST

/* The samples lie behind each other; what comes in between is of another CPU. */
START_TEST(samples_in_a_row_are_named_by_what_was_there_at_their_time)
{
	uint64_t pc = 0x401000;
	char *text;

	loggen_begin(&log_);
	loggen_context(&log_, HERE_PID, HERE_PID);
	for (unsigned int i = 1; i <= 6; i++) {
		log_.time = LOGGEN_FIRST + 1000 * i;
		loggen_sample(&log_, i % 2, HWPMC_SAMPLE_USER, 1, &pc);
	}
	loggen_cpu(&log_, 1);
	log_.time = LOGGEN_FIRST + 500;
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/first");
	log_.time = LOGGEN_FIRST + 2500;
	loggen_unmap(&log_, HERE_PID, 0x400000, 0x500000);
	log_.time = LOGGEN_FIRST + 2600;
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/second");
	log_.time = LOGGEN_FIRST + 4500;
	loggen_exec(&log_, HERE_PID, "other", "/other");
	log_.time = LOGGEN_FIRST + 4600;
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/third");
	write_log(log_.len);
	text = dump_ok("--type sample");
	for (unsigned int i = 0; i < 6; i++, text = strchr(text, '\n') + 1) {
		static const char *const path[] = { "/first", "/second", "/third" };
		char *at = strstr(text, path[i / 2]), *end = strchr(text, '\n');

		ck_assert_ptr_nonnull(at);
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(at < end, "line %u: %s", i, text);
		ck_assert_int_eq(!strncmp(text, "other ", 6), i >= 4);
	}
	ck_assert_str_eq(text, "");
}
END_TEST

#define CHANGES	10000

/* So many that what dump keeps of an address meets what it keeps of the same at others' time. */
START_TEST(an_address_has_the_name_of_each_of_many_mappings_in_turn)
{
	uint64_t pc = 0x401000;
	char *text, path[32];

	loggen_begin(&log_);
	loggen_exec(&log_, HERE_PID, "program", "/bin/program");
	loggen_context(&log_, HERE_PID, HERE_PID);
	for (unsigned int i = 0; i < CHANGES; i++) {
		log_.time = LOGGEN_FIRST + 1000 * i + 500;
		loggen_sample(&log_, 1, HWPMC_SAMPLE_USER, 1, &pc);
	}
	loggen_cpu(&log_, 1);
	for (unsigned int i = 0; i < CHANGES; i++) {
		log_.time = LOGGEN_FIRST + 1000 * i;
		snprintf(path, sizeof(path), "/mapped-%u", i);
		loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, path);
	}
	write_log(log_.len);
	text = dump_ok("--type sample");
	for (unsigned int i = 0; i < CHANGES; i++, text = strchr(text, '\n') + 1) {
		char want[40], *end = strchr(text, '\n');

		snprintf(want, sizeof(want), "(/mapped-%u)\n", i);
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(!strncmp(end + 1 - strlen(want), want, strlen(want)),
			      "line %u: %.200s", i, text);
	}
}
END_TEST

START_TEST(names_with_line_ends_stay_in_their_lines)
{
	uint64_t pc = 0x401000;
	char *text;

	loggen_begin(&log_);
	loggen_note(&log_, 7, "event=a\nb");
	loggen_allocate(&log_, 7, "", 1000);
	loggen_exec(&log_, HERE_PID, "p\nq\033[m", "/bin/p\nq");
	loggen_map(&log_, HERE_PID, 0x400000, 0x500000, 0, "/bin/p\nq");
	loggen_context(&log_, HERE_PID, HERE_PID);
	loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, 1, &pc);
	write_log(log_.len);
	text = dump_ok("");
	ck_assert_uint_eq(lines(text), log_.n - 1);
	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_nonnull(strstr(text, "p\\x0aq\\x1b[m 42/42 "));
	ck_assert_ptr_nonnull(strstr(text, " 1000 a\\x0ab: "));
	ck_assert_ptr_nonnull(strstr(text, "(/bin/p\\x0aq)\n"));
	ck_assert_uint_eq(lines(dump_ok("--json")), log_.n - 1);
}
END_TEST

START_TEST(lines_longer_than_the_buffer_come_out_whole)
{
	static uint64_t pc[HWPMC_LOG_DEPTH_MAX];
	char *text;

	begin_here();
	for (unsigned int i = 0; i < HWPMC_LOG_DEPTH_MAX; i++)
		pc[i] = (uintptr_t)here + 1 + i % 4;
	for (unsigned int i = 0; i < 8; i++)
		loggen_sample(&log_, 7, HWPMC_SAMPLE_USER, HWPMC_LOG_DEPTH_MAX,
			      pc);
	write_log(log_.len);
	text = dump_ok("--type sample");
	ck_assert_uint_eq(lines(text), 8);
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int n = 0;

		for (; *text != '\n'; text++)
			n += !strncmp(text, " here+0x", 8);
		ck_assert_uint_eq(n, HWPMC_LOG_DEPTH_MAX);
		text++;
	}
}
END_TEST

START_TEST(a_log_cut_anywhere_gives_what_is_whole_or_the_reason)
{
	loggen_every_type(&log_);
	for (size_t len = 0; len <= log_.len; len++) {
		int status;
		char *text;

		write_log(len);
		text = dump(&status, "--type all");
		if (len < sizeof(struct hwpmc_log_initialize)) {
			ck_assert_int_eq(status, EXIT_FAILED);
			ck_assert_ptr_nonnull(strstr(contents(err_path),
						     "offset 0: "));
			continue;
		}
		ck_assert_int_eq(status, 0);
		ck_assert_uint_ge(lines(text), 1);
	}
}
END_TEST

START_TEST(dump_says_that_a_log_has_no_end)
{
	int status;

	loggen_begin(&log_);
	write_log(log_.len);
	dump(&status, "");
	ck_assert_int_eq(status, 0);
	sprintf(expected, "hwpmc dump: %s: the log has no end: its writer was interrupted, or "
		"the file was cut; later samples are missing\n", log_path);
	ck_assert_str_eq(contents(err_path), expected);
	loggen_free(&log_);
	loggen_every_type(&log_);
	write_log(log_.len);
	dump(&status, "");
	ck_assert_str_eq(contents(err_path), "");
}
END_TEST

START_TEST(what_cannot_be_dumped_is_told_in_one_line)
{
	int status;

	dump(&status, "--type sampel");
	ck_assert_int_eq(status, EXIT_USAGE);
	ck_assert_str_eq(contents(err_path), "hwpmc dump: unknown record type 'sampel' (sample, or one of hwpmc_log(5)); see: hwpmc dump --help\n");
	loggen_begin(&log_);
	loggen_cpu(&log_, 0x10000);
	write_log(log_.len);
	dump(&status, "");
	ck_assert_int_eq(status, EXIT_FAILED);
	sprintf(expected, "hwpmc dump: %s: offset 144: CPU record for CPU 65536\n",
		log_path);
	ck_assert_str_eq(contents(err_path), expected);
	unlink(log_path);
	dump(&status, "");
	sprintf(expected, "hwpmc dump: cannot open '%s': No such file or directory\n",
		log_path);
	ck_assert_str_eq(contents(err_path), expected);
	/* The last of two outputs counts. */
	loggen_free(&log_);
	loggen_every_type(&log_);
	write_log(log_.len);
	dump(&status, "-e nosuch");
	ck_assert_int_eq(status, EXIT_FAILED);
	ck_assert_str_eq(contents(err_path), "hwpmc dump: no event 'nosuch' is in the log; see: hwpmc dump --type pmcallocate\n");
	dump(&status, "-o /dev/full");
	ck_assert_int_eq(status, EXIT_FAILED);
	ck_assert_str_eq(contents(err_path), "hwpmc dump: cannot write the records: No space left on device\n");
}
END_TEST

int main(void)
{
	if (here(1) == here(2))
		return 1;
	harness_fixture(setup, teardown);
	harness_add(a_sample_is_a_line_with_who_when_what_and_where);
	harness_add(a_chain_is_one_line_with_callers_and_where_it_was_cut);
	harness_add(other_records_are_lines_that_begin_with_their_cpu);
	harness_add(json_lines_have_the_fields_of_their_records);
	harness_add(json_times_and_ticks_are_numbers_of_any_size);
	harness_add(dump_shows_the_name_of_a_thread_at_its_time);
	harness_add(dump_reports_each_doubtful_image_once);
	harness_add(dump_shows_identity_of_mapped_files);
	harness_add(dump_prints_a_loss_as_a_sentence);
	harness_add(samples_say_the_kind_of_core_of_their_cpu);
	harness_add(drops_of_causes_to_come_are_printed_as_other_causes);
	harness_add(dump_prints_precise_records_and_marks_exact_samples);
	harness_add(dump_shows_a_period_for_its_own_sample_only);
	harness_add(what_filters_choose_adds_up_to_all_samples);
	harness_add(a_log_from_a_pipe_gives_the_same_lines);
	harness_add(a_mapping_behind_its_samples_still_names_them);
	harness_add(one_address_has_another_name_when_something_else_is_there);
	harness_add(samples_in_a_row_are_named_by_what_was_there_at_their_time);
	harness_add(an_address_has_the_name_of_each_of_many_mappings_in_turn);
	harness_add(names_with_line_ends_stay_in_their_lines);
	harness_add(lines_longer_than_the_buffer_come_out_whole);
	harness_add_timed(a_log_cut_anywhere_gives_what_is_whole_or_the_reason,
			  60);
	harness_add(dump_says_that_a_log_has_no_end);
	harness_add(what_cannot_be_dumped_is_told_in_one_line);
	return harness_run();
}
