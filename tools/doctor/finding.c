/* SPDX-License-Identifier: BSD-2-Clause */
/* finding.c - what was found: the list, as text and as JSON. */
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/fmt.h"
#include "doctor.h"

static void add_finding(struct doctor *d, enum dr_verdict verdict, const char *name,
			const char *command, const char *fmt, va_list ap)
{
	struct dr_finding *f = &d->finding[d->nfinding];

	if (d->nfinding == DR_FINDINGS)
		return;
	d->nfinding++;
	f->verdict = verdict;
	f->name = name;
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	snprintf(f->command, sizeof(f->command), "%s", command ? command : "");
	/* Names of files, kernels and machines are others' text. */
	fmt_plain(f->text);
	fmt_plain(f->command);
}

#define ADD(verdict, command)						\
	do {								\
		va_list ap;						\
									\
		va_start(ap, fmt);					\
		add_finding(d, verdict, name, command, fmt, ap);	\
		va_end(ap);						\
	} while (0)

void dr_ok(struct doctor *d, const char *name, const char *fmt, ...)
{
	ADD(DR_OK, NULL);
}

void dr_note(struct doctor *d, const char *name, const char *command, const char *fmt, ...)
{
	ADD(DR_NOTE, command);
}

void dr_wrong(struct doctor *d, const char *name, const char *command, const char *fmt, ...)
{
	ADD(DR_WRONG, command);
}

void dr_report(struct doctor *d, enum dr_verdict verdict, const char *name,
	       const char *command, const char *fmt, ...)
{
	ADD(verdict, command);
}

unsigned int dr_count(const struct doctor *d, enum dr_verdict verdict)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < d->nfinding; i++)
		n += d->finding[i].verdict == verdict;
	return n;
}

bool dr_is_wrong(const struct doctor *d, const char *name)
{
	for (unsigned int i = 0; i < d->nfinding; i++)
		if (d->finding[i].verdict == DR_WRONG && !strcmp(d->finding[i].name, name))
			return true;
	return false;
}

#define INDENT		20		/* of what was found */

/* Of a terminal that has room; 0: a line for each, however long. */
static unsigned int columns_of_stdout(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
	    size.ws_col < 2 * INDENT)
		return 0;
	return size.ws_col;
}

/* At blanks; a word that is longer than a line is left whole. */
static void put_wrapped(const char *text, unsigned int columns)
{
	size_t left = strlen(text), room = columns - INDENT;

	while (columns && left > room) {
		size_t n = room;

		while (n && text[n] != ' ')
			n--;
		if (!n)
			n = strcspn(text, " ");
		if (n == left)
			break;
		printf("%.*s\n%*s", (int)n, text, INDENT, "");
		text += n + 1;
		left -= n + 1;
	}
	puts(text);
}

void dr_print_text(const struct doctor *d)
{
	static const char *const verdicts[] = {
		[DR_OK] = "ok", [DR_NOTE] = "note", [DR_WRONG] = "WRONG",
	};
	unsigned int wrong = dr_count(d, DR_WRONG), columns = columns_of_stdout();

	for (unsigned int i = 0; i < d->nfinding; i++) {
		const struct dr_finding *f = &d->finding[i];

		printf("%-5s  %-11s  ", verdicts[f->verdict], f->name);
		put_wrapped(f->text, columns);
		if (f->command[0])
			printf("%-5s  %-11s  to do: %s\n", "", "", f->command);
	}
	if (wrong == 1 && dr_is_wrong(d, "pmu"))
		puts("\nhwpmc cannot count hardware events here; events of the kernel can be counted and "
		     "sampled, such as: hwpmc stat -e page-faults, hwpmc record -e clock.prof");
	else if (wrong)
		printf("\nhwpmc cannot count here: fix the %u problem%s above\n", wrong,
		       wrong == 1 ? "" : "s");
	else
		puts("\nhwpmc can count here");
}

void dr_print_json(const struct doctor *d)
{
	static const char *const verdicts[] = {
		[DR_OK] = "ok", [DR_NOTE] = "note", [DR_WRONG] = "wrong",
	};

	fputs("{\"version\":\"" VERSION "\",\"kernel\":", stdout);
	fmt_json_string(stdout, d->release);
	fputs(",\"hypervisor\":", stdout);
	if (d->cloud)
		fmt_json_string(stdout, d->cloud->name);
	else
		fputs("null", stdout);
	printf(",\"can_count\":%s,\"findings\":[", dr_count(d, DR_WRONG) ? "false" : "true");
	for (unsigned int i = 0; i < d->nfinding; i++) {
		const struct dr_finding *f = &d->finding[i];

		printf("%s\n{\"name\":\"%s\",\"verdict\":\"%s\",\"text\":", i ? "," : "",
		       f->name, verdicts[f->verdict]);
		fmt_json_string(stdout, f->text);
		fputs(",\"command\":", stdout);
		if (f->command[0])
			fmt_json_string(stdout, f->command);
		else
			fputs("null", stdout);
		putchar('}');
	}
	puts("\n]}");
}
