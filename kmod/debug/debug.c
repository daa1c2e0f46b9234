// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * debug.c - the tunable debugflags: switches tracepoints on and off as its text says.
 * Process context. The reasons for this design are in doc/decisions/debugflags.md.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "debug.h"
#include "debugflags.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define TEXT_MAX	512

static char debugflags[TEXT_MAX];	/* debug_lock */
module_param_string(debugflags, debugflags, sizeof(debugflags), 0444);
MODULE_PARM_DESC(debugflags,
		 "events to trace, such as \"pmc=allocate,release md=*\" (nothing)");

static u64 switched_on;			/* events, by debugflags; debug_lock */
static DEFINE_MUTEX(debug_lock);	/* the kernel's event_mutex nests inside */

#define EVENT(major, minor)	"hwpmc_" #major "_" #minor,
static const char *const event_names[] = { HWPMC_DEBUG_EVENTS(EVENT) };

static_assert(ARRAY_SIZE(event_names) <= 64);

static int switch_events(u64 events, bool on)
{
	int ret = 0;

	for (; !ret && events; events &= events - 1)
		ret = trace_set_clr_event("hwpmc", event_names[__ffs64(events)], on);
	return ret;
}

static int set_debugflags_locked(const char *text)
{
	u64 events;
	int ret;

	lockdep_assert_held(&debug_lock);
	ret = hwpmc_debugflags_parse(text, &events);
	if (ret)
		return ret;
	/* Those that are on already, too: tracefs may have switched them off. */
	ret = switch_events(events, true);
	if (ret) {
		switch_events(events & ~switched_on, false);
		return ret;
	}
	switch_events(switched_on & ~events, false);
	switched_on = events;
	return 0;
}

int hwpmc_debug_sysctl(hwpmc_ctl_table *table, int write, void *buffer,
		       size_t *len, loff_t *pos)
{
	char text[TEXT_MAX];
	struct ctl_table string = {
		.procname = table->procname,
		.data = text,
		.maxlen = sizeof(text),
	};
	int ret;

	mutex_lock(&debug_lock);
	strscpy(text, debugflags, sizeof(text));
	ret = proc_dostring(&string, write, buffer, len, pos);
	if (!ret && write && strlen(text) == sizeof(text) - 1)
		ret = -EINVAL;		/* it may have been truncated */
	if (!ret && write) {
		ret = set_debugflags_locked(text);
		if (!ret)
			strscpy(debugflags, text, sizeof(debugflags));
	}
	mutex_unlock(&debug_lock);
	return ret;
}

void hwpmc_debug_init(void)
{
	mutex_lock(&debug_lock);
	if (set_debugflags_locked(debugflags)) {
		pr_warn("tunable debugflags=\"%s\" is not understood.\n",
			debugflags);
		debugflags[0] = '\0';
	}
	mutex_unlock(&debug_lock);
}

void hwpmc_debug_exit(void)
{
	mutex_lock(&debug_lock);
	switch_events(switched_on, false);
	switched_on = 0;
	mutex_unlock(&debug_lock);
}
