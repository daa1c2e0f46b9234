// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * nmi_mask.c - from an NMI to the IRET that ends it QEMU 11.1.3 holds further ones
 * back, and about once in a million times for longer: after the IRET they are masked
 * as before, until some other interrupt's. The bit is no register that a plug-in can
 * reach, but lies at a known distance behind those that it can: they are searched for
 * in QEMU's own memory. Runs on the vCPU's own thread.
 */
#include <string.h>

#include "vpmu.h"

#define GIF		1		/* hflags2: interrupts in general; on without SVM */
#define NMI_MASK	4
#define CPL		3		/* hflags */
#define LAST_READY	3		/* operations up to that have their flags in CC_SRC, and CF and OF
					 * perhaps in CC_DST and CC_SRC2: EFLAGS, ADCX, ADOX, both */
#define FAR_ENOUGH	(64 << 10)	/* from CPUState to the general registers: 16 K */

/* Behind the general registers, 16 or 32 of them, each of 8 bytes but the last three. */
enum { EIP, EFLAGS_REG, CC_DST, CC_SRC, CC_SRC2, CC_OP_DF, HFLAGS, };

static uint32_t *hflags_behind(uint64_t *regs, unsigned int n, uint64_t rip, uint64_t cs)
{
	uint32_t *hflags = (uint32_t *)(regs + n + HFLAGS);

	if (regs[n + EIP] != rip || (hflags[0] & CPL) != (cs & CPL) || !(hflags[1] & GIF))
		return NULL;
	return hflags;
}

/* At a block's start, where RIP is exact. */
void nmi_mask_find(struct vcpu *v)
{
	uint64_t want[16], *cpu = current_cpu_now();
	uint32_t *hflags = NULL;

	if (v->nmi_mask || !cpu || v->n_fire > 1000)
		return;
	for (int i = 0; i < 16; i++)
		want[i] = reg_read(RAX + i);
	for (size_t i = 0; !hflags && i < FAR_ENOUGH / sizeof(*cpu); i++)
		if (memcmp(cpu + i, want, sizeof(want)) == 0)
			hflags = hflags_behind(cpu + i, 16, reg_read(RIP), reg_read(CS)) ?:
				 hflags_behind(cpu + i, 32, reg_read(RIP), reg_read(CS));
	if (hflags)
		v->nmi_mask = hflags + 1;
}

bool nmi_mask_is_set(const struct vcpu *v)
{
	return v->nmi_mask && *v->nmi_mask & NMI_MASK;
}

void nmi_mask_set(struct vcpu *v)
{
	if (v->nmi_mask)
		*v->nmi_mask |= NMI_MASK;
}

/*
 * Keep garbage out of all flags but those of status, before a block is left in its middle. The
 * operation whose flags are computed later may be an older one than the operands are of, and if
 * that had its flags ready, all of CC_SRC is taken for flags: NT or IOPL with it, by PUSHF, an
 * exception or an interrupt behind the instruction.
 */
void flags_bound(struct vcpu *v)
{
	uint64_t *regs;

	if (!v->nmi_mask)
		return;
	regs = (uint64_t *)(v->nmi_mask - 1) - HFLAGS;
	if ((uint32_t)regs[CC_OP_DF] > LAST_READY)
		return;
	v->n_flags_bound += regs[CC_SRC] & ~STATUS_FLAGS || (regs[CC_DST] | regs[CC_SRC2]) > 1;
	regs[CC_SRC] &= STATUS_FLAGS;
	regs[CC_DST] &= 1;
	regs[CC_SRC2] &= 1;
}

/* True if it was set. */
bool nmi_mask_clear(struct vcpu *v)
{
	if (!nmi_mask_is_set(v))
		return false;
	*v->nmi_mask &= ~NMI_MASK;
	v->n_unmasked++;
	return true;
}
