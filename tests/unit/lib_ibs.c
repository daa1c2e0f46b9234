/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_ibs.c - specifications of events of AMD's instruction-based sampling: FreeBSD's and perf's
 * forms, to the exact fields of the request; and each error, to its place and its words.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "lib_machines.h"
#include "lib_wants.h"

#define OP		HWPMC_EV_IBS_OP
#define FETCH		HWPMC_EV_IBS_FETCH
#define OPS		0x80000ull
#define L3		0x10000ull
#define LATENCY(n)	(1ull << 63 | (uint64_t)(n) << 59)
#define RANDOM		(1ull << 57)
#define FETCH_L3	(1ull << 59)
#define MEMORY		HWPMC_F_MEMORY
#define BRANCHES	HWPMC_F_BRANCHES

struct ibs_want {
	const char *spec;
	uint32_t ev, caps, payload;	/* payload: beside HWPMC_F_EXACT */
	uint64_t config;
};

static void all_become_ibs(const struct ibs_want *want, size_t n)
{
	struct event_machine m = machine_with_ibs();
	struct hwpmc_event ev;
	struct event_error e;

	for (size_t i = 0; i < n; i++) {
		const struct hwpmc_event_code *code = &ev.code[0];

		ck_assert_msg(!event_parse(&m, want[i].spec, &ev, &e),
			      "'%s' was refused: %s", want[i].spec, e.text);
		ck_assert_msg(ev.ncode == 1 && code->class_id == HWPMC_CLASS_IBS &&
			      code->ev == want[i].ev && code->caps == want[i].caps &&
			      code->flags == (HWPMC_F_EV_PMU | HWPMC_F_EXACT | want[i].payload) &&
			      code->config == want[i].config && !code->config1,
			      "'%s': %u codes, class %u event 0x%x caps 0x%x flags 0x%x "
			      "config 0x%llx", want[i].spec, ev.ncode, code->class_id, code->ev,
			      code->caps, code->flags, (unsigned long long)code->config);
	}
}

#define ALL_IBS(table) all_become_ibs(table, sizeof(table) / sizeof((table)[0]))

START_TEST(ibs_qualifiers_of_second_control_registers_have_their_bits)
{
	static const struct { const char *spec; uint64_t config, config1; } want[] = {
		{ "ibs-op,streamstore", OPS, 8 },
		{ "ibs_op/cnt_ctl=1,streamstore/u", OPS, 8 },
		{ "ibs-fetch,fetchlat=128", RANDOM, 2 },
		{ "ibs_fetch/fetchlat=1920,l3missonly=1/", RANDOM | FETCH_L3, 30 },
	};
	struct event_machine m = machine_with_ibs();
	struct hwpmc_event ev;
	struct event_error e;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_msg(!event_parse(&m, want[i].spec, &ev, &e), "%s", e.text);
		ck_assert_uint_eq(ev.code[0].config, want[i].config);
		ck_assert_uint_eq(ev.code[0].config1, want[i].config1);
	}
}
END_TEST

START_TEST(ibs_op_has_a_bit_for_each_qualifier)
{
	static const struct ibs_want want[] = {
		{ "ibs-op", OP, 0, 0, OPS },
		{ "IBS_OP", OP, 0, 0, OPS },
		{ "ibs.op:u", OP, USR, 0, OPS },
		{ "ibs-op,usr", OP, USR, 0, OPS },
		{ "ibs-op,os", OP, OS, 0, OPS },
		{ "ibs-op:uk", OP, USR | OS, 0, OPS },
		{ "ibs-op,opcount", OP, 0, 0, OPS },
		{ "ibs-op,cycles", OP, 0, 0, 0 },
		{ "ibs-op,cycles=1", OP, 0, 0, 0 },
		{ "ibs-op,l3miss", OP, 0, 0, OPS | L3 },
		{ "ibs-op,ldlat=128", OP, 0, 0, OPS | LATENCY(0) },
		{ "ibs-op,ldlat=256", OP, 0, 0, OPS | LATENCY(1) },
		{ "ibs-op,ldlat=0x800", OP, 0, 0, OPS | LATENCY(15) },
		{ "ibs-op,data", OP, 0, MEMORY, OPS },
		{ "ibs-op,target", OP, 0, BRANCHES, OPS },
		{ "ibs-op:u,cycles,l3miss,ldlat=384,data,target", OP, USR, MEMORY | BRANCHES,
		  L3 | LATENCY(2) },
	};

	ALL_IBS(want);
}
END_TEST

START_TEST(ibs_fetch_is_random_and_has_a_bit_for_each_qualifier)
{
	static const struct ibs_want want[] = {
		{ "ibs-fetch", FETCH, 0, 0, RANDOM },
		{ "ibs-fetch,randomize", FETCH, 0, 0, RANDOM },
		{ "ibs-fetch:k", FETCH, OS, 0, RANDOM },
		{ "ibs-fetch,l3miss", FETCH, 0, 0, RANDOM | FETCH_L3 },
		{ "ibs-fetch,data", FETCH, 0, MEMORY, RANDOM },
		{ "IBS-FETCH,usr,os,l3miss,randomize,data", FETCH, USR | OS, MEMORY,
		  RANDOM | FETCH_L3 },
	};

	ALL_IBS(want);
}
END_TEST

START_TEST(ibs_forms_of_perf_count_cycles_unless_they_count_ops)
{
	static const struct ibs_want want[] = {
		{ "ibs_op//", OP, 0, 0, 0 },
		{ "ibs_op//u", OP, USR, 0, 0 },
		{ "ibs_op/cnt_ctl=0/", OP, 0, 0, 0 },
		{ "ibs_op/cnt_ctl=1/", OP, 0, 0, OPS },
		{ "IBS_OP/cnt_ctl=1/:k", OP, OS, 0, OPS },
		{ "ibs_op/opcount/", OP, 0, 0, OPS },
		{ "ibs_op/cnt_ctl=1,ldlat=256/u", OP, USR, 0, OPS | LATENCY(1) },
		{ "ibs_op/l3missonly=1/", OP, 0, 0, L3 },
		{ "ibs_op/cnt_ctl=1,data,target/", OP, 0, MEMORY | BRANCHES, OPS },
		{ "ibs_op/cnt_ctl=1/,data", OP, 0, MEMORY, OPS },
		{ "ibs_fetch//", FETCH, 0, 0, RANDOM },
		{ "ibs_fetch/rand_en=1/", FETCH, 0, 0, RANDOM },
		{ "ibs_fetch/rand_en=1,l3missonly=1/u", FETCH, USR, 0, RANDOM | FETCH_L3 },
		{ "ibs_fetch/data/", FETCH, 0, MEMORY, RANDOM },
	};

	ALL_IBS(want);
}
END_TEST

START_TEST(precise_modifiers_of_perf_mean_ibs_op_on_amd)
{
	static const struct ibs_want want[] = {
		{ "cycles:p", OP, 0, 0, 0 },
		{ "cycles:pp", OP, 0, 0, 0 },
		{ "cycles:P", OP, 0, 0, 0 },
		{ "cycles:ppu", OP, USR, 0, 0 },
		{ "cycles:up", OP, USR, 0, 0 },
		{ "cycles:u:p", OP, USR, 0, 0 },
		{ "cycles:Pk", OP, OS, 0, 0 },
		{ "cpu-cycles:p", OP, 0, 0, 0 },
		{ "cycles:p,data,l3miss", OP, 0, MEMORY, L3 },
		{ "r076:p", OP, 0, 0, 0 },
		{ "r76:pu", OP, USR, 0, 0 },
		{ "r0c1:p", OP, 0, 0, OPS },
		{ "0xc1:p", OP, 0, 0, OPS },
		{ "ibs-op:p", OP, 0, 0, OPS },
		{ "ibs-fetch:pu", FETCH, USR, 0, RANDOM },
	};

	ALL_IBS(want);
}
END_TEST

START_TEST(ibs_machine_counts_other_events_on_its_counters)
{
	static const struct want want[] = {
		{ "cycles", 0, 0x76, 0 },
		{ "cycles:u", 0, 0x76, USR },
		{ "r0c1", 0, 0xc1, 0 },
		{ "cpu/event=0x76/", 0, 0x76, 0 },
	};
	struct event_machine m = machine_with_ibs();

	ALL(&m, want);
}
END_TEST

START_TEST(ibs_errors_are_refused_where_they_are)
{
	static const struct refusal refusals[] = {
		{ "ibs-op,ldlat", EINVAL, 13, "'ldlat' needs a value" },
		{ "ibs-op,ldlat=100", EINVAL, 1, "ldlat=100 is not a multiple of 128 from 128 to 2048" },
		{ "ibs-op,ldlat=200", EINVAL, 1, "ldlat=200 is not a multiple" },
		{ "ibs-op,ldlat=0", EINVAL, 1, "ldlat=0 is not a multiple" },
		{ "ibs-op,ldlat=2176", EINVAL, 1, "ldlat=2176 is not a multiple" },
		{ "ibs-op,ldlat=0x10000", EINVAL, 14, "from 0 to 0xffff" },
		{ "ibs-op,ldlat=128,ldlat=256", EINVAL, 24, "given twice" },
		{ "ibs-op,ldlt=256", EINVAL, 8, "perhaps 'ldlat'" },
		{ "ibs-op,opcount,cycles", EINVAL, 1, "only one of opcount and cycles" },
		{ "ibs-op,data=2", EINVAL, 13, "takes no value" },
		{ "ibs-op,randomize", EINVAL, 1, "'ibs-op' takes no qualifiers except usr os l3miss "
		  "data ldlat= opcount cycles target streamstore" },
		{ "ibs-op,edge", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-op,cmask=1", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-op:foo", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-op,mask=foo", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-op:G", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-fetch,streamstore", EINVAL, 1, "randomize fetchlat=" },
		{ "ibs-op,fetchlat=128", EINVAL, 1, "cycles target streamstore" },
		{ "ibs-fetch,fetchlat=100", EINVAL, 1, "fetchlat=100 is not a multiple of 128 from 128 to "
		  "1920" },
		{ "ibs-fetch,fetchlat=2048", EINVAL, 1, "from 128 to 1920" },
		{ "ibs-fetch,ldlat=128", EINVAL, 1, "'ibs-fetch' takes no qualifiers except usr os "
		  "l3miss data randomize" },
		{ "ibs-fetch,target", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-fetch,opcount", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs-fetch,cycles", EINVAL, 1, "takes no qualifiers except" },
		{ "ibs_op/cnt_ctl=1", EINVAL, 17, "expected '/' at the end of the terms" },
		{ "ibs_op/foo/", EINVAL, 8, "unknown term 'foo', expected one of cnt_ctl= "
		  "l3missonly= ldlat= fetchlat= streamstore rand_en= data target" },
		{ "ibs_op/event=1/", EINVAL, 8, "unknown term 'event'" },
		{ "ibs_op/cnt_ctl=2/", EINVAL, 16, "takes no value" },
		{ "ibs_op/rand_en=1/", EINVAL, 1, "'ibs_op' takes no qualifiers except" },
		{ "ibs_fetch/cnt_ctl=1/u", EINVAL, 1, "'ibs_fetch' takes no qualifiers except" },
		{ "ibs_fetch/rand_en=0/", EINVAL, 19, "fetches are always counted from a random "
		  "start: remove 'rand_en=0'" },
		{ "ibs-fetch,randomize=0", EINVAL, 21, "remove 'randomize=0'" },
		{ "ibs_op//p", EINVAL, 9, "expected u, k or uk after the slash" },
		{ "ibs-op/cnt_ctl=1/", EINVAL, 1, "expected cpu/" },
		{ "ibs-foo", ENOENT, 1, "no event 'ibs-foo'" },
	};
	struct event_machine m = machine_with_ibs();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(precise_events_that_ibs_cannot_count_are_refused)
{
	static const struct refusal refusals[] = {
		{ "instructions:p", EINVAL, 14, "only cycles can be precise on AMD (by ibs-op): "
		  "remove the p, or use ibs-op" },
		{ "k8-cycles:pu", EINVAL, 11, "only cycles" },
		{ "tsc:p", EINVAL, 5, "only cycles" },
		{ "r0c0:p", EINVAL, 6, "only cycles" },
		{ "r1c1:p", EINVAL, 6, "only cycles" },
		{ "amd64_fam19h_zen4::cycles:p", EINVAL, 27, "only cycles" },
		{ "cycles:p,edge", EINVAL, 1, "'cycles' takes no qualifiers except" },
		{ "cycles:p,randomize", EINVAL, 1, "'cycles' takes no qualifiers except" },
		{ "r076:p,cmask=1", EINVAL, 1, "'ibs_op' takes no qualifiers except" },
		{ "cycles:ph", EINVAL, 8, "modifier 'ph' is not supported, expected u, k or uk" },
		{ "cycles:pppppppp", EINVAL, 8, "too long" },
	};
	struct event_machine m = machine_with_ibs();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(ibs_qualifiers_of_other_events_are_refused)
{
	static const struct refusal refusals[] = {
		{ "instructions,data", EINVAL, 1, "only ibs-op and ibs-fetch take ldlat= l3miss "
		  "opcount cycles randomize data target" },
		{ "cycles,ldlat=256", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "cycles:u,target", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "tsc,l3miss", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "soft-clock.hard,opcount", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "cycles,cycles", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "instructions,randomize", EINVAL, 1, "only ibs-op and ibs-fetch" },
		/* Raw codes have no names that they could follow. */
		{ "r0c1,ldlat=256", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "0xc1,data", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "cpu/event=0xc1/,l3miss", EINVAL, 1, "only ibs-op and ibs-fetch" },
		{ "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS,data", EINVAL, 20,
		  "only ibs-op and ibs-fetch" },
	};
	struct event_machine amd = machine_with_ibs(), intel = machine_skylake();

	ALL_REFUSED(&amd, refusals);
	all_refused(&intel, refusals, 10);
}
END_TEST

START_TEST(ibs_names_of_libpfm4_are_not_those_of_the_class)
{
	static const struct refusal refusals[] = {
		{ "amd64_fam19h_zen4::ibs-op", ENOENT, 20, "no event 'ibs_op'" },
		{ "amd64_fam19h_zen4::ibs-op:p", EINVAL, 27, "only cycles" },
	};
	struct event_machine m = machine_with_ibs();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(ibs_events_without_the_class_have_the_modules_reason)
{
	static const struct refusal with_reason[] = {
		{ "ibs-op", ENOENT, 1, "this machine has no counters of class IBS: the firmware has "
		  "assigned no interrupt to instruction-based sampling" },
		{ "ibs_fetch/rand_en=1/u", ENOENT, 1, "no counters of class IBS: the firmware" },
		{ "ibs-op:p", ENOENT, 1, "no counters of class IBS: the firmware" },
		{ "cycles:p", EINVAL, 8, "modifier 'p' is not supported, expected u, k or uk: no "
		  "event is precise here" },
		{ "r076:pu", EINVAL, 6, "modifier 'pu' is not supported" },
	};
	static const struct refusal without[] = {
		{ "ibs-op,data", ENOENT, 1, "no counters of class IBS" },
		{ "ibs_op//", ENOENT, 1, "no counters of class IBS" },
		{ "cycles:upp", EINVAL, 8, "modifier 'upp' is not supported, expected u, k or uk: "
		  "no event is precise here" },
		{ "instructions:P", EINVAL, 14, "no event is precise here" },
	};
	struct event_machine amd = machine_zen_4(), intel = machine_skylake();
	struct event_machine none = machine_without_pmu();

	amd.nnotes = 1;
	amd.notes[0] = (struct hwpmc_classnote){
		.class = HWPMC_CLASS_IBS, .reason = HWPMC_WHY_IBS_ENTRY,
	};
	ALL_REFUSED(&amd, with_reason);
	ALL_REFUSED(&intel, without);
	ALL_REFUSED(&none, without);
}
END_TEST

START_TEST(ibs_event_name_has_all_terms_between_its_slashes)
{
	struct event_machine m = machine_with_ibs();
	struct event_error e;
	struct hwpmc_event ev;

	ck_assert_int_eq(event_parse(&m, "ibs_op/cnt_ctl=1,ldlat=256/u", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "ibs_op/cnt_ctl=1,ldlat=256/u");
	ck_assert_int_eq(event_parse(&m, "ibs-op:u,l3miss,data", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "ibs-op:u");
	ck_assert_int_eq(event_parse(&m, "cycles:ppu", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "cycles:ppu");
}
END_TEST

START_TEST(ibs_names_of_the_table_are_specifications)
{
	struct event_machine m = machine_with_ibs();
	struct event_error e;
	struct hwpmc_event ev;
	unsigned int n;

	for (n = 0; event_ibs_at(n); n++) {
		const struct event_ibs *i = event_ibs_at(n);

		ck_assert_int_eq(event_parse(&m, i->name, &ev, &e), 0);
		ck_assert_uint_eq(ev.code[0].ev, i->ev);
		ck_assert_ptr_eq(event_ibs(i->name), i);
		ck_assert_msg(strstr(i->desc, "sampling only"), "%s", i->desc);
	}
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_null(event_ibs("ibs"));
}
END_TEST

int main(void)
{
	harness_add(ibs_qualifiers_of_second_control_registers_have_their_bits);
	harness_add(ibs_op_has_a_bit_for_each_qualifier);
	harness_add(ibs_fetch_is_random_and_has_a_bit_for_each_qualifier);
	harness_add(ibs_forms_of_perf_count_cycles_unless_they_count_ops);
	harness_add(precise_modifiers_of_perf_mean_ibs_op_on_amd);
	harness_add(ibs_machine_counts_other_events_on_its_counters);
	harness_add(ibs_errors_are_refused_where_they_are);
	harness_add(precise_events_that_ibs_cannot_count_are_refused);
	harness_add(ibs_qualifiers_of_other_events_are_refused);
	harness_add(ibs_names_of_libpfm4_are_not_those_of_the_class);
	harness_add(ibs_events_without_the_class_have_the_modules_reason);
	harness_add(ibs_event_name_has_all_terms_between_its_slashes);
	harness_add(ibs_names_of_the_table_are_specifications);
	return harness_run();
}
