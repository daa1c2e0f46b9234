/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reason.c - one sentence for each value of enum hwpmc_reason.
 * Pure: calls only memory and string functions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* How hdr.detail is printed. */
enum detail_form {
	DETAIL_NONE,
	DETAIL_DECIMAL,
	DETAIL_PROCESS,			/* its number, and its name if it is known */
	DETAIL_HEX,
	DETAIL_CLASS,
	DETAIL_CAPS,
	DETAIL_ERRNO,
	DETAIL_REGISTER,	/* an MSR or a counter that RDPMC reads */
	DETAIL_HOLDER,		/* detail unused: names the PMU's holder */
};

struct reason {
	const char *name;
	const char *text;	/* the cause, true of every occurrence */
	const char *about;	/* label printed before the detail */
	enum detail_form form;
	const char *remedy;	/* what to do */
};

/* Indexed by the reason; a unit test fails on a missing entry. */
static const struct reason reasons[HWPMC_WHY__COUNT] = {
#define WHY(id, ...) [HWPMC_WHY_##id] = { #id, __VA_ARGS__ }
WHY(NONE, "no reason was given", NULL, DETAIL_NONE, NULL),
WHY(UNKNOWN_OP, "the module does not have this operation",
    "number", DETAIL_DECIMAL, "load the module of this library's version"),
WHY(NOT_YET, "this module does not support the operation",
    "number", DETAIL_DECIMAL, NULL),
WHY(RESERVED, "a reserved field of the request is not zero",
    NULL, DETAIL_NONE, NULL),
WHY(SIZE, "the module does not accept a request of this size",
    "minimum in bytes:", DETAIL_DECIMAL,
    "load the module of this library's version"),
WHY(BAD_ADDRESS, "a pointer in the request is not a valid address",
    NULL, DETAIL_NONE, NULL),
WHY(NO_MEMORY, "the kernel is out of memory",
    NULL, DETAIL_NONE, NULL),
WHY(VERSION, "the loaded module is older than this library",
    NULL, DETAIL_NONE,
    "install the module of this library's version and reload it: "
    "modprobe -r hwpmc && modprobe hwpmc"),

WHY(NOT_OWNER, "the descriptor belongs to another process",
    "process", DETAIL_DECIMAL, "open /dev/hwpmc in each process"),
WHY(NO_PMCS, "this descriptor has allocated no PMC", NULL, DETAIL_NONE, NULL),
WHY(REVOKED, "all PMCs and logs were revoked to unload the module",
    NULL, DETAIL_NONE, NULL),
WHY(PRIV_SYSTEM, "measuring a whole CPU needs CAP_PERFMON",
    NULL, DETAIL_NONE,
    "run it as root, or allow counting for all users: "
    "sysctl kern.hwpmc.unprivileged_syspmcs=1"),
WHY(PRIV_ADMIN, "the operation needs CAP_SYS_ADMIN", NULL, DETAIL_NONE,
    "run it as root"),
WHY(PRIV_ATTACH, "no permission to trace the process",
    NULL, DETAIL_NONE,
    "run as root or with CAP_PERFMON"),
WHY(PRIV_TUNABLE, "kern.hwpmc.unprivileged_proc_debug=0 forbids it",
    NULL, DETAIL_NONE,
    "run it as root, or: sysctl kern.hwpmc.unprivileged_proc_debug=1"),

WHY(MODE, "there is no such mode", NULL, DETAIL_NONE,
    "use SC, TC, SS or TS"),
WHY(CPU_RANGE, "there is no such CPU", "the highest is", DETAIL_DECIMAL,
    NULL),
WHY(CPU_WANT_ANY, "process scope counts threads on all CPUs",
    NULL, DETAIL_NONE, "use HWPMC_CPU_ANY"),
WHY(CPU_WANT_ONE, "system scope counts one CPU", NULL, DETAIL_NONE,
    "name a CPU, and allocate one PMC per CPU"),
WHY(CPU_OFFLINE, "the CPU is not online", "CPU", DETAIL_DECIMAL, NULL),
WHY(FLAGS, "unknown flags are set", "bits", DETAIL_HEX, NULL),
WHY(FLAGS_MODE, "a flag is not valid in this mode", "bit", DETAIL_HEX, NULL),
WHY(CLASS, "this machine has no counters of that class", "class",
    DETAIL_CLASS, "see: hwpmc control"),
WHY(CAPS, "counters of that class lack a capability", "missing",
    DETAIL_CAPS, NULL),
WHY(EVENT, "the class does not have this event", NULL, DETAIL_NONE,
    "see: hwpmc list"),
WHY(EVENT_BITS, "the event code sets a bit that is reserved or controlled by "
    "the module", "bit", DETAIL_DECIMAL,
    "bit 21 ('any') is allowed in system scope only"),
WHY(EVENT_ROWS, "no counter of the class can count that event",
    NULL, DETAIL_NONE, NULL),
WHY(ROWS_BUSY, "all counters that can count the event are in use", "the last is row",
    DETAIL_DECIMAL,
    "count fewer events at a time; to see their use: hwpmc control -l"),
WHY(ROW_DISABLED, "the administrator has disabled the counter", "row",
    DETAIL_DECIMAL, "enable it: pmccontrol -e"),
WHY(PMU_RESERVED, NULL, NULL, DETAIL_HOLDER, NULL),
WHY(PMU_RUNNING, "a counter that this kernel has not reserved is enabled: firmware, a "
    "hypervisor or the previous kernel left it running", "MSR", DETAIL_HEX,
    "release it there, or, mainly in a virtual machine, make hwpmc take it: "
    "sysctl kern.hwpmc.takerunning=1"),
WHY(PMU_REFUSED, "access to a counter register faulted: counts since the "
    "claim are unreliable", NULL, DETAIL_REGISTER,
    "allow the access in the hypervisor"),
WHY(SIBLINGS, "the two threads of a core share these counters, which therefore cannot follow "
    "a process", "online with a sibling: CPU", DETAIL_DECIMAL,
    "count in system scope, or: echo off >/sys/devices/system/cpu/smt/control"),
WHY(EVENT_SIBLINGS, "on this model the event cannot be counted while two threads of a core "
    "are online: it corrupts the other's counters, or shares its register",
    "CPU with a sibling", DETAIL_DECIMAL,
    "count another event, or: echo off >/sys/devices/system/cpu/smt/control"),
WHY(EVENT_PRECISE, "the event counts precise samples only, which the module does not "
    "take", NULL, DETAIL_NONE, "count another event"),
WHY(UNWIND_ROW, "the addresses of an unwind table must ascend, and each row must be a rule",
    "row", DETAIL_DECIMAL, NULL),
WHY(UNWIND_LIMIT, "the unwind tables would be larger than kern.hwpmc.unwindtables",
    "KiB needed:", DETAIL_DECIMAL, "raise the limit: sysctl kern.hwpmc.unwindtables=KIB"),
WHY(UNWIND_FILES, "too many unwind tables are of files whose inode and device numbers have the "
    "same hash", "tables", DETAIL_DECIMAL, "remove some of them"),
WHY(NO_PMU, "the module does not support the counters of this processor", NULL,
    DETAIL_NONE, NULL),
WHY(PMU_GUEST, "the hypervisor gives this machine no performance counters", NULL,
    DETAIL_NONE, "to get counters, see: hwpmc doctor"),
WHY(PMU_KINDS, "the module does not support a kind of core of this processor", NULL,
    DETAIL_NONE, "see the kernel log; a newer module may support it"),
WHY(PMU_UNKNOWN, "the module does not support the version or number of the processor's "
    "counters", "version", DETAIL_DECIMAL, "see the kernel log; a newer module may support it"),
WHY(PMU_BROKEN, "the counter registers fault or do not keep values: a hypervisor may filter "
    "them", "listed:", DETAIL_DECIMAL, "allow the access in the hypervisor"),
WHY(PMU_SHARED, "this kernel cannot keep perf away from the counters of perfmon 6", NULL,
    DETAIL_NONE, "use a kernel with CONFIG_FUNCTION_TRACER, or Linux 6.1"),
WHY(CLASS_NONE, "the module does not support counters of the class on this processor", NULL,
    DETAIL_NONE, NULL),
WHY(CLASS_GUEST, "the hypervisor gives this machine no counters of the class", NULL,
    DETAIL_NONE, NULL),
WHY(CLASS_FAULT, "registers of the class fault or read 0", NULL, DETAIL_NONE, NULL),
WHY(EVENT_FILTERED, "the event counts 0 in this virtual machine: the hypervisor filters it",
    "event", DETAIL_HEX, "count another event, or allow it in the hypervisor"),
WHY(ROW_STILL, "counters do not count or count wrong: the firmware holds them, or, in a virtual "
    "machine, a program of the host, usually its NMI watchdog", "counters:", DETAIL_DECIMAL,
    "on the host of a virtual machine: sysctl kernel.nmi_watchdog=0, and end such programs"),
WHY(ROWS_AT_ONCE, "the host of this virtual machine gives fewer counters at a time than it lists",
    "at most", DETAIL_DECIMAL, "count fewer events at a time (hwpmc stat --rotate), or free "
    "counters on the host: sysctl kernel.nmi_watchdog=0 there"),
WHY(ONLY_LISTED, "the hypervisor of this virtual machine allows only architectural events",
    "event", DETAIL_HEX, "count another event, or allow this one in the hypervisor"),
WHY(IBS_IN_USE, "perf, or another program, samples by this hardware", "MSR", DETAIL_HEX,
    "end the recording of perf with ibs_op, ibs_fetch or a precise event"),
WHY(IBS_ENTRY, "the firmware has assigned no interrupt to instruction-based sampling", NULL,
    DETAIL_NONE, "a newer firmware may do it"),
WHY(PAYLOAD, "this class of counters cannot record that with a sample",
    "flags:", DETAIL_HEX, NULL),
WHY(ROW_MISREAD, "RDPMC of some counters does not return the written value", "counters:",
    DETAIL_DECIMAL, "use other counters"),
WHY(NO_INTERRUPT, "counters do not interrupt in this virtual machine", NULL, DETAIL_NONE,
    "count instead of sampling, or sample a timer: -e clock.prof"),
WHY(PMU_MEDIATED, "a virtual machine on this host holds the counters (KVM's mediated PMU)", NULL,
    DETAIL_NONE, "end it, or load kvm_intel or kvm_amd with enable_mediated_pmu=0"),
WHY(LEAVING, "the machine is about to reboot, halt or start another kernel by kexec", NULL,
    DETAIL_NONE, NULL),
WHY(EVENT_TYPED, "this kernel checks the types of called functions (kCFI), and the module has "
    "no function of this tracepoint's type", NULL, DETAIL_NONE,
    "count a supported one: sys_enter, sys_exit, sched_switch, sched_waking, sched_wakeup"),
WHY(LOCKDOWN, "the kernel is locked down for confidentiality, which forbids samples of "
    "kernel mode", NULL, DETAIL_NONE, "sample user mode only (EVENT:u), or count"),
WHY(PRIV_KERNEL, "measuring kernel mode needs CAP_PERFMON", NULL, DETAIL_NONE,
    "measure user mode only (EVENT:u), run it as root, or: "
    "sysctl kern.hwpmc.unprivileged_kernel=1"),

WHY(BATCH, "the batch command does not exist", "command", DETAIL_DECIMAL,
    NULL),
WHY(BATCH_COUNT, "a batch call names no PMCs, or too many", "at most",
    DETAIL_DECIMAL, NULL),

WHY(ID, "the descriptor has no such PMC", NULL, DETAIL_NONE, NULL),
WHY(SYSTEM_SCOPE, "a system-scope PMC counts a CPU, not processes",
    NULL, DETAIL_NONE, "allocate it in process scope"),
WHY(PID, "invalid process ID", NULL, DETAIL_NONE, NULL),
WHY(NO_PROCESS, "there is no such process", NULL, DETAIL_NONE, NULL),
WHY(EXITING, "the process is exiting", NULL, DETAIL_NONE, NULL),
WHY(RUNNING, "the PMC is running", NULL, DETAIL_NONE, "stop it first"),
WHY(ATTACHED, "the PMC is already attached to the process",
    NULL, DETAIL_NONE, NULL),
WHY(TARGET_ROW, "another PMC counts the process with the same counter",
    "of process", DETAIL_PROCESS,
    "end that measurement, or use another event (in programs: hwpmc_open_counter())"),
WHY(NOT_TARGET, "no PMC is attached to the process", NULL, DETAIL_NONE, NULL),
WHY(NOT_ATTACHED, "this PMC is not attached to the process",
    NULL, DETAIL_NONE, NULL),
WHY(NO_TARGETS, "all target processes of the PMC have exited", NULL, DETAIL_NONE,
    "attach the PMC to another process"),
WHY(NOT_STARTED, "the PMC was never started", NULL, DETAIL_NONE, NULL),
WHY(RW_FLAGS, "neither reading nor writing was requested",
    NULL, DETAIL_NONE, NULL),
WHY(RW_MODE, "a sampling PMC has no count", NULL, DETAIL_NONE,
    "allocate it in a counting mode"),
WHY(READ_ONLY, "counters of that class cannot be written",
    NULL, DETAIL_NONE, NULL),
WHY(NO_LOG, "the PMC needs a log, and none is configured", NULL, DETAIL_NONE,
    "configure a log first"),
WHY(LOG_EXISTS, "a log is already configured", NULL, DETAIL_NONE,
    "end that log first"),
WHY(LOG_FD, "the log's descriptor is not open for writing, or the kernel "
    "cannot write to it", "descriptor", DETAIL_DECIMAL, NULL),
WHY(LOG_ERROR, "writing the log failed", NULL, DETAIL_ERRNO, NULL),
WHY(NO_RDPMC, "RDPMC cannot read counters of that class, or of one kind of core",
    NULL, DETAIL_NONE, "read it by hwpmc_read"),
WHY(MSR_OWNER_ONLY, "RDPMC needs a process-scope PMC that is attached to its "
    "owner only", NULL, DETAIL_NONE, NULL),
WHY(MSR_TAKEN, "the PMC is read by RDPMC, so it cannot be attached to other processes",
    NULL, DETAIL_NONE, "allocate a second PMC for those processes"),

WHY(ADMIN_STATE, "a counter can only be disabled or enabled",
    NULL, DETAIL_NONE, NULL),
WHY(ROW, "there is no such row", "the highest is", DETAIL_DECIMAL, NULL),
WHY(ROW_IN_USE, "the counter is in use", "row", DETAIL_DECIMAL,
    "to see its use: hwpmc control -l"),
WHY(BUFFER, "the array is too small", "entries needed:", DETAIL_DECIMAL, NULL),
WHY(INCOMPLETE, "the kernel had no memory to follow a thread: the count lacks "
    "its events", NULL, DETAIL_NONE, NULL),
WHY(RING_SIZE, "a ring's size must be a power of two, at least a page",
    "maximum in KiB:", DETAIL_DECIMAL, NULL),
WHY(LOCKED_MEMORY, "the rings need more memory than this process may lock",
    "KiB", DETAIL_DECIMAL, "request smaller rings, or raise the limit: ulimit -l"),
WHY(KGMON, "the kernel histogram does not have this command", "command",
    DETAIL_DECIMAL, NULL),
WHY(LOG_CLOSED, "the log was closed", NULL, DETAIL_NONE,
    "end it and configure another"),
WHY(KIND, "this machine has no cores of that kind", "kinds (1 core, 2 atom, 4 lowpower):",
    DETAIL_DECIMAL, NULL),
WHY(EVENT_KIND, "some kinds of core do not have this event, or use its code for another event",
    "kinds (1 core, 2 atom, 4 lowpower):", DETAIL_DECIMAL,
    "name a kind: cpu_core/EVENT/, cpu_atom/EVENT/ or cpu_lowpower/EVENT/"),
WHY(CPU_KIND, "the CPU is a core of another kind", "its kind (1 core, 2 atom, 4 lowpower):",
    DETAIL_DECIMAL, "use CPUs of the kind that has the event: -C LIST"),
WHY(REGISTER_CHANGED, "another program wrote a register of the counter during the measurement",
    NULL, DETAIL_REGISTER, "end that program, and measure again"),
WHY(COUNTER_BACK, "the counter went backwards: the virtual machine was migrated or restored, or "
    "another program wrote the counter", "row", DETAIL_DECIMAL, "measure again"),
WHY(COUNTER_TAKEN, "the host took the counter for some time, in which it did not count",
    "row", DETAIL_DECIMAL, "measure again; on the host: sysctl kernel.nmi_watchdog=0, and "
    "end other users of its counters"),
WHY(EVENT_NODE, "the event is counted for a whole node, not for a process", NULL,
    DETAIL_NONE, "count it on one CPU of each node: -C LIST"),
#undef WHY
};

static const struct reason *reason_find(uint32_t reason)
{
	if (reason >= ARRAY_LEN(reasons) || !reasons[reason].name)
		return NULL;
	return &reasons[reason];
}

EXPORT const char *hwpmc_name_of_reason(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	return r ? r->name : NULL;
}

EXPORT const char *hwpmc_reason_text(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	if (!r)
		return NULL;
	return r->form == DETAIL_HOLDER ? "another user holds the counters" :
					  r->text;
}

bool reason_names_holder(uint32_t reason)
{
	const struct reason *r = reason_find(reason);

	return r && r->form == DETAIL_HOLDER;
}

/* " (of process 138, hwpmc)"; nothing where it is not known. */
static void process_text(const char *about, int32_t pid, char *buf, size_t size)
{
	char name[32];

	if (pid <= 0)
		buf[0] = '\0';
	else if (holder_process_name(pid, name, sizeof(name)))
		snprintf(buf, size, " (%s %" PRId32 ")", about, pid);
	else
		snprintf(buf, size, " (%s %" PRId32 ", %s)", about, pid, name);
}

static void detail_text(const struct reason *r, int32_t detail, char *buf,
			size_t size)
{
	const char *name;
	char caps[160];

	switch (r->form) {
	case DETAIL_DECIMAL:
		snprintf(buf, size, " (%s %" PRId32 ")", r->about, detail);
		break;
	case DETAIL_PROCESS:
		process_text(r->about, detail, buf, size);
		break;
	case DETAIL_HEX:
		snprintf(buf, size, " (%s 0x%" PRIx32 ")", r->about,
			 (uint32_t)detail);
		break;
	case DETAIL_REGISTER:
		snprintf(buf, size, detail & HWPMC_FAULT_RDPMC ?
			 " (RDPMC 0x%" PRIx32 ")" : " (MSR 0x%" PRIx32 ")",
			 (uint32_t)detail & ~HWPMC_FAULT_RDPMC);
		break;
	case DETAIL_CLASS:
		name = hwpmc_name_of_class((uint32_t)detail);
		snprintf(buf, size, " (%s %s)", r->about, name ? name : "?");
		break;
	case DETAIL_CAPS:
		caps_to_text((uint32_t)detail, caps, sizeof(caps));
		snprintf(buf, size, " (%s %s)", r->about, caps);
		break;
	case DETAIL_ERRNO:
		snprintf(buf, size, " (%s)", strerror(detail));
		break;
	case DETAIL_NONE:
	case DETAIL_HOLDER:
		buf[0] = '\0';
		break;
	}
}

/* NULL: none for this detail. */
static const char *remedy_of(uint32_t reason, const struct reason *r, int32_t detail)
{
	if (reason == HWPMC_WHY_EVENT_BITS && detail != 21)
		return NULL;
	if (reason == HWPMC_WHY_PRIV_SYSTEM && detail)
		return detail == 2 ?
		       "run it as root (energy and frequency show what other "
		       "programs do)" :
		       "run it as root (kern.hwpmc.unprivileged_syspmcs permits "
		       "counting only)";
	return r->remedy;
}

void reason_sentence(uint32_t reason, int32_t detail, const char *holder,
		     const char *remedy, char *buf, size_t size)
{
	const struct reason *r = reason_find(reason);
	char about[200];

	if (!r) {
		snprintf(buf, size, "reason %" PRIu32 " of a newer module",
			 reason);
		return;
	}
	if (r->form == DETAIL_HOLDER) {
		snprintf(buf, size, "%s holds the counters%s%s",
			 holder ? holder : "another user",
			 remedy && *remedy ? "; " : "", remedy ? remedy : "");
		return;
	}
	detail_text(r, detail, about, sizeof(about));
	remedy = remedy_of(reason, r, detail);
	snprintf(buf, size, "%s%s%s%s", r->text, about, remedy ? "; " : "",
		 remedy ? remedy : "");
}

EXPORT void hwpmc_note_text(const struct hwpmc_classnote *note, char *buf, size_t size)
{
	const struct reason *r;
	char about[200];

	if (!note || !buf)
		return;
	r = reason_find(note->reason);
	if (!r || !r->text) {
		reason_sentence(note->reason, note->detail, NULL, NULL, buf, size);
		return;
	}
	detail_text(r, note->detail, about, sizeof(about));
	snprintf(buf, size, "%s%s", r->text, about);
}
