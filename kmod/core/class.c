// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * class.c - registry of classes and rows. Filled at load, constant after that except
 * for the fields that class.h names.
 */
#include "../backends/width.h"
#include "class.h"

struct hwpmc_machine hwpmc_machine;
struct hwpmc_row hwpmc_rows[HWPMC_ROW_MAX];
unsigned int hwpmc_nrows;

unsigned long hwpmc_classes_nmi __ro_after_init;
u64 hwpmc_rows_nmi __ro_after_init;
u64 hwpmc_rows_sampler __ro_after_init;
DEFINE_STATIC_KEY_FALSE(hwpmc_has_samplers);
unsigned long hwpmc_claimed_classes;
unsigned long hwpmc_claim_generation;

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

	for (i = 0; i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (hwpmc_nrows + cls->num > HWPMC_ROW_MAX) {
			hwpmc_classes_exit();
			return -E2BIG;
		}
		add_rows(cls);
		if (!cls->nmi)
			continue;
		if (cls->ops->interrupt.sampler) {
			hwpmc_rows_sampler |= hwpmc_class_rows(cls);
			continue;
		}
		hwpmc_classes_nmi |= BIT(i);
		hwpmc_rows_nmi |= hwpmc_class_rows(cls);
	}
	return 0;
}

void hwpmc_classes_exit(void)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (cls->ops->exit)
			cls->ops->exit(cls);
	}
	hwpmc_machine.nclass = 0;
}

u32 hwpmc_classes_pmu_state(void)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++) {
		const struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (cls->ops->hardware.state)
			return cls->ops->hardware.state(cls);
	}
	return HWPMC_PMU_NONE;
}

struct hwpmc_class *hwpmc_class_find(u32 id)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++)
		if (hwpmc_machine.cls[i].id == id)
			return &hwpmc_machine.cls[i];
	return NULL;
}

void hwpmc_class_note(const struct hwpmc_class *cls, u32 why, s32 detail, u32 rows)
{
	struct hwpmc_machine *m = &hwpmc_machine;

	lockdep_assert_held(&hwpmc_lock);
	if (m->nnotes < HWPMC_NOTES_MAX)
		m->notes[m->nnotes++] = (struct hwpmc_classnote){
			.class = cls->id, .reason = why, .detail = detail, .rows = rows,
		};
}

void hwpmc_class_forget_notes(const struct hwpmc_class *cls, u32 why)
{
	struct hwpmc_machine *m = &hwpmc_machine;
	unsigned int i, n = 0;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; i < m->nnotes; i++)
		if (m->notes[i].class != cls->id || m->notes[i].reason != why)
			m->notes[n++] = m->notes[i];
	m->nnotes = n;
}
