// SPDX-License-Identifier: BSD-2-Clause
/* map.c - the perf-PID.map that a generator of code leaves behind. */
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwpmc_symbol_options o = {
		.root = "/nonexistent", .kallsyms = "/dev/null",
	};

	if (size > 8192)
		return 0;
	o.perf_map = symbols_dir();
	symbols_file("perf-10.map", data, size);
	symbols_read(&o);
	return 0;
}
