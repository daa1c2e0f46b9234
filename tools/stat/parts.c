/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.c - counts of CPUs added up by sockets and cores, and the rows that are shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "stat.h"

static void part_label(char *label, size_t size, enum stat_by by, unsigned int cpu)
{
	struct cpu_place at = cpu_place(cpu);

	if (by == BY_SOCKET)
		snprintf(label, size, "S%u", at.socket);
	else
		snprintf(label, size, "S%u-D%u-C%u", at.socket, at.die, at.core);
}

/* The part of this label; a new one behind the others if there is none. */
static struct stat_cell *part_of(struct stat_event *ev, const char *label,
				 const struct stat_options *o)
{
	struct stat_cell *part;

	for (unsigned int i = 0; i < ev->npart; i++)
		if (strcmp(ev->part[i].label, label) == 0)
			return &ev->part[i];
	part = &ev->part[ev->npart++];
	strcpy(part->label, label);
	part->id = HWPMC_ID_INVALID;
	part->cpu = HWPMC_CPU_ANY;
	part->run = must_calloc(o->runs, sizeof(*part->run));
	return part;
}

void stat_parts_open(struct stat_event *ev, const struct stat_options *o)
{
	if (!o->system || (o->by != BY_SOCKET && o->by != BY_CORE))
		return;
	ev->part = must_calloc(ev->ncell, sizeof(*ev->part));
	for (unsigned int i = 0; i < ev->ncell; i++) {
		struct stat_cell *part;
		char label[32];

		part_label(label, sizeof(label), o->by, ev->cell[i].cpu);
		part = part_of(ev, label, o);
		part->ncpu++;
		ev->cell[i].part = part - ev->part;
	}
}

void stat_parts_close(struct stat_event *ev)
{
	for (unsigned int i = 0; i < ev->npart; i++)
		free(ev->part[i].run);
	free(ev->part);
}

void stat_parts_read(struct stat_event *ev)
{
	/* Parts that are threads have no cells. */
	if (!ev->npart || ev->part[0].tid)
		return;
	for (unsigned int i = 0; i < ev->npart; i++) {
		ev->part[i].value = 0;
		ev->part[i].shown = 0;
	}
	for (unsigned int i = 0; i < ev->ncell; i++) {
		struct stat_cell *part = &ev->part[ev->cell[i].part];

		part->value += ev->cell[i].value;
		part->shown += ev->cell[i].shown;
	}
}

void stat_parts_keep(struct stat_event *ev, unsigned int run)
{
	for (unsigned int i = 0; i < ev->npart; i++)
		ev->part[i].run[run] = ev->part[i].value;
}

const struct stat_cell *stat_rows(const struct stat_options *o,
				  const struct stat_event *ev, unsigned int *n)
{
	if (o->by == BY_ALL) {
		*n = 0;
		return NULL;
	}
	*n = o->by == BY_CPU ? ev->ncell : ev->npart;
	return o->by == BY_CPU ? ev->cell : ev->part;
}
