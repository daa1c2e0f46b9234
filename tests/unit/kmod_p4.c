// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_p4.c - requests to Netburst's CCCR and ESCR values, and which counters can count
 * what. libpfm4's own tables of these CPUs are the witness for the values. Each refused
 * request differs from an accepted one in the one thing that is refused.
 */
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>

#include "backends/p4_encode.h"
#include "backends/p4_regs.h"
#include "harness.h"

#define CODE(event, mask)	((u64)(event) << 57 | (u64)(mask) << 41)
#define INSTR_RETIRED		CODE(38, 1)
#define ESCR(sel)		((u32)((sel) >> 32))
#define MODES			0xfu	/* of both threads */

static u32 model;
static struct hwpmc_class cls = { .num = P4_NUM, .priv = &model };
static struct hwpmc_request req;
static struct hwpmc_encoding enc;

/* User and kernel instructions, process scope. */
static void setup(void)
{
	model = 4;
	req = (struct hwpmc_request){
		.caps = HWPMC_CAP_USER | HWPMC_CAP_SYSTEM,
		.flags = HWPMC_F_EV_PMU,
		.mode = HWPMC_MODE_TC,
		.cpu = HWPMC_CPU_ANY,
		.config = INSTR_RETIRED,
	};
	memset(&enc, 0xff, sizeof(enc));
}

static void gives(u64 sel, u64 rows)
{
	ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, sel);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_NONE);
}

static void refuses(u32 reason, s32 detail)
{
	ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), -EINVAL);
	ck_assert_uint_eq(enc.refusal.reason, reason);
	ck_assert_int_eq(enc.refusal.detail, detail);
	ck_assert_uint_eq(enc.rows, 0);
	ck_assert_uint_eq(enc.select.sel, 0);
}

/* ---- one request ---------------------------------------------------------- */

/* ESCR: event 2, mask bit 0; CCCR: any thread, select 4, enable. */
START_TEST(p4_modes_and_the_interrupt_are_those_of_thread_0)
{
	setup();
	gives(0x0400020c00039000, BIT_ULL(12) | BIT_ULL(14));
	req.caps = HWPMC_CAP_USER;
	gives(0x0400020400039000, BIT_ULL(12) | BIT_ULL(14));
	req.caps = HWPMC_CAP_SYSTEM;
	gives(0x0400020800039000, BIT_ULL(12) | BIT_ULL(14));
	req.mode = HWPMC_MODE_TS;
	gives(0x0400020804039000, BIT_ULL(12) | BIT_ULL(14));
	req.mode = HWPMC_MODE_SS;
	gives(0x0400020804039000, BIT_ULL(12) | BIT_ULL(14));
	req.mode = HWPMC_MODE_SC;
	gives(0x0400020800039000, BIT_ULL(12) | BIT_ULL(14));
}
END_TEST

START_TEST(p4_event_of_a_process_has_scope_core)
{
	static const struct { u32 mode; bool process; } modes[] = {
		{ HWPMC_MODE_SS, false }, { HWPMC_MODE_SC, false },
		{ HWPMC_MODE_TS, true }, { HWPMC_MODE_TC, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		setup();
		req.mode = modes[i].mode;
		ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), 0);
		ck_assert_int_eq(enc.scope == HWPMC_SCOPE_CORE, modes[i].process);
	}
}
END_TEST

START_TEST(p4_thread_1_has_bits_of_its_own)
{
	ck_assert_uint_eq(hwpmc_p4_escr_of_thread(0x0400020c, 0), 0x0400020c);
	ck_assert_uint_eq(hwpmc_p4_escr_of_thread(0x0400020c, 1), 0x04000203);
	ck_assert_uint_eq(hwpmc_p4_escr_of_thread(0x04000204, 1), 0x04000201);
	ck_assert_uint_eq(hwpmc_p4_escr_of_thread(0x04000208, 1), 0x04000202);
	ck_assert_uint_eq(hwpmc_p4_cccr_of_thread(0x04039000, 0), 0x04039000);
	ck_assert_uint_eq(hwpmc_p4_cccr_of_thread(0x04039000, 1), 0x08039000);
	ck_assert_uint_eq(hwpmc_p4_cccr_of_thread(0x00039000, 1), 0x00039000);
}
END_TEST

START_TEST(p4_qualifiers_of_the_cccr_are_passed_on)
{
	setup();
	req.config |= P4_CCCR_COMPARE | P4_CCCR_COMPLEMENT | 5 << 20 | P4_CCCR_EDGE;
	gives(0x0400020c015f9000, BIT_ULL(12) | BIT_ULL(14));
	setup();
	req.config |= P4_CCCR_THREAD_ANY;
	gives(0x0400020c00039000, BIT_ULL(12) | BIT_ULL(14));
}
END_TEST

/* ---- refusals ------------------------------------------------------------- */

START_TEST(p4_cascade_and_the_modules_own_bits_are_refused)
{
	/* mode bits, enable, select, interrupts, forced overflow, cascade, flag, … */
	static const u8 bits[] = { 0, 11, 12, 13, 14, 15, 25, 26, 27, 28, 29, 30, 31,
				   32, 33, 34, 35, 63 };

	for (unsigned int i = 0; i < ARRAY_SIZE(bits); i++) {
		setup();
		req.config |= BIT_ULL(bits[i]);
		refuses(HWPMC_WHY_EVENT_BITS, bits[i]);
	}
	/* "Active thread" is a condition on both threads, unless it is "any". */
	setup();
	req.config |= BIT_ULL(16);
	refuses(HWPMC_WHY_EVENT_BITS, 16);
	setup();
	req.config |= BIT_ULL(17);
	refuses(HWPMC_WHY_EVENT_BITS, 17);
	setup();
	req.config1 = BIT_ULL(3);
	refuses(HWPMC_WHY_EVENT_BITS, 64 + 3);
}
END_TEST

START_TEST(p4_mask_bits_that_the_event_lacks_are_refused)
{
	setup();
	req.config = CODE(38, 0x11);
	refuses(HWPMC_WHY_EVENT_BITS, 45);
	req.config = CODE(24, 3);
	refuses(HWPMC_WHY_EVENT_BITS, 42);
	req.config = CODE(24, 1);
	ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), 0);
}
END_TEST

START_TEST(p4_tagging_and_replay_are_refused)
{
	/* front_end, execution, replay, uop_type */
	static const u64 tagged[] = { CODE(35, 1), CODE(36, 1), CODE(37, 1),
				      CODE(40, 2) };

	for (unsigned int i = 0; i < ARRAY_SIZE(tagged); i++) {
		setup();
		req.config = tagged[i];
		refuses(HWPMC_WHY_EVENT_ROWS, 0);
	}
	for (unsigned int bit = 36; bit <= 40; bit++) {
		setup();
		req.config |= BIT_ULL(bit);
		refuses(HWPMC_WHY_EVENT_ROWS, 0);
	}
}
END_TEST

START_TEST(p4_what_is_no_event_is_refused)
{
	setup();
	req.flags = 0;
	refuses(HWPMC_WHY_EVENT, 0);
	for (unsigned int n = 46; n < 64; n++) {
		setup();
		req.config = CODE(n, 1);
		refuses(HWPMC_WHY_EVENT, 0);
	}
	/* No mask: it would count nothing. */
	setup();
	req.config = CODE(38, 0);
	refuses(HWPMC_WHY_EVENT, 0);
	setup();
	req.config = CODE(45, 1);
	ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), 0);
	model = 5;
	refuses(HWPMC_WHY_EVENT, 0);
}
END_TEST

/* ---- all events ----------------------------------------------------------- */

/* Counters of the unit's group that listen to the first ESCR, and to the second. */
static u64 group_of_escr(u32 escr, unsigned int second)
{
	static const u64 groups[4][2] = {
		{ 0x1, 0xc }, { 0x30, 0xc0 }, { 0x300, 0xc00 }, { 0x13000, 0x2c000 },
	};

	switch (escr & ~1u) {
	case 0x3a0: case 0x3a2: case 0x3aa: case 0x3ac: case 0x3b2: case 0x3b6:
		return groups[0][second];
	case 0x3c0: case 0x3c2: case 0x3c4:
		return groups[1][second];
	case 0x3a4: case 0x3a8: case 0x3ae:
		return groups[2][second];
	case 0x3b8: case 0x3ca: case 0x3cc:
		return groups[3][second];
	}
	ck_abort_msg("no event uses ESCR %#x", escr);
	return 0;
}

/* Rows of an accepted event are its unit's, and no ESCR is used by two of them. */
static void check_rows(void)
{
	static u64 row_of_escr[0x42];
	unsigned int unit = enc.select.extra;
	u64 rows;

	for (rows = enc.rows; rows; rows &= rows - 1) {
		unsigned int ri = __builtin_ctzll(rows), half = hwpmc_p4_half(ri);
		u32 escr = hwpmc_p4_escr(unit, half);

		ck_assert_uint_eq(half, escr & 1);
		ck_assert(BIT_ULL(ri) & group_of_escr(escr, half));
		row_of_escr[escr - P4_ESCR_FIRST] |= BIT_ULL(ri);
		ck_assert_uint_eq(row_of_escr[escr - P4_ESCR_FIRST], BIT_ULL(ri));
	}
}

static unsigned int accepted, refused;

/* What libpfm4 would write to the registers is what the module writes for the code that
 * libpfm4 gives perf. */
static void check_encoding(const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t perf = { .attr = &attr, .size = sizeof(perf) };
	pfm_pmu_encode_arg_t raw = { .size = sizeof(raw) };

	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
				      &perf) != PFM_SUCCESS)
		return;
	ck_assert_int_eq(pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
						   PFM_OS_NONE, &raw), PFM_SUCCESS);
	setup();
	req.config = attr.config & ~0xf0000f000ull;	/* modes, select, enable */
	if (hwpmc_p4_encode(&cls, &req, &enc)) {
		ck_assert(enc.refusal.reason == HWPMC_WHY_EVENT_ROWS ||
			  enc.refusal.reason == HWPMC_WHY_EVENT ||
			  enc.refusal.reason == HWPMC_WHY_EVENT_BITS);
		refused++;
	} else {
		ck_assert_msg((ESCR(enc.select.sel) & ~MODES) == (raw.codes[0] & ~MODES) &&
			      (u32)enc.select.sel == (u32)raw.codes[1],
			      "%s: %#llx, libpfm4 has %#llx %#llx", name,
			      (unsigned long long)enc.select.sel,
			      (unsigned long long)raw.codes[0],
			      (unsigned long long)raw.codes[1]);
		check_rows();
		accepted++;
	}
	free(raw.codes);
}

static void check_event(int idx)
{
	pfm_event_info_t ev = { .size = sizeof(ev) };
	pfm_event_attr_info_t attr;
	char name[128];

	ck_assert_int_eq(pfm_get_event_info(idx, PFM_OS_NONE, &ev), PFM_SUCCESS);
	for (int i = 0; i < ev.nattrs; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		if (pfm_get_event_attr_info(idx, i, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		snprintf(name, sizeof(name), "netburst_p::%s:%s", ev.name, attr.name);
		check_encoding(name);
	}
}

START_TEST(p4_registers_are_those_of_libpfm4_for_every_event)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };

	setenv("LIBPFM_FORCE_PMU", "netburst_p", 1);
	ck_assert_int_eq(pfm_initialize(), PFM_SUCCESS);
	ck_assert_int_eq(pfm_get_pmu_info(PFM_PMU_INTEL_NETBURST_P, &info), PFM_SUCCESS);
	for (int i = info.first_event; i != -1; i = pfm_get_event_next(i))
		check_event(i);
	printf("# %u masks accepted, %u refused\n", accepted, refused);
	ck_assert_uint_gt(accepted, 100);
}
END_TEST

START_TEST(p4_events_of_one_escr_have_one_row)
{
	/* IOQ_active_entries, BSQ_active_entries: the second; BSQ_allocation: the first */
	static const struct { u64 code, rows; } one[] = {
		{ CODE(11, 1), BIT_ULL(2) }, { CODE(14, 1), BIT_ULL(3) },
		{ CODE(13, 1), BIT_ULL(0) },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(one); i++) {
		setup();
		req.config = one[i].code;
		ck_assert_int_eq(hwpmc_p4_encode(&cls, &req, &enc), 0);
		ck_assert_uint_eq(enc.rows, one[i].rows);
	}
}
END_TEST

START_TEST(p4_each_thread_has_half_of_the_rows)
{
	for (unsigned int ri = 0; ri < P4_NUM; ri++) {
		bool second = ri == 2 || ri == 3 || ri == 6 || ri == 7 || ri == 10 ||
			      ri == 11 || ri == 14 || ri == 15 || ri == 17;

		ck_assert_uint_eq(hwpmc_p4_half(ri), second);
		ck_assert_int_eq(!!(P4_ROWS_THREAD1 & BIT_ULL(ri)), second);
		ck_assert_int_eq(!!(P4_ROWS_THREAD0 & BIT_ULL(ri)), !second);
	}
}
END_TEST

int main(void)
{
	harness_add(p4_modes_and_the_interrupt_are_those_of_thread_0);
	harness_add(p4_event_of_a_process_has_scope_core);
	harness_add(p4_thread_1_has_bits_of_its_own);
	harness_add(p4_qualifiers_of_the_cccr_are_passed_on);
	harness_add(p4_cascade_and_the_modules_own_bits_are_refused);
	harness_add(p4_mask_bits_that_the_event_lacks_are_refused);
	harness_add(p4_tagging_and_replay_are_refused);
	harness_add(p4_what_is_no_event_is_refused);
	harness_add(p4_registers_are_those_of_libpfm4_for_every_event);
	harness_add(p4_events_of_one_escr_have_one_row);
	harness_add(p4_each_thread_has_half_of_the_rows);
	return harness_run();
}
