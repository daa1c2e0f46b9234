/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_no_libpfm.c - names of events where libpfm4 is not installed: dlopen(3) fails here,
 * by --wrap of the linker.
 */
#include <errno.h>
#include <stdio.h>

#include "harness.h"
#include "lib_machines.h"
#include "lib_wants.h"

static unsigned int asked;		/* calls of dlopen() */

void *__wrap_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags)
{
	ck_assert_str_eq(file, "libpfm.so.4");
	asked++;
	return NULL;
}

/* Architectural names are the library's own. */
START_TEST(events_that_the_library_knows_do_not_load_libpfm)
{
	static const struct want want[] = {
		{ "cycles", 0x200, 0x3c, 0 },
		{ "branches,usr", 0, 0xc4, USR },
		{ "cpu/event=0xd0,umask=0x81/", 0, 0x81d0, QUA },
	};
	struct event_machine m = machine_skylake();

	ALL(&m, want);
	ck_assert_uint_eq(asked, 0);
}
END_TEST

START_TEST(events_of_no_table_are_refused_where_libpfm_is_absent)
{
	static const struct refusal refused[] = {
		{ "skl::NO_SUCH_EVENT", ENOENT, 1, "names of 'skl': libpfm4 is not installed" },
		{ "NO_SUCH_EVENT", ENOENT, 1, "and libpfm4, which has more names, is not" },
	};
	struct event_machine m = machine_skylake();

	ALL_REFUSED(&m, refused);
	/* Once for all names. */
	ck_assert_uint_eq(asked, 1);
}
END_TEST

int main(void)
{
	/* No tables: the machine's own may be installed. */
	setenv("HWPMC_EVENTS", "/nonexistent", 1);
	harness_add(events_that_the_library_knows_do_not_load_libpfm);
	harness_add(events_of_no_table_are_refused_where_libpfm_is_absent);
	return harness_run();
}
