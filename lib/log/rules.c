/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - the shape of each type of record: one line a type. Pure. */
#include <stddef.h>

#include "log.h"

#define RULE(type, word, kind) \
	[HWPMC_LOG_##type] = { word, sizeof(struct kind), 0 }
#define RULE_STRING(type, word, kind, field)				\
	[HWPMC_LOG_##type] = { word, sizeof(struct kind),		\
			       offsetof(struct kind, field) }

static const struct record_rule rules[] = {
	RULE(CLOSELOG, "CLOSELOG", hwpmc_log_closelog),
	RULE(DROPNOTIFY, "DROPNOTIFY", hwpmc_log_drop),
	RULE(INITIALIZE, "INITIALIZE", hwpmc_log_initialize),
	RULE(PMCALLOCATE, "PMCALLOCATE", hwpmc_log_allocate),
	RULE_STRING(PMCATTACH, "PMCATTACH", hwpmc_log_attach, path),
	RULE(PMCDETACH, "PMCDETACH", hwpmc_log_attach),
	RULE(PROCCSW, "PROCCSW", hwpmc_log_value),
	RULE_STRING(PROCEXEC, "PROCEXEC", hwpmc_log_exec, path),
	RULE(PROCEXIT, "PROCEXIT", hwpmc_log_value),
	RULE(PROCFORK, "PROCFORK", hwpmc_log_fork),
	RULE(SYSEXIT, "SYSEXIT", hwpmc_log_task),
	RULE(USERDATA, "USERDATA", hwpmc_log_hdr),
	RULE_STRING(MAP_IN, "MAP_IN", hwpmc_log_map, path),
	RULE(MAP_OUT, "MAP_OUT", hwpmc_log_unmap),
	RULE(CALLCHAIN, "CALLCHAIN", hwpmc_log_sample),
	RULE(PMCALLOCATEDYN, "PMCALLOCATEDYN", hwpmc_log_allocate),
	RULE(THR_CREATE, "THR_CREATE", hwpmc_log_task),
	RULE(THR_EXIT, "THR_EXIT", hwpmc_log_task),
	RULE(PROC_CREATE, "PROC_CREATE", hwpmc_log_task),
	RULE(CPU, "CPU", hwpmc_log_hdr),
	RULE(CONTEXT, "CONTEXT", hwpmc_log_context),
	RULE(THROTTLE, "THROTTLE", hwpmc_log_throttle),
	RULE(COMM_NAME, "COMM_NAME", hwpmc_log_task),
	RULE(CLOCK, "CLOCK", hwpmc_log_clock),
	RULE_STRING(NOTE, "NOTE", hwpmc_log_note, text),
	RULE(PADDING, "PADDING", hwpmc_log_hdr),
};

const struct record_rule *record_rule(uint8_t type)
{
	if (type >= sizeof(rules) / sizeof(rules[0]) || !rules[type].name)
		return NULL;
	return &rules[type];
}
