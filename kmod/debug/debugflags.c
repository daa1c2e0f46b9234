// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * debugflags.c - parses the language of debugflags. Pure: no kernel calls, no state.
 * The words are those of FreeBSD's manual; as there, any minor may follow any major.
 */
#include "debugflags.h"

#define BLANKS	" \t"

#define EVENT(major, minor)	{ #major, #minor },

const struct hwpmc_debug_event hwpmc_debug_events[] = {
	HWPMC_DEBUG_EVENTS(EVENT)
};

const unsigned int hwpmc_debug_nevents = ARRAY_SIZE(hwpmc_debug_events);

static const char *const majors[] = {
	"cpu", "csw", "logging", "md", "module", "owner", "pmc", "process",
	"sampling", NULL
};

static const char *const minors[] = {
	"allocaterow", "allocate", "attach", "bind", "config", "exec", "exit",
	"find", "flush", "fork", "getbuf", "hook", "init", "intr", "linktarget",
	"mayberemove", "ops", "read", "register", "release", "remove", "sample",
	"scheduleio", "select", "signal", "swi", "swo", "start", "stop",
	"syscall", "unlinktarget", "write", "*", NULL
};

struct word {
	const char *at;
	size_t len;
};

static bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.len && !memcmp(word.at, text, word.len);
}

static bool is_one_of(struct word word, const char *const *words)
{
	for (; *words; words++)
		if (word_is(word, *words))
			return true;
	return false;
}

static u64 events_of(struct word major, struct word minor)
{
	u64 events = 0;
	unsigned int i;

	for (i = 0; i < hwpmc_debug_nevents; i++)
		if (word_is(major, hwpmc_debug_events[i].major) &&
		    (word_is(minor, "*") || word_is(minor, hwpmc_debug_events[i].minor)))
			events |= BIT_ULL(i);
	return events;
}

/* One "major=minor,minor". Returns the text after it, or NULL. */
static const char *parse_group(const char *text, u64 *events)
{
	struct word major = { text, strcspn(text, "=" BLANKS) }, minor;

	text += major.len;
	if (*text != '=' || !is_one_of(major, majors))
		return NULL;
	do {
		minor.at = ++text;
		minor.len = strcspn(text, "," BLANKS);
		if (!is_one_of(minor, minors))
			return NULL;
		*events |= events_of(major, minor);
		text += minor.len;
	} while (*text == ',');
	return text;
}

int hwpmc_debugflags_parse(const char *text, u64 *events)
{
	u64 found = 0;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		text = parse_group(text, &found);
		if (!text)
			return -EINVAL;
	}
	*events = found;
	return 0;
}
