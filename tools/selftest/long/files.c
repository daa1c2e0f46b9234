/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c - files of one line, as /sys and /proc have them, and PMCs in system scope. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "long.h"

bool long_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(buf, (int)size, f);

	if (f)
		fclose(f);
	if (!got)
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return got;
}

bool long_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = strlen(text);
	bool done = fd >= 0 && write(fd, text, len) == len;

	if (fd >= 0)
		close(fd);
	return done;
}

bool long_add(struct selftest *t, struct st_pmcs *p, const char *spec, int cpu, uint64_t period)
{
	enum hwpmc_mode mode = period ? HWPMC_MODE_SS : HWPMC_MODE_SC;
	uint32_t id;

	if (p->n == HWPMC_ROW_MAX ||
	    hwpmc_allocate(t->h, spec, mode, 0, cpu, period, &id) < 0)
		return false;
	st_name_row(t, id, p->name[p->n]);
	p->entry[p->n++].pmcid = id;
	return true;
}
