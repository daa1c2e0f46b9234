/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup.c - counts of cgroups (-G). A PMC counts for processes, and membership is not
 * descent: the processes that are in the cgroups when counting begins are attached, with
 * what they start. Their descendants that are elsewhere are taken out before; which
 * processes have come or gone since then is looked at in the end, and told.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "stat.h"

#define ROOT		"/sys/fs/cgroup"
/* Each attaches or detaches processes; two or three are enough unless a process outside of
 * the cgroups starts others in them meanwhile. */
#define ROUNDS_MAX	20

struct pids {
	unsigned int n, room;
	pid_t *pid;
};

static void pids_add(struct pids *list, pid_t pid)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->pid = must_realloc(list->pid, list->room, sizeof(*list->pid));
	}
	list->pid[list->n++] = pid;
}

/* The highest first: children mostly before their parents. */
static int later_first(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

static bool pids_have(const struct pids *sorted, pid_t pid)
{
	return sorted->n && bsearch(&pid, sorted->pid, sorted->n, sizeof(pid), later_first);
}

/* ---- the option ---------------------------------------------------------- */

static bool has_procs(const char *dir)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/cgroup.procs", dir);

	return n < (int)sizeof(path) && access(path, R_OK) == 0;
}

/* By its directory, or by its name as in /proc/PID/cgroup and for systemd. */
static char *find_cgroup(const char *name)
{
	static const char *const roots[] = { "", ROOT "/", ROOT "/unified/" };
	char path[PATH_MAX], *dir;

	for (unsigned int i = *name != '/'; i < sizeof(roots) / sizeof(*roots); i++) {
		int n = snprintf(path, sizeof(path), "%s%s", roots[i], name);

		if (n >= (int)sizeof(path) || !has_procs(path))
			continue;
		dir = realpath(path, NULL);
		if (dir)
			return dir;
	}
	return NULL;
}

int stat_cgroup_add(struct stat_options *o, char *arg)
{
	for (char *name = strsep(&arg, ","); name; name = strsep(&arg, ",")) {
		char *dir = find_cgroup(name);

		if (!dir) {
			msg("no cgroup '%s': cannot read " ROOT "/%s/cgroup.procs",
			    name, name);
			return EXIT_STAT_FAILED;
		}
		if (strcmp(dir, ROOT) == 0 || strcmp(dir, ROOT "/unified") == 0) {
			free(dir);
			return msg_usage("every process is in the root cgroup: use -a");
		}
		o->cgroup = must_realloc(o->cgroup, o->ncgroup + 1, sizeof(*o->cgroup));
		o->cgroup[o->ncgroup++] = dir;
	}
	return 0;
}

void stat_cgroups_free(struct stat_options *o)
{
	for (unsigned int i = 0; i < o->ncgroup; i++)
		free(o->cgroup[i]);
	free(o->cgroup);
}

const char *stat_cgroup_name(const struct stat_options *o, unsigned int i)
{
	size_t len = strlen(ROOT);

	return strncmp(o->cgroup[i], ROOT "/", len + 1) ? o->cgroup[i] : o->cgroup[i] + len + 1;
}

/* ---- members ------------------------------------------------------------- */

static bool is_gone(int error)
{
	return error == ENOENT || error == ENODEV;
}

/* 0, or -1 with errno. */
static int read_procs(const char *dir, struct pids *list)
{
	char path[PATH_MAX];
	int pid, error;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	f = fopen(path, "re");
	if (!f)
		return -1;
	errno = 0;
	while (fscanf(f, "%d", &pid) == 1)
		pids_add(list, pid);
	error = errno;
	fclose(f);
	errno = error;
	return error ? -1 : 0;
}

/* Its processes and those of the cgroups in it. The processes of a threaded cgroup are
 * those of the one that it is in. */
static int read_below(const char *dir, struct pids *list)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return is_gone(errno) ? 0 : -1;
	while (!rc && (e = readdir(d))) {
		char path[PATH_MAX];

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (read_procs(path, list) < 0 && !is_gone(errno) && errno != EOPNOTSUPP)
			rc = -1;
		else
			rc = read_below(path, list);
	}
	closedir(d);
	return rc;
}

static int refuse_cgroup(const struct stat_options *o, unsigned int i)
{
	if (errno == EOPNOTSUPP)
		msg("cannot count cgroup '%s': its processes belong to the cgroup above it; count that cgroup, or threads by -t",
		    stat_cgroup_name(o, i));
	else
		msg("cannot read the processes of cgroup '%s': %s", stat_cgroup_name(o, i),
		    strerror(errno));
	return -1;
}

/* Sorted; a process without a number here is in another PID namespace. */
static int read_members(const struct stat_options *o, struct pids *list)
{
	unsigned int n = 0;

	list->n = 0;
	for (unsigned int i = 0; i < o->ncgroup; i++)
		if (read_procs(o->cgroup[i], list) < 0 || read_below(o->cgroup[i], list) < 0)
			return refuse_cgroup(o, i);
	if (!list->n)
		return 0;
	qsort(list->pid, list->n, sizeof(*list->pid), later_first);
	if (!list->pid[list->n - 1]) {
		msg("cannot count the cgroup: it has processes outside this PID namespace");
		return -1;
	}
	for (unsigned int i = 0; i < list->n; i++)
		if (!n || list->pid[n - 1] != list->pid[i])
			list->pid[n++] = list->pid[i];
	list->n = n;
	return 0;
}

/* All processes, sorted. */
static int read_all(struct pids *list)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	list->n = 0;
	if (!d) {
		msg("cannot read /proc: %s", strerror(errno));
		return -1;
	}
	while ((e = readdir(d)))
		if (atoi(e->d_name) > 0)
			pids_add(list, atoi(e->d_name));
	closedir(d);
	if (list->n)
		qsort(list->pid, list->n, sizeof(*list->pid), later_first);
	return 0;
}

/* ---- attach, and look again ---------------------------------------------- */

/* hwpmc itself is not counted, though it may be in the cgroup. */
static bool is_counted(const struct pids *members, pid_t pid)
{
	return pid != getpid() && pids_have(members, pid);
}

/* 1: some process was attached or detached; nothing counts yet. */
static int attach_round(struct stat_set *set, const struct pids *members,
			const struct pids *all)
{
	int changed = 0;

	for (unsigned int i = 0; i < members->n; i++) {
		int rc = members->pid[i] == getpid() ? 0 :
			 stat_set_attach_member(set, members->pid[i]);

		if (rc < 0)
			return -1;
		changed |= rc;
	}
	/* An attach takes the descendants that there are, wherever they are. */
	for (unsigned int i = 0; i < all->n && set->o->descendants; i++)
		if (!is_counted(members, all->pid[i]))
			changed |= stat_set_detach(set, all->pid[i]);
	return changed;
}

int stat_cgroups_attach(struct stat_set *set, struct stat_options *o)
{
	struct pids members = { .n = 0 }, all = { .n = 0 };
	int rc = 1;

	for (unsigned int i = 0; rc > 0 && i < ROUNDS_MAX; i++)
		rc = read_all(&all) < 0 || read_members(o, &members) < 0 ? -1 :
		     attach_round(set, &members, &all);
	o->npid = 0;
	for (unsigned int i = 0; i < members.n; i++) {
		if (members.pid[i] == getpid())
			continue;
		o->pid = must_realloc(o->pid, o->npid + 1, sizeof(*o->pid));
		o->pid[o->npid++] = members.pid[i];
	}
	free(members.pid);
	free(all.pid);
	if (rc >= 0 && !o->npid) {
		msg("cannot count the cgroup: it has no processes");
		return -1;
	}
	return rc < 0 ? -1 : 0;
}

/* A member that can still be attached was not counted, another process that can be detached
 * was. Children before their parents, as attach and detach take descendants too. */
void stat_cgroups_look_again(struct stat_set *set)
{
	struct pids members = { .n = 0 }, all = { .n = 0 };

	if (set->o->ncgroup && read_all(&all) == 0 && read_members(set->o, &members) == 0) {
		set->joined = set->left = 0;
		for (unsigned int i = 0; i < all.n; i++) {
			if (is_counted(&members, all.pid[i]))
				set->joined += stat_set_lacks(set, all.pid[i]);
			else
				set->left += stat_set_detach(set, all.pid[i]);
		}
	}
	free(members.pid);
	free(all.pid);
}
