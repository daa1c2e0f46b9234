// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * discon.c - a block that is left early: counts are put right for what did not
 * retire, and a provoked #GP gets its real registers back.
 */
#include "vpmu.h"

/*
 * An exception that was provoked has been delivered: the frame on the stack is
 * {error code, RIP, ...}.  Returns where it came from.
 */
static uint64_t disarm(struct vcpu *v, uint64_t from)
{
	enum armed armed = v->armed;

	v->armed = NOT_ARMED;
	if (armed == ARMED_RCX)
		reg_write(RCX, v->saved_rcx);
	if (armed != ARMED_PC)
		return from;
	if (!virt_write64(reg_read(RSP) + 8, v->fault_pc))
		g_error("vpmu: cannot write the exception frame");
	return v->fault_pc;
}

/* Which instruction of its block an address is; -1: none. */
static int slot_at(const struct block *blk, uint64_t from)
{
	uint64_t off = from - blk->start;

	if (blk->mode == USER)
		off &= 0xfff;		/* see site_pc() in emulate.c */
	if (off >= blk->size)
		return -1;
	for (unsigned int i = 0; i < blk->n; i++)
		if (blk->slot[i].off == off)
			return i;
	return -1;
}

static unsigned int branches_before(const struct block *blk, int slot)
{
	unsigned int n = 0;

	for (int i = 0; i < slot; i++)
		n += !!(blk->slot[i].flags & F_BRANCH);
	return n;
}

/* An exception leaves the block at `from`: take back what did not retire. */
static void fix_exception(struct vcpu *v, struct board *b, uint64_t from)
{
	struct block *blk = (struct block *)(uintptr_t)b->block;
	struct slot *s;
	int i;

	if (!blk || (blk->mode == KERNEL) != (from >> 63))
		return;
	/* A fault of fetching it: the block before was left at its end. */
	if (reg_read(CR2) - from < 16)
		return;
	i = slot_at(blk, from);
	if (i < 0)
		return;
	s = &blk->slot[i];
	if (s->flags & F_TRAP)			/* INT3 and such do retire */
		return;
	/* s->counted were counted, i of them retired */
	b->tick[blk->mode] -= (s->counted - i) * TICK;
	v->branch[blk->mode] -= s->branches - branches_before(blk, i);
	v->n_exc_fixed++;
	v->rep = NULL;
}

/*
 * An interrupt amid a REP: it will be counted when resumed. Not where its own overflow
 * is what interrupts: taken back, that would be an NMI for nothing.
 */
static void fix_interrupt(struct vcpu *v, struct board *b, uint64_t from)
{
	struct site *r = v->rep;

	if (!r || (from & 0xfff) != page_off(r) ||
	    v->rep_mark != retired(v, b, r->mode))
		return;
	b->tick[r->mode] -= TICK;
	v->rep = NULL;
}

/*
 * An interrupt right behind an emulated instruction: of the flags in its frame, {RIP,
 * CS, RFLAGS, ...}, only those of status may be garbage, which nobody will look at.
 */
static void fix_flags(struct vcpu *v, struct board *b, uint64_t from)
{
	int mode = from >> 63 ? KERNEL : USER;
	uint64_t at, flags;

	if (!v->resume_pc || from != v->resume_pc)
		return;
	v->resume_pc = 0;
	if (v->resume_mark != retired(v, b, mode))
		return;
	at = reg_read(RSP) + 16;
	if (!virt_read64(at, &flags))
		g_error("vpmu: cannot read the interrupt frame");
	if (!((flags ^ v->resume_flags) & ~STATUS_FLAGS))
		return;
	flags = (flags & STATUS_FLAGS) | (v->resume_flags & ~STATUS_FLAGS);
	if (!virt_write64(at, flags))
		g_error("vpmu: cannot write the interrupt frame");
	v->n_flags_fixed++;
}

/*
 * What x86 reports in 11.1.3: an exception when one is raised, while the
 * faulting address is still unknown (from and to are both that of the block),
 * then an interrupt when anything is delivered, be it an interrupt or that
 * exception, with the right addresses.
 */
void discon_event(unsigned int index, int type, uint64_t from, uint64_t to,
		  void *data)
{
	struct vcpu *v = &vcpus[index];
	struct board *b = board_of(v);

	if (cfg.none) {
		if (type != DISCON_EXCEPTION)
			stale_look(v);
		return;
	}
	if (type == DISCON_EXCEPTION) {
		v->n_exc++;
		v->exception = true;
	} else if (v->exception) {
		v->exception = false;
		from = disarm(v, from);
		fix_exception(v, b, from);
		ibs_left(v, b, from);
	} else {
		v->n_int++;
		manners_interrupted(v, from >> 63 ? KERNEL : USER);
		v->iret = false;	/* perhaps it is an NMI */
		if (!v->raised)
			fix_interrupt(v, b, from);
		v->raised = false;
		fix_flags(v, b, from);
		ibs_left(v, b, from);
	}
	if (type != DISCON_EXCEPTION)
		stale_look(v);
	translate_pass_on(v, b, USER);
}
