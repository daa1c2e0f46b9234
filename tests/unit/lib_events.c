/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_events.c - each form of an event specification, to the exact fields of
 * the request; and each error, to its place and its words.
 */
#include <errno.h>
#include <stdio.h>

#include "harness.h"
#include "lib_machines.h"
#include "lib_wants.h"

/* ------------------------------------------------------------------------ */

START_TEST(intel_architectural_names_become_their_codes)
{
	static const struct want want[] = {
		{ "cycles", 0x200, 0x3c, 0 },
		{ "instructions", 0x100, 0xc0, 0 },
		{ "cache-references", 0, 0x4f2e, QUA },
		{ "cache-misses", 0, 0x412e, QUA },
		{ "branches", 0, 0xc4, 0 },
		{ "branch-misses", 0, 0xc5, 0 },
		{ "slots", 0x400, 0x1a4, QUA },
	};
	struct event_machine m = machine_icelake();

	ALL(&m, want);
}
END_TEST

START_TEST(freebsd_aliases_mean_the_same_as_their_event)
{
	static const struct want want[] = {
		{ "unhalted-cycles", 0x200, 0x3c, 0 },
		{ "UNHALTED_CORE_CYCLES", 0x200, 0x3c, 0 },
		{ "inst_retired.any", 0x100, 0xc0, 0 },
		{ "LLC_MISSES", 0, 0x412e, QUA },
		{ "LLC_REFERENCE", 0, 0x4f2e, QUA },
		{ "BRANCH_INSTRUCTION_RETIRED", 0, 0xc4, 0 },
		{ "BRANCH_MISSES_RETIRED", 0, 0xc5, 0 },
		{ "branch-mispredicts", 0, 0xc5, 0 },
		{ "unhalted-reference-cycles", 0x300, 0, 0 },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(letter_case_and_separators_mean_nothing)
{
	static const struct want want[] = {
		{ "Branch Misses", 0, 0xc5, 0 },
		{ "BRANCH_MISSES", 0, 0xc5, 0 },
		{ "branch.misses", 0, 0xc5, 0 },
		{ "branch-misses", 0, 0xc5, 0 },
		{ "BRANCH-misses,USR,Edge", 0, 0x400c5, USR | EDG },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(every_qualifier_reaches_its_field)
{
	static const struct want want[] = {
		{ "branches,usr", 0, 0xc4, USR },
		{ "branches,os", 0, 0xc4, OS },
		{ "branches,usr,os", 0, 0xc4, USR | OS },
		{ "branches,edge", 0, 0x400c4, EDG },
		{ "branches,inv", 0, 0x8000c4, INV },
		{ "branches,any", 0, 0x2000c4, 0 },
		{ "branches,anythread", 0, 0x2000c4, 0 },
		{ "CPU_CLK_UNHALTED.THREAD_P_ANY", 0, 0x20003c, 0 },
		{ "int_misc.recovery_cycles_any", 0, 0x20010d, QUA },
		{ "branches,cmask=2", 0, 0x20000c4, THR },
		{ "branches,cmask=0xff", 0, 0xff0000c4, THR },
		{ "branches,count=3", 0, 0x30000c4, THR },
		{ "branches,umask=0x20", 0, 0x20c4, QUA },
		{ "br_inst_retired,mask=0x20", 0, 0x20c4, QUA },
		{ "br_inst_retired,mask=conditional", 0, 0x1c4, QUA },
		{ "branches,cmask=1,inv,edge,usr", 0, 0x18400c4,
		  THR | INV | EDG | USR },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(modifiers_of_perf_choose_the_mode)
{
	static const struct want want[] = {
		{ "instructions:u", 0x100, 0xc0, USR },
		{ "instructions:k", 0x100, 0xc0, OS },
		{ "instructions:uk", 0x100, 0xc0, USR | OS },
		{ "instructions:KU", 0x100, 0xc0, USR | OS },
		{ "instructions:u:k", 0x100, 0xc0, USR | OS },
		{ "instructions:u=1", 0x100, 0xc0, USR },
		{ "branches:e=1:c=2:i=1", 0, 0x28400c4, EDG | INV | THR },
		{ "instructions:u,os", 0x100, 0xc0, USR | OS },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(cpu_form_of_perf_becomes_a_raw_code)
{
	static const struct want want[] = {
		{ "cpu/event=0xc4/", 0, 0xc4, 0 },
		{ "cpu/event=0xc4,umask=0x20/u", 0, 0x20c4, USR | QUA },
		{ "cpu/event=0xc4,umask=1,inv,edge,any,cmask=2/uk", 0,
		  0x2a401c4, USR | OS | QUA | INV | EDG | THR },
		{ "CPU/event=196/:k", 0, 0xc4, OS },
		{ "cpu/event=0xc4,inv=0,edge=1/", 0, 0x400c4, EDG },
		{ "cpu/config=0x20c4/", 0, 0x20c4, QUA },
		{ "cpu/cache-misses/u", 0, 0x412e, USR | QUA },
		{ "cpu/instructions/", 0x100, 0xc0, 0 },
		{ "cpu/event=0,umask=3/", 0x300, 0, 0 },
		{ "cpu/event=0xc4/,usr", 0, 0xc4, USR },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(raw_codes_are_taken_as_they_are)
{
	static const struct want want[] = {
		{ "r20c4", 0, 0x20c4, QUA },
		{ "R20C4:u", 0, 0x20c4, QUA | USR },
		{ "0x20c4", 0, 0x20c4, QUA },
		{ "0x20c4,os", 0, 0x20c4, QUA | OS },
		{ "rff8420c4", 0, 0, 0 },
		{ "rc0", 0, 0xc0, 0 },
		{ "r2a401c4", 0, 0x2a401c4, QUA | INV | EDG | THR },
	};
	struct event_machine m = machine_skylake();
	struct want set = want[4];

	all_become(&m, want, 4);
	set.config = 0xff8420c4;
	set.caps = QUA | INV | EDG | THR;
	becomes(&m, &set);
	all_become(&m, want + 5, 2);
}
END_TEST

START_TEST(names_of_libpfm4_become_their_codes)
{
	static const struct want want[] = {
		{ "BR_INST_RETIRED:CONDITIONAL", 0, 0x1c4, QUA },
		{ "br_inst_retired.conditional", 0, 0x1c4, QUA },
		{ "br-inst-retired-conditional", 0, 0x1c4, QUA },
		{ "skl::BR_INST_RETIRED:CONDITIONAL:u", 0, 0x1c4, QUA | USR },
		{ "iap-br_inst_retired.conditional", 0, 0x1c4, QUA },
		{ "skl::INST_RETIRED:ANY_P", 0x100, 0xc0, 0 },
		{ "l1d.replacement,cmask=1", 0, 0x1000151, QUA | THR },
		{ "UNHALTED_REFERENCE_CYCLES:k", 0x300, 0, OS },
		{ "dc-misses", 0, 0x151, QUA },
		{ "interrupts", 0, 0x1cb, QUA },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

/* The codes that perf counts by these names. */
START_TEST(names_of_perfs_cache_events_have_its_codes)
{
	static const struct want skylake[] = {
		{ "L1-dcache-loads", 0, 0x81d0, QUA },
		{ "L1-dcache-load-misses:u", 0, 0x151, QUA | USR },
		{ "L1-icache-load-misses", 0, 0x283, QUA },
		{ "dTLB-loads", 0, 0x81d0, QUA },
		{ "dTLB-load-misses", 0, 0xe08, QUA },
		{ "DTLB_LOAD_MISSES:MISS_CAUSES_A_WALK", 0, 0x108, QUA },
		{ "iTLB-load-misses", 0, 0xe85, QUA },
		{ "branch-loads", 0, 0xc4, 0 },
		{ "branch-load-misses", 0, 0xc5, 0 },
	};
	static const struct want zen[] = {
		{ "L1-dcache-loads", 0, 0x40, 0 },
		{ "dTLB-load-misses", 0, 0xf045, QUA },
		{ "iTLB-load-misses", 0, 0xff85, QUA },
		{ "branch-loads", 0, 0xc2, 0 },
	};
	static const struct want k8[] = {
		{ "dTLB-load-misses", 0, 0x746, QUA },
		{ "iTLB-load-misses", 0, 0x385, QUA },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, skylake);
	m = machine_zen_1();
	ALL(&m, zen);
	m = machine_zen_4();
	ALL(&m, zen);
	m = machine_k8();
	ALL(&m, k8);
}
END_TEST

START_TEST(events_that_perf_alone_has_are_refused_with_the_nearest)
{
	static const struct refusal refusals[] = {
		{ "task-clock", ENOENT, 1, "always prints the CPU time" },
		{ "cpu-clock:u", ENOENT, 1, "clock.prof samples by time" },
		{ "minor-faults", ENOENT, 1, "page-faults counts" },
		{ "LLC-load-misses", ENOENT, 1, "cache-misses counts all" },
		{ "mem-loads", ENOENT, 1, "no precise events" },
		{ "cycles:pp", EINVAL, 8, "no event is precise here" },
		{ "cycles:P", EINVAL, 8, "no event is precise here" },
		{ "cycles:ppu", EINVAL, 8, "modifier 'ppu' is not supported" },
	};
	struct event_machine m = machine_skylake();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(class_prefix_excludes_the_other_class)
{
	static const struct want want[] = {
		{ "iap-instructions", 0, 0xc0, 0 },
		{ "IAP_instructions", 0, 0xc0, 0 },
		{ "iaf-instructions", 0x100, 0, 0 },
		{ "iaf-instr-retired.any", 0x100, 0, 0 },
		{ "iaf-cpu-clk-unhalted.core,usr", 0x200, 0, USR },
		{ "iaf-cpu-clk-unhalted.ref", 0x300, 0, 0 },
		{ "inst_retired.any_p", 0, 0xc0, 0 },
		{ "iap-ref-cycles", 0, 0x13c, QUA },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(qualifiers_of_the_code_exclude_fixed_counters)
{
	static const struct want want[] = {
		{ "instructions,cmask=1", 0, 0x10000c0, THR },
		{ "cycles,edge,os", 0, 0x4003c, EDG | OS },
		{ "instructions,usr", 0x100, 0xc0, USR },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
}
END_TEST

START_TEST(fixed_events_of_a_cpu_without_fixed_counters_are_programmable)
{
	static const struct want want[] = {
		{ "instructions", 0, 0xc0, 0 },
		{ "cycles", 0, 0x3c, 0 },
		{ "ref-cycles", 0, 0x13c, QUA },
		{ "branches", 0, 0xc4, 0 },
	};
	struct event_machine m = machine_perfmon_1();

	ALL(&m, want);
}
END_TEST

START_TEST(ref_cycles_never_change_their_unit)
{
	static const struct want want = { "ref-cycles", 0x300, 0, 0 };
	struct event_machine m = machine_skylake();

	becomes(&m, &want);
}
END_TEST

START_TEST(architectural_event_that_cpuid_denies_is_enoent)
{
	static const struct refusal refusals[] = {
		{ "cache-misses", ENOENT, 1, "no counter of this machine" },
	};
	struct event_machine m = machine_skylake();

	m.arch_missing = 1 << 4;
	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(offcore_events_carry_their_response_mask)
{
	struct event_machine m = machine_skylake();
	struct hwpmc_event ev;
	struct event_error e;

	ck_assert_int_eq(event_parse(&m, "OFFCORE_RESPONSE_0:DMND_DATA_RD",
				     &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config, 0x1b7);
	ck_assert_uint_eq(ev.code[0].config1, 0x10001);
	ck_assert_int_eq(event_parse(&m, "r1b7,rsp=0x3fffc00044", &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config, 0x1b7);
	ck_assert_uint_eq(ev.code[0].config1, 0x3fffc00044);
	ck_assert_int_eq(event_parse(&m, "cpu/event=0xb7,umask=1,"
				     "offcore_rsp=0x55/", &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config1, 0x55);
}
END_TEST

START_TEST(events_of_the_front_end_carry_their_filter)
{
	struct event_machine m = machine_skylake();
	struct hwpmc_event ev;
	struct event_error e;

	ck_assert_msg(!event_parse(&m, "FRONTEND_RETIRED:DSB_MISS", &ev, &e), "%s", e.text);
	ck_assert_uint_eq(ev.code[0].config, 0x1c6);
	ck_assert_uint_eq(ev.code[0].config1, 0x11);
	ck_assert_int_eq(event_parse(&m, "cpu/event=0xc6,umask=1,frontend=0x400106/",
				     &ev, &e), 0);
	ck_assert_uint_eq(ev.code[0].config1, 0x400106);
}
END_TEST

START_TEST(tsc_is_a_number_and_not_a_code)
{
	struct event_machine m = machine_without_pmu();
	const char *const specs[] = { "tsc", "TSC", "tsc-tsc" };
	struct hwpmc_event ev;
	struct event_error e;
	size_t i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(event_parse(&m, specs[i], &ev, &e), 0);
		ck_assert_uint_eq(ev.ncode, 1);
		ck_assert_uint_eq(ev.code[0].class_id, HWPMC_CLASS_TSC);
		ck_assert_uint_eq(ev.code[0].ev, HWPMC_EV_TSC);
		ck_assert_uint_eq(ev.code[0].flags, 0);
		ck_assert_uint_eq(ev.code[0].caps, 0);
	}
}
END_TEST

/* ------------------------------------------------------------------------ */

START_TEST(amd_generic_names_follow_the_family)
{
	static const struct want k8[] = {
		{ "cycles", 0, 0x76, 0 },
		{ "instructions:u", 0, 0xc0, USR },
		{ "branches", 0, 0xc2, 0 },
		{ "branch-misses", 0, 0xc3, 0 },
		{ "cache-references", 0, 0x77d, QUA },
		{ "cache-misses", 0, 0x77e, QUA },
		{ "dc-misses", 0, 0x41, 0 },
		{ "ic-misses", 0, 0x81, 0 },
		{ "interrupts", 0, 0xcf, 0 },
	};
	static const struct want zen_1[] = {
		{ "cycles", 0, 0x76, 0 },
		{ "cache-references", 0, 0xff60, QUA },
		{ "cache-misses", 0, 0x964, QUA },
		{ "interrupts", 0, 0x2c, 0 },
	};
	static const struct want zen_3[] = {
		{ "ic-misses", 0, 0x10000188eull, QUA },
	};
	static const struct want zen_4[] = {
		{ "ref-cycles", 0, 0x100000120ull, QUA },
		{ "branches", 0, 0xc2, 0 },
	};
	struct event_machine m = machine_k8();

	ALL(&m, k8);
	m = machine_zen_1();
	ALL(&m, zen_1);
	m = machine_zen_3();
	ALL(&m, zen_3);
	m = machine_zen_4();
	ALL(&m, zen_4);
}
END_TEST

START_TEST(freebsd_k8_names_and_their_masks_become_codes)
{
	static const struct want want[] = {
		{ "k8-fr-retired-x86-instructions", 0, 0xc0, 0 },
		{ "k8-dc-miss,usr", 0, 0x41, USR },
		{ "dc-miss", 0, 0x41, 0 },
		{ "k8-dc-refill-from-l2", 0, 0x1f42, QUA },
		{ "k8-dc-refill-from-l2,mask=shared+modified", 0, 0x1242, QUA },
		{ "k8-dc-refill-from-l2,mask=0x3", 0, 0x342, QUA },
		{ "k8-bu-fill-request-l2-miss,mask=dc-fill", 0, 0x27e, QUA },
		{ "k8-fr-retired-x86-instructions,count=2,inv,edge", 0,
		  0x28400c0, THR | INV | EDG },
		{ "INTERRUPTS_TAKEN", 0, 0xcf, 0 },
		{ "DATA_CACHE_REFILLS_FROM_SYSTEM:SHARED", 0, 0x243, QUA },
	};
	struct event_machine m = machine_k8();

	ALL(&m, want);
}
END_TEST

START_TEST(amd_event_numbers_have_twelve_bits)
{
	static const struct want want[] = {
		{ "cpu/event=0x18e,umask=0x18/", 0, 0x10000188eull, QUA },
		{ "r10000188e", 0, 0x10000188eull, QUA },
		{ "RETIRED_INSTRUCTIONS", 0, 0xc0, 0 },
	};
	struct event_machine m = machine_zen_3();

	ALL(&m, want);
}
END_TEST

START_TEST(amd_events_say_whether_guests_or_the_host_are_meant)
{
	static const struct want want[] = {
		{ "instructions,guest", 0, 0x100000000c0ull, 0 },
		{ "instructions:uG", 0, 0x100000000c0ull, USR },
		{ "instructions:H", 0, 0x200000000c0ull, 0 },
		{ "cycles:kGH", 0, 0x30000000076ull, OS },
		{ "cycles,host,guest,usr", 0, 0x30000000076ull, USR },
		{ "cpu/event=0xc0/G", 0, 0x100000000c0ull, 0 },
		{ "r100000000c0", 0, 0x100000000c0ull, 0 },
	};
	struct event_machine m = machine_zen_3();

	ALL(&m, want);
}
END_TEST

/* libpfm4 was made from the same manuals by other people. */
START_TEST(k8_names_agree_with_the_tables_of_libpfm4)
{
	static const char *const same[][2] = {
		{ "k8-dc-access", "DATA_CACHE_ACCESSES" },
		{ "k8-dc-miss", "DATA_CACHE_MISSES" },
		{ "k8-dc-misaligned-data-reference", "MISALIGNED_ACCESSES" },
		{ "k8-fp-dispatched-fpu-ops", "DISPATCHED_FPU:ALL" },
		{ "k8-fr-decoder-empty", "DECODER_EMPTY" },
		{ "k8-fr-dispatch-stalls", "DISPATCH_STALLS" },
		{ "k8-fr-retired-uops", "RETIRED_UOPS" },
		{ "k8-fr-retired-taken-branches",
		  "RETIRED_TAKEN_BRANCH_INSTRUCTIONS" },
		{ "k8-ic-fetch", "INSTRUCTION_CACHE_FETCHES" },
		{ "k8-ic-miss", "INSTRUCTION_CACHE_MISSES" },
		{ "k8-ic-return-stack-hits", "RETURN_STACK_HITS" },
		{ "k8-ls-segment-register-load", "SEGMENT_REGISTER_LOADS:ALL" },
		{ "k8-nb-ht-bus0-bandwidth,mask=data",
		  "HYPERTRANSPORT_LINK0:DATA_DWORD_SENT" },
	};
	struct event_machine m = machine_k8();
	struct hwpmc_event ours, theirs;
	struct event_error e;
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		ck_assert_msg(!event_parse(&m, same[i][0], &ours, &e), "%s",
			      e.text);
		ck_assert_msg(!event_parse(&m, same[i][1], &theirs, &e), "%s",
			      e.text);
		ck_assert_msg(ours.code[0].config == theirs.code[0].config,
			      "%s is 0x%llx, %s is 0x%llx", same[i][0],
			      (unsigned long long)ours.code[0].config,
			      same[i][1],
			      (unsigned long long)theirs.code[0].config);
	}
}
END_TEST

/* ------------------------------------------------------------------------ */

START_TEST(events_of_netburst_become_perfs_raw_codes)
{
	static const struct want want[] = {
		{ "cycles", 0, 0x3000020000000000, QUA },
		{ "unhalted-cycles", 0, 0x3000020000000000, QUA },
		{ "instructions:u", 0, 0x4c00060000000000, USR | QUA },
		{ "branches,os", 0, 0x38003c0000000000, OS | QUA },
		{ "branch-misses", 0, 0x5400020000000000, QUA },
		{ "cache-references", 0, 0x12007e0000000000, QUA },
		{ "cache-misses", 0, 0x120e000000000000, QUA },
		{ "p4-cycles", 0, 0x3000020000000000, QUA },
		{ "cycles,edge", 0, 0x3000020001040000, QUA | EDG },
		/* libpfm4's; its codes have "any thread" set */
		{ "instr_retired:nbogusntag:u", 0, 0x4c00020000030000, USR | QUA },
		{ "netburst_p::BRANCH_RETIRED:MMNP:MMTP", 0, 0x52000a0000030000, QUA },
		{ "instr-completed,mask=nbogus,usr", 0, 0x5a00020000030000,
		  USR | QUA },
		{ "INSTR_COMPLETED:NBOGUS:cmpl:thr=2", 0, 0x5a000200002f0000,
		  QUA | INV | THR },
		/* of the same code in different units */
		{ "load_port_replay:split_ld", 0, 0x0a00040000030000, QUA },
		{ "retired_branch_type:conditional", 0, 0x3800040000030000, QUA },
		/* what the module sets itself is taken out */
		{ "r3000020f0003d000:u", 0, 0x3000020000030000, USR | QUA },
		{ "cpu/config=0x3000020000000000/", 0, 0x3000020000000000, QUA },
	};
	static const struct refusal refusals[] = {
		{ "instructions,cmask=1", EINVAL, 1, "thr=N" },
		{ "instructions,inv", EINVAL, 1, "cmpl" },
		{ "instructions,umask=1", EINVAL, 1, "unit masks" },
		{ "instr-retired,mask=1", EINVAL, 1, "unit mask" },
		{ "cpu/event=0xc0/", EINVAL, 1, "cpu/config=" },
		{ "r8000000000000000", EINVAL, 1, "0x8000000000000000" },
		{ "iap-cycles", ENOENT, 1, "class IAP" },
		{ "slots", ENOENT, 1, "no counter" },
	};
	struct event_machine m = machine_netburst();

	ALL(&m, want);
	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(wrong_grammar_is_refused_where_it_is_wrong)
{
	static const struct refusal refusals[] = {
		{ "", EINVAL, 1, "expected the name of an event" },
		{ ",usr", EINVAL, 1, "expected the name of an event" },
		{ "cycles,", EINVAL, 8, "expected a qualifier" },
		{ "cycles,,usr", EINVAL, 8, "expected a qualifier" },
		{ "cycles,usx", EINVAL, 8, "perhaps 'usr'" },
		{ "cycles,nonsense", EINVAL, 8, "expected one of usr os" },
		{ "cycles,usr=2", EINVAL, 12, "takes no value" },
		{ "cycles,cmask", EINVAL, 13, "needs a value" },
		{ "cycles,cmask=", EINVAL, 14, "needs a value" },
		{ "cycles,cmask=256", EINVAL, 14, "from 0 to 0xff" },
		{ "cycles,cmask=012", EINVAL, 14, "decimal, or hexadecimal" },
		{ "cycles,cmask=1,cmask=2", EINVAL, 22, "given twice" },
		{ "cycles,cmask=99999999999999999999999", EINVAL, 14,
		  "expected a number" },
		{ "cycles,rsp=0x10000000000000000", EINVAL, 12,
		  "expected a number" },
		{ "cycles:", EINVAL, 8, "after the colon" },
		{ "cycles:up", EINVAL, 8, "not supported" },
		{ "cycles:foo", EINVAL, 8, "no unit masks" },
		{ "cycles\n", EINVAL, 7, "printable" },
		{ "r1c0:foo", EINVAL, 6, "after a raw code" },
		{ "0xzz", EINVAL, 3, "hexadecimal" },
		{ "0x11111111111111111", EINVAL, 3, "16 digits" },
		{ "r5300c0", EINVAL, 1, "bits 0x530000" },
		{ "foo/event=1/", EINVAL, 1, "expected cpu/" },
		{ "cpu/event=0xc0", EINVAL, 15, "expected '/'" },
		{ "cpu//", EINVAL, 5, "expected" },
		{ "cpu/inv/", EINVAL, 5, "expected event=" },
		{ "cpu/event=1,config=2/", EINVAL, 5, "only one of" },
		{ "cpu/event=0x1000/", EINVAL, 11, "from 0 to 0xfff" },
		{ "cpu/event=0x100/", EINVAL, 1, "event=0xff on Intel" },
		{ "cpu/event=1,ldlat=3/", EINVAL, 13, "unknown term 'ldlat'" },
		{ "cpu/event=1/p", EINVAL, 13, "after the slash" },
		{ "cpu/event=1/u x", EINVAL, 13, "after the slash" },
		{ "cpu/event=0,umask=9/", EINVAL, 1, "fixed counters" },
		{ "cpu/event=0,umask=1,inv/", EINVAL, 1, "fixed counters" },
		{ "r1c0,mask=foo", EINVAL, 11, "no names of unit masks" },
		{ "tsc,usr", EINVAL, 1, "takes no qualifiers" },
	};
	struct event_machine m = machine_skylake();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(unknown_names_are_refused_with_the_nearest_one)
{
	static const struct refusal refusals[] = {
		{ "instrucions", ENOENT, 1, "perhaps 'instructions'" },
		{ "cash-misses,usr", ENOENT, 1, "perhaps 'cache-misses'" },
		/* Not INST_RETIRED.ANY_P, which counts something else. */
		{ "br_inst_retired.any_p", ENOENT, 1, "see 'hwpmc list'" },
		{ "br_inst_retired.conditonal", ENOENT, 1,
		  "perhaps 'BR_INST_RETIRED:CONDITIONAL'" },
		{ "zzzzzzzz", ENOENT, 1, "see 'hwpmc list'" },
		{ "abstructions", ENOENT, 1, "perhaps 'instructions'" },
		{ "abctructions", ENOENT, 1, "'abctructions' here (see 'hwpmc list'" },
		{ "icl::INST_RETIRED", ENOENT, 1, "but skl" },
		{ "soft-clock.hard", ENOENT, 1, "no counters of class SOFT" },
		{ "k8-dc-miss", ENOENT, 1, "no counters of class K8" },
		{ "iaf-branches", ENOENT, 1, "no counter of this machine" },
		{ "iaf-cycles,edge", ENOENT, 1, "with these qualifiers" },
		{ "BR_INST_RETIRED:FOO", EINVAL, 17, "no such unit mask" },
		{ "br_inst_retired,mask=foo", EINVAL, 22, "no such unit mask" },
		{ "mem_trans_retired.load_latency", EINVAL, 1,
		  "a register that hwpmc does not set" },
		{ "instructions:uG", EINVAL, 1, "only AMD" },
		{ "branches,host", EINVAL, 1, "only AMD" },
	};
	struct event_machine m = machine_skylake();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(amd_refuses_what_only_intel_has)
{
	static const struct refusal refusals[] = {
		{ "cycles,any", EINVAL, 1, "bits 0x200000" },
		{ "cycles,rsp=1", EINVAL, 1, "only Intel" },
		{ "slots", ENOENT, 1, "no counter of this machine" },
		{ "iap-cycles", ENOENT, 1, "no counters of class IAP" },
		{ "k8-dc-refill-from-l2,mask=foo", EINVAL, 27, "invalid=1" },
		{ "k8-dc-miss,mask=foo", EINVAL, 17, "no names" },
	};
	struct event_machine m = machine_zen_1();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(any_thread_is_refused_where_the_cpu_lacks_it)
{
	static const struct refusal refusals[] = {
		{ "branches,any", EINVAL, 1, "both threads of a core" },
		{ "cpu_clk_unhalted.thread_p_any", EINVAL, 1,
		  "both threads of a core" },
		{ "r2000c4", EINVAL, 1, "both threads of a core" },
	};
	struct event_machine m = machine_icelake();

	ALL_REFUSED(&m, refusals);
}
END_TEST

/* As the module of a machine that has two tracepoints. */
static bool find_two(void *arg, const char *name, uint32_t *ev)
{
	static const char *const names[] = { "sched_switch", "sys_enter" };

	ck_assert_ptr_null(arg);
	for (uint32_t i = 0; i < 2; i++) {
		if (strcmp(names[i], name))
			continue;
		*ev = HWPMC_EV_SOFT_TRACEPOINT + i;
		return true;
	}
	return false;
}

static struct event_machine machine_with_soft(void)
{
	struct event_machine m = machine_skylake();

	m.classes[m.nclass++] = HWPMC_CLASS_SOFT;
	m.find_soft = find_two;
	return m;
}

START_TEST(events_of_the_kernel_have_their_names_and_those_of_perf)
{
	static const struct {
		const char *spec;
		uint32_t ev, caps;
	} want[] = {
		{ "soft-clock.hard", HWPMC_EV_SOFT_CLOCK_HARD, 0 },
		{ "CLOCK.PROF:u", HWPMC_EV_SOFT_CLOCK_PROF, USR },
		{ "page_fault.all,os", HWPMC_EV_SOFT_PAGE_FAULT_ALL, OS },
		{ "page-faults", HWPMC_EV_SOFT_PAGE_FAULT_ALL, 0 },
		{ "cs", HWPMC_EV_SOFT_CONTEXT_SWITCH, 0 },
		{ "cpu-migrations", HWPMC_EV_SOFT_CPU_MIGRATION, 0 },
		{ "SOFT-sys_enter", HWPMC_EV_SOFT_TRACEPOINT + 1, 0 },
		{ "tracepoint:sched_switch", HWPMC_EV_SOFT_TRACEPOINT, 0 },
		{ "sched:sched_switch", HWPMC_EV_SOFT_TRACEPOINT, 0 },
		{ "tracepoint:raw_syscalls:sys_enter",
		  HWPMC_EV_SOFT_TRACEPOINT + 1, 0 },
	};
	static const struct refusal refusals[] = {
		{ "soft-nothing", ENOENT, 1, "the kernel has no event" },
		{ "clock.hard,edge", EINVAL, 1, "no qualifiers except u and k" },
		{ "iap-clock.hard", ENOENT, 1, "there is no event" },
	};
	struct event_machine m = machine_with_soft();
	struct event_error e;
	struct hwpmc_event ev;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_msg(!event_parse(&m, want[i].spec, &ev, &e),
			      "'%s': %s", want[i].spec, e.text);
		ck_assert_uint_eq(ev.ncode, 1);
		ck_assert_uint_eq(ev.code[0].class_id, HWPMC_CLASS_SOFT);
		ck_assert_uint_eq(ev.code[0].ev, want[i].ev);
		ck_assert_uint_eq(ev.code[0].caps, want[i].caps);
		ck_assert_uint_eq(ev.code[0].flags, 0);
	}
	ALL_REFUSED(&m, refusals);
	/* Without the class the names are of nothing. */
	m.nclass--;
	ck_assert(event_parse(&m, "clock.hard", &ev, &e));
}
END_TEST

START_TEST(machine_without_pmu_has_only_tsc)
{
	static const struct refusal refusals[] = {
		{ "instructions", ENOENT, 1, "no hardware counters except 'tsc'" },
		{ "r1c0", ENOENT, 1, "no hardware counters except 'tsc'" },
		{ "uops_retired", ENOENT, 1, "no hardware counters" },
	};
	struct event_machine m = machine_without_pmu();

	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(events_of_a_class_that_is_missing_are_refused_with_the_modules_reason)
{
	static const struct refusal refusals[] = {
		{ "energy-pkg", ENOENT, 1, "no counters of class RAPL: the hypervisor gives" },
		{ "rapl_x", ENOENT, 1, "no counters of class RAPL: the hypervisor gives" },
		{ "aperf", ENOENT, 1, "no counters of class PERF: registers of the class fault" },
		{ "k8_x", ENOENT, 1, "no counters of class K8" },
	};
	struct event_machine m = machine_without_pmu();

	m.nnotes = 2;
	m.notes[0] = (struct hwpmc_classnote){
		.class = HWPMC_CLASS_RAPL, .reason = HWPMC_WHY_CLASS_GUEST,
	};
	m.notes[1] = (struct hwpmc_classnote){
		.class = HWPMC_CLASS_PERF, .reason = HWPMC_WHY_CLASS_FAULT,
	};
	ALL_REFUSED(&m, refusals);
}
END_TEST

START_TEST(overlong_parts_are_refused_and_not_cut)
{
	static const char *const forms[] = {
		"%s", "%s::x", "x:%s", "x,mask=%s", "cpu/%s/", "x:a:%s",
	};
	struct event_machine m = machine_skylake();
	char part[300], spec[400];
	struct event_error e;
	struct hwpmc_event ev;
	size_t i;

	memset(part, 'x', sizeof(part) - 1);
	part[sizeof(part) - 1] = '\0';
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(spec, sizeof(spec), forms[i], part);
		ck_assert_int_eq(event_parse(&m, spec, &ev, &e), -1);
		ck_assert_int_eq(e.err, EINVAL);
		ck_assert_msg(strstr(e.text, "too long"), "%s: %s", forms[i],
			      e.text);
	}
}
END_TEST

START_TEST(event_name_is_the_specification_without_qualifiers)
{
	struct event_machine m = machine_skylake();
	struct event_error e;
	struct hwpmc_event ev;

	ck_assert_int_eq(event_parse(&m, "Instructions:u,cmask=1", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "Instructions:u");
	ck_assert_int_eq(event_parse(&m, "cpu/event=1,umask=2/u", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "cpu/event=1,umask=2/u");
	ck_assert_int_eq(event_parse(&m, "CPU/event=1,umask=2/u", &ev, &e), 0);
	ck_assert_str_eq(ev.name, "CPU/event=1,umask=2/u");
}
END_TEST

/* ------------------------------------------------------------------------ */

static const char *const pieces[] = {
	"cycles", "instructions", "tsc", "iap-", "iaf-", "k8-", "cpu/", "/",
	"event=", "umask=", "cmask=", "config=", "0x", "c0", "1", "255", "r",
	",", ",", ":", ":", "::", "=", "+", "usr", "os", "edge", "inv", "any",
	"mask=", "rsp=", "count=", "u", "k", "uk", "skl", "br_inst_retired",
	"ALL", "conditional", "-", ".", " ", "\x7f", "\xff", "%s%n", "0",
	"99999999999999999999", "dc_refill_from_l2", "shared", "llllllllllllll",
	"ibs-op", "ibs_op/", "ibs_fetch/", "ldlat=", "128", "cnt_ctl=1", "data", "p", "pp", "l3miss",
};

static void fuzz_spec(char *spec, size_t size)
{
	size_t n = (size_t)random() % 9, used = 0;
	const char *piece;

	spec[0] = '\0';
	while (n--) {
		piece = pieces[(size_t)random() %
			       (sizeof(pieces) / sizeof(pieces[0]))];
		used += (size_t)snprintf(spec + used, size - used, "%s", piece);
	}
}

/* An answer has a code, a refusal has words and a place in the text. */
static void fuzz_one(const struct event_machine *m, const char *spec)
{
	struct event_error e = { .err = 0 };
	struct hwpmc_event ev;

	if (!event_parse(m, spec, &ev, &e)) {
		ck_assert_msg(ev.ncode >= 1 && ev.ncode <= HWPMC_EVENT_CODES,
			      "'%s': %u codes", spec, ev.ncode);
		return;
	}
	ck_assert_msg(e.err == EINVAL || e.err == ENOENT, "'%s': errno %d",
		      spec, e.err);
	ck_assert_msg(e.at <= strlen(spec) && e.text[0], "'%s': at %zu '%s'",
		      spec, e.at, e.text);
}

static void fuzz(struct event_machine m, unsigned int seed, int n)
{
	char spec[400];

	srandom(seed);
	while (n--) {
		fuzz_spec(spec, sizeof(spec));
		fuzz_one(&m, spec);
	}
}

START_TEST(random_specifications_are_answered_or_refused_on_intel)
{
	fuzz(machine_skylake(), 1, 1500);
}
END_TEST

START_TEST(random_specifications_are_answered_or_refused_on_amd)
{
	fuzz(machine_with_ibs(), 2, 1500);
}
END_TEST

START_TEST(random_specifications_are_answered_or_refused_without_pmu)
{
	fuzz(machine_without_pmu(), 3, 5000);
}
END_TEST

int main(void)
{
	harness_add(intel_architectural_names_become_their_codes);
	harness_add(freebsd_aliases_mean_the_same_as_their_event);
	harness_add(letter_case_and_separators_mean_nothing);
	harness_add(every_qualifier_reaches_its_field);
	harness_add(modifiers_of_perf_choose_the_mode);
	harness_add(cpu_form_of_perf_becomes_a_raw_code);
	harness_add(raw_codes_are_taken_as_they_are);
	harness_add(names_of_libpfm4_become_their_codes);
	harness_add(names_of_perfs_cache_events_have_its_codes);
	harness_add(events_that_perf_alone_has_are_refused_with_the_nearest);
	harness_add(class_prefix_excludes_the_other_class);
	harness_add(qualifiers_of_the_code_exclude_fixed_counters);
	harness_add(
		fixed_events_of_a_cpu_without_fixed_counters_are_programmable);
	harness_add(ref_cycles_never_change_their_unit);
	harness_add(architectural_event_that_cpuid_denies_is_enoent);
	harness_add(offcore_events_carry_their_response_mask);
	harness_add(events_of_the_front_end_carry_their_filter);
	harness_add(tsc_is_a_number_and_not_a_code);
	harness_add(amd_generic_names_follow_the_family);
	harness_add(freebsd_k8_names_and_their_masks_become_codes);
	harness_add(amd_event_numbers_have_twelve_bits);
	harness_add(amd_events_say_whether_guests_or_the_host_are_meant);
	harness_add(k8_names_agree_with_the_tables_of_libpfm4);
	harness_add(events_of_netburst_become_perfs_raw_codes);
	harness_add(wrong_grammar_is_refused_where_it_is_wrong);
	harness_add(unknown_names_are_refused_with_the_nearest_one);
	harness_add(amd_refuses_what_only_intel_has);
	harness_add(any_thread_is_refused_where_the_cpu_lacks_it);
	harness_add(events_of_the_kernel_have_their_names_and_those_of_perf);
	harness_add(machine_without_pmu_has_only_tsc);
	harness_add(events_of_a_class_that_is_missing_are_refused_with_the_modules_reason);
	harness_add(overlong_parts_are_refused_and_not_cut);
	harness_add(event_name_is_the_specification_without_qualifiers);
	harness_add_timed(
		random_specifications_are_answered_or_refused_on_intel, 120);
	harness_add_timed(
		random_specifications_are_answered_or_refused_on_amd, 120);
	harness_add_timed(
		random_specifications_are_answered_or_refused_without_pmu, 120);
	return harness_run();
}
