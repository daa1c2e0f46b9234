/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insn.c - instructions by libcapstone, which is loaded when it is needed: its tables are
 * nearly two megabytes of addresses to relocate, two thirds of the time that `hwpmc`
 * takes to start, and of all commands annotate alone looks at instructions.
 */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>

#include "code.h"
#include "insn.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)
/* Its interface changes with this number, which is part of the file's name. */
#define CAPSTONE	"libcapstone.so." TEXT(CS_API_MAJOR)

#define FUNCTIONS(x)							\
	x(cs_open) x(cs_option) x(cs_malloc) x(cs_disasm_iter)		\
	x(cs_insn_group) x(cs_free) x(cs_close)

#define MEMBER(name)	typeof(name) *name;
#define NAME(name)	#name,

static union {
	struct {
		FUNCTIONS(MEMBER)
	};
	void *function[sizeof((const char *[]){ FUNCTIONS(NAME) }) / sizeof(char *)];
} capstone;

static const char *const names[] = { FUNCTIONS(NAME) };

static int load(char *err, size_t errsize)
{
	static void *library;

	if (library)
		return 0;
	library = dlopen(CAPSTONE, RTLD_NOW);
	if (!library) {
		snprintf(err, errsize, "cannot load libcapstone, which reads instructions (%s); install libcapstone"
			 TEXT(CS_API_MAJOR), dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		capstone.function[i] = dlsym(library, names[i]);
		if (capstone.function[i])
			continue;
		snprintf(err, errsize, CAPSTONE " has no %s(): install another version",
			 names[i]);
		dlclose(library);
		library = NULL;
		return -1;
	}
	return 0;
}

static uint64_t target_of(csh handle, const cs_insn *insn)
{
	const cs_x86 *x86;

	if (!insn->id || (!capstone.cs_insn_group(handle, insn, CS_GRP_JUMP) &&
			  !capstone.cs_insn_group(handle, insn, CS_GRP_CALL)))
		return 0;
	x86 = &insn->detail->x86;
	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM ?
	       (uint64_t)x86->operands[0].imm : 0;
}

static int open_handle(const struct code *c, bool intel, csh *handle)
{
	if (capstone.cs_open(CS_ARCH_X86, c->bits32 ? CS_MODE_32 : CS_MODE_64, handle))
		return -1;
	capstone.cs_option(*handle, CS_OPT_SYNTAX, intel ? CS_OPT_SYNTAX_INTEL :
			   CS_OPT_SYNTAX_ATT);
	capstone.cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
	capstone.cs_option(*handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	return 0;
}

static int refuse(char *err, size_t errsize)
{
	snprintf(err, errsize, "libcapstone cannot read the instructions of this machine");
	return -1;
}

int insn_each(const struct code *c, bool intel,
	      void (*fn)(const struct insn *insn, void *arg), void *arg,
	      char *err, size_t errsize)
{
	const uint8_t *at = c->bytes;
	uint64_t addr = c->addr;
	size_t left = c->size;
	cs_insn *insn;
	csh handle;

	if (load(err, errsize) < 0)
		return -1;
	if (open_handle(c, intel, &handle) < 0)
		return refuse(err, errsize);
	insn = capstone.cs_malloc(handle);
	while (insn && capstone.cs_disasm_iter(handle, &at, &left, &addr, insn)) {
		struct insn told = {
			.addr = insn->address, .size = insn->size,
			.target = target_of(handle, insn),
			.mnemonic = insn->mnemonic, .operands = insn->op_str,
		};

		fn(&told, arg);
	}
	if (insn)
		capstone.cs_free(insn, 1);
	capstone.cs_close(&handle);
	return insn ? 0 : refuse(err, errsize);
}
