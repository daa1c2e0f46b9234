/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.c - "hwpmc top" on a terminal, by ncurses: the list, the callers of a
 * function, help; and the keys. The terminal is restored however the program ends.
 */
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/symname.h"
#include "top.h"
#include "view/tree.h"

enum page { PAGE_LIST, PAGE_CALLERS, PAGE_HELP };
enum { COLOUR_HOT = 1, COLOUR_WARM };

#define GAPS_MOST	3	/* rows of the head */
#define KEY_ESC		27

static struct {
	bool open;
	enum page page;
	int head;			/* rows above the list */
	bool typing;			/* the filter */
	char typed[64];
	uint32_t at, first;		/* line chosen; line on top */
	char *callee, *image;		/* PAGE_CALLERS: whose; symbols end with
					 * the round */
	char note[80];			/* instead of the keys, once */
} screen;

static const char *const help[] = {
	"q            quit",
	"p, space     pause: keep the screen and take no samples; again: continue",
	"s            sort by function, image, process, comm, thread or kind of core",
	"e            show the next event",
	"z            show all samples from now on, or those of the last round",
	"/            show only names that contain a text; Enter or Esc ends input",
	"up, down     select a line; so do Page Up, Page Down, Home, End",
	"Enter        show the callers of the function (needs -g); again: back",
	"h            show this page; any key but q: back",
	"",
	"A sample is shown where the interrupt hit. Percentages are relative to the",
	"samples of the event in the round. Samples without a known function or image",
	"are shown as [unknown]. Names are doubtful if their file may not be the file",
	"that ran: see hwpmc-report(1), IDENTITY OF FILES.",
};

/* ---- drawing ------------------------------------------------------------- */

static int list_rows(void)
{
	int n = LINES - screen.head - 1;

	return n > 0 ? n : 0;
}

static void put_row(int row, const char *text)
{
	mvaddnstr(row, 0, text, COLS);
	clrtoeol();
}

static void draw_head(struct top *t)
{
	const struct hwpmc_profile_event *ev;
	char text[1024], columns[256], rate[LOGOPTS_RATE];
	uint32_t n;

	t->columns = COLS;
	ev = top_event(t, &n);
	snprintf(text, sizeof(text), "hwpmc top: %s (%u of %u), %s, round %"
		 PRIu64 " of %.1f s%s%s%s", ev ? ev->name : "no event yet", n ? t->event + 1 : 0, n,
		 ev ? logopts_rate(ev, rate) : "no sample yet", t->round, t->interval_ns / 1e9,
		 t->accumulate ? ", all since then" : "",
		 t->paused ? "  [paused]" : "", t->over ? "  [ended]" : "");
	put_row(0, fmt_plain(text));
	top_sums_text(t, text, sizeof(text));
	if (!t->round)
		snprintf(text, sizeof(text), "sampling; the first round is shown after %.1f s",
			 t->interval_ns / 1e9);
	put_row(1, text);
	for (n = 0; n < GAPS_MOST && t->round && top_gap_text(t, n, text, sizeof(text)); n++)
		put_row(2 + n, text);
	screen.head = 3 + n;
	if (screen.page == PAGE_CALLERS)
		snprintf(columns, sizeof(columns), "%s, and its callers below",
			 screen.callee);
	else
		top_columns_text(t, columns, sizeof(columns));
	if (screen.page == PAGE_HELP)
		snprintf(text, sizeof(text), "%-*s", COLS, "key");
	else
		snprintf(text, sizeof(text), " percent    %7s  %-*s",
			 ev ? logopts_unit(ev) : "samples", COLS, columns);
	attron(A_REVERSE);
	put_row(screen.head - 1, fmt_plain(text));
	attroff(A_REVERSE);
}

static int percent_heat(double percent)
{
	return percent >= 10 ? COLOR_PAIR(COLOUR_HOT) :
	       percent >= 1 ? COLOR_PAIR(COLOUR_WARM) : 0;
}

static void draw_line(const struct top *t, int row, uint32_t i)
{
	const struct top_line *l = &t->line[i];
	double percent = top_percent(t, l->count);
	int style = percent_heat(percent) | (i == screen.at ? A_REVERSE : 0);
	char text[1024], names[900];

	top_line_text(t, l, names, sizeof(names));
	snprintf(text, sizeof(text), "%7.2f%% %10" PRIu64 "  %s", percent,
		 l->count, names);
	attron(style);
	put_row(row, text);
	attroff(style);
}

/* The chosen line stays on the screen. */
static void scroll_to(uint32_t n)
{
	uint32_t height = list_rows();

	if (screen.at >= n)
		screen.at = n ? n - 1 : 0;
	if (screen.at < screen.first)
		screen.first = screen.at;
	if (height && screen.at >= screen.first + height)
		screen.first = screen.at - height + 1;
}

static void draw_list(const struct top *t)
{
	scroll_to(t->nline);
	for (int row = 0; row < list_rows(); row++) {
		uint32_t i = screen.first + row;

		if (i < t->nline)
			draw_line(t, screen.head + row, i);
		else
			put_row(screen.head + row, "");
	}
}

static void draw_help(void)
{
	for (int row = 0; row < list_rows(); row++)
		put_row(screen.head + row, row < sizeof(help) / sizeof(*help) ?
			help[row] : "");
}

static void draw_keys(void)
{
	char text[256];

	if (screen.typing)
		snprintf(text, sizeof(text), "names that contain: %s_", screen.typed);
	else if (*screen.note)
		snprintf(text, sizeof(text), "%s", screen.note);
	else
		snprintf(text, sizeof(text), "%s", screen.page == PAGE_LIST ?
			 "q end  p pause  s sort  e event  z all  / filter  Enter callers  h help" :
			 "q end  Esc back");
	*screen.note = '\0';
	put_row(LINES - 1, text);
}

/* ---- callers ------------------------------------------------------------- */

static bool is_callee(const struct hwpmc_frame *f)
{
	return strcmp(f->symbol->name, screen.callee) == 0 &&
	       strcmp(f->image->path, screen.image) == 0;
}

/* From the innermost call of the function outwards. */
static void add_callers(struct view_tree *tree, const struct hwpmc_stack *s)
{
	for (uint32_t i = 0; i < s->nframe; i++) {
		struct hwpmc_stack part = *s;

		if (!is_callee(s->frame[i]))
			continue;
		part.frame += i;
		part.nframe -= i;
		view_tree_add(tree, &part, s->count);
		return;
	}
}

struct drawing {
	const struct top *t;
	uint32_t line;			/* of the tree, the next */
	uint64_t all;
};

static void draw_node(struct drawing *d, const struct view_node *n,
		      unsigned int depth)
{
	int row = d->line++ - screen.first;
	double percent = d->all ? 100.0 * n->count / d->all : 0;

	if (row >= 0 && row < list_rows()) {
		const char *image = n->symbol->image->name;
		unsigned int used = 21 + 2 * depth + 2 + strlen(image);
		char text[2048], name[SYMNAME];

		snprintf(text, sizeof(text), "%7.2f%% %10" PRIu64 "  %*s%s  %s",
			 percent, n->count, 2 * depth, "",
			 symname_show(name, n->symbol->name, symname_room(COLS, used)), image);
		attron(percent_heat(percent));
		put_row(screen.head + row, fmt_plain(text));
		attroff(percent_heat(percent));
	}
	for (const struct view_node *c = n->child; c; c = c->next)
		draw_node(d, c, depth + 1);
}

static void draw_callers(const struct top *t)
{
	struct view_tree tree = { .callees = false };
	struct drawing d = { .t = t };
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(t->profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (stack[i].event == t->event)
			add_callers(&tree, &stack[i]);
	view_tree_sort(&tree);
	d.all = tree.root.count;
	if (screen.first >= tree.nnode)
		screen.first = tree.nnode ? tree.nnode - 1 : 0;
	for (const struct view_node *c = tree.root.child; c; c = c->next)
		draw_node(&d, c, 0);
	for (int row = d.line - screen.first; row < list_rows(); row++)
		put_row(screen.head + (row < 0 ? 0 : row), "");
	view_tree_clear(&tree);
}

void top_screen_draw(struct top *t)
{
	draw_head(t);
	if (screen.page == PAGE_HELP)
		draw_help();
	else if (screen.page == PAGE_CALLERS)
		draw_callers(t);
	else
		draw_list(t);
	draw_keys();
	refresh();
}

/* ---- keys ---------------------------------------------------------------- */

static void type_key(struct top *t, int key)
{
	size_t n = strlen(screen.typed);

	if (key == '\n' || key == KEY_ENTER || key == KEY_ESC) {
		screen.typing = false;
		if (key == KEY_ESC)
			*screen.typed = '\0';
		strcpy(t->filter, screen.typed);
		top_make_lines(t);
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		if (n)
			screen.typed[n - 1] = '\0';
	} else if (key >= ' ' && key < 256 && n + 1 < sizeof(screen.typed)) {
		screen.typed[n] = key;
		screen.typed[n + 1] = '\0';
	}
}

static void open_callers(const struct top *t)
{
	if (t->key != TOP_SYMBOL)
		strcpy(screen.note, "only functions have callers: press s to sort by function");
	else if (!(t->sampler.flags & HWPMC_F_CALLCHAIN))
		strcpy(screen.note, "callers are unknown: start hwpmc top with -g");
	else if (screen.at < t->nline) {
		const struct hwpmc_frame *f = t->line[screen.at].stack->frame[0];

		free(screen.callee);
		free(screen.image);
		screen.callee = must_strdup(f->symbol->name);
		screen.image = must_strdup(f->image->path);
		screen.page = PAGE_CALLERS;
		screen.first = 0;
	}
}

static void move_key(int key)
{
	uint32_t page = list_rows() ? list_rows() : 1;
	uint32_t *at = screen.page == PAGE_LIST ? &screen.at : &screen.first;

	switch (key) {
	case KEY_DOWN:
		++*at;
		break;
	case KEY_UP:
		*at -= *at > 0;
		break;
	case KEY_NPAGE:
		*at += page;
		break;
	case KEY_PPAGE:
		*at -= *at < page ? *at : page;
		break;
	case KEY_HOME:
		*at = 0;
		break;
	case KEY_END:
		if (screen.page == PAGE_LIST)
			*at = 1u << 30;
		break;
	}
}

static void pause_key(struct top *t)
{
	t->paused = !t->paused;
	if (!t->paused)
		t->skipped = 0;
}

/* Where all cores are of one kind, a line for each kind tells nothing. */
static enum top_key next_key(const struct top *t)
{
	enum top_key key = (t->key + 1) % TOP_KEYS;

	return key == TOP_KIND && !top_has_kinds(t) ? (key + 1) % TOP_KEYS : key;
}

static void list_key(struct top *t, int key)
{
	uint32_t n;

	switch (key) {
	case 's':
		t->key = next_key(t);
		screen.at = 0;
		top_make_lines(t);
		break;
	case 'e':
		top_event(t, &n);
		t->event = n ? (t->event + 1) % n : 0;
		screen.at = 0;
		top_make_lines(t);
		break;
	case 'z':
		t->accumulate = !t->accumulate;
		break;
	case '/':
		screen.typing = true;
		strcpy(screen.typed, t->filter);
		break;
	case '\n':
	case KEY_ENTER:
		open_callers(t);
		break;
	case 'h':
	case '?':
		screen.page = PAGE_HELP;
		break;
	default:
		move_key(key);
		break;
	}
}

/* true: the end. */
static bool take_key(struct top *t, int key)
{
	if (screen.typing)
		type_key(t, key);
	else if (key == 'q' || key == 'Q')
		return true;
	else if (screen.page == PAGE_HELP)
		screen.page = PAGE_LIST;
	else if (key == 'p' || key == ' ')
		pause_key(t);
	else if (screen.page == PAGE_LIST)
		list_key(t, key);
	else if (key == '\n' || key == KEY_ENTER || key == KEY_ESC) {
		screen.page = PAGE_LIST;
		screen.first = 0;
	} else {
		move_key(key);
	}
	return false;
}

bool top_screen_keys(struct top *t)
{
	bool any = false;
	int key;

	while ((key = getch()) != ERR) {
		any = true;
		if (take_key(t, key))
			return true;
	}
	if (any)
		top_screen_draw(t);
	return false;
}

/* ---- the terminal -------------------------------------------------------- */

void top_screen_close(void)
{
	if (screen.open)
		endwin();
	screen.open = false;
}

int top_screen_open(struct top *t)
{
	const char *term = getenv("TERM");
	SCREEN *s = newterm(NULL, stdout, stdin);

	if (!s) {
		msg("cannot use a terminal of type '%s': use --batch",
		    term ? term : "");
		return -1;
	}
	set_term(s);
	screen.open = true;
	screen.head = 3;
	atexit(top_screen_close);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(25);
	nodelay(stdscr, TRUE);
	curs_set(0);
	if (has_colors() && !getenv("NO_COLOR")) {
		start_color();
		use_default_colors();
		init_pair(COLOUR_HOT, COLOR_RED, -1);
		init_pair(COLOUR_WARM, COLOR_GREEN, -1);
	}
	top_screen_draw(t);
	return 0;
}
