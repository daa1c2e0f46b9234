// SPDX-License-Identifier: BSD-2-Clause
/* kmod_hold.c - see kmod_hold.h. */
#define _GNU_SOURCE
#include "../tests/kmod_dev.h"
#include "kmod_hold.h"

#define HOLD	"/sys/kernel/debug/hold"

void hold_at(const char *symbol)
{
	hold_at_call(symbol, 0);
}

void hold_at_call(const char *symbol, unsigned int skip)
{
	char cmd[160];

	/* It may be loaded by a test that failed. */
	snprintf(cmd, sizeof(cmd), "[ ! -e " HOLD " ] || rmmod holdmod; "
		 "insmod build/vm/kmods/$(uname -r)/holdmod.ko symbol=%s skip=%u",
		 symbol, skip);
	ck_assert_msg(!system(cmd), "cannot hold at %s", symbol);
	dev_calm();
}

void hold_arm(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", (unsigned int)pid);
	dev_put(HOLD, text);
}

void hold_wait(void)
{
	char c = '0';

	while (c != '1') {
		FILE *f = fopen(HOLD, "r");

		ck_assert_ptr_nonnull(f);
		c = fgetc(f);
		fclose(f);
		/* Each test has a limit of CPU time. */
		usleep(500);
	}
}

void hold_end(void)
{
	dev_put(HOLD, "0");
	ck_assert_int_eq(system("rmmod holdmod"), 0);
}
