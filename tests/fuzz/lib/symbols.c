// SPDX-License-Identifier: BSD-2-Clause
/* symbols.c - see symbols.h. One process (10) with a program, memory of no file, and
 * samples in both and in the kernel. */
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/loggen.h"
#include "symbols.h"

static char dir[64];

static void remove_dir(void)
{
	static const char *const names[] = { "a", "perf-10.map", "kallsyms" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

const char *symbols_dir(void)
{
	if (dir[0])
		return dir;
	snprintf(dir, sizeof(dir), "/tmp/hwpmc-fuzz-XXXXXX");
	need(mkdtemp(dir) != NULL, "no directory");
	atexit(remove_dir);
	return dir;
}

void symbols_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", symbols_dir(), name);
	f = fopen(path, "w");
	need(f && fwrite(data, 1, size, f) == size && !fclose(f), "no file");
}

static void make_log(struct loggen *g)
{
	static const uint64_t pc[][3] = {
		{ 0x401000, 0x401136, 0x400040 }, { 0x400000, 0x403fff, 0x402000 },
		{ 0x700010, 0x700fff, 0x701000 },
		{ 0xffffffff81000000, 0xffffffff81001234, 0xffffffffc0000010 },
	};

	loggen_begin(g);
	loggen_allocate(g, 1, "x", 1000);
	loggen_exec(g, 10, "a", "/a");
	loggen_map(g, 10, 0x400000, 0x410000, 0, "/a");
	loggen_map(g, 10, 0x700000, 0x710000, 0, "//anon")->hdr.flags =
		HWPMC_MAP_ANON;
	loggen_context(g, 10, 10);
	for (int i = 0; i < 3; i++)
		loggen_sample(g, 1, HWPMC_SAMPLE_USER, 3, pc[i]);
	loggen_sample(g, 1, 0, 3, pc[3]);
}

static void look(struct hwpmc_profile *p)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < stack[i].nframe; k++) {
			const struct hwpmc_frame *f = stack[i].frame[k];

			need(f->symbol && f->symbol->name && f->image &&
			     f->image->name, "a frame without a name");
		}
}

static void look_at_lines(struct hwpmc_profile *p)
{
	const struct hwpmc_stack *stack;
	const char *file = NULL;
	unsigned int line = 0;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct hwpmc_frame *f = stack[i].frame[0];

		for (uint32_t k = 0; k < stack[i].nframe; k++)
			need(hwpmc_frame_line(p, stack[i].frame[k], &file, &line) < 1 ||
			     file, "a line without a file");
		for (uint64_t at = 0; at < 64; at++)
			need(hwpmc_image_line(p, f->image, f->addr + at, &file,
					      &line) < 1 || file,
			     "a line without a file");
	}
}

static void read_log(const struct hwpmc_symbol_options *options, bool lines)
{
	struct hwpmc_profile_options o = { .symbols = *options };
	struct hwpmc_input *in;
	struct hwpmc_profile *p;
	char err[600] = "";
	struct loggen g;

	make_log(&g);
	in = hwpmc_input_memory(g.bytes, g.len);
	p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	need(p != NULL, "a good log is no profile");
	look(p);
	if (lines)
		look_at_lines(p);
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	loggen_free(&g);
}

void symbols_read(const struct hwpmc_symbol_options *options)
{
	read_log(options, false);
}

void symbols_lines(const struct hwpmc_symbol_options *options)
{
	read_log(options, true);
}
