/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guarded.c - opens files whose names come from a log, from the debugging information of
 * a program, or from the number of a process (in /tmp). All such files are opened here. The
 * file is regular, not too large, and below `root` whatever links and ".." say; its type is
 * known before it is opened, so that opening has no effect. Where `owner` is given, a file
 * of that user names it, and its bytes are shown to the reader: the user must be able to
 * read them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stat.h"

#define GROUPS_MAX	65536		/* of the kernel */

/* ---- another user's rights ----------------------------------------------- */

struct rights {
	bool changed;
	uid_t user;
	gid_t group, *groups;
	int ngroup;
};

static void rights_back(struct rights *r)
{
	if (!r->changed)
		return;
	setfsuid(r->user);
	setfsgid(r->group);
	syscall(SYS_setgroups, r->ngroup, r->groups);
	free(r->groups);
}

/*
 * If this thread is root's, it opens files with the rights of that user and of one group
 * until rights_back(). The system calls themselves are used, as those of the C library
 * change all threads of the process.
 */
static bool rights_take(struct rights *r, const struct hwpmc_guard *g)
{
	*r = (struct rights){ .changed = false };
	if (!g->owned || g->owner == 0 || geteuid() != 0)
		return true;
	r->ngroup = getgroups(0, NULL);
	if (r->ngroup < 0 || r->ngroup > GROUPS_MAX)
		return false;
	r->groups = stat_alloc(r->ngroup, sizeof(*r->groups));
	if (!r->groups || getgroups(r->ngroup, r->groups) != r->ngroup ||
	    syscall(SYS_setgroups, 0, NULL) < 0) {
		free(r->groups);
		return false;
	}
	r->changed = true;
	r->group = setfsgid(g->group);
	r->user = setfsuid(g->owner);
	/* Both return the old one, and nothing else where they fail. */
	if ((uid_t)setfsuid(-1) == g->owner && (gid_t)setfsgid(-1) == g->group)
		return true;
	rights_back(r);
	return false;
}

/* ---- opening ------------------------------------------------------------- */

static int no_file(const char **why, const char *what)
{
	*why = what;
	return -1;
}

static const char *cause(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return "the file does not exist";
	case EACCES:
	case EPERM:
		return "permission denied";
	case ELOOP:
		return "it contains links, which are not followed";
	default:
		return "it cannot be opened";
	}
}

/* A descriptor that neither reads nor writes: the file does not notice it. */
static int find_file(const struct hwpmc_guard *g, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (g->no_link ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_NO_MAGICLINKS |
			   (g->root ? RESOLVE_IN_ROOT : 0),
	};
	int dir = AT_FDCWD, fd;

	if (g->root) {
		dir = open(g->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -1;
	}
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	/* A sandbox without this call; no link and no ".." may leave the root then. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !g->root)
		fd = open(path, how.flags);
	if (g->root)
		close(dir);
	return fd;
}

static bool may_show(const struct hwpmc_guard *g, const struct stat *st)
{
	if (!g->owned || g->owner == 0 || g->owner == st->st_uid)
		return true;
	/* The reader's own program may show what the reader can read. */
	return g->owner == geteuid() || st->st_mode & S_IROTH;
}

static int open_found(const struct hwpmc_guard *g, int found, const char **why)
{
	struct stat st;
	char path[40];
	int fd;

	if (fstat(found, &st) < 0 || !S_ISREG(st.st_mode))
		return no_file(why, "it is not a regular file");
	if (st.st_size < 0 || (uint64_t)st.st_size > g->limit)
		return no_file(why, "it is too large");
	if (!may_show(g, &st))
		return no_file(why, "the owner of the file that names it cannot read it");
	if (g->one_name && st.st_nlink != 1)
		return no_file(why, "it has several hard links");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 ? fd : no_file(why, cause(errno));
}

EXPORT int hwpmc_open_guarded(const struct hwpmc_guard *g, const char *path,
			      const char **why)
{
	struct rights rights;
	const char *ignored;
	int found, fd = -1;

	if (!why)
		why = &ignored;
	if (stat_null(!g || !path)) {
		*why = NULL_GIVEN;
		return -1;
	}
	if (!rights_take(&rights, g))
		return no_file(why, "cannot assume the rights of its owner");
	found = find_file(g, path);
	if (found >= 0)
		fd = open_found(g, found, why);
	else
		no_file(why, cause(errno));
	if (found >= 0)
		close(found);
	rights_back(&rights);
	return fd;
}
