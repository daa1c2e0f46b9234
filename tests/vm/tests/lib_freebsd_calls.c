/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_freebsd_calls.c - small programs as they are written for FreeBSD, one a family of
 * calls of pmc(3), and the errno of each refusal that its manual pages name.
 */
#include <sys/types.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmc.h>
#include <pmclog.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define LOOP		1000000

/* The call fails with this errno. */
#define FAILS(call, error)						\
	do {								\
		errno = 0;						\
		ck_assert_int_eq(call, -1);				\
		ck_assert_int_eq(errno, error);				\
	} while (0)
#define WORKS(call)	ck_assert_msg((call) == 0, #call ": %s", pmc_error())

static void setup(void)
{
	WORKS(pmc_init());
}

static void loop(void)
{
	for (volatile int i = 0; i < LOOP; i++)
		;
}

static pmc_id_t allocate(enum pmc_mode mode, int cpu)
{
	pmc_id_t id = PMC_ID_INVALID;

	WORKS(pmc_allocate("instructions", mode, 0, cpu, &id,
			   PMC_IS_SAMPLING_MODE(mode) ? 100000 : 0));
	return id;
}

/* ---- counting -------------------------------------------------------------- */

START_TEST(freebsd_program_counts_itself)
{
	pmc_value_t before, after, old;
	pmc_id_t id = allocate(PMC_MODE_TC, PMC_CPU_ANY);

	WORKS(pmc_attach(id, 0));
	WORKS(pmc_start(id));
	WORKS(pmc_read(id, &before));
	loop();
	WORKS(pmc_read(id, &after));
	ck_assert_uint_ge(after - before, LOOP);
	WORKS(pmc_stop(id));
	WORKS(pmc_rw(id, 17, &old));
	ck_assert_uint_ge(old, after);
	WORKS(pmc_read(id, &after));
	ck_assert_uint_eq(after, 17);
	WORKS(pmc_write(id, 18));
	WORKS(pmc_read(id, &after));
	ck_assert_uint_eq(after, 18);
	WORKS(pmc_set(id, 1000));
	WORKS(pmc_start(id));
	loop();
	WORKS(pmc_stop(id));
	WORKS(pmc_read(id, &after));
	ck_assert_uint_ge(after, 1000 + LOOP);
	WORKS(pmc_detach(id, 0));
	WORKS(pmc_release(id));
}
END_TEST

START_TEST(freebsd_program_counts_a_cpu)
{
	pmc_value_t before, after;
	pmc_id_t id = allocate(PMC_MODE_SC, 0);

	WORKS(pmc_start(id));
	WORKS(pmc_read(id, &before));
	usleep(100000);
	WORKS(pmc_read(id, &after));
	ck_assert_uint_gt(after, before);
	WORKS(pmc_stop(id));
	WORKS(pmc_release(id));
	WORKS(pmc_allocate("tsc", PMC_MODE_SC, 0, 0, &id, 0));
	WORKS(pmc_start(id));
	WORKS(pmc_read(id, &after));
	ck_assert_uint_gt(after, 0);
	WORKS(pmc_release(id));
}
END_TEST

START_TEST(freebsd_program_shows_the_machine)
{
	const struct pmc_cpuinfo *info;
	struct pmc_driverstats stats;
	struct pmc_pmcinfo *rows;
	uint32_t caps, width;
	pmc_id_t id;
	int ncpu;

	WORKS(pmc_cpuinfo(&info));
	ncpu = pmc_ncpu();
	ck_assert_uint_eq(info->pm_ncpu, (unsigned int)ncpu);
	ck_assert_ptr_nonnull(pmc_name_of_cputype(info->pm_cputype));
	for (int cpu = 0; cpu < ncpu; cpu++)
		ck_assert_int_eq(pmc_npmc(cpu), (int)info->pm_npmc);
	for (unsigned int i = 0; i < info->pm_nclass; i++)
		ck_assert_ptr_nonnull(pmc_name_of_class(info->pm_classes[i].pm_class));
	id = allocate(PMC_MODE_TC, PMC_CPU_ANY);
	WORKS(pmc_capabilities(id, &caps));
	ck_assert(caps & PMC_CAP_READ);
	for (enum pmc_caps c = PMC_CAP_FIRST; c <= PMC_CAP_LAST; c <<= 1)
		ck_assert_ptr_nonnull(pmc_name_of_capability(c));
	WORKS(pmc_width(id, &width));
	ck_assert_uint_ge(width, 32);
	WORKS(pmc_pmcinfo(0, &rows));
	for (int i = 0; i < pmc_npmc(0); i++) {
		const struct pmc_info *row = &rows->pm_pmcs[i];

		ck_assert_ptr_nonnull(pmc_name_of_disposition(row->pm_rowdisp));
		if (row->pm_ownerpid != -1)
			ck_assert_int_eq(row->pm_ownerpid, getpid());
	}
	free(rows);
	WORKS(pmc_get_driver_stats(&stats));
	ck_assert_uint_gt(stats.pm_syscalls, 0);
	WORKS(pmc_release(id));
}
END_TEST

START_TEST(freebsd_program_disables_and_enables_a_row)
{
	struct pmc_pmcinfo *rows;
	int last = pmc_npmc(0) - 1;

	WORKS(pmc_disable(0, last));
	WORKS(pmc_pmcinfo(0, &rows));
	ck_assert_int_eq(rows->pm_pmcs[last].pm_enabled, 0);
	free(rows);
	WORKS(pmc_enable(0, last));
	WORKS(pmc_pmcinfo(0, &rows));
	ck_assert_int_eq(rows->pm_pmcs[last].pm_enabled, 1);
	free(rows);
	FAILS(pmc_disable(pmc_ncpu(), 0), EINVAL);
	FAILS(pmc_disable(0, last + 1), EINVAL);
}
END_TEST

/* ---- events of hardware counters ------------------------------------------- */

/* What fn prints, as text; free() it. */
static char *printed(void (*fn)(const char *part), const char *part)
{
	FILE *f = tmpfile();
	int old = dup(1);
	char *text = calloc(1, 1 << 20);

	ck_assert_ptr_nonnull(f);
	fflush(stdout);
	dup2(fileno(f), 1);
	fn(part);
	fflush(stdout);
	dup2(old, 1);
	close(old);
	rewind(f);
	ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, f), 0);
	fclose(f);
	return text;
}

START_TEST(freebsd_program_looks_at_the_events_of_counters)
{
	struct pmc_op_pmcallocate pm = { .pm_caps = PMC_CAP_USER };
	const char **six;
	char *text;
	int i;

	ck_assert_int_eq(pmc_pmu_enabled(), 1);
	/* 0 is none for FreeBSD's `pmc summary`. */
	ck_assert_int_gt(pmc_pmu_idx_get_by_event(NULL, "cycles"), 0);
	ck_assert_ptr_nonnull(pmc_pmu_event_get_by_idx(NULL, 0));
	i = pmc_pmu_idx_get_by_event(NULL, "INSTRUCTIONS");
	ck_assert_int_gt(i, 0);
	ck_assert_str_eq(pmc_pmu_event_get_by_idx(NULL, i), "instructions");
	ck_assert_ptr_null(pmc_pmu_event_get_by_idx(NULL, 1 << 20));
	ck_assert_ptr_null(pmc_pmu_event_get_by_idx("Another-6-1-1", i));
	ck_assert_int_eq(pmc_pmu_idx_get_by_event(NULL, "unhalted-cycles"),
			 pmc_pmu_idx_get_by_event(NULL, "cycles"));
	ck_assert_int_eq(pmc_pmu_idx_get_by_event(NULL, "no.such.event"), -1);
	/* 65536 says that there is none. */
	ck_assert_uint_eq(pmc_pmu_sample_rate_get("instructions"), 65537);
	ck_assert_uint_eq(pmc_pmu_sample_rate_get("LLC-MISSES"), 65537);
	ck_assert_uint_eq(pmc_pmu_sample_rate_get("no.such.event"), 65536);
	ck_assert_uint_eq(pmc_pmu_sample_rate_get("CLOCK.HARD"), 65536);
	ck_assert_int_eq(pmc_pmu_pmcallocate("branches", &pm), 0);
	ck_assert(pm.pm_class == PMC_CLASS_IAP || pm.pm_class == PMC_CLASS_K8);
	ck_assert(pm.pm_flags & PMC_F_EV_PMU);
	ck_assert_uint_eq(pm.pm_md.pm_iap.pm_iap_config & 0xff,
			  pm.pm_class == PMC_CLASS_IAP ? 0xc4 : 0xc2);
	ck_assert_int_eq(pmc_pmu_pmcallocate("no.such.event", &pm), ENOENT);
	ck_assert_int_eq(pmc_pmu_stat_mode(&six), 0);
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(pmc_pmu_pmcallocate(six[i], &pm), 0);
	text = printed(pmc_pmu_print_counters, "INSTRUCTION");
	ck_assert_ptr_nonnull(strstr(text, "\tinstructions\n"));
	ck_assert_ptr_null(strstr(text, "\tcycles\n"));
	free(text);
	text = printed(pmc_pmu_print_counter_desc, "instructions");
	ck_assert_ptr_nonnull(strstr(text, "instructions:\t"));
	free(text);
	text = printed(pmc_pmu_print_counter_desc_long, "instructions");
	ck_assert_ptr_nonnull(strstr(text, "instructions:\n"));
	free(text);
	text = printed(pmc_pmu_print_counter_full, "branches");
	ck_assert_ptr_nonnull(strstr(text, "name: branches\n"));
	ck_assert_ptr_nonnull(strstr(text, "event: 0x"));
	free(text);
}
END_TEST

/* ---- logs ------------------------------------------------------------------ */

START_TEST(freebsd_log_to_dev_null_is_written_and_flushed)
{
	int fd = open("/dev/null", O_WRONLY);
	pmc_id_t id;

	WORKS(pmc_configure_logfile(fd));
	id = allocate(PMC_MODE_TS, PMC_CPU_ANY);
	WORKS(pmc_start(id));
	loop();
	WORKS(pmc_stop(id));
	WORKS(pmc_writelog(1));
	WORKS(pmc_flush_logfile());
	WORKS(pmc_flush_logfile());
	WORKS(pmc_configure_logfile(-1));
	WORKS(pmc_release(id));
	close(fd);
}
END_TEST

START_TEST(freebsd_log_to_dev_full_says_enospc_at_the_flush)
{
	int fd = open("/dev/full", O_WRONLY);

	WORKS(pmc_configure_logfile(fd));
	errno = 0;
	pmc_writelog(1);	/* the first piece may have failed already */
	FAILS(pmc_flush_logfile(), ENOSPC);
	FAILS(pmc_flush_logfile(), ENOSPC);
	WORKS(pmc_configure_logfile(-1));
	close(fd);
}
END_TEST

/* As FreeBSD's pmcstat reads its log: it holds both ends itself. */
START_TEST(freebsd_log_in_a_pipe_ends_for_who_holds_both_ends)
{
	struct pollfd pfd;
	char bytes[4096];
	int fds[2];
	ssize_t n;

	ck_assert_int_eq(pipe(fds), 0);
	WORKS(pmc_configure_logfile(fds[1]));
	WORKS(pmc_writelog(1));
	WORKS(pmc_close_logfile());
	WORKS(pmc_close_logfile());
	pfd = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	do {
		ck_assert_int_eq(poll(&pfd, 1, 60000), 1);
		n = read(fds[0], bytes, sizeof(bytes));
		ck_assert_int_ge(n, 0);
	} while (n);
	/* The descriptor is still the program's to close. */
	ck_assert_int_eq(close(fds[1]), 0);
	close(fds[0]);
}
END_TEST

START_TEST(freebsd_errors_of_logs)
{
	int null = open("/dev/null", O_WRONLY), readable = open("/dev/null", O_RDONLY);
	pmc_id_t id;

	FAILS(pmc_close_logfile(), EINVAL);
	id = allocate(PMC_MODE_TS, PMC_CPU_ANY);
	WORKS(pmc_attach(id, getppid()));
	FAILS(pmc_start(id), EDOOFUS);
	FAILS(pmc_configure_logfile(-1), EINVAL);
	FAILS(pmc_configure_logfile(12345), EBADF);
	FAILS(pmc_configure_logfile(readable), EBADF);
	FAILS(pmc_flush_logfile(), EINVAL);
	FAILS(pmc_writelog(1), EINVAL);
	WORKS(pmc_configure_logfile(null));
	FAILS(pmc_configure_logfile(null), EBUSY);
	WORKS(pmc_configure_logfile(-1));
	/* It has none, but owns something; FreeBSD's `pmc stat` closes its log so. */
	WORKS(pmc_close_logfile());
	WORKS(pmc_release(id));
	FAILS(pmc_close_logfile(), EINVAL);
}
END_TEST

/* ---- errors ---------------------------------------------------------------- */

START_TEST(freebsd_errors_of_allocate)
{
	pmc_id_t id;

	FAILS(pmc_allocate("no.such.event", PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions,nonsense", PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0),
	      EINVAL);
	FAILS(pmc_allocate("", PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions", 9, 0, PMC_CPU_ANY, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions", PMC_MODE_TC, 0, 0, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions", PMC_MODE_SC, 0, PMC_CPU_ANY, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions", PMC_MODE_SC, 0, 4000, &id, 0), EINVAL);
	FAILS(pmc_allocate("instructions", PMC_MODE_SC, PMC_F_LOG_PROCCSW, 0, &id, 0),
	      EINVAL);
	FAILS(pmc_allocate("instructions", PMC_MODE_TC, 0x80000000, PMC_CPU_ANY, &id, 0),
	      EINVAL);
	FAILS(pmc_allocate("tsc", PMC_MODE_SS, 0, 0, &id, 1000), EOPNOTSUPP);
	FAILS(pmc_allocate("tsc", PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0), EINVAL);
	ck_assert_ptr_nonnull(strstr(pmc_error(), "count it in system scope"));
}
END_TEST

START_TEST(freebsd_errors_of_attach)
{
	pmc_id_t id = allocate(PMC_MODE_TC, PMC_CPU_ANY), system = allocate(PMC_MODE_SC, 0);
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	FAILS(pmc_attach(system, 0), EINVAL);
	FAILS(pmc_attach(id, -5), EINVAL);
	FAILS(pmc_attach(id, gone), ESRCH);
	FAILS(pmc_attach(PMC_ID_INVALID, 0), EINVAL);
	FAILS(pmc_detach(id, 0), ESRCH);
	WORKS(pmc_attach(id, 0));
	FAILS(pmc_attach(id, 0), EEXIST);
	WORKS(pmc_start(id));
	FAILS(pmc_attach(id, getppid()), EBUSY);
	WORKS(pmc_release(id));
	WORKS(pmc_release(system));
}
END_TEST

START_TEST(freebsd_errors_of_what_is_done_to_a_pmc)
{
	pmc_id_t id = allocate(PMC_MODE_TC, PMC_CPU_ANY), system = allocate(PMC_MODE_SC, 0);
	pmc_value_t v;
	uint32_t n;

	FAILS(pmc_stop(id), EINVAL);
	WORKS(pmc_start(id));
	WORKS(pmc_start(id));
	FAILS(pmc_write(id, 1), EBUSY);
	FAILS(pmc_rw(id, 1, &v), EBUSY);
	FAILS(pmc_set(id, 1), EBUSY);
	WORKS(pmc_stop(id));
	WORKS(pmc_stop(id));
	FAILS(pmc_get_msr(system, &n), EINVAL);
	FAILS(pmc_read(PMC_ID_INVALID, &v), EINVAL);
	FAILS(pmc_capabilities(PMC_ID_INVALID, &n), EINVAL);
	FAILS(pmc_width(PMC_ID_INVALID, &n), EINVAL);
	FAILS(pmc_npmc(4000), EINVAL);
	FAILS(pmc_pmcinfo(4000, &(struct pmc_pmcinfo *){ NULL }), EINVAL);
	WORKS(pmc_release(id));
	FAILS(pmc_release(id), EINVAL);
	WORKS(pmc_release(system));
	FAILS(pmc_read(id, &v), ESRCH);
}
END_TEST

START_TEST(freebsd_start_without_a_target_left_is_esrch)
{
	pmc_id_t id = allocate(PMC_MODE_TC, PMC_CPU_ANY);
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	WORKS(pmc_attach(id, pid));
	kill(pid, 9);
	waitpid(pid, NULL, 0);
	FAILS(pmc_start(id), ESRCH);
	WORKS(pmc_release(id));
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_SELFCOST);
	harness_fixture(setup, NULL);
	harness_add(freebsd_program_counts_itself);
	harness_add(freebsd_program_counts_a_cpu);
	harness_add(freebsd_program_shows_the_machine);
	harness_add(freebsd_program_disables_and_enables_a_row);
	harness_add(freebsd_program_looks_at_the_events_of_counters);
	harness_add(freebsd_log_to_dev_null_is_written_and_flushed);
	harness_add(freebsd_log_to_dev_full_says_enospc_at_the_flush);
	harness_add(freebsd_log_in_a_pipe_ends_for_who_holds_both_ends);
	harness_add(freebsd_errors_of_logs);
	harness_add(freebsd_errors_of_allocate);
	harness_add(freebsd_errors_of_attach);
	harness_add(freebsd_errors_of_what_is_done_to_a_pmc);
	harness_add(freebsd_start_without_a_target_left_is_esrch);
	return harness_run();
}
