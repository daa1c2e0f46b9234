/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_views.c - what pmcstat makes of logs: graphs and lists of a made log that hits
 * the functions of a real program as often as is known, read by programs that are
 * for such files. On the host, under ASan and UBSan.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/export.h"
#include "view/top.h"
#include "view/tree.h"
#include "view/view.h"
#include "harness.h"
#include "loggen.h"

#define EVENT	0x101
#define PID	812

static char dir[] = "/tmp/views-XXXXXX";
static struct loggen made;
static struct hwpmc_profile *profile;
/* Where the program's functions are. */
static uint64_t at_sixty, at_thirty, at_ten, at_work, at_main;

static uint64_t *place_of(const char *name)
{
	return strcmp(name, "sixty") == 0 ? &at_sixty :
	       strcmp(name, "thirty") == 0 ? &at_thirty :
	       strcmp(name, "ten") == 0 ? &at_ten :
	       strcmp(name, "work") == 0 ? &at_work :
	       strcmp(name, "main") == 0 ? &at_main : NULL;
}

static void find_functions(void)
{
	FILE *f = popen("nm " SHARES, "r");
	char line[512], name[256];
	uint64_t addr;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 &&
		    place_of(name))
			*place_of(name) = addr;
	ck_assert_int_eq(pclose(f), 0);
	ck_assert(at_sixty && at_thirty && at_ten && at_work && at_main);
}

/* The same stack so many times; of the thread of the last context. */
static void hit(uint32_t event, uint8_t flags, unsigned int npc,
		const uint64_t *pc, unsigned int times)
{
	while (times--)
		loggen_sample(&made, event, flags, npc, pc);
}

/*
 * 600 samples in sixty below work below main, 300 in thirty below main, 100 in ten:
 * 60 below work below main, 40 whose chain ends there.
 */
static void add_shares(void)
{
	uint64_t sixty[] = { at_sixty, at_work + 32, at_main + 16 };
	uint64_t thirty[] = { at_thirty, at_main + 16 };
	uint64_t ten[] = { at_ten, at_work + 32, at_main + 16 };

	hit(EVENT, HWPMC_SAMPLE_USER, 3, sixty, 600);
	hit(EVENT, HWPMC_SAMPLE_USER, 2, thirty, 300);
	hit(EVENT, HWPMC_SAMPLE_USER, 3, ten, 60);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, ten, 40);
}

static void make_log(void)
{
	uint64_t page = at_main & ~0xfffull;

	loggen_begin(&made);
	loggen_allocate(&made, EVENT, "instructions", 1000);
	loggen_exec(&made, PID, "made", SHARES);
	/* Linked at 0x400000, and mapped as it is in the file. */
	loggen_map(&made, PID, page, page + 0x1000, page - 0x400000, SHARES);
	loggen_context(&made, PID, PID);
}

static void read_made(bool timeline)
{
	struct hwpmc_profile_options o = { .timeline = timeline };
	struct hwpmc_input *in;
	char err[600] = "";

	loggen_add(&made, HWPMC_LOG_CLOSELOG,
		   sizeof(struct hwpmc_log_closelog));
	in = hwpmc_input_memory(made.bytes, made.len);
	profile = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	ck_assert_msg(profile != NULL, "%s", err);
	hwpmc_input_close(in);
}

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	find_functions();
	make_log();
}

static void tear_down(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	hwpmc_profile_free(profile);
	loggen_free(&made);
}

/* What a command prints; the test fails if it does. */
static const char *output_of(const char *command)
{
	static char buf[65536];
	FILE *f = popen(command, "r");
	size_t n = fread(buf, 1, sizeof(buf) - 1, f);

	buf[n] = '\0';
	ck_assert_msg(pclose(f) == 0, "%s: %s", command, buf);
	return buf;
}

static void write_graph(const struct view_options *o)
{
	FILE *f = fopen("graph", "w");

	view_graph(f, profile, o);
	ck_assert_int_eq(fclose(f), 0);
}

static const char *folded(void)
{
	return output_of(FOLD " graph | sort");
}

START_TEST(call_graph_has_callers_below_and_percentages_of_the_line_above)
{
	struct view_options o = { .threshold = 0 };

	add_shares();
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(output_of("cat graph | sed 's, @ /.*,,'"),
		"@ instructions [1000 samples]\n\n"
		"60.00%  [600]    sixty\n"
		" 100.0%  [600]    work\n"
		"  100.0%  [600]    main\n"
		"30.00%  [300]    thirty\n"
		" 100.0%  [300]    main\n"
		"10.00%  [100]    ten\n"
		" 60.00%  [60]     work\n"
		"  100.0%  [60]     main\n"
		" 40.00%  [40]     [chain-ends]\n");
	ck_assert_str_eq(output_of("grep -c ' @ " SHARES "$' graph"), "8\n");
}
END_TEST

START_TEST(folded_call_graph_has_every_sample_once)
{
	struct view_options o = { .threshold = 0 };

	add_shares();
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(folded(),
			 "[chain-ends];ten 40\n" "main;thirty 300\n"
			 "main;work;sixty 600\n" "main;work;ten 60\n");
}
END_TEST

START_TEST(call_graph_of_one_level_has_every_sample_once)
{
	struct view_options o = { .depth = 1 };

	add_shares();
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(folded(), "sixty 600\n" "ten 100\n" "thirty 300\n");
}
END_TEST

START_TEST(what_is_below_the_threshold_is_a_line_of_the_call_graph)
{
	struct view_options o = { .threshold = 30 };

	add_shares();
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(folded(), "[below-threshold] 100\n"
			 "main;thirty 300\n" "main;work;sixty 600\n");
	/* One sample less than what is asked for. */
	o.threshold = 30.1;
	write_graph(&o);
	ck_assert_str_eq(folded(),
			 "[below-threshold] 400\n" "main;work;sixty 600\n");
}
END_TEST

START_TEST(call_graph_with_offsets_keeps_places_of_a_function_apart)
{
	struct view_options o = { .offsets = true };
	uint64_t other = at_sixty + 4, nowhere = 0x12345;

	add_shares();
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &other, 7);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &nowhere, 5);
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(folded(),
			 "0x12345 5\n" "[chain-ends];ten+0x0 40\n"
			 "main;thirty+0x0 300\n" "main;work;sixty+0x0 600\n"
			 "main;work;ten+0x0 60\n" "sixty+0x4 7\n");
}
END_TEST

/* As deep as a record can hold. */
START_TEST(longest_chains_are_in_every_graph)
{
	static uint64_t pc[(HWPMC_LOG_MAX - sizeof(struct hwpmc_log_hdr)) / 8 - 1];
	const unsigned int n = sizeof(pc) / sizeof(*pc);
	struct view_options o = { .threshold = 0 };
	struct view_top t = { .calltree = true, .state = "" };
	struct view_store s = { .n = 0 };
	FILE *f = fopen("top", "w");

	for (unsigned int i = 0; i < n; i++)
		pc[i] = i % 2 ? at_work + 32 : at_main + 16;
	hit(EVENT, HWPMC_SAMPLE_USER, n, pc, 2);
	hit(EVENT, HWPMC_SAMPLE_USER, n - 1, pc, 3);
	read_made(false);
	write_graph(&o);
	ck_assert_str_eq(output_of(FOLD " graph | awk '{ print $2 }'"), "2\n3\n");
	ck_assert_uint_eq(atoi(output_of("wc -l <graph")), n + 3);
	view_store_take(&s, profile);
	view_top(f, profile, &s, &t);
	fclose(f);
	ck_assert_uint_eq(atoi(output_of("grep -c 'main$\\|work$' top")), 2 * n - 1);
	view_store_free(&s);
}
END_TEST

START_TEST(names_are_one_word_each_in_call_graphs)
{
	FILE *f = fopen("word", "w");

	ck_assert_int_eq(view_put_word(f, "std::map<int, char>::operator new\n"),
			 33);
	fclose(f);
	ck_assert_str_eq(output_of("cat word"),
			 "std::map<int,char>::operator_new?");
}
END_TEST

static void make_unknown(void)
{
	uint64_t nowhere = 0x12345, hidden = HWPMC_PC_HIDDEN;
	uint64_t chain[] = { at_sixty, 0x777000, at_main + 16 };
	uint64_t gap = (at_main & ~0xfffull) + 0xff0;

	add_shares();
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &nowhere, 5);
	hit(EVENT, HWPMC_SAMPLE_HIDDEN, 1, &hidden, 3);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &gap, 2);
	hit(EVENT, HWPMC_SAMPLE_USER, 3, chain, 4);
	loggen_context(&made, 4711, 4711);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &nowhere, 11);
	read_made(true);
}

START_TEST(unknown_samples_are_in_the_call_graph)
{
	struct view_options o = { .threshold = 0 };

	make_unknown();
	write_graph(&o);
	ck_assert_str_eq(output_of(FOLD " graph | awk '{ n += $2 } END { print n }'"),
			 "1025\n");
	ck_assert_str_eq(output_of(FOLD " graph | grep -c unknown"), "4\n");
}
END_TEST

START_TEST(conversion_statistics_say_what_is_not_known)
{
	FILE *f = fopen("totals", "w");

	make_unknown();
	view_totals(f, profile);
	fclose(f);
	ck_assert_str_eq(output_of("sed 's/  */ /g' totals"),
		"CONVERSION STATISTICS:\n"
		" #exec 1\n"
		" #samples total 1025\n"
		" #samples excluded by options 0\n"
		" #samples unclaimed 11\n"
		" #samples unknown-object 5\n"
		" #samples unknown-function 2\n"
		" #samples hidden kernel 3\n"
		" #samples dropped 0\n"
		" #callchain dubious frames 4\n");
}
END_TEST

/* 25 samples of 700,000 events, 5 of them in no mapping. */
static void make_adapting(void)
{
	uint64_t pc = at_sixty, nowhere = 0x12345;

	loggen_allocate(&made, EVENT + 1, "cycles", 4000)->flags |= HWPMC_F_FREQUENCY;
	for (int i = 0; i < 25; i++) {
		loggen_period(&made, EVENT + 1, 700000, 0);
		hit(EVENT + 1, HWPMC_SAMPLE_USER, 1, i < 20 ? &pc : &nowhere, 1);
	}
	read_made(false);
}

START_TEST(views_count_samples_whose_periods_adapt)
{
	FILE *f = fopen("totals", "w"), *round = fopen("round", "w");
	struct view_top t = { .state = "", .event = 1 };
	struct view_store store = { .most = 0 };
	struct view_options o = { .threshold = 0 };

	make_adapting();
	view_totals(f, profile);
	fclose(f);
	ck_assert_str_eq(output_of("grep sample totals | sed 's/  */ /g' | head -n 4"),
		" #samples total 25\n" " #samples excluded by options 0\n"
		" #samples unclaimed 0\n" " #samples unknown-object 5\n");
	write_graph(&o);
	ck_assert_str_eq(output_of("grep '^@ cycles' graph"), "@ cycles [17500000 events]\n");
	view_store_take(&store, profile);
	view_top(round, profile, &store, &t);
	fclose(round);
	ck_assert_str_eq(output_of("head -n 1 round"),
			 "PMC: [cycles] Samples: 25 (100.0%) , 5 unresolved\n");
	view_store_free(&store);
}
END_TEST

START_TEST(each_sample_is_a_line_with_its_function_and_range)
{
	FILE *f = fopen("pcs", "w");
	char want[256];

	make_unknown();
	view_pcs(f, profile);
	fclose(f);
	ck_assert_str_eq(output_of("wc -l <pcs"), "1025\n");
	ck_assert_str_eq(output_of("cut -d' ' -f2 pcs | sort | uniq -c | sort -n | awk '{ print $1, $2 }'"),
			 "21 [unknown]\n" "100 ten\n" "300 thirty\n"
			 "604 sixty\n");
	snprintf(want, sizeof(want), "0x%" PRIx64 " ten 0x%" PRIx64, at_ten,
		 at_ten);
	ck_assert_int_eq(strncmp(output_of("grep -m 1 ten pcs"), want,
				 strlen(want)), 0);
	ck_assert_str_eq(output_of("head -n 1 pcs | cut -d' ' -f2"), "sixty\n");
	ck_assert_str_eq(output_of("tail -n 1 pcs"), "0x12345 [unknown] 0x0 0x0\n");
}
END_TEST

START_TEST(each_frame_is_a_line_with_its_source_line)
{
	FILE *f = fopen("frames", "w");

	make_unknown();
	view_frames(f, profile);
	fclose(f);
	ck_assert_str_eq(output_of("grep -c '^--$' frames"), "1025\n");
	ck_assert_str_eq(output_of("cut -d' ' -f2- frames | sed 's,/.*/,,' | "
				   "sort | uniq -c | sed 's/^ *//'"),
		"1025 --\n" "25 <unknown> ??:0\n" "964 main shares.c:28\n"
		"604 sixty shares.c:7\n" "100 ten shares.c:17\n"
		"300 thirty shares.c:12\n" "660 work shares.c:23\n");
}
END_TEST

/* ---- gprof --------------------------------------------------------------- */

static uint64_t write_gprof(void)
{
	FILE *map = fopen("map", "w");
	uint64_t without;

	ck_assert_int_eq(view_gprof(profile, ".", map, &without), 0);
	ck_assert_int_eq(fclose(map), 0);
	return without;
}

START_TEST(gprof_reads_a_file_for_each_event_and_image)
{
	uint64_t ten = at_ten;

	loggen_allocate(&made, EVENT + 1, "../a/b,c", 1000);
	add_shares();
	hit(EVENT + 1, HWPMC_SAMPLE_USER, 1, &ten, 70000);
	read_made(false);
	ck_assert_uint_eq(write_gprof(), 0);
	ck_assert_str_eq(output_of("gprof -p -b " SHARES " instructions/shares.gmon"
				   " | awk '/[a-z]$/ && NF > 3 { print $1, $NF }'"),
			 "60.00 sixty\n" "30.00 thirty\n" "10.00 ten\n"
			 "0.00 work\n");
	/* More than 16 bits hold. */
	ck_assert_str_eq(output_of("gprof -p -b " SHARES " _._a_b,c/shares.gmon"
				   " | awk '$NF == \"ten\" { print $3 }'"),
			 "70000.00\n");
	ck_assert_str_eq(output_of("gprof -q -b " SHARES " instructions/shares.gmon"
				   " | awk '/660\\/660/ { print $(NF-1) }'"),
			 "work\n" "main\n");
	ck_assert_str_eq(output_of("sed 's,\"/.*/shares\",\"shares\",' map"),
		"\"shares\" => \"shares.gmon\" instructions/1000 _._a_b,c/70000\n");
}
END_TEST

START_TEST(gprof_files_of_images_of_one_name_are_kept_apart)
{
	uint64_t page = at_main & ~0xfffull, ten = at_ten;
	char other[64];

	snprintf(other, sizeof(other), "%s/shares", dir);
	ck_assert_int_eq(system("cp " SHARES " ."), 0);
	add_shares();
	loggen_exec(&made, PID + 1, "made", other);
	loggen_map(&made, PID + 1, page, page + 0x1000, page - 0x400000, other);
	loggen_context(&made, PID + 1, PID + 1);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &ten, 7);
	read_made(false);
	ck_assert_uint_eq(write_gprof(), 0);
	ck_assert_str_eq(output_of("cut -d' ' -f2- map | sort"),
			 "=> \"shares.gmon\" instructions/1000\n"
			 "=> \"shares~001.gmon\" instructions/7\n");
	ck_assert_str_eq(output_of("gprof -p -b shares instructions/shares~001.gmon"
				   " | awk '$NF == \"ten\" { print $3 }'"),
			 "7.00\n");
}
END_TEST

START_TEST(samples_that_gprof_cannot_have_are_told_and_mapped)
{
	make_unknown();
	ck_assert_uint_eq(write_gprof(), 19);
	ck_assert_str_eq(output_of("sed 's,\"/.*/shares\",\"shares\",' map | sort"),
		"\"[hidden kernel]\" => - instructions/3\n"
		"\"[unknown]\" => - instructions/16\n"
		"\"shares\" => \"shares.gmon\" instructions/1006\n");
}
END_TEST

/* ---- damage -------------------------------------------------------------- */

#define MUTATIONS	3000

static void write_all_views(struct hwpmc_profile *p)
{
	struct view_options o = { .threshold = 1, .offsets = true };
	struct view_top t = { .calltree = true, .merged = true, .state = "" };
	struct view_store s = { .n = 0 };
	FILE *f = fopen("/dev/null", "w");
	uint64_t without;

	view_graph(f, p, &o);
	view_pcs(f, p);
	view_frames(f, p);
	view_totals(f, p);
	view_gprof(p, ".", f, &without);
	view_store_take(&s, p);
	view_top(f, p, &s, &t);
	t.calltree = false;
	view_top(f, p, &s, &t);
	view_store_free(&s);
	fclose(f);
}

static bool read_damaged(const uint8_t *bytes, size_t len)
{
	struct hwpmc_profile_options o = {
		.timeline = true,
		.symbols = { .kallsyms = "/dev/null" },
	};
	struct hwpmc_input *in = hwpmc_input_memory(bytes, len);
	struct hwpmc_profile *p;
	char err[600] = "";

	p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	hwpmc_input_close(in);
	if (p)
		write_all_views(p);
	else
		ck_assert_str_ne(err, "");
	hwpmc_profile_free(p);
	return p != NULL;
}

START_TEST(damaged_logs_come_through_every_view)
{
	uint64_t chain[] = { at_sixty, at_work + 32, at_main + 16, 0x777000 };
	unsigned int seed = 4711, whole = 0;
	uint8_t *copy;

	loggen_allocate(&made, EVENT + 1, "branches", 1000);
	for (unsigned int i = 1; i <= 4; i++)
		hit(EVENT + i % 2, i % 2 ? HWPMC_SAMPLE_USER : 0, i, chain, 2);
	loggen_fork(&made, PID, PID + 1);
	loggen_context(&made, PID + 1, PID + 1);
	hit(EVENT, HWPMC_SAMPLE_USER, 3, chain, 2);
	copy = malloc(made.len);
	for (unsigned int i = 0; i < MUTATIONS; i++) {
		memcpy(copy, made.bytes, made.len);
		for (unsigned int n = rand_r(&seed) % 4; n < 4; n++)
			copy[rand_r(&seed) % made.len] = rand_r(&seed);
		whole += read_damaged(copy, made.len);
	}
	free(copy);
	/* Damage that can be told from a log is not all of it. */
	ck_assert_uint_gt(whole, MUTATIONS / 10);
	ck_assert_uint_lt(whole, MUTATIONS);
}
END_TEST

/* ---- rounds -------------------------------------------------------------- */

static struct view_store store;

/* Feed what was made since the last round. */
static void feed_to(void (*take)(struct view_store *, struct hwpmc_profile *))
{
	struct hwpmc_profile_options o = { 0 };
	static size_t fed;
	struct hwpmc_input *in = hwpmc_input_memory(made.bytes, made.len);
	struct hwpmc_record r;

	if (!profile)
		profile = hwpmc_profile_new(&o);
	while (hwpmc_input_next(in, &r) > 0)
		if (r.offset >= fed)
			ck_assert_int_eq(hwpmc_profile_feed(profile, &r), 0);
	fed = made.len;
	hwpmc_input_close(in);
	take(&store, profile);
}

static void feed_round(void)
{
	feed_to(view_store_take);
}

static const char *round_text(const struct view_top *t)
{
	FILE *f = fopen("round", "w");

	view_top(f, profile, &store, t);
	fclose(f);
	return output_of("sed 's/  */ /g; s/ $//' round");
}

START_TEST(round_shows_functions_with_their_callers)
{
	struct view_top t = { .threshold = 0.5, .state = "" };

	add_shares();
	feed_round();
	ck_assert_str_eq(round_text(&t),
		"PMC: [instructions] Samples: 1000 (100.0%) , 0 unresolved\n"
		"[since the last]\n"
		"%SAMP IMAGE FUNCTION CALLERS\n"
		" 60.0 shares sixty work\n"
		" 30.0 shares thirty main\n"
		" 10.0 shares ten work:60.0 [chain-ends]:40.0\n");
	view_store_free(&store);
}
END_TEST

START_TEST(rounds_show_what_came_since_or_all_that_came)
{
	struct view_top t = { .threshold = 0.5, .state = "" };
	uint64_t ten = at_ten;

	add_shares();
	feed_round();
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &ten, 50);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 50 (100.0%)"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), "100.0 shares ten\n"));
	t.total = true;
	ck_assert_ptr_nonnull(strstr(round_text(&t),
		"Samples: 1050 (100.0%) , 0 unresolved\n[accumulative]\n"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), "57.1 shares sixty work\n"));
	feed_round();
	t.total = false;
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 0 (0.0%)"));
	view_store_free(&store);
}
END_TEST

/* Of the sanitizer's runtime: its header is not where gcc looks on Debian. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* Feed what was made, and make anew: a log that never ends. */
static void feed_piece(struct hwpmc_parser *parser)
{
	struct hwpmc_record r;

	ck_assert_int_eq(hwpmc_parser_feed(parser, made.bytes, made.len), 0);
	while (hwpmc_parser_next(parser, &r) == HWPMC_PARSE_RECORD)
		ck_assert_int_eq(hwpmc_profile_feed(profile, &r), 0);
	ck_assert_str_eq(hwpmc_parser_error(parser) ?: "", "");
	made.len = 0;
}

/* A process of a file of its own comes, is sampled twice, and ends; ten() is hit too. */
static void short_process(struct hwpmc_parser *parser, uint32_t n)
{
	uint64_t pc = 0x400010, ten = at_ten;
	int32_t pid = 1000 + n % 30000;
	char path[100];

	snprintf(path, sizeof(path), "/tmp/made-%u", n % 20);
	loggen_fork(&made, PID, pid);
	loggen_exec(&made, pid, "short", path);
	loggen_map(&made, pid, 0x400000, 0x500000, 0, path);
	loggen_context(&made, pid, pid);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &pc, 2);
	loggen_task(&made, HWPMC_LOG_SYSEXIT, pid, pid, "short");
	loggen_context(&made, PID, PID);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &ten, 1);
	feed_piece(parser);
}

START_TEST(rounds_of_a_day_take_no_more_memory_and_keep_their_sums)
{
	struct view_top t = { .threshold = 0, .state = "" };
	struct hwpmc_profile_options o = { 0 };
	struct hwpmc_parser *parser = hwpmc_parser_new();
	size_t early = 0, late;

	profile = hwpmc_profile_new(&o);
	for (uint32_t n = 0; n < 4000; n++) {
		short_process(parser, n);
		view_store_take(&store, profile);
		if (n == 500)
			early = __sanitizer_get_current_allocated_bytes();
	}
	late = __sanitizer_get_current_allocated_bytes();
	ck_assert_msg(late <= early + 65536, "%zu bytes after 500 rounds, %zu after 4000",
		      early, late);
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 3 (100.0%)"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), " 66.7 made-19 [unknown:made-19]\n"
				     " 33.3 shares ten\n"));
	t.total = true;
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 12000 (100.0%)"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), " 33.3 shares ten\n"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), " 3.3 made-7 [unknown:made-7]\n"));
	view_store_free(&store);
	hwpmc_parser_free(parser);
}
END_TEST

START_TEST(sums_of_too_many_stacks_begin_anew_and_say_so)
{
	struct view_top t = { .threshold = 0, .total = true, .state = "" };
	uint64_t pc;

	store.most = 10;
	for (uint32_t n = 0; n < 11; n++) {
		pc = at_main + n;
		hit(EVENT, HWPMC_SAMPLE_USER, 1, &pc, 1);
	}
	feed_round();
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 11 (100.0%) , 0 "
				     "unresolved\n[accumulative]\n"));
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &pc, 1);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 1 (100.0%) , 0 "
		"unresolved\n[accumulative] [restarted: too many stacks]\n"));
	ck_assert_uint_eq(store.n, 1);
	view_store_free(&store);
}
END_TEST

START_TEST(samples_of_a_pause_are_of_the_round_after_it)
{
	struct view_top t = { .threshold = 0.5, .state = "" };
	uint64_t ten = at_ten;

	add_shares();
	feed_round();
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &ten, 7);
	feed_to(view_store_gather);
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 1000 (100.0%)"));
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &ten, 5);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 12 (100.0%)"));
	t.total = true;
	ck_assert_ptr_nonnull(strstr(round_text(&t), "Samples: 1012 (100.0%)"));
	view_store_free(&store);
}
END_TEST

START_TEST(call_tree_has_callees_below_and_dots_for_empty_links)
{
	struct view_top t = { .threshold = 5, .calltree = true, .state = "" };

	add_shares();
	feed_round();
	ck_assert_str_eq(strstr(round_text(&t), "%SAMP"),
		"%SAMP CALLTREE\n" " 96.0 main\n" " 66.0 work\n"
		" 60.0 sixty\n" " 6.0 ten\n" " 30.0 thirty\n"
		" 4.0 [below-threshold]\n");
	t.skip = true;
	ck_assert_str_eq(strstr(round_text(&t), "%SAMP"),
		"%SAMP CALLTREE\n" " 60.0 ..sixty\n" " 6.0 ..ten\n"
		" 30.0 .thirty\n" " 4.0 [below-threshold]\n");
	view_store_free(&store);
}
END_TEST

START_TEST(events_are_shown_one_by_one_or_merged)
{
	struct view_top t = { .threshold = 0.5, .event = 1, .state = "" };
	uint64_t ten = at_ten, nowhere = 0x12345;

	loggen_allocate(&made, EVENT + 1, "branches", 1000);
	add_shares();
	hit(EVENT + 1, HWPMC_SAMPLE_USER, 1, &ten, 990);
	hit(EVENT + 1, HWPMC_SAMPLE_USER, 1, &nowhere, 10);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t),
		"[branches] Samples: 1000 (50.0%) , 10 unresolved"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), " 99.0 shares ten\n"
				     " 1.0 [unknown] [unknown]\n"));
	t.merged = true;
	ck_assert_ptr_nonnull(strstr(round_text(&t),
		"[all] Samples: 2000 (100.0%) , 10 unresolved"));
	t.threshold = 1;
	ck_assert_ptr_nonnull(strstr(round_text(&t), " 0.5 [below-threshold]\n"));
	view_store_free(&store);
}
END_TEST

START_TEST(rounds_say_where_what_is_unknown_is)
{
	struct view_top t = { .threshold = 0, .state = "" };
	uint64_t gap = (at_main & ~0xfffull) + 0xff0;
	uint64_t pc[] = { at_ten, gap };

	hit(EVENT, HWPMC_SAMPLE_USER, 2, pc, 3);
	hit(EVENT, HWPMC_SAMPLE_USER, 1, &gap, 2);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t),
				     " 60.0 shares ten [unknown:shares]\n"
				     " 40.0 shares [unknown:shares]\n"));
	ck_assert_ptr_nonnull(strstr(round_text(&t), ", 2 unresolved\n"));
	view_store_free(&store);
}
END_TEST

START_TEST(rounds_show_offsets_and_addresses)
{
	struct view_top t = { .offsets = true, .state = "" };
	uint64_t pc[] = { at_ten + 4, at_work + 32 };
	char want[64];

	hit(EVENT, HWPMC_SAMPLE_USER, 2, pc, 3);
	feed_round();
	ck_assert_ptr_nonnull(strstr(round_text(&t), " shares ten+0x4 work\n"));
	t.addresses = true;
	snprintf(want, sizeof(want), " shares 0x%" PRIx64 " 0x%" PRIx64 "\n",
		 at_ten + 4, at_work + 31);
	ck_assert_ptr_nonnull(strstr(round_text(&t), want));
	view_store_free(&store);
}
END_TEST

/* ---- tables of exports --------------------------------------------------- */

#define NAMES	100

struct slots {
	uint32_t name[256], number[256];
};

/* Where the tables of another process have the same names and numbers. */
static struct slots slots_of_a_process(void)
{
	struct slots s;
	int fd[2], status;

	ck_assert_int_eq(pipe(fd), 0);
	if (fork() == 0) {
		struct strings names = { 0 };
		struct ids numbers = { 0 };
		char name[32];

		for (uint32_t i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "function_%u", i);
			strings_get(&names, name);
			ids_get(&numbers, i, 0);
		}
		memcpy(s.name, names.slot, sizeof(s.name));
		memcpy(s.number, numbers.slot, sizeof(s.number));
		_exit(write(fd[1], &s, sizeof(s)) != sizeof(s));
	}
	ck_assert_int_eq(read(fd[0], &s, sizeof(s)), sizeof(s));
	wait(&status);
	ck_assert_int_eq(status, 0);
	close(fd[0]);
	close(fd[1]);
	return s;
}

START_TEST(tables_of_exports_differ_from_process_to_process)
{
	struct slots a = slots_of_a_process(), b = slots_of_a_process();

	ck_assert_int_ne(memcmp(a.name, b.name, sizeof(a.name)), 0);
	ck_assert_int_ne(memcmp(a.number, b.number, sizeof(a.number)), 0);
}
END_TEST

/* Of random numbers 0.63 have a slot of their own. */
START_TEST(names_and_numbers_of_exports_have_slots_of_their_own)
{
	struct strings names = { 0 };
	struct ids numbers = { 0 };
	char name[64];
	uint32_t n = 0, m = 0;

	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a_name_of_more_than_one_word_%u_%c", i,
			 'a' + i % 26);
		ck_assert_uint_eq(strings_get(&names, name), i);
		ck_assert_uint_eq(ids_get(&numbers, (uint64_t)i << 40, i % 2), i);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "a_name_of_more_than_one_word_%u_%c", i,
			 'a' + i % 26);
		ck_assert_uint_eq(strings_get(&names, name), i);
		ck_assert_uint_eq(ids_get(&numbers, (uint64_t)i << 40, i % 2), i);
	}
	/* Runs of taken slots: with few keys in one place they are few and long. */
	for (uint32_t i = 1; i < 4096; i++) {
		n += names.slot[i] && !names.slot[i - 1];
		m += numbers.slot[i] && !numbers.slot[i - 1];
	}
	ck_assert_uint_gt(n, 500);
	ck_assert_uint_gt(m, 500);
	strings_free(&names);
	ids_free(&numbers);
}
END_TEST

int main(void)
{
	harness_fixture(set_up, tear_down);
	harness_add(call_graph_has_callers_below_and_percentages_of_the_line_above);
	harness_add(folded_call_graph_has_every_sample_once);
	harness_add(call_graph_of_one_level_has_every_sample_once);
	harness_add(what_is_below_the_threshold_is_a_line_of_the_call_graph);
	harness_add(call_graph_with_offsets_keeps_places_of_a_function_apart);
	harness_add(longest_chains_are_in_every_graph);
	harness_add(names_are_one_word_each_in_call_graphs);
	harness_add(unknown_samples_are_in_the_call_graph);
	harness_add(conversion_statistics_say_what_is_not_known);
	harness_add(views_count_samples_whose_periods_adapt);
	harness_add(each_sample_is_a_line_with_its_function_and_range);
	harness_add(each_frame_is_a_line_with_its_source_line);
	harness_add(gprof_reads_a_file_for_each_event_and_image);
	harness_add(gprof_files_of_images_of_one_name_are_kept_apart);
	harness_add(samples_that_gprof_cannot_have_are_told_and_mapped);
	harness_add_timed(damaged_logs_come_through_every_view, 60);
	harness_add(round_shows_functions_with_their_callers);
	harness_add(rounds_show_what_came_since_or_all_that_came);
	harness_add(rounds_of_a_day_take_no_more_memory_and_keep_their_sums);
	harness_add(sums_of_too_many_stacks_begin_anew_and_say_so);
	harness_add(samples_of_a_pause_are_of_the_round_after_it);
	harness_add(call_tree_has_callees_below_and_dots_for_empty_links);
	harness_add(events_are_shown_one_by_one_or_merged);
	harness_add(rounds_say_where_what_is_unknown_is);
	harness_add(rounds_show_offsets_and_addresses);
	harness_add(tables_of_exports_differ_from_process_to_process);
	harness_add(names_and_numbers_of_exports_have_slots_of_their_own);
	return harness_run();
}
