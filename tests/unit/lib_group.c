/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_group - a read of a group by the system call: its error, and which values it sets, for
 * results that no module returns at will.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <libhwpmclog.h>

#include "../../lib/pmc/internal.h"
#include "harness.h"

#define N	3
#define UNSET	0xdeadbeefull

static struct hwpmc *h;
static struct hwpmc_group *g;
static uint64_t values[N];

/* Results that the module returns: for the call, then for each PMC. */
static struct {
	int error;
	uint32_t reason;
} call, pmc[N];

int __wrap_hwpmc_open_counter(struct hwpmc *handle, const char *spec, enum hwpmc_mode mode,
			      uint32_t flags, pid_t pid, uint64_t period, uint32_t *id);
int __wrap_sys_call(int fd, unsigned long request, struct hwpmc_hdr *hdr);

int __wrap_hwpmc_open_counter(struct hwpmc *handle, const char *spec, enum hwpmc_mode mode,
			      uint32_t flags, pid_t pid, uint64_t period, uint32_t *id)
{
	*id = 1;
	return 0;
}

int __wrap_sys_call(int fd, unsigned long request, struct hwpmc_hdr *hdr)
{
	struct hwpmc_op_batch *op = (void *)hdr;
	struct hwpmc_batch_entry *entry;

	*hdr = (struct hwpmc_hdr){ .reason = HWPMC_WHY_NONE };
	if (request != HWPMC_IOC_BATCH)
		return 0;
	if (call.error) {
		hdr->reason = call.reason;
		errno = call.error;
		return -1;
	}
	entry = (void *)(uintptr_t)op->entries;
	for (unsigned int i = 0; i < op->n; i++) {
		entry[i].error = pmc[i].error;
		entry[i].hdr.reason = pmc[i].reason;
		entry[i].value = 100 + i;
	}
	return 0;
}

static void setup(void)
{
	static const char *const specs[N] = { "a", "b", "c" };
	int fds[2];

	/* No device, and nothing that can be mapped. */
	ck_assert_int_eq(pipe(fds), 0);
	close(fds[1]);
	h = calloc(1, sizeof(*h));
	h->fd = fds[0];
	h->pid = getpid();
	ck_assert_int_eq(hwpmc_group_open(h, specs, N, 0, 0, &g), 0);
	for (int i = 0; i < N; i++)
		values[i] = UNSET;
}

static void teardown(void)
{
	hwpmc_group_close(g);
	hwpmc_close(h);
}

/* The read fails with this error, and sets all values or none. */
static void check_failure(int error, uint32_t reason, bool set)
{
	errno = 0;
	ck_assert_int_eq(hwpmc_group_read(g, values), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_uint_eq(hwpmc_reason(h), reason);
	for (int i = 0; i < N; i++)
		ck_assert_uint_eq(values[i], set ? 100 + i : UNSET);
}

static void set_pmc(unsigned int i, int error, uint32_t reason)
{
	pmc[i].error = error;
	pmc[i].reason = reason;
}

START_TEST(group_read_sets_the_value_of_each_event)
{
	ck_assert_int_eq(hwpmc_group_read(g, values), 0);
	for (int i = 0; i < N; i++)
		ck_assert_uint_eq(values[i], 100 + i);
}
END_TEST

START_TEST(group_read_of_incomplete_counts_sets_all_values)
{
	set_pmc(1, ENOMEM, HWPMC_WHY_INCOMPLETE);
	check_failure(ENOMEM, HWPMC_WHY_INCOMPLETE, true);
}
END_TEST

START_TEST(group_read_reports_the_pmc_that_has_no_value)
{
	set_pmc(0, ENOMEM, HWPMC_WHY_INCOMPLETE);
	set_pmc(2, EIO, HWPMC_WHY_PMU_REFUSED);
	check_failure(EIO, HWPMC_WHY_PMU_REFUSED, false);
	set_pmc(1, ENXIO, HWPMC_WHY_CPU_OFFLINE);
	check_failure(ENXIO, HWPMC_WHY_CPU_OFFLINE, false);
}
END_TEST

START_TEST(group_read_without_memory_sets_no_value)
{
	call.error = ENOMEM;
	call.reason = HWPMC_WHY_NO_MEMORY;
	check_failure(ENOMEM, HWPMC_WHY_NO_MEMORY, false);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(group_read_sets_the_value_of_each_event);
	harness_add(group_read_of_incomplete_counts_sets_all_values);
	harness_add(group_read_reports_the_pmc_that_has_no_value);
	harness_add(group_read_without_memory_sets_no_value);
	return harness_run();
}
