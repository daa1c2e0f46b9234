/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - /dev/hwpmc: is it there, whose is it, and may this user open it. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

static void report_no_node(struct doctor *d)
{
	unsigned int major, minor;
	char number[32], command[64];

	if (dr_contained(d)) {
		dr_wrong(d, "node", "docker run --device " HWPMC_DEVICE " ...",
			 "the module is loaded, but this container has no " HWPMC_DEVICE);
		return;
	}
	dr_first_line(d, "/sys/class/misc/hwpmc/dev", number, sizeof(number));
	if (sscanf(number, "%u:%u", &major, &minor) != 2) {
		dr_wrong(d, "node", "modprobe -r hwpmc && modprobe hwpmc",
			 "the module is loaded, but " HWPMC_DEVICE " does not exist");
		return;
	}
	snprintf(command, sizeof(command), "mknod -m 660 " HWPMC_DEVICE " c %u %u", major, minor);
	dr_wrong(d, "node", command, "the module is loaded, but " HWPMC_DEVICE
		 " was removed");
}

static const char *group_name(gid_t gid, char name[64])
{
	const struct group *g = getgrgid(gid);

	if (g)
		snprintf(name, 64, "%s", g->gr_name);
	else
		snprintf(name, 64, "%u", gid);
	return name;
}

/* Is the user in the group, as the next login will see it? */
static bool in_group(const struct passwd *pw, gid_t gid)
{
	gid_t groups[256];
	int n = 256;

	if (getgrouplist(pw->pw_name, pw->pw_gid, groups, &n) < 0)
		return false;
	for (int i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

static void report_denied(struct doctor *d, const struct stat *st)
{
	const struct passwd *pw = getpwuid(geteuid());
	char group[64], command[160];

	group_name(st->st_gid, group);
	if (!st->st_gid || (st->st_mode & 0060) != 0060) {
		dr_wrong(d, "node", getgrnam("hwpmc") ?
			 "sudo udevadm trigger --action=add /sys/class/misc/hwpmc" :
			 "sudo modprobe -r hwpmc && sudo modprobe hwpmc gid=GROUP", HWPMC_DEVICE " has mode %04o, group %s: only "
			 "root can open it; to admit a group, see gid= in hwpmc(4)",
			 st->st_mode & 07777, group);
		return;
	}
	if (pw && in_group(pw, st->st_gid))
		snprintf(command, sizeof(command), "newgrp %s", group);
	else
		snprintf(command, sizeof(command), "sudo usermod -aG %s %s", group,
			 pw ? pw->pw_name : "USER");
	dr_wrong(d, "node", command, HWPMC_DEVICE " has mode %04o, group %s: this %s not in "
		 "that group", st->st_mode & 07777, group,
		 pw && in_group(pw, st->st_gid) ? "login is" : "user is");
}

/* An error that is neither of rights nor of versions (module.c), such as a container's. */
static void report_open(struct doctor *d)
{
	if (d->open_errno == EPERM)
		dr_wrong(d, "node", "docker run --device " HWPMC_DEVICE " ...", "%s",
			 "the device controller of this container's cgroup, or a filter of system "
			 "calls (seccomp), forbids " HWPMC_DEVICE);
	else
		dr_wrong(d, "node", "ls -l " HWPMC_DEVICE, "%s", d->open_why);
}

void dr_look_at_node(struct doctor *d)
{
	char path[DR_PATH], group[64];
	struct stat st;

	if (!dr_loaded(d)) {
		dr_ok(d, "node", "the module creates it when it is loaded");
		return;
	}
	if (stat(dr_path(d, path, HWPMC_DEVICE), &st) < 0) {
		report_no_node(d);
		return;
	}
	if (dr_live(d) && d->open_errno == EACCES)
		report_denied(d, &st);
	else if (d->open_errno && d->open_errno != EPROTONOSUPPORT)
		report_open(d);
	else
		dr_ok(d, "node", HWPMC_DEVICE " has mode %04o, group %s%s", st.st_mode & 07777,
		      group_name(st.st_gid, group), d->h ? ": this user can open it" : "");
}
