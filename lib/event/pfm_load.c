/* SPDX-License-Identifier: BSD-2-Clause */
/* pfm_load.c - see pfm_load.h. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "pfm_load.h"

#define PFM_FILE	"libpfm.so.4"

static const struct {
	const char *name;
	size_t at;			/* in struct event_pfm_calls */
} calls_of_pfm[] = {
#define PFM_ENTRY(call) { #call, offsetof(struct event_pfm_calls, call) },
	EVENT_PFM_CALLS(PFM_ENTRY)
#undef PFM_ENTRY
};

/* Never closed: pfm.c keeps names that lie in the library. */
int event_pfm_load(struct event_pfm_calls *calls)
{
	void *lib = dlopen(PFM_FILE, RTLD_LAZY | RTLD_LOCAL);

	if (!lib)
		return -1;
	for (size_t i = 0; i < sizeof(calls_of_pfm) / sizeof(*calls_of_pfm); i++) {
		void *fn = dlsym(lib, calls_of_pfm[i].name);

		if (!fn) {
			dlclose(lib);
			return -1;
		}
		memcpy((char *)calls + calls_of_pfm[i].at, &fn, sizeof(fn));
	}
	return 0;
}
