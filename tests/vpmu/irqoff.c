// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * irqoff.c - the largest number of instructions that a kernel module has interrupts off
 * for (option irqoff=on): from its first block with IF clear to the end of its last one
 * before interrupts are on again. So neither the kernel's own interrupt entry counts nor
 * the time that CPUs wait for each other in stop_machine(). The guest says where the
 * module lies, and reads what was found.
 */
#include <stdatomic.h>

#include "vpmu.h"
#include "vpmu_guest.h"

#define MODULES_BEGIN	0xffffffffa0000000ULL
#define MODULES_END	0xffffffffff000000ULL
#define RFLAGS_IF	0x200

/* Of all vCPUs. */
static _Atomic uint64_t module_begin, module_end, watched_begin, watched_end;
static _Atomic uint64_t longest, longest_from, longest_watched;

static void raise_to(_Atomic uint64_t *to, uint64_t x)
{
	uint64_t old = atomic_load(to);

	while (old < x && !atomic_compare_exchange_weak(to, &old, x))
		;
}

static void note(struct vcpu *v, uint64_t len)
{
	if (len > atomic_load(&longest))
		atomic_store(&longest_from, v->off_pc);
	raise_to(&longest, len);
	if (v->off_watched)
		raise_to(&longest_watched, len);
}

static void on_module_block(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	const struct block *blk = data;
	uint64_t now;

	if (blk->start - module_begin >= module_end - module_begin)
		return;
	if (reg_read(EFLAGS) & RFLAGS_IF) {
		v->off = false;
		return;
	}
	now = retired_all(v, board_of(v));
	if (!v->off) {
		v->off = true;
		v->off_from = now;
		v->off_pc = blk->start;
		v->off_watched = false;
	}
	v->off_watched |= blk->start - watched_begin < watched_end - watched_begin;
	note(v, now - v->off_from + blk->n);
}

static void on_interrupts_on(unsigned int index, void *data)
{
	vcpu_of(index)->off = false;
}

void irqoff_watch_block(struct qemu_plugin_tb *tb, struct block *blk)
{
	if (cfg.irqoff && blk->start - MODULES_BEGIN < MODULES_END - MODULES_BEGIN)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_module_block, CB_R_REGS, blk);
}

/* STI, and IRET: also that of an NMI, so what was interrupted is measured in two parts. */
void irqoff_watch_insn(struct qemu_plugin_insn *in, const struct block *blk,
		       const uint8_t *bytes, const struct insn *insn)
{
	if (cfg.irqoff && blk->mode == KERNEL &&
	    (bytes[0] == 0xfb || insn->flags & F_IRET))
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_interrupts_on, CB_NO_REGS,
						       NULL);
}

uint64_t irqoff_leaf(uint32_t what, uint64_t arg)
{
	switch (what) {
	case VPMU_IRQOFF_BEGIN:	  return atomic_exchange(&module_begin, arg);
	case VPMU_IRQOFF_END:	  return atomic_exchange(&module_end, arg);
	case VPMU_IRQOFF_WATCH:	  return atomic_exchange(&watched_begin, arg);
	case VPMU_IRQOFF_WATCHED: return atomic_exchange(&watched_end, arg);
	case VPMU_IRQOFF_FROM:	  return atomic_load(&longest_from);
	case VPMU_IRQOFF_LONGEST: return atomic_exchange(&longest, 0);
	case VPMU_IRQOFF_LONGEST_WATCHED: return atomic_exchange(&longest_watched, 0);
	}
	return 0;
}
