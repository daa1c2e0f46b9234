/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_perf_log.h - a file of perf record that a test makes, and the log that it becomes. */
#ifndef STAT_PERF_LOG_H
#define STAT_PERF_LOG_H

#include <stdio.h>

#include <perf_format.h>

#include "perfgen.h"
#include "stat_log.h"

#define PID		42
#define TID		43
#define TEXT		0x400000ull
#define KERNEL		0xffffffff81000000ull
#define USUAL		(PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_CPU | PERF_S_PERIOD | \
			 PERF_S_CALLCHAIN)
#define FLAGS		(PERF_A_FREQ | PERF_A_ID_ALL)

static struct perfgen g;
static struct hwpmc_input *in;
static struct hwpmc_profile *p;

static inline void setup(void)
{
	perfgen_begin(&g, false);
}

static inline void teardown(void)
{
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	perfgen_free(&g);
}

static inline struct perfgen_event usual_event(void)
{
	return (struct perfgen_event){ .type = PERF_T_SOFTWARE, .period = 4000, .name = "clock",
				       .sample_type = USUAL, .flags = FLAGS, .id = 11 };
}

static inline void begin(bool pipe, uint64_t fields)
{
	struct perfgen_event e = usual_event();

	teardown();
	in = NULL;
	p = NULL;
	perfgen_begin(&g, pipe);
	e.sample_type = fields;
	perfgen_event(&g, &e);
}

static inline struct perfgen_sample usual_sample(void)
{
	static const uint64_t chain[] = {
		PERF_CONTEXT_USER, TEXT + 0x10, TEXT + 0x20, TEXT + 0x30,
	};

	return (struct perfgen_sample){
		.misc = PERF_MODE_USER, .ip = TEXT + 0x10, .period = 250, .pid = PID, .tid = TID,
		.cpu = 1, .nchain = 4, .chain = chain,
	};
}

static inline void some_samples(uint32_t n)
{
	struct perfgen_sample s = usual_sample();

	for (uint32_t i = 0; i < n; i++) {
		s.cpu = i % 3;
		s.tid = TID + i % 2;
		perfgen_sample(&g, &s);
	}
}

/* ---- the log ------------------------------------------------------------- */

static inline void open_it(void)
{
	hwpmc_input_close(in);
	in = hwpmc_input_memory(g.out.bytes, g.out.len);
	ck_assert_ptr_nonnull(in);
}

/* The nth record of a type; it stays until the next call. */
static inline const struct hwpmc_record *record(uint8_t type, uint32_t n)
{
	static struct hwpmc_record r;
	int rc;

	open_it();
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		if (r.hdr->type == type && !n--)
			return &r;
	ck_assert_msg(rc == 0, "%s", hwpmc_input_error(in));
	ck_abort_msg("no such record of type %u", type);
	return NULL;
}

static inline uint32_t count(uint8_t type)
{
	struct hwpmc_record r;
	uint32_t n = 0;
	int rc;

	open_it();
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		n += r.hdr->type == type;
	ck_assert_msg(rc == 0, "%s", hwpmc_input_error(in));
	return n;
}

static inline bool has_note(const char *text)
{
	struct hwpmc_record r;

	open_it();
	while (hwpmc_input_next(in, &r) > 0)
		if (r.hdr->type == HWPMC_LOG_NOTE && !strcmp(r.note->text, text))
			return true;
	return false;
}

static inline void profile(const struct hwpmc_profile_options *o)
{
	struct log log = { .bytes = g.out.bytes, .len = g.out.len };

	hwpmc_profile_free(p);
	p = log_profile(&log, o);
}

static inline void check_pcs(const struct hwpmc_record *r, uint8_t flags, uint32_t n, const uint64_t *pc)
{
	ck_assert_uint_eq(r->hdr->flags, flags);
	ck_assert_uint_eq(r->npc, n);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(r->sample->pc[i], pc[i]);
}

/* A read that must fail, with these words. */
static inline void check_refused(const char *words)
{
	struct hwpmc_record r;
	int rc;

	open_it();
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		;
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(strstr(hwpmc_input_error(in), words), "%s", hwpmc_input_error(in));
	ck_assert_ptr_null(strchr(hwpmc_input_error(in), '\n'));
}

#endif /* STAT_PERF_LOG_H */
