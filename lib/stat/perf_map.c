/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_map.c - mappings of a file of perf record. Build-ids are in the records themselves, or
 * in a table of the header, by path. perf has other names for the kernel and its modules.
 */
#include <stdlib.h>

#include "perf.h"
#include "stat.h"

#define KERNEL_NAME	"[kernel.kallsyms]"
#define PROT_EXECUTE	4u

/* What either kind of record has. */
struct mapping {
	int32_t pid, tid;
	uint64_t start, size, offset, inode, time;
	uint32_t major, minor;
	uint8_t id_len, id[HWPMC_LOG_BUILD_ID];
	bool has_inode, executable, kernel;
	char path[HWPMC_LOG_PATH_MAX];
};

/* ---- build-ids ----------------------------------------------------------- */

static bool same_path(const void *items, uint32_t i, const void *key)
{
	return !strcmp(((const struct perf_build_id *)items)[i].path, key);
}

static struct perf_build_id *find_build_id(struct perfdata *p, const char *path)
{
	uint32_t i = table_find(&p->build_ids, table_hash_text(path), same_path, p->build_id, path);

	return i != TABLE_NONE ? &p->build_id[i] : NULL;
}

static void keep_build_id(struct perfdata *p, const char *path, const uint8_t *id, uint8_t len)
{
	struct perf_build_id *b = find_build_id(p, path), new = { .len = len };

	if (b) {
		b->doubtful |= b->len != len || memcmp(b->id, id, len);
		return;
	}
	if (!table_room(&p->build_ids) ||
	    !stat_room(&p->build_id, p->build_ids.n, sizeof(new)))
		return;
	new.path = stat_strdup(path);
	if (!new.path)
		return;
	memcpy(new.id, id, len);
	p->build_id[p->build_ids.n] = new;
	table_put(&p->build_ids, table_hash_text(path));
}

/* Header, process, 20 bytes of a build-id and 4 more, path. */
void perf_add_build_id(struct perfdata *p, const uint8_t *record, size_t len)
{
	struct perf_hdr h = perf_hdr_of(record);
	uint8_t size = HWPMC_LOG_BUILD_ID;
	char path[HWPMC_LOG_PATH_MAX];
	const char *at;

	if (len <= 36)
		return;
	if (h.misc & PERF_MISC_BUILD_ID_SIZE && record[32] && record[32] < size)
		size = record[32];
	at = (const char *)record + 36;
	len = strnlen(at, len - 36);
	if (len >= sizeof(path))
		return;
	memcpy(path, at, len);
	path[len] = 0;
	keep_build_id(p, path, record + 12, size);
}

void perf_maps_end(struct perfdata *p)
{
	for (uint32_t i = 0; i < p->build_ids.n; i++)
		free(p->build_id[i].path);
	free(p->build_id);
	table_free(&p->build_ids);
}

/* ---- names --------------------------------------------------------------- */

/* Memory without a file, which generators of code use. */
static bool is_anon(const char *path)
{
	static const char *const begin[] = {
		"//anon", "/anon_hugepage", "[heap", "[stack", "[anon",
	};

	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (strncmp(path, begin[i], strlen(begin[i])) == 0)
			return true;
	return !*path;
}

/* "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" is "[ext4]" in a log. */
static void name_module(char *path, size_t size)
{
	char name[HWPMC_LOG_PATH_MAX], *base = strrchr(path, '/'), *end;

	if (!base)
		return;
	snprintf(name, sizeof(name), "%s", base + 1);
	end = strstr(name, ".ko");
	if (end)
		*end = 0;
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	snprintf(path, size, "[%.200s]", name);
}

static void name_kernel(struct perfdata *p, struct mapping *m)
{
	struct perf_build_id *b;
	bool kernel = strncmp(m->path, KERNEL_NAME, strlen(KERNEL_NAME)) == 0;

	b = find_build_id(p, kernel ? KERNEL_NAME : m->path);
	if (b && !m->id_len && !b->doubtful) {
		m->id_len = b->len;
		memcpy(m->id, b->id, b->len);
	}
	if (kernel)
		snprintf(m->path, sizeof(m->path), "[kernel]");
	else
		name_module(m->path, sizeof(m->path));
	m->pid = -1;
	m->has_inode = false;
}

static void find_id(struct perfdata *p, struct mapping *m)
{
	struct perf_build_id *b = m->id_len ? NULL : find_build_id(p, m->path);

	if (!b || b->doubtful)
		return;
	m->id_len = b->len;
	memcpy(m->id, b->id, b->len);
}

/* ---- records ------------------------------------------------------------- */

static void put_unmap(struct perfdata *p, const struct mapping *m)
{
	struct hwpmc_log_unmap *r = perf_put(p, HWPMC_LOG_MAP_OUT, sizeof(*r), m->time);

	if (!r)
		return;
	r->pid = m->pid;
	r->start = m->start;
	r->end = m->start + m->size;
}

static void put_map(struct perfdata *p, const struct mapping *m)
{
	size_t len = strlen(m->path);
	struct hwpmc_log_map *r;

	r = perf_put(p, HWPMC_LOG_MAP_IN, sizeof(*r) + len + 1, m->time);
	if (!r)
		return;
	r->hdr.flags = m->time ? 0 : HWPMC_LOG_SNAPSHOT;
	r->pid = m->pid;
	r->start = m->start;
	r->end = m->start + m->size;
	r->offset = m->kernel ? 0 : m->offset;
	if (m->has_inode) {
		r->inode = m->inode;
		r->major = m->major;
		r->minor = m->minor;
	}
	if (m->id_len) {
		r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
		r->build_id_len = m->id_len;
		memcpy(r->build_id, m->id, m->id_len);
	}
	if (!m->kernel && is_anon(m->path)) {
		r->hdr.flags |= HWPMC_MAP_ANON;
		r->offset = 0;
	}
	memcpy(r->path, m->path, len);
}

static int put_mapping(struct perfdata *p, struct mapping *m)
{
	/* The end of memory is no address: a kernel without an end of its text. */
	if (m->size > UINT64_MAX - m->start)
		m->size = UINT64_MAX - m->start;
	if (m->kernel) {
		name_kernel(p, m);
	} else if (!m->executable) {
		put_unmap(p, m);
		return 0;
	} else {
		find_id(p, m);
		perf_flush_execs(p, m->pid, m->path);
	}
	put_map(p, m);
	return 0;
}

/* What both kinds of record begin with: process, thread, address, size, offset. */
static int begin_mapping(struct perfdata *p, const struct perf_hdr *record, struct mapping *m,
			 size_t path_at)
{
	const uint8_t *at = (const uint8_t *)record;
	uint32_t mode = perf_hdr_of(record).misc & PERF_MODE_MASK;
	size_t len;

	m->time = perf_trailer(p, record, &len).time;
	if (len <= path_at)
		return perf_damaged(p, "MMAP record of %zu bytes: too short for a path", len);
	m->pid = perf_u32(at + 8);
	m->tid = perf_u32(at + 12);
	m->start = perf_u64(at + 16);
	m->size = perf_u64(at + 24);
	m->offset = perf_u64(at + 32);
	m->kernel = mode == PERF_MODE_KERNEL;
	len = strnlen((const char *)at + path_at, len - path_at);
	if (len >= sizeof(m->path))
		len = sizeof(m->path) - 1;
	memcpy(m->path, at + path_at, len);
	m->path[len] = 0;
	/* The code of guests is not that of any process here. */
	return mode == PERF_MODE_GUEST_KERNEL || mode == PERF_MODE_GUEST_USER;
}

int perf_mmap(struct perfdata *p, const struct perf_hdr *record)
{
	struct mapping m = { .id_len = 0 };
	int rc = begin_mapping(p, record, &m, 40);

	if (rc)
		return rc < 0 ? -1 : 0;
	m.executable = !(perf_hdr_of(record).misc & PERF_MISC_MMAP_DATA);
	return put_mapping(p, &m);
}

int perf_mmap2(struct perfdata *p, const struct perf_hdr *record)
{
	const uint8_t *at = (const uint8_t *)record;
	struct mapping m = { .id_len = 0 };
	int rc = begin_mapping(p, record, &m, 72);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (perf_hdr_of(record).misc & PERF_MISC_BUILD_ID) {
		m.id_len = at[40] < sizeof(m.id) ? at[40] : sizeof(m.id);
		memcpy(m.id, at + 44, m.id_len);
	} else {
		m.has_inode = true;
		m.major = perf_u32(at + 40);
		m.minor = perf_u32(at + 44);
		m.inode = perf_u64(at + 48);
	}
	m.executable = perf_u32(at + 64) & PROT_EXECUTE;
	return put_mapping(p, &m);
}
