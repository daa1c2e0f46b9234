// SPDX-License-Identifier: BSD-2-Clause
/* elf.c - a program's file: symbols, PLT, separate debug files, inlined functions. */
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwpmc_symbol_options o = {
		.kallsyms = "/dev/null", .perf_map = "/nonexistent",
		.debug = "/nonexistent", .inlines = true,
	};

	if (size > 64 * 1024)
		return 0;
	o.root = symbols_dir();
	symbols_file("a", data, size);
	symbols_read(&o);
	return 0;
}
