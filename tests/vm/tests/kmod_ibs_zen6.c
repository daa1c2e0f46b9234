// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_ibs_zen6.c - class IBS with the second control registers of Zen 6: the hardware filters
 * modes, latencies of fetches and streaming stores, and a sampler that they disable is free.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "../lib/kmod_ibs_log.h"

#define MSR_OP_CTL	0xc0011033
#define MSR_OP_CTL2	0xc001103e
#define OP_EN		BIT(17)
#define OP_OPS		BIT(19)
#define DIS		BIT(0)
#define STREAM		BIT(3)
#define DATA2_STREAM	BIT(8)

static uint64_t streams, slow;

static void look_at_words_too(const struct hwpmc_record *r)
{
	uint64_t word;

	look(r);
	if (r->hdr->type != HWPMC_LOG_PRECISE)
		return;
	if (r->hdr->flags == HWPMC_PRECISE_IBS_FETCH)
		slow += hwpmc_precise_word(r->precise, HWPMC_IBS_FETCH_CTL, &word) &&
			(word >> 32 & 0xffff) >= 256;
	else
		streams += hwpmc_precise_word(r->precise, HWPMC_IBS_OP_DATA2, &word) &&
			   word & DATA2_STREAM;
}

static void wander(void *arg)
{
	for (int i = 0; i < 20; i++) {
		dev_pin(0, i % dev_cpus());
		work((void *)4);
	}
}

/* Of a child on all CPUs: its ops or fetches, all words, `config1` in the second register. */
static void sample(struct session *s, uint32_t ev, uint64_t config1, uint32_t modes)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IBS, .ev = ev, .cpu = ANY, .caps = modes,
		.mode = HWPMC_MODE_TS, .config = ev == HWPMC_EV_IBS_OP ? OP_OPS : 0,
		.config1 = config1, .count = 1499,
		.flags = HWPMC_F_EV_PMU | HWPMC_F_EXACT | HWPMC_F_MEMORY |
			 (ev == HWPMC_EV_IBS_OP ? HWPMC_F_BRANCHES : 0),
	};
	struct child c = dev_child(wander, NULL);

	begin_ibs(s);
	s->look = look_at_words_too;
	streams = 0;
	slow = 0;
	ok(s, hwpmc_allocate_raw(s->h, &op));
	fetch_row = ev == HWPMC_EV_IBS_FETCH ? HWPMC_ID_ROW(op.pmcid) : 0;
	ok(s, hwpmc_attach(s->h, op.pmcid, c.pid));
	note_oracle();
	ok(s, hwpmc_start(s->h, op.pmcid));
	dev_go(&c);
	dev_wait(&c);
	ok(s, hwpmc_stop(s->h, op.pmcid));
	end_ibs(s);
	ck_assert_uint_eq(s->t.dropped[HWPMC_DROP_FILTERED], 0);
}

static void check_fetches(struct session *s)
{
	printf("# %llu fetches, %llu passed over\n", (unsigned long long)seen[VPMU_IBS_FETCH],
	       (unsigned long long)oracle[VPMU_IBS_FETCH_FILTERED]);
	check_number(s, seen[VPMU_IBS_FETCH], oracle[VPMU_IBS_FETCH]);
	ck_assert_uint_gt(seen[VPMU_IBS_FETCH], 50);
	ck_assert_uint_gt(oracle[VPMU_IBS_FETCH_FILTERED], 50);
}

START_TEST(ibs_modes_of_ops_are_filtered_by_zen_6)
{
	struct session s;

	sample(&s, HWPMC_EV_IBS_OP, 0, HWPMC_CAP_USER);
	check_ops(&s, 0);
	check_sums(&s);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], seen[VPMU_IBS_OP]);
	ck_assert_uint_gt(oracle[VPMU_IBS_OP_FILTERED], 50);
	end(&s);
	sample(&s, HWPMC_EV_IBS_OP, 0, HWPMC_CAP_SYSTEM);
	check_ops(&s, 0);
	check_sums(&s);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], 0);
	ck_assert_uint_gt(oracle[VPMU_IBS_OP_FILTERED], 50);
	end(&s);
}
END_TEST

START_TEST(ibs_modes_of_fetches_are_filtered_by_zen_6)
{
	struct session s;

	sample(&s, HWPMC_EV_IBS_FETCH, 0, HWPMC_CAP_USER);
	check_fetches(&s);
	ck_assert_uint_eq(seen[VPMU_IBS_FETCH_USER], seen[VPMU_IBS_FETCH]);
	end(&s);
	sample(&s, HWPMC_EV_IBS_FETCH, 0, HWPMC_CAP_SYSTEM);
	check_fetches(&s);
	ck_assert_uint_eq(seen[VPMU_IBS_FETCH_USER], 0);
	end(&s);
}
END_TEST

START_TEST(ibs_streaming_stores_and_slow_fetches_are_sampled_alone)
{
	struct session s;

	sample(&s, HWPMC_EV_IBS_OP, STREAM, 0);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	printf("# %llu streaming stores\n", (unsigned long long)streams);
	ck_assert_uint_eq(streams, seen[VPMU_IBS_OP]);
	ck_assert_uint_gt(streams, 10);
	end(&s);
	sample(&s, HWPMC_EV_IBS_FETCH, 2 << 1, 0);
	check_fetches(&s);
	ck_assert_uint_eq(slow, seen[VPMU_IBS_FETCH]);
	end(&s);
}
END_TEST

/* A stop disables by the second register, so that the first one holds what it had. */
START_TEST(ibs_ops_of_both_modes_equal_the_oracle_on_zen_6)
{
	struct session s;

	sample(&s, HWPMC_EV_IBS_OP, 0, 0);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
	ck_assert_uint_eq(dev_rdmsr(0, MSR_OP_CTL2), 0);
}
END_TEST

/* Newer kernels leave the enable bit of perf's last event set. */
START_TEST(ibs_sampler_that_is_disabled_by_its_second_register_is_free)
{
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	dev_wrmsr(1, MSR_OP_CTL2, DIS);
	dev_wrmsr(1, MSR_OP_CTL, OP_EN);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 1499, &id));
	ok(&s, hwpmc_release(s.h, id));
	dev_wrmsr(1, MSR_OP_CTL2, 0);
	dev_wrmsr(1, MSR_OP_CTL, OP_EN);
	ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 1499, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_IBS_IN_USE);
	dev_wrmsr(1, MSR_OP_CTL, 0);
	end(&s);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(ibs_setup, NULL);
	harness_add(ibs_modes_of_ops_are_filtered_by_zen_6);
	harness_add(ibs_modes_of_fetches_are_filtered_by_zen_6);
	harness_add(ibs_streaming_stores_and_slow_fetches_are_sampled_alone);
	harness_add(ibs_ops_of_both_modes_equal_the_oracle_on_zen_6);
	harness_add(ibs_sampler_that_is_disabled_by_its_second_register_is_free);
	return harness_run();
}
