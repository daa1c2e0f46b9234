// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_info.c - properties of the machine, use of rows, statistics, the kernel's
 * profile, and the administrator's disabling of rows. Process context.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../core/cpu.h"
#include "../core/stats.h"
#include "../pmc/owner.h"
#include "../sampling/kgmon.h"
#include "ioctl.h"

int hwpmc_ioctl_cpuinfo(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getcpuinfo *op = &arg->cpuinfo;
	unsigned int i;

	memset(op, 0, sizeof(*op));
	op->hdr = hwpmc_machine.refusal;
	op->cputype = hwpmc_machine.cputype;
	op->ncpu = nr_cpu_ids;
	op->npmc = hwpmc_nrows;
	op->nclass = hwpmc_machine.nclass;
	for (i = 0; i < hwpmc_machine.nclass; i++) {
		const struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		op->classes[i] = (struct hwpmc_classinfo){
			.class = cls->id,
			.caps = cls->caps,
			.width = cls->width,
			.num = cls->num,
			.first = cls->first,
		};
	}
	op->pmu_state = hwpmc_classes_pmu_state();
	op->pmu_version = hwpmc_machine.pmu_version;
	strscpy(op->cpuid, hwpmc_machine.cpuid, sizeof(op->cpuid));
	op->nnotes = hwpmc_machine.nnotes;
	memcpy(op->notes, hwpmc_machine.notes, op->nnotes * sizeof(op->notes[0]));
	return 0;
}

int hwpmc_ioctl_stats(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getdriverstats *op = &arg->stats;
	struct hwpmc_stats sum;

	hwpmc_stats_sum(&sum);
	memset(op, 0, sizeof(*op));
	op->intr_ignored = sum.intr_ignored;
	op->intr_processed = sum.intr_processed;
	op->intr_bufferfull = sum.intr_bufferfull;
	/* Samples reserve room too, but are counted as interrupts. */
	op->buffer_requests = sum.buffer_requests + sum.intr_processed;
	op->buffer_requests_failed = sum.buffer_requests_failed +
				     sum.intr_bufferfull;
	op->log_sweeps = sum.log_sweeps;
	op->syscalls = sum.syscalls;
	op->syscall_errors = sum.syscall_errors;
	op->threads_missed = sum.threads_missed;
	op->switch_programmed = sum.switch_programmed;
	return 0;
}

int hwpmc_ioctl_version(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getmoduleversion *op = &arg->version;
	u32 client = op->version;

	if (op->__reserved)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	op->version = HWPMC_API_VERSION;
	/* Only a newer major number is incompatible. */
	if (client >> 16 > HWPMC_API_VERSION >> 16)
		return hwpmc_refuse(&op->hdr, -EPROTONOSUPPORT,
				    HWPMC_WHY_VERSION, HWPMC_API_VERSION);
	return 0;
}

/* The system-scope PMC of a row on a CPU, or NULL; it is the only one there. */
static const struct hwpmc_pmc *pmc_on_cpu(const struct hwpmc_row *row, u32 cpu)
{
	const struct hwpmc_pmc *pmc;

	list_for_each_entry(pmc, &row->pmcs, row_node)
		if (pmc->cpu == cpu)
			return pmc;
	return NULL;
}

/* "IAP-3", "RAPL-CORES", "TSC". */
static void name_row(const struct hwpmc_row *row, char *buf, size_t len)
{
	const struct hwpmc_class *cls = row->cls;

	if (cls->ops->row.name)
		snprintf(buf, len, "%s-%s", cls->name, cls->ops->row.name(row->ri));
	else if (cls->shareable)
		strscpy(buf, cls->name, len);
	else
		snprintf(buf, len, "%s-%u", cls->name, row->ri);
}

static void fill_info(struct hwpmc_pmcinfo *info, unsigned int nr, u32 cpu)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	const struct hwpmc_class *cls = row->cls;
	const struct hwpmc_pmc *pmc = pmc_on_cpu(row, cpu);

	memset(info, 0, sizeof(*info));
	name_row(row, info->name, sizeof(info->name));
	info->class = cls->id;
	info->enabled = !(per_cpu_ptr(hwpmc_cpus, cpu)->disabled & BIT_ULL(nr));
	info->rowdisp = hwpmc_row_disp(row->users);
	info->users = row->users;
	info->ownerpid = -1;
	if (!pmc)
		return;
	info->ownerpid = pid_vnr(pmc->owner->tgid);
	info->mode = pmc->mode;
	info->event = pmc->ev;
	info->flags = pmc->flags;
	info->config = pmc->config;
	info->reloadcount = hwpmc_pmc_asked(pmc);
}

/* Copies without hwpmc_lock: a fault on the caller's memory may block for ever. */
static int copy_infos(struct hwpmc_owner *owner, struct hwpmc_op_getpmcinfo *op)
{
	struct hwpmc_pmcinfo *infos;
	unsigned int nr;
	int ret;

	infos = kcalloc(hwpmc_nrows, sizeof(*infos), GFP_KERNEL_ACCOUNT);
	if (!infos)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (ret)
		goto out;
	for (nr = 0; nr < hwpmc_nrows; nr++)
		fill_info(&infos[nr], nr, op->cpu);
	mutex_unlock(&hwpmc_lock);
	if (copy_to_user(u64_to_user_ptr(op->pmcs), infos,
			 array_size(hwpmc_nrows, sizeof(*infos))))
		ret = hwpmc_refuse(&op->hdr, -EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
out:
	kfree(infos);
	return ret;
}

static int check_cpu(struct hwpmc_hdr *hdr, u32 cpu)
{
	if (cpu >= nr_cpu_ids)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_CPU_RANGE,
				    nr_cpu_ids - 1);
	if (!hwpmc_cpu_is_admitted(cpu))
		return hwpmc_refuse(hdr, -ENXIO, HWPMC_WHY_CPU_OFFLINE, cpu);
	return 0;
}

int hwpmc_ioctl_pmcinfo(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getpmcinfo *op = &arg->pmcinfo;
	int ret;

	ret = check_cpu(&op->hdr, op->cpu);
	if (ret)
		return ret;
	op->cpu = array_index_nospec(op->cpu, nr_cpu_ids);
	if (op->npmc < hwpmc_nrows)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_BUFFER,
				    hwpmc_nrows);
	op->npmc = hwpmc_nrows;
	return copy_infos(owner, op);
}

int hwpmc_ioctl_kinds(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getkinds *op = &arg->getkinds;
	const struct hwpmc_cpu *c;
	unsigned int i;
	int ret;

	if (op->__reserved)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	ret = check_cpu(&op->hdr, op->cpu);
	if (ret)
		return ret;
	op->cpu = array_index_nospec(op->cpu, nr_cpu_ids);
	c = per_cpu_ptr(hwpmc_cpus, op->cpu);
	op->kind = c->kind;
	op->rows = c->rows & GENMASK_ULL(hwpmc_nrows - 1, 0);
	op->kinds = 0;
	for (i = 0; i < hwpmc_machine.nclass; i++)
		op->kinds |= hwpmc_machine.cls[i].kinds;
	return 0;
}

static int put_dynevent(struct hwpmc_dynevent __user *user, const struct hwpmc_class *cls,
			const char *name, u32 ev)
{
	struct hwpmc_dynevent one = {
		.ev = ev,
		.reason = cls->ops->events.why ? cls->ops->events.why(cls, ev) : 0,
	};

	strscpy(one.name, name, sizeof(one.name));
	return copy_to_user(user, &one, sizeof(one)) ? -EFAULT : 0;
}

int hwpmc_ioctl_dynevents(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getdyneventinfo *op = &arg->dynevents;
	struct hwpmc_dynevent __user *user = u64_to_user_ptr(op->events);
	struct hwpmc_class *cls = hwpmc_class_find(op->class);
	const char *name;
	u32 n = 0, ev;

	if (!cls || !cls->ops->events.at)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CLASS,
				    op->class);
	while (cls->ops->events.at(cls, n, &ev))
		n++;
	if (op->nevent < n)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_BUFFER, n);
	op->nevent = n;
	for (n = 0; (name = cls->ops->events.at(cls, n, &ev)); n++)
		if (put_dynevent(&user[n], cls, name, ev))
			return hwpmc_refuse(&op->hdr, -EFAULT,
					    HWPMC_WHY_BAD_ADDRESS, 0);
	return 0;
}

/* Copies without hwpmc_lock, as copy_infos() does; nothing if it is refused. */
static int run_kgmon(struct hwpmc_owner *owner, struct hwpmc_op_kgmon *op,
		     struct hwpmc_kgmon_entry *entries, u32 room)
{
	int ret = hwpmc_owner_lock(owner, &op->hdr);

	if (ret)
		return ret;
	ret = hwpmc_kgmon_op(op, entries, room);
	mutex_unlock(&hwpmc_lock);
	if (!ret && entries &&
	    copy_to_user(u64_to_user_ptr(op->entries), entries,
			 array_size(op->nentry, sizeof(*entries))))
		ret = hwpmc_refuse(&op->hdr, -EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
	return ret;
}

int hwpmc_ioctl_kgmon(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_kgmon *op = &arg->kgmon;
	struct hwpmc_kgmon_entry *entries = NULL;
	u32 room = 0;
	int ret;

	/* The profile contains kernel addresses. */
	if (!perfmon_capable())
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_SYSTEM, 1);
	if (op->command == HWPMC_KGMON_READ)
		room = min(op->nentry, hwpmc_kgmon_most());
	if (room) {
		entries = kvmalloc_array(room, sizeof(*entries),
					 GFP_KERNEL_ACCOUNT);
		if (!entries)
			return hwpmc_refuse(&op->hdr, -ENOMEM,
					    HWPMC_WHY_NO_MEMORY, 0);
	}
	ret = run_kgmon(owner, op, entries, room);
	kvfree(entries);
	return ret;
}

int hwpmc_ioctl_revoke(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	if (!capable(CAP_SYS_ADMIN))
		return hwpmc_refuse(&arg->hdr, -EPERM, HWPMC_WHY_PRIV_ADMIN, 0);
	hwpmc_owners_revoke();
	return 0;
}

/* A disabled row on a CPU counts as a use in system scope. */
static int disable_row(struct hwpmc_op_pmcadmin *op)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, op->cpu);
	struct hwpmc_row *row = &hwpmc_rows[op->row];

	if (c->disabled & BIT_ULL(op->row))
		return 0;
	if (row->halves || !hwpmc_row_admits(row->users, true) || pmc_on_cpu(row, op->cpu))
		return hwpmc_refuse(&op->hdr, -EBUSY, HWPMC_WHY_ROW_IN_USE,
				    op->row);
	c->disabled |= BIT_ULL(op->row);
	row->users = hwpmc_row_added(row->users, true);
	return 0;
}

static int enable_row(struct hwpmc_op_pmcadmin *op)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, op->cpu);
	struct hwpmc_row *row = &hwpmc_rows[op->row];

	if (!(c->disabled & BIT_ULL(op->row)))
		return 0;
	c->disabled &= ~BIT_ULL(op->row);
	row->users = hwpmc_row_removed(row->users, true);
	return 0;
}

int hwpmc_ioctl_admin(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcadmin *op = &arg->admin;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_ADMIN, 0);
	if (op->__reserved)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	ret = check_cpu(&op->hdr, op->cpu);
	if (ret)
		return ret;
	if (op->row >= hwpmc_nrows)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_ROW,
				    hwpmc_nrows - 1);
	op->cpu = array_index_nospec(op->cpu, nr_cpu_ids);
	op->row = array_index_nospec(op->row, hwpmc_nrows);
	if (op->state == HWPMC_STATE_DISABLED)
		return disable_row(op);
	if (op->state == HWPMC_STATE_FREE)
		return enable_row(op);
	return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_ADMIN_STATE, op->state);
}
