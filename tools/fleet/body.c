/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body.c - a pprof profile as receivers take it: Pyroscope's push.v1.PusherService.Push and
 * Parca's ProfileStoreService.WriteRaw in JSON, Pyroscope's /ingest as a form. Pure.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "push.h"

/* Both give it to the kind of profile that pprof's types belong to. */
#define KIND		"process_cpu"
/* 64 bits by chance: a profile that has them would be refused, not misread. */
#define BOUNDARY	"hwpmc-pprof-7d1f3c5b9a8e4260"

#define NS		UINT64_C(1000000000)

int push_label_check(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return -1;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return -1;
	/* Receivers keep these for themselves. */
	return strncmp(name, "__", 2) == 0 || strcmp(name, "service_name") == 0 ? -1 : 0;
}

static FILE *open_text(char **text, size_t *len)
{
	FILE *f = open_memstream(text, len);

	if (!f)
		must_fail();
	return f;
}

static void close_text(FILE *f)
{
	if (fclose(f))
		must_fail();
}

static void put_base64(FILE *f, const uint8_t *at, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; len; at += 3, len -= len < 3 ? len : 3) {
		uint32_t bits = at[0] << 16 | (len > 1 ? at[1] << 8 : 0) |
				(len > 2 ? at[2] : 0);

		fputc(digits[bits >> 18], f);
		fputc(digits[bits >> 12 & 63], f);
		fputc(len > 1 ? digits[bits >> 6 & 63] : '=', f);
		fputc(len > 2 ? digits[bits & 63] : '=', f);
	}
}

static void put_label(FILE *f, const char *name, const char *value, const char *end)
{
	fputs("{\"name\":", f);
	fmt_json_string(f, name);
	fputs(",\"value\":", f);
	fmt_json_string(f, value);
	fprintf(f, "}%s", end);
}

static void put_labels(FILE *f, const struct push_profile *p)
{
	fputc('[', f);
	put_label(f, "__name__", KIND, ",");
	put_label(f, "service_name", p->service, p->nlabel ? "," : "");
	for (unsigned int i = 0; i < p->nlabel; i++)
		put_label(f, p->label[i].name, p->label[i].value,
			  i + 1 < p->nlabel ? "," : "");
	fputc(']', f);
}

static void json_body(const struct push_profile *p, bool parca, FILE *f)
{
	fputs("{\"series\":[{\"labels\":", f);
	if (parca)
		fputs("{\"labels\":", f);
	put_labels(f, p);
	if (parca)
		fputc('}', f);
	fputs(",\"samples\":[{\"rawProfile\":\"", f);
	put_base64(f, p->pprof, p->len);
	fputc('"', f);
	if (!parca) {
		fputs(",\"ID\":", f);
		fmt_json_string(f, p->id);
	}
	fputs("}]}]", f);
	/* Addresses are those of the files, not of a process. */
	if (parca)
		fputs(",\"normalized\":true", f);
	fputc('}', f);
}

/* As a part of a query: all but letters, digits and a few marks escaped. */
static void put_query(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			fputc(*text, f);
		else
			fprintf(f, "%%%02X", (unsigned char)*text);
	}
}

/* The name has the labels in braces; what divides them is not in their values. */
static char *ingest_name(const struct push_profile *p)
{
	char *text, *value;
	size_t len;
	FILE *f = open_text(&text, &len);

	fputs(p->service, f);
	fputc('{', f);
	for (unsigned int i = 0; i < p->nlabel; i++) {
		value = must_strdup(p->label[i].value);
		for (char *c = value; *c; c++)
			if (strchr("{},=\"", *c))
				*c = '_';
		fprintf(f, "%s%s=%s", i ? "," : "", p->label[i].name, value);
		free(value);
	}
	fputc('}', f);
	close_text(f);
	return text;
}

static void ingest_path(const struct push_profile *p, FILE *f)
{
	char *name = ingest_name(p);

	fputs("/ingest?format=pprof&name=", f);
	put_query(f, name);
	fprintf(f, "&from=%" PRIu64 "&until=%" PRIu64, p->first / NS, p->last / NS + 1);
	free(name);
}

static void ingest_body(const struct push_profile *p, FILE *f)
{
	fputs("--" BOUNDARY "\r\n"
	      "Content-Disposition: form-data; name=\"profile\"; filename=\"profile.pprof\"\r\n"
	      "Content-Type: application/octet-stream\r\n\r\n", f);
	fwrite(p->pprof, 1, p->len, f);
	fputs("\r\n--" BOUNDARY "--\r\n", f);
}

void push_body(enum push_protocol protocol, const struct push_profile *p,
	       struct push_body *body)
{
	size_t path_len;
	FILE *path, *data;

	*body = (struct push_body){ .type = "application/json" };
	path = open_text(&body->path, &path_len);
	data = open_text(&body->data, &body->len);
	switch (protocol) {
	case PUSH_PYROSCOPE:
		fputs("/push.v1.PusherService/Push", path);
		json_body(p, false, data);
		break;
	case PUSH_PARCA:
		fputs("/profiles/writeraw", path);
		json_body(p, true, data);
		break;
	case PUSH_INGEST:
		body->type = "multipart/form-data; boundary=" BOUNDARY;
		ingest_path(p, path);
		ingest_body(p, data);
		break;
	}
	close_text(path);
	close_text(data);
}

void push_body_free(struct push_body *body)
{
	free(body->path);
	free(body->data);
}
