/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nmis.c - backtraces by NMIs while two rows sample: backtraces of all CPUs, as "echo l" to
 * /proc/sysrq-trigger makes them, all complete, and the kernel finds no NMI without a cause.
 */
#include <errno.h>
#include <libhwpmclog.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpus.h"
#include "long.h"
#include "selftest/messages.h"

#define BACKTRACE	"NMI backtrace for cpu"
#define EACH_NS		1000000000ull

/* The sum of the line of NMIs in /proc/interrupts. */
static uint64_t all_nmis(void)
{
	char line[65536];
	uint64_t sum = 0;
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "NMI:"), *end;

		for (at = at ? at + 4 : NULL; at && *at; at = end) {
			uint64_t n = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

struct found {
	unsigned int asked, backtraces, unknown;
	uint64_t nmis, overflows;
	bool lost;
};

static void ask(struct selftest *t, int fd, struct hwpmc_rings *rings, struct st_samples *s,
		struct found *f)
{
	static const char *const text[] = { BACKTRACE, MESSAGE_UNKNOWN_NMI };
	unsigned int count[2];

	do {
		uint64_t until = st_ns() + EACH_NS;

		if (!long_write("/proc/sysrq-trigger", "l"))
			break;
		f->asked++;
		while (st_ns() < until && !long_stopped()) {
			st_loop(100000);
			hwpmc_rings_read(rings, st_take_samples, s, NULL);
		}
		f->lost |= messages_count(fd, text, count, 2);
		f->backtraces += count[0];
		f->unknown += count[1];
	} while (long_more(t));
}

static uint64_t overflows(struct selftest *t)
{
	struct hwpmc_op_getdriverstats stats = { .intr_processed = 0 };

	hwpmc_driver_stats(t->h, &stats);
	return stats.intr_processed;
}

static bool sample_meanwhile(struct selftest *t, int fd, struct found *f)
{
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };
	struct hwpmc_rings *rings;
	int cpu = 0;
	bool done;

	st_cpus(&cpu, 1);
	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0)
		return false;
	done = long_add(t, &p, "instructions:uk", cpu, 200003) &&
	       long_add(t, &p, "branches:uk", cpu, 40009) &&
	       hwpmc_batch(t->h, HWPMC_BATCH_START, p.entry, p.n) == 0;
	if (done) {
		f->nmis = all_nmis();
		f->overflows = overflows(t);
		ask(t, fd, rings, &s, f);
		f->nmis = all_nmis() - f->nmis;
		f->overflows = overflows(t) - f->overflows;
	}
	st_release(t, &p);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
	return done;
}

static void judge(struct selftest *t, const struct found *f)
{
	static struct cpus online;
	unsigned int want;

	cpus_online(&online);
	want = f->asked * online.n;
	long_number(t, f->asked, "asked");
	long_number(t, f->backtraces, "backtraces");
	long_number(t, f->unknown, "unknown_nmis");
	long_number(t, f->nmis, "nmis");
	long_number(t, f->overflows, "overflows");
	if (f->unknown)
		st_failed(t, "nmis", "%u unknown NMIs among %u requested backtraces",
			  f->unknown, want);
	else if (f->backtraces < want && !f->lost)
		st_failed(t, "nmis", "the kernel's log has %u of %u requested backtraces",
			  f->backtraces, want);
	else
		st_held(t, "nmis", "%u backtraces by NMIs%s during %llu overflows; no unknown NMI",
			f->backtraces, f->lost ? " (the log overran)" : "",
			(unsigned long long)f->overflows);
}

void long_nmis(struct selftest *t)
{
	struct found f = { .asked = 0 };
	int fd = messages_open();

	if (fd < 0 || access("/proc/sysrq-trigger", W_OK)) {
		st_not_tried(t, "nmis", "NMIs of others: cannot %s: %s",
			     fd < 0 ? "read the kernel's log" : "write /proc/sysrq-trigger",
			     strerror(errno));
	} else if (!sample_meanwhile(t, fd, &f)) {
		st_failed(t, "nmis", "%s", hwpmc_error(t->h));
	} else {
		judge(t, &f);
	}
	if (fd >= 0)
		close(fd);
}
