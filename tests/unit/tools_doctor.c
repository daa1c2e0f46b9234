/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_doctor.c - the rules of hwpmc doctor, on folders with the files that each needs:
 * what each machine must be said of, and what not. Sentences and commands of whole cases
 * are in tests/unit/doctor.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/commands.h"
#include "harness.h"

#define RELEASE	"6.1.0-1-amd64"
#define EFI	"sys/firmware/efi/efivars/"

static char root[64], said[65536];

/* Makes the folders too. */
static void put(const char *name, const char *text, size_t len)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, len, f), len);
	fclose(f);
}

#define TEXT(name, text)	put(name, text, sizeof(text) - 1)

static void leave(const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	ck_assert_int_eq(unlink(path), 0);
}

/* A machine that has all, with the module installed and not loaded. */
static void machine(void)
{
	strcpy(root, "/tmp/hwpmc-doctor.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	TEXT("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nflags\t\t: fpu arch_perfmon\n");
	TEXT("proc/sys/kernel/nmi_watchdog", "0\n");
	TEXT("proc/2/comm", "kthreadd\n");
	TEXT("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	TEXT("sys/module/module/parameters/sig_enforce", "N\n");
	TEXT("boot/config-" RELEASE, "CONFIG_MODULES=y\nCONFIG_PREEMPT_NOTIFIERS=y\n"
	     "CONFIG_TRACEPOINTS=y\nCONFIG_KPROBES=y\nCONFIG_PERF_EVENTS=y\n");
	TEXT("lib/modules/" RELEASE "/modules.dep", "updates/dkms/hwpmc.ko:\n");
	TEXT("lib/modules/" RELEASE "/updates/dkms/hwpmc.ko", "code");
	TEXT("var/lib/dkms/hwpmc/" VERSION "/source/dkms.conf", "");
}

static void gone(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* Its exit status; what it says is in said[]. */
static int doctor(void)
{
	char *argv[] = { "doctor", "--json", "--root", root, "--kernel", RELEASE, NULL };
	char path[100];
	int out, fd, status;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/said", root);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDOUT_FILENO);
	optind = 0;
	status = cmd_doctor(6, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	n = pread(fd, said, sizeof(said) - 1, 0);
	ck_assert_int_gt(n, 0);
	said[n] = 0;
	close(fd);
	return status;
}

static void finds(int status, const char *name, const char *verdict, const char *text)
{
	char want[100], *at;

	ck_assert_int_eq(doctor(), status);
	snprintf(want, sizeof(want), "\"name\":\"%s\",\"verdict\":\"%s\"", name, verdict);
	for (at = said; (at = strstr(at, want)); at++) {
		char *end = strchr(at, '}');

		*end = 0;
		if (strstr(at, text))
			return;
		*end = '}';
	}
	ck_abort_msg("no %s with '%s' in %s", want, text, said);
}

START_TEST(doctor_wants_a_module_that_is_installed_to_be_loaded)
{
	machine();
	finds(1, "module", "wrong", "modprobe hwpmc");
	/* Not the module of another name. */
	TEXT("lib/modules/" RELEASE "/modules.dep", "updates/dkms/xhwpmc.ko:\n");
	finds(1, "module", "note", "not installed");
	gone();
}
END_TEST

START_TEST(doctor_sees_the_option_that_is_missing_and_no_prefix_of_it)
{
	machine();
	TEXT("boot/config-" RELEASE, "CONFIG_MODULES=y\nCONFIG_PREEMPT_NOTIFIERS=y\n"
	     "CONFIG_TRACEPOINTS=y\n# CONFIG_KPROBES is not set\nCONFIG_KPROBES_ON_FTRACE=y\n"
	     "CONFIG_PERF_EVENTS=y\n");
	finds(1, "options", "wrong", "CONFIG_KPROBES");
	gone();
}
END_TEST

START_TEST(doctor_believes_a_container_only_without_the_kernels_threads)
{
	machine();
	TEXT("run/systemd/container", "docker\n");
	finds(1, "container", "ok", "none");
	TEXT("proc/2/comm", "sh\n");
	finds(1, "container", "ok", "this is a container");
	finds(1, "module", "wrong", "on the host");
	gone();
}
END_TEST

START_TEST(doctor_takes_secure_boot_from_its_byte_and_not_from_the_attributes)
{
	machine();
	TEXT(EFI "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\1\0\0\0\0");
	finds(1, "secure-boot", "ok", "off");
	TEXT(EFI "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\7\0\0\0\1");
	finds(1, "secure-boot", "ok", "on");
	gone();
}
END_TEST

START_TEST(doctor_wants_a_signature_where_lockdown_or_the_kernel_does)
{
	machine();
	finds(1, "signature", "ok", "accepts unsigned modules");
	TEXT("sys/module/module/parameters/sig_enforce", "Y\n");
	finds(1, "signature", "note", "is unsigned");
	TEXT("sys/module/module/parameters/sig_enforce", "N\n");
	TEXT("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	finds(1, "signature", "note", "is unsigned");
	gone();
}
END_TEST

START_TEST(doctor_names_the_next_step_towards_a_signed_module)
{
	machine();
	TEXT("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	finds(1, "key", "wrong", "DKMS has no key");
	TEXT("var/lib/dkms/mok.pub", "CERTIFICATE");
	finds(1, "key", "wrong", "mokutil --import");
	/* The keys of others are in the list. */
	TEXT(EFI "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23", "\7\0\0\0xxCERTIFICABExx");
	finds(1, "key", "wrong", "mokutil --import");
	TEXT(EFI "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23", "\7\0\0\0xxCERTIFICATExx");
	finds(1, "key", "wrong", "not signed with it");
	TEXT("lib/modules/" RELEASE "/updates/dkms/hwpmc.ko",
	     "code~Module signature appended~\n");
	finds(1, "signature", "ok", "the installed module has one");
	/* A key that is empty is in each list. */
	TEXT("var/lib/dkms/mok.pub", "");
	finds(1, "key", "wrong", "mokutil --import");
	gone();
}
END_TEST

START_TEST(doctor_says_nothing_of_a_watchdog_that_is_off_or_not_there)
{
	machine();
	finds(1, "watchdog", "ok", "off");
	leave("proc/sys/kernel/nmi_watchdog");
	finds(1, "watchdog", "ok", "off");
	TEXT("proc/sys/kernel/nmi_watchdog", "1\n");
	finds(1, "watchdog", "wrong", "sysctl kernel.nmi_watchdog=0");
	gone();
}
END_TEST

START_TEST(doctor_tells_of_guests_that_take_the_counters)
{
	machine();
	TEXT("sys/module/kvm_amd/parameters/enable_mediated_pmu", "N\n");
	ck_assert_int_eq(doctor(), 1);
	ck_assert_ptr_null(strstr(said, "mediated"));
	TEXT("sys/module/kvm_amd/parameters/enable_mediated_pmu", "Y\n");
	finds(1, "guests", "note", "modprobe kvm_amd enable_mediated_pmu=0");
	leave("sys/module/kvm_amd/parameters/enable_mediated_pmu");
	TEXT("sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y\n");
	finds(1, "guests", "note", "modprobe kvm_intel enable_mediated_pmu=0");
	ck_assert_ptr_nonnull(strstr(said, "whichever starts first"));
	gone();
}
END_TEST

/* WSL 2 has no tables of firmware, and a hypervisor passes flags on without counters. */
START_TEST(doctor_says_listed_of_flags_under_a_hypervisor)
{
	machine();
	TEXT("sys/module/hwpmc/version", VERSION "\n");
	TEXT("dev/hwpmc", "");
	finds(0, "pmu", "ok", "the processor has counters");
	finds(0, "hypervisor", "ok", "none");
	doctor();
	ck_assert_ptr_nonnull(strstr(said, "\"hypervisor\":null,"));
	TEXT("proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 23\n"
	     "flags\t\t: fpu hypervisor perfctr_core\n");
	TEXT("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n");
	finds(0, "pmu", "note", "the processor lists counters");
	finds(0, "hypervisor", "ok", "this is a virtual machine, WSL 2: ");
	doctor();
	ck_assert_ptr_nonnull(strstr(said, "\"hypervisor\":\"WSL 2\","));
	TEXT("proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 23\n"
	     "flags\t\t: fpu hypervisor\n");
	finds(1, "pmu", "wrong", "Windows gives WSL 2 counters if its hypervisor can");
	gone();
}
END_TEST

/* A part of the events: only who has counters wants to know. */
START_TEST(doctor_says_what_the_counters_of_a_cloud_lack)
{
	machine();
	TEXT("sys/module/hwpmc/version", VERSION "\n");
	TEXT("dev/hwpmc", "");
	TEXT("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	TEXT("sys/class/dmi/id/product_name", "m7i.large\n");
	TEXT("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n"
	     "flags\t\t: fpu hypervisor arch_perfmon\n");
	finds(0, "hypervisor", "ok", "Amazon EC2, Amazon EC2, m7i.large");
	finds(0, "hypervisor", "ok", "others count 0");
	TEXT("proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n"
	     "flags\t\t: fpu hypervisor\n");
	finds(1, "pmu", "wrong", "all sizes of generation 7 and later");
	doctor();
	ck_assert_ptr_null(strstr(said, "others count 0"));
	gone();
}
END_TEST

static void hold_events_of_perf(const char *pid)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/proc/%s/fd", root, pid);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	strcat(path, "/3");
	ck_assert_int_eq(symlink("anon_inode:[perf_event]", path), 0);
}

START_TEST(doctor_notes_who_traces_by_intel_pt)
{
	machine();
	TEXT("sys/module/hwpmc/version", VERSION "\n");
	TEXT("dev/hwpmc", "");
	TEXT("proc/77/cmdline", "perf\0record\0-e\0intel_pt//u\0");
	TEXT("proc/77/comm", "perf\n");
	doctor();
	ck_assert_ptr_null(strstr(said, "intel-pt"));
	TEXT("sys/bus/event_source/devices/intel_pt/type", "8\n");
	/* It has named it, and has no event. */
	finds(0, "intel-pt", "ok", "no process traces with Intel PT");
	hold_events_of_perf("77");
	finds(0, "intel-pt", "note", "perf (process 77) traces with Intel PT");
	/* Another's events are of another kind. */
	TEXT("proc/77/cmdline", "perf\0stat\0-e\0cycles\0");
	finds(0, "intel-pt", "ok", "no process traces with Intel PT");
	TEXT("var/log/dmesg", "[    1.2] PT is enabled at boot time, doing nothing\n");
	finds(0, "intel-pt", "note", "Intel PT was on when the kernel booted");
	gone();
}
END_TEST

START_TEST(doctor_is_content_only_if_nothing_is_wrong)
{
	machine();
	TEXT("sys/module/hwpmc/version", VERSION "\n");
	TEXT("dev/hwpmc", "");
	ck_assert_int_eq(doctor(), 0);
	TEXT("sys/module/hwpmc/version", "0.0.9\n");
	finds(0, "module", "note", "0.0.9");
	leave("dev/hwpmc");
	finds(1, "node", "wrong", "/dev/hwpmc does not exist");
	gone();
}
END_TEST

int main(void)
{
	harness_add(doctor_wants_a_module_that_is_installed_to_be_loaded);
	harness_add(doctor_sees_the_option_that_is_missing_and_no_prefix_of_it);
	harness_add(doctor_believes_a_container_only_without_the_kernels_threads);
	harness_add(doctor_takes_secure_boot_from_its_byte_and_not_from_the_attributes);
	harness_add(doctor_wants_a_signature_where_lockdown_or_the_kernel_does);
	harness_add(doctor_names_the_next_step_towards_a_signed_module);
	harness_add(doctor_says_nothing_of_a_watchdog_that_is_off_or_not_there);
	harness_add(doctor_tells_of_guests_that_take_the_counters);
	harness_add(doctor_says_listed_of_flags_under_a_hypervisor);
	harness_add(doctor_says_what_the_counters_of_a_cloud_lack);
	harness_add(doctor_notes_who_traces_by_intel_pt);
	harness_add(doctor_is_content_only_if_nothing_is_wrong);
	return harness_run();
}
