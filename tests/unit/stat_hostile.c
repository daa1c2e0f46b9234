/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_hostile.c - logs, programs and maps of perf that others made to hurt a reader:
 * what they name is opened in one guarded way, what they hold takes memory in proportion
 * to what they are. Under ASan and UBSan.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stat.h"
#include "stat_log.h"

/* Of the sanitizer's runtime: its header is not where gcc looks on Debian. */
size_t __sanitizer_get_current_allocated_bytes(void);

#define PID	42
#define BASE	0x555500000000ull
#define TEXT	0x10000000ull
#define PAGE	4096ull

static struct hwpmc_profile_options options;
static struct hwpmc_profile *p;
static struct log log_;
static char dir[] = "/tmp/hwpmc-hostile-XXXXXX";

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	options = log_options();
	log_begin(&log_);
	log_context(&log_, PID, PID);
}

static void teardown(void)
{
	char command[100];

	hwpmc_profile_free(p);
	log_free(&log_);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
}

static void read_it(void)
{
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
}

static const char *in_dir(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void run(const char *format, const char *a, const char *b)
{
	char command[1000];

	snprintf(command, sizeof(command), format, a, b);
	ck_assert_int_eq(system(command), 0);
}

static const struct hwpmc_frame *frame_at(uint64_t pc)
{
	return stack_at(p, pc)->frame[0];
}

/* ---- events -------------------------------------------------------------- */

/* The last has a number that 16 bits do not hold; CPUs are numbered beside them. */
START_TEST(more_events_than_16_bits_number_have_their_own)
{
	const struct hwpmc_profile_event *event;
	uint32_t n;

	options.symbols.no_symbols = options.by_cpu = true;
	for (uint32_t i = 0; i < 70000; i++)
		log_event(&log_, 1000 + i, "more", 1000 + i);
	log_event(&log_, 7, "last", 5);	/* of log_user() */
	log_cpu(&log_, 8191);
	log_user(&log_, TEXT);
	read_it();
	event = hwpmc_profile_events(p, &n);
	ck_assert_uint_gt(n, 70000);
	ck_assert_str_eq(event[stack_at(p, TEXT)->event].name, "last");
	ck_assert_int_eq(stack_at(p, TEXT)->cpu, 8191);
}
END_TEST

/* ---- mappings ------------------------------------------------------------ */

START_TEST(forks_of_a_process_with_many_mappings_take_no_copy_of_them)
{
	size_t before, each = 1000;

	options.symbols.no_symbols = true;
	for (uint64_t i = 0; i < 2000; i++)
		log_map(&log_, PID, TEXT + i * PAGE, PAGE, 0, "/bin/prog");
	for (int32_t i = 0; i < 2000; i++)
		log_fork(&log_, PID, 1000 + i);
	log_context(&log_, 2999, 2999);
	log_user(&log_, TEXT + 1999 * PAGE);
	before = __sanitizer_get_current_allocated_bytes();
	read_it();
	ck_assert_uint_lt(__sanitizer_get_current_allocated_bytes() - before,
			  4000 * each);
	ck_assert_str_eq(frame_at(TEXT + 1999 * PAGE)->image->name, "prog");
}
END_TEST

/* Each maps a page of its own, and sees those of all before it, and no later one. */
START_TEST(a_long_line_of_forks_sees_what_each_has_mapped)
{
	int32_t n = 2500;

	options.symbols.no_symbols = true;
	for (int32_t i = 0; i < n; i++) {
		log_map(&log_, PID + i, TEXT + i * PAGE, PAGE, 0, "/bin/prog");
		log_fork(&log_, PID + i, PID + i + 1);
	}
	log_map(&log_, PID, TEXT + n * PAGE, PAGE, 0, "/bin/late");
	log_context(&log_, PID + n, PID + n);
	for (int32_t i = 0; i <= n; i++)
		log_user(&log_, TEXT + i * PAGE + 8);
	read_it();
	for (int32_t i = 0; i < n; i++)
		ck_assert_str_eq(frame_at(TEXT + i * PAGE + 8)->image->name,
				 "prog");
	ck_assert_str_eq(frame_at(TEXT + n * PAGE + 8)->image->name,
			 "[unknown]");
}
END_TEST

#define RECORDS		3000
#define PLACES		64

/* The latest record that has the page; else the first mapping that came later. */
static int expected(const int (*record)[3], int until, int page)
{
	for (int i = until; i-- > 0; )
		if (page >= record[i][0] && page < record[i][1])
			return record[i][2];
	for (int i = until; i < RECORDS; i++)
		if (page >= record[i][0] && page < record[i][1] && record[i][2])
			return record[i][2];
	return 0;
}

/* More records than are looked through one by one: the index must agree with that. */
START_TEST(many_mappings_over_each_other_are_told_apart_at_each_time)
{
	static int record[RECORDS][3], asked[RECORDS];
	unsigned int seed = 7;
	char name[20];

	options.symbols.no_symbols = true;
	for (int i = 0; i < RECORDS; i++) {
		int first = rand_r(&seed) % PLACES, n = 1 + rand_r(&seed) % 9;
		int which = rand_r(&seed) % 5;

		snprintf(name, sizeof(name), "/bin/p%d", which);
		if (which)
			log_map(&log_, PID, TEXT + first * PAGE, n * PAGE, 0, name);
		else
			log_unmap(&log_, PID, TEXT + first * PAGE, n * PAGE);
		record[i][0] = first;
		record[i][1] = first + n;
		record[i][2] = which;
		asked[i] = rand_r(&seed) % (PLACES + 8);
		/* The offset makes each a stack of its own. */
		log_user(&log_, TEXT + asked[i] * PAGE + i);
	}
	read_it();
	for (int i = 0; i < RECORDS; i++) {
		int which = expected(record, i + 1, asked[i]);

		snprintf(name, sizeof(name), which ? "p%d" : "[unknown]", which);
		ck_assert_str_eq(frame_at(TEXT + asked[i] * PAGE + i)->image->name,
				 name);
	}
}
END_TEST

START_TEST(an_odd_build_id_of_the_kernel_ends_with_its_last_whole_byte)
{
	log_note(&log_, "kernel-build-id=abcdef1");
	log_kernel(&log_, 0xffffffff81000000);
	read_it();
	ck_assert_uint_eq(image_of(p, "[kernel]")->build_id_len, 3);
}
END_TEST

/* ---- files --------------------------------------------------------------- */

static int open_it(const char *path, struct hwpmc_guard guard)
{
	const char *why = NULL;
	int fd = hwpmc_open_guarded(&guard, path, &why);

	ck_assert((fd < 0) == (why != NULL));
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

START_TEST(only_regular_files_of_bounded_size_are_opened)
{
	struct hwpmc_guard guard = { .limit = 100 };

	run("echo text > %s/file; mkfifo %s/fifo", dir, dir);
	run("ln -s file %s/link%s", dir, "");
	run("truncate -s 101 %s/large; echo x > %s/two; ", dir, dir);
	run("ln %s/two %s/other", dir, dir);
	ck_assert_int_eq(open_it(in_dir("file"), guard), 0);
	ck_assert_int_eq(open_it(in_dir("link"), guard), 0);
	ck_assert_int_eq(open_it(in_dir("fifo"), guard), -1);
	ck_assert_int_eq(open_it("/dev/zero", guard), -1);
	ck_assert_int_eq(open_it(dir, guard), -1);
	ck_assert_int_eq(open_it(in_dir("large"), guard), -1);
	ck_assert_int_eq(open_it(in_dir("none"), guard), -1);
	guard.no_link = guard.one_name = true;
	ck_assert_int_eq(open_it(in_dir("file"), guard), 0);
	ck_assert_int_eq(open_it(in_dir("link"), guard), -1);
	ck_assert_int_eq(open_it(in_dir("two"), guard), -1);
}
END_TEST

START_TEST(nothing_leads_out_of_the_root)
{
	struct hwpmc_guard guard = { .limit = 100 };
	char root[100];

	run("mkdir %s/root; echo x > %s/secret", dir, dir);
	run("echo x > %s/root/mine; ln -s ../secret %s/root/up", dir, dir);
	snprintf(root, sizeof(root), "%s/root", dir);
	guard.root = root;
	ck_assert_int_eq(open_it("/mine", guard), 0);
	ck_assert_int_eq(open_it("/../mine", guard), 0);
	ck_assert_int_eq(open_it("/../secret", guard), -1);
	ck_assert_int_eq(open_it("/up", guard), -1);
	ck_assert_int_eq(open_it(in_dir("secret"), guard), -1);
}
END_TEST

START_TEST(a_file_that_its_namer_cannot_read_is_not_shown)
{
	struct hwpmc_guard guard = {
		.limit = 100, .owned = true, .owner = 65534, .group = 65534,
	};

	run("chmod 755 %s; echo x > %s/all", dir, dir);
	run("cp %s/all %s/secret", dir, dir);
	run("chmod 644 %s/all; chmod 600 %s/secret", dir, dir);
	ck_assert_int_eq(open_it(in_dir("all"), guard), 0);
	ck_assert_int_eq(open_it(in_dir("secret"), guard), -1);
	guard.owner = geteuid();
	ck_assert_int_eq(open_it(in_dir("secret"), guard), 0);
}
END_TEST

/* Files of the directory are readable to all, but the directory is not. */
START_TEST(rights_that_cannot_be_given_up_open_no_file)
{
	struct hwpmc_guard guard = {
		.limit = 100, .owned = true, .owner = 65534, .group = 65534,
	};
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];
	gid_t group = 77, after = 0;

	if (geteuid())
		SKIP("only root has rights to give up");
	ck_assert_int_eq(setgroups(1, &group), 0);
	run("chmod 700 %s; echo x > %s/all", dir, dir);
	run("chmod 644 %s/all%s", dir, "");
	ck_assert_int_eq(syscall(SYS_capget, &head, caps), 0);
	caps[0].effective &= ~(1u << CAP_SETUID);
	ck_assert_int_eq(syscall(SYS_capset, &head, caps), 0);
	ck_assert_int_eq(open_it(in_dir("all"), guard), -1);
	caps[0].effective |= 1u << CAP_SETUID;
	ck_assert_int_eq(syscall(SYS_capset, &head, caps), 0);
	ck_assert_int_eq(open_it(in_dir("all"), guard), -1);
	/* And this thread has its own again. */
	guard.owned = false;
	ck_assert_int_eq(open_it(in_dir("all"), guard), 0);
	ck_assert_int_eq(setfsuid(-1), 0);
	ck_assert_int_eq(setfsgid(-1), getegid());
	ck_assert_int_eq(getgroups(1, &after), 1);
	ck_assert_int_eq(after, group);
}
END_TEST

START_TEST(what_is_refused_is_told_with_its_cause)
{
	struct hwpmc_guard guard = { .limit = 100 };
	const char *why;

	run("ln -s turn %s/turn; mkdir -m 700 %s/mine", dir, dir);
	ck_assert_int_eq(hwpmc_open_guarded(&guard, in_dir("none"), &why), -1);
	ck_assert_str_eq(why, "the file does not exist");
	ck_assert_int_eq(hwpmc_open_guarded(&guard, in_dir("turn"), &why), -1);
	ck_assert_str_eq(why, "it contains links, which are not followed");
	if (geteuid())
		SKIP("only root can take the place of another user");
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(hwpmc_open_guarded(&guard, in_dir("mine/x"), &why), -1);
	ck_assert_str_eq(why, "permission denied");
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* ---- maps of perf -------------------------------------------------------- */

/* More than there can be processes: of a number that none has. */
#define GONE	(1 << 22 | 42)

static void map_generated(int32_t pid)
{
	log_map(&log_, pid, 0x10000, 0x10000, 0, "//anon")->hdr.flags |=
		HWPMC_MAP_ANON;
	log_user(&log_, 0x10010);
	read_it();
}

static void read_map(void)
{
	options.symbols.perf_map = dir;
	map_generated(PID);
}

static void check_refused(void)
{
	read_map();
	ck_assert(frame_at(0x10010)->symbol->unknown);
	ck_assert_ptr_nonnull(strstr(frame_at(0x10010)->image->problem,
				     "perf-PID.map"));
}

START_TEST(a_perf_map_that_is_a_link_is_not_followed)
{
	run("echo 10000 100 secret > %s/other; ln -s other %s/perf-42.map", dir,
	    dir);
	check_refused();
}
END_TEST

START_TEST(a_perf_map_that_is_a_fifo_is_not_waited_for)
{
	run("mkfifo %s/perf-42.map%s", dir, "");
	check_refused();
}
END_TEST

/* In /tmp, where any user may put it; the process has ended, so that nobody owns it. */
START_TEST(a_perf_map_of_another_user_is_not_believed)
{
	char map[64];

	if (geteuid())
		SKIP("only root can make files of others");
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", GONE);
	run("echo 10000 100 secret > %s; chown 65534 %s", map, map);
	log_context(&log_, GONE, GONE);
	map_generated(GONE);
	ck_assert(frame_at(0x10010)->symbol->unknown);
	ck_assert_ptr_nonnull(strstr(frame_at(0x10010)->image->problem,
				     "belongs to another user"));
	run("chown 0 %s%s", map, "");
	hwpmc_profile_free(p);
	read_it();
	unlink(map);
	ck_assert_str_eq(frame_at(0x10010)->symbol->name, "secret");
}
END_TEST

START_TEST(a_perf_map_of_100_gb_is_not_read)
{
	run("echo 10000 100 first > %s/perf-42.map; truncate -s 100G %s/perf-42.map",
	    dir, dir);
	check_refused();
}
END_TEST

START_TEST(a_perf_map_that_cannot_be_read_is_told_with_the_cause)
{
	if (geteuid())
		SKIP("only root can take the place of another user");
	run("echo 10000 100 secret > %s/perf-42.map; chmod 600 %s/perf-42.map", dir,
	    dir);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	read_map();
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_ptr_nonnull(strstr(frame_at(0x10010)->image->problem,
				     "permission denied"));
}
END_TEST

/* ---- programs ------------------------------------------------------------ */

/* Unpacked, both are programs whose functions have names. */

START_TEST(a_packed_file_is_no_program)
{
	run("xz -c %s > %s/packed", program("functions"), dir);
	log_map(&log_, PID, BASE, 0x1000, 0, in_dir("packed"));
	log_user(&log_, BASE);
	read_it();
	ck_assert_ptr_nonnull(strstr(frame_at(BASE)->image->problem, "not ELF"));
}
END_TEST

START_TEST(packed_symbols_of_a_program_are_unpacked_up_to_a_limit)
{
	struct text text = text_of(program("functions"));
	uint64_t at = BASE + nm_addr(program("functions"), "alpha");

	run("cp %s %s/symbols", program("functions"), dir);
	run("truncate -s 100M %s/symbols; xz -0 -k %s/symbols", dir, dir);
	run("objcopy --strip-all --add-section .gnu_debugdata=%s/symbols.xz "
	    SYMBOLS_DIR "/functions %s/bomb", dir, dir);
	log_map(&log_, PID, BASE + text.addr, text.size, text.offset,
		in_dir("bomb"));
	log_user(&log_, at);
	read_it();
	ck_assert(frame_at(at)->symbol->made_up);
}
END_TEST

START_TEST(a_million_nested_blocks_of_debugging_information_are_borne)
{
	const char *path = program("nested");
	uint64_t at = nm_addr(path, "hot");

	options.symbols.inlines = true;
	log_map(&log_, PID, at & -PAGE, PAGE, text_of(path).offset, path);
	log_user(&log_, at);
	read_it();
	ck_assert_str_eq(frame_at(at)->symbol->name, "hot");
}
END_TEST

/* Each lookup goes through all: the first find them, later ones no longer look. */
START_TEST(functions_beside_each_other_are_looked_through_up_to_a_limit)
{
	const char *path = program("beside");
	uint64_t at = nm_addr(path, "hot");

	options.symbols.inlines = true;
	log_map(&log_, PID, at & -PAGE, PAGE, text_of(path).offset, path);
	for (unsigned int i = 0; i < 20; i++)
		log_user(&log_, at + i);
	read_it();
	ck_assert_ptr_null(frame_at(at)->image->no_lines);
	for (unsigned int i = 20; i < 100; i++)
		log_user(&log_, at + i);
	hwpmc_profile_free(p);
	read_it();
	ck_assert_ptr_nonnull(strstr(frame_at(at)->image->no_lines, "too many functions"));
	ck_assert_str_eq(frame_at(at + 99)->symbol->name, "hot");
}
END_TEST

static bool is_bounded(const char *path)
{
	struct elf_file f;
	bool is = elf_open(&f, NULL, path, false) == 0;

	if (is)
		elf_close(&f);
	else
		ck_assert_int_eq(errno, EFBIG);
	return is;
}

/* 1 GiB of 12 bytes, as GNU packed sections before ELF had a way. */
START_TEST(sections_that_gnu_packed_are_in_proportion_to_the_file_too)
{
	run("printf 'ZLIB\\000\\000\\000\\000\\100\\000\\000\\000' > %s/packed%s", dir, "");
	run("objcopy --add-section .zdebug_info=%s/packed " SYMBOLS_DIR
	    "/functions %s/bomb", dir, dir);
	ck_assert(is_bounded(program("functions")));
	ck_assert(!is_bounded(in_dir("bomb")));
	/* A hole is no reason for more. */
	run("truncate -s 8G %s/bomb%s", dir, "");
	ck_assert(!is_bounded(in_dir("bomb")));
	/* Bytes are. */
	run("truncate -s 0 %s/more; head -c 70000000 /dev/zero | tr '\\000' x > %s/more",
	    dir, dir);
	run("objcopy --add-section .noise=%s/more %s/bomb", dir, dir);
	ck_assert(is_bounded(in_dir("bomb")));
}
END_TEST

/* A copy of a program whose sections are listed so many times more. */
static void list_again(const char *from, const char *to, unsigned int times)
{
	static uint8_t bytes[4 << 20];
	FILE *f = fopen(from, "re");
	size_t n = fread(bytes, 1, sizeof(bytes), f), each;
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;

	fclose(f);
	each = (eh->e_shnum - 1) * sizeof(Elf64_Shdr);
	f = fopen(to, "we");
	ck_assert_ptr_nonnull(f);
	fwrite(bytes, 1, n, f);
	fwrite(bytes + eh->e_shoff, 1, each + sizeof(Elf64_Shdr), f);
	for (unsigned int i = 0; i < times; i++)
		fwrite(bytes + eh->e_shoff + sizeof(Elf64_Shdr), 1, each, f);
	eh->e_shoff = n;
	eh->e_shnum += times * (eh->e_shnum - 1);
	rewind(f);
	fwrite(bytes, 1, sizeof(*eh), f);
	fclose(f);
}

static const struct hwpmc_frame *frame_in(const char *path, uint64_t at)
{
	struct text text = text_of(program("functions"));

	log_map(&log_, PID, BASE + text.addr, text.size, text.offset, path);
	log_user(&log_, BASE + at);
	read_it();
	return frame_at(BASE + at);
}

/* Each would have all symbols again, with memory of their own. */
START_TEST(sections_over_each_other_are_not_read)
{
	uint64_t at = nm_addr(program("functions"), "alpha");
	const struct hwpmc_frame *frame;

	list_again(program("functions"), in_dir("again"), 0);
	ck_assert(is_bounded(in_dir("again")));
	list_again(program("functions"), in_dir("again"), 20);
	frame = frame_in(in_dir("again"), at);
	ck_assert(frame->symbol->unknown);
	ck_assert_ptr_nonnull(strstr(frame->image->problem, "overlapping sections"));
}
END_TEST

#define HOLE	(6ull << 30)

/* A copy of a program with a section that is a hole at its end, and has more flags. */
static void make_hole_with(const char *to, const char *section, uint64_t flags)
{
	static uint8_t bytes[4 << 20];
	FILE *f = fopen(program("functions"), "re");
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + eh->e_shoff), *found = NULL;

	fclose(f);
	for (unsigned int i = 0; i < eh->e_shnum; i++)
		if (!strcmp((char *)bytes + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name, section))
			found = &sh[i];
	ck_assert_msg(found != NULL, "%s", section);
	found->sh_offset = (n + 4095) & ~4095ul;
	found->sh_size = HOLE;
	found->sh_flags |= flags;
	f = fopen(to, "we");
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
	ck_assert_int_eq(truncate(to, found->sh_offset + HOLE), 0);
}

static void make_hole(const char *to, const char *section)
{
	make_hole_with(to, section, 0);
}

/* 6 GB of symbols that take no room on the disk would be read all the same. */
START_TEST(a_program_of_holes_is_not_read)
{
	static const char *const read[] = { ".symtab", ".strtab", ".debug_info", ".rela.dyn",
					     ".eh_frame" };
	uint64_t at = nm_addr(program("functions"), "alpha");
	const struct hwpmc_frame *frame;

	for (int i = 0; i < sizeof(read) / sizeof(*read); i++) {
		make_hole(in_dir("holes"), read[i]);
		ck_assert_msg(!is_bounded(in_dir("holes")), "%s", read[i]);
	}
	make_hole(in_dir("holes"), ".symtab");
	frame = frame_in(in_dir("holes"), at);
	ck_assert(frame->symbol->unknown);
	ck_assert_ptr_nonnull(strstr(frame->image->problem, "holes"));
}
END_TEST

/* libdw reads it by its name. */
START_TEST(a_debug_section_that_is_loaded_may_be_no_hole)
{
	make_hole_with(in_dir("holes"), ".debug_info", SHF_ALLOC);
	ck_assert(!is_bounded(in_dir("holes")));
}
END_TEST

/* As cp --sparse copies large tables of zeroes. perf names it, too. */
START_TEST(a_program_with_tables_of_holes_is_named)
{
	uint64_t at = nm_addr(program("functions"), "alpha");

	make_hole(in_dir("holes"), ".rodata");
	ck_assert(is_bounded(in_dir("holes")));
	make_hole(in_dir("holes"), ".data");
	ck_assert_str_eq(frame_in(in_dir("holes"), at)->symbol->name, "alpha");
}
END_TEST

/* A file without any section. */
START_TEST(a_program_with_a_hole_at_its_end_is_named)
{
	uint64_t at = nm_addr(program("functions"), "alpha");

	run("cp %s %s/holes", program("functions"), dir);
	run("truncate -s 8G %s/holes%s", dir, "");
	ck_assert_str_eq(frame_in(in_dir("holes"), at)->symbol->name, "alpha");
}
END_TEST

/* The kernel runs no program with more, and each address is looked for in all. */
START_TEST(more_segments_than_a_program_can_have_are_not_kept)
{
	static uint8_t bytes[64 + 3000 * 56];
	Elf64_Ehdr *eh = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(eh + 1);
	struct image img = { .nsegment = 0 };
	Elf *elf;

	*eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(*eh), .e_phoff = sizeof(*eh), .e_phnum = 3000,
		.e_phentsize = sizeof(*ph),
	};
	for (int i = 0; i < 3000; i++)
		ph[i] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = i * PAGE,
				      .p_filesz = PAGE, .p_memsz = PAGE };
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes, sizeof(bytes));
	ck_assert_ptr_nonnull(elf);
	elf_add_segments(&img, elf);
	elf_end(elf);
	free(img.segment);
	ck_assert_uint_eq(img.nsegment, 65536 / sizeof(*ph));
}
END_TEST

/* Below where the program was compiled, which it says from its own directory on. */
START_TEST(a_split_unit_that_is_a_fifo_is_not_waited_for)
{
	const char *file;
	unsigned int line;
	char path[200];
	uint64_t at;

	run("cd %s && cp " SYMBOLS_SRC "/inlined.c . && cc -O2 -g -gsplit-dwarf -no-pie "
	    "-fdebug-prefix-map=%s=sub -c inlined.c", dir, dir);
	run("cd %s && cc -no-pie -o split inlined.o%s && rm inlined.dwo && mkdir sub",
	    dir, "");
	run("mkfifo %s/sub/inlined.dwo%s", dir, "");
	strcpy(path, in_dir("split"));
	at = nm_addr(path, "outer");
	log_map(&log_, PID, at & -PAGE, PAGE, text_of(path).offset, path);
	log_user(&log_, at);
	read_it();
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(at), &file, &line), 1);
	ck_assert_uint_gt(line, 0);
}
END_TEST

/* The program and its common file are in dir; the name of the innermost function. */
static const char *name_from_common(void)
{
	const char *path = in_dir("shared");
	uint64_t at;

	options.symbols.inlines = true;
	at = nm_addr(path, "hot");
	log_map(&log_, PID, at & -PAGE, PAGE, text_of(path).offset, in_dir("shared"));
	log_user(&log_, at);
	read_it();
	ck_assert_uint_eq(stack_at(p, at)->nframe, 2);
	return frame_at(at)->symbol->name;
}

START_TEST(what_a_program_shares_with_others_is_in_a_file_beside_it)
{
	run("cp %s %s", program("shared"), dir);
	run("cp %s %s", program("common"), dir);
	ck_assert_str_eq(name_from_common(), "from_common");
}
END_TEST

START_TEST(a_shared_file_that_is_a_fifo_is_not_waited_for)
{
	run("cp %s %s", program("shared"), dir);
	run("mkfifo %s/common%s", dir, "");
	ck_assert_str_eq(name_from_common(), "[unknown]");
}
END_TEST

/* It has another build-id: the names in it are others. */
START_TEST(a_shared_file_of_another_program_is_not_believed)
{
	run("cp %s %s", program("shared"), dir);
	run("objcopy --remove-section .note.gnu.build-id %s %s/common", program("common"),
	    dir);
	ck_assert_str_eq(name_from_common(), "[unknown]");
}
END_TEST

/* A program in dir/in whose split unit is in dir/SUB; how many functions are at its mark. */
static uint32_t functions_of_split(const char *sub)
{
	char path[200];
	uint64_t at;

	run("mkdir -p %s/in/sub %s/out", dir, dir);
	run("cd %s/in && cp " SYMBOLS_SRC "/inlined.c . && cc -O2 -g -gsplit-dwarf -no-pie "
	    "-fdebug-prefix-map=$PWD=%s -c inlined.c", dir, sub);
	run("cd %s/in && cc -no-pie -o split inlined.o && mv inlined.dwo %s/", dir, sub);
	strcpy(path, in_dir("in/split"));
	at = nm_addr(path, "mark_innermost");
	options.symbols.inlines = true;
	log_map(&log_, PID, at & -PAGE, PAGE, text_of(path).offset,
		options.symbols.root ? "/split" : path);
	log_user(&log_, at);
	read_it();
	return stack_at(p, at)->nframe;
}

START_TEST(a_split_unit_is_read_where_it_was_compiled)
{
	ck_assert_uint_gt(functions_of_split("sub"), 1);
}
END_TEST

START_TEST(a_split_unit_below_the_root_is_read)
{
	char root[200];

	options.symbols.root = strcpy(root, in_dir("in"));
	ck_assert_uint_gt(functions_of_split("sub"), 1);
}
END_TEST

START_TEST(a_split_unit_outside_the_root_is_not_read)
{
	char root[200], out[200];

	options.symbols.root = strcpy(root, in_dir("in"));
	ck_assert_uint_eq(functions_of_split(strcpy(out, in_dir("out"))), 1);
}
END_TEST

START_TEST(a_package_of_split_units_that_is_a_fifo_is_not_waited_for)
{
	run("mkdir %s/in; mkfifo %s/in/split.dwp", dir, dir);
	ck_assert_uint_eq(functions_of_split("sub"), 1);
}
END_TEST

/* ---- names --------------------------------------------------------------- */

/* A reference to the n-th part of a mangled name. */
static void put_reference(char *to, unsigned int n)
{
	sprintf(to + strlen(to), "S%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n]);
}

/* f<p<int, int>, p<p<int, int>, p<int, int> >, ...>: each is twice as long. */
static void double_so_often(char *name, unsigned int times)
{
	strcpy(name, "_Z1fI1pIiiE");
	for (unsigned int i = 1; i <= times; i++) {
		strcat(name, "S0_I");
		put_reference(name, i);
		put_reference(name, i);
		strcat(name, "E");
	}
	strcat(name, "Ev");
}

static const char *name_in_map(const char *name)
{
	run("echo 10000 100 '%s' > %s/perf-42.map", name, dir);
	read_map();
	return frame_at(0x10010)->symbol->name;
}

START_TEST(a_name_that_doubles_itself_is_shown_up_to_a_length)
{
	char name[400];

	double_so_often(name, 5);
	ck_assert_uint_gt(strlen(name_in_map(name)), 500);
	ck_assert_uint_eq(strncmp(frame_at(0x10010)->symbol->name, "f<p<int, int>, p<p<", 19),
			  0);
	hwpmc_profile_free(p);
	double_so_often(name, 18);
	ck_assert_int_eq(strcmp(name_in_map(name), name), 0);
}
END_TEST

/* Each of half a megabyte: the second is more than a few hundred bytes may become. */
START_TEST(all_names_of_an_image_share_a_length)
{
	char name[400];

	double_so_often(name, 14);
	run("echo 18000 100 '%s' > %s/perf-42.map", name, dir);
	run("echo 10000 100 '%s' >> %s/perf-42.map", name, dir);
	read_map();
	hwpmc_profile_free(p);
	log_user(&log_, 0x18010);
	read_it();
	ck_assert_uint_gt(strlen(frame_at(0x18010)->symbol->name), 500000);
	ck_assert_int_eq(strcmp(frame_at(0x10010)->symbol->name, name), 0);
}
END_TEST

START_TEST(a_pack_that_doubles_itself_is_shown_as_it_is)
{
	char inner[400] = "S0_IiiE", name[420];

	/* p<p<..., S>, S>, each twice what is in it, expanded by a pack that is not there. */
	for (unsigned int i = 1; i <= 30; i++) {
		snprintf(name, sizeof(name), "%s%s", i < 30 ? "S0_I" : "1pI", inner);
		put_reference(name, i);
		strcat(name, "E");
		snprintf(inner, sizeof(inner), "%.390s", name);
	}
	snprintf(name, sizeof(name), "_Z1fIDp%sEv", inner);
	ck_assert_str_eq(name_in_map(name), name);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(forks_of_a_process_with_many_mappings_take_no_copy_of_them);
	harness_add(a_long_line_of_forks_sees_what_each_has_mapped);
	harness_add(many_mappings_over_each_other_are_told_apart_at_each_time);
	harness_add(an_odd_build_id_of_the_kernel_ends_with_its_last_whole_byte);
	harness_add(only_regular_files_of_bounded_size_are_opened);
	harness_add(nothing_leads_out_of_the_root);
	harness_add(a_file_that_its_namer_cannot_read_is_not_shown);
	harness_add(rights_that_cannot_be_given_up_open_no_file);
	harness_add(what_is_refused_is_told_with_its_cause);
	harness_add(a_perf_map_that_is_a_link_is_not_followed);
	harness_add(a_perf_map_that_is_a_fifo_is_not_waited_for);
	harness_add(a_perf_map_of_another_user_is_not_believed);
	harness_add(a_perf_map_of_100_gb_is_not_read);
	harness_add(a_perf_map_that_cannot_be_read_is_told_with_the_cause);
	harness_add(a_packed_file_is_no_program);
	harness_add(packed_symbols_of_a_program_are_unpacked_up_to_a_limit);
	harness_add(a_million_nested_blocks_of_debugging_information_are_borne);
	harness_add(sections_that_gnu_packed_are_in_proportion_to_the_file_too);
	harness_add(functions_beside_each_other_are_looked_through_up_to_a_limit);
	harness_add(sections_over_each_other_are_not_read);
	harness_add(a_program_of_holes_is_not_read);
	harness_add(a_debug_section_that_is_loaded_may_be_no_hole);
	harness_add(a_program_with_tables_of_holes_is_named);
	harness_add(a_program_with_a_hole_at_its_end_is_named);
	harness_add(more_segments_than_a_program_can_have_are_not_kept);
	harness_add(more_events_than_16_bits_number_have_their_own);
	harness_add(a_split_unit_that_is_a_fifo_is_not_waited_for);
	harness_add(what_a_program_shares_with_others_is_in_a_file_beside_it);
	harness_add(a_shared_file_that_is_a_fifo_is_not_waited_for);
	harness_add(a_shared_file_of_another_program_is_not_believed);
	harness_add(a_split_unit_is_read_where_it_was_compiled);
	harness_add(a_split_unit_below_the_root_is_read);
	harness_add(a_split_unit_outside_the_root_is_not_read);
	harness_add(a_package_of_split_units_that_is_a_fifo_is_not_waited_for);
	harness_add(a_name_that_doubles_itself_is_shown_up_to_a_length);
	harness_add(all_names_of_an_image_share_a_length);
	harness_add(a_pack_that_doubles_itself_is_shown_as_it_is);
	return harness_run();
}
