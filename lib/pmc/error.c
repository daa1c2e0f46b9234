/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.c - the last failure of each handle in each thread, as a sentence.
 * Any thread. A record is found by the address of a variable of its thread; as
 * addresses return after a thread's end, a serial number tells a new thread's
 * (empty) record from an old one's, and the records of a handle are never more
 * than the threads that lived at one time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Failures of hwpmc_open(), which leave no handle to keep them. */
static _Thread_local struct error_record openings;

static const void *this_thread(void)
{
	return &openings;
}

uint64_t thread_serial(void)
{
	static _Atomic uint64_t last;
	static _Thread_local uint64_t mine;

	if (!mine)
		mine = atomic_fetch_add(&last, 1) + 1;
	return mine;
}

static struct error_record *record_find(struct hwpmc *h)
{
	struct error_record *r;

	if (!h)
		return &openings;
	for (r = atomic_load(&h->errors); r; r = r->next)
		if (r->thread == this_thread())
			return r;
	return NULL;
}

static struct error_record *record_add(struct hwpmc *h)
{
	struct error_record *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->thread = this_thread();
	r->next = atomic_load(&h->errors);
	while (!atomic_compare_exchange_weak(&h->errors, &r->next, r))
		;
	return r;
}

static int record_set(struct hwpmc *h, int err, const struct hwpmc_hdr *hdr,
		      const char *text)
{
	struct error_record *r = record_find(h);

	if (!r)
		r = record_add(h);
	if (r) {
		r->serial = thread_serial();
		r->reason = hdr->reason;
		r->detail = hdr->detail;
		snprintf(r->text, sizeof(r->text), "%s", text);
	}
	errno = err;
	return -1;
}

/* Only what this thread wrote itself. */
static const struct error_record *record_own(struct hwpmc *h)
{
	const struct error_record *r = record_find(h);

	return r && r->serial == thread_serial() ? r : NULL;
}

EXPORT const char *hwpmc_error(struct hwpmc *h)
{
	const struct error_record *r = record_own(h);

	return r ? r->text : "";
}

EXPORT enum hwpmc_reason hwpmc_reason(struct hwpmc *h)
{
	const struct error_record *r = record_own(h);

	return r ? r->reason : HWPMC_WHY_NONE;
}

EXPORT int32_t hwpmc_detail(struct hwpmc *h)
{
	const struct error_record *r = record_own(h);

	return r ? r->detail : 0;
}

/* ------------------------------------------------------------------------ */

int status_number(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t len = strlen(name);
	char line[200];
	int number = -1;

	while (f && number < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			number = atoi(line + len + 1);
	if (f)
		fclose(f);
	return number;
}

bool error_is_filtered(void)
{
	return status_number("Seccomp") == 2;
}

static void why_text(const struct hwpmc *h, int err, const struct hwpmc_hdr *hdr, char *buf,
		     size_t size)
{
	char who[128], remedy[128];

	if (hdr->reason == HWPMC_WHY_NONE && err == ENXIO && h && handle_has_names_only(h)) {
		snprintf(buf, size, ERROR_NAMES_ONLY);
		return;
	}
	if (hdr->reason == HWPMC_WHY_NONE && (err == EPERM || err == ENOSYS) &&
	    error_is_filtered()) {
		snprintf(buf, size, "%s", ERROR_FILTERED);
		return;
	}
	if (hdr->reason == HWPMC_WHY_NONE) {
		snprintf(buf, size, "%s", strerror(err));
		return;
	}
	if (reason_names_holder(hdr->reason))
		holder_find(who, sizeof(who), remedy, sizeof(remedy));
	else
		who[0] = remedy[0] = '\0';
	reason_sentence(hdr->reason, hdr->detail, who, remedy, buf, size);
}

/* "; RAPL: the hypervisor gives ..." behind a refusal of a class that is missing. */
static void add_class_note(const struct hwpmc *h, const struct hwpmc_hdr *hdr, char *buf,
			   size_t size)
{
	size_t len = strlen(buf);
	char text[200];

	if (!h || hdr->reason != HWPMC_WHY_CLASS)
		return;
	for (uint32_t i = 0; i < h->info.nnotes && i < HWPMC_NOTES_MAX; i++) {
		if (h->info.notes[i].class != (uint32_t)hdr->detail)
			continue;
		hwpmc_note_text(&h->info.notes[i], text, sizeof(text));
		snprintf(buf + len, size - len, "; %s: %s",
			 hwpmc_name_of_class(h->info.notes[i].class), text);
		return;
	}
}

int error_from_call(struct hwpmc *h, const struct hwpmc_hdr *hdr,
		    const char *doing)
{
	char why[ERROR_TEXT / 2], text[ERROR_TEXT];
	int err = errno;

	why_text(h, err, hdr, why, sizeof(why));
	add_class_note(h, hdr, why, sizeof(why));
	snprintf(text, sizeof(text), "cannot %.*s: %s", ERROR_TEXT / 2 - 16,
		 doing, why);
	return record_set(h, err, hdr, text);
}

int error_as(struct hwpmc *h, int err, const struct hwpmc_hdr *hdr, const char *sentence)
{
	return record_set(h, err, hdr, sentence);
}

bool null_given(struct hwpmc *h, bool missing, const char *call)
{
	if (missing)
		error_own(h, EINVAL, what("%s: a required pointer is null", call).text);
	return missing;
}

int error_own(struct hwpmc *h, int err, const char *sentence)
{
	static const struct hwpmc_hdr none;

	return record_set(h, err, &none, sentence);
}
