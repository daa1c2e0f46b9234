// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * apic.c - the kernel's accesses to the local APIC, as far as QEMU's APIC is not the
 * processor's: an LVTPC that is unmasked takes a while to be so (KNOB_OPEN_LATE), unless the
 * kernel waits for the write; and AMD's extended entries, 0x500 to 0x530 (ibs.c).
 *
 * The kernel's two functions that access the APIC in xAPIC mode are known by their
 * instructions: MOV of EAX from, or of ESI to, the address in RDI plus the APIC's page. QEMU
 * translates an access to a device once more, alone and with callbacks of memory only, and
 * calls those of a load before its register is written: what is read is changed at the start
 * of the next block.
 */
#include <string.h>

#include "vpmu.h"

#define LVTPC		0x340
#define LVT_MASKED	(1u << 16)
#define EILVT		0x500
#define ESR		0x280
#define ESR_ILLEGAL	(1u << 7)

static const uint8_t load_insn[] = { 0x8b, 0x87, 0x00, 0xd0, 0x5f, 0xff };
static const uint8_t store_insn[] = { 0x89, 0xb7, 0x00, 0xd0, 0x5f, 0xff };
static const uint8_t mfence_insn[] = { 0x0f, 0xae, 0xf0 };

static void access_lvtpc(struct vcpu *v, bool store)
{
	v->opening = store && !(reg_read(RSI) & LVT_MASKED);
	if (!v->opening)
		return;
	v->n_opened++;
	v->opened = retired_all(v, board_of(v));
}

static void access_extended(struct vcpu *v, uint32_t n, bool store)
{
	if (store) {
		v->eilvt[n] = reg_read(RSI);
		return;
	}
	v->eilvt_read = &v->eilvt[n];
	counter_arm(v, board_of(v), KERNEL);
}

/* QEMU's APIC takes each access to an extended entry for an error, and keeps it: the kernel would
 * not wake a CPU again. */
static void access_errors(struct vcpu *v, bool store)
{
	if (store)
		return;
	v->esr_read = true;
	counter_arm(v, board_of(v), KERNEL);
}

static void on_access(unsigned int index, uint32_t info, uint64_t addr, void *data)
{
	struct vcpu *v = vcpu_of(index);
	uint32_t off = addr & 0xfff;

	if (off == LVTPC)
		access_lvtpc(v, qemu_plugin_mem_is_store(info));
	else if (cfg.ibs && off - EILVT < 16 * EILVTS)
		access_extended(v, (off - EILVT) / 16, qemu_plugin_mem_is_store(info));
	else if (cfg.ibs && off == ESR)
		access_errors(v, qemu_plugin_mem_is_store(info));
}

/* What came before it is done. */
static void on_mfence(unsigned int index, void *data)
{
	vcpu_of(index)->opening = false;
}

void apic_watch_insn(struct qemu_plugin_insn *in, const uint8_t *bytes)
{
	if (!memcmp(bytes, load_insn, sizeof(load_insn)) ||
	    !memcmp(bytes, store_insn, sizeof(store_insn)))
		qemu_plugin_register_vcpu_mem_cb(in, on_access, CB_R_REGS, MEM_R | MEM_W, NULL);
	else if (!memcmp(bytes, mfence_insn, sizeof(mfence_insn)))
		qemu_plugin_register_vcpu_insn_exec_cb(in, on_mfence, CB_NO_REGS, NULL);
}

/* Has LVTPC been unmasked, but so shortly ago that the APIC is not aware of it? */
bool apic_opens_late(struct vcpu *v)
{
	uint64_t since = retired_all(v, board_of(v)) - v->opened;

	if (!v->opening || since >= v->knob[KNOB_OPEN_LATE])
		return false;
	v->n_open_late++;
	return true;
}

/* At a block's start. */
void apic_finish_load(struct vcpu *v)
{
	if (v->esr_read)
		reg_write(RAX, reg_read(RAX) & ~(uint64_t)ESR_ILLEGAL);
	else if (v->eilvt_read)
		reg_write(RAX, *v->eilvt_read);
	v->esr_read = false;
	v->eilvt_read = NULL;
}

void apic_reset(struct vcpu *v)
{
	v->opening = false;
	v->esr_read = false;
	for (int i = 0; i < EILVTS; i++)
		v->eilvt[i] = LVT_MASKED;
}
