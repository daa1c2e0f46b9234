/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.c - opening and closing: the versions are compared and the machine is
 * asked about once. Any thread; a handle is closed when no other thread uses it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* A group of this machine, by its number, or, if that is 0, by its name; false: not found. Without
 * NSS, which a static program lacks. */
static bool find_group(unsigned int gid, char name[64])
{
	FILE *f = fopen("/etc/group", "re");
	unsigned int number;
	char word[64], line[1024];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63[^:]:%*[^:]:%u:", word, &number) == 2 &&
			(gid ? number == gid : !strcmp(word, name));
	if (f)
		fclose(f);
	if (found)
		strcpy(name, word);
	return found;
}

/* The node says whether there is a group to join. hwpmc doctor has the same remedies. */
static struct what what_denied(void)
{
	static const char denied[] = "cannot open " HWPMC_DEVICE ": permission denied; run it as "
		"root, or ";
	char group[64] = "hwpmc";
	struct stat st;

	if (stat(HWPMC_DEVICE, &st) == 0 && st.st_gid && (st.st_mode & 0060) == 0060) {
		if (!find_group(st.st_gid, group))
			snprintf(group, sizeof(group), "%u", st.st_gid);
		return what("%sjoin the group of the device and log in again: sudo usermod -aG %s "
			    "USER", denied, group);
	}
	if (find_group(0, group))
		return what("%sgive the device to its group: sudo udevadm trigger --action=add "
			    "/sys/class/misc/hwpmc", denied);
	return what("%sload the module for a group: sudo modprobe -r hwpmc && sudo modprobe hwpmc "
		    "gid=GROUP", denied);
}

static int open_refused(int err)
{
	struct what w;

	/* Else the mode of the node, or a missing module, would be to blame. */
	if (err == ENOSYS && error_is_filtered())
		return error_own(NULL, err, "cannot open " HWPMC_DEVICE ": " ERROR_FILTERED);
	/* Containers have both, and the device controller is the usual cause. */
	if (err == EPERM && error_is_filtered())
		return error_own(NULL, err, "cannot open " HWPMC_DEVICE
				 ": the device controller of the cgroup or a filter of system "
				 "calls (seccomp) forbids it; permit the device, such as: docker "
				 "run --device " HWPMC_DEVICE ", DeviceAllow=" HWPMC_DEVICE
				 " rw; or permit open and ioctl in the filter");
	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		if (!access("/sys/module/hwpmc", F_OK)) {
			w = what("cannot open " HWPMC_DEVICE ": the module is loaded, "
				 "but the device does not exist; give it to the "
				 "container, such as: docker run --device " HWPMC_DEVICE);
			err = ENOENT;
			break;
		}
		w = what("cannot open " HWPMC_DEVICE ": the module is not "
			 "loaded; load it with: modprobe hwpmc");
		err = ENOENT;
		break;
	case EACCES:
	case EPERM:
		w = what_denied();
		break;
	default:
		w = what("cannot open " HWPMC_DEVICE ": %s", strerror(err));
	}
	return error_own(NULL, err, w.text);
}

static int check_version(int fd)
{
	struct hwpmc_op_getmoduleversion op = { .version = HWPMC_API_VERSION };

	if (!sys_call(fd, HWPMC_IOC_GETMODULEVERSION, &op.hdr)) {
		if (op.version >> 24 == HWPMC_API_VERSION >> 24)
			return 0;
		/* A module of another major contract is of no use. */
		op.hdr.reason = HWPMC_WHY_VERSION;
		errno = EPROTONOSUPPORT;
	}
	if (errno == ENOTTY)
		return error_own(NULL, ENOTTY, "cannot use " HWPMC_DEVICE
				 ": this is not the hwpmc device");
	return error_from_call(NULL, &op.hdr, "use the loaded module");
}

EXPORT int hwpmc_open(struct hwpmc **handle)
{
	struct hwpmc *h;
	int err;

	if (null_given(NULL, !handle, "hwpmc_open"))
		return -1;
	*handle = NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return error_own(NULL, ENOMEM, "cannot open " HWPMC_DEVICE
				 ": out of memory");
	h->pid = getpid();
	h->serial = handle_serial();
	h->fd = sys_open();
	if (h->fd < 0) {
		open_refused(errno);
		goto err_open;
	}
	if (check_version(h->fd))
		goto err_use;
	if (sys_call(h->fd, HWPMC_IOC_GETCPUINFO, &h->info.hdr)) {
		error_from_call(NULL, &h->info.hdr, "ask about the machine");
		goto err_use;
	}
	*handle = h;
	return 0;

err_use:
	err = errno;
	close(h->fd);
	errno = err;
err_open:
	err = errno;
	free(h);
	errno = err;
	return -1;
}

EXPORT void hwpmc_close(struct hwpmc *h)
{
	struct error_record *r, *next;

	if (!h)
		return;
	mapped_close(h);
	if (h->fd >= 0)
		close(h->fd);
	for (r = atomic_load(&h->errors); r; r = next) {
		next = r->next;
		free(r);
	}
	free(atomic_load(&h->soft));
	free(h);
}

EXPORT int hwpmc_fd(const struct hwpmc *h)
{
	if (null_given(NULL, !h, "hwpmc_fd"))
		return -1;
	return h->fd;
}
