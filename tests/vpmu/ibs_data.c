// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs_data.c - what QEMU has no notion of: where data came from, how long that took, what was
 * predicted wrong. All of it follows from one number for each op or fetch, so a run can be
 * repeated and a test can ask for the same. Pure.
 */
#include "ibs.h"

/* The nth number of this seed. */
uint64_t ibs_dice(uint64_t seed, uint64_t n)
{
	uint64_t x = (seed << 40 ^ n) + 0x9e3779b97f4a7c15ULL * (n + 1);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Levels of 16 loads: ten hit L1, three L2, two L3, and one comes from memory. */
enum { L1 = 0, L2 = 10, L3 = 13, MEMORY = 15 };

static unsigned int bits(uint64_t dice, int from, int n)
{
	return dice >> from & ((1u << n) - 1);
}

static unsigned int latency_of(unsigned int level, uint64_t dice)
{
	if (level >= MEMORY)
		return 150 + bits(dice, 8, 11);
	if (level >= L3)
		return 40 + bits(dice, 8, 6);
	return 12 + bits(dice, 8, 3);
}

static uint64_t source_of(unsigned int level, uint64_t dice, uint32_t caps)
{
	uint64_t data2;

	if (level >= MEMORY)
		return 3 | (bits(dice, 19, 1) ? DATA2_REMOTE : 0);
	data2 = caps & CAP_ZEN4 ? 1 + bits(dice, 19, 1) : 2;
	return data2 | (bits(dice, 20, 1) ? DATA2_HIT_STATE : 0);
}

static void load_missed(unsigned int level, uint64_t dice, uint32_t caps, bool zen,
			struct ibs_words *w)
{
	w->latency = latency_of(level, dice);
	w->l3_miss = level >= MEMORY;
	w->data3 |= DATA3_MISS | (uint64_t)w->latency << DATA3_LAT_SHIFT;
	if (zen)
		w->data3 |= (uint64_t)(1 + bits(dice, 21, 4)) << DATA3_OPEN_SHIFT;
	if (!bits(dice, 25, 3))
		w->data3 |= DATA3_NO_MAB;
	if (level < L3)
		return;
	if (zen)
		w->data3 |= DATA3_L2_MISS;
	w->data2 = source_of(level, dice, caps);
}

static void tlb(uint64_t dice, struct ibs_words *w)
{
	unsigned int one = bits(dice, 28, 4);

	if (one < 2)
		w->data3 |= DATA3_L1_TLB;
	if (one == 0)
		w->data3 |= DATA3_L2_TLB | (uint64_t)(20 + bits(dice, 32, 6)) << DATA3_TLB_SHIFT;
}

static void memory_words(const struct ibs_facts *f, uint64_t dice, uint32_t caps, bool zen,
			 struct ibs_words *w)
{
	unsigned int level = f->io ? (unsigned int)MEMORY : bits(dice, 0, 4);

	w->data3 = (f->load ? DATA3_LOAD : 0) | (f->store ? DATA3_STORE : 0) |
		   (f->has_lin ? DATA3_LIN_OK : 0) | (f->has_phys ? DATA3_PHYS_OK : 0) |
		   (f->io ? DATA3_UC : 0);
	if (zen)
		w->data3 |= (uint64_t)(f->width + 1) << DATA3_WIDTH_SHIFT;
	if (f->lin & ((1ULL << f->width) - 1))
		w->data3 |= DATA3_MISALIGN;
	tlb(dice, w);
	if (f->load && level >= L2)
		load_missed(level, dice, caps, zen, w);
	else if (level >= L2)
		w->data3 |= DATA3_MISS;
	if (f->store && !f->load && caps & CAP_STREAM && !bits(dice, 50, 3))
		w->data2 |= DATA2_STREAM;
}

/* zen: family 17h and later. */
void ibs_op_words(const struct ibs_facts *f, uint64_t dice, uint32_t caps, bool zen,
		  struct ibs_words *w)
{
	unsigned int to_retire = 1 + bits(dice, 40, 6);

	*w = (struct ibs_words){ 0 };
	if (f->load || f->store)
		memory_words(f, dice, caps, zen, w);
	w->data = to_retire | (uint64_t)(to_retire + 5 + w->latency) << 16;
	if (f->microcode && zen)
		w->data |= DATA_MICROCODE;
	if (!f->branch)
		return;
	w->data |= DATA_BRANCH | (f->taken ? DATA_TAKEN : 0) | (f->ret ? DATA_RETURN : 0) |
		   (bits(dice, 46, 4) ? 0 : DATA_MISPRED);
}

/* both: load latency filters only together with L3MissOnly, as on Zen 5. */
bool ibs_op_passes(uint64_t ctl, const struct ibs_words *w, uint32_t caps, bool both)
{
	bool l3 = caps & CAP_ZEN4 && ctl & OP_L3_ONLY;
	unsigned int least = ((ctl & OP_LAT) >> OP_LAT_SHIFT) * 128 + 128;

	if (l3 && !w->l3_miss)
		return false;
	if (!(caps & CAP_LDLAT) || !(ctl & OP_LAT_EN) || (both && !l3))
		return true;
	return w->latency >= least;
}

/* ctl2: 0 where the model has none. */
bool ibs_op_passes2(uint64_t ctl2, const struct ibs_words *w, uint64_t rip)
{
	if (ctl2 & (rip >> 63 ? OP2_NO_KERNEL : OP2_NO_USER))
		return false;
	return !(ctl2 & OP2_STREAM) || w->data2 & DATA2_STREAM;
}

/* Bits of FETCH_CTL; of 16 fetches three miss L1, two of them L2, one of these L3. */
uint64_t ibs_fetch_result(uint64_t dice, uint32_t caps, uint64_t *extd)
{
	unsigned int level = bits(dice, 0, 4), one = bits(dice, 28, 4);
	uint64_t latency = 4 + bits(dice, 8, caps & CAP_FETCHLAT ? 9 : 7);
	uint64_t x = FETCH_COMP | latency << FETCH_LAT_SHIFT;

	*extd = 0;
	if (level >= 13)
		x |= FETCH_IC_MISS;
	if (level >= 14)
		x |= FETCH_L2_MISS;
	if (level >= 15 && caps & CAP_ZEN4)
		x |= FETCH_L3_MISS;
	if (one < 2)
		x |= FETCH_L1_TLB;
	if (!one) {
		x |= FETCH_L2_TLB;
		*extd = 20 + bits(dice, 32, 6);
	}
	return x;
}

bool ibs_fetch_passes(uint64_t ctl, uint64_t result)
{
	return !(ctl & FETCH_L3_ONLY) || result & FETCH_L3_MISS;
}

bool ibs_fetch_passes2(uint64_t ctl2, uint64_t result, uint64_t lin)
{
	uint64_t least = ((ctl2 & FETCH2_LAT) >> FETCH2_LAT_SHIFT) * 128;

	return !(ctl2 & (lin >> 63 ? FETCH2_NO_KERNEL : FETCH2_NO_USER)) &&
	       (result >> FETCH_LAT_SHIFT & 0xffff) >= least;
}
