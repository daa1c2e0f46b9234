// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * kgmon.c - one hash table of addresses and counts per CPU, written in NMI by that
 * CPU alone, read by any. It holds addresses, not ranges: a module cannot know where
 * the kernel's text begins, and modules lie elsewhere.
 */
#include <linux/cpu.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/vmalloc.h>

#include "../core/class.h"
#include "../base/refusal.h"
#include "kgmon.h"

#define SLOTS		65536
#define PROBES		32	/* slots tried before a hit counts as lost */

struct slot {
	u64 address;			/* 0: free */
	u64 count;
};

struct table {
	struct slot *slot;		/* SLOTS of them */
	u64 kernel, user, lost;
};

static struct table __percpu *tables;	/* NULL until first needed; hwpmc_lock */
static unsigned int kgmon_users;		/* PMCs; hwpmc_lock */
static bool collecting;			/* hwpmc_lock; read in NMI */

static void free_tables(void)
{
	int cpu;

	if (!tables)
		return;
	for_each_possible_cpu(cpu)
		vfree(per_cpu_ptr(tables, cpu)->slot);
	free_percpu(tables);
	tables = NULL;
}

static int make_tables(void)
{
	int cpu;

	lockdep_assert_held(&hwpmc_lock);
	if (tables)
		return 0;
	tables = alloc_percpu(struct table);
	if (!tables)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct table *t = per_cpu_ptr(tables, cpu);

		t->slot = vzalloc(array_size(SLOTS, sizeof(*t->slot)));
		if (!t->slot) {
			free_tables();
			return -ENOMEM;
		}
	}
	return 0;
}

int hwpmc_kgmon_get(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = make_tables();
	if (!ret)
		kgmon_users++;
	return ret;
}

void hwpmc_kgmon_put(void)
{
	lockdep_assert_held(&hwpmc_lock);
	kgmon_users--;
}

void hwpmc_kgmon_exit(void)
{
	free_tables();
}

/* ---- hits ---------------------------------------------------------------- */

static bool count_address_nmi(struct table *t, u64 address)
{
	u32 i = (address * 0x9e3779b97f4a7c15ull) >> 48;
	unsigned int tries;

	for (tries = 0; tries < PROBES; tries++, i = (i + 1) % SLOTS) {
		struct slot *s = &t->slot[i];

		if (s->address == address || !s->address) {
			s->count++;
			WRITE_ONCE(s->address, address);
			return true;
		}
	}
	return false;
}

void hwpmc_kgmon_hit_nmi(const struct pt_regs *regs)
{
	struct table *t = this_cpu_ptr(tables);

	if (!READ_ONCE(collecting))
		return;
	if (user_mode((struct pt_regs *)regs))
		t->user++;
	else if (count_address_nmi(t, regs->ip))
		t->kernel++;
	else
		t->lost++;
}

void hwpmc_kgmon_lost_nmi(u64 n)
{
	if (READ_ONCE(collecting))
		this_cpu_add(tables->lost, n);
}

/* ---- the operation ------------------------------------------------------- */

void hwpmc_kgmon_switch(bool on)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(collecting, on);
}

static void table_clear(struct table *t)
{
	memset(t->slot, 0, array_size(SLOTS, sizeof(*t->slot)));
	t->kernel = 0;
	t->user = 0;
	t->lost = 0;
}

static void reset_table_ipi(void *unused)
{
	table_clear(this_cpu_ptr(tables));
}

/* Each CPU resets its own table: an NMI in the middle loses its own hit at most. */
static void tables_reset(void)
{
	int cpu;

	lockdep_assert_held(&hwpmc_lock);
	if (!kgmon_users) {
		free_tables();
		return;
	}
	cpus_read_lock();
	on_each_cpu(reset_table_ipi, NULL, 1);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			table_clear(per_cpu_ptr(tables, cpu));
	cpus_read_unlock();
}

u32 hwpmc_kgmon_most(void)
{
	return min_t(u64, (u64)SLOTS * num_possible_cpus(),
		     INT_MAX / sizeof(struct hwpmc_kgmon_entry));
}

/* Returns the number of all entries, of which `room` are copied. They are not merged:
 * an address may occur once for each CPU. */
static u32 copy_entries(struct hwpmc_kgmon_entry *to, u32 room)
{
	struct hwpmc_kgmon_entry e;
	u32 n = 0, i;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct table *t = per_cpu_ptr(tables, cpu);

		for (i = 0; i < SLOTS; i++) {
			e.address = READ_ONCE(t->slot[i].address);
			e.count = READ_ONCE(t->slot[i].count);
			if (!e.address)
				continue;
			if (n < room)
				to[n] = e;
			n++;
		}
		cond_resched();
	}
	return n;
}

static int read_table(struct hwpmc_op_kgmon *op, struct hwpmc_kgmon_entry *to,
		      u32 room)
{
	bool wants_entries = op->nentry;
	u32 n;
	int cpu;

	lockdep_assert_held(&hwpmc_lock);
	op->kernel = 0;
	op->user = 0;
	op->lost = 0;
	op->nentry = 0;
	if (!tables)
		return 0;
	n = copy_entries(to, room);
	if (wants_entries && n > room)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_BUFFER, n);
	op->nentry = n;
	for_each_possible_cpu(cpu) {
		const struct table *t = per_cpu_ptr(tables, cpu);

		op->kernel += READ_ONCE(t->kernel);
		op->user += READ_ONCE(t->user);
		op->lost += READ_ONCE(t->lost);
	}
	return 0;
}

int hwpmc_kgmon_op(struct hwpmc_op_kgmon *op, struct hwpmc_kgmon_entry *to,
		   u32 room)
{
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	switch (op->command) {
	case HWPMC_KGMON_OFF:
	case HWPMC_KGMON_ON:
		hwpmc_kgmon_switch(op->command == HWPMC_KGMON_ON);
		break;
	case HWPMC_KGMON_RESET:
		tables_reset();
		break;
	case HWPMC_KGMON_READ:
		ret = read_table(op, to, room);
		break;
	default:
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_KGMON,
				    op->command);
	}
	op->on = collecting;
	op->users = kgmon_users;
	return ret;
}
