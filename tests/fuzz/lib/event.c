// SPDX-License-Identifier: BSD-2-Clause
/* event.c - the grammar of event specifications, on machines of four kinds. */
#include <errno.h>

#include "../../unit/lib_machines.h"
#include "fuzz.h"

static void parse(const struct event_machine *m, const char *spec)
{
	struct event_error e = { .err = 0 };
	struct hwpmc_event ev;

	if (!event_parse(m, spec, &ev, &e)) {
		need(ev.ncode >= 1 && ev.ncode <= HWPMC_EVENT_CODES,
		     "an answer without a code");
		return;
	}
	need(e.err == EINVAL || e.err == ENOENT, "another errno");
	need(e.at <= strlen(spec) && e.text[0], "a refusal without a place");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event_machine machine[4];
	static bool ready;
	char *spec;

	if (!ready) {
		machine[3] = machine_with_ibs();
		machine[2] = machine_without_pmu();
		machine[1] = machine_zen_1();
		machine[0] = machine_skylake();
		ready = true;
	}
	if (size > 512)
		return 0;
	spec = text_of(data, size);
	for (int i = 0; i < 4; i++)
		parse(&machine[i], spec);
	free(spec);
	return 0;
}
