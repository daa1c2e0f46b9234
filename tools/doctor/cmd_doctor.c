/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_doctor.c - "hwpmc doctor": options, the order of what is looked at, the answer.
 * The device is opened only if the module is loaded: opening a node that the boot made
 * would load it.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/commands.h"
#include "common/msg.h"
#include "doctor.h"

const char cmd_doctor_help[] =
"usage: hwpmc doctor [--json] [--kernel RELEASE] [--root DIR]\n"
"\n"
"Diagnose why this user cannot count on this machine, and print the commands that\n"
"fix it. Checks the counters and their users, the module, DKMS, the signature,\n"
"the device and the kernel. Changes nothing.\n"
"\n"
"      --json            print one JSON object\n"
"  -k, --kernel RELEASE  check this kernel instead of the running one\n"
"      --root DIR        check the files below DIR, such as those of a disk\n"
"                        image; do not open the device\n"
"\n"
"Exit status: 0 if hwpmc can count; 1 if it cannot; 2 for an invalid option.\n";

static void open_device(struct doctor *d)
{
	if (!dr_live(d) || !dr_loaded(d))
		return;
	if (hwpmc_open(&d->h) == 0)
		return;
	d->open_errno = errno;
	snprintf(d->open_why, sizeof(d->open_why), "%s", hwpmc_error(NULL));
}

static int run_doctor(struct doctor *d, bool json)
{
	open_device(d);
	dr_find_host(d);
	dr_look_at_pmu(d);
	dr_look_at_signature(d);
	dr_look_at_module(d);
	dr_look_at_node(d);
	dr_look_at_kernel(d);
	dr_look_at_surroundings(d);
	hwpmc_close(d->h);
	if (json)
		dr_print_json(d);
	else
		dr_print_text(d);
	return dr_count(d, DR_WRONG) ? EXIT_FAILED : 0;
}

static int use_kernel(struct doctor *d, const char *release)
{
	if (strlen(release) >= sizeof(d->release) || strchr(release, '/'))
		return msg_usage("invalid kernel release '%s'", release);
	strcpy(d->release, release);
	return 0;
}

static int use_root(struct doctor *d, const char *dir)
{
	if (strlen(dir) > DR_PATH / 2)
		return msg_usage("the path is too long: '%.64s...'", dir);
	d->root = dir;
	if (dr_exists(d, "/"))
		return 0;
	msg("cannot read '%s': %s", dir, strerror(errno));
	return EXIT_FAILED;
}

static int parse_options(struct doctor *d, bool *json, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "root", required_argument, NULL, 'R' },
		{ NULL, 0, NULL, 0 },
	};
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, ":k:R:", options, NULL)) != -1) {
		if (c == 'j')
			*json = true;
		else if (c == 'k')
			err = use_kernel(d, optarg);
		else if (c == 'R')
			err = use_root(d, optarg);
		else
			return msg_bad_option(c, optopt, argv, optind);
	}
	if (!err && optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	return err;
}

int cmd_doctor(int argc, char *argv[])
{
	struct doctor d = { .root = "" };
	bool json = false;
	struct utsname u;
	int err;

	uname(&u);
	snprintf(d.release, sizeof(d.release), "%s", u.release);
	err = parse_options(&d, &json, argc, argv);
	return err ? err : run_doctor(&d, json);
}
