// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_reboot.c - the kernel is left by the system call that reboots, while all counts and
 * samples: the next one finds the counters off. The machine stays (rebootmod.c), but cannot
 * be used for anything else.
 */
#define _GNU_SOURCE
#include <linux/reboot.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_session.h"

static bool is_told(void)
{
	int fd = open("/sys/module/rebootmod/parameters/told", O_RDONLY);
	char c = 0;

	ck_assert_int_eq(read(fd, &c, 1), 1);
	close(fd);
	return c == '1';
}

/* Another process, which never returns, and keeps the device open. */
static void leave_the_kernel(void)
{
	int fd = dev_open();

	ck_assert_int_ge(fd, 0);
	if (!fork()) {
		setsid();
		syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
			LINUX_REBOOT_CMD_RESTART, NULL);
		_exit(1);
	}
	while (!is_told())
		dev_msleep(10);
	close(fd);
}

static void spin_for_ever(void *unused)
{
	for (;;) {
		dev_spin(100000);
		sched_yield();
	}
}

/* The owner in the kernel, which no signal ends. */
static void count_in_the_kernel(pid_t pid)
{
	struct hwpmc_op_pmcallocate op;
	FILE *f;

	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/clientmod.ko"), 0);
	dev_request(&op, TC, 0, ANY, BRANCH, U);
	f = fopen("/sys/kernel/debug/hwpmc_client", "w");
	ck_assert_ptr_nonnull(f);
	setbuf(f, NULL);
	fprintf(f, "configure %d %u %llx 0 1", pid, dev_first_row() + 3,
		(unsigned long long)op.config);
	fprintf(f, "enable %d %u", pid, dev_first_row() + 3);
	fclose(f);
}

static uint32_t start_one(struct session *s, int mode, uint32_t cpu, uint64_t period,
			  pid_t pid)
{
	uint32_t id = allocate(s, "instructions", mode, 0, cpu, period);

	if (pid)
		ok(s, hwpmc_attach(s->h, id, pid));
	ok(s, hwpmc_start(s->h, id));
	return id;
}

static void check_off(const char *when)
{
	int busy = dev_busy_register();

	ck_assert_msg(!busy, "%s: register %#x of the emulated PMU is not 0", when, busy - 1);
}

/* Nothing is to run from here on that was not told to before: no wait for it. */
static void check_stays_off(int fd, uint64_t before)
{
	check_off("when everybody was told");
	dev_msleep(300);	/* some hundred switches */
	check_off("after switches");
	dev_put("/sys/devices/system/cpu/cpu1/online", "0");
	dev_put("/sys/devices/system/cpu/cpu1/online", "1");
	dev_msleep(100);
	check_off("after a CPU came");
	ck_assert_uint_eq(overflows(), before);
}

START_TEST(all_counters_are_off_once_the_kernel_is_left)
{
	struct child c[2] = { dev_child(spin_for_ever, NULL), dev_child(spin_for_ever, NULL) };
	struct hwpmc_op_pmcallocate op;
	struct session s;
	uint32_t stopped, soft;
	int fd = dev_open();

	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/rebootmod.ko"), 0);
	begin(&s, FAST, 0);
	for (int i = 0; i < 2; i++) {
		dev_pin(c[i].pid, i);
		start_one(&s, HWPMC_MODE_SS, i, 20011, 0);
		start_one(&s, SC, i, 0, 0);
	}
	start_one(&s, HWPMC_MODE_TS, ANY, 10007, c[0].pid);
	start_one(&s, TC, ANY, 0, c[1].pid);
	count_in_the_kernel(c[0].pid);
	stopped = allocate(&s, "branches:u", SC, 0, 0, 0);
	soft = allocate(&s, "page-faults", SC, 0, 0, 0);
	dev_go(&c[0]);
	dev_go(&c[1]);
	dev_msleep(100);
	ck_assert_int_ne(dev_busy_register(), 0);
	leave_the_kernel();
	check_stays_off(fd, overflows());
	dev_request(&op, SC, 0, 0, INSN, U);
	ck_assert_int_eq(dev_allocate(fd, &op), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_LEAVING);
	ck_assert_int_eq(hwpmc_start(s.h, stopped), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_LEAVING);
	ck_assert_int_eq(hwpmc_start(s.h, soft), -1);
	check_off("after what was refused");
	kill(c[0].pid, SIGKILL);
	kill(c[1].pid, SIGKILL);
	finish(&s);
	end(&s);
	close(fd);
	check_off("after the owner has ended");
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(all_counters_are_off_once_the_kernel_is_left);
	return harness_run();
}
