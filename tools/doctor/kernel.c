/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c - the kernel's options, and what it runs in: a container, a hypervisor (host.c).
 */
#include <string.h>

#include "doctor.h"

/* Of these the module uses functions; a kernel without one has no place for it. */
static const char *const needed[] = {
	"CONFIG_MODULES", "CONFIG_PREEMPT_NOTIFIERS", "CONFIG_TRACEPOINTS", "CONFIG_KPROBES",
	"CONFIG_PERF_EVENTS",
};

#define NNEEDED (sizeof(needed) / sizeof(*needed))

static FILE *open_config(const struct doctor *d)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/boot/config-%s", d->release);
	f = dr_open(d, path);
	if (f)
		return f;
	snprintf(path, sizeof(path), "/lib/modules/%s/build/.config", d->release);
	return dr_open(d, path);
}

/* Bit i: needed[i] is on. */
static unsigned int read_options(FILE *f)
{
	unsigned int on = 0;
	char line[512];

	while (fgets(line, sizeof(line), f))
		for (unsigned int i = 0; i < NNEEDED; i++) {
			size_t n = strlen(needed[i]);

			if (!strncmp(line, needed[i], n) && !strcmp(line + n, "=y\n"))
				on |= 1u << i;
		}
	return on;
}

static void look_at_options(struct doctor *d)
{
	FILE *f = open_config(d);
	unsigned int on;

	/* A module that is loaded has found all that it uses. */
	if (!f || dr_loaded(d)) {
		dr_ok(d, "options", "%s", dr_loaded(d) ? "this kernel has all required options" :
		      "unknown: the configuration of this kernel is not installed");
		if (f)
			fclose(f);
		return;
	}
	on = read_options(f);
	fclose(f);
	for (unsigned int i = 0; i < NNEEDED; i++)
		if (!(on & 1u << i)) {
			dr_wrong(d, "options", "apt-get install linux-image-amd64",
				 "kernel %s is built without %s: boot a kernel that has it, such as "
				 "Debian's", d->release, needed[i]);
			return;
		}
	dr_ok(d, "options", "kernel %s has all required options", d->release);
}

void dr_look_at_kernel(struct doctor *d)
{
	look_at_options(d);
}

/* The files that engines leave; an image that was made from a container's has them too,
 * but sees the kernel's own threads when it is booted. */
bool dr_contained(const struct doctor *d)
{
	char comm[32];

	dr_first_line(d, "/proc/2/comm", comm, sizeof(comm));
	if (!strcmp(comm, "kthreadd"))
		return false;
	return dr_exists(d, "/run/systemd/container") || dr_exists(d, "/.dockerenv") ||
	       dr_exists(d, "/run/.containerenv");
}

void dr_look_at_surroundings(struct doctor *d)
{
	if (dr_contained(d))
		dr_ok(d, "container", "this is a container: the kernel and its module belong to the host");
	else
		dr_ok(d, "container", "none");
	dr_look_at_hypervisor(d);
}
