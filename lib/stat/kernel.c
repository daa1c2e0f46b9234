/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c - whose symbols the kernel and its modules get: those of files, where
 * options.kernel says so, else those of kallsyms.
 */
#include <string.h>

#include "stat.h"

#define NOT_LOADED	"the address of the kernel is not in the log: give kallsyms of the machine by --kallsyms, or vmlinux of a kernel without KASLR"

/* How far the kernel lies from where vmlinux has it. */
static int find_load(struct images *set, uint64_t stext)
{
	struct image *img = set->kernel;
	uint64_t start = img->start;

	if (!start && kallsyms_read(set) == 0)
		start = set->kallsyms.stext;
	if (!start || !stext)
		return image_problem(img, NOT_LOADED);
	img->pub.load = start - stext;
	return 0;
}

static void load_kernel(struct images *set)
{
	struct image *img = set->kernel;
	const char *path = vmlinux_path(set);
	uint64_t stext = 0;

	if (!path) {
		kallsyms_load(set, img);
		return;
	}
	if (vmlinux_load(set, img, path, &stext) == 0 &&
	    find_load(set, stext) < 0)
		image_forget_symbols(img);
}

static void load_module(struct images *set, struct image *img)
{
	const char *path = ko_path(set, img);

	if (path)
		ko_load(img, path);
	else
		kallsyms_load(set, img);
}

void kernel_load(struct images *set, struct image *img)
{
	if (img == set->kernel)
		load_kernel(set);
	else
		load_module(set, img);
}
