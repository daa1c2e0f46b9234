/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * info.c - the machine, the rows, the driver's counters, administration, and the
 * switches of the log. Any thread; no state but the handle's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

EXPORT const struct hwpmc_op_getcpuinfo *hwpmc_cpuinfo(const struct hwpmc *h)
{
	return null_given(NULL, !h, "hwpmc_cpuinfo") ? NULL : &h->info;
}

EXPORT int hwpmc_pmu_state(struct hwpmc *h, uint32_t *state)
{
	struct hwpmc_op_getcpuinfo op = { 0 };

	if (null_given(h, !h || !state, "hwpmc_pmu_state"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETCPUINFO, &op.hdr))
		return error_from_call(h, &op.hdr, "ask about the machine");
	*state = op.pmu_state;
	return 0;
}

EXPORT int hwpmc_notes(struct hwpmc *h, struct hwpmc_classnote notes[HWPMC_NOTES_MAX])
{
	struct hwpmc_op_getcpuinfo op = { 0 };
	uint32_t n;

	if (null_given(h, !h || !notes, "hwpmc_notes"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETCPUINFO, &op.hdr))
		return error_from_call(h, &op.hdr, "ask about the machine");
	n = op.nnotes < HWPMC_NOTES_MAX ? op.nnotes : HWPMC_NOTES_MAX;
	memcpy(notes, op.notes, n * sizeof(notes[0]));
	return (int)n;
}

EXPORT int hwpmc_pmcinfo(struct hwpmc *h, uint32_t cpu,
			 struct hwpmc_pmcinfo **rows, unsigned int *nrow)
{
	struct hwpmc_op_getpmcinfo op = { .cpu = cpu };
	struct hwpmc_pmcinfo *array;
	uint32_t room;
	int err;

	if (null_given(h, !h || !rows || !nrow, "hwpmc_pmcinfo"))
		return -1;
	/* At least one entry, so that no answer is an empty pointer. */
	room = h->info.npmc ? h->info.npmc : 1;
	op.npmc = room;
	array = calloc(room, sizeof(*array));
	if (!array)
		return error_own(h, ENOMEM, "cannot list the counters: "
				 "out of memory");
	op.pmcs = (uintptr_t)array;
	if (handle_call(h, HWPMC_IOC_GETPMCINFO, &op.hdr)) {
		error_from_call(h, &op.hdr,
				what("list the counters of CPU %u", cpu).text);
		err = errno;
		free(array);
		errno = err;
		return -1;
	}
	*rows = array;
	*nrow = op.npmc < room ? op.npmc : room;
	return 0;
}

EXPORT int hwpmc_kinds(struct hwpmc *h, uint32_t cpu, uint32_t *kinds, uint32_t *kind)
{
	struct hwpmc_op_getkinds op = { .cpu = cpu };

	if (null_given(h, !h || !kinds || !kind, "hwpmc_kinds"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETKINDS, &op.hdr))
		return error_from_call(h, &op.hdr,
				       what("get the kind of CPU %u", cpu).text);
	*kinds = op.kinds;
	*kind = op.kind;
	return 0;
}

EXPORT int hwpmc_uncounted(struct hwpmc *h, uint32_t id, uint32_t *kinds, uint64_t *ns,
			   uint64_t *slices)
{
	struct hwpmc_op_getuncounted op = { .pmcid = id };

	if (null_given(h, !h || !kinds || !ns || !slices, "hwpmc_uncounted"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETUNCOUNTED, &op.hdr))
		return error_from_call(h, &op.hdr, "get the time in which the PMC did not count");
	*kinds = op.kinds;
	*ns = op.ns;
	*slices = op.slices;
	return 0;
}

EXPORT int hwpmc_driver_stats(struct hwpmc *h,
			      struct hwpmc_op_getdriverstats *stats)
{
	if (null_given(h, !h || !stats, "hwpmc_driver_stats"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETDRIVERSTATS, &stats->hdr))
		return error_from_call(h, &stats->hdr,
				       "get the driver's statistics");
	return 0;
}

EXPORT int hwpmc_module_version(struct hwpmc *h, uint32_t *version)
{
	struct hwpmc_op_getmoduleversion op = { .version = HWPMC_API_VERSION };

	if (null_given(h, !h || !version, "hwpmc_module_version"))
		return -1;
	if (handle_call(h, HWPMC_IOC_GETMODULEVERSION, &op.hdr))
		return error_from_call(h, &op.hdr, "ask the module's version");
	*version = op.version;
	return 0;
}

EXPORT int hwpmc_admin(struct hwpmc *h, uint32_t cpu, uint32_t row,
		       uint32_t state)
{
	struct hwpmc_op_pmcadmin op = { .cpu = cpu, .row = row, .state = state };
	const char *doing = state == HWPMC_STATE_FREE ? "enable" : "disable";

	if (handle_call(h, HWPMC_IOC_PMCADMIN, &op.hdr))
		return error_from_call(h, &op.hdr,
				       what("%s row %u on CPU %u", doing, row,
					    cpu).text);
	return 0;
}

static int simple_call(struct hwpmc *h, unsigned long request,
		       const char *doing)
{
	struct hwpmc_op_simple op;

	if (handle_call(h, request, &op.hdr))
		return error_from_call(h, &op.hdr, doing);
	return 0;
}

EXPORT int hwpmc_revoke(struct hwpmc *h)
{
	return simple_call(h, HWPMC_IOC_REVOKE,
			   "revoke the PMCs and logs of all users");
}

EXPORT int hwpmc_kgmon(struct hwpmc *h, struct hwpmc_op_kgmon *op)
{
	if (null_given(h, !h || !op, "hwpmc_kgmon"))
		return -1;
	if (handle_call(h, HWPMC_IOC_KGMON, &op->hdr))
		return error_from_call(h, &op->hdr,
				       "use the histogram of the kernel");
	return 0;
}

EXPORT int hwpmc_configure_log(struct hwpmc *h, int fd)
{
	struct hwpmc_op_configurelog op = { .logfd = fd };

	if (handle_call(h, HWPMC_IOC_CONFIGURELOG, &op.hdr))
		return error_from_call(h, &op.hdr, fd < 0 ? "end the log" :
				       what("log to descriptor %d", fd).text);
	h->logs++;
	return 0;
}

EXPORT int hwpmc_flush_log(struct hwpmc *h)
{
	return simple_call(h, HWPMC_IOC_FLUSHLOG, "flush the log");
}

EXPORT int hwpmc_close_log(struct hwpmc *h)
{
	return simple_call(h, HWPMC_IOC_CLOSELOG, "close the log");
}

EXPORT int hwpmc_write_log(struct hwpmc *h, uint32_t userdata)
{
	struct hwpmc_op_writelog op = { .userdata = userdata };

	if (handle_call(h, HWPMC_IOC_WRITELOG, &op.hdr))
		return error_from_call(h, &op.hdr, "write to the log");
	return 0;
}

EXPORT int hwpmc_pmu_holder(char *who, size_t who_size, char *remedy,
			    size_t remedy_size)
{
	char none[1];

	if (null_given(NULL, !who, "hwpmc_pmu_holder"))
		return -1;
	if (remedy)
		return holder_find(who, who_size, remedy, remedy_size);
	return holder_find(who, who_size, none, sizeof(none));
}
