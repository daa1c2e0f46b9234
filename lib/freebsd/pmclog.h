/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmclog.h - FreeBSD's pmclog(3) on Linux: it returns the records of an hwpmc log as
 * FreeBSD's events, so that programs written for FreeBSD compile and work unchanged.
 * The log, and thus pl_data, has Linux's format (hwpmc_log.h).
 */
#ifndef _HWPMC_FREEBSD_PMCLOG_H
#define _HWPMC_FREEBSD_PMCLOG_H

#include <sys/types.h>
#include <limits.h>
#include <stdint.h>
#include <sys/pmclog.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMCLOG_COMM_MAX	20

enum pmclog_state {
	PMCLOG_OK,
	PMCLOG_EOF,			/* the descriptor has no more at present */
	PMCLOG_REQUIRE_DATA,		/* pmclog_feed() more */
	PMCLOG_ERROR,
};

struct pmclog_ev_callchain {
	uint32_t	pl_pid;
	uint32_t	pl_tid;
	uint32_t	pl_pmcid;
	uint32_t	pl_cpuflags;
	uint32_t	pl_cpuflags2;
	uint32_t	pl_npc;
	uintfptr_t	pl_pc[PMC_CALLCHAIN_DEPTH_MAX];
};

struct pmclog_ev_closelog {
	char		pl_nothing;	/* an empty struct has another size in C++ */
};

struct pmclog_ev_dropnotify {
	/* Linux only: dropped samples, and other dropped records. */
	uint64_t	pl_samples;
	uint64_t	pl_others;
};

struct pmclog_ev_initialize {
	uint32_t	pl_version;
	uint32_t	pl_arch;
	uint64_t	pl_tsc_freq;
	struct timespec	pl_ts;
	char		pl_cpuid[PATH_MAX];
};

struct pmclog_ev_map_in {
	pid_t		pl_pid;		/* -1: the kernel */
	uintfptr_t	pl_start;	/* load base of the file */
	char		pl_pathname[PATH_MAX];
};

struct pmclog_ev_map_out {
	pid_t		pl_pid;
	uintfptr_t	pl_start;
	uintfptr_t	pl_end;
};

/* Of old sources: samples are callchain events. */
struct pmclog_ev_pcsample {
	uintfptr_t	pl_pc;
	pid_t		pl_pid;
	pid_t		pl_tid;
	pmc_id_t	pl_pmcid;
	uint32_t	pl_flags;
	uint32_t	pl_usermode;
};

struct pmclog_ev_pmcallocate {
	const char	*pl_evname;	/* until the next pmclog_read() */
	uint64_t	pl_rate;
	uint32_t	pl_event;
	uint32_t	pl_flags;
	pmc_id_t	pl_pmcid;
};

struct pmclog_ev_pmcallocatedyn {
	char		pl_evname[PMC_NAME_MAX];
	uint32_t	pl_event;
	uint32_t	pl_flags;
	pmc_id_t	pl_pmcid;
};

struct pmclog_ev_pmcattach {
	pmc_id_t	pl_pmcid;
	pid_t		pl_pid;
	char		pl_pathname[PATH_MAX];
};

struct pmclog_ev_pmcdetach {
	pmc_id_t	pl_pmcid;
	pid_t		pl_pid;
};

struct pmclog_ev_proccsw {
	pid_t		pl_pid;
	pid_t		pl_tid;
	pmc_id_t	pl_pmcid;
	pmc_value_t	pl_value;
};

struct pmclog_ev_proccreate {
	pid_t		pl_pid;
	uint32_t	pl_flags;
	char		pl_pcomm[PMCLOG_COMM_MAX];
};

struct pmclog_ev_procexec {
	pid_t		pl_pid;
	pmc_id_t	pl_pmcid;	/* PMC_ID_INVALID: all */
	uintfptr_t	pl_entryaddr;	/* where it begins: in its interpreter, if any */
	uintptr_t	pl_baseaddr;	/* load base of the interpreter; 0: none */
	uintptr_t	pl_dynaddr;	/* of the program; 0: its file has the addresses */
	char		pl_pathname[PATH_MAX];
};

struct pmclog_ev_procexit {
	uint32_t	pl_pid;
	pmc_id_t	pl_pmcid;
	pmc_value_t	pl_value;
};

struct pmclog_ev_procfork {
	pid_t		pl_oldpid;
	pid_t		pl_newpid;
};

struct pmclog_ev_sysexit {
	pid_t		pl_pid;
};

struct pmclog_ev_threadcreate {
	pid_t		pl_tid;
	pid_t		pl_pid;
	uint32_t	pl_flags;
	char		pl_tdname[PMCLOG_COMM_MAX];
};

struct pmclog_ev_threadexit {
	pid_t		pl_tid;
};

struct pmclog_ev_userdata {
	uint32_t	pl_userdata;
};

struct pmclog_ev {
	enum pmclog_state pl_state;	/* PMCLOG_OK: other members are valid */
	off_t		pl_offset;	/* end of the record in the log */
	size_t		pl_count;	/* events so far */
	union {
		uint64_t	pl_tsc;	/* by the log's clock; never less than before */
		struct timespec	pl_ts;	/* for old sources; not set */
	};
	enum pmclog_type pl_type;
	void		*pl_data;	/* the record; valid until the next read */
	int		pl_len;
	union {
		struct pmclog_ev_callchain	pl_cc;
		struct pmclog_ev_closelog	pl_cl;
		struct pmclog_ev_dropnotify	pl_dn;
		struct pmclog_ev_initialize	pl_i;
		struct pmclog_ev_map_in		pl_mi;
		struct pmclog_ev_map_out	pl_mo;
		struct pmclog_ev_pcsample	pl_s;
		struct pmclog_ev_pmcallocate	pl_a;
		struct pmclog_ev_pmcallocatedyn	pl_ad;
		struct pmclog_ev_pmcattach	pl_t;
		struct pmclog_ev_pmcdetach	pl_d;
		struct pmclog_ev_proccsw	pl_c;
		struct pmclog_ev_proccreate	pl_pc;
		struct pmclog_ev_procexec	pl_x;
		struct pmclog_ev_procexit	pl_e;
		struct pmclog_ev_procfork	pl_f;
		struct pmclog_ev_sysexit	pl_se;
		struct pmclog_ev_threadcreate	pl_tc;
		struct pmclog_ev_threadexit	pl_te;
		struct pmclog_ev_userdata	pl_u;
	} pl_u;
};

#define PMCLOG_FD_NONE	(-1)

enum pmclog_parser_state {
	PL_STATE_NEW_RECORD,
	PL_STATE_EXPECTING_HEADER,
	PL_STATE_PARTIAL_RECORD,
	PL_STATE_ERROR,
};

/* What pmclog_open() returns begins with this, for sources that look into it. */
struct pmclog_parse_state {
	enum pmclog_parser_state ps_state;
	enum pmc_cputype ps_arch;
	uint32_t	ps_version;
	int		ps_initialized;	/* the log's beginning was read */
	int		ps_count;	/* events so far */
	off_t		ps_offset;	/* end of the last event's record */
	int		ps_fd;
	char		*ps_cpuid;	/* NULL before */
};

/* Read from fd; PMCLOG_FD_NONE: from pmclog_feed(). NULL: no memory. */
void *pmclog_open(int fd);
/* 0; -1: it reads a descriptor, or earlier data are not yet consumed. The caller
 * keeps the data until pmclog_read() returns PMCLOG_REQUIRE_DATA. No bytes: the log has
 * ended, and what was kept to be put in order is returned. */
int pmclog_feed(void *cookie, char *data, int len);
/* 0: an event; -1: ev->pl_state says why there is none. */
int pmclog_read(void *cookie, struct pmclog_ev *ev);
void pmclog_close(void *cookie);

/* Linux only: the error in the log, with its offset. */
const char *pmclog_error(const void *cookie);

#ifdef __cplusplus
}
#endif

#endif /* _HWPMC_FREEBSD_PMCLOG_H */
