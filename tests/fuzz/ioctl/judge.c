// SPDX-License-Identifier: BSD-2-Clause
/* judge.c - see judge.h. */
#include <errno.h>

#include "hwpmc.h"
#include "judge.h"

/* A set of reasons. */
typedef unsigned __int128 reason_set;
_Static_assert(HWPMC_WHY__COUNT <= 128, "a set has 128 bits");
#define REASON(n)	((reason_set)1 << (n))
#define R(why)	REASON(HWPMC_WHY_##why)

/* Which reasons each operation may give. */
#define OF_ID	(R(ID) | R(NOT_OWNER) | R(NO_PMCS))
#define OF_CPU	(R(CPU_RANGE) | R(CPU_OFFLINE))
/* Starting attaches to the owner what was never attached. */
#define OF_ATTACH (R(NO_PROCESS) | R(EXITING) | R(PRIV_TUNABLE) | R(PRIV_ATTACH) | \
		   R(ATTACHED) | R(TARGET_ROW) | R(NO_MEMORY))

#define OF_ALLOCATE (R(MODE) | OF_CPU | R(CPU_WANT_ANY) | \
		R(CPU_WANT_ONE) | R(PRIV_SYSTEM) | R(FLAGS) | R(FLAGS_MODE) | \
		R(CLASS) | R(CAPS) | R(EVENT) | R(EVENT_BITS) | R(EVENT_ROWS) | \
		R(ROWS_BUSY) | R(ROWS_AT_ONCE) | R(ROW_DISABLED) | R(PMU_RESERVED) | \
		R(PMU_MEDIATED) | \
		R(PMU_RUNNING) | R(NO_MEMORY) | R(RESERVED) | R(NOT_OWNER) | \
		R(SIBLINGS) | R(EVENT_SIBLINGS) | R(EVENT_PRECISE) | R(EVENT_TYPED) | \
		R(LOCKDOWN) | R(PRIV_KERNEL) | R(KIND) | R(EVENT_KIND) | R(CPU_KIND))

#define OF_TABLE (R(UNWIND_ROW) | R(UNWIND_LIMIT) | R(UNWIND_FILES))

static const reason_set reasons[HWPMC_OP__COUNT] = {
	[HWPMC_OP_CONFIGURELOG] = R(FLAGS) | R(NO_LOG) | R(RING_SIZE) |
		R(LOG_EXISTS) | R(LOG_FD) | R(NO_MEMORY) | R(LOCKED_MEMORY) |
		R(NOT_OWNER),
	[HWPMC_OP_FLUSHLOG] = R(NO_LOG) | R(LOG_ERROR) | R(NOT_OWNER),
	[HWPMC_OP_CLOSELOG] = R(NO_LOG) | R(LOG_CLOSED) | R(NOT_OWNER),
	[HWPMC_OP_WRITELOG] = R(NO_LOG) | R(LOG_CLOSED) | R(RESERVED) |
		R(NOT_OWNER) | R(NO_MEMORY),
	[HWPMC_OP_GETMODULEVERSION] = R(VERSION) | R(RESERVED),
	[HWPMC_OP_GETPMCINFO] = OF_CPU | R(BUFFER) | R(BAD_ADDRESS) | R(NO_MEMORY),
	[HWPMC_OP_PMCADMIN] = R(PRIV_ADMIN) | OF_CPU | R(ROW) | R(ADMIN_STATE) |
		R(ROW_IN_USE) | R(RESERVED),
	[HWPMC_OP_PMCALLOCATE] = OF_ALLOCATE,
	[HWPMC_OP_PMCOPEN] = OF_ALLOCATE | OF_ATTACH | R(SYSTEM_SCOPE) | R(PID),
	[HWPMC_OP_PMCATTACH] = OF_ID | OF_ATTACH | R(SYSTEM_SCOPE) | R(PID) |
		R(RUNNING) | R(MSR_TAKEN),
	[HWPMC_OP_PMCDETACH] = OF_ID | R(SYSTEM_SCOPE) | R(PID) | R(NOT_ATTACHED) |
		R(NO_PROCESS) | R(NOT_TARGET),
	[HWPMC_OP_PMCGETMSR] = OF_ID | R(MSR_OWNER_ONLY) | R(NO_RDPMC) |
		R(NO_MEMORY),
	[HWPMC_OP_PMCRELEASE] = OF_ID | R(RESERVED),
	[HWPMC_OP_PMCRW] = OF_ID | R(RW_FLAGS) | R(RW_MODE) | R(RUNNING) |
		R(READ_ONLY) | R(CPU_OFFLINE) | R(INCOMPLETE),
	[HWPMC_OP_PMCSETCOUNT] = OF_ID | R(RUNNING) | R(READ_ONLY) | R(RESERVED),
	[HWPMC_OP_PMCSTART] = OF_ID | R(RESERVED) | R(NO_LOG) | R(NO_TARGETS) |
		R(CPU_OFFLINE) | OF_ATTACH,
	[HWPMC_OP_PMCSTOP] = OF_ID | R(RESERVED) | R(NOT_STARTED) | R(CPU_OFFLINE),
	[HWPMC_OP_GETDYNEVENTINFO] = R(CLASS) | R(BUFFER) | R(BAD_ADDRESS),
	[HWPMC_OP_GETCAPS] = OF_ID,
	[HWPMC_OP_REVOKE] = R(PRIV_ADMIN),
	[HWPMC_OP_KGMON] = R(PRIV_SYSTEM) | R(KGMON) | R(BUFFER) |
		R(BAD_ADDRESS) | R(NO_MEMORY),
	[HWPMC_OP_BATCH] = R(BATCH) | R(BATCH_COUNT) | R(BAD_ADDRESS) | R(NO_MEMORY),
	[HWPMC_OP_GETKINDS] = OF_CPU | R(RESERVED),
	[HWPMC_OP_GETUNCOUNTED] = OF_ID | R(SYSTEM_SCOPE) | R(RESERVED),
	[HWPMC_OP_UNWIND] = R(FLAGS) | R(RESERVED) | OF_TABLE | R(BAD_ADDRESS) |
		R(NO_MEMORY) | R(LOCKED_MEMORY) | R(NOT_OWNER),
};

/* The errno of each reason; a second one where there are two. */
static const struct { int err, also; } errnos[HWPMC_WHY__COUNT] = {
	[HWPMC_WHY_UNKNOWN_OP] = { EINVAL }, [HWPMC_WHY_RESERVED] = { EINVAL },
	[HWPMC_WHY_SIZE] = { EINVAL, E2BIG }, [HWPMC_WHY_BAD_ADDRESS] = { EFAULT },
	[HWPMC_WHY_NO_MEMORY] = { ENOMEM, EAGAIN },
	[HWPMC_WHY_VERSION] = { EPROTONOSUPPORT }, [HWPMC_WHY_NOT_OWNER] = { ESRCH },
	[HWPMC_WHY_NO_PMCS] = { ESRCH }, [HWPMC_WHY_REVOKED] = { ENODEV },
	[HWPMC_WHY_PRIV_SYSTEM] = { EPERM }, [HWPMC_WHY_PRIV_ADMIN] = { EPERM },
	[HWPMC_WHY_PRIV_ATTACH] = { EPERM }, [HWPMC_WHY_PRIV_TUNABLE] = { EPERM },
	[HWPMC_WHY_MODE] = { EINVAL }, [HWPMC_WHY_CPU_RANGE] = { EINVAL },
	[HWPMC_WHY_CPU_WANT_ANY] = { EINVAL }, [HWPMC_WHY_CPU_WANT_ONE] = { EINVAL },
	[HWPMC_WHY_CPU_OFFLINE] = { ENXIO }, [HWPMC_WHY_FLAGS] = { EINVAL },
	[HWPMC_WHY_FLAGS_MODE] = { EINVAL }, [HWPMC_WHY_CLASS] = { EINVAL },
	[HWPMC_WHY_CAPS] = { EOPNOTSUPP }, [HWPMC_WHY_EVENT] = { EINVAL },
	[HWPMC_WHY_EVENT_BITS] = { EINVAL }, [HWPMC_WHY_EVENT_ROWS] = { EINVAL },
	[HWPMC_WHY_ROWS_BUSY] = { EINVAL }, [HWPMC_WHY_ROW_DISABLED] = { EPERM },
	[HWPMC_WHY_PMU_RESERVED] = { EBUSY }, [HWPMC_WHY_PMU_RUNNING] = { EBUSY },
	[HWPMC_WHY_ID] = { EINVAL }, [HWPMC_WHY_SYSTEM_SCOPE] = { EINVAL },
	[HWPMC_WHY_PID] = { EINVAL }, [HWPMC_WHY_NO_PROCESS] = { ESRCH },
	[HWPMC_WHY_EXITING] = { ESRCH }, [HWPMC_WHY_RUNNING] = { EBUSY },
	[HWPMC_WHY_ATTACHED] = { EEXIST }, [HWPMC_WHY_TARGET_ROW] = { EBUSY },
	[HWPMC_WHY_NOT_TARGET] = { ESRCH }, [HWPMC_WHY_NOT_ATTACHED] = { EINVAL },
	[HWPMC_WHY_NO_TARGETS] = { ESRCH }, [HWPMC_WHY_NOT_STARTED] = { EINVAL },
	[HWPMC_WHY_RW_FLAGS] = { EINVAL }, [HWPMC_WHY_RW_MODE] = { EINVAL },
	[HWPMC_WHY_READ_ONLY] = { EOPNOTSUPP },
	[HWPMC_WHY_NO_LOG] = { EINVAL, EBADFD }, [HWPMC_WHY_LOG_EXISTS] = { EBUSY },
	[HWPMC_WHY_LOG_FD] = { EBADF }, [HWPMC_WHY_NO_RDPMC] = { ENOSYS },
	[HWPMC_WHY_MSR_OWNER_ONLY] = { EINVAL }, [HWPMC_WHY_MSR_TAKEN] = { EPERM },
	[HWPMC_WHY_ADMIN_STATE] = { EINVAL }, [HWPMC_WHY_ROW] = { EINVAL },
	[HWPMC_WHY_ROW_IN_USE] = { EBUSY }, [HWPMC_WHY_BUFFER] = { EINVAL },
	[HWPMC_WHY_INCOMPLETE] = { ENOMEM }, [HWPMC_WHY_RING_SIZE] = { EINVAL },
	[HWPMC_WHY_LOCKED_MEMORY] = { EPERM }, [HWPMC_WHY_LOG_CLOSED] = { EINVAL },
	[HWPMC_WHY_KGMON] = { EINVAL }, [HWPMC_WHY_SIBLINGS] = { EINVAL },
	[HWPMC_WHY_EVENT_SIBLINGS] = { EINVAL }, [HWPMC_WHY_EVENT_PRECISE] = { EINVAL },
	[HWPMC_WHY_LOCKDOWN] = { EPERM }, [HWPMC_WHY_PRIV_KERNEL] = { EPERM },
	[HWPMC_WHY_BATCH] = { EINVAL }, [HWPMC_WHY_BATCH_COUNT] = { EINVAL },
	[HWPMC_WHY_UNWIND_ROW] = { EINVAL }, [HWPMC_WHY_UNWIND_LIMIT] = { E2BIG },
	[HWPMC_WHY_UNWIND_FILES] = { E2BIG }, [HWPMC_WHY_KIND] = { EINVAL },
	[HWPMC_WHY_EVENT_KIND] = { EINVAL }, [HWPMC_WHY_CPU_KIND] = { EINVAL },
	[HWPMC_WHY_EVENT_NODE] = { EINVAL }, [HWPMC_WHY_EVENT_FILTERED] = { EOPNOTSUPP },
	[HWPMC_WHY_ROW_STILL] = { EOPNOTSUPP }, [HWPMC_WHY_NO_INTERRUPT] = { EOPNOTSUPP },
	[HWPMC_WHY_PMU_MEDIATED] = { EBUSY }, [HWPMC_WHY_EVENT_TYPED] = { EOPNOTSUPP },
	[HWPMC_WHY_REGISTER_CHANGED] = { EIO }, [HWPMC_WHY_COUNTER_BACK] = { EIO },
	[HWPMC_WHY_COUNTER_TAKEN] = { EIO },
	[HWPMC_WHY_ROWS_AT_ONCE] = { EINVAL }, [HWPMC_WHY_ONLY_LISTED] = { EOPNOTSUPP },
	[HWPMC_WHY_ROW_MISREAD] = { EOPNOTSUPP },
	[HWPMC_WHY_PAYLOAD] = { EOPNOTSUPP },
};

static bool is_bad_memory(const struct op *op)
{
	return op->mem > MEM_ODD;
}

/* The door's own answers, the same for all operations. */
static bool is_the_doors(const struct op *op, uint32_t why)
{
	return why == HWPMC_WHY_REVOKED || why == HWPMC_WHY_SIZE ||
	       (why == HWPMC_WHY_UNKNOWN_OP && (op->nr >= HWPMC_OP__COUNT ||
						!reasons[op->nr]));
}

static const char *judge_reason(const struct op *op, const struct outcome *out)
{
	uint32_t why = out->reason;

	if (why >= HWPMC_WHY__COUNT)
		return "a reason that does not exist";
	if (!is_the_doors(op, why) &&
	    (op->nr >= HWPMC_OP__COUNT || !(reasons[op->nr] & REASON(why))))
		return "a reason that is not the operation's";
	if (why == HWPMC_WHY_LOG_ERROR)
		return NULL;
	if (out->err != errnos[why].err &&
	    (!errnos[why].also || out->err != errnos[why].also))
		return "an errno that is not the reason's";
	return NULL;
}

/* Outputs that a refusal has, too. */
static bool may_change(const struct op *op, const struct outcome *out)
{
	return out->reason == HWPMC_WHY_BAD_ADDRESS ||
	       out->reason == HWPMC_WHY_VERSION || op->nr == HWPMC_OP_PMCRW ||
	       op->nr == HWPMC_OP_KGMON || out->reason == HWPMC_WHY_NO_RDPMC;
}

static const char *judge_refusal(const struct op *op, const struct outcome *out)
{
	if (op->size < sizeof(struct hwpmc_hdr))
		return out->err == EINVAL || out->err == ENODEV ? NULL :
			"an argument of no size is not EINVAL";
	if (out->err == EINTR && op->nr == HWPMC_OP_FLUSHLOG)
		return NULL;
	if (!out->reason)
		return "a refusal without a reason";
	if (out->changed && !may_change(op, out))
		return "a refusal that changed its argument";
	return judge_reason(op, out);
}

unsigned int judge_rows = HWPMC_ROW_MAX;

static bool is_of_no_row(const struct op *op)
{
	return op->nr == HWPMC_OP_PMCADMIN &&
	       op->size >= sizeof(struct hwpmc_op_pmcadmin) &&
	       op->w[0] >> 32 >= judge_rows;
}

static const char *judge_success(const struct op *op, const struct outcome *out)
{
	uint32_t id = out->value;

	if (is_bad_memory(op))
		return "success with memory that cannot be written";
	if (op->how & CALL_OTHER_TYPE)
		return "success of another device's ioctl";
	if (out->reason || out->detail)
		return "success with a reason";
	if (is_of_no_row(op))
		return "success with a row that is not there";
	if (op->nr != HWPMC_OP_PMCALLOCATE || op->pmc == NONE)
		return NULL;
	if (HWPMC_ID_MODE(id) != op->w[2] >> 32 ||
	    HWPMC_ID_CLASS(id) != (op->w[1] & 0xff) ||
	    HWPMC_ID_ROW(id) >= HWPMC_ROW_MAX)
		return "an id that is not of what was asked for";
	return NULL;
}

static const char *judge_call(const struct op *op, const struct outcome *out,
			      bool crowd)
{
	if (out->beyond)
		return "bytes behind the argument were written";
	if (!out->err)
		return judge_success(op, out);
	/* No descriptor there, or one that is something else by now. */
	if (out->err == EBADF && out->reason != HWPMC_WHY_LOG_FD && !out->reason)
		return NULL;
	if (out->err == ENOTTY && (op->how & CALL_OTHER_TYPE || crowd))
		return NULL;
	if (is_bad_memory(op))
		return NULL;
	return judge_refusal(op, out);
}

const char *judge(const struct op *op, const struct outcome *out, bool crowd)
{
	if (out->is_call)
		return judge_call(op, out, crowd);
	if (op->what == OP_MAP && out->err)
		switch (out->err) {
		case ENODEV: case EINVAL: case EBADF: case ESRCH: case EACCES:
		case ENOMEM: case EOVERFLOW:
			return NULL;
		default:
			return "an errno of mmap() that is not in the manual";
		}
	return NULL;
}
