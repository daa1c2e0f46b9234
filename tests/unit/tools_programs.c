/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_programs.c - which programs a command will execute, and which of them the dynamic
 * loader may be asked about: it crashes on static ones, and leaves core files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "harness.h"
#include "record/programs.h"

static char dir[] = "/tmp/hwpmc-programs-XXXXXX";
static char *path[PROGRAMS_MOST];
static char got[4096];

static void make(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	fputs(text, f);
	fclose(f);
	ck_assert_int_eq(chmod(name, 0755), 0);
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	make("env", "env");
	make("taskset", "taskset");
	make("nice", "nice");
	make("sh", "sh");
	make("ld-linux-x86-64.so.2", "loader");
	make("prog", "prog");
	make("other", "other");
	make("script", "#! ./sh -e\n");
	ck_assert_int_eq(mkdir("5", 0755), 0);
	setenv("PATH", ".", 1);
}

static void teardown(void)
{
	char command[100];

	setenv("PATH", "/usr/bin:/bin", 1);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* Words are separated by '|'. */
static const char *programs(const char *line)
{
	char copy[500], *rest = copy, *word[30];
	unsigned int n = 0, found;

	strcpy(copy, line);
	while ((word[n] = strsep(&rest, "|")))
		n++;
	found = programs_of(word, path);
	got[0] = '\0';
	for (unsigned int i = 0; i < found; i++) {
		strcat(strcat(got, path[i]), " ");
		free(path[i]);
	}
	return got;
}

START_TEST(programs_behind_wrappers_are_found)
{
	ck_assert_str_eq(programs("prog|other"), "./prog ");
	ck_assert_str_eq(programs("env|A=b|-i|prog|other"), "./env ./prog ");
	ck_assert_str_eq(programs("taskset|-c|1|./prog"), "./taskset ./prog ");
	/* A folder is not a program. */
	ck_assert_str_eq(programs("nice|-n|5|env|prog"), "./nice ./env ./prog ");
	ck_assert_str_eq(programs("ld-linux-x86-64.so.2|./prog|other"),
			 "./ld-linux-x86-64.so.2 ./prog ");
	ck_assert_str_eq(programs("env|env|env|prog"), "./env ./prog ");
	ck_assert_str_eq(programs("env|nonesuch"), "./env ");
	ck_assert_str_eq(programs("nonesuch|prog"), "");
}
END_TEST

START_TEST(programs_of_shells_and_scripts_are_found)
{
	ck_assert_str_eq(programs("sh|-c|cd /; ./prog -x && other"), "./sh ./prog ./other ");
	ck_assert_str_eq(programs("nice|sh|-c|prog"), "./nice ./sh ./prog ");
	ck_assert_str_eq(programs("sh|prog"), "./sh ");
	ck_assert_str_eq(programs("script|x"), "./script ./sh ");
	ck_assert_str_eq(programs("sh|-c"), "./sh ");
}
END_TEST

START_TEST(programs_are_listed_up_to_a_limit)
{
	char line[500] = "sh|-c|", name[20];

	for (unsigned int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		make(name, "");
		strcat(strcat(line, name), " ");
	}
	programs(line);
	ck_assert_ptr_nonnull(strstr(got, "./p14 "));
	ck_assert_ptr_null(strstr(got, "./p15 "));
}
END_TEST

static void compile(const char *flags)
{
	char command[300];

	snprintf(command, sizeof(command), "echo 'int main(void) { return 0; }' |"
		 " PATH=/usr/bin:/bin /usr/bin/cc %s -x c - -o made", flags);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(programs_without_a_loader_are_not_listed_by_it)
{
	compile("-pie -fPIE");
	ck_assert(programs_is_dynamic("made"));
	compile("-no-pie");
	ck_assert(programs_is_dynamic("made"));
	compile("-static -no-pie");
	ck_assert(!programs_is_dynamic("made"));
	compile("-static-pie -fPIE");
	ck_assert(!programs_is_dynamic("made"));
	ck_assert(!programs_is_dynamic("script"));
	ck_assert(!programs_is_dynamic("nonesuch"));
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(programs_behind_wrappers_are_found);
	harness_add(programs_of_shells_and_scripts_are_found);
	harness_add(programs_are_listed_up_to_a_limit);
	harness_add(programs_without_a_loader_are_not_listed_by_it);
	return harness_run();
}
