/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_live.c - the library with the module under it: native calls and FreeBSD's,
 * sentences about real refusals, children of fork(). What the module counts has
 * tests of its own; here one program of known length shows that what was asked
 * for is what was counted.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmc.h>
#include <pmc.h>

#include "harness.h"
#include "../lib/lib_machine.h"
#include "vpmu_guest.h"

#define LOOP		"build/vm/progs/loop"
#define ITERATIONS	"100000"
/* See loop.S: six digits. */
#define INSTRUCTIONS	(3 * 100000 + 7 * 6 + 8)
#define BRANCHES	(100000 + 2 * 6 + 2)

#define NO_PID		((1 << 22) - 1)	/* the highest: nobody has it here */

static bool is_amd(void)
{
	const char *model = getenv("VM_MODEL");

	return model && !strcmp(model, "amd");
}

static struct hwpmc *open_handle(void)
{
	struct hwpmc *h;

	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
	return h;
}

static uint32_t allocate(struct hwpmc *h, const char *spec, uint32_t flags)
{
	uint32_t id = HWPMC_ID_INVALID;

	ck_assert_msg(!hwpmc_allocate(h, spec, HWPMC_MODE_TC, flags,
				      HWPMC_CPU_ANY, 0, &id), "%s",
		      hwpmc_error(h));
	return id;
}

/* A child that runs LOOP when its pipe is closed. */
static pid_t child_to_exec(int *go)
{
	int fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 0)
			execl(LOOP, LOOP, ITERATIONS, NULL);
		_exit(1);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static void end_of_child(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %x",
		      status);
}

START_TEST(library_counts_a_program_of_known_length)
{
	static const char *const specs[] = {
		"instructions:u", "branches,usr", "cpu/event=0xc0/u",
	};
	static const uint64_t want[] = { INSTRUCTIONS, BRANCHES, INSTRUCTIONS };
	struct hwpmc *h = open_handle();
	uint64_t value;
	uint32_t id[3];
	int go, i;
	pid_t pid = child_to_exec(&go);

	for (i = 0; i < 3; i++) {
		id[i] = allocate(h, specs[i], HWPMC_F_EXEC_START);
		ck_assert_msg(!hwpmc_attach(h, id[i], pid) &&
			      !hwpmc_start(h, id[i]), "%s", hwpmc_error(h));
	}
	close(go);
	end_of_child(pid);
	for (i = 0; i < 3; i++) {
		ck_assert_msg(!hwpmc_read(h, id[i], &value), "%s",
			      hwpmc_error(h));
		ck_assert_msg(value == want[i], "%s: %llu, not %llu", specs[i],
			      (unsigned long long)value,
			      (unsigned long long)want[i]);
	}
	hwpmc_close(h);
}
END_TEST

START_TEST(second_counter_of_a_fixed_event_is_programmable)
{
	struct hwpmc *h = open_handle();
	uint32_t a = allocate(h, "instructions", 0);
	uint32_t b = allocate(h, "instructions", 0);

	ck_assert_uint_eq(HWPMC_ID_CLASS(a),
			  is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAF);
	ck_assert_uint_eq(HWPMC_ID_CLASS(b),
			  is_amd() ? HWPMC_CLASS_K8 : HWPMC_CLASS_IAP);
	ck_assert_uint_ne(HWPMC_ID_ROW(a), HWPMC_ID_ROW(b));
	hwpmc_close(h);
}
END_TEST

START_TEST(written_value_is_read_back_and_counted_on)
{
	struct hwpmc *h = open_handle();
	uint32_t id = allocate(h, "branches:u", 0), caps, bits;
	uint64_t value, old;

	ck_assert_int_eq(hwpmc_write(h, id, 1000000), 0);
	ck_assert_int_eq(hwpmc_rw(h, id, 2000000, &old), 0);
	ck_assert_uint_eq(old, 1000000);
	ck_assert_msg(!hwpmc_start(h, id), "%s", hwpmc_error(h));
	ck_assert_int_eq(hwpmc_write(h, id, 1), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_RUNNING);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "stop it first"));
	ck_assert_int_eq(hwpmc_stop(h, id), 0);
	ck_assert_int_eq(hwpmc_read(h, id, &value), 0);
	ck_assert_uint_gt(value, 2000000);
	ck_assert_int_eq(hwpmc_capabilities(h, id, &caps), 0);
	ck_assert_uint_ne(caps & HWPMC_CAP_READ, 0);
	ck_assert_int_eq(hwpmc_width(h, id, &bits), 0);
	ck_assert_uint_eq(bits, 48);
	ck_assert_int_eq(hwpmc_release(h, id), 0);
	hwpmc_close(h);
}
END_TEST

/* ------------------------------------------------------------------------ */

#define REFUSED(call, err, why, words) do {				\
	ck_assert_int_eq(call, -1);					\
	ck_assert_int_eq(errno, err);					\
	ck_assert_int_eq(hwpmc_reason(h), why);				\
	ck_assert_msg(strstr(hwpmc_error(h), words), "%s", hwpmc_error(h)); \
} while (0)

START_TEST(refusals_of_the_module_become_sentences)
{
	struct hwpmc *h = open_handle();
	uint32_t id = allocate(h, "branches", 0), other;
	uint64_t value;

	REFUSED(hwpmc_attach(h, id, NO_PID), ESRCH, HWPMC_WHY_NO_PROCESS,
		"to process 4194303: there is no such process");
	REFUSED(hwpmc_attach(h, id, -1), EINVAL, HWPMC_WHY_PID,
		"invalid process ID");
	REFUSED(hwpmc_read(h, id ^ 0xf0, &value), EINVAL, HWPMC_WHY_ID,
		"the descriptor has no such PMC");
	REFUSED(hwpmc_allocate(h, "branches", HWPMC_MODE_TC, 0, 0, 0, &other),
		EINVAL, HWPMC_WHY_CPU_WANT_ANY,
		"cannot count 'branches' on CPU 0: process scope");
	REFUSED(hwpmc_allocate(h, "branches", HWPMC_MODE_SC, 0, 999, 0, &other),
		EINVAL, HWPMC_WHY_CPU_RANGE, "(the highest is ");
	REFUSED(hwpmc_admin(h, 0, 63, HWPMC_STATE_DISABLED), EINVAL,
		HWPMC_WHY_ROW, "cannot disable row 63 on CPU 0: there is no "
		"such row (the highest is ");
	REFUSED(hwpmc_flush_log(h), EINVAL, HWPMC_WHY_NO_LOG,
		"cannot flush the log: ");
	ck_assert_int_eq(hwpmc_attach(h, id, 0), 0);
	REFUSED(hwpmc_attach(h, id, 0), EEXIST, HWPMC_WHY_ATTACHED,
		"to this process: the PMC is already attached");
	hwpmc_close(h);
}
END_TEST

START_TEST(exhausted_counters_say_that_they_are_taken)
{
	struct hwpmc *h = open_handle();
	uint32_t id;
	int n;

	for (n = 0; !hwpmc_allocate(h, "branches", HWPMC_MODE_TC, 0,
				    HWPMC_CPU_ANY, 0, &id); n++)
		ck_assert_int_lt(n, 64);
	ck_assert_int_ge(n, 2);
	REFUSED(-1, errno, HWPMC_WHY_ROWS_BUSY,
		"cannot count 'branches': all counters that can count the "
		"event are in use");
	hwpmc_close(h);
}
END_TEST

static int perf_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

START_TEST(process_whose_perf_events_hold_the_counters_is_named)
{
	struct hwpmc *h = open_handle();
	char words[64];
	uint32_t id, state;
	int fd = perf_open();

	ck_assert_int_ge(fd, 0);
	snprintf(words, sizeof(words), "perf (process %d, lib_live) holds the "
		 "counters", getpid());
	ck_assert_int_eq(hwpmc_pmu_state(h, &state), 0);
	ck_assert_uint_eq(state, HWPMC_PMU_HELD);
	REFUSED(hwpmc_allocate(h, "instructions", HWPMC_MODE_TC, 0,
			       HWPMC_CPU_ANY, 0, &id), EBUSY,
		HWPMC_WHY_PMU_RESERVED, words);
	close(fd);
	id = allocate(h, "instructions", 0);
	ck_assert_int_eq(hwpmc_pmu_state(h, &state), 0);
	ck_assert_uint_eq(state, HWPMC_PMU_CLAIMED);
	hwpmc_close(h);
}
END_TEST

/* ------------------------------------------------------------------------ */

START_TEST(rows_of_a_cpu_are_listed_and_can_be_disabled)
{
	struct hwpmc *h = open_handle();
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(h);
	struct hwpmc_op_getdriverstats stats = { 0 };
	struct hwpmc_pmcinfo *rows;
	unsigned int n, last;

	ck_assert_int_eq(hwpmc_pmcinfo(h, 0, &rows, &n), 0);
	ck_assert_uint_eq(n, info->npmc);
	last = n - 1;
	ck_assert_str_eq(rows[0].name, "TSC");
	ck_assert_int_ne(rows[last].enabled, 0);
	free(rows);
	ck_assert_msg(!hwpmc_admin(h, 0, last, HWPMC_STATE_DISABLED), "%s",
		      hwpmc_error(h));
	ck_assert_int_eq(hwpmc_pmcinfo(h, 0, &rows, &n), 0);
	ck_assert_int_eq(rows[last].enabled, 0);
	free(rows);
	ck_assert_int_eq(hwpmc_admin(h, 0, last, HWPMC_STATE_FREE), 0);
	ck_assert_int_eq(hwpmc_driver_stats(h, &stats), 0);
	ck_assert_uint_gt(stats.syscalls, 4);
	hwpmc_close(h);
}
END_TEST

struct listed {
	struct hwpmc *h;
	unsigned int n;
	char failed[512];
};

static int allocate_listed(const struct hwpmc_event_info *info, void *arg)
{
	struct listed *l = arg;
	uint32_t id;

	l->n++;
	/* System scope: the TSC, and what counts both threads of a core. */
	if (hwpmc_allocate(l->h, info->name, HWPMC_MODE_SC, 0, 0, 0, &id)) {
		snprintf(l->failed, sizeof(l->failed), "%s",
			 hwpmc_error(l->h));
		return 1;
	}
	return hwpmc_release(l->h, id);
}

START_TEST(every_listed_event_can_be_allocated)
{
	struct listed l = { .h = open_handle() };

	ck_assert_msg(!hwpmc_event_each(l.h, HWPMC_CLASS_EVERY,
					allocate_listed, &l), "%s", l.failed);
	ck_assert_uint_ge(l.n, 6);
	hwpmc_close(l.h);
}
END_TEST

/* ------------------------------------------------------------------------ */

/* Runs fn in a child: its answer, 0..254. */
static int in_child(int (*fn)(void *), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn(arg));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_ne(WIFEXITED(status), 0);
	return WEXITSTATUS(status);
}

static int allocate_on_inherited(void *arg)
{
	uint32_t id;

	if (!hwpmc_allocate(arg, "branches", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0,
			    &id))
		return 0;
	return errno == ESRCH && hwpmc_reason(arg) == HWPMC_WHY_NOT_OWNER ?
	       1 : 2;
}

START_TEST(native_handle_of_the_parent_is_esrch_in_a_child)
{
	struct hwpmc *h = open_handle();

	ck_assert_int_eq(in_child(allocate_on_inherited, h), 1);
	hwpmc_close(h);
}
END_TEST

static pmc_id_t freebsd_start(uint32_t flags)
{
	pmc_id_t id;

	ck_assert_msg(!pmc_init(), "%s", pmc_error());
	ck_assert_msg(!pmc_allocate("instructions,usr", PMC_MODE_TC, flags,
				    PMC_CPU_ANY, &id, 0) &&
		      !pmc_attach(id, 0) && !pmc_start(id), "%s", pmc_error());
	return id;
}

static int freebsd_own_pmc(void *arg)
{
	pmc_id_t own, *parents = arg;
	pmc_value_t value;

	if (pmc_allocate("branches,usr", PMC_MODE_TC, 0, PMC_CPU_ANY, &own, 0) ||
	    pmc_start(own) || pmc_read(own, &value) || !value)
		return 1;
	if (!pmc_read(*parents, &value) || errno != EINVAL)
		return 2;
	return pmc_release(own) ? 3 : 0;
}

START_TEST(freebsd_child_is_an_owner_of_its_own)
{
	pmc_id_t id = freebsd_start(0);
	pmc_value_t before, after;

	ck_assert_int_eq(pmc_read(id, &before), 0);
	ck_assert_int_eq(in_child(freebsd_own_pmc, &id), 0);
	ck_assert_int_eq(pmc_read(id, &after), 0);
	ck_assert_uint_gt(after, before);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

static int freebsd_parents_pmc(void *arg)
{
	pmc_id_t *id = arg;
	pmc_value_t value;

	return pmc_read(*id, &value) ? 1 : !value;
}

START_TEST(freebsd_measured_child_reads_the_pmc_of_its_parent)
{
	pmc_id_t id = freebsd_start(PMC_F_DESCENDANTS);

	ck_assert_int_eq(in_child(freebsd_parents_pmc, &id), 0);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

static int freebsd_stops_parents_pmc(void *arg)
{
	pmc_id_t *id = arg;

	return pmc_stop(*id) || pmc_write(*id, 42) ? 1 : 0;
}

START_TEST(freebsd_measured_child_writes_the_pmc_of_its_parent)
{
	pmc_id_t id = freebsd_start(PMC_F_DESCENDANTS);
	pmc_value_t value;

	ck_assert_int_eq(in_child(freebsd_stops_parents_pmc, &id), 0);
	ck_assert_int_eq(pmc_read(id, &value), 0);
	ck_assert_uint_eq(value, 42);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_child_that_is_not_measured_gets_esrch)
{
	pmc_id_t id = freebsd_start(0);

	ck_assert_int_eq(in_child(freebsd_parents_pmc, &id), 1);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_calls_tell_the_machine_and_its_rows)
{
	const struct pmc_cpuinfo *info;
	struct pmc_driverstats stats;
	struct pmc_pmcinfo *rows;
	const char **names;
	int n;

	ck_assert_int_eq(pmc_init(), 0);
	ck_assert_int_eq(pmc_cpuinfo(&info), 0);
	ck_assert_int_ge(pmc_ncpu(), 2);
	ck_assert_int_eq(pmc_npmc(0), info->pm_npmc);
	ck_assert_int_eq(pmc_npmc(pmc_ncpu()), -1);
	ck_assert_int_eq(pmc_pmcinfo(0, &rows), 0);
	ck_assert_str_eq(rows->pm_pmcs[0].pm_name, "TSC");
	ck_assert_int_eq(rows->pm_pmcs[0].pm_class, PMC_CLASS_TSC);
	free(rows);
	ck_assert_int_eq(pmc_disable(0, info->pm_npmc - 1), 0);
	ck_assert_int_eq(pmc_enable(0, info->pm_npmc - 1), 0);
	ck_assert_int_eq(pmc_get_driver_stats(&stats), 0);
	ck_assert_uint_gt(stats.pm_syscalls, 4);
	ck_assert_int_eq(pmc_event_names_of_class(is_amd() ? PMC_CLASS_K8 :
						  PMC_CLASS_IAP, &names, &n),
			 0);
	ck_assert_int_ge(n, 4);
	ck_assert_str_eq(names[0], "cycles");
	free(names);
	ck_assert_int_eq(pmc_writelog(7), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(freebsd_names_of_events_of_the_kernel_are_allocated_as_listed)
{
	bool hard = false, prefixed = false;
	const char **names;
	uint64_t before;
	pmc_id_t id;
	int n;

	ck_assert_int_eq(pmc_init(), 0);
	before = vpmu_own(VPMU_USER_INSN);
	ck_assert_int_eq(pmc_event_names_of_class(PMC_CLASS_SOFT, &names, &n), 0);
	ck_assert_uint_lt(vpmu_own(VPMU_USER_INSN) - before, 1000000);
	ck_assert_int_ge(n, 6);
	for (int i = 0; i < n; i++) {
		hard |= !strcmp(names[i], "CLOCK.HARD");
		prefixed |= !strncmp(names[i], "SOFT-", 5) && strchr(names[i], '.');
		ck_assert_msg(!pmc_allocate(names[i], PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0) ||
			      errno != EINVAL, "%s", names[i]);
		pmc_release(id);
	}
	ck_assert(hard && !prefixed);
	free(names);
}
END_TEST

START_TEST(freebsd_flags_of_sampling_mean_nothing_where_a_pmc_counts)
{
	pmc_id_t id;

	ck_assert_int_eq(pmc_init(), 0);
	ck_assert_int_eq(pmc_allocate("instructions", PMC_MODE_TC,
				      PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN, PMC_CPU_ANY,
				      &id, 0), 0);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_flag_of_descendants_means_nothing_in_system_scope)
{
	pmc_id_t id;

	ck_assert_int_eq(pmc_init(), 0);
	ck_assert_int_eq(pmc_allocate("instructions", PMC_MODE_SC, PMC_F_DESCENDANTS, 0,
				      &id, 0), 0);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_unknown_event_is_an_invalid_argument)
{
	pmc_id_t id;

	ck_assert_int_eq(pmc_init(), 0);
	ck_assert_int_eq(pmc_allocate("no_such_event", PMC_MODE_TC, 0, PMC_CPU_ANY, &id, 0),
			 -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

int main(void)
{
	lib_load_module("true");
	harness_add(library_counts_a_program_of_known_length);
	harness_add(second_counter_of_a_fixed_event_is_programmable);
	harness_add(written_value_is_read_back_and_counted_on);
	harness_add(refusals_of_the_module_become_sentences);
	harness_add(exhausted_counters_say_that_they_are_taken);
	harness_add(process_whose_perf_events_hold_the_counters_is_named);
	harness_add(rows_of_a_cpu_are_listed_and_can_be_disabled);
	harness_add(every_listed_event_can_be_allocated);
	harness_add(native_handle_of_the_parent_is_esrch_in_a_child);
	harness_add(freebsd_child_is_an_owner_of_its_own);
	harness_add(freebsd_measured_child_reads_the_pmc_of_its_parent);
	harness_add(freebsd_measured_child_writes_the_pmc_of_its_parent);
	harness_add(freebsd_child_that_is_not_measured_gets_esrch);
	harness_add(freebsd_calls_tell_the_machine_and_its_rows);
	harness_add(freebsd_names_of_events_of_the_kernel_are_allocated_as_listed);
	harness_add(freebsd_flags_of_sampling_mean_nothing_where_a_pmc_counts);
	harness_add(freebsd_flag_of_descendants_means_nothing_in_system_scope);
	harness_add(freebsd_unknown_event_is_an_invalid_argument);
	return harness_run();
}
