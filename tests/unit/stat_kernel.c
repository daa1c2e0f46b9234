/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_kernel.c - symbols and lines of the kernel and its modules: from kallsyms,
 * from a vmlinux that runs elsewhere than it was linked, from modules' files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stat_log.h"

#define KASLR	0x1a000000ull		/* the kernel runs that much higher */
#define STEXT	0xffffffff9b000000ull
#define MODULE	0xffffffffc0400000ull

static struct log log_;
static struct hwpmc_profile *p;
static char kallsyms[80], dir[64];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/hwpmc-kernel-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	write_file(kallsyms,
		   "0000000000000000 A fixed_percpu_data\n"
		   "ffffffff9b000000 T _stext\n"
		   "ffffffff9b000000 T _text\n"
		   "ffffffff9b000100 t do_one\n"
		   "ffffffff9b000200 T do_two\n"
		   "ffffffff9b000300 D some_data\n"
		   "ffffffff9b400000 T _etext\n"
		   "ffffffffc0400000 t mod_a\t[some_mod]\n"
		   "ffffffffc0400040 t mod_b\t[some_mod]\n"
		   "ffffffffc0900000 t bpf_prog_12_x\t[bpf]\n"
		   "ffffffffc0900080 t bpf_prog_13_y\t[bpf]\n");
	log_begin(&log_);
	log_context(&log_, 42, 42);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
	unlink(kallsyms);
	rmdir(dir);
}

static void read_it(const char *kernel)
{
	struct hwpmc_profile_options o = log_options();

	o.symbols.kallsyms = kallsyms;
	o.symbols.kernel = kernel;
	p = log_profile(&log_, &o);
	check_conservation(&log_, p);
}

static const struct hwpmc_frame *frame_at(uint64_t pc)
{
	return stack_at(p, pc)->frame[0];
}

static void check_name(uint64_t pc, const char *symbol, const char *image)
{
	ck_assert_str_eq(frame_at(pc)->symbol->name, symbol);
	ck_assert_str_eq(frame_at(pc)->image->name, image);
}

static void check_unnamed(uint64_t pc, const char *problem)
{
	const struct hwpmc_frame *f = frame_at(pc);

	ck_assert(f->symbol->unknown);
	ck_assert_ptr_nonnull(f->image->problem);
	ck_assert_msg(strstr(f->image->problem, problem), "%s",
		      f->image->problem);
}

static void map_kernel(uint64_t start, uint64_t size)
{
	log_map(&log_, -1, start, size, 0, "[kernel]");
}

/* ---- kallsyms ------------------------------------------------------------ */

START_TEST(kernel_and_module_functions_are_named_by_kallsyms)
{
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_kernel(&log_, STEXT + 0x110);
	log_kernel(&log_, STEXT + 0x3fffff);
	log_kernel(&log_, MODULE + 0x41);
	read_it(NULL);
	check_name(STEXT + 0x110, "do_one", "[kernel]");
	check_name(STEXT + 0x3fffff, "do_two", "[kernel]");
	check_name(MODULE + 0x41, "mod_b", "[some_mod]");
	ck_assert_uint_eq(frame_at(MODULE + 0x41)->addr, 0x41);
	ck_assert_int_eq(frame_at(MODULE + 0x41)->image->kind,
			 HWPMC_IMAGE_MODULE);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 0);
}
END_TEST

START_TEST(code_that_kallsyms_alone_knows_is_its_own_image)
{
	log_kernel(&log_, 0xffffffffc0900090);
	log_kernel(&log_, 0xffffffffc0a00000);
	read_it(NULL);
	check_name(0xffffffffc0900090, "bpf_prog_13_y", "[bpf]");
	check_name(0xffffffffc0a00000, "[unknown]", "[kernel]");
}
END_TEST

START_TEST(kernel_that_was_started_again_elsewhere_is_named_all_the_same)
{
	map_kernel(STEXT - 0x1000000, 0x400000);
	log_kernel(&log_, STEXT - 0x1000000 + 0x110);
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_kernel(&log_, MODULE + 0x41);
	read_it(NULL);
	check_name(STEXT - 0x1000000 + 0x110, "do_one", "[kernel]");
	/* Its modules may lie anywhere now. */
	check_unnamed(MODULE + 0x41, "was loaded at another address");
}
END_TEST

START_TEST(kallsyms_that_was_named_is_moved_to_where_the_recorder_noted)
{
	log_note(&log_, "release=of another machine");
	log_note(&log_, "kernel-start=ffffffff9a000000");
	log_kernel(&log_, STEXT - 0x1000000 + 0x110);
	read_it(NULL);
	check_name(STEXT - 0x1000000 + 0x110, "do_one", "[kernel]");
}
END_TEST

START_TEST(kallsyms_of_another_kernel_names_nothing)
{
	map_kernel(STEXT - 0x1000000, 0x600000);
	log_kernel(&log_, STEXT - 0x1000000 + 0x110);
	read_it(NULL);
	check_unnamed(STEXT - 0x1000000 + 0x110, "another kernel");
}
END_TEST

START_TEST(module_that_lies_elsewhere_now_is_not_named)
{
	log_map(&log_, -1, MODULE + 0x100000, 0x1000, 0, "[some_mod]");
	log_map(&log_, -1, MODULE + 0x200000, 0x1000, 0, "[gone]");
	log_kernel(&log_, MODULE + 0x100041);
	log_kernel(&log_, MODULE + 0x200041);
	read_it(NULL);
	check_unnamed(MODULE + 0x100041, "was loaded at another address");
	check_unnamed(MODULE + 0x200041, "does not list the module");
}
END_TEST

START_TEST(addresses_of_a_removed_module_are_not_those_of_its_successor)
{
	log_map(&log_, -1, MODULE, 0x1000, 0, "[before]");
	log_.time = 2000;
	log_kernel(&log_, MODULE + 0x41);
	log_unmap(&log_, -1, MODULE, 0x1000);
	log_.time = 3000;
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_.time = 4000;
	log_kernel(&log_, MODULE + 0x42);
	read_it(NULL);
	check_name(MODULE + 0x41, "[unknown]", "[before]");
	check_name(MODULE + 0x42, "mod_b", "[some_mod]");
}
END_TEST

START_TEST(kallsyms_without_addresses_says_so_and_the_remedy)
{
	write_file(kallsyms, "0000000000000000 T _stext\n"
		   "0000000000000000 t do_one\n");
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_kernel(&log_, STEXT + 0x110);
	log_kernel(&log_, MODULE + 0x41);
	read_it(NULL);
	check_unnamed(STEXT + 0x110, "run as root, or set kernel.kptr_restrict=0");
	check_unnamed(MODULE + 0x41, "run as root, or set kernel.kptr_restrict=0");
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 2);
}
END_TEST

START_TEST(log_of_another_release_does_not_get_the_symbols_of_this_kernel)
{
	struct hwpmc_profile_options o = log_options();

	log_note(&log_, "release=0.0.0-other");
	log_kernel(&log_, STEXT + 0x110);
	log_map(&log_, 42, 0x7ffff7fc1000, 0x2000, 0, "[vdso]");
	log_user(&log_, 0x7ffff7fc1a00);
	p = log_profile(&log_, &o);
	check_unnamed(STEXT + 0x110, "another kernel");
	check_unnamed(0x7ffff7fc1a00, "another kernel");
}
END_TEST

START_TEST(log_of_another_build_does_not_get_the_symbols_of_this_kernel)
{
	struct hwpmc_profile_options o = log_options();
	struct hwpmc_running_kernel k;

	if (hwpmc_running_kernel(&k) < 0 || !k.build_id_len)
		SKIP("/sys/kernel/notes, the build-id of the kernel that runs");
	log_note(&log_, "kernel-build-id=0123456789abcdef0123456789abcdef01234567");
	log_kernel(&log_, STEXT + 0x110);
	p = log_profile(&log_, &o);
	check_unnamed(STEXT + 0x110, "another kernel");
}
END_TEST

START_TEST(hidden_kernel_addresses_are_an_image_of_their_own)
{
	uint64_t chain[3] = { HWPMC_PC_HIDDEN, HWPMC_PC_USER, 0x1234 };

	log_stack(&log_, HWPMC_SAMPLE_HIDDEN | HWPMC_SAMPLE_SPLIT, 3, chain);
	read_it(NULL);
	check_name(HWPMC_PC_HIDDEN, "[unknown]", "[hidden kernel]");
	ck_assert_int_eq(frame_at(HWPMC_PC_HIDDEN)->image->kind,
			 HWPMC_IMAGE_HIDDEN);
	ck_assert_uint_eq(stack_at(p, HWPMC_PC_HIDDEN)->nframe, 2);
	ck_assert(!stack_at(p, HWPMC_PC_HIDDEN)->frame[1]->kernel);
}
END_TEST

/* ---- vmlinux ------------------------------------------------------------- */

static uint64_t in_kernel(const char *symbol)
{
	return KASLR + nm_addr(program("kernel/vmlinux"), symbol);
}

static void map_vmlinux(bool with_id)
{
	const char *path = program("kernel/vmlinux");
	struct hwpmc_log_map *r;

	r = log_map(&log_, -1, in_kernel("_stext"),
		    in_kernel("_etext") - in_kernel("_stext"), 0, "[kernel]");
	if (!with_id)
		return;
	r->build_id_len = build_id_of(path, r->build_id);
	ck_assert_uint_eq(r->build_id_len, 20);
	r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
}

START_TEST(vmlinux_names_a_kernel_that_runs_elsewhere)
{
	map_vmlinux(true);
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("kernel/vmlinux"));
	check_name(in_kernel("do_work"), "do_work", "[kernel]");
	ck_assert_uint_eq(frame_at(in_kernel("do_work"))->addr,
			  nm_addr(program("kernel/vmlinux"), "do_work"));
}
END_TEST

START_TEST(vmlinux_has_lines_and_inlined_functions_of_the_kernel)
{
	struct hwpmc_profile_options o = log_options();
	const struct hwpmc_stack *s;
	const char *file;
	unsigned int line;

	map_vmlinux(true);
	log_kernel(&log_, in_kernel("mark_in_line") + 1);
	o.symbols.kernel = program("kernel");
	o.symbols.inlines = true;
	p = log_profile(&log_, &o);
	s = stack_at(p, in_kernel("mark_in_line") + 1);
	ck_assert_uint_eq(s->nframe, 2);
	ck_assert_str_eq(s->frame[0]->symbol->name, "in_line");
	ck_assert_str_eq(s->frame[1]->symbol->name, "do_work");
	ck_assert_int_eq(hwpmc_frame_line(p, s->frame[0], &file, &line), 1);
	ck_assert_uint_eq(line, line_with("kernel.c", "the inlined line"));
}
END_TEST

START_TEST(vmlinux_of_another_build_names_nothing)
{
	struct hwpmc_log_map *r;

	map_vmlinux(true);
	r = (void *)(log_.bytes + log_.len - sizeof(*r) - 16);
	ck_assert_uint_eq(r->hdr.type, HWPMC_LOG_MAP_IN);
	r->build_id[3] ^= 1;
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("kernel/vmlinux"));
	check_unnamed(in_kernel("do_work"), "its build-id differs");
}
END_TEST

START_TEST(vmlinux_is_placed_by_kallsyms_where_the_log_does_not_tell)
{
	char text[200];

	snprintf(text, sizeof(text), "%lx T _stext\n%lx T _etext\n",
		 in_kernel("_stext"), in_kernel("_etext"));
	write_file(kallsyms, text);
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("kernel/vmlinux"));
	check_name(in_kernel("do_work"), "do_work", "[kernel]");
}
END_TEST

START_TEST(vmlinux_is_placed_by_what_the_recorder_noted)
{
	char text[100], *at = text;
	uint8_t id[HWPMC_LOG_BUILD_ID];
	uint32_t n = build_id_of(program("kernel/vmlinux"), id);

	write_file(kallsyms, "");
	snprintf(text, sizeof(text), "kernel-start=%lx", in_kernel("_stext"));
	log_note(&log_, text);
	at += sprintf(at, "kernel-build-id=");
	for (uint32_t i = 0; i < n; i++)
		at += sprintf(at, "%02x", id[i]);
	log_note(&log_, text);
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("kernel/vmlinux"));
	check_name(in_kernel("do_work"), "do_work", "[kernel]");
	ck_assert_uint_eq(image_of(p, "[kernel]")->build_id_len, 20);
	ck_assert_uint_eq(image_of(p, "[kernel]")->load, KASLR);
}
END_TEST

START_TEST(vmlinux_without_a_place_names_nothing)
{
	write_file(kallsyms, "");
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("kernel/vmlinux"));
	check_unnamed(in_kernel("do_work"), "address of the kernel is not in the log");
}
END_TEST

START_TEST(missing_vmlinux_is_a_problem_that_is_told)
{
	map_vmlinux(true);
	log_kernel(&log_, in_kernel("do_work"));
	read_it("/nonexistent/vmlinux");
	check_unnamed(in_kernel("do_work"), "does not exist");
}
END_TEST

/* Symbols by kallsyms, lines by what a distribution has installed. */
START_TEST(lines_of_the_kernel_come_from_its_package_where_kallsyms_has_the_names)
{
	uint64_t second = MODULE + nm_addr(program("kernel/drivers/some-mod.ko"),
					   "mark_second");
	uint64_t pc = in_kernel("mark_in_line") + 1;
	struct hwpmc_profile_options o = log_options();
	char text[300], root[4096];
	const char *file;
	unsigned int line;

	snprintf(text, sizeof(text), "%lx T _stext\n%lx t from_kallsyms\n"
		 "%lx T _etext\n%llx t mod_x\t[some_mod]\n", in_kernel("_stext"),
		 pc - 1, in_kernel("_etext"), MODULE);
	write_file(kallsyms, text);
	log_note(&log_, "release=0.0.0-test");
	map_vmlinux(true);
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_kernel(&log_, pc);
	log_kernel(&log_, second);
	snprintf(root, sizeof(root), "%s", program("root"));
	o.symbols.root = root;
	o.symbols.kallsyms = kallsyms;
	p = log_profile(&log_, &o);
	check_name(pc, "from_kallsyms", "[kernel]");
	check_name(second, "mod_x", "[some_mod]");
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(pc), &file, &line), 1);
	ck_assert_uint_eq(line, line_with("kernel.c", "the inlined line"));
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(second), &file, &line), 1);
	ck_assert_uint_eq(line, line_with("module.c", "in mod_second"));
}
END_TEST

START_TEST(of_several_kernels_that_of_the_log_is_taken)
{
	map_vmlinux(true);
	log_kernel(&log_, in_kernel("do_work"));
	read_it(program("root"));
	check_name(in_kernel("do_work"), "do_work", "[kernel]");
}
END_TEST

/* ---- modules ------------------------------------------------------------- */

#define KO	"kernel/drivers/some-mod.ko"

/* The text that stays: .text, then .exit.text, aligned to 16 bytes. */
static uint64_t exit_at(const char *path)
{
	char line[1024], name[64], command[4200];
	uint64_t text = 0, size;
	FILE *f;

	snprintf(command, sizeof(command), "readelf -SW '%s'", path);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " [%*[ 0-9]] %63s PROGBITS %*x %*x %lx", name,
			   &size) == 2 && strcmp(name, ".text") == 0)
			text = size;
	pclose(f);
	ck_assert_uint_gt(text, 0);
	return (text + 15) & ~15ull;
}

static void map_module(uint64_t size)
{
	const char *path = program(KO);
	struct hwpmc_log_map *r;

	r = log_map(&log_, -1, MODULE, size, 0, "[some_mod]");
	r->build_id_len = build_id_of(path, r->build_id);
	ck_assert_uint_eq(r->build_id_len, 20);
	r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
}

START_TEST(modules_are_named_by_their_files)
{
	uint64_t second = MODULE + nm_addr(program(KO), "mod_second");
	uint64_t at_exit = MODULE + exit_at(program(KO));

	map_module(0x1000);
	log_kernel(&log_, second);
	log_kernel(&log_, at_exit);
	read_it(program("kernel"));
	check_name(second, "mod_second", "[some_mod]");
	check_name(at_exit, "mod_exit", "[some_mod]");
}
END_TEST

START_TEST(modules_have_lines)
{
	uint64_t second = MODULE + nm_addr(program(KO), "mark_second");
	uint64_t at_exit = MODULE + exit_at(program(KO)) +
			   nm_addr(program(KO), "mark_exit");
	const char *file;
	unsigned int line;

	map_module(0x1000);
	log_kernel(&log_, second);
	log_kernel(&log_, at_exit);
	read_it(program("kernel"));
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(second), &file, &line),
			 1);
	ck_assert_uint_eq(line, line_with("module.c", "in mod_second"));
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(at_exit), &file, &line),
			 1);
	ck_assert_uint_eq(line, line_with("module.c", "in mod_exit"));
}
END_TEST

/* The kernel, and zeros behind it, packed and cut. */
static void pack_vmlinux(const char *with, const char *zeros, const char *cut)
{
	char command[1200];

	snprintf(command, sizeof(command), "cd %s && cp %s plain && truncate -s +%s plain && "
		 "%s <plain >packed && truncate -s -%s packed; rm plain", dir,
		 program("kernel/vmlinux"), zeros, with, cut);
	ck_assert_int_eq(system(command), 0);
}

static void read_packed(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/packed", dir);
	hwpmc_profile_free(p);
	read_it(path);
	unlink(path);
}

START_TEST(packed_kernels_are_unpacked_up_to_a_limit)
{
	static const char *const with[] = { "xz -0", "gzip -1", "zstd -q -1" };

	map_vmlinux(true);
	log_kernel(&log_, in_kernel("do_work"));
	for (unsigned int i = 0; i < 3; i++) {
		pack_vmlinux(with[i], "40M", "0");
		read_packed();
		check_name(in_kernel("do_work"), "do_work", "[kernel]");
		pack_vmlinux(with[i], "0", "99");
		read_packed();
		check_unnamed(in_kernel("do_work"), "not ELF");
		pack_vmlinux(with[i], "200M", "0");
		read_packed();
		check_unnamed(in_kernel("do_work"), "16 times its size");
	}
}
END_TEST

/* A write beyond the limit would end the process by SIGXFSZ. */
START_TEST(packed_kernels_beyond_the_limit_of_files_are_refused)
{
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };

	map_vmlinux(true);
	log_kernel(&log_, in_kernel("do_work"));
	pack_vmlinux("gzip -1", "40M", "0");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	read_packed();
	check_unnamed(in_kernel("do_work"), "ulimit -f");
}
END_TEST

START_TEST(compressed_modules_are_read)
{
	uint64_t second = MODULE + nm_addr(program(KO), "mod_second");
	const char *file;
	unsigned int line;

	map_module(0x1000);
	log_kernel(&log_, second);
	read_it(program("compressed"));
	check_name(second, "mod_second", "[some_mod]");
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(second), &file, &line),
			 1);
}
END_TEST

START_TEST(file_of_another_build_of_a_module_names_nothing)
{
	uint64_t second = MODULE + nm_addr(program(KO), "mod_second");

	map_module(0x3000);
	log_kernel(&log_, second);
	read_it(program("kernel"));
	check_unnamed(second, "not the module of the log");
}
END_TEST

START_TEST(module_without_a_file_is_named_by_kallsyms)
{
	log_map(&log_, -1, MODULE, 0x1000, 0, "[some_mod]");
	log_kernel(&log_, MODULE + 0x41);
	read_it(program("kernel/vmlinux"));
	check_name(MODULE + 0x41, "mod_b", "[some_mod]");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(kernel_and_module_functions_are_named_by_kallsyms);
	harness_add(code_that_kallsyms_alone_knows_is_its_own_image);
	harness_add(kernel_that_was_started_again_elsewhere_is_named_all_the_same);
	harness_add(kallsyms_that_was_named_is_moved_to_where_the_recorder_noted);
	harness_add(kallsyms_of_another_kernel_names_nothing);
	harness_add(module_that_lies_elsewhere_now_is_not_named);
	harness_add(addresses_of_a_removed_module_are_not_those_of_its_successor);
	harness_add(kallsyms_without_addresses_says_so_and_the_remedy);
	harness_add(log_of_another_release_does_not_get_the_symbols_of_this_kernel);
	harness_add(log_of_another_build_does_not_get_the_symbols_of_this_kernel);
	harness_add(hidden_kernel_addresses_are_an_image_of_their_own);
	harness_add(vmlinux_names_a_kernel_that_runs_elsewhere);
	harness_add(vmlinux_has_lines_and_inlined_functions_of_the_kernel);
	harness_add(vmlinux_of_another_build_names_nothing);
	harness_add(vmlinux_is_placed_by_kallsyms_where_the_log_does_not_tell);
	harness_add(vmlinux_is_placed_by_what_the_recorder_noted);
	harness_add(vmlinux_without_a_place_names_nothing);
	harness_add(missing_vmlinux_is_a_problem_that_is_told);
	harness_add(lines_of_the_kernel_come_from_its_package_where_kallsyms_has_the_names);
	harness_add(of_several_kernels_that_of_the_log_is_taken);
	harness_add(modules_are_named_by_their_files);
	harness_add(modules_have_lines);
	harness_add(compressed_modules_are_read);
	harness_add(packed_kernels_are_unpacked_up_to_a_limit);
	harness_add(packed_kernels_beyond_the_limit_of_files_are_refused);
	harness_add(file_of_another_build_of_a_module_names_nothing);
	harness_add(module_without_a_file_is_named_by_kallsyms);
	return harness_run();
}
