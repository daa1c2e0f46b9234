/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_report.c - hwpmc report, annotate and diff on logs made here, which hit the
 * functions of a real program as often as is known: in each view and form the numbers
 * add up to the samples of the log. On the host, under ASan and UBSan.
 */
#include "common/msg.h"
#include "made_report.h"

/* One that fails: `text` is what it says. */
static void refused(const char *line)
{
	ck_assert_int_ne(said(line), 0);
}

/* What follows `key` in each line that has `must`, added up. */
static uint64_t sum_after(const char *key, const char *must)
{
	char *copy = strdup(text), *rest = copy, *line, *at;
	uint64_t sum = 0;

	while ((line = strsep(&rest, "\n")))
		for (at = line; strstr(line, must) && (at = strstr(at, key)); ) {
			at += strlen(key);
			sum += strtoull(at, NULL, 10);
		}
	free(copy);
	return sum;
}

/* The column of text that is told by a percentage in the first. */
static uint64_t sum_column(int column)
{
	char *copy = strdup(text), *rest = copy, *line;
	uint64_t sum = 0, value[3];

	while ((line = strsep(&rest, "\n"))) {
		int n = sscanf(line, "%*f%% %" SCNu64 " %" SCNu64, &value[1],
			       &value[2]);

		sum += n >= column ? value[column] : 0;
	}
	free(copy);
	return sum;
}

/* The same of a list with --children: the second pair, or the only one, of the sum. */
static uint64_t sum_self_column(void)
{
	char *copy = strdup(text), *rest = copy, *line;
	uint64_t sum = 0, value;

	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%*f%% %*u %*f%% %" SCNu64, &value) == 1 ||
		    (strstr(line, "below") &&
		     sscanf(line, "%*f%% %" SCNu64, &value) == 1))
			sum += value;
	free(copy);
	return sum;
}

/* ---- sums ---------------------------------------------------------------- */

static const char *const views[] = {
	"-s process", "-s pid", "-s thread", "-s image", "-s symbol", "-s line",
	"-s address", "-s process,image,symbol,line,address", "-s pid --inlines",
	"--tree", "--callers", "--callers=work", "--callees=main",
	"--callees=ten", "-s symbol --children", "-s process,image --children",
};

static const char *const limits[] = { "0", "0.5", "10", "50", "100" };

static bool is_tree(const char *view)
{
	return strncmp(view, "--", 2) == 0;
}

static bool has_self(const char *view)
{
	return is_tree(view) || strstr(view, "--children");
}

static void check_view(const char *view, const char *limit)
{
	bool tree = is_tree(view);
	const char *json = has_self(view) ? "\"self\":" : "\"samples\":";
	const char *csv = "cycles,";

	ck_assert_int_eq(command("report -i log --stdio --limit %s %s", limit,
				 view), 0);
	ck_assert_msg((has_self(view) && !tree ? sum_self_column() :
		       sum_column(tree ? 2 : 1)) == NCYCLES + NBRANCHES,
		      "%s --limit %s: %s", view, limit, text);
	command("report -i log --json --limit %s %s", limit, view);
	ck_assert_msg(sum_after(json, "cycles") == NCYCLES, "%s --limit %s: %s",
		      view, limit, text);
	ck_assert_msg(sum_after(json, "branches") == NBRANCHES,
		      "%s --limit %s: %s", view, limit, text);
	command("report -i log -e cycles --format csv --limit %s %s", limit, view);
	if (!has_self(view))
		ck_assert_msg(sum_after(csv, csv) == NCYCLES, "%s --limit %s: %s",
			      view, limit, text);
}

START_TEST(each_view_and_form_of_a_report_adds_up_to_the_log)
{
	for (int v = 0; v < sizeof(views) / sizeof(*views); v++)
		for (int l = 0; l < sizeof(limits) / sizeof(*limits); l++)
			check_view(views[v], limits[l]);
}
END_TEST

static void add_loss(struct made_log *log, uint32_t cpu, uint64_t since, uint64_t over)
{
	struct hwpmc_log_loss *r;

	for (int i = 0; i < (over ? 2 : 1); i++) {
		r = made_add(log, HWPMC_LOG_LOSS, sizeof(*r), 0);
		r->hdr.id = CYCLES;
		r->hdr.time = i ? over : since + 1;
		r->hdr.flags = i ? HWPMC_LOSS_OVER : 0;
		r->cpu = cpu;
		r->reason = HWPMC_WHY_COUNTER_TAKEN;
		r->detail = 2;
		r->since = since;
	}
}

/* With the losses of CYCLES on two CPUs; the second one has an end, or none. */
static void write_losses(uint64_t over)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_event(&log, BRANCHES, "branches");
	add_process(&log, 812, SHARES);
	add_shares(&log, CYCLES, 1);
	made_samples(&log, BRANCHES, HWPMC_SAMPLE_USER, &at_ten, 1, NBRANCHES);
	add_loss(&log, 0, 2400000000, 3000000000);
	add_loss(&log, 1, 2600000000, over);
	write_log(&log, "losses");
}

static unsigned int times_in_text(const char *what)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

#define TAKEN "the host took the counter for some time, in which it did not count (row 2)\n"

START_TEST(report_and_annotate_say_first_which_samples_a_loss_takes)
{
	write_losses(4400000000);
	ck_assert_int_eq(command("report -i losses --stdio"), 0);
	has("# samples may be missing on 2 CPUs from 1.200 s to 2.200 s of the log: " TAKEN);
	/* The samples of one event. */
	ck_assert_uint_eq(times_in_text("may be missing"), 1);
	ck_assert(strstr(text, "may be missing") < strstr(text, "ten"));
	ck_assert_int_eq(command("annotate -i losses --stdio"), 0);
	has("# samples may be missing on 2 CPUs from 1.200 s to 2.200 s of the log: " TAKEN);
	ck_assert_uint_eq(times_in_text("may be missing"), 1);
	write_losses(0);
	ck_assert_int_eq(command("report -i losses --stdio"), 0);
	has("# samples may be missing on 2 CPUs from 1.200 s to the end of the log: " TAKEN);
}
END_TEST

/* depth,samples,self: the third number behind the event. */
static uint64_t sum_self(void)
{
	char *copy = strdup(text), *rest = copy, *line;
	uint64_t sum = 0, self;

	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "cycles,%*u,%*u,%" SCNu64 ",", &self) == 1)
			sum += self;
	free(copy);
	return sum;
}

START_TEST(what_ends_in_a_tree_of_csv_adds_up_to_the_log)
{
	for (int v = 0; v < sizeof(views) / sizeof(*views); v++) {
		if (!is_tree(views[v]))
			continue;
		command("report -i log -e cycles --format csv --limit 7 %s",
			views[v]);
		ck_assert_msg(sum_self() == NCYCLES, "%s: %s", views[v], text);
	}
}
END_TEST

START_TEST(annotated_functions_add_up_to_the_log)
{
	static const char *const what[] = { "-l 0", "-l 100", "", "ten work",
					    "--image shares", "-l 20" };

	for (int i = 0; i < sizeof(what) / sizeof(*what); i++) {
		const char *blank = *what[i] ? " " : "";

		if (strstr(what[i], "work")) {
			/* Nothing hit it. */
			ck_assert_int_eq(command("annotate -i log %s", what[i]),
					 EXIT_FAILED);
			continue;
		}
		ck_assert_int_eq(command("annotate -i log --csv%s%s", blank,
					 what[i]), 0);
		ck_assert_msg(sum_after("cycles,", "cycles,") == NCYCLES,
			      "%s: %s", what[i], text);
		command("annotate -i log --format json%s%s", blank, what[i]);
		ck_assert_msg(sum_after("\"samples\":", "") ==
			      NCYCLES + NBRANCHES, "%s: %s", what[i], text);
	}
}
END_TEST

START_TEST(both_sides_of_a_comparison_add_up_to_their_logs)
{
	static const char *const keys[] = { "function", "image", "process" };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	add_shares(&log, CYCLES, 3);
	write_log(&log, "new");
	for (int k = 0; k < 3; k++)
		for (int l = 0; l < sizeof(limits) / sizeof(*limits); l++) {
			ck_assert_int_eq(command("diff -b %s -l %s --json log new",
						 keys[k], limits[l]), 0);
			ck_assert_uint_eq(sum_after("\"old_samples\":", "cycles"),
					  NCYCLES);
			ck_assert_uint_eq(sum_after("\"new_samples\":", "cycles"),
					  300);
			ck_assert_uint_eq(sum_after("\"old_samples\":", "branches"),
					  NBRANCHES);
			command("diff -b %s -l %s --format csv log new", keys[k],
				limits[l]);
			ck_assert_uint_eq(sum_after("cycles,", "cycles,"), NCYCLES);
		}
}
END_TEST

/* ---- what it says -------------------------------------------------------- */

START_TEST(report_shows_the_callers_and_callees_of_one_function)
{
	command("report -i log -e cycles --callers=work --format csv");
	has("cycles,0,660,0,62.6781,shares,work\n"
	    "cycles,1,660,660,62.6781,shares,main\n"
	    "cycles,0,393,393,37.3219,,(stacks without it)\n");
	command("report -i log -e cycles --callees=work --format csv");
	has("cycles,0,660,0,62.6781,shares,work\n"
	    "cycles,1,600,600,56.9801,shares,sixty\n"
	    "cycles,1,60,60,5.6980,shares,ten\n"
	    "cycles,0,393,393,37.3219,,(stacks without it)\n");
	ck_assert_int_eq(command("report -i log --callers=nonesuch"), EXIT_FAILED);
}
END_TEST

START_TEST(trees_are_nested_objects_in_json)
{
	command("report -i log -e cycles --callees=work --limit 6 --format json");
	has("{\"event\":\"cycles\",\"period\":1000,\"samples\":1053,\"children\":["
	    "{\"samples\":660,\"self\":0,\"percent\":62.6781,\"image\":\"shares\","
	    "\"symbol\":\"work\",\"children\":["
	    "{\"samples\":600,\"self\":600,\"percent\":56.9801,"
	    "\"image\":\"shares\",\"symbol\":\"sixty\",\"children\":[]},"
	    "{\"samples\":60,\"self\":60,\"percent\":5.6980,\"symbol\":null,"
	    "\"what\":\"(functions below --limit)\"}]},"
	    "{\"samples\":393,\"self\":393,\"percent\":37.3219,\"symbol\":null,"
	    "\"what\":\"(stacks without it)\"}]}\n");
}
END_TEST

START_TEST(report_shows_lines_and_addresses)
{
	char want[200];

	command("report -i log -e cycles -s line,symbol --format csv");
	has("shares.c:7,sixty\n");
	has("shares.c:12,thirty\n");
	command("report -i log -e cycles -s address --format csv");
	snprintf(want, sizeof(want), "cycles,600,56.9801,0x%" PRIx64 "\n",
		 at_sixty + 4);
	has(want);
}
END_TEST

START_TEST(long_names_are_whole_in_data)
{
	static char path[3000];
	struct made_log log;

	path[0] = '/';
	memset(path + 1, 'n', sizeof(path) - 2);
	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, path);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 10);
	write_log(&log, "long");
	command("report -i long --csv -s image");
	has(path + 1);
	command("report -i long --json -s image,line");
	has(path + 1);
	command("report -i long --csv --tree");
	has(path + 1);
	command("diff --csv long long");
	has(path + 1);
	command("annotate -i long --json");
	has(path);
}
END_TEST

START_TEST(functions_that_were_inlined_are_shown_where_asked_for)
{
	uint64_t stack[] = { at_inner, at_main + 16 };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, stack, 2, 10);
	write_log(&log, "inlined");
	command("report -i inlined --csv --tree");
	ck_assert_str_eq(text, "event,depth,samples,self,percent,image,symbol\n"
			 "cycles,0,10,0,100.0000,shares,main\n"
			 "cycles,1,10,10,100.0000,shares,outer\n");
	command("report -i inlined --csv --tree --inlines");
	ck_assert_str_eq(text, "event,depth,samples,self,percent,image,symbol\n"
			 "cycles,0,10,0,100.0000,shares,main\n"
			 "cycles,1,10,0,100.0000,shares,outer\n"
			 "cycles,2,10,10,100.0000,shares,inner\n");
	command("report -i inlined --csv -s symbol --inlines");
	ck_assert_str_eq(text, "event,samples,percent,symbol\ncycles,10,100.0000,inner\n");
}
END_TEST

START_TEST(report_with_children_counts_each_stack_once_and_who_was_hit)
{
	uint64_t again[] = { at_work + 4, at_work + 32, at_work + 32, at_main + 16 };
	struct made_log log;

	command("report -i log -e cycles --children -s symbol --csv");
	has("event,samples,percent,self,symbol\n"
	    "cycles,960,91.1681,0,main\ncycles,660,62.6781,0,work\n"
	    "cycles,600,56.9801,600,sixty\n");
	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, again, 4, 10);
	write_log(&log, "recursion");
	command("report -i recursion --children --csv");
	has("cycles,10,100.0000,0,shares,main\ncycles,10,100.0000,10,shares,work\n");
	command("report -i recursion --children --stdio");
	has(" 100.00%         10   100.00%         10  shares                work\n");
	ck_assert_int_eq(command("report -i log --children --tree"), 2);
	ck_assert_int_eq(command("report -i log --children --format folded"), 2);
}
END_TEST

START_TEST(report_takes_the_sort_keys_of_perf)
{
	char *own;

	command("report -i log --csv -s comm,thread,image,symbol,line");
	own = strdup(text);
	command("report -i log --csv -s comm,tid,dso,sym,srcline");
	ck_assert_str_eq(text, own);
	free(own);
	command("report -i log --csv");
	own = strdup(text);
	ck_assert_int_eq(command("report -i log --csv -s overhead,sample"), 0);
	ck_assert_str_eq(text, own);
	ck_assert_int_eq(command("report -i log --csv -s overhead,dso,sample,symbol"), 0);
	ck_assert_str_eq(text, own);
	free(own);
	ck_assert_int_eq(command("report -i log -s overheads"), 2);
}
END_TEST

/* Of one stack, on two CPUs; what samples stand for is beside them if it is asked for. */
START_TEST(report_shows_the_samples_of_each_cpu_and_what_they_stand_for)
{
	static const unsigned int times[] = { 7, 0, 20 };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 812, SHARES);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		made_cpu(&log, cpu);
		made_context(&log, 812, 812);
		made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, times[cpu]);
	}
	write_log(&log, "cpus");
	command("report -i cpus --csv -s cpu,symbol");
	ck_assert_str_eq(text, "event,samples,percent,cpu,symbol\n"
			 "cycles,20,74.0741,2,ten\ncycles,7,25.9259,0,ten\n");
	command("report -i cpus --csv -s symbol");
	ck_assert_str_eq(text, "event,samples,percent,symbol\ncycles,27,100.0000,ten\n");
	command("report -i cpus --csv -s cpu -C 0");
	ck_assert_str_eq(text, "event,samples,percent,cpu\ncycles,7,100.0000,0\n");
	command("report -i cpus --csv -s period,cpu");
	ck_assert_str_eq(text, "event,samples,percent,period,cpu\n"
			 "cycles,20,74.0741,20000,2\ncycles,7,25.9259,7000,0\n");
	command("report -i cpus --json -s period,cpu --limit 50");
	has("\"samples\":20,\"percent\":74.0741,\"period\":20000,\"cpu\":\"2\",\"unit\":\"samples\"}\n");
	has("\"samples\":7,\"percent\":25.9259,\"period\":7000,\"unit\":\"samples\","
	    "\"below_limit\":true}\n");
	command("report -i cpus --stdio -s period,symbol");
	has("# percent    samples         period  symbol\n");
	has(" 100.00%         27          27000  ten\n");
}
END_TEST

/* The same thread at the same places, on CPUs of two kinds and one that is not said. */
START_TEST(report_shows_the_samples_of_each_kind_of_core)
{
	static const unsigned int times[] = { 7, 20, 3, 5 };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_event(&log, BRANCHES, "branches");
	made_kind(&log, 0, HWPMC_KIND_CORE);
	made_kind(&log, 2, HWPMC_KIND_ATOM);
	made_kind(&log, 3, HWPMC_KIND_CORE);
	add_process(&log, 812, SHARES);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		made_cpu(&log, cpu);
		made_context(&log, 812, 812);
		made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, times[cpu]);
		made_samples(&log, BRANCHES, HWPMC_SAMPLE_USER, &at_ten, 1, 2);
	}
	write_log(&log, "kinds");
	command("report -i kinds -e cycles --csv -s kind,symbol");
	ck_assert_str_eq(text, "event,samples,percent,kind,symbol\n"
			 "cycles,20,57.1429,cpu,ten\ncycles,12,34.2857,cpu_core,ten\n"
			 "cycles,3,8.5714,cpu_atom,ten\n");
	command("report -i kinds -e cycles --csv -s symbol");
	ck_assert_str_eq(text, "event,samples,percent,symbol\ncycles,35,100.0000,ten\n");
	command("report -i kinds --stdio -s kind");
	has("# samples: 12 on cpu_core, 3 on cpu_atom, 20 on CPUs of unknown kind\n");
	command("report -i kinds --stdio -C 2");
	has("# samples: 3 on cpu_atom\n");
	command("report -i kinds -e cycles --format folded");
	ck_assert_ptr_eq(strchr(text, '\n') + 1, strchr(text, '\0'));
	/* A log of CPUs that are alike says nothing about kinds. */
	command("report -i log --stdio");
	ck_assert_ptr_null(strstr(text, "# samples: "));
}
END_TEST

START_TEST(filters_of_image_and_function_keep_what_hit_them)
{
	static const char *const forms[] = {
		"-s symbol", "-s symbol --children", "--tree", "--callers",
	};

	command("report -i log --csv -s image,symbol --symbol ten");
	ck_assert_str_eq(text, "event,samples,percent,image,symbol\n"
			 "cycles,100,100.0000,shares,ten\n\"branches, \"\"taken\"\"\","
			 "77,100.0000,shares,ten\n");
	command("report -i log -e cycles --stdio --symbol ten");
	has(": 100 samples in ");
	has("# 953 samples are excluded by the options\n");
	for (int i = 0; i < 4; i++) {
		command("report -i log -e cycles --json --image shares %s", forms[i]);
		ck_assert_uint_eq(sum_after(has_self(forms[i]) ? "\"self\":" :
					    "\"samples\":", ""), 1000);
	}
	command("report -i log -e cycles --json -s pid --image " SHARES " --symbol sixty");
	ck_assert_uint_eq(sum_after("\"samples\":", ""), 600);
	command("diff --json --symbol thirty log log");
	ck_assert_uint_eq(sum_after("\"old_samples\":", "cycles"), 300);
}
END_TEST

/* A record is a tick, half a nanosecond; the first is 500 ns after the log's beginning. */
START_TEST(filters_of_time_divide_the_samples)
{
	uint64_t before, between, behind;

	command("report -i log -e cycles --json -s pid --time +,0.0000007");
	before = sum_after("\"samples\":", "");
	command("report -i log -e cycles --json -s pid --time +0.0000007,0.0000009");
	between = sum_after("\"samples\":", "");
	command("report -i log -e cycles --json -s pid --time 0.0000009,");
	behind = sum_after("\"samples\":", "");
	ck_assert_uint_eq(between, 400);
	ck_assert_uint_eq(before + between + behind, NCYCLES);
	ck_assert_int_eq(command("report -i log --time 2,1"), 2);
	ck_assert_int_eq(command("report -i log --time 1"), 2);
	ck_assert_int_eq(command("report -i log -C 1,"), 2);
	ck_assert_int_eq(command("report -i log --time x,"), 2);
}
END_TEST

START_TEST(an_event_that_the_log_does_not_have_is_refused)
{
	static const char *const commands[] = {
		"report -i log -e nosuch --tree", "report -i log -e nosuch --format folded",
		"annotate -i log -e nosuch", "diff -e nosuch log log",
	};

	for (int i = 0; i < 4; i++) {
		refused(commands[i]);
		has("no event 'nosuch' is in the log: it has 'cycles', 'branches, \"taken\"'");
	}
}
END_TEST

START_TEST(report_says_why_names_are_missing)
{
	command("report -i log --stdio");
	has("# no symbols of /no/such/file (20 samples): ");
	has("[unknown]");
	has("[hidden kernel]");
}
END_TEST

/* The longest of these lines is the reason, which many images have in common. */
START_TEST(a_reason_that_several_images_have_is_told_once)
{
	static const uint64_t at[] = { 0x1000, 0x2000, 0x3000 };
	static const char *const path[] = { "/no/such/a", "/no/such/b", "/no/such/c" };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_exec(&log, 5, path[0]);
	for (unsigned int i = 0; i < 3; i++)
		made_map(&log, 5, at[i], at[i] + 0x1000, 0, path[i]);
	made_context(&log, 5, 5);
	for (unsigned int i = 0; i < 3; i++)
		made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at[i], 1, 3 - i);
	write_log(&log, "reasons");
	command("report -i reasons --stdio");
	has("# no symbols of /no/such/a (3 samples): the file does not exist, or is not ELF\n"
	    "# no symbols of /no/such/b (2 samples): the same\n"
	    "# no symbols of /no/such/c (1 sample): the same\n");
}
END_TEST

START_TEST(names_of_processes_do_not_command_the_terminal)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_note(&log, 0, "command=evil \033[2J");
	made_exec(&log, 5, "/tmp/\033]0;evil\a");
	made_map(&log, 5, at_main, at_main + 4096, 0, "/tmp/\033]0;evil\a");
	made_context(&log, 5, 5);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_main, 1, 9);
	write_log(&log, "evil");
	for (int v = 0; v < sizeof(views) / sizeof(*views); v++) {
		if (strchr(views[v], '='))
			continue;
		ck_assert_int_eq(command("report -i evil --stdio %s", views[v]), 0);
		ck_assert_msg(!strchr(text, '\033') && !strchr(text, '\a'),
			      "%s: %s", views[v], text);
	}
	command("diff --stdio evil evil");
	ck_assert_ptr_null(strchr(text, '\033'));
	command("annotate --stdio -i evil");
	ck_assert_ptr_null(strchr(text, '\033'));
}
END_TEST

START_TEST(annotate_shows_lines_and_instructions_with_their_samples)
{
	command("annotate -i log -e cycles --stdio sixty");
	has("# sixty in " SHARES ": 600 samples, 56.98% of all\n");
	has("# code: " SHARES "\n");
	has("100.00%         600       7  {\n");
	has("      8  \treturn n + 60;\n");
	has(" shares.c:8  \treturn n + 60;\n");
	has("addl    $0x3c, %eax\n");
	has("# other functions: 453 samples, 43.02% of all\n");
	command("annotate -i log -e cycles --intel --asm sixty");
	has("add     eax, 0x3c\n");
}
END_TEST

static void shell(const char *command)
{
	ck_assert_int_eq(system(command), 0);
}

/*
 * "prog" is a link to a program without symbols, whose debug file lies beside the link;
 * both are root's, and so is the source, which others cannot read.
 */
static void make_linked_program(void)
{
	struct made_log log;
	char path[200];

	shell("chmod 755 .; cp " SHARES_SRC " secret.c; chmod 600 secret.c");
	shell("cc -O0 -g -no-pie -fno-pie -Wl,--build-id -o whole $PWD/secret.c");
	shell("mkdir bin .debug; objcopy --only-keep-debug whole .debug/prog.debug");
	shell("objcopy --strip-all --add-gnu-debuglink=.debug/prog.debug whole bin/prog");
	shell("ln -s bin/prog prog");
	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	snprintf(path, sizeof(path), "%s/prog", dir);
	add_process(&log, 812, path);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_sixty, 1, 9);
	write_log(&log, "linked");
}

START_TEST(a_debug_file_shows_no_source_that_its_owner_cannot_read)
{
	if (geteuid())
		SKIP("only root can make files of others");
	make_linked_program();
	command("annotate -i linked -e cycles --stdio sixty");
	has("return n + 60;");
	shell("chown 65534 .debug/prog.debug");
	command("annotate -i linked -e cycles --stdio sixty");
	has("# sixty in ");
	has("(cannot show the source: the owner of the file that names it cannot read it)");
	ck_assert_ptr_null(strstr(text, "return n + 60;"));
	/* What is its owner's is shown. */
	shell("chown 1234 .debug/prog.debug secret.c");
	command("annotate -i linked -e cycles --stdio sixty");
	has("return n + 60;");
}
END_TEST

/* A matrix that would take 1.6 GB, of a log of 3 MB. */
START_TEST(pprof_of_too_many_events_is_refused)
{
	struct made_log log;
	char name[20];

	made_begin(&log);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "event%u", i);
		made_event(&log, i, name);
	}
	add_process(&log, 812, SHARES);
	for (uint32_t i = 0; i < 10000; i++)
		made_samples(&log, i, HWPMC_SAMPLE_USER, &at_sixty, 1, 1);
	write_log(&log, "many");
	refused("report -i many --format pprof --min-share 0");
	has("too many for 10000 events and 10000 stacks: choose one event with -e");
	ck_assert_int_eq(command("report -i many --format pprof -e event9"), 0);
}
END_TEST

/* A program whose source is, as its debugging information says, the file `name`. */
static void make_program_of(const char *name)
{
	struct made_log log;
	char path[200], cc[400];

	snprintf(cc, sizeof(cc), "cc -O0 -g -no-pie -fno-pie -Wl,--build-id "
		 "-fdebug-prefix-map=" SHARES_SRC "=%s -o program " SHARES_SRC, name);
	shell(cc);
	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	snprintf(path, sizeof(path), "%s/program", dir);
	add_process(&log, 812, path);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_sixty, 1, 9);
	write_log(&log, "of");
}

/* --root: of another system, whose root this system's is not. */
START_TEST(a_program_of_another_root_shows_what_everybody_can_read)
{
	char path[200], annotate[300];

	snprintf(path, sizeof(path), "%s/source.c", dir);
	shell("cp " SHARES_SRC " source.c && chmod 644 source.c && chmod 755 .");
	make_program_of(path);
	snprintf(annotate, sizeof(annotate),
		 "annotate -i of -e cycles --stdio --root %s/root sixty", dir);
	snprintf(path, sizeof(path), "mkdir -p root%s && cp program root%s/", dir, dir);
	shell(path);
	command(annotate);
	has("return n + 60;");
	shell("chmod 640 source.c");
	command(annotate);
	has("(cannot show the source: ");
	ck_assert_ptr_null(strstr(text, "return n + 60;"));
	snprintf(path, sizeof(path), "cp source.c root%s/", dir);
	shell(path);
	command(annotate);
	has("return n + 60;");
}
END_TEST

START_TEST(annotate_reads_no_source_that_is_no_regular_file)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/fifo", dir);
	shell("mkfifo fifo");
	make_program_of(path);
	command("annotate -i of -e cycles --stdio sixty");
	has("# sixty in ");
	has("(cannot show the source: it is not a regular file)");
	make_program_of("/dev/zero");
	command("annotate -i of -e cycles --stdio sixty");
	has("# sixty in ");
	has("(cannot show the source: it is not a regular file)");
	make_program_of("/no/such/source.c");
	command("annotate -i of -e cycles --stdio sixty");
	has("  (source file not found)\n");
	/* Once, not for each of its lines. */
	ck_assert_ptr_null(strstr(strstr(text, "(source file") + 1, "(source file"));
}
END_TEST

/* A module with a build-id, and `kallsyms` with its only function. */
static void make_module_log(const char *name)
{
	uint64_t pc = 0xffffffffc0001010;
	struct hwpmc_log_map *r;
	struct made_log log;
	FILE *f;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_map(&log, -1, 0xffffffffc0001000, 0xffffffffc0002000, 0, name);
	r = (void *)(log.bytes + log.len - (sizeof(*r) + strlen(name) + 1 + 7) / 8 * 8);
	r->build_id_len = 20;
	memset(r->build_id, 'b', 20);
	made_context(&log, 812, 812);
	made_samples(&log, CYCLES, 0, &pc, 1, 9);
	write_log(&log, "module");
	f = fopen("kallsyms", "w");
	fprintf(f, "ffffffff81000000 T _stext\nffffffff81001000 T _etext\n"
		"ffffffffc0001000 t module_function\t%s\n", name);
	fclose(f);
}

/* There the build-id of the log would be found, but /sys/kernel/notes does not have it. */
START_TEST(the_name_of_a_module_does_not_lead_out_of_sys)
{
	char name[100];

	shell("mkdir notes; printf %020d 0 | tr 0 b >notes/.note.gnu.build-id");
	snprintf(name, sizeof(name), "[../..%s]", dir);
	make_module_log(name);
	refused("annotate -i module --kallsyms kallsyms --stdio module_function");
	has("the log is from another kernel");
}
END_TEST

START_TEST(comparison_tells_what_became_more_less_new_and_gone)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_sixty, 1, 30);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_main, 1, 10);
	write_log(&log, "old");
	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_sixty, 1, 60);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 20);
	write_log(&log, "new");
	command("diff -s name --format csv old new");
	ck_assert_str_eq(text,
		"event,old_samples,new_samples,old_percent,new_percent,delta,ratio,image,name\n"
		"cycles,10,0,25.0000,0.0000,-25.0000,0,shares,main\n"
		"cycles,30,60,75.0000,75.0000,0.0000,2,shares,sixty\n"
		"cycles,0,20,0.0000,25.0000,25.0000,,shares,ten\n");
	command("diff --stdio old new");
	has("# all: x2\n");
	has("  25.00%    0.00%   -25.00     gone         10          0  shares");
	has("   0.00%   25.00%   +25.00      new          0         20  shares");
	has("  75.00%   75.00%    +0.00       x2         30         60  shares");
}
END_TEST

START_TEST(comparison_says_where_events_or_periods_differ)
{
	struct made_log log;
	struct hwpmc_log_allocate *r;

	made_begin(&log);
	r = made_add(&log, HWPMC_LOG_PMCALLOCATE, sizeof(*r), 0);
	r->hdr.id = CYCLES;
	r->class = HWPMC_CLASS_IAP;
	r->mode = HWPMC_MODE_TS;
	r->count = 500;
	made_note(&log, CYCLES, "event=cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_sixty, 1, 1200);
	write_log(&log, "new");
	command("diff --stdio log new");
	has("# the periods differ: compare shares and ratios, not samples\n");
	/* 600 of 1000 each, 1200 of 500 each. */
	has("  x1        600       1200  shares                sixty\n");
	has("# new: new: does not have this event\n");
	made_begin(&log);
	made_event(&log, BRANCHES, "others");
	add_process(&log, 5, SHARES);
	made_samples(&log, BRANCHES, HWPMC_SAMPLE_USER, &at_ten, 1, 9);
	write_log(&log, "other");
	ck_assert_int_eq(command("diff log other"), EXIT_FAILED);
	ck_assert_int_eq(command("diff log nonesuch"), EXIT_FAILED);
	ck_assert_int_eq(command("diff log"), EXIT_USAGE);
}
END_TEST

static void add_event_again(struct made_log *log, uint32_t id, uint64_t period)
{
	struct hwpmc_log_allocate *r;

	r = made_add(log, HWPMC_LOG_PMCALLOCATE, sizeof(*r), 0);
	r->hdr.id = id;
	r->class = HWPMC_CLASS_IAP;
	r->mode = HWPMC_MODE_TS;
	r->count = period;
	made_note(log, id, "event=cycles");
}

START_TEST(events_of_one_name_are_compared_in_their_order)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_event_again(&log, 0x103, 50);
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 10);
	made_samples(&log, 0x103, HWPMC_SAMPLE_USER, &at_sixty, 1, 200);
	write_log(&log, "twice");
	command("diff --csv twice twice");
	has("cycles,10,10,100.0000,100.0000,0.0000,1,shares,ten\n");
	has("cycles,200,200,100.0000,100.0000,0.0000,1,shares,sixty\n");
	ck_assert_uint_eq(sum_after("cycles,", "cycles,"), 210);
	command("diff --csv twice log");
	has("cycles,200,0,100.0000,0.0000,-100.0000,0,shares,sixty\n");
	ck_assert_uint_eq(sum_after("cycles,", "cycles,"), 210);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add_timed(each_view_and_form_of_a_report_adds_up_to_the_log, 60);
	harness_add(report_and_annotate_say_first_which_samples_a_loss_takes);
	harness_add(what_ends_in_a_tree_of_csv_adds_up_to_the_log);
	harness_add(annotated_functions_add_up_to_the_log);
	harness_add_timed(both_sides_of_a_comparison_add_up_to_their_logs, 30);
	harness_add(report_shows_the_callers_and_callees_of_one_function);
	harness_add(trees_are_nested_objects_in_json);
	harness_add(report_shows_lines_and_addresses);
	harness_add(report_shows_the_samples_of_each_kind_of_core);
	harness_add(long_names_are_whole_in_data);
	harness_add(functions_that_were_inlined_are_shown_where_asked_for);
	harness_add(report_with_children_counts_each_stack_once_and_who_was_hit);
	harness_add(report_takes_the_sort_keys_of_perf);
	harness_add(report_shows_the_samples_of_each_cpu_and_what_they_stand_for);
	harness_add(filters_of_image_and_function_keep_what_hit_them);
	harness_add(filters_of_time_divide_the_samples);
	harness_add(an_event_that_the_log_does_not_have_is_refused);
	harness_add(report_says_why_names_are_missing);
	harness_add(a_reason_that_several_images_have_is_told_once);
	harness_add(names_of_processes_do_not_command_the_terminal);
	harness_add(annotate_shows_lines_and_instructions_with_their_samples);
	harness_add(a_debug_file_shows_no_source_that_its_owner_cannot_read);
	harness_add(a_program_of_another_root_shows_what_everybody_can_read);
	harness_add(annotate_reads_no_source_that_is_no_regular_file);
	harness_add(pprof_of_too_many_events_is_refused);
	harness_add(the_name_of_a_module_does_not_lead_out_of_sys);
	harness_add(comparison_tells_what_became_more_less_new_and_gone);
	harness_add(comparison_says_where_events_or_periods_differ);
	harness_add(events_of_one_name_are_compared_in_their_order);
	return harness_run();
}
