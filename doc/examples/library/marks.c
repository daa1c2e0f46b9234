/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with marks, which somebody else may count:
 *	cc -O2 marks.c $(pkg-config --cflags --libs libhwpmc) -o marks
 *	hwpmc stat --markers -e instructions:u ./marks
 */
#include <stdint.h>
#include <stdio.h>

#include <hwpmc_mark.h>

static uint64_t work(uint64_t n)
{
	uint64_t sum = 0;

	HWPMC_MARK_BEGIN("work");
	for (uint64_t i = 0; i < n; i++) {
		sum += i;
		__asm__ __volatile__("" : "+r"(sum));
	}
	HWPMC_MARK_END("work");
	return sum;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 100; i++)
		sum += work(1000);
	printf("sum %llu\n", (unsigned long long)sum);
	return 0;
}
