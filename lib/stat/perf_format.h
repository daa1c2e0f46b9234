/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_format.h - the file format of perf record, as far as this library reads it: numbers
 * of records, bits of attributes, fields of samples. Numbers are in the byte order of the
 * machine that recorded. The kernel's <linux/perf_event.h> of the build machine may be older
 * than a file, so that everything is defined here.
 */
#ifndef HWPMC_LIB_PERF_FORMAT_H
#define HWPMC_LIB_PERF_FORMAT_H

#include <stdint.h>
#include <string.h>

#define PERF_MAGIC		0x32454c4946524550ULL	/* "PERFILE2" */
#define PERF_MAGIC_OLD		0x454c494646524550ULL	/* "PERFFILE", before Linux 2.6.35 */
#define PERF_HEADER_PIPE	16	/* bytes of the header of a pipe: magic and size */
#define PERF_HEADER_FILE	104

/* Sections of a file are an offset and a size. */
struct perf_section {
	uint64_t offset, size;
};

struct perf_file_header {
	uint64_t magic, size, attr_size;
	struct perf_section attrs, data, event_types;
	uint64_t features[4];
};

/* Features of the header, bits of .features. */
enum perf_feature {
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CPUID = 9,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_STAT = 19,
	PERF_FEATURE_DIR_FORMAT = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURE_CLOCK_DATA = 29,
};

enum perf_type {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_THROTTLE = 5,
	PERF_UNTHROTTLE = 6,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_AUX = 11,
	PERF_LOST_SAMPLES = 13,
	PERF_CALLCHAIN_DEFERRED = 22,
	PERF_OWN = 64,			/* the first one that perf itself writes */
	PERF_HEADER_ATTR = 64,
	PERF_TRACING_DATA = 66,		/* more bytes follow the record */
	PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE = 71,		/* more bytes follow the record */
	PERF_STAT = 76,
	PERF_EVENT_UPDATE = 78,
	PERF_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
};

struct perf_hdr {
	uint32_t type;
	uint16_t misc, size;		/* size: bytes, this header included */
};

/* hdr.misc */
#define PERF_MODE_MASK		7
#define PERF_MODE_KERNEL	1
#define PERF_MODE_USER		2
#define PERF_MODE_HYPERVISOR	3
#define PERF_MODE_GUEST_KERNEL	4
#define PERF_MODE_GUEST_USER	5
#define PERF_MISC_MMAP_DATA	0x2000	/* MMAP: memory that cannot be executed */
#define PERF_MISC_COMM_EXEC	0x2000	/* COMM: a program was executed */
#define PERF_MISC_BUILD_ID	0x4000	/* MMAP2: a build-id in the place of the inode */
#define PERF_MISC_EXACT_IP	0x4000	/* SAMPLE */
#define PERF_MISC_BUILD_ID_SIZE	0x8000	/* BUILD_ID: byte 20 has the length */
#define PERF_MISC_LOST_BY_BPF	0x8000	/* LOST_SAMPLES: filtered, not lost */

/* attr.sample_type, in the order of the numbers; fields of samples have another order. */
#define PERF_S_IP		(1u << 0)
#define PERF_S_TID		(1u << 1)
#define PERF_S_TIME		(1u << 2)
#define PERF_S_ADDR		(1u << 3)
#define PERF_S_READ		(1u << 4)
#define PERF_S_CALLCHAIN	(1u << 5)
#define PERF_S_ID		(1u << 6)
#define PERF_S_CPU		(1u << 7)
#define PERF_S_PERIOD		(1u << 8)
#define PERF_S_STREAM_ID	(1u << 9)
#define PERF_S_RAW		(1u << 10)
#define PERF_S_BRANCH_STACK	(1u << 11)
#define PERF_S_REGS_USER	(1u << 12)
#define PERF_S_STACK_USER	(1u << 13)
#define PERF_S_WEIGHT		(1u << 14)
#define PERF_S_DATA_SRC		(1u << 15)
#define PERF_S_IDENTIFIER	(1u << 16)
#define PERF_S_TRANSACTION	(1u << 17)
#define PERF_S_REGS_INTR	(1u << 18)
#define PERF_S_PHYS_ADDR	(1u << 19)
#define PERF_S_AUX		(1u << 20)
#define PERF_S_CGROUP		(1u << 21)
#define PERF_S_DATA_PAGE	(1u << 22)
#define PERF_S_CODE_PAGE	(1u << 23)
#define PERF_S_WEIGHT_STRUCT	(1u << 24)
#define PERF_S_ALL		((1u << 25) - 1)

/* attr.read_format */
#define PERF_R_ENABLED		1u
#define PERF_R_RUNNING		2u
#define PERF_R_ID		4u
#define PERF_R_GROUP		8u
#define PERF_R_LOST		16u

/* attr.branch_sample_type */
#define PERF_B_CALL_STACK	(1u << 11)
#define PERF_B_HW_INDEX		(1u << 17)
#define PERF_B_COUNTERS		(1u << 19)
#define PERF_BRANCH_SIZE	24	/* from, to, flags */

/* Marks among the addresses of a chain; the largest numbers are all marks. */
#define PERF_CONTEXT_MARKS	((uint64_t)-4095)
#define PERF_CONTEXT_KERNEL	((uint64_t)-128)
#define PERF_CONTEXT_USER	((uint64_t)-512)
#define PERF_CONTEXT_DEFERRED	((uint64_t)-640)

/* Offsets in attributes, whose size grows with versions. */
#define PERF_ATTR_LEAST		64
#define PERF_ATTR_TYPE		0
#define PERF_ATTR_SIZE		4
#define PERF_ATTR_CONFIG	8
#define PERF_ATTR_PERIOD	16
#define PERF_ATTR_SAMPLE_TYPE	24
#define PERF_ATTR_READ_FORMAT	32
#define PERF_ATTR_FLAGS		40
#define PERF_ATTR_BRANCHES	72
#define PERF_ATTR_REGS_USER	80
#define PERF_ATTR_REGS_INTR	96
#define PERF_ATTR_MOST		4096

/* Bits of the flags of an attribute. */
#define PERF_A_EXCLUDE_USER	(1u << 4)
#define PERF_A_EXCLUDE_KERNEL	(1u << 5)
#define PERF_A_FREQ		(1u << 10)
#define PERF_A_PRECISE		(3u << 15)
#define PERF_A_ID_ALL		(1u << 18)
#define PERF_A_DEFERRED		(1ull << 38)	/* user chains come in records of their own */

/* attr.type */
#define PERF_T_HARDWARE		0
#define PERF_T_SOFTWARE		1
#define PERF_T_TRACEPOINT	2
#define PERF_T_CACHE		3
#define PERF_T_RAW		4
#define PERF_T_BREAKPOINT	5
#define PERF_SOFTWARE_DUMMY	9	/* counts nothing: for records of mappings */

/* EVENT_UPDATE: the kind of what it has of an event. */
#define PERF_UPDATE_NAME	2

/* Records have sizes that are no multiple of 8 in places, so nothing is read in place. */
static inline uint64_t perf_u64(const void *at)
{
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline uint32_t perf_u32(const void *at)
{
	uint32_t x;

	memcpy(&x, at, sizeof(x));
	return x;
}

static inline struct perf_hdr perf_hdr_of(const void *record)
{
	struct perf_hdr h;

	memcpy(&h, record, sizeof(h));
	return h;
}

#endif /* HWPMC_LIB_PERF_FORMAT_H */
