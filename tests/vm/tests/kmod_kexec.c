/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_kexec.c - kexec into the same kernel while all counts and samples. The machine boots a
 * second time without a reset of its PMU, and this program runs again: it is then to find
 * no counter on, a kernel that does not complain of them, and perf's driver
 * and the module in order.
 */
#define _GNU_SOURCE
#include <linux/reboot.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define AGAIN	" hwpmc_kexec"	/* on the command line of the second kernel */

static char cmdline[4096];
static int busy;			/* when this program began: dev_busy_register() */

static bool is_second(void)
{
	FILE *f = fopen("/proc/cmdline", "r");
	size_t n = fread(cmdline, 1, sizeof(cmdline) - sizeof(AGAIN), f);

	fclose(f);
	cmdline[n] = '\0';
	cmdline[strcspn(cmdline, "\n")] = '\0';
	return strstr(cmdline, AGAIN);
}

/* ---- the first kernel ---------------------------------------------------------- */

static void spin_for_ever(void *unused)
{
	for (;;) {
		dev_spin(100000);
		sched_yield();
	}
}

static void start_one(struct session *s, int mode, uint32_t cpu, uint64_t period, pid_t pid)
{
	uint32_t id = allocate(s, "instructions", mode, 0, cpu, period);

	if (pid)
		ok(s, hwpmc_attach(s->h, id, pid));
	ok(s, hwpmc_start(s->h, id));
}

static int open_file(const char *format, const char *name)
{
	char path[4200];
	int f;

	snprintf(path, sizeof(path), format, getenv("VM_KERNEL"), name);
	f = open(path, O_RDONLY);
	ck_assert_msg(f >= 0, "%s: %s", path, strerror(errno));
	return f;
}

static void load_kernel(void)
{
	struct utsname u;
	int kernel, initrd;

	uname(&u);
	kernel = open_file("%s/boot/vmlinuz-%s", u.release);
	initrd = open_file("%s/%s", "initrd");
	strcat(cmdline, AGAIN);
	ck_assert_msg(!syscall(SYS_kexec_file_load, kernel, initrd, strlen(cmdline) + 1, cmdline,
			       0ul), "kexec_file_load: %s", strerror(errno));
	close(kernel);
	close(initrd);
}

static void leave_the_kernel(void)
{
	struct child c[2] = { dev_child(spin_for_ever, NULL), dev_child(spin_for_ever, NULL) };
	struct session s;

	load_kernel();
	begin(&s, FAST, 0);
	for (int i = 0; i < 2; i++) {
		dev_pin(c[i].pid, i);
		start_one(&s, HWPMC_MODE_SS, i, 20011, 0);
		start_one(&s, SC, i, 0, 0);
	}
	start_one(&s, HWPMC_MODE_TS, ANY, 10007, c[0].pid);
	start_one(&s, TC, ANY, 0, c[1].pid);
	dev_go(&c[0]);
	dev_go(&c[1]);
	dev_msleep(100);
	ck_assert_int_ne(dev_busy_register(), 0);
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	ck_abort_msg("kexec: %s", strerror(errno));
}

/* ---- the second ---------------------------------------------------------------- */

static void check_log(void)
{
	static const char *const complaints[] = {
		"Broken BIOS", "Broken PMU", "corrupted hw-PMU", "unknown reason", "NMI received",
	};
	int size = klogctl(10, NULL, 0);
	char *log = calloc(1, size + 1);

	ck_assert_int_gt(klogctl(3, log, size), 0);
	for (unsigned int i = 0; i < sizeof(complaints) / sizeof(*complaints); i++)
		ck_assert_msg(!strstr(log, complaints[i]), "the second kernel says: %.200s",
			      strstr(log, complaints[i]));
	ck_assert_ptr_nonnull(strstr(log, "PMU driver"));
	free(log);
}

START_TEST(kexec_leaves_no_counter_on_for_the_next_kernel)
{
	if (!is_second())
		leave_the_kernel();
	check_log();
	ck_assert_msg(!busy, "register %#x of the emulated PMU is not 0", busy - 1);
	dev_still_counts();
}
END_TEST

int main(void)
{
	busy = dev_busy_register();	/* the module clears them when it is used */
	dev_setup();
	harness_add(kexec_leaves_no_counter_on_for_the_next_kernel);
	return harness_run();
}
