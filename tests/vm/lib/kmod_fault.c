// SPDX-License-Identifier: BSD-2-Clause
/* kmod_fault.c - see kmod_fault.h. A task's fail-nth says which fault is to be. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "../tests/kmod_dev.h"
#include "kmod_fault.h"

#define DEBUG	"/sys/kernel/debug/"

static int nth = -1;		/* the descriptor of fail-nth, of this thread */

void fault_arm(unsigned int n)
{
	char text[16];
	size_t len = sprintf(text, "%u", n);

	if (pwrite(nth, text, len, 0) != len)
		_exit(99);
}

/* Was there a fault? If not, the last may hit these very calls. */
bool fault_disarm(void)
{
	char text[16] = "";
	bool hit = pread(nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(nth, "0", 1, 0) != 1)
		;
	return hit;
}

unsigned int fault_count(unsigned int n)
{
	char text[16] = "";
	ssize_t got = pread(nth, text, sizeof(text) - 1, 0);

	fault_disarm();
	ck_assert_int_gt(got, 0);
	return n - atoi(text);
}

void fault_setup(void)
{
	nth = open("/proc/thread-self/fail-nth", O_RDWR);
	ck_assert_msg(nth >= 0, "fail-nth: %s", strerror(errno));
	/* Faults of pages are not to be among those that are counted. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
}

static void put(const char *path, const char *text)
{
	int f = open(path, O_WRONLY);

	if (f < 0 || write(f, text, strlen(text)) <= 0) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(f);
}

/* All of them. FAULTS_VERBOSE=2: the kernel says where each is, as a stack. */
static void choose(void)
{
	const char *verbose = getenv("FAULTS_VERBOSE") ?: "0";

	put(DEBUG "failslab/ignore-gfp-wait", "N");
	put(DEBUG "failslab/verbose", verbose);
	put(DEBUG "fail_page_alloc/ignore-gfp-wait", "N");
	put(DEBUG "fail_page_alloc/ignore-gfp-highmem", "N");
	put(DEBUG "fail_page_alloc/min-order", "0");
	put(DEBUG "fail_page_alloc/verbose", verbose);
	put(DEBUG "fail_usercopy/verbose", verbose);
}

/* The kernel says so where its own stacks find no memory; what else it says counts. */
static void expect_warnings(void)
{
	const char *out = getenv("VM_OUT");
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/expected", out ? out : "/tmp");
	f = fopen(path, "w");
	if (!f)
		return;
	fputs("vmalloc error\nCall Trace:\nRIP: 0033:\n"
	      "WARNING: .* at kernel/trace/trace_events.c:[0-9]* event_define_fields\n"
	      "RIP: 0010:event_define_fields\n", f);
	fclose(f);
}

/* A thread whose restartable sequences cannot be written gets SIGSEGV from the kernel,
 * for want of a page too: programs of these tests have none. */
static void without_rseq(void)
{
	char *args[] = { "kmod_faults", NULL };

	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	execv("/proc/self/exe", args);
}

void fault_main(void)
{
	without_rseq();
	expect_warnings();
	if (access("/proc/self/fail-nth", W_OK)) {
		printf("Bail out! the kernel has no fault injection\n");
		exit(1);
	}
	choose();
	dev_setup();
}
