/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_dev.h - what the tests of the driver share: its operations as raw ioctls
 * (the library has tests of its own), events by vendor, children that wait for
 * a go, and the state of the emulated PMU's registers.
 *
 * Operations return 0 or the errno; dev_hdr then says the reason.
 */
#ifndef KMOD_DEV_H
#define KMOD_DEV_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "hwpmc.h"
#include "vpmu_guest.h"

#define U	HWPMC_CAP_USER
#define K	HWPMC_CAP_SYSTEM
#define TC	HWPMC_MODE_TC
#define SC	HWPMC_MODE_SC
#define ANY	HWPMC_CPU_ANY

enum dev_event { INSN, BRANCH, CYCLES };

/* Netburst: perf's raw codes, event number at bit 57 and event mask at bit 41. */
#define P4_CODE(event, mask)	((uint64_t)(event) << 57 | (uint64_t)(mask) << 41)
#define P4_INSTR_RETIRED	P4_CODE(38, 1)
#define P4_RETIRED_BRANCHES	P4_CODE(28, 0x1e)
#define P4_CYCLES		P4_CODE(24, 1)

extern struct hwpmc_hdr dev_hdr;	/* of the last operation */

/* Load the module if it is not, and see what machine this is. main() calls it. */
void dev_setup(void);
bool dev_is_amd(void);
bool dev_is_p4(void);
unsigned int dev_insn_counters(void);	/* that can count INSN */
unsigned int dev_counters(void);	/* programmable ones */
unsigned int dev_first_row(void);	/* of the programmable class */

int dev_open(void);
/* Of the programmable class. Fails the test where it is refused. */
uint32_t dev_alloc(int fd, int mode, uint32_t flags, uint32_t cpu,
		   enum dev_event ev, uint32_t caps);
/* The same, refusals allowed: 0 or errno; *op has the answer. */
int dev_allocate(int fd, struct hwpmc_op_pmcallocate *op);
void dev_request(struct hwpmc_op_pmcallocate *op, int mode, uint32_t flags,
		 uint32_t cpu, enum dev_event ev, uint32_t caps);
int dev_attach(int fd, uint32_t id, pid_t pid);
int dev_detach(int fd, uint32_t id, pid_t pid);
int dev_start(int fd, uint32_t id);
int dev_stop(int fd, uint32_t id);
int dev_release(int fd, uint32_t id);
int dev_setcount(int fd, uint32_t id, uint64_t count);
int dev_rw(int fd, uint32_t id, uint32_t flags, uint64_t *value);
/* Any operation, and one without arguments. */
int dev_op(int fd, unsigned long request, void *arg);
int dev_simple(int fd, unsigned long request);
/* CONFIGURELOG; logfd -1 without flags ends the log, size 0 is the default. */
int dev_configure(int fd, int logfd, uint32_t flags, uint32_t size);
/* Writes `n` records of the user; the log may refuse some. */
void dev_write_records(int fd, unsigned int n);
/* The count; fails the test where it is refused. */
uint64_t dev_read(int fd, uint32_t id);
/* As above, but a refusal fails the test. */
#define dev_ok(call) do {						\
	int err_ = (call);						\
	ck_assert_msg(!err_, "%s: %s, reason %u (%d)", #call,		\
		      strerror(err_), dev_hdr.reason, dev_hdr.detail);	\
} while (0)

/* A child that waits for dev_go(), and executes nothing until then: what is counted of
 * it from here on is exact. Then it runs fn(arg) and exits with 0. */
struct child {
	pid_t pid;
	int go;
};

struct child dev_child(void (*fn)(void *), void *arg);
/* The same that then executes build/vm/progs/loop with so many iterations. */
struct child dev_loop(unsigned long iterations);
void dev_go(struct child *child);
/* The caller has this user's and group's id from here on, as a program of the user. */
#define NOBODY	65534
/* Parameters of the module for tests. Tests of the unprivileged measure as on FreeBSD: everybody
 * opens the device, and measures kernel mode. Sampling is not throttled by its cost in time: the
 * emulator's NMIs take long, the longer the busier the host; throttling has tests of its own. */
#define DEV_PARAMS	"mode=0666 unprivileged_kernel=1 selfcost=0"
void dev_become(uid_t uid);
/* A child that has become this user runs fn(arg); a failure there is one here. */
void dev_as(uid_t uid, void (*fn)(void *), void *arg);
/* Its state in /proc: 'R', 'S', 'Z' ... */
char dev_state(pid_t pid);
/* The number of the system call that it is off its CPU in, or -1. */
long dev_waiting_in(pid_t pid);
/* Wait until it is off its CPU in this system call, or in read(). */
void dev_await_call(pid_t pid, long nr);
void dev_held(pid_t pid);
void dev_wait(struct child *child);
/* A child runs fn(arg); a failure there is one here. */
void dev_apart(void (*fn)(void *), void *arg);
/* Kill a process and wait for it, or wait until it exits with 0. */
void dev_end(pid_t pid);
void dev_reap(pid_t pid);

/* What `loop n` executes in user mode, all of it: known from its source. */
uint64_t loop_insn(uint64_t n);
uint64_t loop_branches(uint64_t n);
void dev_pin(pid_t pid, int cpu);
void dev_unpin(pid_t pid);

/* A register of a CPU, as root can access it. */
uint64_t dev_rdmsr(int cpu, uint32_t msr);
void dev_wrmsr(int cpu, uint32_t msr, uint64_t value);
int dev_cpus(void);
void dev_msleep(int ms);
uint64_t dev_now(void);		/* monotonic clock, in ns */

static inline double dev_seconds(void)
{
	return dev_now() / 1e9;
}

/* Three instructions and one branch an iteration. */
static inline void dev_spin(uint64_t n)
{
	asm volatile("1: addq $1, %%rdx; decq %0; jnz 1b" : "+r"(n) : : "rdx", "cc");
}

/* What the operation on the kernel's histogram returned, without entries. */
struct hwpmc_op_kgmon dev_kgmon(int fd, uint32_t command);
/* "on" or "off", all threads of cores but the first: 0 or an errno. */
int dev_smt(const char *text);
/* A file of the kernel gets this text. */
void dev_put(const char *path, const char *text);

/* The kernel will complain in words that these expressions find: no failure. */
void dev_expect(const char *lines);
/* How many NMIs the kernel has said that nobody wanted. */
unsigned int dev_unknown_nmis(void);

/* 0, or the first select, fixed or global control register that is not 0, as a
 * VPMU_REG number + 1; read by the emulated PMU itself, of all vCPUs. */
int dev_busy_register(void);
/* It becomes so when work items have run; the limit of 30 s only ends a hang. */
void dev_check_registers_clear(void);
/*
 * For tests that hold or occupy a CPU. Work items that remove probes need each CPU, and
 * hold the driver's lock meanwhile. dev_fresh() loads the driver anew, so that none is to
 * come of what ran before; dev_calm() waits for that of an attach, which comes 200 ms after
 * it, and not as long as programs may use RDPMC.
 */
void dev_fresh(void);
void dev_calm(void);
/* Measure a program of known length: how a destructive test ends. */
void dev_still_counts(void);

#endif
