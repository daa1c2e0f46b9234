// SPDX-License-Identifier: BSD-2-Clause
/*
 * anew.c DEVICE TOLD - of the descriptor of the device, which it inherits: configures a log
 * at once, as the thread of real time that it begins as, and writes to it when others have
 * run. The errnos of both go to the descriptor TOLD. Static, so that it waits for no file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwpmc.h"

int main(int argc, char **argv)
{
	struct hwpmc_op_configurelog log = { .logfd = memfd_create("new", MFD_CLOEXEC) };
	struct hwpmc_op_writelog datum = { .userdata = 1 };
	struct sched_param none = { 0 };
	int errors[2], device;

	if (argc != 3)
		return 1;
	device = atoi(argv[1]);
	errors[0] = ioctl(device, HWPMC_IOC_CONFIGURELOG, &log) ? errno : 0;
	if (sched_setscheduler(0, SCHED_OTHER, &none))
		return 1;
	usleep(200000);
	errors[1] = ioctl(device, HWPMC_IOC_WRITELOG, &datum) ? errno : 0;
	return write(atoi(argv[2]), errors, sizeof(errors)) != sizeof(errors);
}
