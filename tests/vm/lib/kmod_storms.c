// SPDX-License-Identifier: BSD-2-Clause
/* kmod_storms.c - see kmod_storms.h. Linked into the tests that storm. */
#include "kmod_storms.h"

static uint64_t random_state;

uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

void reseed(uint64_t by)
{
	random_state ^= by * 0x9e3779b97f4a7c15;
	random_state |= 1;
	pick(2);
}

void seed(void)
{
	random_state = env_number("STORM_SEED", time(NULL) * 2654435761u | 1);
	fprintf(stderr, "STORM_SEED=%lu\n", random_state);
}

unsigned int pick(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % n;
}

void cpu1_online(int on)
{
	FILE *f = fopen("/sys/devices/system/cpu/cpu1/online", "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", on);
	ck_assert_int_eq(fclose(f), 0);
}

/* ---- what goes wrong with interrupts ------------------------------------- */

static const unsigned int trouble[VPMU_KNOBS][3] = {
	[VPMU_KNOB_LATE] = { 0, 500, 20000 },
	[VPMU_KNOB_LOST] = { 0, 3, 7 },
	[VPMU_KNOB_DOUBLE] = { 0, 1, 5 },
	[VPMU_KNOB_STORM] = { 0, 15013, 50021 },
	[VPMU_KNOB_STORM_PMI] = { 0, 0, 1 },
};

static void trouble_on(int cpu, bool any)
{
	dev_pin(getpid(), cpu);
	for (int i = 0; i < VPMU_KNOBS; i++)
		vpmu_knob(i, any ? trouble[i][pick(3)] : 0);
}

void make_trouble(bool any)
{
	trouble_on(1, any);
	trouble_on(0, any);
}

/* On AMD nothing tells where an NMI is from. */
void expect_nmis(void)
{
	ck_assert_int_eq(system("lsmod | grep -q ^nmimod || insmod build/vm/kmods/$(uname -r)/nmimod.ko"), 0);
	if (dev_is_amd())
		dev_expect("NMI received for unknown reason\nDazed and confused");
}

/* ---- memory -------------------------------------------------------------- */

/*
 * The rig's own: each buffer of its file system is half a MiB in a cache for each
 * mount, which grows and shrinks as it likes. In KiB.
 */
static unsigned long memory_of_the_rig(void)
{
	unsigned long sum = 0, slabs, pages;
	FILE *f = fopen("/proc/slabinfo", "r");
	char line[256], name[64];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %*u %*u %*u %*u %lu : tunables %*u %*u %*u : slabdata %*u %lu",
			   name, &pages, &slabs) == 3 &&
		    !strncmp(name, "9p-fcall-cache", 14))
			sum += pages * slabs * 4;
	fclose(f);
	return sum;
}

unsigned long kernel_memory(void)
{
	static const char *const whose[] = {
		"Slab:", "VmallocUsed:", "Percpu:", "KernelStack:", "PageTables:",
	};
	unsigned long sum = 0, n;
	char line[128], name[32];
	FILE *f;

	sync();
	ck_assert_int_eq(system("echo 3 >/proc/sys/vm/drop_caches"), 0);
	f = fopen("/proc/meminfo", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31s %lu", name, &n) != 2)
			continue;
		for (unsigned int i = 0; i < sizeof(whose) / sizeof(*whose); i++)
			if (!strcmp(name, whose[i]))
				sum += n;
	}
	fclose(f);
	return sum - memory_of_the_rig();
}

/* Objects of a slab cache, as good as known: empty slabs are given back. */
static long objects(const char *cache)
{
	char line[512], name[64];
	long active, total = -1;
	FILE *f;

	snprintf(line, sizeof(line), "/sys/kernel/slab/%s/shrink", cache);
	f = fopen(line, "w");
	ck_assert_msg(f, "no %s: boot with slab_nomerge", line);
	fputs("1", f);
	fclose(f);
	f = fopen("/proc/slabinfo", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		long num;

		if (sscanf(line, "%63s %ld %ld", name, &active, &num) == 3 &&
		    !strcmp(name, cache))
			total = num;
	}
	fclose(f);
	return total;
}

void check_no_objects(const char *cache)
{
	long n = -1;

	for (int i = 0; i < 600; i++) {
		n = objects(cache);
		if (!n)
			return;
		dev_msleep(100);
	}
	ck_abort_msg("%ld objects of %s are left", n, cache);
}
