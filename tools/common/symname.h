/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symname.h - names of functions on a terminal: without long template arguments, and cut in
 * the middle to the room that there is, since the ends of names differ more than the
 * beginnings.
 */
#ifndef TOOLS_SYMNAME_H
#define TOOLS_SYMNAME_H

#include <stdbool.h>
#include <stddef.h>

#define SYMNAME		1024
/* A line that has less room for a name is longer than its terminal. */
#define SYMNAME_LEAST	24

/* text, or in buf at most `room` characters of it; room 0: all. */
const char *symname_cut(char buf[SYMNAME], const char *text, unsigned int room);
/* The same of a function's name, shortened. */
const char *symname_show(char buf[SYMNAME], const char *name, unsigned int room);
/* Fills buf with text and blanks up to `width` characters; with `cut`, without the rest. */
char *symname_column(char *buf, size_t size, const char *text, unsigned int width, bool cut);
/* What is left of `columns` beside `used` others; 0 of 0. */
unsigned int symname_room(unsigned int columns, unsigned int used);

#endif
