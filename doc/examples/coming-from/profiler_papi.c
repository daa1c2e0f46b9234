/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 profiler_papi.c -lpapi */
#include <papi.h>

#include "work.h"

static volatile uint64_t samples;

/* A signal handler: nothing that is not safe there may be called. */
static void take(int set, void *address, long long counters, void *context)
{
	(void)set;
	(void)address;
	(void)counters;
	(void)context;
	samples++;
}

int main(int argc, char *argv[])
{
	int set = PAPI_NULL;
	long long value;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		errx(1, "PAPI_library_init");
	if (PAPI_create_eventset(&set) != PAPI_OK || PAPI_add_event(set, PAPI_TOT_INS) != PAPI_OK ||
	    PAPI_overflow(set, PAPI_TOT_INS, 100003, 0, take) != PAPI_OK ||
	    PAPI_start(set) != PAPI_OK)
		errx(1, "cannot sample PAPI_TOT_INS");
	for (unsigned long i = rounds(argc, argv); i; i--)
		work(100000);
	PAPI_stop(set, &value);
	printf("%" PRIu64 " samples\n", samples);
	return 0;
}
