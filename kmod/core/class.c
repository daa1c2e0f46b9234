// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * class.c - registry of classes and rows; claiming the hardware while it is
 * needed and giving it back after. Process context, under hwpmc_lock.
 */
#include <linux/lockdep.h>

#include "../ctl/trace.h"
#include "../virt/rdpmc.h"
#include "class.h"
#include "cpu.h"
#include "longslice.h"
#include "value.h"

/* Protects everything that is not per CPU; class.h says what it is held for. */
DEFINE_MUTEX(hwpmc_lock);

struct hwpmc_machine hwpmc_machine;
struct hwpmc_row hwpmc_rows[HWPMC_ROW_MAX];
unsigned int hwpmc_nrows;

/* PMCs that a class serves; the hardware is claimed while this is not 0. */
static unsigned int class_users[HWPMC_CLASS_MAX];
unsigned long hwpmc_classes_nmi __ro_after_init;
u64 hwpmc_rows_nmi __ro_after_init;
/* Read by hotplug callbacks on other CPUs, hence apart from class_users. */
static unsigned long classes_claimed;
unsigned long hwpmc_claim;

static void add_rows(struct hwpmc_class *cls)
{
	unsigned int ri;

	cls->first = hwpmc_nrows;
	for (ri = 0; ri < cls->num; ri++) {
		struct hwpmc_row *row = &hwpmc_rows[hwpmc_nrows++];

		row->cls = cls;
		row->ri = ri;
		row->mask = hwpmc_width_mask(cls->width);
		row->rdpmc = cls->rdpmc_base < 0 ? -1 : cls->rdpmc_base + ri;
		INIT_LIST_HEAD(&row->pmcs);
	}
}

u64 hwpmc_class_rows(const struct hwpmc_class *cls)
{
	return GENMASK_ULL(cls->first + cls->num - 1, cls->first);
}

int hwpmc_classes_init(void)
{
	unsigned int i;
	int ret;

	ret = hwpmc_backends_probe(&hwpmc_machine);
	if (ret < 0)
		return ret;
	for (i = 0; i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (hwpmc_nrows + cls->num > HWPMC_ROW_MAX) {
			hwpmc_backends_exit(&hwpmc_machine);
			return -E2BIG;
		}
		add_rows(cls);
		if (!cls->nmi)
			continue;
		hwpmc_classes_nmi |= BIT(i);
		hwpmc_rows_nmi |= hwpmc_class_rows(cls);
	}
	return 0;
}

void hwpmc_classes_exit(void)
{
	hwpmc_backends_exit(&hwpmc_machine);
}

struct hwpmc_class *hwpmc_class_find(u32 id)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++)
		if (hwpmc_machine.cls[i].id == id)
			return &hwpmc_machine.cls[i];
	return NULL;
}

/* Does the hardware take what is written to it? */
static int check_doubt(const struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	u32 msr = hwpmc_class_doubt(cls);

	if (likely(!msr))
		return 0;
	*why = HWPMC_WHY_PMU_REFUSED;
	*detail = msr;
	return -EIO;
}

/* Perf is gone from the counters: what it has left is nobody's. */
static void begin_claim(void)
{
	WRITE_ONCE(hwpmc_claim, hwpmc_claim + 1);
	hwpmc_rdpmc_take_all();
}

static int claim(struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	int ret;

	if (!cls->ops->claim)
		return 0;
	ret = cls->ops->claim(cls, why, detail);
	trace_hwpmc_md_init(cls->id, ret);
	if (ret)
		return ret;
	if (cls->nmi && !(classes_claimed & hwpmc_classes_nmi))
		begin_claim();
	set_bit(cls - hwpmc_machine.cls, &classes_claimed);
	hwpmc_cpus_reset_class(cls, true);
	hwpmc_longslice_begin();
	return 0;
}

int hwpmc_class_get(struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	unsigned int i = cls - hwpmc_machine.cls;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = class_users[i] ? 0 : claim(cls, why, detail);
	if (ret)
		return ret;
	class_users[i]++;
	ret = check_doubt(cls, why, detail);
	if (ret)
		hwpmc_class_put(cls);
	return ret;
}

void hwpmc_class_put(struct hwpmc_class *cls)
{
	unsigned int i = cls - hwpmc_machine.cls;

	lockdep_assert_held(&hwpmc_lock);
	if (WARN_ON_ONCE(!class_users[i]) || --class_users[i])
		return;
	if (!cls->ops->claim)
		return;
	clear_bit(i, &classes_claimed);
	hwpmc_cpus_reset_class(cls, false);
	cls->ops->release(cls);
	trace_hwpmc_md_exit(cls->id, 0);
}

unsigned long hwpmc_classes_claimed(void)
{
	return READ_ONCE(classes_claimed);
}
