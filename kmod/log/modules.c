// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * modules.c - text of kernel modules, as MAP_IN and MAP_OUT records of process -1, in
 * logs that may contain kernel addresses. The kernel's own text has no record: every
 * other kernel address belongs to it. Process context.
 */
#include <linux/module.h>
#include <linux/rculist.h>

#include "../compat/module.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "modules.h"

static void emit_module(struct hwpmc_owner *owner, const struct module *mod,
		       u8 flags)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	size_t len = strlen(mod->name) + 3;
	unsigned long start, end;
	struct hwpmc_log_map *r;

	hwpmc_module_text(mod, &start, &end);
	if (!log || !hwpmc_log_is_privileged(log) || start == end)
		return;
	r = hwpmc_log_reserve(log, HWPMC_LOG_MAP_IN, sizeof(*r) + len);
	if (!r)
		return;
	memset((void *)r + sizeof(r->hdr), 0, sizeof(*r) - sizeof(r->hdr));
	r->hdr.flags = flags;
	r->pid = -1;
	r->start = start;
	r->end = end;
	snprintf(r->path, len, "[%s]", mod->name);
	hwpmc_log_commit(log);
}

static void emit_module_gone(struct hwpmc_owner *owner, const struct module *mod)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	unsigned long start, end;
	struct hwpmc_log_unmap *r;

	if (!log || !hwpmc_log_is_privileged(log))
		return;
	hwpmc_module_text(mod, &start, &end);
	r = hwpmc_log_reserve(log, HWPMC_LOG_MAP_OUT, sizeof(*r));
	if (!r)
		return;
	r->pid = -1;
	r->__reserved = 0;
	r->start = start;
	r->end = end;
	hwpmc_log_commit(log);
}

/*
 * The list of modules is walked from our own entry. Its head, which is not exported,
 * is recognised by its address: it is in the kernel's data, not among modules.
 */
static bool is_module(const struct module *mod)
{
	unsigned long at = (unsigned long)mod;

	return at >= MODULES_VADDR && at < MODULES_END;
}

void hwpmc_emit_modules(struct hwpmc_owner *owner)
{
	const struct module *mod = THIS_MODULE;

	preempt_disable();
	do {
		if (is_module(mod) && mod->state == MODULE_STATE_LIVE)
			emit_module(owner, mod, HWPMC_LOG_SNAPSHOT);
		/* Entries are removed with list_del_rcu(): preemption is off. */
		mod = list_entry(READ_ONCE(mod->list.next), struct module,
				 list);
	} while (mod != THIS_MODULE);
	preempt_enable();
}

struct module_change {
	const struct module *mod;
	bool gone;
};

static void emit_change(struct hwpmc_owner *owner, void *arg)
{
	struct module_change *change = arg;

	if (!hwpmc_log_is_open(owner))
		return;
	if (change->gone)
		emit_module_gone(owner, change->mod);
	else
		emit_module(owner, change->mod, 0);
}

static int module_changes(struct notifier_block *nb, unsigned long state,
			  void *data)
{
	struct module_change change = { data, state == MODULE_STATE_GOING };

	if (state != MODULE_STATE_GOING && state != MODULE_STATE_COMING)
		return NOTIFY_OK;
	rcu_read_lock();
	preempt_disable();
	hwpmc_owners_each_rcu(emit_change, &change);
	preempt_enable();
	rcu_read_unlock();
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = module_changes };

int hwpmc_modules_hook(void)
{
	return register_module_notifier(&notifier);
}

void hwpmc_modules_unhook(void)
{
	unregister_module_notifier(&notifier);
}
