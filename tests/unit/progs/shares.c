/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.c - a program whose functions a test finds by name and hits as often as it
 * likes, in a log that it makes. Never run.
 */
int sixty(int n)
{
	return n + 60;
}

int thirty(int n)
{
	return n + 30;
}

int ten(int n)
{
	return n + 10;
}

int work(int n)
{
	return sixty(n) + ten(n);
}

int main(void)
{
	return work(1) + thirty(2);
}

static inline __attribute__((always_inline)) int inner(int n)
{
	__asm__ volatile("mark_inner: nop");
	return n + 1;
}

int outer(int n)
{
	return inner(n);
}
