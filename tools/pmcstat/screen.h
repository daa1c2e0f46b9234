/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h - a terminal as a page: what does not fit is not shown, but that
 * there is more. The only file that knows ncurses is screen.c.
 */
#ifndef TOOLS_PMCSTAT_SCREEN_H
#define TOOLS_PMCSTAT_SCREEN_H

#include <stdio.h>

/* -1: the terminal cannot do it, and is as it was. */
int screen_open(FILE *out);
void screen_close(void);
/* Replace what is shown. */
void screen_show(const char *text);
/* The next key that was pressed; 0: none; -1: the terminal is gone. */
int screen_key(void);

#endif
