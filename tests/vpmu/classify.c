// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * classify.c - a few bits about each x86-64 instruction, from its bytes. What
 * is not known to be pure is taken as able to fault. Pure.
 */
#include <stdbool.h>

#include "classify.h"

struct decode {
	uint8_t op, modrm;
	unsigned int reg, mod;
	bool rep;
	uint8_t rex;
};

static bool is_prefix(uint8_t c)
{
	return c == 0x66 || c == 0x67 || c == 0xf0 || c == 0x2e || c == 0x36 ||
	       c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65;
}

static struct insn plain(unsigned int flags)
{
	return (struct insn){ flags, -1, -1 };
}

static struct insn site(int kind)
{
	return (struct insn){ F_SITE, kind, -1 };
}

static struct insn two_byte(const struct decode *d)
{
	switch (d->op) {
	case 0x31: return site(K_RDTSC);
	case 0xa2: return site(K_CPUID);
	case 0x32: return site(K_RDMSR);
	case 0x30: return site(K_WRMSR);
	case 0x33: return site(K_RDPMC);
	case 0x22:					/* MOV to CRn */
		if (d->reg != 3 || d->rex & 4)
			return plain(0);
		return (struct insn){ F_SITE, K_CR3,
				      (d->modrm & 7) | (d->rex & 1) << 3 };
	case 0x05: case 0x07: case 0x34: case 0x35:	/* SYSCALL.. */
		return plain(F_BRANCH | F_SWITCH);
	case 0x80 ... 0x8f:
		return plain(F_BRANCH | F_PURE);
	case 0x1f:					/* long NOP */
		return plain(F_PURE);
	case 0x40 ... 0x4f: case 0x90 ... 0x9f: case 0xaf:
	case 0xb6: case 0xb7: case 0xbe: case 0xbf: case 0xa3:
	case 0xab: case 0xb3: case 0xbb: case 0xba: case 0xa4:
	case 0xa5: case 0xac: case 0xad:
		return plain(d->mod == 3 ? F_PURE : 0);
	}
	return plain(0);
}

static unsigned int one_byte(const struct decode *d)
{
	switch (d->op) {
	case 0x70 ... 0x7f: case 0xeb: case 0xe9: case 0xe0 ... 0xe3:
		return F_BRANCH | F_PURE;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		return F_BRANCH | F_RETURN;
	case 0xe8: case 0x9a: case 0xea:
		return F_BRANCH;
	case 0xcf:						/* IRET */
		return F_BRANCH | F_SWITCH | F_IRET;
	case 0xcc:
		return F_BRANCH | F_TRAP | F_INT3;
	case 0xcd: case 0xce: case 0xf1:
		return F_BRANCH | F_TRAP;
	case 0xff:
		return d->reg >= 2 && d->reg <= 5 ? F_BRANCH :
		       d->reg < 2 && d->mod == 3 ? F_PURE : 0;
	case 0xfe:
		return d->mod == 3 ? F_PURE : 0;
	case 0xf6: case 0xf7:
		return d->mod == 3 && d->reg < 6 ? F_PURE : 0;
	case 0x6c ... 0x6f: case 0xa4 ... 0xa7: case 0xaa ... 0xaf:
		return d->rep ? F_REP : 0;
	case 0x8d: case 0x90: case 0x98: case 0x99: case 0xb0 ... 0xbf:
	case 0xa8: case 0xa9:
		return F_PURE;
	case 0x00 ... 0x05: case 0x08 ... 0x0d: case 0x10 ... 0x15:
	case 0x18 ... 0x1d: case 0x20 ... 0x25: case 0x28 ... 0x2d:
	case 0x30 ... 0x35: case 0x38 ... 0x3d:
		return (d->op & 7) >= 4 || d->mod == 3 ? F_PURE : 0;
	case 0x63: case 0x69: case 0x6b: case 0x80: case 0x81: case 0x83:
	case 0x84: case 0x85: case 0x88 ... 0x8b: case 0xc0: case 0xc1:
	case 0xc6: case 0xc7: case 0xd0 ... 0xd3:
		return d->mod == 3 ? F_PURE : 0;
	}
	return 0;
}

struct insn classify(const uint8_t *p, size_t len)
{
	struct decode d = { 0 };
	bool two;
	size_t i = 0;

	for (; i < len; i++) {
		if (p[i] == 0xf2 || p[i] == 0xf3)
			d.rep = true;
		else if (!is_prefix(p[i]))
			break;
	}
	if (i + 1 < len && (p[i] & 0xf0) == 0x40)
		d.rex = p[i++];
	two = i < len && p[i] == 0x0f;
	if (two)
		i++;
	if (i >= len)
		return plain(0);
	d.op = p[i++];
	d.modrm = i < len ? p[i] : 0;
	d.mod = d.modrm >> 6;
	d.reg = d.modrm >> 3 & 7;
	return two ? two_byte(&d) : plain(one_byte(&d));
}
