/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.c - opens the log that pmcstat reads: a file, or a descriptor of what a peer sends.
 */
#include <libhwpmcstat.h>

#include "pmcstat.h"

struct hwpmc_input *pmcstat_open_input(const struct pmcstat *ps, int fd,
				       const char *path, char *err, size_t size)
{
	struct hwpmc_input *in;

	in = fd >= 0 ? hwpmc_input_fd(fd, err, size) :
	     hwpmc_input_open(path, err, size);
	if (in && ps->from_peer)
		hwpmc_input_limit(in, ps->max_mib << 20);
	return in;
}
