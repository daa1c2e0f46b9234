/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c - source files that annotated functions come from, kept in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "source.h"

struct source_file {
	char *name;
	char **line;
	unsigned int n;			/* 0: it cannot be read */
};

static FILE *open_source(const struct sources *s, const char *name)
{
	char path[8300];
	FILE *f = NULL;

	if (s->root) {
		snprintf(path, sizeof(path), "%s%s", s->root, name);
		f = fopen(path, "re");
	}
	return f ? f : fopen(name, "re");
}

static void read_lines(struct source_file *file, FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!(file->n & (file->n - 1)))
			file->line = must_realloc(file->line, file->n ?
						  2 * file->n : 1,
						  sizeof(*file->line));
		file->line[file->n++] = must_strdup(line);
	}
	free(line);
}

static struct source_file *get_file(struct sources *s, const char *name)
{
	struct source_file *file;
	FILE *f;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->file[i].name, name) == 0)
			return &s->file[i];
	s->file = must_realloc(s->file, s->n + 1, sizeof(*s->file));
	file = &s->file[s->n++];
	*file = (struct source_file){ .name = must_strdup(name) };
	f = open_source(s, name);
	if (f) {
		read_lines(file, f);
		fclose(f);
	}
	return file;
}

const char *source_line(struct sources *s, const char *file, unsigned int line)
{
	const struct source_file *f = get_file(s, file);

	return line && line <= f->n ? f->line[line - 1] : NULL;
}

void sources_free(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		for (unsigned int j = 0; j < s->file[i].n; j++)
			free(s->file[i].line[j]);
		free(s->file[i].line);
		free(s->file[i].name);
	}
	free(s->file);
	*s = (struct sources){ .root = s->root };
}
