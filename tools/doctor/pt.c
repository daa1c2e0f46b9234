/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pt.c - is Intel PT in use? perf's handler then takes part in each NMI and switches all
 * counters off meanwhile, also those that perf does not have. The kernel does not tell of
 * what kind an event of perf is: a command line that names Intel PT, and the kernel's log,
 * are all that is seen.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "common/msg.h"
#include "doctor.h"

#define KLOG_READ_ALL	3
#define KLOG_SIZE	10

#define EFFECT	"perf's handler then stops all counters during each NMI: " \
		"counts lack events of the kernel"

/* The kernel's log of now, or that which the boot of a folder's system left. */
static char *read_log(const struct doctor *d)
{
	char *text = NULL;
	size_t size;
	int n;

	if (!dr_live(d))
		return dr_read_all(d, "/var/log/dmesg", &size);
	n = klogctl(KLOG_SIZE, NULL, 0);
	if (n > 0) {
		text = must_calloc(1, (size_t)n + 1);
		if (klogctl(KLOG_READ_ALL, text, n) < 0)
			text[0] = '\0';
	}
	return text;
}

static bool was_on_at_boot(const struct doctor *d)
{
	char *text = read_log(d);
	bool found = text && strstr(text, "PT is enabled at boot time");

	free(text);
	return found;
}

/* Arguments are separated by zeros. */
static bool names_pt(const struct doctor *d, const char *pid)
{
	char path[64];
	bool found = false;
	size_t size, i = 0;
	char *text;

	snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
	text = dr_read_all(d, path, &size);
	for (; text && i < size && !found; i += strlen(text + i) + 1)
		found = strstr(text + i, "intel_pt");
	free(text);
	return found;
}

static bool has_events(const struct doctor *d, const char *pid)
{
	char path[DR_PATH], to[64];
	bool found = false;
	struct dirent *e;
	DIR *list = opendir(dr_path(d, path, "/proc/%.16s/fd", pid));
	ssize_t n;

	while (list && !found && (e = readdir(list))) {
		n = readlinkat(dirfd(list), e->d_name, to, sizeof(to) - 1);
		if (n > 0) {
			to[n] = '\0';
			found = !strcmp(to, "anon_inode:[perf_event]");
		}
	}
	if (list)
		closedir(list);
	return found;
}

/* Reports the first process that is seen to use it. */
static bool look_at_processes(struct doctor *d)
{
	char path[DR_PATH], name[64], comm[32];
	bool found = false;
	struct dirent *e;
	DIR *list = opendir(dr_path(d, path, "/proc"));

	while (list && !found && (e = readdir(list))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !names_pt(d, e->d_name) ||
		    !has_events(d, e->d_name))
			continue;
		found = true;
		snprintf(name, sizeof(name), "/proc/%.16s/comm", e->d_name);
		dr_first_line(d, name, comm, sizeof(comm));
		dr_note(d, "intel-pt", "wait for it or end it", "%s (process %.16s) traces with Intel "
			"PT: " EFFECT, comm, e->d_name);
	}
	if (list)
		closedir(list);
	return found;
}

void dr_look_at_pt(struct doctor *d)
{
	if (!dr_exists(d, "/sys/bus/event_source/devices/intel_pt"))
		return;
	if (was_on_at_boot(d))
		dr_note(d, "intel-pt", "disable Intel PT in the firmware, and reboot",
			"Intel PT was on when the kernel booted: " EFFECT);
	else if (!look_at_processes(d))
		dr_ok(d, "intel-pt", "no process traces with Intel PT");
}
