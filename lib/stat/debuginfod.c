/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debuginfod.c - debug files from the servers that DEBUGINFOD_URLS names. The library
 * for it links an HTTP client: it is loaded only if the variable is set. It caches the
 * files that it fetches.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "stat.h"

#define LIBRARY	"libdebuginfod.so.1"

struct debuginfod {
	void *client;
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int len, char **path);
	void (*end)(void *client);
};

static struct debuginfod *open_client(void)
{
	struct debuginfod *d = stat_alloc(1, sizeof(*d));
	void *library = d ? dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL) : NULL;

	if (!library)
		return d;
	d->begin = (void *(*)(void))dlsym(library, "debuginfod_begin");
	d->find = (int (*)(void *, const unsigned char *, int, char **))
		  dlsym(library, "debuginfod_find_debuginfo");
	d->end = (void (*)(void *))dlsym(library, "debuginfod_end");
	if (d->begin && d->find && d->end)
		d->client = d->begin();
	return d;
}

char *debuginfod_path(struct images *set, const struct image *img)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *path = NULL;
	int fd;

	if (!urls || !*urls || !img->pub.build_id_len)
		return NULL;
	if (!set->debuginfod)
		set->debuginfod = open_client();
	if (!set->debuginfod || !set->debuginfod->client)
		return NULL;
	fd = set->debuginfod->find(set->debuginfod->client, img->pub.build_id,
				   img->pub.build_id_len, &path);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library stays: what it has loaded does not bear to be unloaded. */
	free(d);
}
