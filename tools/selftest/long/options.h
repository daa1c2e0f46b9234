/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - what a step of the long selftest may change, with an option alone. */
#ifndef TOOLS_SELFTEST_OPTIONS_H
#define TOOLS_SELFTEST_OPTIONS_H

enum { LONG_HOTPLUG = 1, LONG_SUSPEND = 2 };

#define LONG_MINUTES		60
#define LONG_MINUTES_MAX	1440

#endif
