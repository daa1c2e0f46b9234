/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibs_pt.c - step ibs-pt: perf uses hardware that shares the NMI with the counters and needs no
 * reservation, AMD's IBS and Intel's Processor Trace. In the meantime all rows must count and
 * two must sample, as without. Step irqs-off needs a module and is reported as not tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "long.h"
#include "selftest/messages.h"
#include "selftest/perf.h"

#define IBS_PERIOD	0x10000

static void check_meanwhile(struct selftest *t, const char *what)
{
	static const char *const text[] = { MESSAGE_UNKNOWN_NMI };
	unsigned int failed = t->count[ST_FAILED], rounds = 0, unknown = 0;
	int fd = messages_open();

	do {
		st_rows(t);
		st_pair(t);
		rounds++;
	} while (long_more(t) && t->count[ST_FAILED] == failed && rounds < 20);
	if (fd >= 0) {
		messages_count(fd, text, &unknown, 1);
		close(fd);
	}
	if (unknown)
		st_failed(t, "ibs-pt", "while perf uses %s: %u unknown NMIs", what,
			  unknown);
	else if (t->count[ST_FAILED] == failed)
		st_held(t, "ibs-pt", "while perf uses %s, all rows count and two sample, %u times", what,
			rounds);
}

/* Of each CPU that there is; how many. */
static unsigned int open_ibs(int type, const int *cpu, unsigned int n, int *fd)
{
	unsigned int open = 0;

	for (unsigned int i = 0; i < n; i++) {
		fd[open] = perf_open_raw(type, 0, IBS_PERIOD, cpu[i]);
		open += fd[open] >= 0;
	}
	return open;
}

static void with_ibs(struct selftest *t)
{
	int type = perf_type("ibs_op"), cpu[256], fd[256];
	unsigned int n = st_cpus(cpu, 256), open;

	if (type < 0) {
		st_not_tried(t, "ibs", "with IBS: this machine has none");
		return;
	}
	open = open_ibs(type, cpu, n, fd);
	if (!open)
		st_not_tried(t, "ibs", "with IBS: perf cannot open it: %s", strerror(errno));
	else
		check_meanwhile(t, "IBS");
	for (unsigned int i = 0; i < open; i++)
		close(fd[i]);
}

/* It has no buffer: that it is there is what makes perf look at each NMI. */
static void with_pt(struct selftest *t)
{
	int type = perf_type("intel_pt"), fd;

	if (type < 0) {
		st_not_tried(t, "pt", "with Intel PT: this machine has none");
		return;
	}
	fd = perf_open_raw(type, 0, 0, -1);
	if (fd < 0) {
		st_not_tried(t, "pt", "with Intel PT: perf cannot open it: %s", strerror(errno));
		return;
	}
	check_meanwhile(t, "Intel PT");
	close(fd);
}

void long_ibs_pt(struct selftest *t)
{
	char line[16];

	if (long_line("/proc/sys/kernel/nmi_watchdog", line, sizeof(line)))
		long_number(t, atoi(line), "nmi_watchdog");
	with_ibs(t);
	if (!long_stopped())
		with_pt(t);
}

void long_irqs_off(struct selftest *t)
{
	st_not_tried(t, "irqs-off",
		     "interrupts off for 100 ms while sampling: only a module can disable them");
}
