/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.c - processes over time: which program ran, what was mapped where. Records
 * are applied in the order of their time; questions may be about any time. What is
 * a little too early or too late for its record is given to the nearest: records
 * of different CPUs are never in exact order.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

int model_init(struct model *m, const struct hwpmc_symbol_options *o)
{
	memset(m, 0, sizeof(*m));
	m->nowhere_list = &m->nowhere;
	m->nobody.space = &m->nowhere_list;
	m->nobody.nspace = 1;
	return images_init(&m->images, o);
}

static void space_leave(struct space *memory)
{
	if (!--memory->sharers && memory->dropped)
		space_free(memory);
}

void space_free(struct space *s)
{
	s->dropped = true;
	if (s->sharers)
		return;
	if (s->memory)
		space_leave(s->memory);
	maps_free(&s->maps);
	eras_free(&s->eras);
	free(s);
}

void process_free(struct process *p)
{
	for (uint32_t i = 0; i < p->nspace; i++)
		space_free(p->space[i]);
	free(p->space);
	free(p);
}

void model_free(struct model *m)
{
	for (uint32_t i = 0; i < m->nprocess; i++)
		process_free(m->process[i]);
	free(m->process);
	table_free(&m->table);
	maps_free(&m->nowhere.maps);
	eras_free(&m->nowhere.eras);
	maps_free(&m->kernel);
	eras_free(&m->kernel_eras);
	names_free(&m->names);
	stat_strings_free(&m->strings);
	images_free(&m->images);
}

bool model_wants(uint8_t type)
{
	switch (type) {
	case HWPMC_LOG_PROCEXEC:
	case HWPMC_LOG_PROCFORK:
	case HWPMC_LOG_PROC_CREATE:
	case HWPMC_LOG_THR_CREATE:
	case HWPMC_LOG_COMM_NAME:
	case HWPMC_LOG_MAP_IN:
	case HWPMC_LOG_MAP_OUT:
	case HWPMC_LOG_PMCATTACH:
	case HWPMC_LOG_NOTE:
		return true;
	default:
		return false;
	}
}

/* Numbers of processes follow each other: 16 of them are in one line of the cache. */
static uint64_t pid_hash(uint32_t pid)
{
	return (table_hash(pid / 16) & ~15ull) | pid % 16;
}

static bool same_process(const void *items, uint32_t i, const void *pid)
{
	return ((const struct model *)items)->process[i]->pid ==
	       *(const int32_t *)pid;
}

static struct process *find_process(struct model *m, int32_t pid)
{
	uint32_t i;

	if (m->cached && m->cached->pid == pid)
		return m->cached;
	i = table_find(&m->table, pid_hash(pid), same_process, m, &pid);
	if (i == TABLE_NONE)
		return NULL;
	m->cached = m->process[i];
	return m->cached;
}

bool model_has(struct model *m, int32_t pid)
{
	return find_process(m, pid);
}

/* How many began by then. */
static uint32_t count_spaces(const struct process *p, uint64_t time)
{
	uint32_t lo = 0, hi = p->nspace;

	/* Mostly all of them. */
	if (hi && p->space[hi - 1]->from <= time)
		return hi;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->space[mid]->from <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* In the order of time, whatever came first. */
static struct space *new_space(struct model *m, struct process *p,
			       uint64_t from)
{
	uint32_t at = count_spaces(p, from), n = p->nspace;
	struct space *s;

	if (p == &m->nobody || !stat_room(&p->space, n, sizeof(s)))
		return &m->nowhere;
	s = stat_alloc(1, sizeof(*s));
	if (!s)
		return &m->nowhere;
	s->pid = p->pid;
	s->from = from;
	s->serial = m->nspace++;
	memmove(p->space + at + 1, p->space + at, (n - at) * sizeof(s));
	p->space[at] = s;
	p->nspace++;
	s->next = at < n ? p->space[at + 1] : NULL;
	if (at)
		p->space[at - 1]->next = s;
	return s;
}

static struct process *get_process(struct model *m, int32_t pid, uint64_t from)
{
	struct process *p = find_process(m, pid);

	if (p)
		return p;
	if (!table_room(&m->table) ||
	    !stat_room(&m->process, m->nprocess, sizeof(p)))
		return &m->nobody;
	p = stat_alloc(1, sizeof(*p));
	if (!p)
		return &m->nobody;
	p->pid = pid;
	new_space(m, p, from);
	if (!p->nspace) {
		free(p->space);
		free(p);
		return &m->nobody;
	}
	m->process[m->nprocess++] = p;
	table_put(&m->table, pid_hash(pid));
	return p;
}

void model_index(struct model *m)
{
	m->cached = NULL;
	table_clear(&m->table);
	for (uint32_t i = 0; i < m->nprocess; i++) {
		if (!table_room(&m->table))
			return;
		table_put(&m->table, pid_hash(m->process[i]->pid));
	}
}

struct space *model_space(struct model *m, int32_t pid, uint64_t time)
{
	const struct process *p = get_process(m, pid, 0);
	uint32_t n = count_spaces(p, time);

	return p->space[n ? n - 1 : 0];
}

static void set_string(struct model *m, const char **at, const char *text)
{
	*at = stat_string(&m->strings, text);
}

/* created: the thread is new, and had no other name. comm: a string of the model, or NULL. */
static void name_thread(struct model *m, const struct hwpmc_log_hdr *hdr, int32_t pid,
			int32_t tid, const char *comm, bool created)
{
	names_add(&m->names, tid, &(struct thread_name){ hdr->time, comm, pid, created });
}

static void apply_fork(struct model *m, const struct hwpmc_log_fork *r)
{
	struct space *parent = model_space(m, r->parent, r->hdr.time);
	struct process *p = find_process(m, r->child);
	struct space *s;

	/* A number that is used again, or a child that an earlier record named. */
	if (p) {
		p->ended = 0;
		s = new_space(m, p, r->hdr.time);
	} else {
		p = get_process(m, r->child, r->hdr.time);
		s = p->space[p->nspace - 1];
	}
	/* There was no memory for it, or for the parent. */
	if (s == &m->nowhere || s == parent)
		return;
	s->comm = parent->comm;
	s->path = parent->path;
	name_thread(m, &r->hdr, r->child, r->child, s->comm, true);
	parent = space_memory(parent);
	if (r->hdr.flags & HWPMC_FORK_SHARED && parent != &m->nowhere) {
		s->memory = parent;
		parent->sharers++;
	} else {
		maps_share(&parent->maps, &s->maps);
	}
}

/* The record of the new name comes before that of the exec that sets it. */
static void undo_rename(struct space *s, const char *comm)
{
	if (!s->former_comm || !s->comm || strcmp(s->comm, comm))
		return;
	s->comm = s->former_comm;
	s->former_comm = NULL;
}

static void apply_exec(struct model *m, const struct hwpmc_log_exec *r)
{
	struct process *p = get_process(m, r->pid, 0);
	struct space *s;

	undo_rename(model_space(m, r->pid, r->hdr.time), r->comm);
	s = new_space(m, p, r->hdr.time);
	set_string(m, &s->comm, r->comm);
	set_string(m, &s->path, r->path);
	name_thread(m, &r->hdr, r->pid, r->pid, s->comm, false);
}

/* "[kernel.kallsyms]" is what others call it. */
static bool is_kernel(const struct hwpmc_log_map *r)
{
	return r->pid == -1 && strncmp(r->path, "[kernel", 7) == 0 &&
	       (r->path[7] == ']' || r->path[7] == '.');
}

/*
 * Memory that is shared, but in no file system: of memfd_create(2), of mmap(2) with
 * MAP_SHARED | MAP_ANONYMOUS, of shmget(2). Generators map it twice, to write and to
 * execute. A copy of a program there (runc's, for one) mostly has a build-id.
 */
static bool is_shared_memory(const struct hwpmc_log_map *r)
{
	static const char *const begin[] = { "/memfd:", "/dev/zero (deleted)", "/SYSV" };

	if (r->build_id_len)
		return false;
	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (strncmp(r->path, begin[i], strlen(begin[i])) == 0)
			return true;
	return false;
}

static enum hwpmc_image_kind kind_of(const struct hwpmc_log_map *r)
{
	if (r->pid == -1)
		return HWPMC_IMAGE_MODULE;
	if (strcmp(r->path, "[vdso]") == 0)
		return HWPMC_IMAGE_VDSO;
	if (r->hdr.flags & HWPMC_MAP_ANON || is_shared_memory(r))
		return HWPMC_IMAGE_JIT;
	return HWPMC_IMAGE_ELF;
}

static void apply_kernel_map(struct model *m, const struct hwpmc_log_map *r)
{
	struct map map = { r->start, r->end, r->offset, r->hdr.time, NULL };

	if (is_kernel(r)) {
		map.image = m->images.kernel;
		image_set_build_id(map.image, r->build_id, r->build_id_len);
	} else {
		map.image = image_get(&m->images, r->path, HWPMC_IMAGE_MODULE,
				      r->build_id, r->build_id_len, 0);
		map.image->pub.load = r->start;
	}
	map.image->start = r->start;
	map.image->end = r->end;
	eras_note(&m->kernel_eras, &m->kernel, &map);
	maps_add(&m->kernel, map);
}

static struct image *image_of_map(struct model *m, enum hwpmc_image_kind kind,
				  const char *path, const struct hwpmc_log_map *r)
{
	struct file_id ran;

	if (kind == HWPMC_IMAGE_ELF && !r->build_id_len) {
		ran = file_id_of(r);
		return image_get_file(&m->images, path, &ran);
	}
	return image_get(&m->images, path, kind, r->build_id, r->build_id_len,
			 kind == HWPMC_IMAGE_JIT ? r->pid : 0);
}

static void apply_map(struct model *m, const struct hwpmc_log_map *r)
{
	enum hwpmc_image_kind kind = kind_of(r);
	struct map map = { r->start, r->end, r->offset, r->hdr.time, NULL };
	const char *path = r->path;
	struct space *s;

	if (r->pid == -1) {
		apply_kernel_map(m, r);
		return;
	}
	/* Programs of 32 bits have another. */
	if (kind == HWPMC_IMAGE_VDSO && r->start <= UINT32_MAX)
		path = "[vdso32]";
	map.image = image_of_map(m, kind, path, r);
	if (kind == HWPMC_IMAGE_ELF) {
		image_seen(map.image, r->pid, r->start, r->end);
		jit_note_dump(&m->images, r->pid, path);
		if (r->hdr.flags & HWPMC_MAP_COPY)
			image_note_copy(map.image);
	}
	s = space_memory(model_space(m, r->pid, r->hdr.time));
	eras_note(&s->eras, &s->maps, &map);
	maps_add(&s->maps, map);
}

static void apply_unmap(struct model *m, const struct hwpmc_log_unmap *r)
{
	struct map hole = { r->start, r->end, 0, r->hdr.time, NULL };
	struct space *s;

	if (r->pid == -1) {
		eras_note(&m->kernel_eras, &m->kernel, &hole);
		maps_add(&m->kernel, hole);
		return;
	}
	s = space_memory(model_space(m, r->pid, r->hdr.time));
	eras_note(&s->eras, &s->maps, &hole);
	maps_add(&s->maps, hole);
}

/* A mapping of the kernel knows better: it has an end. */
static void note_start(struct image *kernel, const char *text)
{
	if (!kernel->end)
		kernel->start = strtoull(text, NULL, 16);
}

static void note_build_id(struct image *kernel, const char *text)
{
	uint8_t id[HWPMC_LOG_BUILD_ID];
	uint32_t n = 0;
	unsigned int byte;

	/* Half a byte at the end is no build-id. */
	for (; n < sizeof(id) && isxdigit((unsigned char)text[0]) &&
	       isxdigit((unsigned char)text[1]); text += 2) {
		sscanf(text, "%2x", &byte);
		id[n++] = byte;
	}
	image_set_build_id(kernel, id, n);
}

static void apply_note(struct model *m, const char *text)
{
	struct kallsyms *k = &m->images.kallsyms;

	if (strncmp(text, "release=", 8) == 0)
		set_string(m, &k->release, text + 8);
	else if (strncmp(text, "hostname=", 9) == 0)
		set_string(m, &k->hostname, text + 9);
	else if (strncmp(text, "kernel-start=", 13) == 0)
		note_start(m->images.kernel, text + 13);
	else if (strncmp(text, "kernel-build-id=", 16) == 0)
		note_build_id(m->images.kernel, text + 16);
}

static void apply_comm(struct model *m, const struct hwpmc_log_task *r)
{
	struct space *s = model_space(m, r->pid, r->hdr.time);
	bool created = r->hdr.type == HWPMC_LOG_PROC_CREATE ||
		       r->hdr.type == HWPMC_LOG_THR_CREATE;
	const char *comm;

	if (created && !*r->comm && r->parent)
		comm = names_of_thread(&m->names, r->parent, r->hdr.time) ?: s->comm;
	else
		set_string(m, &comm, r->comm);
	name_thread(m, &r->hdr, r->pid, r->tid, comm, created);
	if (r->pid != r->tid)
		return;
	s->former_comm = s->comm;
	s->comm = comm;
}

void model_exit(struct model *m, const struct hwpmc_log_task *r)
{
	struct process *p = find_process(m, r->pid);

	if (r->hdr.type == HWPMC_LOG_THR_EXIT)
		names_end(&m->names, r->tid, r->hdr.time);
	else if (p)
		p->ended = r->hdr.time;
}

void model_apply(struct model *m, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_PROCFORK:
		jit_forget_dump(&m->images, r->fork->child);
		apply_fork(m, r->fork);
		break;
	case HWPMC_LOG_PROCEXEC:
		jit_forget_dump(&m->images, r->exec->pid);
		apply_exec(m, r->exec);
		break;
	case HWPMC_LOG_MAP_IN:
		apply_map(m, r->map);
		break;
	case HWPMC_LOG_MAP_OUT:
		apply_unmap(m, r->unmap);
		break;
	case HWPMC_LOG_NOTE:
		apply_note(m, r->note->text);
		break;
	case HWPMC_LOG_PROC_CREATE:
	case HWPMC_LOG_THR_CREATE:
	case HWPMC_LOG_COMM_NAME:
		apply_comm(m, r->task);
		break;
	case HWPMC_LOG_PMCATTACH:
		if (*r->attach->path)
			set_string(m, &model_space(m, r->attach->pid,
						   r->hdr->time)->path,
				   r->attach->path);
		break;
	default:
		break;
	}
}

const char *model_process(const struct space *space, int32_t pid)
{
	if (space->comm)
		return space->comm;
	return pid == 0 ? "[idle]" : "[unknown]";
}

const char *model_comm(const struct model *m, const struct space *space, int32_t pid,
		       int32_t tid, uint64_t time, uint64_t *from, uint64_t *until)
{
	const char *comm = names_at(&m->names, pid, tid, time, from, until);

	return comm ? comm : model_process(space, pid);
}

static const struct map *find_user(struct space *space, uint64_t pc,
				   uint64_t time)
{
	const struct map *found = maps_find(&space_memory(space)->maps, pc, time);

	/* On the border of an exec: the space after it. */
	if (!found && space->next)
		found = maps_find(&space_memory(space->next)->maps, pc, time);
	return found;
}

uint32_t model_era(const struct model *m, const struct space *space,
		   uint64_t time, uint64_t *from, uint64_t *until)
{
	*from = space->from;
	*until = space->next ? space->next->from : UINT64_MAX;
	return eras_at(&(space->memory ? space->memory : space)->eras, time, from, until) +
	       eras_at(&m->kernel_eras, time, from, until);
}

#define CHAIN_ENDS	16	/* marks that are set aside for reasons */

static struct image *chain_end(const struct images *set, uint64_t reason)
{
	/* One that is not known here is of a newer module. */
	if (!reason || reason >= HWPMC_CHAIN__COUNT)
		reason = HWPMC_CHAIN_BROKEN;
	return set->chain_end[reason];
}

struct image *model_find(struct model *m, struct space *space, bool kernel,
			 uint64_t pc, uint64_t time, uint64_t *addr)
{
	const struct map *map;

	*addr = pc;
	if (pc == HWPMC_PC_HIDDEN)
		return m->images.hidden;
	if (kernel) {
		map = maps_find(&m->kernel, pc, time);
		return kernel_find(&m->images, map, pc, addr);
	}
	/* Above all addresses that a program can have. */
	if (HWPMC_PC_REASON(pc) < CHAIN_ENDS) {
		*addr = 0;
		return chain_end(&m->images, HWPMC_PC_REASON(pc));
	}
	map = find_user(space, pc, time);
	if (!map || !map->image)
		return m->images.unknown;
	if (map->image->pub.kind == HWPMC_IMAGE_JIT)
		return map->image;
	image_seen(map->image, space->pid, map->start, map->end);
	*addr = image_addr(&m->images, map->image, map, pc);
	return map->image;
}
