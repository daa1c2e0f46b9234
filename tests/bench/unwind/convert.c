// SPDX-License-Identifier: BSD-2-Clause
/*
 * convert.c - `convert ms FILE`: CPU milliseconds to make its table, the least of nine
 * times; `convert bytes FILE`: of the tables of it, its libraries and the vdso.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libhwpmcstat.h>

static unsigned long bytes_of(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct hwpmc_unwind u;
	unsigned long n;

	if (fd < 0 || hwpmc_unwind_read(fd, &u)) {
		perror(path);
		exit(1);
	}
	n = u.nrow * sizeof(u.row[0]);
	hwpmc_unwind_free(&u);
	close(fd);
	return n;
}

static unsigned long bytes_of_all(const char *path)
{
	char line[4096], *at, *end;
	struct hwpmc_unwind u;
	unsigned long n = bytes_of(path);
	FILE *f;

	if (hwpmc_unwind_read_vdso(&u))
		exit(1);
	n += u.nrow * sizeof(u.row[0]);
	hwpmc_unwind_free(&u);
	snprintf(line, sizeof(line), "/lib64/ld-linux-x86-64.so.2 --list '%s'", path);
	f = popen(line, "r");
	while (f && fgets(line, sizeof(line), f)) {
		at = strchr(line, '/');
		end = at ? strstr(at, " (0x") : NULL;
		if (!end)
			continue;
		*end = '\0';
		n += bytes_of(at);
	}
	if (!f || pclose(f))
		exit(1);
	return n;
}

static double ms_of(const char *path)
{
	double least = 1e9;

	for (int i = 0; i < 9; i++) {
		clock_t before = clock();
		double ms;

		bytes_of(path);
		ms = (clock() - before) * 1e3 / CLOCKS_PER_SEC;
		if (ms < least)
			least = ms;
	}
	return least;
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "ms"))
		printf("%.1f\n", ms_of(argv[2]));
	else
		printf("%lu\n", bytes_of_all(argv[2]));
	return 0;
}
