/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity.c - is the file at the path of an image the one that ran? Its build-id decides
 * (elf_is_of()); of a file without one, the inode, size and times that it had when it was
 * mapped. A changed file lends no names. A copy that nothing but its size tells from
 * another lends them with a doubt.
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "records.h"
#include "stat.h"

#define NO_ID		"the log has no build-id of it, as its first page has none: "
#define NOT_READ	"the log has no build-id of it, as it was not in memory: "

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

bool is_elsewhere(const struct images *set)
{
	const char *host = set->kallsyms.hostname;
	struct utsname u;

	return set->options.root ||
	       (host && uname(&u) == 0 && strcmp(host, u.nodename));
}

/* A file of overlayfs has another inode there than below, and the times of that one. */
static bool is_stacked(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static bool refuse(struct image *img, const char *why)
{
	image_problem(img, why);
	return false;
}

static bool doubt(struct image *img, const char *none, const char *unread)
{
	img->pub.doubt = img->ran.unread ? unread : none;
	return true;
}

#define DOUBT(img, text)	doubt(img, NO_ID text, NOT_READ text)

/* Of a log whose writer stored no size and no time. */
static bool check_inode(const struct images *set, struct image *img, int fd,
			const struct stat *st)
{
	bool copy = is_elsewhere(set) || is_stacked(fd);

	if (img->ran.inode && img->ran.inode != st->st_ino && !copy)
		return refuse(img, "the file was replaced: its inode differs from the log");
	img->pub.doubt =
		"the log has neither a build-id of it nor its size and time: the file may have changed";
	return true;
}

/* Its size and time are the log's. */
static bool check_place(const struct images *set, struct image *img, const struct stat *st)
{
	/* No program sets a ctime: it is that of one inode, whatever number it has here. */
	if (img->ran.ctime == ns_of(&st->st_ctim))
		return true;
	/* Times can be set and numbers are given again; a chmod or a link changes it, too. */
	if (img->ran.inode == st->st_ino)
		return DOUBT(img, "its inode has changed since it ran");
	if (!is_elsewhere(set))
		return refuse(img, "the file was replaced: its inode differs from the log");
	return DOUBT(img, "names come from a copy with the same size and time");
}

bool identity_check(const struct images *set, struct image *img, const struct elf_file *f)
{
	const struct file_id *ran = &img->ran;
	struct stat st;

	if (img->pub.build_id_len)
		return elf_is_of(f, img) ||
		       refuse(img, "the file has changed: its build-id differs from the log");
	if (fstat(f->fd, &st) < 0)
		return refuse(img, "its size and time cannot be read");
	if (!ran->stamped)
		return check_inode(set, img, f->fd, &st);
	if ((uint64_t)st.st_size != ran->size)
		return refuse(img, "the file has changed: its size differs from the log");
	if (ns_of(&st.st_mtim) == ran->mtime)
		return check_place(set, img, &st);
	if (!is_elsewhere(set))
		return refuse(img, "the file has changed: its time differs from the log");
	return DOUBT(img, "names come from a copy with the same size and another time");
}
