/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kcache.c - the code symbols of the kernel that runs, kept in the caller's cache: the kernel
 * takes 200 million instructions to print kallsyms. They are used as long as everything that
 * they depend on is the same: the boot, the modules with their addresses and build-ids, and what
 * the caller may see, by the first lines of kallsyms as they are now.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unwind/cachedir.h"
#include "stat.h"

#define FILE_NAME	"kallsyms"
#define FORM		1		/* changes with struct head and struct ksym */
#define HEAD_OF_FILE	2048		/* bytes of kallsyms that are compared */
#define KEY_MAX		(256u << 10)
#define FILE_MAX	(64u << 20)

struct head {
	char magic[8];
	uint32_t form, key, kernel, modules;	/* bytes of the key, numbers of symbols */
	uint64_t text;				/* bytes */
	uint64_t stext, etext;
	uint64_t sum;				/* of all before and behind it */
};

/* ---- what the symbols depend on --------------------------------------------- */

/* Up to size - 1 bytes, and a zero. -1: it cannot be read. */
static ssize_t read_start(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = 0, n = -1;

	while (fd >= 0 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	if (fd >= 0)
		close(fd);
	buf[len] = 0;
	return n < 0 ? -1 : len;
}

/* Hidden addresses are all zero. */
static bool shows_addresses(const char *text)
{
	for (const char *at = text; at && *at; at = strchr(at, '\n') ?: "", at += *at == '\n')
		if (strtoull(at, NULL, 16))
			return true;
	return false;
}

/* A module that is replaced by another build may get the same address. */
static bool put_build_id(FILE *f, const char *module)
{
	char path[128], note[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/module/%.60s/notes/.note.gnu.build-id", module);
	n = read_start(path, note, sizeof(note));
	if (n <= 0 || n == sizeof(note) - 1)
		return false;
	fwrite(note, 1, n, f);
	return true;
}

/* Where one comes or goes meanwhile there is no key: its symbols may be there or not. */
static bool put_modules(FILE *f, const char *modules)
{
	char name[64], state[16];
	unsigned long size;
	uint64_t addr;

	for (const char *at = modules; *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : "") {
		if (sscanf(at, "%63s %lu %*s %*s %15s %lx", name, &size, state, &addr) != 4 ||
		    strcmp(state, "Live") != 0)
			return false;
		fprintf(f, "%s %lu %lx\n", name, size, addr);
		if (!put_build_id(f, name))
			return false;
	}
	return true;
}

static bool put_key(FILE *f, char *text)
{
	if (read_start("/proc/sys/kernel/random/boot_id", text, KEY_MAX) <= 0)
		return false;
	fputs(text, f);
	if (read_start("/proc/kallsyms", text, HEAD_OF_FILE) <= 0 || !shows_addresses(text))
		return false;
	fputs(text, f);
	return read_start("/proc/modules", text, KEY_MAX) >= 0 && put_modules(f, text);
}

char *kcache_key(size_t *len)
{
	char *text = malloc(KEY_MAX), *key = NULL;
	FILE *f = text ? open_memstream(&key, len) : NULL;
	bool whole = f && put_key(f, text);

	if (f && fclose(f))
		whole = false;
	free(text);
	if (whole && *len < KEY_MAX)
		return key;
	free(key);
	return NULL;
}

/* ---- the file ------------------------------------------------------------------ */

/* Four products at a time: it is there to find damage, and is computed at each use. */
static uint64_t sum_of(const char *at, size_t len)
{
	uint64_t sum[4] = { len, 1, 2, 3 }, x[4];

	for (; len >= sizeof(x); len -= sizeof(x), at += sizeof(x)) {
		memcpy(x, at, sizeof(x));
		for (unsigned int i = 0; i < 4; i++)
			sum[i] = (sum[i] ^ x[i] ^ sum[i] >> 29) * 0x9e3779b97f4a7c15ull;
	}
	memset(x, 0, sizeof(x));
	memcpy(x, at, len);
	for (unsigned int i = 0; i < 4; i++)
		sum[i] = (sum[i] ^ x[i] ^ sum[i] >> 29) * 0x9e3779b97f4a7c15ull;
	return sum[0] ^ sum[1] >> 7 ^ sum[2] >> 13 ^ sum[3] >> 23;
}

static uint64_t sum_of_file(const struct head *h, const char *data, size_t len)
{
	return sum_of((const char *)h, offsetof(struct head, sum)) + sum_of(data, len);
}

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t bytes_of(const struct head *h)
{
	return padded(h->key) + ((size_t)h->kernel + h->modules) * sizeof(struct ksym) + h->text;
}

/* Nobody else could have written it. */
static bool is_own(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_right(const struct head *h, const struct stat *st, size_t key)
{
	return !memcmp(h->magic, "hwpmcsym", 8) && h->form == FORM && h->key == key &&
	       st->st_size <= FILE_MAX && h->text && h->text <= FILE_MAX &&
	       (uint64_t)st->st_size == sizeof(*h) + bytes_of(h);
}

static bool are_names_inside(const struct ksym *s, size_t n, size_t text)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].name >= text || s[i].module >= text)
			return false;
	return true;
}

static bool take(struct kallsyms *k, const struct head *h, char *data, const char *key)
{
	struct ksym *symbol = (void *)(data + padded(h->key));
	size_t n = (size_t)h->kernel + h->modules;
	char *text = (char *)(symbol + n);

	if (memcmp(data, key, h->key) || sum_of_file(h, data, bytes_of(h)) != h->sum ||
	    text[h->text - 1] || !are_names_inside(symbol, n, h->text))
		return false;
	k->kernel = (struct ksyms){ symbol, h->kernel };
	k->modules = (struct ksyms){ symbol + h->kernel, h->modules };
	k->stext = h->stext;
	k->etext = h->etext;
	k->text = text;
	k->cached = data;
	return true;
}

bool kcache_load(int dir, struct kallsyms *k, const char *key, size_t len)
{
	int fd = openat(dir, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct head h;
	struct stat st;
	char *data = NULL;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && is_own(&st) && cachedir_read(fd, (char *)&h, sizeof(h)) &&
	    is_right(&h, &st, len)) {
		data = malloc(bytes_of(&h));
		if (data && cachedir_read(fd, data, bytes_of(&h)) && take(k, &h, data, key)) {
			close(fd);
			return true;
		}
	}
	free(data);
	close(fd);
	return false;
}

/* ---- writing --------------------------------------------------------------------- */

/* BPF programs and pieces of code that the kernel makes come and go without a trace. */
static bool is_kept(const char *text, const struct ksym *s)
{
	const char *module = text + s->module;

	return !s->module || (strncmp(module, "[bpf", 4) && strncmp(module, "[__builtin__", 12));
}

struct text {
	FILE *f;
	uint32_t len, last;		/* last: where the module that came last is */
	const char *module;
};

static uint32_t put_text(struct text *t, const char *text)
{
	uint32_t at = t->len;

	t->len += fwrite(text, 1, strlen(text) + 1, t->f);
	return at;
}

/* Names go to a text of their own. Returns how many are kept. */
static uint32_t put_symbols(FILE *f, struct text *t, const char *text, const struct ksyms *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct ksym s = list->symbol[i];
		const char *module = text + s.module;

		if (!is_kept(text, &s))
			continue;
		s.name = put_text(t, text + s.name);
		if (s.module && (!t->module || strcmp(t->module, module))) {
			t->last = put_text(t, module);
			t->module = module;
		}
		s.module = s.module ? t->last : 0;
		fwrite(&s, sizeof(s), 1, f);
		n++;
	}
	return n;
}

/* Key, symbols, names, without a head; NULL: no memory. */
static char *make_data(const struct kallsyms *k, const char *key, size_t key_len, struct head *h,
		       size_t *len)
{
	char *data = NULL, *names = NULL;
	size_t nnames = 0;
	FILE *f = open_memstream(&data, len);
	struct text t = { .f = open_memstream(&names, &nnames) };
	bool whole = false;

	if (f && t.f) {
		put_text(&t, "");
		fwrite(key, 1, key_len, f);
		fwrite("\0\0\0\0\0\0\0", 1, padded(key_len) - key_len, f);
		h->kernel = put_symbols(f, &t, k->text, &k->kernel);
		h->modules = put_symbols(f, &t, k->text, &k->modules);
		whole = !fflush(t.f) && fwrite(names, 1, nnames, f) == nnames;
		h->text = nnames;
	}
	whole &= !(t.f && fclose(t.f));
	whole &= !(f && fclose(f));
	free(names);
	if (whole)
		return data;
	free(data);
	return NULL;
}

/* Whole or not at all, as in lib/unwind/cache.c. */
void kcache_store(int dir, const struct kallsyms *k, const char *key, size_t key_len)
{
	struct head h = {
		.magic = "hwpmcsym", .form = FORM, .key = key_len, .stext = k->stext,
		.etext = k->etext,
	};
	size_t len = 0;
	char *data = make_data(k, key, key_len, &h, &len), new[40];
	bool done;
	int fd;

	snprintf(new, sizeof(new), "." FILE_NAME "-%d", getpid());
	(void)unlinkat(dir, new, 0);
	fd = data ? openat(dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		h.sum = sum_of_file(&h, data, len);
		done = cachedir_write(fd, (char *)&h, sizeof(h)) && cachedir_write(fd, data, len);
		if (close(fd) < 0 || !done || renameat(dir, new, dir, FILE_NAME) < 0)
			unlinkat(dir, new, 0);
	}
	free(data);
}
