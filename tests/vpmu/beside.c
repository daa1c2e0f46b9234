// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * beside.c - registers beside the counters, which change what those do: DEBUGCTL freezes all of
 * them at an interrupt, on AMD from version 2 on as well; PEBS_ENABLE has an overflow write a record instead
 * of interrupting, TSX_FORCE_ABORT gives counter 3 back from microcode. The others keep
 * what is written.
 */
#include "vpmu.h"

static const uint32_t numbers[BESIDE] = {
	[BESIDE_DEBUGCTL] = 0x1d9,
	[BESIDE_PEBS_ENABLE] = 0x3f1,
	[BESIDE_DS_AREA] = 0x600,
	[BESIDE_FORCE_ABORT] = 0x10f,
	[BESIDE_RSP0] = 0x1a6,
	[BESIDE_RSP1] = 0x1a7,
	[BESIDE_FRONTEND] = 0x3f7,
	[BESIDE_SNOOP0] = 0x1328,
	[BESIDE_SNOOP1] = 0x1329,
};

static int place_of(uint32_t msr)
{
	if (cfg.p4)
		return -1;
	if (cfg.amd)
		return cfg.version >= 2 && msr == numbers[BESIDE_DEBUGCTL] ? BESIDE_DEBUGCTL : -1;
	for (int i = 0; i < BESIDE; i++)
		if (numbers[i] == msr)
			return i;
	return -1;
}

enum access beside_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	int i = place_of(msr);

	if (i < 0)
		return NATIVE;
	*x = v->beside[i];
	return DONE;
}

enum access beside_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	int i = place_of(msr);

	if (i < 0)
		return NATIVE;
	v->beside[i] = x;
	return DONE;
}

#define DEBUGCTL_FREEZE	(1u << 12)
#define STATUS_FROZEN	(1ULL << 59)

/* An interrupt is delivered. */
void beside_freeze(struct vcpu *v)
{
	if (cfg.p4 || !(v->beside[BESIDE_DEBUGCTL] & DEBUGCTL_FREEZE))
		return;
	if (cfg.version >= 4 || cfg.amd)
		v->global_status |= STATUS_FROZEN;
	else if (cfg.version >= 2)
		v->global_ctrl = 0;
	counter_reconfigure(v, board_of(v));
}

/* Do all counters stand still since one interrupted? */
bool beside_is_frozen(const struct vcpu *v)
{
	return (cfg.amd || cfg.version >= 4) && v->global_status & STATUS_FROZEN;
}

/* Does an overflow of this counter make a record, and no interrupt? */
bool beside_has_record(const struct vcpu *v, int i)
{
	return !cfg.amd && !cfg.p4 && v->beside[BESIDE_PEBS_ENABLE] >> (i >= FIXED0 ?
		32 + i - FIXED0 : i) & 1;
}

/* Microcode counts something of its own there. */
bool beside_is_withheld(const struct vcpu *v, int i)
{
	return cfg.tfa && i == 3 && !(v->beside[BESIDE_FORCE_ABORT] & 1);
}
