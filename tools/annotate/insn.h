/* SPDX-License-Identifier: BSD-2-Clause */
/* insn.h - the instructions of a function's bytes, by libcapstone. */
#ifndef TOOLS_INSN_H
#define TOOLS_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

struct insn {
	uint64_t addr;
	unsigned int size;
	uint64_t target;	/* of a direct jump or call, 0: it is none */
	const char *mnemonic, *operands;
};

/*
 * Each instruction in turn; bytes that are none are ".byte". intel: the syntax of
 * Intel, else AT&T's. 0, or -1 and one sentence.
 */
int insn_each(const struct code *c, bool intel,
	      void (*fn)(const struct insn *insn, void *arg), void *arg,
	      char *err, size_t errsize);

#endif
