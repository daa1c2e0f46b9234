// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf.c - a file of perf record: as a log, record by record, and as a profile, which reads it
 * twice. Both must agree on the samples of a whole file.
 */
#include <libhwpmcstat.h>
#include <stdio.h>

#include "fuzz.h"

static int64_t count_samples(const uint8_t *data, size_t size, bool *cut)
{
	struct hwpmc_input *in = hwpmc_input_memory(data, size);
	struct hwpmc_record r;
	int64_t n = 0;
	int rc;

	need(in != NULL, "no input");
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		n += r.hdr->type == HWPMC_LOG_CALLCHAIN;
	need(rc == 0 || *hwpmc_input_error(in), "a failure without a sentence");
	*cut = hwpmc_input_cut(in);
	hwpmc_input_close(in);
	return rc < 0 ? -1 : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hwpmc_profile_options o = { .symbols = { .no_symbols = true } };
	struct hwpmc_input *in;
	struct hwpmc_profile *p;
	char err[600] = "";
	bool cut;
	int64_t n;

	if (size < 16)
		return 0;
	n = count_samples(data, size, &cut);
	in = hwpmc_input_memory(data, size);
	p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	need(!p == (n < 0) && (p || *err), "a profile and its records disagree");
	if (p)
		need((int64_t)hwpmc_profile_totals(p)->samples == n &&
		     hwpmc_profile_totals(p)->cut == cut, "other samples at the second time");
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
	return 0;
}
