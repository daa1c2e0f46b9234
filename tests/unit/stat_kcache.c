/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_kcache.c - symbols of the kernel that are kept: they are those that were stored, for the
 * same key alone, and never if the file is damaged or another user could have written it; and
 * the folder of the cache, which is the caller's. Under ASan and UBSan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "../../lib/unwind/cachedir.h"
#include "stat.h"

#define KEY	"boot, first lines, modules\n"

static char dir[] = "/tmp/kcache-XXXXXX";
static int cache;
static struct kallsyms k;

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	setenv("HOME", dir, 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HWPMC_CACHE");
	cache = open(dir, O_RDONLY | O_DIRECTORY);
	k = (struct kallsyms){ .text = NULL };
}

static void teardown(void)
{
	char command[100];

	kallsyms_free(&k);
	close(cache);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void store(const char *key)
{
	static char text[] = "\0_stext\0one\0[mod]\0two\0[bpf]\0prog\0[__builtin__ftrace]\0ftrace\0[new]";
	struct ksym kernel[] = { { 0x1000, 1, 0 }, { 0x1100, 8, 0 } };
	struct ksym modules[] = {
		{ 0x9000, 18, 12 }, { 0x9100, 28, 22 }, { 0x9200, 53, 33 }, { 0x9300, 8, 60 },
		{ 0x9400, 18, 12 },
	};
	struct kallsyms live = {
		.text = text, .kernel = { kernel, 2 }, .modules = { modules, 5 },
		.stext = 0x1000, .etext = 0x2000,
	};

	kcache_store(cache, &live, key, strlen(key));
}

static bool load(const char *key)
{
	kallsyms_free(&k);
	k = (struct kallsyms){ .text = NULL };
	return kcache_load(cache, &k, key, strlen(key));
}

static void check(const struct ksym *s, uint64_t addr, const char *name, const char *module)
{
	ck_assert_uint_eq(s->addr, addr);
	ck_assert_str_eq(k.text + s->name, name);
	ck_assert_str_eq(k.text + s->module, module);
}

START_TEST(kept_kernel_symbols_are_those_that_were_stored)
{
	ck_assert(!load(KEY));
	store(KEY);
	ck_assert(load(KEY));
	ck_assert_uint_eq(k.stext, 0x1000);
	ck_assert_uint_eq(k.etext, 0x2000);
	ck_assert_uint_eq(k.kernel.n, 2);
	check(&k.kernel.symbol[0], 0x1000, "_stext", "");
	check(&k.kernel.symbol[1], 0x1100, "one", "");
	ck_assert_uint_eq(k.kernel.symbol[1].module, 0);
	/* Code that comes and goes without a trace is not kept. */
	ck_assert_uint_eq(k.modules.n, 3);
	check(&k.modules.symbol[0], 0x9000, "two", "[mod]");
	check(&k.modules.symbol[1], 0x9300, "one", "[new]");
	check(&k.modules.symbol[2], 0x9400, "two", "[mod]");
}
END_TEST

/* Another boot, another module, addresses that are hidden now: another key. */
START_TEST(kept_kernel_symbols_are_for_the_same_key_alone)
{
	store(KEY);
	ck_assert(!load("Boot, first lines, modules\n"));
	ck_assert(!load("boot, first lines, modules"));
	ck_assert(!load(KEY KEY));
	store("boot, first lines, modulez\n");
	ck_assert(!load(KEY));
	ck_assert(load("boot, first lines, modulez\n"));
}
END_TEST

static void flip(off_t at)
{
	int fd = open("kallsyms", O_RDWR);
	char c;

	ck_assert_int_eq(pread(fd, &c, 1, at), 1);
	c ^= 0x20;
	ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

START_TEST(damaged_kernel_symbols_are_not_used_and_replaced)
{
	struct stat st;

	store(KEY);
	ck_assert_int_eq(stat("kallsyms", &st), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		flip(at);
		ck_assert(!load(KEY));
		flip(at);
	}
	ck_assert(load(KEY));
	for (off_t size = 0; size < st.st_size; size++) {
		ck_assert_int_eq(truncate("kallsyms", size), 0);
		ck_assert(!load(KEY));
		store(KEY);
	}
	ck_assert(load(KEY));
}
END_TEST

START_TEST(kernel_symbols_that_others_could_write_are_not_used)
{
	store(KEY);
	ck_assert_int_eq(chmod("kallsyms", 0620), 0);
	ck_assert(!load(KEY));
	ck_assert_int_eq(chmod("kallsyms", 0602), 0);
	ck_assert(!load(KEY));
	ck_assert_int_eq(rename("kallsyms", "other"), 0);
	ck_assert_int_eq(chmod("other", 0600), 0);
	ck_assert_int_eq(symlink("other", "kallsyms"), 0);
	ck_assert(!load(KEY));
	store(KEY);
	ck_assert(load(KEY));
	if (geteuid())
		return;
	ck_assert_int_eq(chown("kallsyms", 12345, -1), 0);
	ck_assert(!load(KEY));
}
END_TEST

START_TEST(kernel_symbols_are_readable_by_their_owner_alone)
{
	struct stat st;

	umask(0);
	store(KEY);
	ck_assert_int_eq(stat("kallsyms", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	close(cachedir_open("unwind"));
	ck_assert_int_eq(stat(".cache/hwpmc/unwind", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat(".cache/hwpmc", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
}
END_TEST

static bool opens(void)
{
	int fd = cachedir_open(NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

START_TEST(cache_of_another_place_or_user_is_not_used)
{
	ck_assert(opens());
	ck_assert_int_eq(chmod(".cache/hwpmc", 0720), 0);
	ck_assert(!opens());
	ck_assert_int_eq(chmod(".cache/hwpmc", 0702), 0);
	ck_assert(!opens());
	ck_assert_int_eq(chmod(".cache/hwpmc", 0700), 0);
	ck_assert_int_eq(rename(".cache/hwpmc", "elsewhere"), 0);
	ck_assert_int_eq(symlink("../elsewhere", ".cache/hwpmc"), 0);
	ck_assert(!opens());
	ck_assert_int_eq(rename(".cache", "moved"), 0);
	ck_assert_int_eq(symlink("moved", ".cache"), 0);
	ck_assert(!opens());
	ck_assert_int_eq(unlink(".cache"), 0);
	if (!geteuid()) {
		ck_assert_int_eq(mkdir(".cache", 0777), 0);
		ck_assert_int_eq(chown(".cache", 12345, -1), 0);
		ck_assert(!opens());
		ck_assert_int_eq(rmdir(".cache"), 0);
		ck_assert_int_eq(chown(dir, 12345, -1), 0);
		ck_assert(!opens());
	}
}
END_TEST

START_TEST(cache_is_where_the_environment_says_or_nowhere)
{
	char path[64];

	setenv("XDG_CACHE_HOME", "relative", 1);
	ck_assert(opens());
	ck_assert_int_eq(access(".cache/hwpmc", F_OK), 0);
	ck_assert_int_eq(mkdir("xdg", 0755), 0);
	snprintf(path, sizeof(path), "%s/xdg", dir);
	setenv("XDG_CACHE_HOME", path, 1);
	ck_assert(opens());
	ck_assert_int_eq(access("xdg/hwpmc", F_OK), 0);
	setenv("HWPMC_CACHE", "none", 1);
	ck_assert(!opens());
	unsetenv("HWPMC_CACHE");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ck_assert(!opens());
	setenv("HOME", "", 1);
	ck_assert(!opens());
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(kept_kernel_symbols_are_those_that_were_stored);
	harness_add(kept_kernel_symbols_are_for_the_same_key_alone);
	harness_add(damaged_kernel_symbols_are_not_used_and_replaced);
	harness_add(kernel_symbols_that_others_could_write_are_not_used);
	harness_add(kernel_symbols_are_readable_by_their_owner_alone);
	harness_add(cache_of_another_place_or_user_is_not_used);
	harness_add(cache_is_where_the_environment_says_or_nowhere);
	return harness_run();
}
