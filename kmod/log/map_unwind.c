// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_unwind.c - see map_unwind.h.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/kdev_t.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "../compat/vma.h"
#include "../sampling/unwind_maps.h"
#include "map.h"
#include "map_copied.h"
#include "map_unwind.h"

static u8 file_kind_of(const struct hwpmc_map *m)
{
	if (m->file)
		return UNWIND_FILE_INODE;
	return m->name && !strcmp(m->name, "[vdso]") ? UNWIND_FILE_VDSO :
		UNWIND_FILE_NONE;
}

static void map_for_walks(const struct hwpmc_map *m, struct hwpmc_unwind_map *u)
{
	*u = (struct hwpmc_unwind_map){
		.start = m->r.start, .end = m->r.end,
		.shift = m->r.start - m->r.offset,
		.file = {
			.inode = m->r.inode,
			.dev = MKDEV(m->r.major, m->r.minor),
			.kind = file_kind_of(m),
			.copied = !!(m->r.hdr.flags & HWPMC_MAP_COPY),
			.build_id_len = m->r.build_id_len,
		},
	};
	memcpy(u->file.build_id, m->r.build_id, m->r.build_id_len);
}

/* What moves the break is called too often for a probe: for walks no code is there. */
static bool is_heap(const struct hwpmc_map *m, const struct mm_struct *mm)
{
	return !m->file && m->r.start <= mm->brk && m->r.end >= mm->start_brk;
}

bool hwpmc_map_unwind(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_unwind_map u;

	if (!hwpmc_unwind_maps_wanted() || !hwpmc_unwind_maps_known(mm))
		return false;
	if (is_heap(m, mm)) {
		hwpmc_unwind_maps_remove(mm, m->r.start, m->r.end, true);
		return false;
	}
	map_for_walks(m, &u);
	hwpmc_unwind_maps_add(mm, &u, gfp);
	return true;
}

bool hwpmc_map_unwind_vma(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp,
			  unsigned int *pages)
{
	if (!hwpmc_wants_vma(vma)) {
		hwpmc_unwind_maps_remove(vma->vm_mm, vma->vm_start, vma->vm_end, true);
		return false;
	}
	hwpmc_map_init(m, vma);
	hwpmc_map_find_copied(m, vma, gfp, pages);
	hwpmc_map_identify(m);
	return hwpmc_map_unwind(m, vma->vm_mm, gfp);
}

/* Mappings that a probe looks at: a program could have any number of them. */
#define RANGE_MAPS	256

void hwpmc_map_unwind_range(struct mm_struct *mm, u64 start, u64 end, gfp_t gfp)
{
	unsigned int left = RANGE_MAPS, pages = HWPMC_PROBE_PAGES;
	struct vm_area_struct *vma;
	struct hwpmc_map m;
	u64 at = start;

	while (at < end && left--) {
		vma = find_vma(mm, at);
		if (!vma || vma->vm_start >= end)
			break;
		if (vma->vm_start > at)
			hwpmc_unwind_maps_remove(mm, at, vma->vm_start, true);
		hwpmc_map_unwind_vma(&m, vma, gfp,
				     gfpflags_allow_blocking(gfp) ? NULL : &pages);
		at = vma->vm_end;
	}
	if (at < end)
		hwpmc_unwind_maps_remove(mm, at, end, true);
}

/* Anonymous code is left out of more than can be followed: no table describes it. */
bool hwpmc_map_unwind_all(struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
	struct hwpmc_unwind_maps *maps;
	struct vm_area_struct *vma;
	bool unread = false;
	unsigned int n = 0, none = 0;
	struct hwpmc_map m;

	if (!hwpmc_unwind_maps_wanted())
		return false;
	while ((vma = hwpmc_vma_next(&walk)))
		n += hwpmc_wants_vma(vma);
	maps = hwpmc_unwind_maps_alloc(min(n, HWPMC_UNWIND_MAPS_MAX), gfp);
	walk = (struct hwpmc_vma_walk)HWPMC_VMA_WALK(mm);
	while (maps && (vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma) || (!vma->vm_file && !vma->vm_ops &&
					      n > HWPMC_UNWIND_MAPS_MAX))
			continue;
		hwpmc_map_init(&m, vma);
		hwpmc_map_find_copied(&m, vma, gfp, gfpflags_allow_blocking(gfp) ? NULL : &none);
		hwpmc_map_identify(&m);
		if (is_heap(&m, mm))
			continue;
		unread |= m.unread || m.uncompared;
		map_for_walks(&m, &maps->map[maps->n++]);
		if (maps->n == HWPMC_UNWIND_MAPS_MAX)
			break;
	}
	hwpmc_unwind_maps_set(mm, maps, gfp);
	return unread;
}
