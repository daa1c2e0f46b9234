/* SPDX-License-Identifier: BSD-2-Clause */
/* fixed.c - a static program of the C library, at fixed addresses, that works a little. */
static volatile long sink;

int main(void)
{
	for (long i = 0; i < 300000; i++)
		sink += i;
	return 0;
}
