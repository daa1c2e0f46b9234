// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_kinds - cores of several kinds: each row of each kind counts; what counts on all
 * kinds has an exact sum wherever threads run, what counts on one has what the emulated PMU
 * counted there, and the time elsewhere is kept; no register is touched that a CPU lacks.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

#include "../lib/kmod_session.h"

#define KINDS	3
#define PERIOD	20000

static const uint32_t bit_of[KINDS] = {
	HWPMC_KIND_CORE, HWPMC_KIND_ATOM, HWPMC_KIND_LOWPOWER,
};

static int fd;
static unsigned int nkinds;
static uint64_t faults;			/* #GP of the machine before the tests */

static unsigned int kind_at(int cpu)
{
	return vpmu_reg(VPMU_REG_KIND, cpu);
}

static int cpu_of_kind(unsigned int kind)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		if (kind_at(cpu) == kind)
			return cpu;
	ck_abort_msg("no CPU is of kind %u", kind);
}

static uint64_t general(unsigned int kind)
{
	return vpmu_reg(VPMU_REG_GENERAL_MAP, cpu_of_kind(kind));
}

static uint64_t fixed(unsigned int kind)
{
	return vpmu_reg(VPMU_REG_FIXED_MAP, cpu_of_kind(kind));
}

static void open_device(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
}

/* No access of the module faulted, and nothing is left. */
static void close_device(void)
{
	close(fd);
	dev_check_registers_clear();
	ck_assert_uint_eq(vpmu_access(VPMU_N_GP, VPMU_ALL_VCPUS), faults);
}

/* ---- requests ------------------------------------------------------------ */

static int try(struct hwpmc_op_pmcallocate *op, uint32_t kinds)
{
	op->kinds = kinds;
	return dev_allocate(fd, op);
}

static int try_insn(uint32_t kinds, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, TC, 0, ANY, INSN, U);
	err = try(&op, kinds);
	*id = op.pmcid;
	return err;
}

static uint32_t insn(uint32_t kinds)
{
	uint32_t id;

	dev_ok(try_insn(kinds, &id));
	return id;
}

static int try_fixed(unsigned int n, uint32_t kinds, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IAF, .ev = HWPMC_EV_IAF_FIRST + n, .caps = U,
		.mode = TC, .cpu = ANY,
	};
	int err = try(&op, kinds);

	*id = op.pmcid;
	return err;
}

static void check_reason(int err, int want, uint32_t why, int detail)
{
	ck_assert_int_eq(err, want);
	ck_assert_uint_eq(dev_hdr.reason, why);
	ck_assert_int_eq(dev_hdr.detail, detail);
}

static struct hwpmc_op_getuncounted uncounted(uint32_t id)
{
	struct hwpmc_op_getuncounted op = { .pmcid = id };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETUNCOUNTED, &op), 0);
	return op;
}

/* ---- a process whose user instructions the emulated PMU tells by kind ----- */

struct subject {
	struct child child;
	int go;
	volatile uint64_t *key;		/* its address space */
	void (*work)(void);
	int ready;
	uint64_t base[KINDS];
};

static void subject_main(void *arg)
{
	struct subject *s = arg;
	char c;

	*s->key = vpmu_key();
	if (read(s->ready, &c, 1) != 1)
		_exit(1);
	s->work();
}

static void subject_totals(struct subject *s, uint64_t total[KINDS])
{
	for (unsigned int k = 0; k < KINDS; k++)
		total[k] = vpmu_space_kind(*s->key, k, VPMU_USER_INSN);
}

/* It waits, and has executed all of what is not to be counted. */
static void subject_make(struct subject *s, void (*work)(void))
{
	int p[2];

	ck_assert(!pipe2(p, O_CLOEXEC));
	s->key = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(s->key != MAP_FAILED);
	s->ready = p[0];
	s->go = p[1];
	s->work = work;
	s->child = dev_child(subject_main, s);
	dev_go(&s->child);
	while (!*s->key)
		dev_msleep(1);
	dev_held(s->child.pid);
	subject_totals(s, s->base);
}

static void subject_start(struct subject *s, const uint32_t *ids, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		dev_ok(dev_attach(fd, ids[i], s->child.pid));
	for (unsigned int i = 0; i < n; i++)
		dev_ok(dev_start(fd, ids[i]));
}

static void subject_go(struct subject *s)
{
	ck_assert_int_eq(write(s->go, "", 1), 1);
}

/* It has ended; what it executed on each kind. */
static uint64_t subject_end(struct subject *s, uint64_t total[KINDS])
{
	uint64_t sum = 0;

	dev_wait(&s->child);
	subject_totals(s, total);
	for (unsigned int k = 0; k < KINDS; k++)
		sum += total[k] -= s->base[k];
	munmap((void *)s->key, 4096);
	close(s->go);
	close(s->ready);
	return sum;
}

static bool alive(pid_t pid)
{
	siginfo_t info = { 0 };

	waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT);
	return !info.si_pid;
}

static void migrate(pid_t pid)
{
	unsigned int seed = 1;

	while (alive(pid)) {
		dev_pin(pid, rand_r(&seed) % dev_cpus());
		dev_msleep(1);
	}
}

/* ---- rows ---------------------------------------------------------------- */

static void spin_short(void)
{
	dev_spin(20000);
}

/* All that can be had, then one more. */
static unsigned int fill(uint32_t kinds, uint32_t *ids, unsigned int most)
{
	unsigned int n = 0;
	int err;

	while (!(err = try_insn(kinds, &ids[n])))
		ck_assert_uint_lt(n++, most);
	ck_assert_int_eq(err, EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	return n;
}

static void count_on_rows(const uint32_t *ids, unsigned int n, int cpu)
{
	uint64_t total[KINDS], sum;
	struct subject s;

	subject_make(&s, spin_short);
	dev_pin(s.child.pid, cpu);
	subject_start(&s, ids, n);
	subject_go(&s);
	sum = subject_end(&s, total);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_msg(dev_read(fd, ids[i]) == sum, "PMC %u of %u on CPU %d: %ju of %ju",
			      i, n, cpu, (uintmax_t)dev_read(fd, ids[i]), (uintmax_t)sum);
}

START_TEST(every_programmable_row_of_every_kind_counts_exactly)
{
	uint32_t ids[HWPMC_ROW_MAX];

	for (unsigned int k = 0; k < nkinds; k++) {
		unsigned int n = fill(bit_of[k], ids, HWPMC_ROW_MAX);

		ck_assert_uint_eq(n, __builtin_popcountll(general(k)));
		count_on_rows(ids, n, cpu_of_kind(k));
		for (unsigned int i = 0; i < n; i++)
			dev_ok(dev_release(fd, ids[i]));
	}
}
END_TEST

START_TEST(rows_that_all_kinds_have_count_on_all)
{
	uint32_t ids[HWPMC_ROW_MAX];
	uint64_t all = ~0ULL;

	for (unsigned int k = 0; k < nkinds; k++)
		all &= general(k);
	for (unsigned int k = 0; k < nkinds; k++) {
		unsigned int n = fill(0, ids, HWPMC_ROW_MAX);

		ck_assert_uint_eq(n, __builtin_popcountll(all));
		count_on_rows(ids, n, cpu_of_kind(k));
		for (unsigned int i = 0; i < n; i++)
			dev_ok(dev_release(fd, ids[i]));
	}
}
END_TEST

/* Counters 4 and 5 of the emulated PMU count one in so many; see its README. */
static uint64_t fixed_law(unsigned int n, uint64_t insns)
{
	return n == 4 ? insns / 64 : n == 5 ? insns / 8 : insns;
}

START_TEST(every_fixed_row_of_every_kind_counts_exactly)
{
	for (unsigned int k = 0; k < nkinds; k++) {
		for (unsigned int n = 0; n < 7; n++) {
			uint64_t total[KINDS], sum, want, got;
			struct subject s;
			uint32_t id;
			int err = try_fixed(n, bit_of[k], &id);

			if (!(fixed(k) >> n & 1)) {
				check_reason(err, EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
				continue;
			}
			dev_ok(err);
			subject_make(&s, spin_short);
			dev_pin(s.child.pid, cpu_of_kind(k));
			subject_start(&s, &id, 1);
			subject_go(&s);
			sum = subject_end(&s, total);
			want = fixed_law(n, sum);
			got = dev_read(fd, id);
			/* Of events that are fractions the phase is not known. */
			ck_assert_uint_ge(got, want);
			ck_assert_uint_le(got, want + (want != sum));
			dev_ok(dev_release(fd, id));
		}
	}
}
END_TEST

/* ---- threads that change between kinds ----------------------------------- */

static void spin_long(void)
{
	dev_spin(60000000);
}

static void check_sums(struct subject *s, uint32_t all, const uint32_t *bound)
{
	uint64_t total[KINDS], sum = subject_end(s, total);

	ck_assert_uint_eq(dev_read(fd, all), sum);
	for (unsigned int k = 0; k < nkinds; k++)
		ck_assert_msg(dev_read(fd, bound[k]) == total[k],
			      "kind %u: %ju, but it executed %ju of %ju", k,
			      (uintmax_t)dev_read(fd, bound[k]), (uintmax_t)total[k],
			      (uintmax_t)sum);
	if (nkinds == 2)
		ck_assert_uint_eq(dev_read(fd, bound[0]) + dev_read(fd, bound[1]), sum);
}

static void measure(void (*work)(void), void (*disturb)(pid_t), bool each_kind)
{
	uint32_t ids[1 + KINDS];
	struct subject s;

	ids[0] = insn(0);
	for (unsigned int k = 0; k < nkinds; k++)
		ids[1 + k] = insn(bit_of[k]);
	subject_make(&s, work);
	subject_start(&s, ids, 1 + nkinds);
	subject_go(&s);
	if (disturb)
		disturb(s.child.pid);
	check_sums(&s, ids[0], ids + 1);
	for (unsigned int k = 0; each_kind && k < nkinds; k++) {
		ck_assert_uint_gt(dev_read(fd, ids[1 + k]), 0);
		ck_assert_uint_gt(uncounted(ids[1 + k]).slices, 0);
		ck_assert_uint_gt(uncounted(ids[1 + k]).ns, 0);
	}
	ck_assert_uint_eq(uncounted(ids[0]).slices, 0);
	for (unsigned int i = 0; i < 1 + nkinds; i++)
		dev_ok(dev_release(fd, ids[i]));
}

START_TEST(a_thread_that_migrates_at_random_is_counted_exactly_for_each_kind_and_in_all)
{
	measure(spin_long, migrate, true);
}
END_TEST

static void *one_of_many(void *arg)
{
	int cpu = (int)(long)arg;

	/* Half of them stay where they are, the others go where there is room. */
	if (cpu % 2)
		dev_pin(0, cpu % dev_cpus());
	for (int i = 0; i < 20; i++) {
		dev_spin(20000);
		sched_yield();
	}
	return NULL;
}

static void sixty_four_threads(void)
{
	pthread_t thread[64];

	for (long i = 0; i < 64; i++)
		if (pthread_create(&thread[i], NULL, one_of_many, (void *)i))
			_exit(1);
	for (int i = 0; i < 64; i++)
		pthread_join(thread[i], NULL);
}

START_TEST(threads_of_a_process_on_all_cpus_are_counted_exactly_for_each_kind_and_in_all)
{
	measure(sixty_four_threads, NULL, false);
}
END_TEST

START_TEST(time_on_other_kinds_is_kept_and_nothing_is_counted_there)
{
	for (unsigned int k = 0; k < nkinds; k++) {
		uint32_t here = insn(bit_of[k]), there = insn(bit_of[!k]);
		uint32_t ids[2] = { here, there };
		uint64_t total[KINDS], sum;
		struct subject s;

		subject_make(&s, spin_short);
		dev_pin(s.child.pid, cpu_of_kind(k));
		subject_start(&s, ids, 2);
		subject_go(&s);
		sum = subject_end(&s, total);
		ck_assert_uint_eq(total[k], sum);
		ck_assert_uint_eq(dev_read(fd, here), sum);
		ck_assert_uint_eq(dev_read(fd, there), 0);
		ck_assert_uint_eq(uncounted(here).slices, 0);
		ck_assert_uint_eq(uncounted(here).ns, 0);
		ck_assert_uint_ge(uncounted(there).slices, 1);
		ck_assert_uint_gt(uncounted(there).ns, 0);
		ck_assert_uint_eq(uncounted(there).kinds, bit_of[!k]);
		dev_ok(dev_release(fd, here));
		dev_ok(dev_release(fd, there));
	}
}
END_TEST

static void spin_for_ever(void)
{
	for (;;)
		dev_spin(1000000);
}

/* Also while the slice lasts, and not after a stop. */
/* Switches of a process, in both ways. */
static unsigned long switches_of(pid_t pid)
{
	unsigned long n = 0, one;
	char path[40], line[80];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &one) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &one) == 1)
			n += one;
	fclose(f);
	return n;
}

/* What is added at the end of a slice is not enough: between two reads there is none. */
static void check_growth_within_a_slice(pid_t pid, uint32_t id)
{
	unsigned long switches;
	uint64_t first, last;

	do {
		switches = switches_of(pid);
		first = uncounted(id).ns;
		for (unsigned int i = 0; i < 100; i++)
			getppid();
		last = uncounted(id).ns;
	} while (switches_of(pid) != switches);
	ck_assert_uint_gt(last, first);
}

START_TEST(time_on_other_kinds_grows_while_a_thread_runs_there)
{
	uint32_t id = insn(bit_of[0]);
	uint64_t first, last;
	struct subject s;

	subject_make(&s, spin_for_ever);
	dev_pin(s.child.pid, cpu_of_kind(1));
	dev_pin(0, 0);
	subject_start(&s, &id, 1);
	subject_go(&s);
	while (!(first = uncounted(id).ns))
		;
	while (uncounted(id).ns <= first + 1000000)
		;
	check_growth_within_a_slice(s.child.pid, id);
	dev_ok(dev_stop(fd, id));
	last = uncounted(id).ns;
	dev_msleep(5);
	ck_assert_uint_eq(uncounted(id).ns, last);
	ck_assert_uint_eq(dev_read(fd, id), 0);
	kill(s.child.pid, SIGKILL);
	waitpid(s.child.pid, NULL, 0);
	dev_unpin(0);
}
END_TEST

/* ---- sampling -------------------------------------------------------------- */

static uint32_t sampled[KINDS];		/* PMCs of one kind */
static uint64_t samples_of[KINDS], elsewhere, unsaid;
static unsigned int kind_of[64];	/* by CPU, for the thread that reads the log */
static uint32_t said[64];		/* by CPU: what the log has said of it so far */
static unsigned int times_said[64];

/* Of one kind: a sample of that kind's CPUs; and the log has said which kind a sample's CPU is,
 * before it. */
static void look_at_sample(const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_CPU_KIND) {
		said[r->hdr->id] = r->cpu_kind->kind;
		times_said[r->hdr->id]++;
		elsewhere += r->hdr->id != (uint32_t)r->cpu;
	}
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	unsaid += said[r->cpu] != bit_of[kind_of[r->cpu]];
	for (unsigned int k = 0; k < nkinds; k++) {
		samples_of[k] += r->hdr->id == sampled[k];
		elsewhere += r->hdr->id == sampled[k] && kind_of[r->cpu] != k;
	}
}

static uint32_t sample(struct session *s, unsigned int kind)
{
	static const char *const events[KINDS] = {
		"cpu_core/instructions/u", "cpu_atom/instructions/u",
		"cpu_lowpower/instructions/u",
	};

	return allocate(s, kind < KINDS ? events[kind] : "instructions:u", HWPMC_MODE_TS, 0,
			ANY, PERIOD);
}

/* What is left of a period goes with the thread, to the next core of the kind: samples and
 * declared drops are the full periods of what was executed there, and of all. */
START_TEST(each_full_period_on_each_kind_and_on_all_is_a_sample_through_migrations)
{
	uint64_t total[KINDS], sum, periods;
	struct session s;
	struct subject p;
	uint32_t all;

	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		kind_of[cpu] = kind_at(cpu);
	begin_looking(&s, FAST, 2 << 20, look_at_sample);
	all = sample(&s, KINDS);
	for (unsigned int k = 0; k < nkinds; k++)
		sampled[k] = sample(&s, k);
	subject_make(&p, spin_long);
	ok(&s, hwpmc_attach(s.h, all, p.child.pid));
	ok(&s, hwpmc_start(s.h, all));
	for (unsigned int k = 0; k < nkinds; k++) {
		ok(&s, hwpmc_attach(s.h, sampled[k], p.child.pid));
		ok(&s, hwpmc_start(s.h, sampled[k]));
	}
	subject_go(&p);
	migrate(p.child.pid);
	sum = subject_end(&p, total);
	ok(&s, hwpmc_stop(s.h, all));
	periods = sum / PERIOD;
	for (unsigned int k = 0; k < nkinds; k++) {
		ok(&s, hwpmc_stop(s.h, sampled[k]));
		periods += total[k] / PERIOD;
	}
	finish(&s);
	ck_assert_uint_eq(s.t.throttled, 0);
	ck_assert_uint_eq(s.t.samples + all_drops(&s), periods);
	ck_assert_uint_eq(all_drops(&s), s.t.dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_eq(elsewhere, 0);
	ck_assert_uint_eq(unsaid, 0);
	for (unsigned int k = 0; k < nkinds; k++) {
		ck_assert_uint_gt(total[k], 0);
		ck_assert_uint_le(samples_of[k], total[k] / PERIOD);
		ck_assert_uint_ge(samples_of[k] + all_drops(&s), total[k] / PERIOD);
	}
	end(&s);
}
END_TEST

static void spin_for_ever(void);

/* CPU 1 is offline when the log begins, and comes twice. */
static void check_log_says_kinds(void)
{
	struct subject p;
	struct session s;
	uint32_t all;

	memset(said, 0, sizeof(said));
	memset(times_said, 0, sizeof(times_said));
	elsewhere = unsaid = 0;
	dev_put("/sys/devices/system/cpu/cpu1/online", "0");
	begin_looking(&s, FAST, 2 << 20, look_at_sample);
	all = sample(&s, KINDS);
	subject_make(&p, spin_for_ever);
	ok(&s, hwpmc_attach(s.h, all, p.child.pid));
	ok(&s, hwpmc_start(s.h, all));
	subject_go(&p);
	for (int i = 0; i < 2; i++) {
		dev_put("/sys/devices/system/cpu/cpu1/online", "1");
		for (int cpu = 0; cpu < dev_cpus(); cpu++) {
			dev_pin(p.child.pid, cpu);
			dev_msleep(5);
		}
		if (!i)
			dev_put("/sys/devices/system/cpu/cpu1/online", "0");
	}
	kill(p.child.pid, SIGKILL);
	waitpid(p.child.pid, NULL, 0);
	ok(&s, hwpmc_stop(s.h, all));
	finish(&s);
	ck_assert_uint_gt(s.t.samples, 0);
	ck_assert_uint_eq(elsewhere, 0);
	ck_assert_uint_eq(unsaid, 0);
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		ck_assert_uint_eq(said[cpu], bit_of[kind_at(cpu)]);
		ck_assert_uint_eq(times_said[cpu], cpu == 1 ? 2 : 1);
	}
	end(&s);
}

START_TEST(a_log_says_the_kind_of_each_cpu_before_its_samples)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		kind_of[cpu] = kind_at(cpu);
	check_log_says_kinds();
}
END_TEST

/* ---- what is said and refused -------------------------------------------- */

START_TEST(each_cpu_says_its_kind_and_its_rows)
{
	struct hwpmc_op_getcpuinfo info = { 0 };
	uint32_t all = 0;

	dev_still_counts();	/* for close_device(): firmware left counters enabled */
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETCPUINFO, &info), 0);
	for (unsigned int k = 0; k < nkinds; k++)
		all |= bit_of[k];
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		struct hwpmc_op_getkinds op = { .cpu = cpu };

		ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETKINDS, &op), 0);
		ck_assert_uint_eq(op.kinds, all);
		ck_assert_uint_eq(op.kind, bit_of[kind_at(cpu)]);
		ck_assert_uint_eq(op.rows >> info.npmc, 0);
		for (unsigned int i = 0; i < info.nclass; i++) {
			uint64_t has = op.rows >> info.classes[i].first &
				       ((1ULL << info.classes[i].num) - 1);

			if (info.classes[i].class == HWPMC_CLASS_IAP)
				ck_assert_uint_eq(has, general(kind_at(cpu)));
			if (info.classes[i].class == HWPMC_CLASS_IAF)
				ck_assert_uint_eq(has, fixed(kind_at(cpu)));
		}
	}
}
END_TEST

/* MEM_INST_RETIRED.ALL_LOADS of performance cores: no architectural event. */
static int try_loads(uint32_t kinds, int mode, uint32_t cpu, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, mode, 0, cpu, INSN, U);
	op.config = 0x81d0;
	err = try(&op, kinds);
	*id = op.pmcid;
	return err;
}

START_TEST(an_event_that_not_all_kinds_have_needs_its_kind)
{
	uint32_t all = 0, id;

	for (unsigned int k = 0; k < nkinds; k++)
		all |= bit_of[k];
	check_reason(try_loads(0, TC, ANY, &id), EINVAL, HWPMC_WHY_EVENT_KIND, all);
	dev_ok(try_loads(bit_of[0], TC, ANY, &id));
	dev_ok(dev_release(fd, id));
	dev_ok(try_loads(bit_of[1], TC, ANY, &id));
	dev_ok(dev_release(fd, id));
	check_reason(try_fixed(3, 0, &id), EINVAL, HWPMC_WHY_EVENT_KIND, bit_of[0]);
	dev_ok(try_fixed(3, bit_of[0], &id));
	dev_ok(dev_release(fd, id));
	check_reason(try_insn(8, &id), EINVAL, HWPMC_WHY_KIND, all);
}
END_TEST

/* What is of all CPUs has no kind. */
START_TEST(a_class_without_kinds_refuses_them)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_SOFT, .ev = HWPMC_EV_SOFT_FIRST, .mode = TC, .cpu = ANY,
		.caps = U,
	};

	check_reason(try(&op, bit_of[0]), EINVAL, HWPMC_WHY_KIND, 0);
}
END_TEST

START_TEST(in_system_scope_the_cpu_says_the_kind)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		unsigned int k = kind_at(cpu), n = __builtin_popcountll(general(k));
		uint32_t ids[HWPMC_ROW_MAX], id;

		check_reason(try_loads(bit_of[!k], SC, cpu, &id), EINVAL,
			     HWPMC_WHY_CPU_KIND, bit_of[k]);
		for (unsigned int i = 0; i < n; i++) {
			dev_ok(try_loads(i & 1 ? bit_of[k] : 0, SC, cpu, &ids[i]));
			dev_ok(dev_start(fd, ids[i]));
			if (k == 0 && i == 3)	/* such events have four counters there */
				n = 4;
		}
		ck_assert_int_eq(try_loads(0, SC, cpu, &id), EINVAL);
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
		for (unsigned int i = 0; i < n; i++)
			dev_ok(dev_release(fd, ids[i]));
	}
}
END_TEST

START_TEST(a_counter_that_not_all_kinds_have_has_no_index_for_rdpmc)
{
	struct hwpmc_op_getmsr op = { .pmcid = insn(bit_of[0]) };

	dev_ok(dev_attach(fd, op.pmcid, 0));
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCGETMSR, &op), -1);
	ck_assert_int_eq(errno, ENOSYS);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_NO_RDPMC);
	dev_ok(dev_release(fd, op.pmcid));
}
END_TEST

/* ---- CPUs that go and come ----------------------------------------------- */

static void set_online(unsigned int kind, const char *text)
{
	for (int cpu = 1; cpu < dev_cpus(); cpu++) {
		char path[80];

		if (kind_at(cpu) != kind)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		dev_put(path, text);
	}
}

static void atoms_go_and_come(pid_t pid)
{
	for (int i = 0; i < 2; i++) {
		set_online(1, "0");
		dev_msleep(10);
		set_online(1, "1");
		for (int n = 0; n < 20 && alive(pid); n++) {
			dev_pin(pid, n % dev_cpus());
			dev_msleep(1);
		}
	}
}

START_TEST(all_cores_of_a_kind_go_and_come_and_all_is_counted)
{
	measure(spin_long, atoms_go_and_come, false);
	dev_still_counts();
}
END_TEST

/* One kind is off while the module is loaded, and comes later. */
START_TEST(a_kind_that_comes_after_the_module_counts)
{
	close(fd);
	set_online(1, "0");
	ck_assert_int_eq(system("rmmod hwpmc && insmod build/kmod/$(uname -r)/hwpmc.ko"), 0);
	open_device();
	set_online(1, "1");
	measure(spin_long, migrate, true);
	for (unsigned int k = 0; k < nkinds; k++) {
		uint32_t ids[HWPMC_ROW_MAX];
		unsigned int n = fill(bit_of[k], ids, HWPMC_ROW_MAX);

		ck_assert_uint_eq(n, __builtin_popcountll(general(k)));
		for (unsigned int i = 0; i < n; i++)
			dev_ok(dev_release(fd, ids[i]));
	}
}
END_TEST

int main(void)
{
	dev_setup();
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		if (kind_at(cpu) >= nkinds)
			nkinds = kind_at(cpu) + 1;
	faults = vpmu_access(VPMU_N_GP, VPMU_ALL_VCPUS);
	harness_fixture(open_device, close_device);
	harness_add(each_cpu_says_its_kind_and_its_rows);
	harness_add(every_programmable_row_of_every_kind_counts_exactly);
	harness_add(rows_that_all_kinds_have_count_on_all);
	harness_add(every_fixed_row_of_every_kind_counts_exactly);
	harness_add(an_event_that_not_all_kinds_have_needs_its_kind);
	harness_add(a_class_without_kinds_refuses_them);
	harness_add(in_system_scope_the_cpu_says_the_kind);
	harness_add(a_counter_that_not_all_kinds_have_has_no_index_for_rdpmc);
	harness_add(time_on_other_kinds_is_kept_and_nothing_is_counted_there);
	harness_add(time_on_other_kinds_grows_while_a_thread_runs_there);
	harness_add_timed(a_thread_that_migrates_at_random_is_counted_exactly_for_each_kind_and_in_all, 60);
	harness_add_timed(threads_of_a_process_on_all_cpus_are_counted_exactly_for_each_kind_and_in_all, 60);
	harness_add_timed(each_full_period_on_each_kind_and_on_all_is_a_sample_through_migrations,
			  60);
	harness_add_timed(a_log_says_the_kind_of_each_cpu_before_its_samples, 60);
	harness_add_timed(all_cores_of_a_kind_go_and_come_and_all_is_counted, 60);
	harness_add_timed(a_kind_that_comes_after_the_module_counts, 60);
	return harness_run();
}
