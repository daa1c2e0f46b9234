/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_loss_room.c - a LOSS record that finds its ring full is written when there is room: the
 * reader learns of each loss and of its end, however late.
 */
#include <sys/mman.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define CPU	1
#define CPUS	2
#define RING	(16 << 10)
#define LOOKS	6	/* seconds; all rows have been looked at, and more */

static int fd;
static volatile struct hwpmc_log_ring *ring[CPUS];

static int log_op(unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

static void setup(void)
{
	struct hwpmc_op_configurelog conf = {
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = RING,
	};

	ck_assert_int_eq(dev_cpus(), CPUS);
	fd = dev_open();
	dev_ok(log_op(HWPMC_IOC_CONFIGURELOG, &conf));
	for (int cpu = 0; cpu < CPUS; cpu++) {
		ring[cpu] = mmap(NULL, HWPMC_LOG_MAP_SIZE(RING, 4096), PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd, HWPMC_LOG_MAP_OFFSET(cpu));
		ck_assert_ptr_ne((void *)ring[cpu], MAP_FAILED);
	}
}

static void take_counters(bool taken)
{
	dev_pin(0, CPU);
	vpmu_knob(VPMU_KNOB_FROZEN, taken ? ~0ULL : 0);
	dev_unpin(0);
}

static void prove(void)
{
	close(fd);
	take_counters(false);
	dev_check_registers_clear();
	dev_still_counts();
}

/* The work item that looks runs on any CPU. */
static void fill_rings(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		struct hwpmc_op_writelog op = { .userdata = 1 };
		uint64_t dropped = ring[cpu]->others_dropped[HWPMC_DROP_FULL];
		int ret = 0;

		dev_pin(0, cpu);
		for (int i = 0; !ret && i < RING; i++)
			ret = log_op(HWPMC_IOC_WRITELOG, &op);
		ck_assert_int_eq(ret, ENOMEM);
		ck_assert_uint_gt(ring[cpu]->others_dropped[HWPMC_DROP_FULL], dropped);
	}
	dev_unpin(0);
}

static uint64_t drops(void)
{
	return ring[0]->others_dropped[HWPMC_DROP_FULL] +
	       ring[1]->others_dropped[HWPMC_DROP_FULL];
}

/* A look has tried to write a record. */
static void await_drop(uint64_t before)
{
	for (int i = 0; i < LOOKS * 10 && drops() == before; i++)
		dev_msleep(100);
	ck_assert_uint_gt(drops(), before);
}

static struct hwpmc_log_loss found[4];
static unsigned int nfound;

static void make_room(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		ring[cpu]->tail = ring[cpu]->head;
}

/* Reads both rings until this number of LOSS records was in them. */
static void await_losses(unsigned int n)
{
	for (int i = 0; i < LOOKS * 10 && nfound < n; i++) {
		dev_msleep(100);
		for (int cpu = 0; cpu < CPUS; cpu++) {
			const char *data = (const char *)ring[cpu] + ring[cpu]->page;
			uint64_t head = ring[cpu]->head, at = ring[cpu]->tail;
			const struct hwpmc_log_hdr *hdr;

			for (; at < head; at += hdr->len) {
				hdr = (const void *)(data + at % RING);
				ck_assert_uint_ge(hdr->len, sizeof(*hdr));
				ck_assert_uint_lt(nfound, 4);
				if (hdr->type == HWPMC_LOG_LOSS)
					memcpy(&found[nfound++], hdr, sizeof(found[0]));
			}
			ring[cpu]->tail = head;
		}
	}
	ck_assert_uint_eq(nfound, n);
}

static void spin(void *unused)
{
	for (;;)
		dev_spin(100000);
}

/* Counts on a CPU that works, and has been found to count. */
static uint32_t count_on_cpu(struct child *c)
{
	uint32_t id = dev_alloc(fd, SC, 0, CPU, INSN, U);

	nfound = 0;
	*c = dev_child(spin, NULL);
	dev_pin(c->pid, CPU);
	dev_ok(dev_start(fd, id));
	dev_go(c);
	dev_msleep(2500);
	return id;
}

static void check_loss(unsigned int i, uint32_t id, uint8_t flags)
{
	ck_assert_uint_eq(found[i].hdr.len, sizeof(found[i]));
	ck_assert_uint_eq(found[i].hdr.id, id);
	ck_assert_uint_eq(found[i].hdr.flags, flags);
	ck_assert_uint_eq(found[i].cpu, CPU);
	ck_assert_uint_eq(found[i].reason, HWPMC_WHY_COUNTER_TAKEN);
	ck_assert_uint_eq(found[i].since, found[0].since);
	ck_assert_uint_lt(found[i].since, found[i].hdr.time);
}

/* The host takes or returns the counters, and two looks find no room for the record. */
static void change_without_room(bool taken)
{
	uint64_t before;

	fill_rings();
	before = drops();
	take_counters(taken);
	await_drop(before);
	/* Each further look tries again. */
	await_drop(drops());
}

START_TEST(loss_without_room_is_logged_when_there_is_room)
{
	struct child c;
	uint32_t id = count_on_cpu(&c);

	change_without_room(true);
	make_room();
	await_losses(1);
	check_loss(0, id, 0);
	take_counters(false);
	await_losses(2);
	check_loss(1, id, HWPMC_LOSS_OVER);
	dev_end(c.pid);
	dev_ok(dev_release(fd, id));
}
END_TEST

START_TEST(end_of_loss_without_room_is_logged_when_there_is_room)
{
	struct child c;
	uint32_t id = count_on_cpu(&c);

	take_counters(true);
	await_losses(1);
	check_loss(0, id, 0);
	change_without_room(false);
	make_room();
	await_losses(2);
	check_loss(1, id, HWPMC_LOSS_OVER);
	dev_end(c.pid);
	dev_ok(dev_release(fd, id));
}
END_TEST

/* Both are pending. */
START_TEST(loss_that_ended_without_room_is_logged_with_its_end)
{
	struct child c;
	uint32_t id = count_on_cpu(&c);

	change_without_room(true);
	take_counters(false);
	dev_msleep(LOOKS * 1000);
	make_room();
	await_losses(2);
	check_loss(0, id, 0);
	check_loss(1, id, HWPMC_LOSS_OVER);
	dev_end(c.pid);
	dev_ok(dev_release(fd, id));
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add_timed(loss_without_room_is_logged_when_there_is_room, 40);
	harness_add_timed(end_of_loss_without_room_is_logged_when_there_is_room, 40);
	harness_add_timed(loss_that_ended_without_room_is_logged_with_its_end, 40);
	return harness_run();
}
