/* SPDX-License-Identifier: BSD-2-Clause */
/* prom.c - writes Prometheus's text format; see prom.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/output.h"
#include "prom.h"

int prom_begin(struct prom *p, const char *path)
{
	*p = (struct prom){ .path = path };
	if (strcmp(path, "-") == 0) {
		p->f = stdout;
		return 0;
	}
	/* The collector reads *.prom only. */
	if (asprintf(&p->next, "%s.new", path) < 0)
		must_fail();
	p->f = output_fopen(p->next);
	if (p->f)
		return 0;
	free(p->next);
	return -1;
}

static int end_file(struct prom *p)
{
	bool bad = ferror(p->f);

	if (fclose(p->f) || bad)
		return -1;
	return rename(p->next, p->path);
}

int prom_end(struct prom *p)
{
	int err, reason;

	if (!p->next)
		return fflush(p->f) ? -1 : 0;
	err = end_file(p);
	reason = errno;
	if (err)
		unlink(p->next);
	free(p->next);
	errno = reason;
	return err;
}

void prom_metric(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prom_value(FILE *f, const char *text)
{
	struct { char *text; size_t len; } clean = { NULL, 0 };
	FILE *to = open_memstream(&clean.text, &clean.len);

	if (!to)
		must_fail();
	fmt_utf8(to, text);
	if (fclose(to))
		must_fail();
	fputc('"', f);
	for (const char *c = clean.text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', f);
		fputc(*c, f);
	}
	fputc('"', f);
	free(clean.text);
}

void prom_logdir(FILE *f, struct logdir *s)
{
	uint64_t waiting, bytes;
	struct logdir_account a;

	if (logdir_read(s, &a, &waiting, &bytes) < 0)
		return;
	prom_metric(f, "hwpmc_recordings_total", "counter",
		    "Recordings that hwpmc record --every has started.");
	fprintf(f, "hwpmc_recordings_total %" PRIu64 "\n", a.n[LOGDIR_BEGUN]);
	prom_metric(f, "hwpmc_logs_total", "counter",
		    "Logs that have left the directory, by outcome.");
	for (int i = LOGDIR_FAILED; i <= LOGDIR_DROPPED; i++)
		fprintf(f, "hwpmc_logs_total{outcome=\"%s\"} %" PRIu64 "\n",
			logdir_key_names[i], a.n[i]);
	prom_metric(f, "hwpmc_logs_dropped_bytes_total", "counter",
		    "Size of logs that were dropped because of --keep.");
	fprintf(f, "hwpmc_logs_dropped_bytes_total %" PRIu64 "\n", a.n[LOGDIR_DROPPED_BYTES]);
	prom_metric(f, "hwpmc_logs_waiting", "gauge", "Logs in the directory.");
	fprintf(f, "hwpmc_logs_waiting %" PRIu64 "\n", waiting);
	prom_metric(f, "hwpmc_logs_waiting_bytes", "gauge", "Size of the logs in the directory.");
	fprintf(f, "hwpmc_logs_waiting_bytes %" PRIu64 "\n", bytes);
}
