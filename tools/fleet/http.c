/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.c - sends requests by libcurl, which is loaded when it is needed: it and what it
 * needs are some thirty libraries, and `hwpmc push` alone speaks HTTP.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "push.h"

#define CONNECT_SECONDS	10L
#define ANSWER_SECONDS	60L
#define HEADER_MAX	4096
#define HEADERS_MAX	32

#define FUNCTIONS(x)							\
	x(curl_easy_init) x(curl_easy_setopt) x(curl_easy_perform)	\
	x(curl_easy_getinfo) x(curl_easy_strerror) x(curl_easy_cleanup)	\
	x(curl_slist_append) x(curl_slist_free_all)

#define MEMBER(name)	typeof(name) *f_##name;
#define NAME(name)	#name,

static union {
	struct {
		FUNCTIONS(MEMBER)
	};
	void *function[sizeof((const char *[]){ FUNCTIONS(NAME) }) / sizeof(char *)];
} curl;

static const char *const names[] = { FUNCTIONS(NAME) };

/* Debian has it with OpenSSL, and with GnuTLS under another name. */
static const char *const libraries[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static int load(void)
{
	void *library = NULL;

	for (size_t i = 0; i < 2 && !library; i++)
		library = dlopen(libraries[i], RTLD_NOW);
	if (!library) {
		msg("cannot load libcurl (%s); install libcurl4",
		    dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		curl.function[i] = dlsym(library, names[i]);
		if (curl.function[i])
			continue;
		msg("libcurl has no %s(): install another version", names[i]);
		dlclose(library);
		return -1;
	}
	return 0;
}

struct http {
	const struct http_options *o;
	CURL *easy;
	struct curl_slist *headers;	/* of the file */
	char error[CURL_ERROR_SIZE];
	char text[300];			/* the beginning of what was answered */
	size_t len;
};

/* ---- what libcurl calls -------------------------------------------------- */

static size_t take_answer(char *data, size_t size, size_t n, void *arg)
{
	size_t bytes = size * n, room;
	struct http *h = arg;

	room = sizeof(h->text) - 1 - h->len;
	memcpy(h->text + h->len, data, bytes < room ? bytes : room);
	h->len += bytes < room ? bytes : room;
	return bytes;
}

/* Not 0: give up. */
static int watch_stop(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct http *h = arg;
	struct pollfd fd = { .fd = h->o->stop_fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* ---- opening ------------------------------------------------------------- */

static int add_header(struct http *h, const char *line)
{
	struct curl_slist *more = curl.f_curl_slist_append(h->headers, line);

	if (!more)
		must_fail();
	h->headers = more;
	return 0;
}

/* They hold passwords: no other user may read the file. */
static int check_secret(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & (S_IRWXO)))
		return 0;
	msg("'%s' contains secrets but is accessible to other users; run: chmod o= '%s'", path, path);
	return -1;
}

static int read_lines(struct http *h, FILE *f, const char *path)
{
	char line[HEADER_MAX];
	unsigned int n = 0;

	while (fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line, "\r\n");

		if (!line[len] && !feof(f)) {
			msg("a line in '%s' has more than %d characters", path, HEADER_MAX);
			return -1;
		}
		line[len] = 0;
		if (!len || *line == '#')
			continue;
		if (!strchr(line, ':') || ++n > HEADERS_MAX) {
			msg("invalid headers file '%s': expected up to %d lines 'Name: value'", path,
			    HEADERS_MAX);
			return -1;
		}
		add_header(h, line);
	}
	return 0;
}

static int read_headers(struct http *h, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = -1;
	FILE *f;

	if (fd < 0) {
		msg("cannot read '%s': %s", path, strerror(errno));
		return -1;
	}
	f = fdopen(fd, "r");
	if (!f)
		must_fail();
	if (check_secret(fd, path) == 0)
		err = read_lines(h, f, path);
	fclose(f);
	return err;
}

static int set_options(struct http *h)
{
	CURLcode bad = 0;

#define SET(option, value)						\
	(bad = bad ? bad : curl.f_curl_easy_setopt(h->easy, CURLOPT_##option, value))
	SET(ERRORBUFFER, h->error);
	SET(NOSIGNAL, 1L);
	/* No other protocol, and no other address than the one that was named. */
	SET(PROTOCOLS_STR, "http,https");
	SET(FOLLOWLOCATION, 0L);
	SET(CONNECTTIMEOUT, CONNECT_SECONDS);
	SET(TIMEOUT, ANSWER_SECONDS);
	SET(USERAGENT, "hwpmc/" VERSION);
	SET(WRITEFUNCTION, take_answer);
	SET(WRITEDATA, h);
	SET(XFERINFOFUNCTION, watch_stop);
	SET(XFERINFODATA, h);
	SET(NOPROGRESS, h->o->stop_fd < 0 ? 1L : 0L);
	if (h->o->ca)
		SET(CAINFO, h->o->ca);
#undef SET
	if (!bad)
		return 0;
	msg("libcurl rejected an option: %s; install a later version",
	    curl.f_curl_easy_strerror(bad));
	return -1;
}

struct http *http_open(const struct http_options *options)
{
	struct http *h;

	if (load() < 0)
		return NULL;
	h = must_calloc(1, sizeof(*h));
	h->o = options;
	h->easy = curl.f_curl_easy_init();
	if (!h->easy)
		must_fail();
	if (set_options(h) == 0 &&
	    (!options->headers || read_headers(h, options->headers) == 0))
		return h;
	http_close(h);
	return NULL;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	curl.f_curl_slist_free_all(h->headers);
	curl.f_curl_easy_cleanup(h->easy);
	free(h);
}

/* ---- a request ----------------------------------------------------------- */

/* Those of the file, and what the body is. "Expect:": do not ask before the body. */
static struct curl_slist *request_headers(const struct http *h, const char *type)
{
	struct curl_slist *list = NULL, *l;
	char line[200];

	snprintf(line, sizeof(line), "Content-Type: %s", type);
	list = curl.f_curl_slist_append(list, line);
	list = list ? curl.f_curl_slist_append(list, "Expect:") : NULL;
	for (l = h->headers; l && list; l = l->next)
		if (!curl.f_curl_slist_append(list, l->data))
			list = NULL;
	if (!list)
		must_fail();
	return list;
}

static void read_answer(struct http *h, CURLcode err, struct http_answer *a)
{
	curl_off_t wait = 0;

	if (err) {
		snprintf(a->why, sizeof(a->why), "%s",
			 *h->error ? h->error : curl.f_curl_easy_strerror(err));
		a->status = 0;
	} else {
		curl.f_curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &a->status);
		curl.f_curl_easy_getinfo(h->easy, CURLINFO_RETRY_AFTER, &wait);
		a->retry_after = wait > 0 && wait < 86400 ? wait : 0;
		h->text[h->len] = 0;
		snprintf(a->why, sizeof(a->why), "HTTP status %ld%s%s", a->status,
			 h->len ? ": " : "", h->text);
	}
	/* One line, whatever the other side says. */
	fmt_plain(a->why);
}

void http_post(struct http *h, const struct push_body *body, struct http_answer *answer)
{
	struct curl_slist *headers = request_headers(h, body->type);
	size_t len = strlen(h->o->url);
	char *url = must_calloc(len + strlen(body->path) + 1, 1);
	CURLcode err;

	*answer = (struct http_answer){ .status = 0 };
	h->len = 0;
	*h->error = 0;
	memcpy(url, h->o->url, len);
	while (len && url[len - 1] == '/')
		len--;
	strcpy(url + len, body->path);
	curl.f_curl_easy_setopt(h->easy, CURLOPT_URL, url);
	curl.f_curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
	curl.f_curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, body->data);
	curl.f_curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	err = curl.f_curl_easy_perform(h->easy);
	read_answer(h, err, answer);
	curl.f_curl_slist_free_all(headers);
	free(url);
}
