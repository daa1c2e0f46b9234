/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_unload.c - "hwpmc unload": revoke all counters, end all logs, and remove the
 * module. Plain rmmod(8) refuses while the device is open.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/msg.h"

#define MODULE		"hwpmc"
#define STEP_MS		50

const char cmd_unload_help[] =
"usage: hwpmc unload [-w SECONDS]\n"
"\n"
"Stop all counters, end all logs, and unload the module. Processes that use the\n"
"module get SIGBUS if they sample or have a log, else errors. Needs root.\n"
"\n"
"  -w, --wait SECONDS  wait up to SECONDS for these processes; default: 5\n"
"\n"
"Exit status: 0 if the module was unloaded, 1 if not, 2 for an invalid option.\n";

/* Does the process have the device open? */
static bool process_holds(const char *pid)
{
	char path[PATH_MAX], to[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, to,
				       sizeof(to));

		found = n == (ssize_t)strlen(HWPMC_DEVICE) &&
			!memcmp(to, HWPMC_DEVICE, n);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* "12, 345": processes that have it open. */
static void name_holders(char *text, size_t size)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	size_t n = 0;

	*text = '\0';
	while (proc && n < size && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    process_holds(entry->d_name))
			n += snprintf(text + n, size - n, "%s%.10s",
				      n ? ", " : "", entry->d_name);
	if (proc)
		closedir(proc);
}

static int revoke_all(void)
{
	struct hwpmc *h;
	int status = 0;

	if (hwpmc_open(&h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	if (hwpmc_revoke(h) < 0) {
		msg("%s", hwpmc_error(h));
		status = EXIT_FAILED;
	}
	hwpmc_close(h);
	return status;
}

static bool is_gone(uint64_t seconds)
{
	struct timespec step = { .tv_nsec = STEP_MS * 1000000l };

	for (uint64_t ms = 0; ; ms += STEP_MS) {
		if (!syscall(SYS_delete_module, MODULE, O_NONBLOCK))
			return true;
		if ((errno != EAGAIN && errno != EBUSY) || ms >= seconds * 1000)
			return false;
		nanosleep(&step, NULL);
	}
}

static int unload_module(uint64_t seconds)
{
	char holders[256];
	int err, status = revoke_all();

	if (status)
		return status;
	if (is_gone(seconds))
		return 0;
	err = errno;
	name_holders(holders, sizeof(holders));
	if ((err == EAGAIN || err == EBUSY) && *holders)
		msg("cannot unload the module: " HWPMC_DEVICE " is still open in process %s; end it, or wait longer (-w)",
		    holders);
	else if (err == EAGAIN || err == EBUSY)
		msg("cannot unload the module: another module or a process that is exiting uses it; wait longer (-w)");
	else
		msg("cannot unload the module: %s", strerror(err));
	return EXIT_FAILED;
}

int cmd_unload(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "wait", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t seconds = 5;
	int c;

	while ((c = getopt_long(argc, argv, ":w:", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(cmd_unload_help, stdout);
			return 0;
		}
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		if (fmt_parse_u64(optarg, 0, 3600, &seconds) < 0)
			return msg_usage("invalid number of seconds '%s' (at most 3600)",
					 optarg);
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	return unload_module(seconds);
}
