// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_ibs - the emulated PMU's instruction-based sampling. Its registers and capabilities are
 * those of the model ($IBS_CAPS, $IBS_FAMILY); what a module samples (ibsmod.c) on all CPUs is
 * what the emulated PMU says that it sampled, sum by sum and CPU by CPU; a sample is of the op
 * that is due, and tells of it what that did; each filter, erratum and manner has its effect.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "vpmu_guest.h"

#define FIRST	0xc0011030
enum {
	FETCH_CTL = FIRST, FETCH_LIN, FETCH_PHYS, OP_CTL, OP_RIP, OP_DATA, OP_DATA2, OP_DATA3,
	DC_LIN, DC_PHYS, IBSCTL, TARGET, FETCH_EXTD, OP_DATA4, OP_CTL2, FETCH_CTL2,
};

#define CNT_CTL		(1ULL << 19)
#define L3_ONLY		(1ULL << 16)
#define FETCH_L3_ONLY	(1ULL << 59)
#define FETCH_RAND	(1ULL << 57)
#define OP_EN		(1ULL << 17)
#define LDLAT(n)	(1ULL << 63 | (uint64_t)((n) / 128 - 1) << 59)

enum { CAP_CUR = 3, CAP_CNT_CTL, CAP_TARGET, CAP_EXT, CAP_RIP_INVALID, CAP_FUSE, CAP_EXTD,
       CAP_DATA4, CAP_ZEN4, CAP_LDLAT };

/* Behind the items of the emulated PMU; as in ibsmod.c. */
enum { IDLE = VPMU_IBS_ITEMS, SKIDDED, RANDOM, STOPPED, ITEMS };

#define CPUS	8
static uint64_t before[CPUS][VPMU_IBS_ITEMS], oracle[CPUS][VPMU_IBS_ITEMS], sum[CPUS][ITEMS];
static int cpus;
static uint32_t caps;

static bool has(int cap)
{
	return caps >> cap & 1;
}

static void shell(const char *fmt, ...)
{
	char line[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ck_assert_msg(!system(line), "%s", line);
}

static void put(const char *param, uint64_t x)
{
	char path[80], text[24];
	int fd, n = snprintf(text, sizeof(text), "%" PRIu64, x);

	snprintf(path, sizeof(path), "/sys/module/ibsmod/parameters/%s", param);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, n), n);
	close(fd);
}

static void get(const char *param, char *text, size_t size)
{
	char path[80];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/module/ibsmod/parameters/%s", param);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	n = read(fd, text, size - 1);
	ck_assert_int_ge(n, 0);
	text[n] = 0;
	close(fd);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert(!sched_setaffinity(0, sizeof(set), &set));
}

static int msr_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/cpu/0/msr", O_RDWR);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int wr(uint32_t msr, uint64_t x)
{
	return pwrite(msr_fd(), &x, 8, msr) == 8 ? 0 : -errno;
}

static int rd(uint32_t msr, uint64_t *x)
{
	return pread(msr_fd(), x, 8, msr) == 8 ? 0 : -errno;
}

static uint64_t value(uint32_t msr)
{
	uint64_t x;

	ck_assert_int_eq(rd(msr, &x), 0);
	return x;
}

static void setup(void)
{
	pin(0);
	/* After a test that failed it is still there. */
	shell("rmmod ibsmod 2>/dev/null; insmod build/vm/kmods/$(uname -r)/ibsmod.ko");
}

static void teardown(void)
{
	for (int i = 0; i < VPMU_KNOBS; i++)
		vpmu_knob(i, 0);
	shell("rmmod ibsmod");
}

/* ---- work on each CPU: loads, stores, calls, branches, system calls ------------- */

static volatile uint64_t words[4096];

static uint64_t __attribute__((noinline)) leaf(uint64_t i)
{
	return i & 1 ? words[i % 4096] : i * 3;
}

static void work(int rounds)
{
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < 2000; i++)
			words[i] = leaf(i * 7) + r;
		getppid();
		sched_yield();
	}
}

static void work_everywhere(int rounds)
{
	int status;

	for (int cpu = 0; cpu < cpus; cpu++)
		if (!fork()) {
			pin(cpu);
			work(rounds);
			_exit(0);
		}
	for (int cpu = 0; cpu < cpus; cpu++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
}

static void note_oracle(uint64_t to[CPUS][VPMU_IBS_ITEMS])
{
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < VPMU_IBS_ITEMS; i++)
			to[cpu][i] = vpmu_ibs(i, cpu);
}

static void begin(uint64_t op, uint64_t fetch)
{
	put("op", op);
	put("fetch", fetch);
	note_oracle(before);
	put("run", 1);
}

static void end(int how)
{
	char text[4096], *p = text;

	put("run", how);
	note_oracle(oracle);
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < VPMU_IBS_ITEMS; i++)
			oracle[cpu][i] -= before[cpu][i];
	get("sums", text, sizeof(text));
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < ITEMS; i++)
			sum[cpu][i] = strtoull(p, &p, 16);
	ck_assert_str_eq(p, "\n");
}

static uint64_t of_all(int item)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		n += sum[cpu][item];
	return n;
}

static uint64_t oracle_of_all(int item)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		n += oracle[cpu][item];
	return n;
}

static const char *const compared[VPMU_IBS_ITEMS] = {
	[VPMU_IBS_OP] = "ops", [VPMU_IBS_OP_USER] = "user ops", [VPMU_IBS_OP_RIP] = "addresses",
	[VPMU_IBS_OP_INVALID] = "invalid", [VPMU_IBS_OP_LOAD] = "loads",
	[VPMU_IBS_OP_STORE] = "stores", [VPMU_IBS_OP_BRANCH] = "branches",
	[VPMU_IBS_OP_DATA] = "data", [VPMU_IBS_OP_DATA2] = "data2", [VPMU_IBS_OP_DATA3] = "data3",
	[VPMU_IBS_OP_LIN] = "data addresses", [VPMU_IBS_OP_PHYS] = "physical addresses",
	[VPMU_IBS_OP_TARGET] = "targets", [VPMU_IBS_FETCH] = "fetches",
	[VPMU_IBS_FETCH_USER] = "user fetches", [VPMU_IBS_FETCH_LIN] = "fetch addresses",
	[VPMU_IBS_FETCH_PHYS] = "physical fetch addresses",
};

static void check_equal(void)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int i = 0; i < VPMU_IBS_ITEMS; i++)
			ck_assert_msg(!compared[i] || sum[cpu][i] == oracle[cpu][i],
				      "CPU %d, %s: %#" PRIx64 " for %#" PRIx64, cpu, compared[i],
				      sum[cpu][i], oracle[cpu][i]);
	}
	printf("# %" PRIu64 " ops, %" PRIu64 " of user mode, %" PRIu64 " not at the interrupt, %"
	       PRIu64 " filtered; %" PRIu64 " fetches; %" PRIu64 " NMIs\n", of_all(VPMU_IBS_OP),
	       of_all(VPMU_IBS_OP_USER), of_all(SKIDDED), oracle_of_all(VPMU_IBS_OP_FILTERED),
	       of_all(VPMU_IBS_FETCH), oracle_of_all(VPMU_IBS_NMI));
}

static void check_each_cpu_has(int item, uint64_t least)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		ck_assert_msg(sum[cpu][item] >= least, "CPU %d, item %d: %" PRIu64, cpu, item,
			      sum[cpu][item]);
}

/* ---- what the model has ------------------------------------------------------- */

START_TEST(ibs_caps_are_those_of_the_model)
{
	unsigned int a, b, c, d;

	__cpuid(0x80000001, a, b, c, d);
	ck_assert(c & 1 << 10);
	__cpuid(0x80000000, a, b, c, d);
	ck_assert_uint_ge(a, 0x8000001b);
	__cpuid(0x8000001b, a, b, c, d);
	ck_assert_uint_eq(a, strtoul(getenv("IBS_CAPS"), NULL, 16));
	ck_assert_uint_eq(a, vpmu_ibs(VPMU_IBS_CAPS, 0));
	ck_assert_uint_gt(vpmu_ibs(VPMU_IBS_PLACED, 0), 0);
	shell("dmesg | grep -q 'perf: AMD IBS detected (0x%08x)'", a);
}
END_TEST

START_TEST(ibs_kernel_sets_up_the_entry_of_each_cpu)
{
	ck_assert_uint_eq(value(IBSCTL), 0x101);
	for (int cpu = 0; cpu < cpus; cpu++)
		ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_ENTRY, cpu), 0x400);
}
END_TEST

static void check_there(uint32_t msr, bool there)
{
	uint64_t x;

	ck_assert_int_eq(rd(msr, &x), there ? 0 : -EIO);
	ck_assert_int_eq(wr(msr, 0x1234), there ? 0 : -EIO);
	if (there)
		ck_assert_uint_eq(value(msr), 0x1234);
}

START_TEST(ibs_registers_that_the_model_lacks_fault)
{
	for (uint32_t msr = OP_RIP; msr <= DC_PHYS; msr++)
		check_there(msr, true);
	check_there(FETCH_LIN, true);
	check_there(FETCH_PHYS, true);
	check_there(TARGET, has(CAP_TARGET));
	check_there(FETCH_EXTD, has(CAP_EXTD));
	check_there(OP_DATA4, has(CAP_DATA4));
	ck_assert_int_eq(wr(IBSCTL, 0x101), -EIO);
	ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_REG + OP_RIP - FIRST, 0), 0x1234);
}
END_TEST

/* Bit by bit; En alone starts nothing while MaxCnt is 0. */
static uint64_t writable(uint32_t msr)
{
	uint64_t bits = 0;

	for (int i = 0; i < 64; i++)
		if (!wr(msr, 1ULL << i))
			bits |= 1ULL << i;
	ck_assert_int_eq(wr(msr, 0), 0);
	return bits;
}

START_TEST(ibs_reserved_bits_of_control_fault)
{
	uint64_t op = 0x6ffff, fetch = 0x3ffffffffffffffULL;

	if (has(CAP_CUR))
		op |= has(CAP_EXT) ? 0x7ffffffULL << 32 : 0xfffffULL << 32;
	if (has(CAP_CNT_CTL))
		op |= CNT_CTL;
	if (has(CAP_EXT))
		op |= 0x7fULL << 20;
	if (has(CAP_ZEN4)) {
		op |= L3_ONLY;
		fetch |= FETCH_L3_ONLY | 1ULL << 60 | 1ULL << 61;
	}
	if (has(CAP_LDLAT))
		op |= 0x1fULL << 59;
	/* MaxCnt, En, Val: 18:17 and 15:0. */
	op &= ~(has(CAP_ZEN4) ? 0 : L3_ONLY);
	ck_assert_uint_eq(writable(OP_CTL), op);
	ck_assert_uint_eq(writable(FETCH_CTL), fetch | 1ULL << 58);
}
END_TEST

START_TEST(ibs_count_of_ops_is_written_and_read)
{
	uint64_t cur, first;

	ck_assert_int_eq(wr(OP_CTL, 0x12345ULL << 32), 0);
	ck_assert_uint_eq(value(OP_CTL), 0x12345ULL << 32);
	/* A million and more ops: from 0x4000 on it counts. */
	ck_assert_int_eq(wr(OP_CTL, 0x4000ULL << 32 | CNT_CTL | OP_EN | 0xffff), 0);
	first = value(OP_CTL) >> 32;
	cur = value(OP_CTL) >> 32;
	ck_assert_int_eq(wr(OP_CTL, 0), 0);
	ck_assert_uint_gt(first, 0x4000);
	ck_assert_uint_gt(cur, first);
	ck_assert_uint_lt(cur, 0xffff0);
	ck_assert_uint_eq(value(OP_CTL), 0);
}
END_TEST

/* ---- equal to the oracle ------------------------------------------------------- */

#define PERIOD	(20000 >> 4)

START_TEST(ibs_ops_equal_the_oracle)
{
	begin(CNT_CTL | PERIOD, 0);
	work_everywhere(400);
	end(0);
	check_equal();
	check_each_cpu_has(VPMU_IBS_OP, 300);
	check_each_cpu_has(VPMU_IBS_OP_USER, 20);
	check_each_cpu_has(VPMU_IBS_OP_LOAD, 5);
	check_each_cpu_has(VPMU_IBS_OP_STORE, 5);
	check_each_cpu_has(VPMU_IBS_OP_BRANCH, 5);
	ck_assert_uint_gt(of_all(SKIDDED), of_all(VPMU_IBS_OP) / 2);
	ck_assert_uint_eq(sum[0][RANDOM], 0x7fULL << 32);
	ck_assert_uint_eq(of_all(IDLE), 0);
	ck_assert_uint_eq(of_all(VPMU_IBS_OP), oracle_of_all(VPMU_IBS_NMI));
}
END_TEST

/* As many cycles as instructions, and nothing random. */
START_TEST(ibs_ops_by_cycles_equal_the_oracle)
{
	begin(PERIOD, 0);
	work_everywhere(30);
	end(0);
	check_equal();
	check_each_cpu_has(VPMU_IBS_OP, 30);
	ck_assert_uint_eq(sum[0][RANDOM], 0);
}
END_TEST

START_TEST(ibs_ops_of_long_periods_equal_the_oracle)
{
	uint64_t begun = vpmu_all(VPMU_USER_INSN) + vpmu_all(VPMU_KERNEL_INSN), ops;

	begin(CNT_CTL | 1 << 20 | PERIOD, 0);
	work_everywhere(600);
	end(0);
	ops = vpmu_all(VPMU_USER_INSN) + vpmu_all(VPMU_KERNEL_INSN) - begun;
	check_equal();
	ck_assert_uint_ge(of_all(VPMU_IBS_OP), 5);
	/* 1,048,576 and 20,000, but for the random bits. */
	ck_assert_uint_le(of_all(VPMU_IBS_OP), ops / 1000000);
}
END_TEST

START_TEST(ibs_fetches_equal_the_oracle)
{
	begin(0, 4000 >> 4);
	work_everywhere(60);
	end(0);
	check_equal();
	check_each_cpu_has(VPMU_IBS_FETCH, 60);
	check_each_cpu_has(VPMU_IBS_FETCH_USER, 20);
	ck_assert_uint_eq(of_all(VPMU_IBS_FETCH), oracle_of_all(VPMU_IBS_NMI));
}
END_TEST

/* Both at a time: the handler of one may find the other, whose own NMI then finds nothing. */
START_TEST(ibs_ops_and_random_fetches_equal_the_oracle)
{
	begin(CNT_CTL | PERIOD, FETCH_RAND | 4000 >> 4);
	work_everywhere(60);
	end(0);
	check_equal();
	check_each_cpu_has(VPMU_IBS_OP, 60);
	check_each_cpu_has(VPMU_IBS_FETCH, 60);
	ck_assert_uint_le(oracle_of_all(VPMU_IBS_NMI),
			  of_all(VPMU_IBS_OP) + of_all(VPMU_IBS_FETCH));
}
END_TEST

/* What the comparison is worth: a handler with a fault differs. */
START_TEST(ibs_handler_with_the_interrupts_address_differs)
{
	put("fault", 1);
	begin(CNT_CTL | PERIOD, 0);
	work_everywhere(30);
	end(0);
	ck_assert_uint_eq(of_all(VPMU_IBS_OP), oracle_of_all(VPMU_IBS_OP));
	ck_assert_uint_ne(of_all(VPMU_IBS_OP_RIP), oracle_of_all(VPMU_IBS_OP_RIP));
}
END_TEST

/* A system call or an interrupt may lie between an op and its NMI: short periods find it. */
START_TEST(ibs_handler_with_the_interrupts_mode_differs)
{
	put("fault", 2);
	begin(CNT_CTL | 2000 >> 4, 0);
	for (int i = 0; i < 100000; i++)
		getppid();
	end(0);
	ck_assert_uint_eq(of_all(VPMU_IBS_OP), oracle_of_all(VPMU_IBS_OP));
	ck_assert_uint_ne(sum[0][VPMU_IBS_OP_USER], oracle[0][VPMU_IBS_OP_USER]);
}
END_TEST

/* ---- the op that is due, and what it did ---------------------------------------- */

/* known_code() of ibsmod.c: the nth op, and its distance. */
static void check_due(unsigned int n, bool targets)
{
	uint64_t data, data3;
	int lin, phys, offset, target, want;
	char text[200];

	put("due", n);
	get("due", text, sizeof(text));
	ck_assert_msg(sscanf(text, "%d %" SCNx64 " %" SCNx64 " %d %d %d", &offset, &data, &data3,
			     &lin, &phys, &target) == 6, "%u: %s", n, text);
	want = n <= 900 ? (n - 1) / 3 * 7 + ((n - 1) % 3 ? (n - 1) % 3 * 3 - 2 : 0) :
			  2100 + (n - 901) * 2;
	ck_assert_msg(offset == want, "op %u: at %d, not at %d", n, offset, want);
	ck_assert_msg((data3 & 3) == (n > 900 ? 0 : (n - 1) % 3), "op %u: data3 %" PRIx64, n, data3);
	ck_assert_int_eq(lin, !!(data3 & 3));
	ck_assert_int_eq(phys, !!(data3 & 3));
	ck_assert_uint_eq(data3 >> 17 & 3, data3 & 3 ? 3 : 0);
	ck_assert_uint_eq(data >> 37 & 1, n > 900);
	/* To the next instruction: a branch that is taken, as far as can be seen, is not. */
	ck_assert_uint_eq(data >> 35 & 1, 0);
	ck_assert_int_eq(target, 0);
}

START_TEST(ibs_op_is_the_one_that_is_due)
{
	for (unsigned int n = 0x90; n <= 1150; n += 16)
		check_due(n, has(CAP_TARGET));
}
END_TEST

/*
 * 6 instructions that are known: a load, a store, a call, a return, a branch that is taken, one
 * that is not. Each is at a label.
 */
extern const char at_load[], at_store[], at_call[], at_back[], at_leaf[], at_never[], at_loop[],
	at_begin[];

static uint64_t cell[2];

static void __attribute__((noinline)) known_loop(uint64_t n)
{
	asm volatile("at_begin:\n"
		     "at_load: mov (%[from]), %%rax\n"
		     "at_store: mov %%rax, 8(%[from])\n"
		     "at_call: call at_leaf\n"
		     "at_back: test %%eax, %%eax\n"
		     "at_never: jnz 1f\n"
		     "dec %[n]\n"
		     "at_loop: jnz at_begin\n"
		     "jmp 1f\n"
		     "at_leaf: ret\n"
		     "1:\n"
		     : [n] "+r"(n) : [from] "r"(cell) : "rax", "memory", "cc");
}

struct record {
	uint64_t rip, data, data2, data3, lin, phys, target;
};

static struct record record[3000];
static int nrecord;

static void read_records(void)
{
	char text[8192], *p, *next;

	put("records", 0);
	nrecord = 0;
	do {
		get("records", text, sizeof(text));
		for (p = text; *p; p = next + 1) {
			uint64_t *x = (uint64_t *)&record[nrecord++];

			for (int i = 0; i < 7; i++, p = next)
				x[i] = strtoull(p, &next, 16);
			ck_assert_int_eq(*next, '\n');
		}
	} while (*text);
}

static uint64_t phys_of(const void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;

	ck_assert_int_eq(pread(fd, &entry, 8, (uintptr_t)p / 4096 * 8), 8);
	close(fd);
	return (entry & ((1ULL << 55) - 1)) * 4096 + (uintptr_t)p % 4096;
}

static void check_memory(const struct record *r, int bit, const void *p)
{
	ck_assert_uint_eq(r->data3 & 3, bit);
	ck_assert_uint_eq(r->data3 >> 17 & 3, 3);
	ck_assert_uint_eq(r->lin, (uintptr_t)p);
	ck_assert_uint_eq(r->phys, phys_of(p));
	ck_assert_uint_eq(r->data >> 37 & 1, 0);
}

static void check_branch(const struct record *r, unsigned int bits, const char *target)
{
	ck_assert_uint_eq(r->data >> 34 & 0xb, bits);
	if (has(CAP_TARGET))
		ck_assert_uint_eq(r->target, (uintptr_t)target);
}

#define RETURN	1
#define TAKEN	2
#define BRANCH	8

START_TEST(ibs_samples_tell_what_the_op_did)
{
	int n[6] = { 0 }, wrong = 0;

	begin(CNT_CTL | 3000 >> 4, 0);
	known_loop(300000);
	end(0);
	check_equal();
	read_records();
	for (int i = 0; i < nrecord; i++) {
		const struct record *r = &record[i];
		const char *at = (const char *)r->rip;

		wrong += r->data >> 36 & 1;
		if (at == at_load) {
			n[0]++;
			check_memory(r, 1, &cell[0]);
		} else if (at == at_store) {
			n[1]++;
			check_memory(r, 2, &cell[1]);
		} else if (at == at_call) {
			n[2]++;
			check_branch(r, BRANCH | TAKEN, at_leaf);
		} else if (at == at_leaf) {
			n[3]++;
			check_branch(r, BRANCH | TAKEN | RETURN, at_back);
		} else if (at == at_never) {
			n[4]++;
			check_branch(r, BRANCH, NULL);
		} else if (at == at_loop) {
			n[5]++;
			check_branch(r, BRANCH | TAKEN, at_begin);
		}
	}
	for (int i = 0; i < 6; i++)
		ck_assert_msg(n[i] > 20, "%d of instruction %d, of %d", n[i], i, nrecord);
	ck_assert_int_gt(wrong, 5);
}
END_TEST

/* ---- filters -------------------------------------------------------------------- */

/* Loads whose data came from another place than the caches, at least so late. */
static void check_filter(uint64_t ctl, unsigned int latency)
{
	begin(CNT_CTL | 2000 >> 4 | ctl, 0);
	known_loop(1500000);
	end(0);
	check_equal();
	read_records();
	ck_assert_int_gt(nrecord, 10);
	ck_assert_uint_gt(oracle[0][VPMU_IBS_OP_FILTERED], 20 * of_all(VPMU_IBS_OP));
	for (int i = 0; i < nrecord; i++) {
		ck_assert_uint_eq(record[i].data3 & 0x100081, 0x100081);
		ck_assert_uint_eq(record[i].data2 & 7, 3);
		ck_assert_uint_ge(record[i].data3 >> 32 & 0xffff, latency);
	}
}

START_TEST(ibs_l3_filter_lets_only_misses_pass)
{
	check_filter(L3_ONLY, 150);
}
END_TEST

START_TEST(ibs_l3_filter_of_fetches_equals_the_oracle)
{
	begin(0, FETCH_L3_ONLY | 400 >> 4);
	work_everywhere(60);
	end(0);
	check_equal();
	ck_assert_uint_gt(of_all(VPMU_IBS_FETCH), 20);
	ck_assert_uint_gt(oracle_of_all(VPMU_IBS_FETCH_FILTERED), 10 * of_all(VPMU_IBS_FETCH));
}
END_TEST

START_TEST(ibs_latency_filter_needs_the_other_one)
{
	check_filter(L3_ONLY | LDLAT(1024), 1024);
	/* On Zen 5, alone, it filters nothing. */
	begin(CNT_CTL | PERIOD | LDLAT(1024), 0);
	work_everywhere(10);
	end(0);
	check_equal();
	ck_assert_uint_eq(oracle_of_all(VPMU_IBS_OP_FILTERED), 0);
}
END_TEST

/* ---- the entry, errata and manners ------------------------------------------------ */

START_TEST(ibs_masked_entry_loses_the_interrupt)
{
	put("masked", 1);
	begin(CNT_CTL | PERIOD, 0);
	work_everywhere(10);
	put("masked", 0);
	end(0);
	for (int cpu = 0; cpu < cpus; cpu++) {
		ck_assert_uint_eq(oracle[cpu][VPMU_IBS_MASKED], 1);
		ck_assert_uint_eq(oracle[cpu][VPMU_IBS_OP], 1);
		ck_assert_uint_eq(oracle[cpu][VPMU_IBS_NMI], 0);
		ck_assert_uint_eq(sum[cpu][VPMU_IBS_OP], 0);
	}
	/* The sample was cleared by the stop: the next ones come. */
	begin(CNT_CTL | PERIOD, 0);
	work_everywhere(10);
	end(0);
	check_equal();
	check_each_cpu_has(VPMU_IBS_OP, 10);
}
END_TEST

START_TEST(ibs_late_knob_raises_an_nmi_after_disable)
{
	for (int i = 0; i < 2; i++) {
		vpmu_knob(VPMU_KNOB_IBS_LATE, 3000 | (i ? VPMU_IBS_LATE_VAL : 0));
		begin(CNT_CTL | 0xfff0, 0);
		end(0);
		work(10);
		end(0);
		ck_assert_uint_eq(oracle[0][VPMU_IBS_LATE], 1);
		ck_assert_uint_eq(sum[0][IDLE], !i);
		ck_assert_uint_eq(sum[0][STOPPED], i);
	}
}
END_TEST

START_TEST(ibs_stuck_knob_raises_nmis_until_cured)
{
	uint64_t n;

	vpmu_knob(VPMU_KNOB_IBS_STUCK, 20000);
	/* As the erratum demands: it does not happen. */
	begin(CNT_CTL | PERIOD, 0);
	work(10);
	end(0);
	work(10);
	ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_STUCK, 0), before[0][VPMU_IBS_STUCK]);
	/* Disabled at once. */
	begin(CNT_CTL | PERIOD, 0);
	work(10);
	end(2);
	work(10);
	end(2);
	ck_assert_uint_gt(oracle[0][VPMU_IBS_STUCK], 5);
	ck_assert_uint_gt(sum[0][STOPPED], 5);
	put("run", 3);
	n = vpmu_ibs(VPMU_IBS_STUCK, 0);
	work(10);
	ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_STUCK, 0), n);
}
END_TEST

/* The count of fetches after a second write, whose own count is 0. */
static uint64_t fetches_after_write(bool disable)
{
	uint64_t cur;

	ck_assert_int_eq(wr(FETCH_CTL, 1ULL << 48 | 0xffff), 0);
	known_loop(50000);
	if (disable)
		ck_assert_int_eq(wr(FETCH_CTL, 0xffff), 0);
	ck_assert_int_eq(wr(FETCH_CTL, 1ULL << 48 | 0xffff), 0);
	cur = (value(FETCH_CTL) >> 16 & 0xffff) << 4;
	ck_assert_int_eq(wr(FETCH_CTL, 0), 0);
	return cur;
}

START_TEST(ibs_fetch_keep_knob_goes_on_counting)
{
	ck_assert_uint_lt(fetches_after_write(false), 100000);
	vpmu_knob(VPMU_KNOB_IBS_FETCH_KEEP, 1);
	ck_assert_uint_gt(fetches_after_write(false), 150000);
	ck_assert_uint_lt(fetches_after_write(true), 100000);
}
END_TEST

START_TEST(ibs_rip_invalid_knob_leaves_out_addresses)
{
	vpmu_knob(VPMU_KNOB_IBS_RIP_INVALID, 5);
	begin(CNT_CTL | 3000 >> 4, 0);
	known_loop(100000);
	end(0);
	check_equal();
	read_records();
	ck_assert_uint_gt(sum[0][VPMU_IBS_OP], 20);
	ck_assert_uint_ge(sum[0][VPMU_IBS_OP_INVALID], sum[0][VPMU_IBS_OP] / 5);
	for (int i = 0; i < nrecord; i++)
		ck_assert_int_eq(record[i].data >> 38 & 1, !record[i].rip);
}
END_TEST

START_TEST(ibs_fetch_zero_knob_has_no_address)
{
	uint64_t fetches;

	begin(0, 4000 >> 4);
	known_loop(100000);
	vpmu_knob(VPMU_KNOB_IBS_FETCH_ZERO, 1);
	end(0);
	check_equal();
	fetches = sum[0][VPMU_IBS_FETCH];
	ck_assert_uint_gt(fetches, 20);
	begin(0, 4000 >> 4);
	known_loop(100000);
	end(0);
	ck_assert_uint_gt(sum[0][VPMU_IBS_FETCH], 20);
	ck_assert_uint_eq(sum[0][VPMU_IBS_FETCH_LIN], 0);
	ck_assert_uint_ne(sum[0][VPMU_IBS_FETCH_PHYS], 0);
}
END_TEST

START_TEST(ibs_data2_knob_is_wrong_where_no_buffer_was_taken)
{
	for (int on = 0; on < 2; on++) {
		int n = 0;

		vpmu_knob(VPMU_KNOB_IBS_DATA2, on);
		begin(CNT_CTL | 1000 >> 4, 0);
		known_loop(200000);
		end(0);
		check_equal();
		read_records();
		for (int i = 0; i < nrecord; i++) {
			if (!(record[i].data3 >> 16 & 1))
				continue;
			n++;
			ck_assert_int_eq(record[i].data2 == 0xf7, on);
		}
		ck_assert_int_gt(n, 5);
	}
}
END_TEST

/* A model without a capability has no test of it. */
static void add_registers(void)
{
	harness_add(ibs_caps_are_those_of_the_model);
	harness_add(ibs_kernel_sets_up_the_entry_of_each_cpu);
	harness_add(ibs_registers_that_the_model_lacks_fault);
	harness_add(ibs_reserved_bits_of_control_fault);
	harness_add(ibs_count_of_ops_is_written_and_read);
}

static void add_samples(void)
{
	harness_add(ibs_ops_equal_the_oracle);
	harness_add(ibs_ops_by_cycles_equal_the_oracle);
	if (has(CAP_EXT))
		harness_add(ibs_ops_of_long_periods_equal_the_oracle);
	harness_add(ibs_fetches_equal_the_oracle);
	harness_add(ibs_ops_and_random_fetches_equal_the_oracle);
	harness_add(ibs_handler_with_the_interrupts_address_differs);
	harness_add(ibs_handler_with_the_interrupts_mode_differs);
	harness_add(ibs_op_is_the_one_that_is_due);
	harness_add(ibs_samples_tell_what_the_op_did);
}

int main(void)
{
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	caps = strtoul(getenv("IBS_CAPS") ?: "0", NULL, 16);
	if (system("modprobe -d \"$VM_KERNEL\" msr"))
		return 1;
	/* perf's handler takes its time in each NMI, and would complain of it. */
	if (system("sysctl -q kernel.perf_cpu_time_max_percent=0"))
		return 1;
	harness_fixture(setup, teardown);
	add_registers();
	add_samples();
	if (has(CAP_ZEN4))
		harness_add(ibs_l3_filter_lets_only_misses_pass);
	if (has(CAP_ZEN4))
		harness_add(ibs_l3_filter_of_fetches_equals_the_oracle);
	if (has(CAP_LDLAT))
		harness_add(ibs_latency_filter_needs_the_other_one);
	harness_add(ibs_masked_entry_loses_the_interrupt);
	harness_add(ibs_late_knob_raises_an_nmi_after_disable);
	harness_add(ibs_stuck_knob_raises_nmis_until_cured);
	harness_add(ibs_fetch_keep_knob_goes_on_counting);
	if (has(CAP_RIP_INVALID))
		harness_add(ibs_rip_invalid_knob_leaves_out_addresses);
	harness_add(ibs_fetch_zero_knob_has_no_address);
	harness_add(ibs_data2_knob_is_wrong_where_no_buffer_was_taken);
	return harness_run();
}
