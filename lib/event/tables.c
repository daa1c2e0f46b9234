/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_PATH, secure_getenv() */
#endif
/*
 * tables.c - the tables of events that this CPU has, in the order of their folders: the
 * user's, the administrator's, what pmu-tools has fetched, and the project's own. A
 * table is read at the first search that comes to it, and kept. Any thread: one lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#ifndef HWPMC_DATADIR
#define HWPMC_DATADIR	"/usr/local/share/hwpmc"
#endif
#define TABLES		16
#define FOLDER		256
#define LOOKUPS_PLAIN	8		/* before an index is worth its cost */

enum state { NOT_READ, HAS_TEXT, ABSENT, REFUSED };

struct table {
	char folder[FOLDER];
	struct event_map_line map;
	bool json;
	char name[TABLE_NAME];
	enum state state;
	char *text;
	size_t len;
	size_t hint;			/* lists ask for one line after the other */
	unsigned int lookups;
	struct event_index index;	/* made for those who look up many names */
	char why[256];			/* REFUSED */
};

static struct {
	pthread_mutex_t lock;
	char cpu[HWPMC_NAME_MAX + 1];	/* whose tables these are */
	unsigned int n;
	struct table table[TABLES];
	char why[256];			/* a map is refused; else "" */
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- which tables there are ----------------------------------------------- */

static struct table *add_table(const char *folder,
			       const struct event_map_line *map, bool json)
{
	struct table *t = &known.table[known.n];

	if (known.n == TABLES || strlen(folder) >= FOLDER)
		return NULL;
	known.n++;
	*t = (struct table){ .map = *map, .json = json };
	strcpy(t->folder, folder);
	snprintf(t->name, sizeof(t->name), "%.*s", TABLE_NAME - 1, map->file);
	return t;
}

/* Where no map names them, files have the names that pmu-tools gives them. */
static void add_unmapped(const char *folder)
{
	static const char *const roles[] = { "", "Core", "Atom", "LowPower_Atom" };

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		struct event_map_line map = { .file = "" };

		strcpy(map.type, roles[i][0] ? "hybridcore" : "core");
		strcpy(map.role, roles[i]);
		map.kind = event_map_kind(map.role, strlen(map.role));
		add_table(folder, &map, true);
	}
}

/* 1: there is such a map, and its tables are known. */
static int add_mapped(const char *folder, const char *name, bool json)
{
	struct event_map_line map;
	char why[120], *text;
	const char *at;
	size_t len;
	int rc = event_file_read(folder, name, EVENT_MAP_LIMIT, &text, &len, why,
				 sizeof(why));

	if (rc < 0)
		snprintf(known.why, sizeof(known.why), "%.60s/%s: %s", folder, name, why);
	if (rc <= 0)
		return rc;
	at = text;
	while (event_map_next(&at, text + len, json ? ',' : '\t', known.cpu, &map))
		add_table(folder, &map, json);
	free(text);
	return 1;
}

static void add_folder(const char *folder)
{
	if (add_mapped(folder, "mapfile.csv", true) == 0)
		add_unmapped(folder);
	add_mapped(folder, "intel-models.tsv", false);
}

static void add_below(const char *variable, const char *below_home,
		      const char *rest)
{
	const char *base = secure_getenv(variable), *home = secure_getenv("HOME");
	char folder[FOLDER];
	int n;

	if (base && base[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s/%s", base, rest);
	else if (home && home[0] == '/')
		n = snprintf(folder, sizeof(folder), "%s/%s/%s", home, below_home, rest);
	else
		return;
	if (n < FOLDER)
		add_folder(folder);
}

static void add_listed(const char *list)
{
	char folder[FOLDER];

	while (*list) {
		size_t n = strcspn(list, ":");

		if (n && n < sizeof(folder)) {
			memcpy(folder, list, n);
			folder[n] = '\0';
			add_folder(folder);
		}
		list += n + (list[n] == ':');
	}
}

static void add_all(void)
{
	const char *list = secure_getenv("HWPMC_EVENTS");

	if (list) {
		add_listed(list);
		return;
	}
	add_below("XDG_CONFIG_HOME", ".config", "hwpmc/events");
	add_folder("/etc/hwpmc/events");
	add_below("XDG_CACHE_HOME", ".cache", "pmu-events");
	add_folder(HWPMC_DATADIR "/events");
}

static void know_cpu(const struct event_machine *m)
{
	if (!strcmp(known.cpu, m->cpu))
		return;
	for (unsigned int i = 0; i < known.n; i++) {
		free(known.table[i].text);
		event_index_free(&known.table[i].index);
	}
	known.n = 0;
	known.why[0] = '\0';
	snprintf(known.cpu, sizeof(known.cpu), "%s", m->cpu);
	if (m->vendor == VENDOR_INTEL && m->cpu[0])
		add_all();
}

/* ---- reading one ----------------------------------------------------------- */

/* The n-th name that the file of a table may have; NULL: there are no more. */
static const char *file_name(const struct table *t, unsigned int n, char *buf,
			     size_t size)
{
	const char *file = t->map.file, *base = strrchr(file, '/');
	const char *cpu = known.cpu, *step = strrchr(cpu, '-');
	int len = n == 3 && step ? (int)(step - cpu) : (int)strlen(cpu);

	if (!t->json)
		snprintf(buf, size, "%s.tsv.xz", file);
	else if (n == 0)
		snprintf(buf, size, "%s", file + (file[0] == '/'));
	else if (n == 1)
		snprintf(buf, size, "%s", base ? base + 1 : file);
	else
		snprintf(buf, size, "%.*s-%s%s%s.json", len, cpu, t->map.type,
			 t->map.role[0] ? "-" : "", t->map.role);
	return n < (t->json ? 4 : 1) ? buf : NULL;
}

/* The bytes that were read to the table's text; they are freed. */
static int convert(struct table *t, char *raw, size_t len, char *why, size_t size)
{
	int rc = t->json ? event_json_table(raw, len, &t->text, &t->len, why, size) :
			   event_decompress(raw, len, &t->text, &t->len, why, size);

	free(raw);
	if (!rc && !memchr(t->text, '\0', t->len))
		return 0;
	if (!rc) {
		free(t->text);
		snprintf(why, size, "it is not a text file");
	}
	t->text = NULL;
	return -1;
}

static void read_table(struct table *t)
{
	size_t limit = t->json ? EVENT_JSON_LIMIT : EVENT_XZ_LIMIT, len;
	char name[200] = "", why[120], *raw = NULL;
	int rc = 0;

	for (unsigned int i = 0; !rc && file_name(t, i, name, sizeof(name)); i++)
		if (name[0])
			rc = event_file_read(t->folder, name, limit, &raw, &len, why,
					     sizeof(why));
	if (!rc) {
		t->state = ABSENT;
		return;
	}
	if (rc > 0)
		rc = convert(t, raw, len, why, sizeof(why));
	if (t->json)
		snprintf(t->name, sizeof(t->name), "%.*s", TABLE_NAME - 1,
			 strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	t->state = rc < 0 ? REFUSED : HAS_TEXT;
	if (rc < 0)
		snprintf(t->why, sizeof(t->why), "%.60s/%.60s: %s", t->folder, name, why);
}

/* 1: its text is there. 0: it has no file. -1: refused. */
static int table_text(struct table *t, struct event_error *e)
{
	if (t->state == NOT_READ)
		read_table(t);
	if (t->state == REFUSED)
		return event_refuse(e, EINVAL, 0,
				    "cannot use a file of events; remove or repair it: %s",
				    t->why);
	return t->state == HAS_TEXT;
}

/* ---- searching -------------------------------------------------------------- */

static bool is_of_unit(const struct event_machine *m, const struct table *t,
		       const char *pmu)
{
	if (!*pmu)
		return !m->kind || !strcmp(t->map.kind, m->kind) ||
		       !strcmp(t->map.kind, "cpu");
	return !strcmp(t->map.kind, pmu) || !strcmp(t->map.file, pmu);
}

static bool find_between(const char *at, const char *end, const char *normal,
			 const char **line, size_t *n)
{
	while ((*line = event_row_next(&at, end, n)))
		if (event_row_is(*line, *n, normal))
			return true;
	return false;
}

/* From the line on that was found last, or by the index. */
static bool find_line(struct table *t, const char *normal, const char **line,
		      size_t *n)
{
	const char *from = t->text + t->hint;

	if (t->index.slot || (t->lookups++ == LOOKUPS_PLAIN &&
			      event_index_make(&t->index, t->text, t->len)))
		return event_index_find(&t->index, t->text, t->len, normal, line, n);
	if (!find_between(from, t->text + t->len, normal, line, n) &&
	    !find_between(t->text, from, normal, line, n))
		return false;
	t->hint = (size_t)(*line - t->text);
	return true;
}

/* 0, or -1: the line is damaged. */
static int take_line(const struct table *t, const char *line, size_t n,
		     struct event_found *f, struct event_error *e)
{
	if (!event_row_parse(line, n, &f->row))
		return event_refuse(e, EINVAL, 0,
				    "cannot use a file of events; remove or repair it: "
				    "%.60s/%s: '%.*s' is not an event", t->folder, t->name,
				    n < 60 ? (int)strnlen(line, n) : 0, line);
	f->table = t->name;
	f->kind = t->map.kind;
	return 0;
}

static int refuse_map(struct event_error *e)
{
	return event_refuse(e, EINVAL, 0,
			    "cannot use a file of events; remove or repair it: %s",
			    known.why);
}

static int find_locked(const struct event_machine *m, const char *pmu,
		       const char *normal, struct event_found *f,
		       struct event_error *e)
{
	if (known.why[0])
		return refuse_map(e);
	for (unsigned int i = 0; i < known.n; i++) {
		struct table *t = &known.table[i];
		const char *line;
		size_t n;
		int rc;

		if (!is_of_unit(m, t, pmu))
			continue;
		rc = table_text(t, e);
		if (rc < 0)
			return -1;
		if (rc && find_line(t, normal, &line, &n))
			return take_line(t, line, n, f, e) ? -1 : 1;
	}
	return 0;
}

int event_tables_find(const struct event_machine *m, const char *pmu,
		      const char *normal, struct event_found *f,
		      struct event_error *e)
{
	int rc;

	if (m->vendor != VENDOR_INTEL)
		return 0;
	pthread_mutex_lock(&known.lock);
	know_cpu(m);
	rc = find_locked(m, pmu, normal, f, e);
	pthread_mutex_unlock(&known.lock);
	return rc;
}

/* ---- listing ----------------------------------------------------------------- */

/* Does a table before it have a name of the same kind? */
static bool is_hidden(unsigned int table, const struct event_row *row)
{
	char normal[ROW_NAME];
	const char *line;
	size_t n;

	event_normal(row->name, normal, sizeof(normal));
	for (unsigned int i = 0; i < table; i++) {
		struct table *t = &known.table[i];

		if (t->state == HAS_TEXT &&
		    !strcmp(t->map.kind, known.table[table].map.kind) &&
		    find_line(t, normal, &line, &n))
			return true;
	}
	return false;
}

/* Events of one table from *at on; the lock is not held where fn runs. */
static int next_event(unsigned int table, size_t *at, struct event_found *f,
		      struct event_error *e)
{
	struct table *t = &known.table[table];
	const char *p, *line;
	size_t n;
	int rc;

	if (known.why[0])
		return refuse_map(e);
	if (table >= known.n)
		return 0;
	rc = table_text(t, e);
	if (rc <= 0)
		return rc;
	p = t->text + *at;
	while ((line = event_row_next(&p, t->text + t->len, &n))) {
		*at = (size_t)(p - t->text);
		if (take_line(t, line, n, f, e))
			return -1;
		if (!is_hidden(table, &f->row))
			return 1;
	}
	return 0;
}

int event_tables_each(const struct event_machine *m, event_tables_fn *fn,
		      void *arg, struct event_error *e)
{
	if (m->vendor != VENDOR_INTEL)
		return 0;
	for (unsigned int i = 0; i < TABLES; i++) {
		struct event_found f;
		size_t at = 0;
		int rc;

		do {
			pthread_mutex_lock(&known.lock);
			know_cpu(m);
			rc = next_event(i, &at, &f, e);
			pthread_mutex_unlock(&known.lock);
			if (rc < 0)
				return -1;
			if (rc) {
				int ended = fn(&f, arg);

				if (ended)
					return ended;
			}
		} while (rc);
	}
	return 0;
}

/* ------------------------------------------------------------------------ */

bool event_tables_any(const struct event_machine *m)
{
	struct event_error e;
	bool any = false;

	pthread_mutex_lock(&known.lock);
	know_cpu(m);
	for (unsigned int i = 0; i < known.n; i++)
		any |= table_text(&known.table[i], &e) > 0;
	pthread_mutex_unlock(&known.lock);
	return any;
}
