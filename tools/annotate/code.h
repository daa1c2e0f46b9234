/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.h - the bytes of functions, from where they still are: the file, the running
 * kernel, this process's vdso.
 */
#ifndef TOOLS_CODE_H
#define TOOLS_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libhwpmcstat.h>

struct code {
	uint64_t addr;		/* of the first byte, as symbols have it */
	size_t size;		/* may be less than was asked for: a function
				 * without a size reaches to the section's end */
	uint8_t *bytes;
	bool bits32;
	char from[4200];	/* where they were read */
};

/*
 * A function's. root (may be NULL): prefix of paths, as the symbols had it. 0, or -1
 * and one sentence: why not.
 */
int code_read(struct code *c, const struct hwpmc_symbol *symbol,
	      const char *root, char *err, size_t errsize);
void code_free(struct code *c);

#endif
