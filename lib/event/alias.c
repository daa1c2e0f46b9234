/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alias.c - the names that this library brings itself: architectural events of
 * Intel and their like on AMD, FreeBSD's and perf's words for them, FreeBSD's
 * names of AMD's K8 events. Pure tables and their search; letter case and
 * separators are normal (event_normal()) before anything is compared.
 *
 * Codes: Intel SDM volume 3, "Pre-defined Architectural Performance Events";
 * AMD BKDG and PPR, "Performance Monitor Events" of each family. Of Netburst the codes
 * are those of global_power_events, instr_retired (not bogus), BSQ_cache_reference,
 * retired_branch_type and mispred_branch_retired.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

/* clang-format off */
static const struct event_generic generics[] = {
	{
		.name = "cycles", .desc = "clock cycles, when not halted",
		.arch = 0, .intel = 0x003c, .fixed = 2,
		.amd = { 0x76, 0x76, 0x76, 0x76 },
		.p4 = 0x3000020000000000ull,
	}, {
		.name = "instructions", .desc = "instructions retired",
		.arch = 1, .intel = 0x00c0, .fixed = 1,
		.amd = { 0xc0, 0xc0, 0xc0, 0xc0 },
		.p4 = 0x4c00060000000000ull,
	}, {
		/* The fixed counter counts at the TSC's rate, the programmable
		 * event at a slower one: never one in place of the other. */
		.name = "ref-cycles",
		.desc = "cycles at a constant rate, when not halted",
		.arch = 2, .intel = 0x013c, .fixed = 3, .fixed_differs = true,
		.amd = { 0, 0, 0, 0x100000120ull },
	}, {
		.name = "cache-references", .desc = "last-level cache references",
		.arch = 3, .intel = 0x4f2e,
		.amd = { 0x077d, 0xff60, 0xff60, 0xff60 },
		.p4 = 0x12007e0000000000ull,
	}, {
		.name = "cache-misses", .desc = "last-level cache misses",
		.arch = 4, .intel = 0x412e,
		.amd = { 0x077e, 0x0964, 0x0964, 0x0964 },
		.p4 = 0x120e000000000000ull,
	}, {
		.name = "branches", .desc = "branch instructions retired",
		.arch = 5, .intel = 0x00c4,
		.amd = { 0xc2, 0xc2, 0xc2, 0xc2 },
		.p4 = 0x38003c0000000000ull,
	}, {
		.name = "branch-misses",
		.desc = "mispredicted branch instructions retired",
		.arch = 6, .intel = 0x00c5,
		.amd = { 0xc3, 0xc3, 0xc3, 0xc3 },
		.p4 = 0x5400020000000000ull,
	}, {
		.name = "slots", .desc = "top-down issue slots, when not halted",
		.arch = 7, .intel = 0x01a4, .fixed = 4,
	}, {
		.name = "dc-misses", .desc = "first-level data cache misses",
		.arch = ARCH_NONE,
		.amd = { 0x41, 0xc860, 0xc860, 0xc860 },
		.pfm = { "L1D:REPLACEMENT", "L1D:REPL", "L1D_REPL" },
	}, {
		.name = "ic-misses", .desc = "instruction cache misses",
		.arch = ARCH_NONE,
		.amd = { 0x81, 0x81, 0x10000188eull, 0x10000188eull },
		/* Golden Cove and later count no misses, but the stalls that they begin. */
		.pfm = { "ICACHE:MISSES", "ICACHE_64B:IFTAG_MISS",
			 "ICACHE_DATA:STALL_PERIODS", "L1I:MISSES" },
	}, {
		/* AMD's event includes stores, as perf's of this name does. */
		.name = "dc-loads", .desc = "loads retired (AMD: data cache accesses)",
		.arch = ARCH_NONE,
		.amd = { 0x40, 0x40, 0x40, 0x40 },
		.pfm = { "MEM_INST_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_LOADS",
			 "MEM_INST_RETIRED:LOADS" },
	}, {
		.name = "dtlb-misses", .desc = "page walks for loads (AMD: for data)",
		.arch = ARCH_NONE,
		.amd = { 0x0746, 0xf045, 0xf045, 0xf045 },
		.pfm = { "DTLB_LOAD_MISSES:WALK_COMPLETED", "PAGE_WALKS:D_SIDE_WALKS" },
	}, {
		.name = "itlb-misses", .desc = "page walks for instructions",
		.arch = ARCH_NONE,
		.amd = { 0x0385, 0xff85, 0xff85, 0xff85 },
		.pfm = { "ITLB_MISSES:WALK_COMPLETED", "PAGE_WALKS:I_SIDE_WALKS" },
	}, {
		.name = "interrupts", .desc = "hardware interrupts taken",
		.arch = ARCH_NONE,
		.amd = { 0xcf, 0x2c, 0x2c, 0x2c },
		.pfm = { "HW_INTERRUPTS:RECEIVED", "HW_INT:RCV",
			 "HW_INT_RCV" },
	}, {
		.name = "resource-stalls",
		.desc = "cycles stalled for lack of a back-end resource",
		.arch = ARCH_NONE,
		.pfm = { "RESOURCE_STALLS:ANY", "RESOURCE_STALLS:SCOREBOARD" },
	}, {
		.name = "llc-miss-rhitm",
		.desc = "loads served by another package's modified line",
		.arch = ARCH_NONE,
		.pfm = { "MEM_LOAD_L3_MISS_RETIRED:REMOTE_HITM",
			 "MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_HITM",
			 "MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_HITM" },
	},
};

/* In normal form. */
static const struct {
	const char *alias, *generic;
	unsigned int how;
} aliases[] = {
	{ "unhalted_cycles", "cycles", 0 },
	{ "unhalted_core_cycles", "cycles", 0 },
	{ "cpu_cycles", "cycles", 0 },
	{ "cpu_clk_unhalted_core", "cycles", ALIAS_FIXED },
	{ "cpu_clk_unhalted_thread", "cycles", 0 },
	{ "cpu_clk_unhalted_thread_p", "cycles", ALIAS_PROGRAMMABLE },
	{ "ls_not_halted_cyc", "cycles", 0 },
	{ "instr_retired_any", "instructions", ALIAS_FIXED },
	{ "inst_retired_any", "instructions", 0 },
	{ "inst_retired_any_p", "instructions", ALIAS_PROGRAMMABLE },
	{ "instruction_retired", "instructions", 0 },
	{ "instructions_retired", "instructions", 0 },
	{ "ex_ret_instr", "instructions", 0 },
	{ "unhalted_reference_cycles", "ref-cycles", 0 },
	{ "cpu_clk_unhalted_ref", "ref-cycles", ALIAS_FIXED },
	{ "cpu_clk_unhalted_ref_tsc", "ref-cycles", 0 },
	{ "llc_reference", "cache-references", 0 },
	{ "llc_references", "cache-references", 0 },
	{ "longest_lat_cache_reference", "cache-references", 0 },
	{ "llc_misses", "cache-misses", 0 },
	{ "llc_miss", "cache-misses", 0 },
	{ "longest_lat_cache_miss", "cache-misses", 0 },
	{ "branch_instructions", "branches", 0 },
	{ "branch_instruction_retired", "branches", 0 },
	{ "branch_instructions_retired", "branches", 0 },
	{ "br_inst_retired_all_branches", "branches", 0 },
	{ "ex_ret_brn", "branches", 0 },
	{ "branch_mispredicts", "branch-misses", 0 },
	{ "branch_misses_retired", "branch-misses", 0 },
	{ "mispredicted_branch_retired", "branch-misses", 0 },
	{ "br_misp_retired_all_branches", "branch-misses", 0 },
	{ "ex_ret_brn_misp", "branch-misses", 0 },
	/* As perf calls them. */
	{ "branch_loads", "branches", 0 },
	{ "branch_load_misses", "branch-misses", 0 },
	{ "l1_dcache_loads", "dc-loads", 0 },
	{ "l1_dcache_load_misses", "dc-misses", 0 },
	{ "l1_icache_load_misses", "ic-misses", 0 },
	{ "dtlb_loads", "dc-loads", 0 },
	{ "dtlb_load_misses", "dtlb-misses", 0 },
	{ "itlb_load_misses", "itlb-misses", 0 },
	{ "topdown_slots", "slots", 0 },
	{ "resource_stall", "resource-stalls", 0 },
	{ "resource_stalls_any", "resource-stalls", 0 },
};

/* Events of perf that hwpmc lacks, in normal form, and what is near to them here. */
static const struct {
	const char *name, *near;
} perfs[] = {
	{ "task_clock", "hwpmc stat always prints the CPU time; clock.prof samples by time" },
	{ "cpu_clock", "hwpmc stat always prints the CPU time; clock.prof samples by time" },
	{ "minor_faults", "page-faults counts minor and major faults" },
	{ "major_faults", "page-faults counts minor and major faults" },
	{ "llc_loads", "cache-references counts all accesses of the last-level cache" },
	{ "llc_load_misses", "cache-misses counts all misses of the last-level cache" },
	{ "llc_stores", "cache-references counts all accesses of the last-level cache" },
	{ "llc_store_misses", "cache-misses counts all misses of the last-level cache" },
	{ "mem_loads", "hwpmc has no precise events" },
	{ "mem_stores", "hwpmc has no precise events" },
};

#define MOESI	"invalid=1 shared=2 exclusive=4 owner=8 modified=16"
#define SSE	"x87=1 mmx-3dnow=2 scalar-sse-sse2=8 packed-sse-sse2=4"
#define FP_PIPE	"add-pipe-ops=1 multiply-pipe-ops=2 store-pipe-ops=4 " \
		"add-pipe-load-ops=8 multiply-pipe-load-ops=16 " \
		"store-pipe-load-ops=32"

/* AMD, BIOS and Kernel Developer's Guide for the Athlon 64 and Opteron, 10.2. */
static const struct event_k8 k8_events[] = {
	{ "bu_cpu_clk_unhalted", 0x76, 0, NULL },
	{ "bu_fill_into_l2", 0x7f, 0x01, "dirty-l2-victim=1 victim-from-l2=2" },
	{ "bu_fill_request_l2_miss", 0x7e, 0x07,
	  "dc-fill=2 ic-fill=1 tlb-reload=4" },
	{ "bu_internal_l2_request", 0x7d, 0x1f,
	  "cancelled=16 dc-fill=2 ic-fill=1 tag-snoop=8 tlb-reload=4" },
	{ "dc_access", 0x40, 0, NULL },
	{ "dc_copyback", 0x44, 0x1f, MOESI },
	{ "dc_dcache_accesses_by_locks", 0x4c, 0x03, "accesses=1 misses=2" },
	{ "dc_dispatched_prefetch_instructions", 0x4b, 0x07,
	  "load=1 nta=4 store=2" },
	{ "dc_l1_dtlb_miss_and_l2_dtlb_hit", 0x45, 0, NULL },
	{ "dc_l1_dtlb_miss_and_l2_dtlb_miss", 0x46, 0, NULL },
	{ "dc_microarchitectural_early_cancel_of_an_access", 0x49, 0, NULL },
	{ "dc_microarchitectural_late_cancel_of_an_access", 0x48, 0, NULL },
	{ "dc_misaligned_data_reference", 0x47, 0, NULL },
	{ "dc_miss", 0x41, 0, NULL },
	{ "dc_one_bit_ecc_error", 0x4a, 0x03, "piggyback=2 scrubber=1" },
	{ "dc_refill_from_l2", 0x42, 0x1f, MOESI },
	{ "dc_refill_from_system", 0x43, 0x1f, MOESI },
	{ "fp_cycles_with_no_fpu_ops_retired", 0x01, 0, NULL },
	{ "fp_dispatched_fpu_fast_flag_ops", 0x02, 0, NULL },
	{ "fp_dispatched_fpu_ops", 0x00, 0x3f, FP_PIPE },
	{ "fr_decoder_empty", 0xd0, 0, NULL },
	{ "fr_dispatch_stall_for_segment_load", 0xd4, 0, NULL },
	{ "fr_dispatch_stall_for_serialization", 0xd3, 0, NULL },
	{ "fr_dispatch_stall_from_branch_abort_to_retire", 0xd2, 0, NULL },
	{ "fr_dispatch_stall_when_fpu_is_full", 0xd7, 0, NULL },
	{ "fr_dispatch_stall_when_ls_is_full", 0xd8, 0, NULL },
	{ "fr_dispatch_stall_when_reorder_buffer_is_full", 0xd5, 0, NULL },
	{ "fr_dispatch_stall_when_reservation_stations_are_full", 0xd6, 0,
	  NULL },
	{ "fr_dispatch_stall_when_waiting_for_all_to_be_quiet", 0xd9, 0, NULL },
	{ "fr_dispatch_stall_when_waiting_far_xfer_or_resync_branch_pending",
	  0xda, 0, NULL },
	{ "fr_dispatch_stalls", 0xd1, 0, NULL },
	{ "fr_fpu_exceptions", 0xdb, 0x0f,
	  "sse-and-x87-microtraps=8 sse-reclass-microfaults=2 "
	  "sse-retype-microfaults=4 x87-reclass-microfaults=1" },
	{ "fr_interrupts_masked_cycles", 0xcd, 0, NULL },
	{ "fr_interrupts_masked_while_pending_cycles", 0xce, 0, NULL },
	{ "fr_number_of_breakpoints_for_dr0", 0xdc, 0, NULL },
	{ "fr_number_of_breakpoints_for_dr1", 0xdd, 0, NULL },
	{ "fr_number_of_breakpoints_for_dr2", 0xde, 0, NULL },
	{ "fr_number_of_breakpoints_for_dr3", 0xdf, 0, NULL },
	{ "fr_retired_branches", 0xc2, 0, NULL },
	{ "fr_retired_branches_mispredicted", 0xc3, 0, NULL },
	{ "fr_retired_far_control_transfers", 0xc6, 0, NULL },
	{ "fr_retired_fastpath_double_op_instructions", 0xcc, 0x07,
	  "low-op-pos-0=1 low-op-pos-1=2 low-op-pos-2=4" },
	{ "fr_retired_fpu_instructions", 0xcb, 0x0f, SSE },
	{ "fr_retired_near_returns", 0xc8, 0, NULL },
	{ "fr_retired_near_returns_mispredicted", 0xc9, 0, NULL },
	{ "fr_retired_resyncs", 0xc7, 0, NULL },
	{ "fr_retired_taken_branches", 0xc4, 0, NULL },
	{ "fr_retired_taken_branches_mispredicted", 0xc5, 0, NULL },
	{ "fr_retired_taken_branches_mispredicted_by_addr_miscompare", 0xca, 0,
	  NULL },
	{ "fr_retired_uops", 0xc1, 0, NULL },
	{ "fr_retired_x86_instructions", 0xc0, 0, NULL },
	{ "fr_taken_hardware_interrupts", 0xcf, 0, NULL },
	{ "ic_fetch", 0x80, 0, NULL },
	{ "ic_instruction_fetch_stall", 0x87, 0, NULL },
	{ "ic_l1_itlb_miss_and_l2_itlb_hit", 0x84, 0, NULL },
	{ "ic_l1_itlb_miss_and_l2_itlb_miss", 0x85, 0, NULL },
	{ "ic_microarchitectural_resync_by_snoop", 0x86, 0, NULL },
	{ "ic_miss", 0x81, 0, NULL },
	{ "ic_refill_from_l2", 0x82, 0, NULL },
	{ "ic_refill_from_system", 0x83, 0, NULL },
	{ "ic_return_stack_hits", 0x88, 0, NULL },
	{ "ic_return_stack_overflow", 0x89, 0, NULL },
	{ "ls_buffer2_full", 0x23, 0, NULL },
	{ "ls_locked_operation", 0x24, 0x07,
	  "locked-instructions=1 cycles-in-request=2 cycles-to-complete=4" },
	{ "ls_microarchitectural_late_cancel", 0x25, 0, NULL },
	{ "ls_microarchitectural_resync_by_self_mod_code", 0x21, 0, NULL },
	{ "ls_microarchitectural_resync_by_snoop", 0x22, 0, NULL },
	{ "ls_retired_cflush_instructions", 0x26, 0, NULL },
	{ "ls_retired_cpuid_instructions", 0x27, 0, NULL },
	{ "ls_segment_register_load", 0x20, 0x7f,
	  "cs=2 ds=8 es=1 fs=16 gs=32 hs=64 ss=4" },
	{ "nb_ht_bus0_bandwidth", 0xf6, 0x07,
	  "buffer-release=4 command=1 data=2 nop=8" },
	{ "nb_ht_bus1_bandwidth", 0xf7, 0x07,
	  "buffer-release=4 command=1 data=2 nop=8" },
	{ "nb_ht_bus2_bandwidth", 0xf8, 0x07,
	  "buffer-release=4 command=1 data=2 nop=8" },
	{ "nb_memory_controller_bypass_saturation", 0xe4, 0x0f,
	  "memory-controller-hi-pri-bypass=1 "
	  "memory-controller-lo-pri-bypass=2 dram-controller-interface-bypass=4 "
	  "dram-controller-queue-bypass=8" },
	{ "nb_memory_controller_dram_commands_slots_missed", 0xe2, 0, NULL },
	{ "nb_memory_controller_page_access_event", 0xe0, 0x07,
	  "page-hit=1 page-miss=2 page-conflict=4" },
	{ "nb_memory_controller_page_table_overflow", 0xe1, 0, NULL },
	{ "nb_memory_controller_turnaround", 0xe3, 0x07,
	  "dimm-turnaround=1 read-to-write-turnaround=2 "
	  "write-to-read-turnaround=4" },
	{ "nb_probe_result", 0xec, 0x0f,
	  "probe-miss=1 probe-hit=2 probe-hit-dirty-no-memory-cancel=4 "
	  "probe-hit-dirty-with-memory-cancel=8" },
	{ "nb_sized_commands", 0xeb, 0x7f,
	  "nonpostwrszbyte=1 nonpostwrszdword=2 postwrszbyte=4 postwrszdword=8 "
	  "rdszbyte=16 rdszdword=32 rdmodwr=64" },
};
/* clang-format on */

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

const struct event_generic *event_generic_at(unsigned int n)
{
	return n < LEN(generics) ? &generics[n] : NULL;
}

const char *event_alias_at(unsigned int n)
{
	return n < LEN(aliases) ? aliases[n].alias : NULL;
}

/* `name` is in normal form, the generic's own is not. */
static const struct event_generic *generic_find(const char *name)
{
	for (size_t i = 0; i < LEN(generics); i++)
		if (event_is(generics[i].name, name))
			return &generics[i];
	return NULL;
}

const struct event_generic *event_alias(const char *name, unsigned int *how)
{
	char own[32];
	size_t i;

	*how = 0;
	for (i = 0; i < LEN(aliases); i++)
		if (!strcmp(aliases[i].alias, name)) {
			*how = aliases[i].how;
			event_normal(aliases[i].generic, own, sizeof(own));
			return generic_find(own);
		}
	return generic_find(name);
}

const char *event_near_perf(const char *name)
{
	for (size_t i = 0; i < LEN(perfs); i++)
		if (!strcmp(perfs[i].name, name))
			return perfs[i].near;
	return NULL;
}

/* Which column of event_generic.amd. */
static unsigned int amd_era(const struct event_machine *m)
{
	if (m->pmu_version >= 2 || m->family >= 0x1a)
		return 3;
	if (m->family == 0x19)
		return 2;
	return m->family >= 0x17 ? 1 : 0;
}

uint64_t event_generic_amd(const struct event_machine *m,
			   const struct event_generic *g)
{
	return g->amd[amd_era(m)];
}

/* ------------------------------------------------------------------------ */

const struct event_k8 *event_k8_at(unsigned int n)
{
	return n < LEN(k8_events) ? &k8_events[n] : NULL;
}

const struct event_k8 *event_k8(const char *name)
{
	size_t i;

	for (i = 0; i < LEN(k8_events); i++)
		if (!strcmp(k8_events[i].name, name))
			return &k8_events[i];
	return NULL;
}

/* The value of `word` in "name=value name=value", or -1. */
static int mask_value(const char *masks, const char *word)
{
	unsigned int value;
	char name[64];
	int used;

	while (masks && sscanf(masks, " %63[^=]=%u%n", name, &value,
			       &used) == 2) {
		if (event_is(name, word))
			return (int)value;
		masks += used;
	}
	return -1;
}

int event_k8_mask(const struct event_k8 *k, const char *list)
{
	char word[64], normal[64];
	const char *end;
	uint64_t n;
	int bits = 0, value;

	for (;; list = end + 1) {
		end = list + strcspn(list, "+");
		snprintf(word, sizeof(word), "%.*s", (int)(end - list), list);
		event_normal(word, normal, sizeof(normal));
		if (event_number(word, word + strlen(word), 0xff, &n))
			value = (int)n;
		else
			value = mask_value(k->masks, normal);
		if (value < 0)
			return -1;
		bits |= value;
		if (!*end)
			return bits;
	}
}
