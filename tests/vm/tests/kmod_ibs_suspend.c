// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_ibs_suspend.c - the machine sleeps while class IBS samples, and its registers lose all
 * (tests/vm/kmods/suspendmod.c): samples go on after each resume, and are those that the emulated
 * PMU says that it took; no NMI is unknown, and nothing is left running.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "../lib/kmod_ibs_log.h"

#define NOW		"/sys/module/suspendmod/parameters/now"
#define NAPS		20
#define FETCH_CTL	0
#define OP_CTL		3
#define FETCH_EN	BIT(48)
#define OP_EN		BIT(17)

static bool runs(void)
{
	return vpmu_ibs(VPMU_IBS_REG + FETCH_CTL, 0) & FETCH_EN ||
	       vpmu_ibs(VPMU_IBS_REG + OP_CTL, 0) & OP_EN;
}

static void check_off(void)
{
	ck_assert(!runs());
	dev_check_registers_clear();
	dev_still_counts();
}

/* In a child. Each of both samplers takes samples between two naps. */
static void work_and_nap(void *unused)
{
	for (int i = 0; i < NAPS; i++) {
		uint64_t ops = vpmu_ibs(VPMU_IBS_OP, 0), fetches = vpmu_ibs(VPMU_IBS_FETCH, 0);

		work((void *)30);
		if (vpmu_ibs(VPMU_IBS_OP, 0) < ops + 20 ||
		    vpmu_ibs(VPMU_IBS_FETCH, 0) < fetches + 20)
			_exit(1);
		dev_put(NOW, "1");
	}
}

/* cpu: 0, or ANY for the child that works. */
static void sample_through_naps(uint32_t cpu)
{
	struct child c = dev_child(work_and_nap, NULL);
	struct session s;
	uint32_t id[3];

	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, cpu, ALL, 0, 0, 15013, &id[0]));
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_FETCH, cpu, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0, 0, 5003,
			    &id[1]));
	id[2] = allocate(&s, "instructions:u", cpu == ANY ? HWPMC_MODE_TS : HWPMC_MODE_SS, 0, cpu,
			 20011);
	fetch_row = HWPMC_ID_ROW(id[1]);
	plain_rows = BIT(HWPMC_ID_ROW(id[2]));
	for (int i = 0; i < 3 && cpu == ANY; i++)
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
	note_oracle();
	for (int i = 0; i < 3; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	dev_go(&c);
	dev_wait(&c);
	for (int i = 0; i < 3; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	end_ibs(&s);
	printf("# %llu ops, %llu fetches, %llu of a counter, %llu drops\n",
	       (unsigned long long)seen[VPMU_IBS_OP], (unsigned long long)seen[VPMU_IBS_FETCH],
	       (unsigned long long)plain, (unsigned long long)all_drops(&s));
	check_number(&s, seen[VPMU_IBS_OP] + seen[VPMU_IBS_FETCH] + plain,
		     oracle[VPMU_IBS_OP] + oracle[VPMU_IBS_FETCH] + s.overflows);
	ck_assert_uint_eq(all_drops(&s), s.t.dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_le(all_drops(&s), 3 * NAPS);
	check_sums(&s);
	end(&s);
	check_off();
}

START_TEST(ibs_samples_of_a_cpu_go_on_after_a_suspend)
{
	sample_through_naps(0);
}
END_TEST

START_TEST(ibs_samples_of_a_process_go_on_after_a_suspend)
{
	sample_through_naps(ANY);
}
END_TEST

/* With NMIs that arrive after the sampler was disabled, before the machine sleeps. */
START_TEST(ibs_nmis_of_before_a_suspend_are_not_unknown)
{
	set_knob(VPMU_KNOB_IBS_LATE, 60);
	sample_through_naps(0);
	sample_through_naps(ANY);
	set_knob(VPMU_KNOB_IBS_LATE, 0);
}
END_TEST

int main(void)
{
	dev_setup();
	if (access(NOW, F_OK) && system("insmod build/vm/kmods/$(uname -r)/suspendmod.ko")) {
		printf("Bail out! cannot load the module that suspends\n");
		return 1;
	}
	harness_fixture(ibs_setup, NULL);
	harness_add(ibs_samples_of_a_cpu_go_on_after_a_suspend);
	harness_add(ibs_samples_of_a_process_go_on_after_a_suspend);
	harness_add(ibs_nmis_of_before_a_suspend_are_not_unknown);
	return harness_run();
}
