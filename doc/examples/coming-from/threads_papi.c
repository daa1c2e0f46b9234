/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 -pthread threads_papi.c -lpapi */
#include <papi.h>
#include <pthread.h>

#include "work.h"

static unsigned long own_id(void)
{
	return (unsigned long)pthread_self();
}

static void *count_thread(void *n)
{
	int set = PAPI_NULL;
	long long value;

	if (PAPI_register_thread() != PAPI_OK || PAPI_create_eventset(&set) != PAPI_OK ||
	    PAPI_add_event(set, PAPI_TOT_INS) != PAPI_OK || PAPI_start(set) != PAPI_OK)
		errx(1, "cannot count PAPI_TOT_INS");
	work((uintptr_t)n);
	PAPI_stop(set, &value);
	printf("%lld instructions\n", value);
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
	PAPI_unregister_thread();
	return NULL;
}

int main(int argc, char *argv[])
{
	uintptr_t n = rounds(argc, argv);
	pthread_t thread[2];

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_thread_init(own_id) != PAPI_OK)
		errx(1, "PAPI_library_init");
	for (unsigned long pair = pairs(argc, argv); pair; pair--) {
		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, count_thread, (void *)(n * (i + 1)));
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}
