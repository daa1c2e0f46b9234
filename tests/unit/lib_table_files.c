/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_table_files.c - which files events are read from, in which order, and that a file
 * which is damaged, or is none that may be read, is refused in one line that names it.
 */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "lib_machines.h"
#include "tables.h"

static char folder[] = "/tmp/hwpmc-tables-XXXXXX";
static struct event_machine machine;

static const char entry[] =
	"{\"EventCode\": \"0xC4\", \"UMask\": \"0x02\", \"EventName\": \"MINE.NEAR_CALL\","
	" \"BriefDescription\": \"Calls\\tthat \\u001b are mine\", \"Counter\": \"0,1\"}";

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void put(const char *name, const void *bytes, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* A skylake, and an empty folder that is its only source. */
static void setup(void)
{
	strcpy(folder, "/tmp/hwpmc-tables-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	machine = machine_skylake();
	setenv("HWPMC_EVENTS", folder, 1);
	setenv("LIBPFM_FORCE_PMU", "perf", 1);
}

static void teardown(void)
{
	run("rm -rf %s", folder);
}

static void put_map(const char *table)
{
	char line[128];

	snprintf(line, sizeof(line), "GenuineIntel-6-5E\t%s\t-\n", table);
	put_text("intel-models.tsv", line);
}

static void is_event(const char *name, uint64_t config)
{
	struct hwpmc_event ev;
	struct event_error e = { .text = "" };

	ck_assert_msg(!event_parse(&machine, name, &ev, &e), "%s: %s", name, e.text);
	ck_assert_uint_eq(ev.code[0].config, config);
}

static void is_unknown(const char *name)
{
	struct hwpmc_event ev;
	struct event_error e;

	ck_assert(event_parse(&machine, name, &ev, &e));
	ck_assert_msg(e.err == ENOENT, "%s: %d %s", name, e.err, e.text);
}

/* What has been read is kept for the CPU that was asked for last. */
static void forget(void)
{
	machine.cpu[0]++;
	is_unknown("MINE.NEAR_CALL");
	machine.cpu[0]--;
}

/* In one line, with the file's name and these words. */
static void is_refused(const char *file, const char *words)
{
	struct hwpmc_event ev;
	struct event_error e;

	ck_assert_msg(event_parse(&machine, "MINE.NEAR_CALL", &ev, &e), "%s is taken", file);
	ck_assert_msg(e.err == EINVAL && strstr(e.text, file) && strstr(e.text, words) &&
		      strstr(e.text, "cannot use") && !strchr(e.text, '\n'), "%d: %s", e.err, e.text);
	/* Names that need no file are known as before. */
	ck_assert(!event_parse(&machine, "cycles", &ev, &e));
}

static size_t compress(const char *text, size_t n, uint8_t *out, size_t size)
{
	size_t at = 0;

	ck_assert_int_eq(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL,
						 (const uint8_t *)text, n, out, &at, size),
			 LZMA_OK);
	return at;
}

static void put_table(const char *text)
{
	static uint8_t xz[1 << 16];
	size_t n = compress(text, strlen(text), xz, sizeof(xz));

	put_map("mine");
	put("mine.tsv.xz", xz, n);
}

/* ---- sources --------------------------------------------------------------- */

START_TEST(a_table_of_ours_is_found_by_the_model)
{
	put_table("# a comment\nMINE.NEAR_CALL\t2c4\t3\t\t\t\n");
	is_event("MINE.NEAR_CALL", 0x2c4);
	is_event("mine-near_call", 0x2c4);
	is_event("mine:near_call", 0x2c4);
	is_event("MINE.NEAR_CALL,cmask=2", 0x20002c4);
	is_event("mine::MINE.NEAR_CALL", 0x2c4);
	is_event("cpu::MINE.NEAR_CALL", 0x2c4);
	is_unknown("MINE.NEAR_CAL");
	is_unknown("MINE.NEAR_CALLS");
	is_unknown("cpu_atom::MINE.NEAR_CALL");
	machine = machine_icelake();
	setenv("HWPMC_EVENTS", folder, 1);
	is_unknown("MINE.NEAR_CALL");
}
END_TEST

START_TEST(files_are_found_by_the_names_that_pmu_tools_gives)
{
	static const char *const names[] = {
		"GenuineIntel-6-5E-core.json", "GenuineIntel-6-5E-3-core.json",
	};
	char json[512];

	snprintf(json, sizeof(json), "[%s]", entry);
	for (size_t i = 0; i < 2; i++) {
		put_text(names[i], json);
		forget();
		is_event("MINE.NEAR_CALL", 0x2c4);
		run("rm %s/%s", folder, names[i]);
	}
	forget();
	put_text("mapfile.csv", "GenuineIntel-6-5E,V1,/SKL/x_uncore.json,uncore,,,\n"
		 "GenuineIntel-6-5E,V1,/SKL/events/x_core.json,core,,,\r\n");
	snprintf(json, sizeof(json), "{\"Header\": {}, \"Events\": [%s]}", entry);
	run("mkdir -p %s/SKL/events", folder);
	put_text("SKL/events/x_core.json", json);
	is_event("MINE.NEAR_CALL", 0x2c4);
}
END_TEST

static int note_desc(const struct event_found *f, void *arg)
{
	if (!strcmp(f->row.name, "MINE.NEAR_CALL"))
		snprintf(arg, 100, "%s %s %.*s", f->table, f->kind, (int)f->row.ndesc, f->row.desc);
	return 0;
}

START_TEST(the_users_file_wins_and_brings_descriptions)
{
	char json[512], list[256], seen[100] = "";
	struct event_error e;

	put_table("MINE.NEAR_CALL\t9c4\tf\t\t\t\nMINE.OTHER\t1c4\tf\t\t\t\n");
	snprintf(json, sizeof(json), "[%s]", entry);
	run("mkdir -p %s/.config/hwpmc/events %s/.cache/pmu-events", folder, folder);
	put_text(".config/hwpmc/events/GenuineIntel-6-5E-core.json", json);
	put_text(".cache/pmu-events/GenuineIntel-6-5E-core.json",
		 "[{\"EventCode\": \"0xC4\", \"UMask\": \"0x77\", \"EventName\": \"MINE.NEAR_CALL\"},"
		 "{\"EventCode\": \"0xC4\", \"UMask\": \"0x78\", \"EventName\": \"MINE.CACHED\"}]");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", folder, 1);
	unsetenv("HWPMC_EVENTS");
	is_event("MINE.NEAR_CALL", 0x2c4);
	is_event("MINE.CACHED", 0x78c4);
	is_unknown("MINE.OTHER");
	snprintf(list, sizeof(list), "%s/.cache/pmu-events:%s/.config/hwpmc/events:%s", folder,
		 folder, folder);
	setenv("HWPMC_EVENTS", list, 1);
	forget();
	is_event("MINE.NEAR_CALL", 0x77c4);
	is_event("MINE.OTHER", 0x1c4);
	snprintf(list, sizeof(list), "%s/.config/hwpmc/events:%s", folder, folder);
	setenv("HWPMC_EVENTS", list, 1);
	forget();
	ck_assert_int_eq(event_tables_each(&machine, note_desc, seen, &e), 0);
	ck_assert_str_eq(seen, "GenuineIntel-6-5E-core.json cpu Calls that   are mine");
}
END_TEST

#define MANY	100

/* From some lookup on by an index, each name as before, and none that the table lacks. */
START_TEST(many_names_are_found_in_a_table_and_no_others)
{
	static char text[MANY * 40];
	char name[40];
	size_t at = 0;

	for (unsigned int i = 0; i < MANY; i++)
		at += (size_t)sprintf(text + at, "MINE.EVENT_%u:PART\t%xc4\tf\t\t\t\n", i, i + 1);
	put_table(text);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < MANY; i++) {
			sprintf(name, "MINE.EVENT_%u.PART", i);
			is_event(name, (i + 1) << 8 | 0xc4);
			sprintf(name, "mine:event_%u:PART", i);
			is_event(name, (i + 1) << 8 | 0xc4);
		}
		for (unsigned int i = MANY; i < 2 * MANY; i++) {
			sprintf(name, "MINE.EVENT_%u.PART", i);
			is_unknown(name);
		}
		is_unknown("MINE.EVENT_1");
		is_unknown("MINE.EVENT_1.PART.MORE");
	}
}
END_TEST

START_TEST(two_kinds_of_core_are_two_tables)
{
	static uint8_t xz[256];
	static const char core[] = "MINE.BOTH\t2c4\tff\t\t\t\nMINE.CORE\t3c4\tff\t\t\t\n";
	static const char atom[] = "MINE.BOTH\t4c4\t3f\t\t\t\nMINE.ATOM\t5c4\t3f\t\t\t\n";

	put_text("intel-models.tsv", "GenuineIntel-6-5E\tcore\tCore\nGenuineIntel-6-5E\tatom\tAtom\n");
	put("core.tsv.xz", xz, compress(core, strlen(core), xz, sizeof(xz)));
	put("atom.tsv.xz", xz, compress(atom, strlen(atom), xz, sizeof(xz)));
	is_event("cpu_core::MINE.BOTH", 0x2c4);
	is_event("cpu_atom::MINE.BOTH", 0x4c4);
	is_event("MINE.BOTH", 0x2c4);
	is_event("MINE.ATOM", 0x5c4);
	is_unknown("cpu_core::MINE.ATOM");
	is_unknown("cpu_lowpower::MINE.ATOM");
}
END_TEST

START_TEST(an_unknown_model_says_what_can_be_counted)
{
	struct hwpmc_event ev;
	struct event_error e;

	put_table("MINE.NEAR_CALL\t2c4\t3\t\t\t\n");
	strcpy(machine.cpu, "GenuineIntel-6-FE-1");
	ck_assert(event_parse(&machine, "MINE.NEAR_CALL", &ev, &e));
	ck_assert_int_eq(e.err, ENOENT);
	ck_assert_msg(strstr(e.text, "only architectural events and raw codes are supported"), "%s",
		      e.text);
	is_event("r1c0", 0x1c0);
	is_event("branches", 0xc4);
}
END_TEST

/* ---- what is refused ---------------------------------------------------------- */

START_TEST(a_damaged_table_is_refused)
{
	static uint8_t xz[4096];
	size_t n = compress("MINE.NEAR_CALL\t2c4\t3\t\t\t\n", 24, xz, sizeof(xz));

	put_map("mine");
	for (size_t i = 0; i < n; i++) {
		struct hwpmc_event ev;
		struct event_error e;

		xz[i] ^= 0x55;
		put("mine.tsv.xz", xz, n);
		xz[i] ^= 0x55;
		forget();
		ck_assert_msg(event_parse(&machine, "MINE.NEAR_CALL", &ev, &e) &&
			      e.err == EINVAL, "byte %zu", i);
	}
	put("mine.tsv.xz", xz, n - 1);
	forget();
	is_refused("mine.tsv.xz", "truncated");
}
END_TEST

START_TEST(a_table_that_grows_too_large_is_refused)
{
	size_t n = EVENT_TABLE_LIMIT + 1;
	char *text = calloc(1, n);
	static uint8_t xz[1 << 16];

	memset(text, '#', n);
	put_map("mine");
	put("mine.tsv.xz", xz, compress(text, n, xz, sizeof(xz)));
	free(text);
	is_refused("mine.tsv.xz", "too large");
}
END_TEST

START_TEST(lines_that_are_no_event_are_refused)
{
	static const char *const lines[] = {
		"MINE.NEAR_CALL", "MINE.NEAR_CALL\tx\t3\t\t\t", "MINE.NEAR_CALL\t2c4\tF16\t\t\t",
		"MINE.NEAR_CALL\t2c4\t3\t1a6\t\t", "MINE.NEAR_CALL\t2c4\t3\t\t5\t",
		"MINE.NEAR_CALL\t1,2,3,4,5\t3\t\t\t", "MINE.NEAR_CALL\t10000000000000000\t3\t\t\t",
		"MINE.NEAR_CALL\t2c4\t3\t1000001a6\t1\t",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		put_table(lines[i]);
		forget();
		is_refused("mine", "is not an event");
	}
}
END_TEST

START_TEST(damaged_json_is_refused)
{
	static const struct {
		const char *json, *words;
	} bad[] = {
		{ "", "invalid JSON at line" }, { "[{", "invalid JSON at line 1" }, { "7", "invalid JSON" },
		{ "{\"Events\": 3}", "no list" }, { "{}", "no list" }, { "[3]", "entry 1" },
		{ "[{\"EventName\": \"A B\"}]", "entry 1" }, { "[{\"EventName\": \"\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"EventCode\": \"0x100\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"EventCode\": \"seven\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"EventCode\": \"0x10\", \"UMask\": []}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"EventCode\": \"1,2,3,4,5\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\\u001b\", \"EventCode\": \"1\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"Counter\": \"64\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"Counter\": \"Fixed counter 99\"}]", "entry 1" },
		{ "[{\"EventName\": \"A\", \"CounterMask\": \"256\"}]", "entry 1" },
	};
	char deep[8192];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text("GenuineIntel-6-5E-core.json", bad[i].json);
		forget();
		is_refused("GenuineIntel-6-5E-core.json", bad[i].words);
	}
	memset(deep, '[', sizeof(deep));
	put("GenuineIntel-6-5E-core.json", deep, sizeof(deep));
	forget();
	is_refused("GenuineIntel-6-5E-core.json", "invalid JSON");
}
END_TEST

START_TEST(a_file_that_may_not_be_read_is_refused)
{
	static const struct {
		const char *make, *words;
	} bad[] = {
		{ "mkfifo F", "not a regular file" }, { "mkdir F", "not a regular file" },
		{ "ln -s /dev/zero F", "lead out of the folder" }, { "ln -s ../../etc/passwd F", "lead out" },
		{ "ln -s GenuineIntel-6-5E-core.json F", "Too many levels" }, { "echo '[]' > F; chmod 666 F", "everyone can write" },
		{ "truncate -s 9000000 F", "too large" },
		{ "echo '[]' > F; chown 65534 F", "another user" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strstr(bad[i].make, "chown") && geteuid())
			continue;
		run("cd %s && rm -rf F && %s && mv F GenuineIntel-6-5E-core.json", folder,
		    bad[i].make);
		forget();
		is_refused("GenuineIntel-6-5E-core.json", bad[i].words);
		run("rm -rf %s/GenuineIntel-6-5E-core.json", folder);
	}
	run("cd %s && mkfifo mapfile.csv", folder);
	strcpy(machine.cpu, "GenuineIntel-6-5E-4");
	is_refused("mapfile.csv", "not a regular file");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(a_table_of_ours_is_found_by_the_model);
	harness_add(files_are_found_by_the_names_that_pmu_tools_gives);
	harness_add(the_users_file_wins_and_brings_descriptions);
	harness_add(many_names_are_found_in_a_table_and_no_others);
	harness_add(two_kinds_of_core_are_two_tables);
	harness_add(an_unknown_model_says_what_can_be_counted);
	harness_add(a_damaged_table_is_refused);
	harness_add(a_table_that_grows_too_large_is_refused);
	harness_add(lines_that_are_no_event_are_refused);
	harness_add(damaged_json_is_refused);
	harness_add(a_file_that_may_not_be_read_is_refused);
	return harness_run();
}
