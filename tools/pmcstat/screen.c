/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.c - a terminal by ncurses. One thread, one screen. */
#include <curses.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

static SCREEN *screen;

int screen_open(FILE *out)
{
	/* Names are in the locale's characters. */
	setlocale(LC_CTYPE, "");
	screen = newterm(NULL, out, stdin);
	if (!screen)
		return -1;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	return 0;
}

void screen_close(void)
{
	endwin();
	delscreen(screen);
	screen = NULL;
}

static void show_more(const char *text)
{
	int n = 0;

	for (const char *s = text; *s; s++)
		n += *s == '\n';
	mvprintw(LINES - 1, 0, "(%d lines more)", n);
}

void screen_show(const char *text)
{
	const char *last = text;
	int y;

	erase();
	for (y = 0; y < LINES && *text; y++) {
		size_t len = strcspn(text, "\n");

		mvaddnstr(y, 0, text, len < (size_t)COLS ? (int)len : COLS);
		last = text;
		text += len + (text[len] == '\n');
	}
	if (*text) {
		move(LINES - 1, 0);
		clrtoeol();
		show_more(last);
	}
	refresh();
}

int screen_key(void)
{
	int n = 0, c = getch();

	if (c != ERR)
		return c;
	return ioctl(STDIN_FILENO, FIONREAD, &n) < 0 ? -1 : 0;
}
