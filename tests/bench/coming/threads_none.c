/* SPDX-License-Identifier: BSD-2-Clause */
/* threads_none.c - the threads of doc/examples/coming-from/threads_*.c, without counters. */
#include <pthread.h>

#include "work.h"

static void *count_nothing(void *n)
{
	work((uintptr_t)n);
	printf("%lu instructions\n", 2 * (unsigned long)(uintptr_t)n + 1);
	return NULL;
}

int main(int argc, char *argv[])
{
	uintptr_t n = rounds(argc, argv);
	pthread_t thread[2];

	for (unsigned long pair = pairs(argc, argv); pair; pair--) {
		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, count_nothing, (void *)(n * (i + 1)));
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}
