/* SPDX-License-Identifier: BSD-2-Clause */
/* images.c - the end of images and of what belongs to all of them. */
#include <stdlib.h>

#include "stat.h"

void image_end(struct image *img)
{
	lines_close(img);
	image_free(img);
}

void images_free(struct images *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		image_end(set->all[i]);
	free(set->all);
	table_free(&set->table);
	kallsyms_free(&set->kallsyms);
	kernel_files_free(&set->files);
	kernel_files_free(&set->standard);
	debuginfod_free(set->debuginfod);
	jit_dumps_free(&set->dumps);
}
