/* SPDX-License-Identifier: BSD-2-Clause */
/* define.c - see define.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "define.h"

#define FILE_MAX	(1u << 20)
#define SUFFIX		".metrics"

/* ---- a text -------------------------------------------------------------- */

struct reader {
	struct defines *d;
	struct define *def;		/* of the section; NULL: before the first */
	const char *file;
	unsigned int line;
};

static int refuse(const struct reader *r, const char *why)
{
	msg("metrics: %s:%u: %s; see hwpmc_metrics(5)", r->file, r->line, why);
	return -1;
}

/* Without blanks around it; the memory is the line's. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	for (n = strlen(s); n && strchr(" \t\r", s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

static void set_text(char **field, const char *text)
{
	free(*field);
	*field = must_strdup(text);
}

/* A section that ends must have a formula that can be read. */
static int check_section(const struct reader *r)
{
	struct formula f;
	const char *why;

	if (!r->def)
		return 0;
	if (!r->def->formula)
		return refuse(r, "the metric before this line has no formula");
	if (formula_parse(&f, r->def->formula, &why) < 0) {
		msg("metrics: %s:%u: the formula of '%s': %s; see hwpmc_metrics(5)",
		    r->file, r->def->line, r->def->name, why);
		return -1;
	}
	formula_free(&f);
	return 0;
}

static int begin_section(struct reader *r, char *line)
{
	char *end = strchr(line, ']');

	if (!end || end[1] || end == line + 1)
		return refuse(r, "a metric must begin with its name in brackets");
	*end = '\0';
	if (check_section(r) < 0)
		return -1;
	r->d->def = must_realloc(r->d->def, r->d->n + 1, sizeof(*r->d->def));
	r->def = &r->d->def[r->d->n++];
	*r->def = (struct define){
		.name = must_strdup(trim(line + 1)), .groups = must_strdup(""),
		.cpu = must_strdup("*"), .unit = must_strdup(""),
		.desc = must_strdup(""), .file = must_strdup(r->file), .line = r->line,
	};
	return 0;
}

static int set_smt(struct reader *r, const char *value)
{
	r->def->alone = strcmp(value, "off") == 0;
	return r->def->alone || strcmp(value, "any") == 0 ? 0 :
	       refuse(r, "invalid value of 'smt': use off or any");
}

static int set_field(struct reader *r, char *line)
{
	char *equals = strchr(line, '='), *key, *value;

	if (!r->def)
		return refuse(r, "a metric must begin with its name in brackets");
	if (!equals)
		return refuse(r, "invalid line: expected 'key = value'");
	*equals = '\0';
	key = trim(line);
	value = trim(equals + 1);
	if (strcmp(key, "smt") == 0)
		return set_smt(r, value);
	if (strcmp(key, "groups") == 0)
		set_text(&r->def->groups, value);
	else if (strcmp(key, "cpu") == 0)
		set_text(&r->def->cpu, value);
	else if (strcmp(key, "unit") == 0)
		set_text(&r->def->unit, value);
	else if (strcmp(key, "desc") == 0)
		set_text(&r->def->desc, value);
	else if (strcmp(key, "formula") == 0)
		set_text(&r->def->formula, value);
	else
		return refuse(r, "unknown key: expected groups, cpu, smt, unit, desc or formula");
	return 0;
}

static int read_line(struct reader *r, char *line)
{
	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	return *line == '[' ? begin_section(r, line) : set_field(r, line);
}

int defines_add(struct defines *d, const char *file, const char *text, size_t len)
{
	struct reader r = { .d = d, .file = file };
	char *copy = must_calloc(len + 1, 1), *rest = copy;
	int rc = 0;

	memcpy(copy, text, len);
	for (char *line = strsep(&rest, "\n"); line && !rc; line = strsep(&rest, "\n")) {
		r.line++;
		rc = read_line(&r, line);
	}
	free(copy);
	return rc ? rc : check_section(&r);
}

/* ---- files --------------------------------------------------------------- */

static int read_file(struct defines *d, int fd, const char *path)
{
	struct stat st;
	char *text;
	ssize_t n;
	int rc;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
		msg("metrics: ignoring '%s': it is not a regular file of at most 1 MiB",
		    path);
		return -1;
	}
	text = must_calloc(FILE_MAX, 1);
	n = read(fd, text, FILE_MAX);
	if (n < 0)
		msg("metrics: cannot read '%s': %s", path, strerror(errno));
	rc = n < 0 ? -1 : defines_add(d, path, text, n);
	free(text);
	return rc;
}

static int open_and_read(struct defines *d, const char *folder, const char *name)
{
	char path[4096];
	int fd, rc;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		msg("metrics: cannot open '%s': %s", path, strerror(errno));
		return -1;
	}
	rc = read_file(d, fd, path);
	close(fd);
	return rc;
}

static int has_suffix(const struct dirent *e)
{
	size_t n = strlen(e->d_name), m = strlen(SUFFIX);

	return n > m && strcmp(e->d_name + n - m, SUFFIX) == 0;
}

static int add_folder(struct defines *d, const char *folder)
{
	struct dirent **file;
	int n = scandir(folder, &file, has_suffix, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = open_and_read(d, folder, file[i]->d_name);
		free(file[i]);
	}
	if (n >= 0)
		free(file);
	return rc;
}

static int add_users(struct defines *d)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char folder[4096];
	int n;

	if (base && base[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s/hwpmc/metrics", base);
	else if (home && home[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s/.config/hwpmc/metrics", home);
	else
		return 0;
	return n < (int)sizeof(folder) ? add_folder(d, folder) : 0;
}

/* data/metrics/default.metrics: a program alone, without files beside it, has them. */
extern const char _binary_default_metrics_start[], _binary_default_metrics_end[];

static int add_own(struct defines *d, const char *text, const char *end)
{
	return defines_add(d, "default" SUFFIX, text, end - text);
}

int defines_load(struct defines *d)
{
	memset(d, 0, sizeof(*d));
	if (add_users(d) < 0 || add_folder(d, "/etc/hwpmc/metrics") < 0)
		return -1;
	return add_own(d, _binary_default_metrics_start, _binary_default_metrics_end);
}

void defines_free(struct defines *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		struct define *def = &d->def[i];

		free(def->name);
		free(def->groups);
		free(def->cpu);
		free(def->unit);
		free(def->desc);
		free(def->formula);
		free(def->file);
	}
	free(d->def);
	memset(d, 0, sizeof(*d));
}

/* ---- on this machine ----------------------------------------------------- */

bool define_is(const struct define *def, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(def->name, name) == 0)
		return true;
	for (const char *s = def->groups; *s; s += strcspn(s, " \t")) {
		s += strspn(s, " \t");
		if (strcspn(s, " \t") == n && n && memcmp(s, name, n) == 0)
			return true;
	}
	return false;
}

/* Counts of different kinds of core have no common ratio. */
static bool are_of_one_kind(const struct formula *f, struct hwpmc *h, const char **why)
{
	struct hwpmc_event event;
	uint32_t kinds = 0;

	for (unsigned int i = 0; i < f->nevent; i++) {
		if (hwpmc_event_parse(h, f->event[i], &event) < 0) {
			*why = hwpmc_error(h);
			return false;
		}
		if (i && event.kinds != kinds) {
			*why = "its events are of different kinds of core";
			return false;
		}
		kinds = event.kinds;
	}
	return true;
}

bool define_usable(const struct define *def, struct hwpmc *h, struct formula *f,
		   const char **why)
{
	*why = "it is defined for other processors only";
	if (fnmatch(def->cpu, hwpmc_cpuinfo(h)->cpuid, 0) != 0)
		return false;
	/* It was read when its file was. */
	if (formula_parse(f, def->formula, why) < 0)
		return false;
	if (are_of_one_kind(f, h, why))
		return true;
	formula_free(f);
	return false;
}
