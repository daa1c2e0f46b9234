/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c - source files that annotated functions come from, kept in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "source.h"

#define SOURCE_LIMIT	(64u << 20)
#define NOBODY		65534
#define ABSENT		"(source file not found)"

struct source_file {
	char *name;
	uid_t owner;			/* of the file that names it */
	const char *within;		/* the image's, or NULL */
	char **line;
	unsigned int n;			/* 0: it cannot be read */
	char absent[160];		/* in place of a line: why there is none */
};

/*
 * The debugging information of a program names them: its owner must be able to read them,
 * else they would show in a report of root's.
 */
static FILE *open_source(const struct sources *s, const char *name,
			 const char **why)
{
	struct hwpmc_guard guard = {
		.root = s->within ? s->within : s->root, .limit = SOURCE_LIMIT,
		.owned = true, .owner = s->owner, .group = s->group,
	};
	FILE *f;
	int fd;

	*why = "its program is no longer at its path";
	if (s->within && !*s->within)
		return NULL;
	fd = hwpmc_open_guarded(&guard, name, why);
	/* Elsewhere only what everybody can read: the program is of another system. */
	if (fd < 0 && s->root && !s->within) {
		guard.root = NULL;
		guard.owner = guard.group = NOBODY;
		fd = hwpmc_open_guarded(&guard, name, why);
	}
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !f)
		close(fd);
	return f;
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
	const char *why;
	FILE *f;

	for (size_t i = 0; i < s->n; i++)
		if (s->file[i].owner == s->owner && s->file[i].within == s->within &&
		    strcmp(s->file[i].name, name) == 0)
			return &s->file[i];
	s->file = must_realloc(s->file, s->n + 1, sizeof(*s->file));
	file = &s->file[s->n++];
	*file = (struct source_file){
		.name = must_strdup(name), .owner = s->owner, .within = s->within,
	};
	strcpy(file->absent, ABSENT);
	f = open_source(s, name, &why);
	if (f) {
		read_lines(file, f);
		fclose(f);
	} else if (s->within || access(name, F_OK) == 0) {
		snprintf(file->absent, sizeof(file->absent),
			 "(cannot show the source: %s)", why);
	}
	return file;
}

void sources_of(struct sources *s, const struct hwpmc_image *image)
{
	s->owner = image->lines_owner;
	s->within = image->root;
	s->group = image->lines_group;
}

const char *source_line(struct sources *s, const char *file, unsigned int line)
{
	const struct source_file *f = get_file(s, file);

	if (!f->n)
		return "";
	return line && line <= f->n ? f->line[line - 1] : f->absent;
}

const char *source_absent(struct sources *s, const char *file)
{
	const struct source_file *f = get_file(s, file);

	return f->n ? NULL : f->absent;
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
