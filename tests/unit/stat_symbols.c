/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_symbols.c - names of functions in real programs and libraries: built in each
 * way, stripped, gone, changed; of generated code; of the vdso.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat_log.h"

#define BASE	0x555500000000ull
#define LIBRARY	0x7f1200000000ull
#define PID	42

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;
static char dir[64];

static void setup(void)
{
	unsetenv("DEBUGINFOD_URLS");
	snprintf(dir, sizeof(dir), "/tmp/hwpmc-symbols-XXXXXX");
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
}

static void read_it(void)
{
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
}

static uint64_t addr_in(const char *file, const char *symbol)
{
	return nm_addr(program(file), symbol);
}

static const struct hwpmc_frame *frame_at(uint64_t pc)
{
	return stack_at(p, pc)->frame[0];
}

static void check_name(uint64_t pc, const char *symbol)
{
	ck_assert_str_eq(frame_at(pc)->symbol->name, symbol);
}

static void check_unnamed(uint64_t pc, const char *problem)
{
	const struct hwpmc_frame *f = frame_at(pc);

	ck_assert(f->symbol->unknown);
	ck_assert_str_eq(f->symbol->name, "[unknown]");
	ck_assert_ptr_nonnull(f->image->problem);
	ck_assert_msg(strstr(f->image->problem, problem), "%s",
		      f->image->problem);
	ck_assert_uint_ge(hwpmc_profile_totals(p)->unknown, 1);
}

/* alpha() and beta() of a file that is mapped with the text of `like`. */
static void sample_functions(const char *file, const char *like, uint64_t base)
{
	struct hwpmc_log_map *r = log_program(&log_, PID, base, program(like));
	char path[4096];

	snprintf(path, sizeof(path), "%s", program(file));
	if (strcmp(file, like)) {
		struct hwpmc_log_map copy = *r;

		r = log_map(&log_, PID, r->start, r->end - r->start, r->offset,
			    path);
		r->build_id_len = copy.build_id_len;
		r->hdr.flags = copy.hdr.flags;
		memcpy(r->build_id, copy.build_id, sizeof(copy.build_id));
	}
	log_user(&log_, base + addr_in(like, "alpha") + 4);
	log_user(&log_, base + addr_in(like, "beta"));
}

static void check_functions(const char *like, uint64_t base)
{
	check_name(base + addr_in(like, "alpha") + 4, "alpha");
	check_name(base + addr_in(like, "beta"), "beta");
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 0);
}

/* ---- built in each way --------------------------------------------------- */

START_TEST(functions_of_a_position_independent_program_are_named)
{
	sample_functions("functions", "functions", BASE);
	read_it();
	check_functions("functions", BASE);
	ck_assert_uint_eq(frame_at(BASE + addr_in("functions", "beta"))->addr,
			  addr_in("functions", "beta"));
}
END_TEST

START_TEST(functions_of_a_program_at_a_fixed_address_are_named)
{
	sample_functions("functions-fixed", "functions-fixed", 0);
	read_it();
	check_functions("functions-fixed", 0);
}
END_TEST

START_TEST(functions_of_a_shared_library_are_named)
{
	uint64_t in = LIBRARY + addr_in("liblibrary.so", "in_library");
	uint64_t helper = LIBRARY + addr_in("liblibrary.so", "helper");

	log_program(&log_, PID, LIBRARY, program("liblibrary.so"));
	log_user(&log_, in);
	log_user(&log_, helper + 1);
	read_it();
	check_name(in, "in_library");
	check_name(helper + 1, "helper");
	ck_assert_str_eq(frame_at(in)->image->name, "liblibrary.so");
}
END_TEST

START_TEST(a_caller_is_named_by_the_call_and_not_by_what_comes_after_it)
{
	uint64_t end = addr_in("functions", "alpha");
	uint64_t chain[2] = { BASE + addr_in("functions", "beta"), BASE + end };

	/* A call that is a function's last instruction returns to the next. */
	log_program(&log_, PID, BASE, program("functions"));
	log_stack(&log_, HWPMC_SAMPLE_USER, 2, chain);
	read_it();
	ck_assert_str_eq(stack_at(p, chain[0])->frame[1]->symbol->name, "beta");
	ck_assert(stack_at(p, chain[0])->frame[1]->caller);
}
END_TEST

START_TEST(names_of_cxx_and_rust_are_demangled)
{
	static const char *const names[][2] = {
		{ "_ZN6shapes3boxIiE4areaEii", "shapes::box<int>::area" },
		{ "_RNvCsabc_7mycrate3foo", "mycrate::foo" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
	};

	log_program(&log_, PID, BASE, program("names"));
	for (int i = 0; i < 3; i++)
		log_user(&log_, BASE + addr_in("names", names[i][0]));
	read_it();
	for (int i = 0; i < 3; i++) {
		uint64_t pc = BASE + addr_in("names", names[i][0]);

		check_name(pc, names[i][1]);
		ck_assert_str_eq(frame_at(pc)->symbol->raw, names[i][0]);
	}
	hwpmc_profile_free(p);
	options.symbols.no_demangle = true;
	read_it();
	check_name(BASE + addr_in("names", names[0][0]), names[0][0]);
}
END_TEST

START_TEST(versions_of_a_library_are_no_part_of_names)
{
	static const char *const names[][2] = {
		{ "start_it@@LIB_2.34", "start_it" }, { "start_it@LIB_2.2.5", "start_it" },
		{ "_ZN6shapes4areaEii@@LIB_2.34", "shapes::area" },
	};
	uint64_t pc;

	log_program(&log_, PID, LIBRARY, program("libversions.so"));
	for (int i = 0; i < 3; i++)
		log_user(&log_, LIBRARY + addr_in("libversions.so", names[i][0]));
	/* Three functions of 2 bytes, and then this. */
	pc = LIBRARY + addr_in("libversions.so", names[0][0]) + 6;
	log_user(&log_, pc);
	read_it();
	check_name(pc, "odd@name of it");
	for (int i = 0; i < 3; i++) {
		pc = LIBRARY + addr_in("libversions.so", names[i][0]);
		check_name(pc, names[i][1]);
		ck_assert_str_eq(frame_at(pc)->symbol->raw, names[i][0]);
	}
}
END_TEST

/* By objdump(1): it knows stubs by other means. */
static uint64_t stub_of(const char *file, const char *name)
{
	char line[4096], text[64];
	uint64_t addr, found = 0;
	FILE *f;

	snprintf(line, sizeof(line), "objdump -d '%s'", program(file));
	snprintf(text, sizeof(text), "<%s@plt>:", name);
	f = popen(line, "r");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, text) && sscanf(line, "%" SCNx64, &addr) == 1)
			found = addr;
	pclose(f);
	ck_assert_msg(found, "%s has no stub for %s", file, name);
	return found;
}

static void check_stubs(const char *file, uint64_t base)
{
	uint64_t pc = base + stub_of(file, "in_library");

	log_program(&log_, PID, base, program(file));
	log_user(&log_, pc + 1);
	read_it();
	check_name(pc + 1, "in_library@plt");
}

START_TEST(stubs_are_named_after_what_they_call)
{
	check_stubs("functions", BASE);
}
END_TEST

START_TEST(stubs_that_are_bound_late_are_named_after_what_they_call)
{
	check_stubs("functions-lazy", BASE);
}
END_TEST

START_TEST(stubs_of_a_program_at_a_fixed_address_are_named)
{
	check_stubs("functions-fixed", 0);
}
END_TEST

/* A section's place, by readelf(1). */
static uint64_t section_of(const char *file, const char *name, uint64_t *size)
{
	char line[4096], found[64];
	uint64_t addr, offset, len, at = 0;
	FILE *f;

	snprintf(line, sizeof(line), "readelf -SW '%s' | sed 's/^ *\\[ *[0-9]*\\] *//'",
		 program(file));
	f = popen(line, "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*s %" SCNx64 " %" SCNx64 " %" SCNx64, found, &addr,
			   &offset, &len) == 4 && !strcmp(found, name)) {
			at = addr;
			*size = len;
		}
	pclose(f);
	ck_assert_msg(at, "%s has no %s", file, name);
	return at;
}

/*
 * _init lies before them, and has no size. Each stub is 8 bytes long, which the section does
 * not say. perf names them _init.
 */
START_TEST(stubs_of_indirect_functions_are_named_after_them_or_not)
{
	uint64_t size, plt = section_of("ifunc", ".plt", &size), end = plt + size;
	unsigned int named = 0;

	log_program(&log_, PID, 0, program("ifunc"));
	for (uint64_t pc = plt; pc < end; pc += 8)
		log_user(&log_, pc + 1);
	log_user(&log_, addr_in("ifunc", "_init") + 4);
	read_it();
	for (uint64_t pc = plt; pc < end; pc += 8) {
		const struct hwpmc_symbol *s = frame_at(pc + 1)->symbol;

		ck_assert_msg(s->unknown || strstr(s->name, "@plt"), "%s", s->name);
		ck_assert(s->unknown || s->start == pc);
		named += !s->unknown;
	}
	ck_assert_uint_ge(named, 20);
	ck_assert_uint_eq(samples_in(p, "strlen@plt"), 1);
	/* Its weak name is memcpy. */
	ck_assert_uint_eq(samples_in(p, "__new_memcpy@plt") + samples_in(p, "memcpy@plt"), 1);
	check_name(addr_in("ifunc", "_init") + 4, "_init");
}
END_TEST

/* perf gives the last to what lies before it. */
START_TEST(a_symbol_without_size_ends_with_its_section)
{
	uint64_t size, unnamed = section_of("labels", ".unnamed", &size);
	uint64_t start = addr_in("labels", "_start"), sized = addr_in("labels", "sized");

	log_program(&log_, PID, 0, program("labels"));
	log_user(&log_, start + 63);
	log_user(&log_, addr_in("labels", "work") + 2);
	/* Labels within it, of an assembler that keeps them. */
	log_user(&log_, addr_in("labels", "work") + 3);
	log_user(&log_, addr_in("labels", "work") + 4);
	log_user(&log_, sized + 1);
	log_user(&log_, sized + 4);
	log_user(&log_, unnamed);
	log_user(&log_, unnamed + size - 1);
	read_it();
	check_name(start + 63, "_start");
	for (int i = 2; i <= 4; i++)
		check_name(addr_in("labels", "work") + i, "work");
	check_name(sized + 1, "sized");
	check_name(sized + 4, "[unknown]");
	check_name(unnamed, "[unknown]");
	check_name(unnamed + size - 1, "[unknown]");
}
END_TEST

/* The program is gone: the headers of its debug file have the sections. */
START_TEST(a_symbol_of_a_debug_file_ends_with_its_section)
{
	uint64_t size, unnamed = section_of("labels", ".unnamed", &size);
	char command[10000];

	snprintf(command, sizeof(command), "cd %s && cp '%s' whole && "
		 "objcopy --only-keep-debug whole whole.debug && "
		 "objcopy --strip-all --add-gnu-debuglink=whole.debug whole program && "
		 "rm whole", dir, program("labels"));
	ck_assert_int_eq(system(command), 0);
	snprintf(command, sizeof(command), "%s/program", dir);
	log_program(&log_, PID, 0, command);
	log_user(&log_, addr_in("labels", "work") + 2);
	log_user(&log_, unnamed);
	read_it();
	check_name(addr_in("labels", "work") + 2, "work");
	check_name(unnamed, "[unknown]");
}
END_TEST

/* "program+0x1189": no other symbol, and no claim of one. */
static void check_made_up(uint64_t pc, const char *like, const char *function)
{
	const struct hwpmc_symbol *s = frame_at(pc)->symbol;
	char name[64];

	snprintf(name, sizeof(name), "program+0x%" PRIx64, addr_in(like, function));
	ck_assert_str_eq(s->name, name);
	ck_assert_str_eq(s->raw, name);
	ck_assert(s->made_up && !s->unknown);
}

/* ---- symbols elsewhere --------------------------------------------------- */

START_TEST(a_stripped_program_is_named_by_its_debug_file_by_build_id)
{
	char debug[4096];

	snprintf(debug, sizeof(debug), "/nonexistent:%s",
		 program("stripped/debug"));
	options.symbols.debug = debug;
	sample_functions("stripped/program", "functions", BASE);
	read_it();
	check_functions("functions", BASE);
	ck_assert_ptr_nonnull(strstr(image_of(p, "program")->file, ".build-id"));
	ck_assert_str_eq(image_of(p, "program")->code,
			 program("stripped/program"));
}
END_TEST

START_TEST(a_stripped_program_has_lines_by_its_debug_file)
{
	char debug[4096];
	const char *file;
	unsigned int line;

	snprintf(debug, sizeof(debug), "%s", program("stripped/debug"));
	options.symbols.debug = debug;
	sample_functions("stripped/program", "functions", BASE);
	read_it();
	ck_assert_int_eq(hwpmc_frame_line(p, frame_at(BASE + addr_in("functions",
					  "beta")), &file, &line), 1);
	ck_assert_ptr_nonnull(strstr(file, "functions.c"));
	ck_assert_uint_eq(line, line_with("functions.c", "sink += x;"));
}
END_TEST

START_TEST(a_program_that_is_gone_is_named_by_its_debug_file)
{
	char debug[4096];

	snprintf(debug, sizeof(debug), "%s", program("stripped/debug"));
	options.symbols.debug = debug;
	options.symbols.root = "/nonexistent";
	sample_functions("functions", "functions", BASE);
	read_it();
	check_functions("functions", BASE);
	ck_assert_ptr_null(image_of(p, "functions")->code);
}
END_TEST

/* The client takes files too: DIR/buildid/ID/debuginfo. */
START_TEST(a_stripped_program_is_named_by_its_debug_file_from_a_server)
{
	uint8_t id[HWPMC_LOG_BUILD_ID];
	char command[9000], hex[50] = "", url[200];
	uint32_t n = build_id_of(program("functions"), id);

	for (uint32_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	snprintf(command, sizeof(command), "mkdir -p %s/buildid/%s && "
		 "objcopy --only-keep-debug '%s' %s/buildid/%s/debuginfo", dir,
		 hex, program("functions"), dir, hex);
	ck_assert_int_eq(system(command), 0);
	snprintf(url, sizeof(url), "file://%s/", dir);
	setenv("DEBUGINFOD_URLS", url, 1);
	snprintf(url, sizeof(url), "%s/cache", dir);
	setenv("DEBUGINFOD_CACHE_PATH", url, 1);
	sample_functions("stripped/program", "functions", BASE);
	read_it();
	check_functions("functions", BASE);
	ck_assert_ptr_nonnull(strstr(image_of(p, "program")->file, "/cache/"));
}
END_TEST

START_TEST(a_stripped_program_is_named_by_its_debug_link)
{
	/* It has no build-id, and so the log has none. */
	sample_functions("linked/program", "linked/whole", BASE);
	read_it();
	check_functions("linked/whole", BASE);
	ck_assert_uint_eq(image_of(p, "program")->build_id_len, 0);
	ck_assert_ptr_nonnull(strstr(image_of(p, "program")->file,
				     "/.debug/program.debug"));
}
END_TEST

START_TEST(a_debug_link_with_another_checksum_is_not_followed)
{
	char command[10000], copy[100];
	struct text t = text_of(program("linked/whole"));

	snprintf(copy, sizeof(copy), "%s/program", dir);
	snprintf(command, sizeof(command), "cp '%s/linked/program' %s; "
		 "cp '%s/linked/.debug/program.debug' %s; "
		 "echo >>%s/program.debug", SYMBOLS_DIR, copy, SYMBOLS_DIR, dir,
		 dir);
	ck_assert_int_eq(system(command), 0);
	log_map(&log_, PID, BASE + t.addr, t.size, t.offset, copy);
	log_user(&log_, BASE + addr_in("linked/whole", "beta"));
	read_it();
	check_made_up(BASE + addr_in("linked/whole", "beta"), "linked/whole", "beta");
}
END_TEST

START_TEST(symbols_that_a_stripped_program_carries_compressed_are_used)
{
	sample_functions("mini/program", "functions", BASE);
	read_it();
	check_functions("functions", BASE);
}
END_TEST

START_TEST(stripped_functions_are_named_by_their_bounds)
{
	sample_functions("stripped/program", "functions", BASE);
	read_it();
	check_made_up(BASE + addr_in("functions", "alpha") + 4, "functions", "alpha");
	check_made_up(BASE + addr_in("functions", "beta"), "functions", "beta");
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 0);
}
END_TEST

/* A copy of a program after objcopy, which is mapped as the program is. */
static void map_copy(const char *like, const char *objcopy)
{
	struct text t = text_of(program(like));
	char command[10000], copy[100];

	snprintf(copy, sizeof(copy), "%s/program", dir);
	snprintf(command, sizeof(command), "objcopy %s '%s' %s", objcopy, program(like), copy);
	ck_assert_int_eq(system(command), 0);
	log_map(&log_, PID, t.addr, t.size, t.offset, copy);
}

START_TEST(stripped_code_without_call_frame_info_is_unknown)
{
	uint64_t beta = addr_in("functions-fixed", "beta");

	map_copy("functions-fixed", "--strip-all -R .eh_frame -R .eh_frame_hdr");
	log_user(&log_, beta);
	read_it();
	check_unnamed(beta, "it has no symbols");
}
END_TEST

/* bounds.s: see there for what each function is. */
START_TEST(stripped_bounds_never_replace_a_real_symbol)
{
	uint64_t inner = addr_in("libbounds.so", "inner");
	uint64_t beyond = addr_in("libbounds.so", "beyond");
	uint64_t open = addr_in("libbounds.so", "open_ended");
	uint64_t hidden = addr_in("libbounds.so", "hidden");
	uint64_t gap = addr_in("libbounds.so", "gap");
	char command[10000], copy[100];

	snprintf(copy, sizeof(copy), "%s/program", dir);
	snprintf(command, sizeof(command), "objcopy --strip-all '%s' %s",
		 program("libbounds.so"), copy);
	ck_assert_int_eq(system(command), 0);
	log_program(&log_, PID, LIBRARY, copy);
	log_user(&log_, LIBRARY + gap);
	log_user(&log_, LIBRARY + beyond);
	log_user(&log_, LIBRARY + inner);
	log_user(&log_, LIBRARY + open);
	log_user(&log_, LIBRARY + hidden);
	read_it();
	/* The entry of call-frame information in the middle of outer is no function. */
	check_name(LIBRARY + inner, "outer");
	check_unnamed(LIBRARY + beyond, "it has no symbols");
	/* A symbol without a size ends where its function does. */
	check_name(LIBRARY + open, "open_ended");
	check_made_up(LIBRARY + hidden, "libbounds.so", "hidden");
	/* Between functions is none. */
	check_unnamed(LIBRARY + gap, "it has no symbols");
}
END_TEST

START_TEST(a_stripped_program_gets_the_hint_for_its_package_of_symbols)
{
	sample_functions("stripped/program", "functions", BASE);
	read_it();
	ck_assert_str_eq(image_of(p, "program")->problem,
			 "it has no symbols; install its package of debugging symbols (-dbgsym, -debuginfo), or set DEBUGINFOD_URLS");
}
END_TEST

/* ---- files that are not what the log means ------------------------------- */

START_TEST(a_file_with_another_build_id_gives_a_problem_and_no_names)
{
	struct hwpmc_log_map *r;

	r = log_program(&log_, PID, BASE, program("functions"));
	r->build_id[0] ^= 0x80;
	log_user(&log_, BASE + addr_in("functions", "alpha"));
	read_it();
	check_unnamed(BASE + addr_in("functions", "alpha"),
		      "its build-id differs from the log");
	ck_assert_ptr_null(image_of(p, "functions")->file);
}
END_TEST

START_TEST(two_builds_of_one_path_are_two_images)
{
	struct hwpmc_log_map *r;
	uint64_t alpha = addr_in("functions", "alpha");

	log_program(&log_, PID, BASE, program("functions"));
	r = log_program(&log_, PID, 2 * BASE, program("functions"));
	r->build_id[0] ^= 0x80;
	log_user(&log_, BASE + alpha);
	log_user(&log_, 2 * BASE + alpha);
	read_it();
	check_name(BASE + alpha, "alpha");
	check_unnamed(2 * BASE + alpha, "build-id");
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_opened)
{
	char fifo[100];

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	log_map(&log_, PID, BASE, 0x1000, 0, fifo);
	log_map(&log_, PID, 2 * BASE, 0x1000, 0, "/nonexistent");
	log_user(&log_, BASE + 1);
	log_user(&log_, 2 * BASE + 1);
	read_it();
	check_unnamed(BASE + 1, "does not exist");
	check_unnamed(2 * BASE + 1, "does not exist");
}
END_TEST

START_TEST(addresses_without_a_mapping_are_unknown_and_counted)
{
	log_user(&log_, 0x10);
	log_kernel(&log_, 0xffff888000000000);
	read_it();
	ck_assert_str_eq(frame_at(0x10)->image->name, "[unknown]");
	ck_assert_int_eq(frame_at(0x10)->image->kind, HWPMC_IMAGE_UNKNOWN);
	ck_assert_uint_eq(frame_at(0x10)->addr, 0x10);
	ck_assert(frame_at(0xffff888000000000)->symbol->unknown);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 2);
}
END_TEST

/* ---- damaged files ------------------------------------------------------- */

static uint8_t *read_program(const char *name, size_t *len)
{
	FILE *f = fopen(program(name), "r");
	uint8_t *bytes = malloc(1 << 20);

	ck_assert_ptr_nonnull(f);
	*len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	ck_assert_uint_lt(*len, 1 << 20);
	return bytes;
}

static void read_damaged(const uint8_t *bytes, size_t len)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/damaged", dir);
	f = fopen(path, "w");
	fwrite(bytes, 1, len, f);
	fclose(f);
	read_it();
	ck_assert_uint_eq(hwpmc_profile_totals(p)->kept, 16);
	hwpmc_profile_free(p);
	p = NULL;
}

/* Where headers and tables are: at both ends. */
static size_t some_place(size_t len, uint32_t r)
{
	return r & 1 ? r / 2 % (len < 4096 ? len : 4096) :
		       len - 1 - r / 2 % (len < 8192 ? len : 8192);
}

static void damage(const char *name)
{
	struct text t = text_of(program(name));
	uint8_t *bytes, *copy;
	char path[100];
	size_t len;

	bytes = read_program(name, &len);
	copy = malloc(len);
	snprintf(path, sizeof(path), "%s/damaged", dir);
	log_map(&log_, PID, BASE, t.size, t.offset, path);
	for (int i = 0; i < 16; i++)
		log_user(&log_, BASE + i * 67);
	srandom(7);
	for (int i = 0; i < 1500; i++) {
		memcpy(copy, bytes, len);
		for (int n = random() % 6; n >= 0; n--)
			copy[some_place(len, random())] = random();
		read_damaged(copy, len);
	}
	for (size_t n = 0; n < len; n += 131)
		read_damaged(bytes, n);
	free(copy);
	free(bytes);
}

START_TEST(damaged_programs_are_read_without_harm)
{
	damage("functions");
}
END_TEST

START_TEST(damaged_programs_with_compressed_symbols_are_read_without_harm)
{
	damage("mini/program");
}
END_TEST

START_TEST(damaged_debug_links_are_read_without_harm)
{
	damage("linked/program");
}
END_TEST

/* ---- without a file ------------------------------------------------------ */

/* Its functions by nm(1) of a copy. */
START_TEST(functions_of_the_vdso_are_named)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)vdso;
	char path[100], command[200], line[256];
	uint64_t addr = 0;
	FILE *f;

	if (!vdso)
		SKIP("this system has no vdso");
	snprintf(path, sizeof(path), "%s/vdso", dir);
	f = fopen(path, "w");
	fwrite(vdso, 1, eh->e_shoff + eh->e_shnum * eh->e_shentsize, f);
	fclose(f);
	snprintf(command, sizeof(command), "nm -D %s", path);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, " T __vdso_gettimeofday"))
			addr = strtoull(line, NULL, 16);
	pclose(f);
	ck_assert_uint_gt(addr, 0);
	log_map(&log_, PID, 0x7fff00000000, 0x2000, 0, "[vdso]");
	log_user(&log_, 0x7fff00000000 + addr);
	read_it();
	check_name(0x7fff00000000 + addr, "__vdso_gettimeofday");
}
END_TEST

START_TEST(the_vdso_of_a_32_bit_program_is_not_taken_for_that_of_64_bits)
{
	log_map(&log_, PID, 0xf7f00000, 0x2000, 0, "[vdso]");
	log_user(&log_, 0xf7f00a00);
	read_it();
	check_unnamed(0xf7f00a00, "32-bit");
}
END_TEST

static void add_to_map(const char *text)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	f = fopen(path, "a");
	fputs(text, f);
	fclose(f);
}

static void map_generated(void)
{
	struct hwpmc_log_map *r;

	options.symbols.perf_map = dir;
	r = log_map(&log_, PID, 0x10000, 0x10000, 0, "//anon");
	r->hdr.flags |= HWPMC_MAP_ANON;
}

START_TEST(generated_code_is_named_by_its_perf_map)
{
	add_to_map("10000 100 first function\n"
		   "nonsense\n"
		   "10100 80 second\n"
		   "10200 40 _ZN6shapes3boxIiE4areaEii\n"
		   "10300 40 without an end");
	map_generated();
	log_user(&log_, 0x100ff);
	log_user(&log_, 0x10100);
	log_user(&log_, 0x10180);
	log_user(&log_, 0x10200);
	log_user(&log_, 0x10300);
	read_it();
	check_name(0x100ff, "first function");
	check_name(0x10100, "second");
	check_name(0x10180, "[unknown]");
	check_name(0x10200, "shapes::box<int>::area");
	check_name(0x10300, "without an end");
}
END_TEST

START_TEST(generated_code_in_shared_memory_is_named_by_its_perf_map)
{
	static const char *const paths[] = {
		"/memfd:doublemapper (deleted)", "/dev/zero (deleted)",
		"/SYSV00000000 (deleted)",
	};
	uint64_t at = 0x10000;

	options.symbols.perf_map = dir;
	add_to_map("10000 100 in_memfd\n20000 100 in_shared\n30000 100 in_segment\n");
	for (int i = 0; i < 3; i++, at += 0x10000) {
		/* The part of the memory that is mapped means nothing to its names. */
		log_map(&log_, PID, at, 0x1000, 0x5000, paths[i]);
		log_user(&log_, at + 0x10);
	}
	/* A file of such a name. */
	log_map(&log_, PID, at, 0x1000, 0, "/home/memfd:x");
	log_user(&log_, at + 0x10);
	read_it();
	check_name(0x10010, "in_memfd");
	check_name(0x20010, "in_shared");
	check_name(0x30010, "in_segment");
	check_unnamed(0x40010, "the file does not exist");
}
END_TEST

START_TEST(code_that_was_generated_later_lies_over_the_former)
{
	add_to_map("10000 100 old\n10100 100 kept\n10200 100 gone\n"
		   "10080 40 small\n10200 80 new\n");
	map_generated();
	log_user(&log_, 0x10010);
	log_user(&log_, 0x10090);
	log_user(&log_, 0x10110);
	log_user(&log_, 0x10210);
	log_user(&log_, 0x10290);
	read_it();
	check_name(0x10010, "[unknown]");
	check_name(0x10090, "small");
	check_name(0x10110, "kept");
	check_name(0x10210, "new");
	check_name(0x10290, "[unknown]");
}
END_TEST

START_TEST(generated_code_without_a_map_says_so)
{
	map_generated();
	log_user(&log_, 0x10010);
	read_it();
	check_unnamed(0x10010, "perf-PID.map");
}
END_TEST

/* As hwpmc top does it: all records, then again and again. */
static void feed_all(struct hwpmc_input *in)
{
	struct hwpmc_record r;

	while (hwpmc_input_next(in, &r) > 0)
		ck_assert_int_eq(hwpmc_profile_feed(p, &r), 0);
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
}

START_TEST(a_perf_map_is_read_again_when_it_has_grown)
{
	const struct hwpmc_symbol *first;
	struct hwpmc_input *in;

	map_generated();
	log_user(&log_, 0x10010);
	log_user(&log_, 0x10110);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	p = hwpmc_profile_new(&options);
	feed_all(in);
	check_unnamed(0x10010, "perf-PID.map");
	add_to_map("10000 100 first\n10100 100 sec");
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
	first = frame_at(0x10010)->symbol;
	ck_assert_str_eq(first->name, "first");
	ck_assert_ptr_null(frame_at(0x10010)->image->problem);
	add_to_map("ond\n");
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
	check_name(0x10110, "second");
	/* Pointers to symbols stay what they are. */
	ck_assert_ptr_eq(frame_at(0x10010)->symbol, first);
	hwpmc_input_close(in);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(functions_of_a_position_independent_program_are_named);
	harness_add(functions_of_a_program_at_a_fixed_address_are_named);
	harness_add(functions_of_a_shared_library_are_named);
	harness_add(a_caller_is_named_by_the_call_and_not_by_what_comes_after_it);
	harness_add(names_of_cxx_and_rust_are_demangled);
	harness_add(versions_of_a_library_are_no_part_of_names);
	harness_add(stubs_are_named_after_what_they_call);
	harness_add(stubs_that_are_bound_late_are_named_after_what_they_call);
	harness_add(stubs_of_a_program_at_a_fixed_address_are_named);
	harness_add(stubs_of_indirect_functions_are_named_after_them_or_not);
	harness_add(a_symbol_without_size_ends_with_its_section);
	harness_add(a_symbol_of_a_debug_file_ends_with_its_section);
	harness_add(a_stripped_program_is_named_by_its_debug_file_by_build_id);
	harness_add(a_stripped_program_has_lines_by_its_debug_file);
	harness_add(a_program_that_is_gone_is_named_by_its_debug_file);
	harness_add(a_stripped_program_is_named_by_its_debug_file_from_a_server);
	harness_add(a_stripped_program_is_named_by_its_debug_link);
	harness_add(a_debug_link_with_another_checksum_is_not_followed);
	harness_add(symbols_that_a_stripped_program_carries_compressed_are_used);
	harness_add(stripped_functions_are_named_by_their_bounds);
	harness_add(stripped_code_without_call_frame_info_is_unknown);
	harness_add(stripped_bounds_never_replace_a_real_symbol);
	harness_add(a_stripped_program_gets_the_hint_for_its_package_of_symbols);
	harness_add(a_file_with_another_build_id_gives_a_problem_and_no_names);
	harness_add(two_builds_of_one_path_are_two_images);
	harness_add(what_is_no_regular_file_is_not_opened);
	harness_add(addresses_without_a_mapping_are_unknown_and_counted);
	harness_add_timed(damaged_programs_are_read_without_harm, 60);
	harness_add_timed(damaged_programs_with_compressed_symbols_are_read_without_harm,
			  60);
	harness_add_timed(damaged_debug_links_are_read_without_harm, 60);
	harness_add(functions_of_the_vdso_are_named);
	harness_add(the_vdso_of_a_32_bit_program_is_not_taken_for_that_of_64_bits);
	harness_add(generated_code_is_named_by_its_perf_map);
	harness_add(generated_code_in_shared_memory_is_named_by_its_perf_map);
	harness_add(code_that_was_generated_later_lies_over_the_former);
	harness_add(generated_code_without_a_map_says_so);
	harness_add(a_perf_map_is_read_again_when_it_has_grown);
	return harness_run();
}
