/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_pmi.c - see kmod_pmi.h
 */
#include "kmod_pmi.h"

uint64_t overflows, unknown;
uint64_t samples, dropped[HWPMC_DROP__COUNT];

/* Each vCPU has its own. */
void knob(int which, uint64_t value)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(which, value);
	}
	dev_pin(getpid(), 0);
}

uint64_t access_count(int what)
{
	return vpmu_access(what, VPMU_ALL_VCPUS);
}

void owner_of_foreign_nmis(bool loaded)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), loaded ? "insmod build/vm/kmods/$(uname -r)/nmimod.ko" :
		 "rmmod nmimod");
	ck_assert_int_eq(system(cmd), 0);
}

void pmi_setup(void)
{
	/* A test that failed has left them as they were. */
	for (int i = 0; i < VPMU_KNOBS; i++)
		knob(i, 0);
	ck_assert_int_eq(system("! lsmod | grep -q ^nmimod || rmmod nmimod"), 0);
	kmod_setup();
	begin();
	unknown = dev_unknown_nmis();
	overflows = access_count(VPMU_N_OVERFLOW_INT);
}

/* Nothing samples any more: what there is of samples and of drops. */
uint64_t tally(void)
{
	for (int i = 0; i < VPMU_KNOBS; i++)
		knob(i, 0);
	look();
	samples = count(HWPMC_LOG_CALLCHAIN);
	memset(dropped, 0, sizeof(dropped));
	for (unsigned int i = 0; i < nrec; i++)
		for (int j = 0; j < HWPMC_DROP_FIXED; j++)
			if (rec[i].hdr->type == HWPMC_LOG_DROPNOTIFY)
				dropped[j] += rec[i].drop->samples[j];
	return samples + dropped[0] + dropped[1] + dropped[2] + dropped[3];
}

/* No interrupt came later than a period after its overflow. */
void check_conserved(void)
{
	uint64_t sum;

	overflows = access_count(VPMU_N_OVERFLOW_INT) - overflows;
	sum = tally();
	ck_assert_uint_gt(overflows, 0);
	ck_assert_msg(overflows == sum,
		      "%lu overflows, %lu samples, drops: %lu full, %lu late, %lu closed, %lu busy",
		      overflows, samples, dropped[0], dropped[1], dropped[2],
		      dropped[3]);
}

/* However late they came, if at all: each period that passed is accounted for. */
void check_periods(uint64_t periods)
{
	uint64_t sum = tally();

	ck_assert_uint_gt(periods, 0);
	ck_assert_msg(periods == sum,
		      "%lu periods, %lu samples, drops: %lu full, %lu late, %lu closed, %lu busy",
		      periods, samples, dropped[0], dropped[1], dropped[2],
		      dropped[3]);
}

void check_no_unknown_nmi(void)
{
	ck_assert_uint_eq(dev_unknown_nmis() - unknown, 0);
}

/* How a test ends: registers clear, and a count is exact. */
void all_is_well(void)
{
	hwpmc_close(h);
	dev_still_counts();
}

void expect_unknown_nmis(void)
{
	dev_expect("NMI received for unknown reason\nDazed and confused");
}

unsigned int inject_unclaimed(unsigned int nmis)
{
	unsigned int before = dev_unknown_nmis();
	uint64_t storm = vpmu_access(VPMU_N_STORM, 0);

	vpmu_knob(VPMU_KNOB_STORM_LEFT, nmis);
	vpmu_knob(VPMU_KNOB_STORM, 100003);
	while (vpmu_access(VPMU_N_STORM, 0) - storm < nmis)
		dev_spin(10000);
	return dev_unknown_nmis() - before;
}

unsigned int inject_apart(unsigned int nmis, uint64_t after)
{
	unsigned int before = dev_unknown_nmis();

	for (unsigned int i = 0; i < nmis; i++) {
		uint64_t storm = vpmu_access(VPMU_N_STORM, 0), pmi = vpmu_access(VPMU_N_PMI, 0);

		while (vpmu_access(VPMU_N_PMI, 0) == pmi)
			dev_spin(100);
		vpmu_knob(VPMU_KNOB_STORM_LEFT, 1);
		vpmu_knob(VPMU_KNOB_STORM, after);
		while (vpmu_access(VPMU_N_STORM, 0) == storm)
			dev_spin(100);
	}
	return dev_unknown_nmis() - before;
}
