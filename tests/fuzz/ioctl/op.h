/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h - one step of a random sequence. A step names slots, not values: what is in
 * a slot (a descriptor, an id, a process) is known when the sequence runs, so that
 * the sequence follows from its seed alone. A reproducer in C is this file, act.c
 * and a table of steps (emit.c), so both use nothing but libc and hwpmc.h.
 */
#ifndef OP_H
#define OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNERS		4	/* opens of the device, */
#define PMCS		16	/* PMCs: slot i is of owner i / 4, */
#define KIDS		8	/* children: targets and other owners, */
#define LOGS		4	/* descriptors for logs, */
#define MAPS		4	/* mappings, */
#define PERFS		2	/* events of perf: of each process */
#define PEERS		4	/* processes of a run */
/* Of the module: those who become nobody open the device and measure kernel mode too. */
#define OP_PARAMETERS	"mode=0666 unprivileged_kernel=1"
#define NONE		0xff	/* no slot: the word stays as it is */

enum what {
	OP_CALL,		/* an ioctl: all but `what` and `n` */
	OP_OPEN,		/* owner; w[0]: 1 it survives exec */
	OP_CLOSE,		/* owner */
	OP_MAP,			/* owner, map; w: length, protection, flags, offset */
	OP_UNMAP,		/* map; w[0]: 0 all, 1 half, 2 grow, 3 forget pages */
	OP_TOUCH,		/* map; w[0] offset, w[1] value, w[2]: 1 write */
	OP_POLL,		/* owner */
	OP_LOGFD,		/* log; w[0] enum log_kind */
	OP_CONSUME,		/* log: read what was written */
	OP_SPAWN,		/* proc; w[0] enum kid_kind, w[1] SPAWN_* */
	OP_KILL,		/* proc; w[0] signal */
	OP_CHILD,		/* proc; a child does the next n; w[0] CHILD_*, w[1] us */
	OP_SPIN,		/* w[0] instructions, w[1] us of sleep */
	OP_MIGRATE,		/* w[0] mask of CPUs */
	OP_HOTPLUG,		/* w[0]: 1 on */
	OP_TUNABLE,		/* w[0] which, w[1] value */
	OP_PERF,		/* proc: slot; w[0] CPU or -1, w[1] config; closes */
	OP_RDPMC,		/* w[0] index */
	OP_ALARM,		/* w[0] us between signals, 0: none */
	OP_MODULE,		/* w[0]: 1 load, 0 unload */
	OP_THREADS,		/* w[0] threads come and go */
	OP__COUNT
};

enum log_kind {
	LOG_MEMFD, LOG_PIPE, LOG_PIPE_NONBLOCK, LOG_PIPE_END, LOG_SOCKET,
	LOG_NULL, LOG_FULL, LOG_READ_ONLY, LOG_DIRECTORY, LOG_EVENTFD,
	LOG_DEVICE, LOG__COUNT
};

enum kid_kind {
	KID_SPIN, KID_SLEEP, KID_FORK, KID_THREADS, KID_EXEC, KID_MAP, KID_YIELD,
	KID__COUNT
};

/* How the argument of a call lies in memory. */
enum mem {
	MEM_OK, MEM_EDGE, MEM_ODD,		/* it can be read and written */
	MEM_NULL, MEM_RO, MEM_HALF, MEM_KERNEL,	/* it cannot */
	MEM__COUNT
};

/* The array that an argument points to. */
enum array { ARRAY_AS_IS, ARRAY_OK, ARRAY_NULL, ARRAY_RO, ARRAY_KERNEL };

#define SPAWN_KEEPS	1	/* it keeps descriptors */
#define SPAWN_ALONE	2	/* no other thread can have a pipe of its */

#define CHILD_FRESH	1	/* it has opens of its own, not its parent's */
#define CHILD_EXEC	2	/* it executes a program when it is done */
#define CHILD_KILL	4	/* it gets SIGKILL after w[1] us */
#define CHILD_WAIT	8	/* its parent waits for it */
#define CHILD_NOBODY	16	/* without privileges */

/* Processes that are no child: proc slots from KIDS on. */
enum other_proc {
	PROC_SELF = KIDS, PROC_TID, PROC_INIT, PROC_KTHREAD, PROC_NEGATIVE,
	PROC_LOWEST, PROC_NOBODY, PROC_PARENT, PROC_PEER,
	PROC__COUNT = PROC_PEER + PEERS
};

#define CALL_32BIT	1	/* by the door of 32-bit programs */
#define CALL_TAIL	2	/* the last byte is not 0 */
#define CALL_OTHER_TYPE	4	/* not the device's type of ioctl */
#define CALL_NO_DIR	8	/* neither _IOC_READ nor _IOC_WRITE */

#define WORDS		8

struct op {
	uint8_t what;		/* enum what */
	uint8_t owner, pmc, proc, log, map;
	uint8_t mem, array;
	uint8_t how;		/* CALL_* */
	uint8_t nr;		/* of the operation */
	uint16_t size;		/* in the ioctl's number */
	uint16_t n;
	uint32_t id_xor;	/* of the PMC's id */
	uint64_t w[WORDS];	/* bytes 8 to 71 of the argument */
};

#define ARG_MAX		16384

/* What became of it. */
struct outcome {
	int err;		/* 0 or errno */
	bool is_call;
	uint32_t reason;
	int32_t detail;
	bool beyond;		/* bytes behind the argument were written */
	bool changed;		/* bytes behind its header were */
	uint64_t value;		/* of PMCRW; the id of PMCALLOCATE */
};

/* Of the process; of the thread. */
void act_init(void);
void act_thread_init(void);
/* The nth of a sequence of so many; returns how many further ones it has done. */
unsigned int act(const struct op *op, unsigned int left, struct outcome *out);
/* What a child of OP_CHILD does with its part of the sequence. */
extern void (*act_sequence)(const struct op *op, unsigned int n);
extern int32_t *act_peers;
extern const char *act_module, *act_loop;

#endif
