// SPDX-License-Identifier: BSD-2-Clause
/* kallsyms.c - the kernel's symbols as /proc/kallsyms has them. */
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwpmc_symbol_options o = {
		.root = "/nonexistent", .perf_map = "/nonexistent",
	};
	char path[128];

	if (size > 8192)
		return 0;
	symbols_file("kallsyms", data, size);
	snprintf(path, sizeof(path), "%s/kallsyms", symbols_dir());
	o.kallsyms = path;
	symbols_read(&o);
	return 0;
}
