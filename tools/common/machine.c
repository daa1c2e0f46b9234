/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c - see machine.h. */
#include <stdio.h>

#include "machine.h"
#include "msg.h"

/* Classes whose counters count what a program chooses. APERF, MPERF and energy count one
 * thing each: a virtual machine can have them and no counters. */
static bool is_of_counters(uint32_t class_id)
{
	return class_id == HWPMC_CLASS_IAF || class_id == HWPMC_CLASS_IAP ||
	       class_id == HWPMC_CLASS_P4 || class_id == HWPMC_CLASS_K8;
}

bool machine_lists_counters(const struct hwpmc_op_getcpuinfo *info)
{
	for (unsigned int i = 0; i < info->nclass && i < HWPMC_CLASS_MAX; i++)
		if (is_of_counters(info->classes[i].class))
			return true;
	return false;
}

bool machine_has_counters(struct hwpmc *h)
{
	return machine_lists_counters(hwpmc_cpuinfo(h));
}

const char *machine_without_counters(struct hwpmc *h)
{
	const char *text = hwpmc_reason_text(hwpmc_cpuinfo(h)->hdr.reason);

	return text ? text : "the module reports no reason";
}

bool machine_note_is_missing(struct hwpmc *h, const struct hwpmc_classnote *note)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(h);

	for (unsigned int i = 0; i < info->nclass && i < HWPMC_CLASS_MAX; i++)
		if (info->classes[i].class == note->class)
			return false;
	return true;
}

bool machine_note_is_of_all(const struct hwpmc_op_getcpuinfo *info,
			    const struct hwpmc_classnote *note)
{
	if (note->reason != HWPMC_WHY_ROW_STILL || note->class == HWPMC_CLASS_IAF)
		return false;
	for (unsigned int i = 0; i < info->nclass && i < HWPMC_CLASS_MAX; i++)
		if (info->classes[i].class == note->class)
			return note->detail >= (int32_t)info->classes[i].num;
	return false;
}

static const char *class_of(const struct hwpmc_classnote *note)
{
	const char *name = hwpmc_name_of_class(note->class);

	return name ? name : "?";
}

static bool is_same_reason(const struct hwpmc_classnote *a, const struct hwpmc_classnote *b)
{
	return a->reason == b->reason && a->detail == b->detail;
}

void machine_missing(struct hwpmc *h, char *buf, size_t size)
{
	struct hwpmc_classnote n[HWPMC_NOTES_MAX];
	int num = hwpmc_notes(h, n), last;
	char text[200];
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < num && len < size; i = last + 1) {
		last = i;
		if (!machine_note_is_missing(h, &n[i]))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					class_of(&n[i]));
		while (last + 1 < num && is_same_reason(&n[last + 1], &n[i]) && len < size)
			len += (size_t)snprintf(buf + len, size - len, ", %s",
						class_of(&n[++last]));
		hwpmc_note_text(&n[i], text, sizeof(text));
		if (len < size)
			len += (size_t)snprintf(buf + len, size - len, " (%s)", text);
	}
}

void machine_say_findings(struct hwpmc *h)
{
	struct hwpmc_classnote n[HWPMC_NOTES_MAX];
	int num = hwpmc_notes(h, n);
	char line[800], text[200];
	size_t len = 0;

	for (int i = 0; i < num && len < sizeof(line); i++) {
		if (machine_note_is_missing(h, &n[i]))
			continue;
		hwpmc_note_text(&n[i], text, sizeof(text));
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s: %s",
					len ? "; " : "", class_of(&n[i]), text);
	}
	if (len)
		msg("%s", line);
}
