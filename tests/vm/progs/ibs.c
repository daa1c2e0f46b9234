// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibs.c - what the emulated PMU has sampled on all CPUs: `ibs op rip` prints these two items.
 * `ibs --sum` adds up the addresses on stdin: their number and sum. `ibs --differ N0 S0 N1 S1 N S`
 * fails unless N samples with the sum S are those between the two prints, and at least 100.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpmu_guest.h"

static int sum(void)
{
	unsigned long long x, n = 0, s = 0;

	for (; scanf("%llx", &x) == 1; n++)
		s += x;
	printf("%llu %llu\n", n, s);
	return 0;
}

static int differ(char **arg)
{
	unsigned long long x[6];

	for (int i = 0; i < 6; i++)
		x[i] = strtoull(arg[i], NULL, 10);
	printf("# %llu samples of %llu\n", x[4], x[2] - x[0]);
	return x[4] < 100 || x[4] != x[2] - x[0] || x[5] != x[3] - x[1];
}

static int item(const char *name)
{
	static const struct { const char *name; int item; } known[] = {
		{ "op", VPMU_IBS_OP }, { "rip", VPMU_IBS_OP_RIP }, { "fetch", VPMU_IBS_FETCH },
		{ "lin", VPMU_IBS_FETCH_LIN },
	};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].item;
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--sum"))
		return sum();
	if (argc == 8 && !strcmp(argv[1], "--differ"))
		return differ(argv + 2);
	for (int i = 1; i < argc; i++)
		printf("%llu%c", (unsigned long long)vpmu_ibs(item(argv[i]), VPMU_ALL_VCPUS),
		       i + 1 < argc ? ' ' : '\n');
	return argc < 2;
}
