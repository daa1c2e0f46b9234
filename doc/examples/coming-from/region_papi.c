/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 region_papi.c -lpapi */
#include <papi.h>

#include "work.h"

int main(int argc, char *argv[])
{
	long long before, after, least = INT64_MAX, most = 0;
	int set = PAPI_NULL;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		errx(1, "PAPI_library_init");
	if (PAPI_create_eventset(&set) != PAPI_OK || PAPI_add_event(set, PAPI_TOT_INS) != PAPI_OK ||
	    PAPI_start(set) != PAPI_OK)
		errx(1, "cannot count PAPI_TOT_INS");
	for (unsigned long i = rounds(argc, argv); i; i--) {
		PAPI_read(set, &before);
		work(1000);
		PAPI_read(set, &after);
		if (after - before < least)
			least = after - before;
		if (after - before > most)
			most = after - before;
	}
	printf("least %lld, most %lld\n", least, most);
	return 0;
}
