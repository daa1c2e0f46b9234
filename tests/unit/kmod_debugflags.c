// SPDX-License-Identifier: BSD-2-Clause
/* kmod_debugflags.c - the language of debugflags: what it takes and refuses. */
#include <stdio.h>
#include <stdlib.h>

#include "debug/debugflags.h"
#include "harness.h"

static const char *const majors[] = {
	"cpu", "csw", "logging", "md", "module", "owner", "pmc", "process",
	"sampling",
};

static const char *const minors[] = {
	"allocaterow", "allocate", "attach", "bind", "config", "exec", "exit",
	"find", "flush", "fork", "getbuf", "hook", "init", "intr", "linktarget",
	"mayberemove", "ops", "read", "register", "release", "remove", "sample",
	"scheduleio", "select", "signal", "swi", "swo", "start", "stop",
	"syscall", "unlinktarget", "write",
};

static u64 parse(const char *text)
{
	u64 events = 0;

	ck_assert_msg(!hwpmc_debugflags_parse(text, &events), "\"%s\"", text);
	return events;
}

/* The events of a major; of one minor, or NULL: of all. */
static u64 events_of(const char *major, const char *minor)
{
	u64 events = 0;

	for (unsigned int i = 0; i < hwpmc_debug_nevents; i++)
		if (!strcmp(hwpmc_debug_events[i].major, major) &&
		    (!minor || !strcmp(hwpmc_debug_events[i].minor, minor)))
			events |= BIT_ULL(i);
	return events;
}

START_TEST(debugflags_of_the_manuals_examples_choose_their_events)
{
	ck_assert_uint_eq(parse("pmc=allocate,release md=allocate,release"),
			  events_of("pmc", "allocate") |
			  events_of("pmc", "release") |
			  events_of("md", "allocate") |
			  events_of("md", "release"));
	ck_assert_uint_eq(parse("process=* csw=*"),
			  events_of("process", NULL) | events_of("csw", NULL));
	ck_assert_uint_eq(parse(""), 0);
	ck_assert_uint_eq(parse(" \t "), 0);
	ck_assert_uint_eq(parse("\tpmc=read  pmc=write "),
			  events_of("pmc", "read") | events_of("pmc", "write"));
}
END_TEST

START_TEST(each_major_and_minor_of_the_manual_is_a_word_of_debugflags)
{
	char text[80];

	for (size_t i = 0; i < ARRAY_SIZE(majors); i++) {
		snprintf(text, sizeof(text), "%s=*", majors[i]);
		ck_assert_uint_eq(parse(text), events_of(majors[i], NULL));
		ck_assert_uint_ne(parse(text), 0);
		for (size_t j = 0; j < ARRAY_SIZE(minors); j++) {
			snprintf(text, sizeof(text), "%s=%s", majors[i],
				 minors[j]);
			ck_assert_uint_eq(parse(text),
					  events_of(majors[i], minors[j]));
		}
	}
}
END_TEST

START_TEST(every_event_is_chosen_by_words_of_debugflags)
{
	for (unsigned int i = 0; i < hwpmc_debug_nevents; i++) {
		char text[80];

		snprintf(text, sizeof(text), "%s=%s",
			 hwpmc_debug_events[i].major,
			 hwpmc_debug_events[i].minor);
		ck_assert_uint_eq(parse(text), BIT_ULL(i));
	}
}
END_TEST

static const char *const wrong[] = {
	"pmc", "pmc=", "=allocate", "=", "pmc=allocate,", "pmc=,allocate",
	"pmc=alloc", "pmc=allocated", "pmc=ALLOCATE", "PMC=*", "pm=*", "pmcs=*",
	"pmc =*", "pmc= *", "pmc=allocate, release", "pmc=allocate;md=*",
	"pmc=allocate pmc", "pmc==*", "pmc=*=*", "pmc=**", "*=*", "*", ",",
	"pmc=allocate\nmd=*", "pmc=allocate nonsense=*",
};

START_TEST(unknown_words_of_debugflags_are_einval_and_change_nothing)
{
	u64 events = 0x1234;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_msg(hwpmc_debugflags_parse(wrong[i], &events) ==
			      -EINVAL, "\"%s\" is taken", wrong[i]);
		ck_assert_uint_eq(events, 0x1234);
	}
}
END_TEST

/* Pieces of the language in any order: ASan sees what is read too far. */
START_TEST(random_debugflags_are_taken_or_refused)
{
	static const char *const pieces[] = {
		"pmc", "md", "=", ",", " ", "*", "allocate", "read", "x", "\t",
	};
	unsigned int taken = 0;

	srandom(1);
	for (int i = 0; i < 200000; i++) {
		char *text = malloc(64);
		size_t len = 0;
		u64 events;

		for (int n = random() % 7; n; n--)
			len += sprintf(text + len, "%s",
				       pieces[random() % ARRAY_SIZE(pieces)]);
		text[len] = '\0';
		text = realloc(text, len + 1);
		taken += !hwpmc_debugflags_parse(text, &events);
		free(text);
	}
	ck_assert_uint_gt(taken, 1000);
	ck_assert_uint_lt(taken, 199000);
}
END_TEST

int main(void)
{
	harness_add(debugflags_of_the_manuals_examples_choose_their_events);
	harness_add(each_major_and_minor_of_the_manual_is_a_word_of_debugflags);
	harness_add(every_event_is_chosen_by_words_of_debugflags);
	harness_add(unknown_words_of_debugflags_are_einval_and_change_nothing);
	harness_add(random_debugflags_are_taken_or_refused);
	return harness_run();
}
