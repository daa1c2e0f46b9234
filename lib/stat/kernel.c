/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c - symbols of the kernel and its modules, from kallsyms; and those of
 * generated code, from the file that its generator leaves in /tmp.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static void add_line(struct images *set, char *line)
{
	char *rest, *type, *name, *module;
	struct image *img = set->kernel;
	uint64_t addr;

	addr = strtoull(line, &rest, 16);
	type = strtok_r(rest, " \t\n", &rest);
	name = strtok_r(NULL, " \t\n", &rest);
	module = strtok_r(NULL, " \t\n", &rest);
	if (!type || !name || !strchr("tTwW", *type) || !addr)
		return;
	if (module) {
		img = image_get(set, module, HWPMC_IMAGE_MODULE, NULL, 0, 0);
		img->loaded = true;
	}
	image_add_symbol(img, addr, 0, name, false);
}

int kernel_load(struct images *set)
{
	const char *path = set->options.kallsyms;
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	if (set->kernel->pub.file || set->kernel->pub.problem)
		return 0;
	if (!path)
		path = "/proc/kallsyms";
	f = fopen(path, "re");
	if (!f) {
		set->kernel->pub.problem = strdup("kallsyms cannot be read");
		return -1;
	}
	while (getline(&line, &size, f) > 0)
		add_line(set, line);
	free(line);
	fclose(f);
	set->kernel->loaded = true;
	if (!set->kernel->nsymbol) {
		set->kernel->pub.problem = strdup("kallsyms shows no addresses: be root, or set kernel.kptr_restrict=0");
		return -1;
	}
	set->kernel->pub.file = strdup(path);
	for (uint32_t i = 0; i < set->n; i++)
		if (set->all[i]->pub.kind == HWPMC_IMAGE_MODULE ||
		    set->all[i] == set->kernel)
			image_sort(set->all[i]);
	return 0;
}

int jit_load(struct image *img, const struct hwpmc_symbol_options *o)
{
	char path[4200], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf-%d.map",
		 o->perf_map ? o->perf_map : "/tmp", img->pid);
	f = fopen(path, "re");
	if (!f) {
		img->pub.problem = strdup("generated code, and no perf-PID.map that names it");
		return -1;
	}
	while (getline(&line, &size, f) > 0) {
		uint64_t start, len;
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &len,
			   &at) >= 2 && at && line[at] && len)
			image_add_symbol(img, start, len, line + at, true);
	}
	free(line);
	fclose(f);
	img->pub.file = strdup(path);
	return 0;
}
