/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c - files below the root that is looked at; see doctor.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "doctor.h"

/* Files of the kernel and of firmware are small; this bounds what is no such file. */
#define FILE_MAX	(4u << 20)

bool dr_live(const struct doctor *d)
{
	return !d->root[0];
}

static const char *path_below(const struct doctor *d, char path[DR_PATH], const char *fmt,
			      va_list ap)
{
	int n = snprintf(path, DR_PATH, "%s", d->root);

	if (n < DR_PATH)
		vsnprintf(path + n, DR_PATH - n, fmt, ap);
	return path;
}

const char *dr_path(const struct doctor *d, char path[DR_PATH], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	path_below(d, path, fmt, ap);
	va_end(ap);
	return path;
}

bool dr_exists(const struct doctor *d, const char *fmt, ...)
{
	char path[DR_PATH];
	va_list ap;

	va_start(ap, fmt);
	path_below(d, path, fmt, ap);
	va_end(ap);
	return access(path, F_OK) == 0;
}

FILE *dr_open(const struct doctor *d, const char *path)
{
	char whole[DR_PATH];

	return fopen(dr_path(d, whole, "%s", path), "re");
}

bool dr_first_line(const struct doctor *d, const char *path, char *line, size_t size)
{
	FILE *f = dr_open(d, path);
	bool read = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (!read)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return read;
}

char *dr_read_all(const struct doctor *d, const char *path, size_t *size)
{
	FILE *f = dr_open(d, path);
	char *data;

	if (!f)
		return NULL;
	data = must_calloc(1, FILE_MAX);
	*size = fread(data, 1, FILE_MAX - 1, f);
	fclose(f);
	return data;
}
