/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c - finds the files whose unwind tables the module needs, and gives it those.
 * Each file is tried once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/msg.h"
#include "programs.h"
#include "tables.h"

#define LOADER		"/lib64/ld-linux-x86-64.so.2"
#define FILE_MAX	(4ull << 30)	/* what a table can describe */

/* Another file can have the inode of one that was removed: a program that is built again
 * and again. Without build-ids the two cannot be told apart. */
static bool is_same(const struct tables_file *a, const struct tables_file *b)
{
	if (a->inode != b->inode || a->major != b->major || a->minor != b->minor)
		return false;
	return !a->build_id_len || !b->build_id_len ||
	       (a->build_id_len == b->build_id_len &&
		!memcmp(a->build_id, b->build_id, a->build_id_len));
}

static bool is_known(const struct tables_files *set, const struct tables_file *f)
{
	for (unsigned int i = 0; i < set->n; i++)
		if (is_same(&set->file[i], f))
			return true;
	return false;
}

static void note_file(struct tables_files *set, const struct tables_file *f)
{
	set->file = must_realloc(set->file, set->n + 1, sizeof(*set->file));
	set->file[set->n++] = *f;
}

/* To the module; u is freed. A file that has no information is none of the user's
 * business: its chains go on by frame pointers, or say so. */
static void give(struct tables *t, struct hwpmc_unwind *u)
{
	if (hwpmc_unwind_add(t->h, u) == 0) {
		t->loaded += !u->none;
	} else {
		t->failed++;
		if (!t->told)
			msg("%s; call chains end in this code", hwpmc_error(t->h));
		t->told = true;
	}
	hwpmc_unwind_free(u);
}

static bool has_numbers(const struct hwpmc_unwind *u, const struct tables_file *f)
{
	return u->inode == f->inode && u->major == f->major && u->minor == f->minor;
}

static void note_numbers(struct tables *t, const struct hwpmc_unwind *u, struct tables_file f)
{
	f.build_id_len = u->build_id_len;
	memcpy(f.build_id, u->build_id, sizeof(f.build_id));
	note_file(&t->tried, &f);
}

/* Of a file that was opened as it is mapped, or by its path: another may be there now. */
static void name_as_recorded(struct hwpmc_unwind *u, const struct tables_file *f, bool mapped)
{
	/* A file of another kind can have a build-id, too. */
	if ((mapped || has_numbers(u, f)) && u->none && f->build_id_len) {
		u->build_id_len = f->build_id_len;
		memcpy(u->build_id, f->build_id, sizeof(u->build_id));
	}
	/* By its path it has none only if the path is still that of the file. */
	if (!mapped && !has_numbers(u, f))
		u->none = false;
	u->inode = f->inode;
	u->major = f->major;
	u->minor = f->minor;
}

/*
 * A file that is not known yet. Where a record has not said as what the module knows it, the
 * table has the numbers that the kernel gives to its mappings; on overlayfs those of
 * fstat(), which f has, are others.
 */
static void try_file(struct tables *t, int fd, const struct tables_file *f, bool recorded,
		     bool mapped)
{
	struct hwpmc_unwind u;
	bool made = hwpmc_unwind_read_cached(fd, t->cache, &u) == 0;

	if (recorded)
		name_as_recorded(&u, f, mapped);
	note_numbers(t, &u, *f);
	if (!has_numbers(&u, f))
		note_numbers(t, &u, (struct tables_file){
			.inode = u.inode, .major = u.major, .minor = u.minor });
	if (made || u.none)
		give(t, &u);
}

/* A file, once; it is closed. as: what the kernel calls it in records, or NULL. mapped: it was
 * opened as it is mapped. False: it cannot be read. */
static bool load_file(struct tables *t, int fd, const struct tables_file *as, bool mapped)
{
	struct tables_file f;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size <= FILE_MAX) {
		f = (struct tables_file){ .inode = st.st_ino,
			.major = major(st.st_dev), .minor = minor(st.st_dev) };
		if (as)
			f = *as;
		if (!is_known(&t->tried, &f))
			try_file(t, fd, &f, as, mapped);
	}
	close(fd);
	return true;
}

static bool load_path(struct tables *t, const char *path, const struct tables_file *as)
{
	const struct hwpmc_guard guard = { .limit = FILE_MAX };

	return load_file(t, hwpmc_open_guarded(&guard, path, NULL), as, false);
}

/* ---- the command ---------------------------------------------------------- */

/* The dynamic loader lists what it would load, and executes nothing of it. */
static FILE *open_list(const char *path, pid_t *pid)
{
	int end[2];

	if (pipe2(end, O_CLOEXEC) < 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
		dup2(end[1], STDOUT_FILENO);
		execl(LOADER, LOADER, "--list", path, (char *)NULL);
		_exit(127);
	}
	close(end[1]);
	if (*pid < 0) {
		close(end[0]);
		return NULL;
	}
	return fdopen(end[0], "r");
}

/* Lines of the list: "name => /path (0x...)" and "/path (0x...)". */
static void load_libraries(struct tables *t, const char *path)
{
	char *line = NULL, *at, *end;
	size_t size = 0;
	pid_t pid;
	FILE *f;

	f = open_list(path, &pid);
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		at = strchr(line, '/');
		end = at ? strstr(at, " (0x") : NULL;
		if (!end)
			continue;
		*end = '\0';
		load_path(t, at, NULL);
	}
	free(line);
	fclose(f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void load_command(struct tables *t, char *const *command)
{
	char *path[PROGRAMS_MOST];
	unsigned int n = programs_of(command, path);

	for (unsigned int i = 0; i < n; i++) {
		load_path(t, path[i], NULL);
		if (programs_is_dynamic(path[i]))
			load_libraries(t, path[i]);
		free(path[i]);
	}
}

/* ---- mappings ------------------------------------------------------------- */

/* Memory that the kernel has given a file of its own: no path leads there. */
static bool is_memory(const char *path)
{
	static const char end[] = " (deleted)";
	size_t len = strlen(path);

	if (len < strlen(end) || strcmp(path + len - strlen(end), end))
		return false;
	return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) ||
	       !strcmp(path, "/dev/zero (deleted)");
}

/* A program in memory has a build-id, and may have a table. */
static void load_memory(struct tables *t, const struct tables_file *f)
{
	struct hwpmc_unwind u = {
		.inode = f->inode, .major = f->major, .minor = f->minor, .none = true,
	};

	if (f->build_id_len || is_known(&t->tried, f))
		return;
	note_file(&t->tried, f);
	give(t, &u);
}

static void load_map(struct tables *t, const struct tables_map *m)
{
	/* By its name where only root may know better. Its build-id must be right then. */
	if (load_file(t, hwpmc_open_mapped(m->pid, m->start, m->end), &m->file, true))
		return;
	if (is_memory(m->path))
		load_memory(t, &m->file);
	else
		load_path(t, m->path, &m->file);
}

static void map_free(struct tables_map *m)
{
	free(m->path);
	free(m);
}

static void maps_free(struct tables_map **list)
{
	struct tables_map *m;

	while ((m = *list) != NULL) {
		*list = m->next;
		map_free(m);
	}
}

/* Blocks while there is nothing to do; NULL: the end. */
static struct tables_map *take_map(struct tables *t)
{
	struct tables_map *m;

	pthread_mutex_lock(&t->lock);
	while (!t->first && !t->own && !t->ends)
		pthread_cond_wait(&t->more, &t->lock);
	m = t->first ? t->first : t->own;
	if (t->ends)
		m = NULL;
	else if (m == t->first)
		t->first = m->next;
	else
		t->own = m->next;
	pthread_mutex_unlock(&t->lock);
	return m;
}

static void *load_maps(void *arg)
{
	struct tables *t = arg;
	struct tables_map *m;

	while ((m = take_map(t)) != NULL) {
		load_map(t, m);
		map_free(m);
	}
	return NULL;
}

/* Signals are for the thread that waits for them. SIGIO stays as it is: the driver sends it
 * to a process that blocks it.
 */
static bool start_thread(struct tables *t)
{
	sigset_t all, before;

	if (t->threaded)
		return true;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	sigfillset(&all);
	if (!sigismember(&before, SIGIO))
		sigdelset(&all, SIGIO);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	t->threaded = pthread_create(&t->thread, NULL, load_maps, t) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return t->threaded;
}

static void put_map(struct tables *t, struct tables_map *m)
{
	pthread_mutex_lock(&t->lock);
	if (m->pid == getpid()) {
		m->next = t->own;
		t->own = m;
	} else if (t->first) {
		t->last->next = m;
		t->last = m;
	} else {
		t->first = t->last = m;
	}
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
}

static void see_map(struct tables *t, const struct hwpmc_log_map *map)
{
	struct tables_file f = {
		.inode = map->inode, .major = map->major, .minor = map->minor,
		.build_id_len = map->build_id_len,
	};
	struct tables_map *m;

	memcpy(f.build_id, map->build_id, sizeof(f.build_id));

	/* What the command's process had mapped before it executes it: this program. */
	if (map->hdr.flags & HWPMC_LOG_SNAPSHOT && map->pid == t->command)
		return;
	if (map->pid < 0 || map->hdr.flags & HWPMC_MAP_ANON || !f.inode ||
	    is_known(&t->seen, &f) || !start_thread(t))
		return;
	/* Of what others have mapped, too, their tables come first. */
	if (map->pid != getpid())
		note_file(&t->seen, &f);
	m = must_calloc(1, sizeof(*m));
	*m = (struct tables_map){
		.file = f, .pid = map->pid, .start = map->start, .end = map->end,
		.path = must_strdup(map->path),
	};
	put_map(t, m);
}

void tables_see(struct tables *t, const void *records, size_t len)
{
	const char *at = records, *end = at + len;

	while (t->h && at < end) {
		const struct hwpmc_log_hdr *h = (const void *)at;

		if (h->type == HWPMC_LOG_MAP_IN)
			see_map(t, (const void *)h);
		at += h->len;
	}
}

/* What a process has mapped already. */
static void load_process(struct tables *t, pid_t pid)
{
	unsigned long start, end, inode;
	unsigned int maj, min;
	char path[64], *line = NULL, mode[8];
	size_t size = 0;
	int name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		struct tables_map m = { .pid = pid };

		if (sscanf(line, "%lx-%lx %7s %*x %x:%x %lu %n", &start, &end, mode, &maj,
			   &min, &inode, &name) < 6 || mode[2] != 'x' || !inode)
			continue;
		line[strcspn(line, "\n")] = '\0';
		m.start = start;
		m.end = end;
		m.file = (struct tables_file){ .inode = inode, .major = maj, .minor = min };
		m.path = line + name;
		load_map(t, &m);
	}
	free(line);
	fclose(f);
}

int tables_begin(struct tables *t, struct hwpmc *h, char **command, const char *cache)
{
	struct hwpmc_unwind u;
	const char *why;

	t->cache = cache ? -1 : hwpmc_unwind_cache_own();
	if (cache) {
		t->cache = hwpmc_unwind_cache_open(cache, &why);
		if (t->cache < 0) {
			msg("cannot keep unwind tables in '%s': %s; name another directory",
			    cache, why);
			return -1;
		}
	}
	t->h = h;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	hwpmc_unwind_read_vdso(&u);
	give(t, &u);
	if (command)
		load_command(t, command);
	return 0;
}

void tables_attached(struct tables *t, const pid_t *pid, unsigned int npid)
{
	for (unsigned int i = 0; t->h && i < npid; i++)
		load_process(t, pid[i]);
}

void tables_end(struct tables *t)
{
	if (!t->threaded)
		return;
	pthread_mutex_lock(&t->lock);
	t->ends = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	t->threaded = false;
	maps_free(&t->first);
	maps_free(&t->own);
	t->h = NULL;
}

void tables_free(struct tables *t)
{
	tables_end(t);
	/* Of one that never began it is 0. */
	if (t->cache > 0)
		close(t->cache);
	t->cache = 0;
	free(t->tried.file);
	free(t->seen.file);
}
