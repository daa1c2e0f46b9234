/* SPDX-License-Identifier: BSD-2-Clause */
/* loop.c - what checks are made of: loops, CPUs, clocks, and a PMC for each row. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "selftest.h"

__attribute__((noinline)) void st_loop(uint64_t n)
{
	if (n)
		__asm__ __volatile__("1: decq %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

void st_calls(uint64_t n)
{
	long number;

	if (!n)
		return;
	__asm__ __volatile__("1:	movl %[getppid], %%eax\n\t"
			     "syscall\n\t"
			     "decq %[n]\n\t"
			     "jnz 1b"
			     : "=&a"(number), [n] "+r"(n)
			     : [getppid] "i"(SYS_getppid)
			     : "rcx", "r11", "memory", "cc");
}

bool st_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	else
		for (int i = 0; i < CPU_SETSIZE; i++)
			CPU_SET(i, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

unsigned int st_cpus(int *cpu, unsigned int n)
{
	unsigned int found = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int i = 0; i < CPU_SETSIZE && found < n; i++)
		if (CPU_ISSET(i, &set))
			cpu[found++] = i;
	return found;
}

unsigned int st_kinds(struct selftest *t, struct st_kind *kind)
{
	uint32_t kinds, of;
	int cpu[1024];
	unsigned int ncpu = st_cpus(cpu, 1024), n = 0;

	for (unsigned int i = 0; i < ncpu && n < ST_KINDS; i++) {
		bool seen = false;

		if (hwpmc_kinds(t->h, cpu[i], &kinds, &of) < 0)
			continue;
		for (unsigned int k = 0; k < n; k++)
			seen |= kind[k].kind == of;
		if (!seen)
			kind[n++] = (struct st_kind){ of, of ? hwpmc_name_of_kind(of) : NULL,
						      cpu[i] };
	}
	if (!n)
		kind[n++] = (struct st_kind){ 0, NULL, -1 };
	return n;
}

const char *st_spec(char buf[HWPMC_NAME_MAX], const struct st_kind *kind, const char *event,
		    const char *modes)
{
	if (kind->name)
		snprintf(buf, HWPMC_NAME_MAX, "%s/%s/%s", kind->name, event, modes);
	else
		snprintf(buf, HWPMC_NAME_MAX, "%s:%s", event, modes);
	return buf;
}

/* ---- RDPMC, which a hypervisor may let fault -------------------------------- */

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

static bool read_faults(const struct hwpmc_counter *c)
{
	struct sigaction act = { .sa_handler = on_fault }, segv, ill;
	volatile bool faults = true;
	uint64_t value;

	sigaction(SIGSEGV, &act, &segv);
	sigaction(SIGILL, &act, &ill);
	if (!sigsetjmp(fault, 1)) {
		hwpmc_counter_read(c, &value);
		faults = false;
	}
	sigaction(SIGILL, &ill, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return faults;
}

bool st_open_counter(struct selftest *t, uint32_t id, const char *name, const char *check,
		     struct hwpmc_counter *c)
{
	if (hwpmc_counter_open(t->h, id, c) < 0) {
		st_failed(t, check, "%s: %s", name, hwpmc_error(t->h));
		return false;
	}
	if (!read_faults(c))
		return true;
	t->no_rdpmc = true;
	st_failed(t, check,
		  "RDPMC of %s faults in user mode although the kernel allows it: a hypervisor prevents programs from reading counters",
		  name);
	return false;
}

uint64_t st_ticks(void)
{
	uint32_t low, high;

	__asm__ __volatile__("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return low | (uint64_t)high << 32;
}

uint64_t st_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

unsigned int st_row_in_class(struct selftest *t, uint32_t id)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);
	unsigned int first = 0;

	for (unsigned int i = 0; i < info->nclass; i++)
		if (info->classes[i].class == HWPMC_ID_CLASS(id))
			first = info->classes[i].first;
	return HWPMC_ID_ROW(id) - first;
}

const char *st_name_row(struct selftest *t, uint32_t id, char name[HWPMC_NAME_MAX])
{
	const char *class = hwpmc_name_of_class(HWPMC_ID_CLASS(id));

	snprintf(name, HWPMC_NAME_MAX, "%s-%u", class ? class : "?", st_row_in_class(t, id));
	return name;
}

bool st_add(struct selftest *t, struct st_pmcs *p, const char *spec, uint64_t period)
{
	enum hwpmc_mode mode = period ? HWPMC_MODE_TS : HWPMC_MODE_TC;
	uint32_t id;

	if (p->n == HWPMC_ROW_MAX ||
	    hwpmc_allocate(t->h, spec, mode, 0, HWPMC_CPU_ANY, period, &id) < 0)
		return false;
	if (hwpmc_attach(t->h, id, 0) < 0) {
		hwpmc_release(t->h, id);
		return false;
	}
	st_name_row(t, id, p->name[p->n]);
	p->entry[p->n++].pmcid = id;
	return true;
}

bool st_allocate(struct selftest *t, struct st_pmcs *p, const char *check,
		 const char *spec, uint64_t period)
{
	memset(p, 0, sizeof(*p));
	while (st_add(t, p, spec, period))
		;
	/* All that there are, or all that a hypervisor gives at a time. */
	if (p->n == HWPMC_ROW_MAX ||
	    (p->n && (hwpmc_reason(t->h) == HWPMC_WHY_ROWS_BUSY ||
		      hwpmc_reason(t->h) == HWPMC_WHY_ROWS_AT_ONCE)))
		return true;
	st_failed(t, check, "%s", hwpmc_error(t->h));
	st_release(t, p);
	return false;
}

bool st_batch(struct selftest *t, struct st_pmcs *p, const char *check,
	      enum hwpmc_batch_command command)
{
	if (hwpmc_batch(t->h, command, p->entry, p->n) == 0)
		return true;
	st_failed(t, check, "%s", hwpmc_error(t->h));
	return false;
}

void st_release(struct selftest *t, struct st_pmcs *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		hwpmc_release(t->h, p->entry[i].pmcid);
	p->n = 0;
}
