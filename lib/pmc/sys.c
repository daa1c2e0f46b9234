/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys.c - the only file that talks to the module. It also asserts that the
 * compiler lays the structures of the contract out as the kernel does.
 * Any thread; no state.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"

#define SIZE_IS(type, size) \
	static_assert(sizeof(struct type) == (size), "size of " #type)
#define FIELD_AT(type, field, offset) \
	static_assert(offsetof(struct type, field) == (offset), \
		      "place of " #type "." #field)

SIZE_IS(hwpmc_hdr, 8);
SIZE_IS(hwpmc_classinfo, 24);
SIZE_IS(hwpmc_pmcinfo, 112);
SIZE_IS(hwpmc_dynevent, 72);
SIZE_IS(hwpmc_op_simple, HWPMC_SIZE_V1_SIMPLE);
SIZE_IS(hwpmc_op_configurelog, 24);
SIZE_IS(hwpmc_classnote, 16);
SIZE_IS(hwpmc_op_getcpuinfo, HWPMC_SIZE_V1_GETCPUINFO + 200);
SIZE_IS(hwpmc_op_getdriverstats, HWPMC_SIZE_V1_GETDRIVERSTATS);
SIZE_IS(hwpmc_op_getmoduleversion, HWPMC_SIZE_V1_GETMODULEVERSION);
SIZE_IS(hwpmc_op_getpmcinfo, HWPMC_SIZE_V1_GETPMCINFO);
SIZE_IS(hwpmc_op_pmcadmin, HWPMC_SIZE_V1_PMCADMIN);
SIZE_IS(hwpmc_op_pmcallocate, HWPMC_SIZE_V1_PMCALLOCATE);
SIZE_IS(hwpmc_op_pmcattach, HWPMC_SIZE_V1_PMCATTACH);
SIZE_IS(hwpmc_op_pmcopen, HWPMC_SIZE_V1_PMCOPEN);
SIZE_IS(hwpmc_op_getmsr, HWPMC_SIZE_V1_GETMSR);
SIZE_IS(hwpmc_op_pmc, HWPMC_SIZE_V1_PMC);
SIZE_IS(hwpmc_op_pmcrw, HWPMC_SIZE_V1_PMCRW);
SIZE_IS(hwpmc_op_pmcsetcount, HWPMC_SIZE_V1_PMCSETCOUNT);
SIZE_IS(hwpmc_op_writelog, HWPMC_SIZE_V1_WRITELOG);
SIZE_IS(hwpmc_op_getdyneventinfo, HWPMC_SIZE_V1_GETDYNEVENTINFO);
SIZE_IS(hwpmc_op_getcaps, HWPMC_SIZE_V1_GETCAPS);
SIZE_IS(hwpmc_op_batch, HWPMC_SIZE_V1_BATCH);
SIZE_IS(hwpmc_batch_entry, HWPMC_SIZE_V1_BATCH_ENTRY);
SIZE_IS(hwpmc_op_unwind, HWPMC_SIZE_V1_UNWIND);
SIZE_IS(hwpmc_op_getchainstats, HWPMC_SIZE_V1_GETCHAINSTATS);
SIZE_IS(hwpmc_op_getkinds, HWPMC_SIZE_V1_GETKINDS);
SIZE_IS(hwpmc_op_getuncounted, HWPMC_SIZE_V1_GETUNCOUNTED);

FIELD_AT(hwpmc_op_getcpuinfo, classes, 24);
FIELD_AT(hwpmc_op_getcpuinfo, pmu_state, 216);
FIELD_AT(hwpmc_op_getcpuinfo, cpuid, 224);
FIELD_AT(hwpmc_op_getcpuinfo, nnotes, HWPMC_SIZE_V1_GETCPUINFO);
FIELD_AT(hwpmc_op_getcpuinfo, notes, HWPMC_SIZE_V1_GETCPUINFO + 8);
FIELD_AT(hwpmc_op_getdriverstats, threads_missed, 72);
FIELD_AT(hwpmc_pmcinfo, ownerpid, 76);
FIELD_AT(hwpmc_pmcinfo, users, 92);
FIELD_AT(hwpmc_pmcinfo, config, 96);
FIELD_AT(hwpmc_op_getpmcinfo, pmcs, 16);
FIELD_AT(hwpmc_op_pmcallocate, pmcid, 32);
FIELD_AT(hwpmc_op_pmcallocate, count, 40);
FIELD_AT(hwpmc_op_pmcallocate, config, 48);
FIELD_AT(hwpmc_op_pmcallocate, config2, 64);
FIELD_AT(hwpmc_op_pmcattach, pid, 12);
FIELD_AT(hwpmc_op_getmsr, msr, 12);
FIELD_AT(hwpmc_op_pmcrw, value, 16);
FIELD_AT(hwpmc_op_pmcsetcount, count, 16);
FIELD_AT(hwpmc_op_batch, entries, 24);
FIELD_AT(hwpmc_batch_entry, value, 16);
FIELD_AT(hwpmc_op_unwind, build_id, 44);

/* Programs that have closed these take them for standard input, output and errors. */
static int above_standard(int fd)
{
	int above, err;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	err = errno;
	close(fd);
	errno = err;
	return above;
}

int sys_open(void)
{
	int fd;

	do {
		fd = open(HWPMC_DEVICE, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return above_standard(fd);
}

int sys_call(int fd, unsigned long request, struct hwpmc_hdr *hdr)
{
	int rc;

	/* Where the module cannot answer at all, no old reason must show. */
	do {
		hdr->reason = HWPMC_WHY_NONE;
		hdr->detail = 0;
		rc = ioctl(fd, request, hdr);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -1 : 0;
}
