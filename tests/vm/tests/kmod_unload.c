// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_unload.c - work items and timers that are still to run when the module is
 * unloaded, or the log freed that they are of: the memory is freed after the last of them.
 * The kernel dies or complains where one is left.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"

#define LATEST_MS	2500	/* after which all that was queued has run */
#define ENDS		400
#define EXPEDITED	"/sys/kernel/rcu_expedited"	/* grace periods are short */

/*
 * No process has the device open. An item that is left behind runs in a module that is gone. The
 * unload comes at once: some items are to run within a fifth of a second.
 */
static void unload(void)
{
	dev_put(EXPEDITED, "1");
	ck_assert(!syscall(SYS_delete_module, "hwpmc", O_NONBLOCK));
	dev_put(EXPEDITED, "0");
	dev_msleep(LATEST_MS);
	dev_setup();
	dev_still_counts();
}

/* The kernel's events, whose probes stay for a second. */
static uint32_t soft(int fd, uint32_t event, int mode)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_SOFT, .ev = event, .mode = mode, .cpu = ANY,
		.count = mode == HWPMC_MODE_TS,
	};

	dev_ok(dev_allocate(fd, &op));
	return op.pmcid;
}

START_TEST(unload_waits_for_the_item_that_removes_hooks)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_start(fd, id));
	dev_msleep(500);
	dev_ok(dev_release(fd, id));
	close(fd);
	unload();
}
END_TEST

START_TEST(unload_waits_for_the_item_that_hooks_sleepers)
{
	struct child child = dev_loop(1000);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, child.pid));
	close(fd);
	unload();
	dev_go(&child);
	dev_wait(&child);
}
END_TEST

START_TEST(unload_waits_for_the_item_that_removes_probes_of_events)
{
	int fd = dev_open();

	dev_ok(dev_release(fd, soft(fd, HWPMC_EV_SOFT_CONTEXT_SWITCH, TC)));
	close(fd);
	unload();
}
END_TEST

/* Items that look at counters that count, and at interrupts that were lost. */
START_TEST(unload_waits_for_items_that_look_at_counters)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_ok(dev_configure(fd, -1, HWPMC_LOG_F_MAPPED, 1 << 16));
	dev_request(&op, HWPMC_MODE_SS, 0, 0, INSN, U | K);
	op.count = 1000003;
	dev_ok(dev_allocate(fd, &op));
	dev_ok(dev_start(fd, op.pmcid));
	dev_msleep(100);
	close(fd);
	unload();
}
END_TEST

/* The reader was woken, so the timer of the next wake-up runs for a millisecond. */
static void end_with_timer(void)
{
	int fd = dev_open();
	struct hwpmc_op_configurelog conf = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = 4096, .wakeup = 1,
	};
	uint32_t id = soft(fd, HWPMC_EV_SOFT_CONTEXT_SWITCH, HWPMC_MODE_TS);

	dev_ok(dev_op(fd, HWPMC_IOC_CONFIGURELOG, &conf));
	dev_ok(dev_start(fd, id));
	usleep(1);
	dev_ok(dev_configure(fd, -1, 0, 0));
	close(fd);
}

/* With grace periods that are shorter than the timer's time. */
START_TEST(log_that_ends_at_once_leaves_no_timer_behind)
{
	dev_put(EXPEDITED, "1");
	for (int i = 0; i < ENDS; i++)
		end_with_timer();
	dev_put(EXPEDITED, "0");
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(unload_waits_for_the_item_that_removes_hooks);
	harness_add(unload_waits_for_the_item_that_hooks_sleepers);
	harness_add(unload_waits_for_the_item_that_removes_probes_of_events);
	harness_add(unload_waits_for_items_that_look_at_counters);
	harness_add_timed(log_that_ends_at_once_leaves_no_timer_behind, 30);
	return harness_run();
}
