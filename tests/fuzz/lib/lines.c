// SPDX-License-Identifier: BSD-2-Clause
/* lines.c - a program's DWARF, as hwpmc annotate asks it: the source line of addresses. */
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwpmc_symbol_options o = {
		.kallsyms = "/dev/null", .perf_map = "/nonexistent",
		.debug = "/nonexistent",
	};

	if (size > 64 * 1024)
		return 0;
	o.root = symbols_dir();
	symbols_file("a", data, size);
	symbols_lines(&o);
	o.inlines = true;
	symbols_lines(&o);
	return 0;
}
