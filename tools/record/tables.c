/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c - finds the files whose unwind tables the module needs, and gives it those.
 * Each file is tried once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/msg.h"
#include "tables.h"

#define LOADER		"/lib64/ld-linux-x86-64.so.2"
#define FILE_MAX	(4ull << 30)	/* what a table can describe */

static bool is_known(const struct tables *t, const struct tables_file *f)
{
	for (unsigned int i = 0; i < t->nfile; i++)
		if (t->file[i].inode == f->inode && t->file[i].major == f->major &&
		    t->file[i].minor == f->minor)
			return true;
	return false;
}

static void note_file(struct tables *t, const struct tables_file *f)
{
	t->file = must_realloc(t->file, t->nfile + 1, sizeof(*t->file));
	t->file[t->nfile++] = *f;
}

/* To the module; u is freed. A file that has no information is none of the user's
 * business: its chains say so. */
static void give(struct tables *t, struct hwpmc_unwind *u)
{
	if (hwpmc_unwind_add(t->h, u) == 0) {
		t->loaded++;
	} else {
		t->failed++;
		if (!t->told)
			msg("%s: chains end there", hwpmc_error(t->h));
		t->told = true;
	}
	hwpmc_unwind_free(u);
}

/* A file by its name, once. as: what the kernel calls it in records, or NULL. False: it
 * cannot be opened. */
static bool load_file(struct tables *t, const char *path, const struct tables_file *as)
{
	const struct hwpmc_guard guard = { .limit = FILE_MAX };
	struct hwpmc_unwind u;
	struct tables_file f;
	struct stat st;
	int fd;

	fd = hwpmc_open_guarded(&guard, path, NULL);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0) {
		f = (struct tables_file){ st.st_ino, major(st.st_dev), minor(st.st_dev) };
		if (as)
			f = *as;
		if (!is_known(t, &f)) {
			note_file(t, &f);
			if (hwpmc_unwind_read(fd, &u) == 0) {
				u.inode = f.inode;
				u.major = f.major;
				u.minor = f.minor;
				give(t, &u);
			}
		}
	}
	close(fd);
	return true;
}

/* ---- the command ---------------------------------------------------------- */

/* Where execvp() finds it; the caller frees it. */
static char *find_command(const char *name)
{
	const char *dirs = getenv("PATH");
	char *copy, *rest, *dir, *path = NULL;

	if (strchr(name, '/'))
		return must_strdup(name);
	copy = rest = must_strdup(dirs ? dirs : "/bin:/usr/bin");
	while (!path && (dir = strsep(&rest, ":"))) {
		if (asprintf(&path, "%s/%s", *dir ? dir : ".", name) < 0)
			path = NULL;
		else if (access(path, X_OK)) {
			free(path);
			path = NULL;
		}
	}
	free(copy);
	return path;
}

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
		load_file(t, at, NULL);
	}
	free(line);
	fclose(f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void load_command(struct tables *t, const char *name)
{
	char *path = find_command(name);

	if (!path)
		return;
	load_file(t, path, NULL);
	load_libraries(t, path);
	free(path);
}

/* ---- mappings ------------------------------------------------------------- */

static void load_map(struct tables *t, const struct tables_map *m)
{
	char path[64];

	/* The file that is mapped, whatever its name leads to now. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", m->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	if (!load_file(t, path, &m->file))
		load_file(t, m->path, &m->file);
}

void tables_map(struct tables *t, const struct hwpmc_log_map *map)
{
	const struct tables_file f = { map->inode, map->major, map->minor };

	if (!t->h || map->pid < 0 || map->hdr.flags & HWPMC_MAP_ANON || is_known(t, &f))
		return;
	for (unsigned int i = 0; i < t->nmap; i++)
		if (t->map[i].file.inode == f.inode && t->map[i].file.major == f.major &&
		    t->map[i].file.minor == f.minor)
			return;
	t->map = must_realloc(t->map, t->nmap + 1, sizeof(*t->map));
	t->map[t->nmap++] = (struct tables_map){
		f, map->pid, map->start, map->end, must_strdup(map->path),
	};
}

void tables_load(struct tables *t)
{
	for (unsigned int i = 0; i < t->nmap; i++) {
		load_map(t, &t->map[i]);
		free(t->map[i].path);
	}
	t->nmap = 0;
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
		m.file = (struct tables_file){ inode, maj, min };
		m.path = line + name;
		load_map(t, &m);
	}
	free(line);
	fclose(f);
}

void tables_begin(struct tables *t, struct hwpmc *h, char **command, const pid_t *pid,
		  unsigned int npid)
{
	struct hwpmc_unwind u;

	t->h = h;
	if (hwpmc_unwind_read_vdso(&u) == 0)
		give(t, &u);
	if (command)
		load_command(t, command[0]);
	for (unsigned int i = 0; i < npid; i++)
		load_process(t, pid[i]);
}

void tables_free(struct tables *t)
{
	for (unsigned int i = 0; i < t->nmap; i++)
		free(t->map[i].path);
	free(t->map);
	free(t->file);
	*t = (struct tables){ .h = NULL };
}
