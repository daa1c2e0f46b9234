// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * translate.c - what is put into each block as QEMU translates it: counting,
 * the look at the counters when their time has come, the emulated instructions.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "vpmu.h"

struct site_box { struct site_box *next; struct site s; };

static _Atomic(struct block *) all_blocks;
static _Atomic(struct site_box *) all_sites;

/*
 * A REP string instruction comes back to the translated code once per 65536
 * iterations, or at each one when single-stepped by -icount: count it once.
 */
static void on_rep(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct board *b = board_of(v);
	struct site *s = data;

	if (v->rep && page_off(v->rep) == page_off(s) &&
	    v->rep_mark == retired(v, b, s->mode)) {
		v->n_rep_again++;
		return;
	}
	b->tick[s->mode] += TICK;
	v->rep = s;
	v->rep_mark = retired(v, b, s->mode);
}

/*
 * Netburst asserts the interrupt until the overflow flag is cleared: an LVTPC that is
 * unmasked before that raises it once more. Others of Intel's do so by a knob.
 */
static bool line_is_up(struct vcpu *v)
{
	return cfg.p4 ? p4_line_is_up(v) : v->global_status & counter_global_mask(v);
}

static bool raise_again(struct vcpu *v)
{
	if (!v->line_watched || v->pmi_pending)
		return false;
	if (!line_is_up(v)) {
		v->line_watched = false;
		return false;
	}
	return !pmi_is_masked() && pmi_deliver(v);
}

/* At a block's start, once the tick of its mode has reached FIRE. */
static void fire(struct vcpu *v, struct board *b, struct block *blk)
{
	int mode = blk->mode;
	uint64_t pc = reg_read(RIP);
	bool exit = false;

	v->n_fire++;
	apic_finish_load(v);
	nmi_mask_find(v);
	if (v->patch.site && v->patch.next == pc)
		cpuid_apply_patch(v, mode);
	counter_sync(v, b);
	if (v->iret && !inject_masks(v))
		exit = nmi_mask_clear(v);
	v->iret = false;
	exit = (cfg.ibs && ibs_fire(v, b, blk, pc)) || exit;
	exit = inject_raise(v, b) || exit;
	exit = raise_again(v) || exit;
	if (v->pmi_pending && inject_is_due(v, b) && v->skid_left-- <= 0) {
		exit = pmi_deliver(v) || exit;
		counter_reconfigure(v, b);
	}
	counter_arm(v, b, mode);
	/* Leave the block before it starts: the interrupt is taken here. */
	v->raised = exit;
	if (exit)
		qemu_plugin_set_pc(pc);
}

static void on_fire(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);

	fire(v, board_of(v), data);
}

/*
 * Leaving a mode whose deadline has come: look at the counters at the first
 * block of the other one.
 */
void translate_pass_on(struct vcpu *v, struct board *b, int from)
{
	if (b->tick[from] < FIRE || b->tick[!from] >= FIRE)
		return;
	counter_shift_bias(v, b, !from, (b->tick[!from] >> TICK_BITS) + FIRE_TICKS);
}

static void on_switch(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);

	translate_pass_on(v, board_of(v), (uintptr_t)data);
}

/* From an NMI, as far as QEMU knows: look at what it makes of that, right after. */
static void on_iret(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct board *b = board_of(v);

	if (!nmi_mask_is_set(v))
		return;
	v->iret = true;
	counter_sync(v, b);
	counter_arm(v, b, KERNEL);
}

/*
 * A vCPU that waits for another one. There are more vCPUs at work than CPUs of the host,
 * so the other one's thread may wait for this CPU; and each PAUSE leaves QEMU's loop,
 * which takes as long as a hundred instructions. After a while the other threads go
 * first; not at each, since a guest may also pass the time with a number of PAUSEs. (One
 * vCPU alone waits for time to pass, by icount for instructions.)
 */
#define PAUSES	512

static void on_pause(unsigned int index, void *data)
{
	if (++vcpu_of(index)->n_pause % PAUSES == 0)
		sched_yield();
}

static bool is_pause(const uint8_t *bytes, size_t len)
{
	return len == 2 && bytes[0] == 0xf3 && bytes[1] == 0x90;
}

/* What the inline operations do, as callbacks (see one_thread). */
static void on_block(unsigned int index, void *data)
{
	struct vcpu *v = vcpu_of(index);
	struct board *b = board_of(v);
	struct block *blk = data;

	if (b->tick[blk->mode] >= FIRE)
		fire(v, b, blk);
	b->fetch++;
	b->block = (uintptr_t)blk;
}

static void on_run(unsigned int index, void *data)
{
	uintptr_t x = (uintptr_t)data;

	board_of(vcpu_of(index))->tick[x & 1] += x >> 1;
}

static void on_mem(unsigned int index, uint32_t info, uint64_t addr, void *data)
{
	struct board *b = board_of(vcpu_of(index));

	if (qemu_plugin_mem_is_store(info))
		b->store[(uintptr_t)data]++;
	else
		b->load[(uintptr_t)data]++;
}

static void add_run(struct qemu_plugin_insn *in, int mode, uint64_t ticks)
{
	if (one_thread)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_run, CB_NO_REGS,
			(void *)(uintptr_t)(ticks << 1 | mode));
	else
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(in, OP_ADD,
			FIELD(tick[mode]), ticks);
}

static void add_switch(struct qemu_plugin_insn *in, int mode)
{
	if (one_thread)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_switch,
			CB_NO_REGS, (void *)(uintptr_t)mode);
	else
		qemu_plugin_register_vcpu_insn_exec_cond_cb(in, on_switch,
			CB_NO_REGS, COND_GE, FIELD(tick[mode]), FIRE,
			(void *)(uintptr_t)mode);
}

static void add_mem(struct qemu_plugin_insn *in, int mode)
{
	if (one_thread) {
		qemu_plugin_register_vcpu_mem_cb(in, on_mem, CB_NO_REGS,
			MEM_R | MEM_W, (void *)(uintptr_t)mode);
		return;
	}
	qemu_plugin_register_vcpu_mem_inline_per_vcpu(in, MEM_R, OP_ADD,
						      FIELD(load[mode]), 1);
	qemu_plugin_register_vcpu_mem_inline_per_vcpu(in, MEM_W, OP_ADD,
						      FIELD(store[mode]), 1);
}

static struct site *new_site(const struct block *blk, unsigned int i,
			     size_t len, const struct insn *insn)
{
	struct site_box *box = g_new0(struct site_box, 1);

	box->s = (struct site){
		.start = blk->start, .off = blk->slot[i].off,
		.next = blk->slot[i].off + len,
		.kind = insn->kind, .mode = blk->mode, .reg = insn->reg,
	};
	box->next = atomic_load(&all_sites);
	while (!atomic_compare_exchange_weak(&all_sites, &box->next, box))
		;
	return &box->s;
}

/* Instructions that are counted together, at the first of them. */
struct run {
	struct qemu_plugin_insn *first;		/* NULL: none open */
	unsigned int begin, counted, branches;
};

/* End the open run, if any, before instruction `end`. */
static void close_run(struct run *r, struct block *blk, unsigned int end)
{
	unsigned int branches = 0;

	if (!r->first)
		return;
	for (unsigned int i = r->begin; i < end; i++)
		branches += !!(blk->slot[i].flags & F_BRANCH);
	add_run(r->first, blk->mode, (end - r->begin) * TICK + branches);
	r->counted += end - r->begin;
	r->branches += branches;
	for (unsigned int i = r->begin; i < end; i++) {
		blk->slot[i].counted = r->counted;
		blk->slot[i].branches = r->branches;
	}
	r->first = NULL;
}

/*
 * Place the counting of one instruction.
 *   gran=tb:   a run goes on to the block's end (or to an emulated or REP
 *              instruction).  Cheapest.  If a fault leaves the block early,
 *              discon.c takes back what did not retire.
 *   gran=insn: a run ends after each instruction that can leave the block
 *              early.  Exact also where QEMU leaves a block without telling
 *              plugins, as it does under -icount for device access.
 */
static void count_insn(struct run *r, struct block *blk, unsigned int i,
		       struct qemu_plugin_insn *in, size_t len,
		       const struct insn *insn)
{
	if (insn->flags & F_REP) {		/* a run of its own */
		close_run(r, blk, i);
		r->counted++;
		blk->slot[i].counted = r->counted;
		blk->slot[i].branches = r->branches;
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_rep, CB_NO_REGS,
			new_site(blk, i, len, insn));
	} else {
		if (!r->first) {
			r->first = in;
			r->begin = i;
		}
		if (i == blk->n - 1u || insn->flags & F_SITE ||
		    (cfg.gran_insn && !(insn->flags & F_PURE)))
			close_run(r, blk, i + 1);
	}
	if (insn->flags & F_SWITCH)
		add_switch(in, blk->mode);
	if (insn->flags & F_IRET)
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_iret, CB_NO_REGS, NULL);
	if (cfg.mem)
		add_mem(in, blk->mode);
}

static struct block *new_block(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct block *blk;

	blk = g_malloc0(sizeof(*blk) + n * sizeof(blk->slot[0]));
	blk->start = qemu_plugin_tb_vaddr(tb);
	blk->n = n;
	/* CPL is part of what a block is translated for. */
	blk->mode = (reg_read(CS) & 3) == 3 && (reg_read(CR0) & 1) ?
		    USER : KERNEL;
	blk->next = atomic_load(&all_blocks);
	while (!atomic_compare_exchange_weak(&all_blocks, &blk->next, blk))
		;
	return blk;
}

static void watch_block(struct qemu_plugin_tb *tb, struct block *blk)
{
	if (one_thread) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block,
						     CB_RW_REGS_PC, blk);
		return;
	}
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_fire, CB_RW_REGS_PC,
		COND_GE, FIELD(tick[blk->mode]), FIRE, blk);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_STORE,
		FIELD(block), (uintptr_t)blk);
	if (cfg.ibs)
		ibs_watch_block(tb);
}

/* Look at one instruction; the site to look at after it, or NULL. */
static struct site *translate_insn(struct run *r, struct block *blk,
				   unsigned int i, struct qemu_plugin_insn *in)
{
	size_t len = MIN(qemu_plugin_insn_size(in), 16);
	uint8_t bytes[16] = { 0 };
	struct insn insn;
	struct site *s;

	qemu_plugin_insn_data(in, bytes, len);
	insn = classify(bytes, len);
	/* real-mode firmware and trampolines are left alone */
	if (blk->start < 0x100000 || (insn.kind == K_RDTSC && !cfg.tsc))
		insn.flags &= ~F_SITE;
	blk->slot[i].off = qemu_plugin_insn_vaddr(in) - blk->start;
	blk->slot[i].flags = insn.flags;
	blk->size = blk->slot[i].off + len;
	if (cfg.none)
		return NULL;
	apic_watch_insn(in, bytes);
	count_insn(r, blk, i, in, len, &insn);
	if (cfg.ibs)
		ibs_watch_insn(in, &blk->slot[i]);
	irqoff_watch_insn(in, blk, bytes, &insn);
	if (max_vcpus > 1 && !one_thread && is_pause(bytes, len))
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_pause, CB_NO_REGS, NULL);
	if (!(insn.flags & F_SITE))
		return NULL;
	s = new_site(blk, i, len, &insn);
	qemu_plugin_register_vcpu_insn_exec_cb(in, emulate_site, CB_RW_REGS_PC,
					       s);
	return insn.kind == K_CPUID || insn.kind == K_RDMSR ? s : NULL;
}

void translate_block(struct qemu_plugin_tb *tb, void *data)
{
	struct run r = { 0 };
	struct site *after = NULL, *int3 = NULL;
	struct block *blk;

	if (one_thread && !current_cpu_now()) {
		fprintf(stderr, "vpmu: cannot tell vCPUs apart here\n");
		exit(1);
	}
	blk = new_block(tb);
	if (!cfg.none) {
		watch_block(tb, blk);
		irqoff_watch_block(tb, blk);
	}
	for (unsigned int i = 0; i < blk->n; i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);

		if (after)
			qemu_plugin_register_vcpu_insn_exec_cb(in,
				emulate_after, CB_RW_REGS, after);
		after = translate_insn(&r, blk, i, in);
		if (blk->slot[i].flags & F_INT3)
			int3 = new_site(blk, i, 1, &(struct insn){ 0 });
	}
	stale_note(tb, blk, int3);
}

static void free_blocks(struct block *blk)
{
	while (blk) {
		struct block *next = blk->next;

		g_free(blk);
		blk = next;
	}
}

static void free_sites(struct site_box *box)
{
	while (box) {
		struct site_box *next = box->next;

		g_free(box);
		box = next;
	}
}

/* The code cache is emptied, all vCPUs stopped. */
void translate_forget_all(void)
{
	for (int i = 0; i < vcpus_seen; i++) {
		board_of(&vcpus[i])->block = 0;
		vcpus[i].rep = NULL;
		vcpus[i].patch.site = NULL;
		ibs_forget(&vcpus[i]);
	}
	free_blocks(atomic_exchange(&all_blocks, NULL));
	free_sites(atomic_exchange(&all_sites, NULL));
}
