/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit.c - symbols of generated code, from the file that its generator leaves in
 * /tmp: "start size name" a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

int jit_load(struct image *img, const struct hwpmc_symbol_options *o)
{
	char path[4200], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf-%d.map",
		 o->perf_map ? o->perf_map : "/tmp", img->pid);
	f = fopen(path, "re");
	if (!f)
		return image_problem(img, "generated code, and no perf-PID.map that names it");
	while (getline(&line, &size, f) > 0) {
		uint64_t start, len;
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &len,
			   &at) >= 2 && at && line[at] && len)
			image_add_symbol(img, start, len, line + at,
					 !o->no_demangle);
	}
	free(line);
	fclose(f);
	img->pub.file = stat_strdup(path);
	return 0;
}
