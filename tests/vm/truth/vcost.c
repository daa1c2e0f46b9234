/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vcost.c - prints how many million instructions all CPUs of this machine have executed
 * since it was started, or 0 without the emulated PMU. What a test costs, by two of
 * these, does not depend on how busy the host is.
 */
#include <inttypes.h>
#include <stdio.h>

#include "vpmu_guest.h"

int main(void)
{
	uint64_t n = vpmu_present() ? vpmu_all(VPMU_USER_INSN) + vpmu_all(VPMU_KERNEL_INSN) : 0;

	printf("%" PRIu64 "\n", n / 1000000);
	return 0;
}
