/* SPDX-License-Identifier: BSD-2-Clause */
/* missing.c - what a log lacks, in words. Pure but for the output. */
#include <inttypes.h>

#include <libhwpmc.h>
#include <libhwpmclog.h>
#include <libhwpmcstat.h>

#include "missing.h"

const char *missing_advice(uint32_t cause)
{
	switch (cause) {
	case HWPMC_DROP_FULL:
		return "sample less often (-F, -c) or use larger rings (--ring-size)";
	case HWPMC_DROP_LATE:
	case HWPMC_DROP_PAUSED:
		return "sample less often (-F, -c)";
	case HWPMC_DROP_CLOSED:
		return "they were taken after the log ended or could not be written";
	case HWPMC_DROP_BUSY:
		return "addresses in mappings of that time have no symbols";
	case HWPMC_DROP_FILTERED:
		return "the hardware sampled a mode that was not asked for";
	case HWPMC_DROP_UNCOUNTED:
		return "the hardware does not count them, so more may be lost; sample less often (-F, -c)";
	default:
		return "see hwpmc_log(5) of the newer module that wrote the log";
	}
}

uint64_t missing_sum(const uint64_t *dropped, uint32_t n)
{
	uint64_t sum = 0;

	while (n--)
		sum += missing_is_loss(n) ? dropped[n] : 0;
	return sum;
}

bool missing_warns(uint64_t lost, uint64_t all)
{
	return all && 100.0 * lost / all >= MISSING_WARN;
}

void missing_paused_text(uint64_t lost, uint64_t all, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRIu64 " of %" PRIu64 " samples (%.1f %%) are missing", lost, all,
		 all ? 100.0 * lost / all : 0);
}

bool missing_put_pauses(FILE *f, const char *lead, const struct missing_pauses *m)
{
	char share[100];

	if (!m->times && !m->lost)
		return false;
	fprintf(f, "%s%ssampling was paused %" PRIu64 " time%s, %.3f s in all", lead,
		missing_warns(m->lost, m->all) ? "warning: " : "", m->times,
		m->times == 1 ? "" : "s", m->ns / 1e9);
	/* None in a log of a module that did not count them. */
	missing_paused_text(m->lost, m->all, share, sizeof(share));
	if (m->lost && m->all)
		fprintf(f, ": %s", share);
	fputs("; sampling used ", f);
	if (m->percent)
		fprintf(f, "up to %u %% of a CPU", m->percent);
	else
		fputs("too much CPU time", f);
	fputs("; sample less often (-F, -c), or see kern.hwpmc.selfcost in hwpmc(4)", f);
	return true;
}

static void put_loss(FILE *f, const struct hwpmc_profile_loss *loss)
{
	struct hwpmc_classnote note = { .reason = loss->reason, .detail = loss->detail };
	char why[400];

	hwpmc_note_text(&note, why, sizeof(why));
	fprintf(f, "samples may be missing on %u CPU%s from %.3f s to ", loss->ncpu,
		loss->ncpu == 1 ? "" : "s", loss->from / 1e9);
	if (loss->open)
		fputs("the end", f);
	else
		fprintf(f, "%.3f s", loss->until / 1e9);
	fprintf(f, " of the log: %s", why);
}

void missing_put_losses(FILE *f, const char *lead, const struct hwpmc_profile *p,
			uint32_t event)
{
	const struct hwpmc_profile_loss *loss;
	uint32_t n;

	loss = hwpmc_profile_losses(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (loss[i].event != event)
			continue;
		fputs(lead, f);
		put_loss(f, &loss[i]);
		fputc('\n', f);
	}
}

static uint64_t count_chains(const uint64_t *chain)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < HWPMC_CHAIN__COUNT; i++)
		n += chain[i];
	return n;
}

bool missing_chains(const uint64_t *chain)
{
	return count_chains(chain) > 0;
}

void missing_put_chains(FILE *f, const uint64_t *chain,
			void (*where)(FILE *f, uint32_t end, void *arg), void *arg)
{
	uint64_t all = count_chains(chain);

	fprintf(f, "%.1f %% of %" PRIu64 " call chains complete",
		100.0 * chain[HWPMC_CHAIN_COMPLETE] / all, all);
	for (uint32_t i = 1; i < HWPMC_CHAIN__COUNT; i++) {
		if (!chain[i])
			continue;
		fprintf(f, "; %" PRIu64 " end early: %s", chain[i],
			hwpmc_name_of_chain_end(i));
		if (where)
			where(f, i, arg);
	}
}

void missing_put_short(FILE *f, uint64_t fp_chains, uint64_t fp_short)
{
	fprintf(f, "%.1f %% of %" PRIu64 " call chains end early, in code without frame pointers; use record -g, which finds callers by unwind tables",
		100.0 * fp_short / fp_chains, fp_chains);
}
