/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_look.c - under a hypervisor the module looks once a second whether the counters still
 * count (kmod/pmc/look.c): the host may have taken one, or have moved the machine. A count that
 * lacks events is an error, and the counters count again.
 */
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_losses.h"

#define CPU	1
#define ALL	~0ULL

static int fd;

static void setup(void)
{
	fd = dev_open();
}

/* They count nothing. */
static void freeze(uint64_t counters)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(0, cpu);
		vpmu_knob(VPMU_KNOB_FROZEN, counters);
	}
	dev_unpin(0);
}

static void prove(void)
{
	close(fd);
	freeze(0);
	dev_check_registers_clear();
	dev_still_counts();
}

/* The host takes counters of CPU 1. */
static void steal(uint64_t counters)
{
	dev_pin(0, CPU);
	vpmu_steal(counters);
	dev_unpin(0);
}

static uint64_t stolen(void)
{
	uint64_t which;

	dev_pin(0, CPU);
	which = vpmu_steal(0);
	dev_unpin(0);
	return which;
}

static int try_read(uint32_t id)
{
	uint64_t value;

	return dev_rw(fd, id, HWPMC_F_OLDVALUE, &value);
}

/* Until a read fails. */
static void await_doubt(uint32_t id, uint32_t why)
{
	for (int i = 0; i < LOOKS * 10 && !try_read(id); i++)
		dev_msleep(100);
	ck_assert_int_eq(try_read(id), EIO);
	ck_assert_uint_eq(dev_hdr.reason, why);
}

static uint32_t of_cpu(enum dev_event event, uint32_t caps)
{
	uint32_t id = dev_alloc(fd, SC, 0, CPU, event, caps);

	dev_ok(dev_start(fd, id));
	return id;
}

static void begin_again(uint32_t id)
{
	uint64_t value = 0;

	dev_ok(dev_rw(fd, id, HWPMC_F_NEWVALUE, &value));
	dev_ok(dev_start(fd, id));
}

static void spin(void *unused)
{
	for (;;)
		dev_spin(100000);
}

static void sleep_on(void *unused)
{
	dev_spin(100000);
	for (;;)
		pause();
}

static struct child on_cpu(void (*fn)(void *))
{
	struct child c = dev_child(fn, NULL);

	dev_pin(c.pid, CPU);
	return c;
}

static void end_of(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}

/* Reads do not look. */
static void a_count_of_a_cpu_ends_in_doubt(enum dev_event event, uint32_t caps)
{
	struct child c = on_cpu(spin);
	uint32_t id = of_cpu(event, caps), other = dev_alloc(fd, SC, 0, 0, event, caps);

	dev_ok(dev_start(fd, other));
	dev_go(&c);
	dev_msleep(10);
	dev_read(fd, id);
	steal(ALL);
	await_doubt(id, HWPMC_WHY_COUNTER_TAKEN);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, HWPMC_ID_ROW(id));
	/* It counts again, for the next who asks; the other CPU's was not taken. */
	ck_assert_uint_eq(stolen(), 0);
	dev_read(fd, other);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(try_read(id), EIO);
	begin_again(id);
	dev_msleep(10);
	ck_assert_uint_gt(dev_read(fd, id), 100);
	end_of(&c);
	dev_ok(dev_release(fd, id));
	dev_ok(dev_release(fd, other));
}

START_TEST(look_finds_a_counter_that_the_host_has_taken)
{
	a_count_of_a_cpu_ends_in_doubt(INSN, U | K);
	a_count_of_a_cpu_ends_in_doubt(CYCLES, K);
}
END_TEST

START_TEST(look_finds_a_taken_counter_that_counts_user_mode_alone)
{
	a_count_of_a_cpu_ends_in_doubt(INSN, U);
	a_count_of_a_cpu_ends_in_doubt(BRANCH, U);
}
END_TEST

START_TEST(look_finds_that_a_process_has_lost_its_counter)
{
	struct child c = on_cpu(spin);
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_msleep(10);
	steal(ALL);
	await_doubt(id, HWPMC_WHY_COUNTER_TAKEN);
	ck_assert_uint_eq(stolen(), 0);
	end_of(&c);
}
END_TEST

START_TEST(look_finds_a_counter_that_is_taken_again_and_again)
{
	struct child c = on_cpu(spin);
	uint32_t id = of_cpu(INSN, U | K);

	dev_go(&c);
	for (int i = 0; i < 3; i++) {
		steal(ALL);
		await_doubt(id, HWPMC_WHY_COUNTER_TAKEN);
		ck_assert_uint_eq(stolen(), 0);
		dev_ok(dev_stop(fd, id));
		begin_again(id);
	}
	end_of(&c);
}
END_TEST

/* Before there was a look. */
START_TEST(look_at_the_stop_finds_a_taken_counter)
{
	uint32_t id = of_cpu(INSN, U | K);

	steal(ALL);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(try_read(id), EIO);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_COUNTER_TAKEN);
}
END_TEST

/* User mode alone, which the loop cannot try, and shorter than the time to the first look. */
static void count_frozen(const struct child *c, uint32_t id)
{
	freeze(ALL);
	dev_ok(dev_start(fd, id));
	dev_go((struct child *)c);
	dev_msleep(300);
}

START_TEST(look_at_stop_finds_user_counter_that_never_counted)
{
	struct child c = on_cpu(spin), other = on_cpu(spin);
	uint32_t id = dev_alloc(fd, SC, 0, CPU, INSN, U);
	uint32_t process = dev_alloc(fd, TC, 0, ANY, BRANCH, U);

	count_frozen(&c, id);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(try_read(id), EIO);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_COUNTER_TAKEN);
	/* A process, whose last count is read when it has ended. */
	dev_ok(dev_attach(fd, process, other.pid));
	count_frozen(&other, process);
	end_of(&other);
	ck_assert_int_eq(try_read(process), EIO);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_COUNTER_TAKEN);
	end_of(&c);
}
END_TEST

/* Its rows are in no use, and it could go on with what is in them. */
START_TEST(look_finds_that_the_machine_of_a_sleeper_was_moved)
{
	struct child c = on_cpu(sleep_on);
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_await_call(c.pid, SYS_pause);
	dev_read(fd, id);
	vpmu_migrated();
	for (int i = 0; i < LOOKS * 10 && !try_read(id); i++)
		dev_msleep(100);
	ck_assert_int_eq(try_read(id), EIO);
	ck_assert(dev_hdr.reason == HWPMC_WHY_REGISTER_CHANGED ||
		  dev_hdr.reason == HWPMC_WHY_COUNTER_BACK);
	end_of(&c);
}
END_TEST

/* ---- records of it in a log --------------------------------------------------- */

static void check_loss(unsigned int i, uint32_t id, uint32_t why, uint8_t flags)
{
	const struct hwpmc_log_loss *r = &losses[i];

	ck_assert_uint_eq(r->hdr.len, sizeof(*r));
	ck_assert_uint_eq(r->hdr.id, id);
	ck_assert_uint_eq(r->hdr.flags, flags);
	ck_assert_uint_eq(r->cpu, CPU);
	ck_assert_uint_eq(r->reason, why);
	ck_assert_uint_eq(r->__reserved, 0);
	ck_assert_uint_gt(r->since, log_began);
	ck_assert_uint_lt(r->since, r->hdr.time);
}

/* The host takes all counters while the child runs. */
static void take_counters(struct child *c)
{
	dev_go(c);
	dev_pin(0, CPU);
	vpmu_knob(VPMU_KNOB_FROZEN, ALL);
	await_losses(1);
}

/* The host returns the counters that it took; the loss of the PMC is over. */
static void return_counters(uint32_t id)
{
	vpmu_knob(VPMU_KNOB_FROZEN, 0);
	dev_unpin(0);
	await_losses(2);
	check_loss(0, id, HWPMC_WHY_COUNTER_TAKEN, 0);
	check_loss(1, id, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER);
	ck_assert_uint_eq(losses[1].since, losses[0].since);
}

static uint32_t sample_cpu(struct session *s, const char *event)
{
	uint32_t id = allocate(s, event, HWPMC_MODE_SS, 0, CPU, 1000003);

	ok(s, hwpmc_start(s->h, id));
	return id;
}

/* Two records of each loss, the second one when the counter counts again. */
static void a_theft_is_logged(const char *event)
{
	struct child c = on_cpu(spin);
	struct session s;
	uint32_t id;

	begin_logging(&s);
	id = sample_cpu(&s, event);
	dev_go(&c);
	dev_msleep(2500);
	for (unsigned int n = 0; n < 4; n += 2) {
		steal(ALL);
		await_losses(n + 2);
		check_loss(n, id, HWPMC_WHY_COUNTER_TAKEN, 0);
		ck_assert_int_eq(losses[n].detail, HWPMC_ID_ROW(id));
		check_loss(n + 1, id, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER);
		ck_assert_uint_eq(losses[n + 1].since, losses[n].since);
		dev_msleep(2500);
	}
	/* The counter was found in order between the two. */
	ck_assert_uint_ge(losses[2].since, losses[1].hdr.time);
	ck_assert_int_eq(hwpmc_stop(s.h, id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_COUNTER_TAKEN);
	ok(&s, hwpmc_release(s.h, id));
	finish(&s);
	ck_assert_uint_eq(atomic_load(&nlosses), 4);
	end(&s);
	end_of(&c);
}

START_TEST(look_logs_each_loss_and_its_end)
{
	a_theft_is_logged("instructions");
	a_theft_is_logged("instructions:u");
}
END_TEST

/* The host gives the counter back after some looks. */
START_TEST(look_logs_a_loss_that_goes_on_once)
{
	struct child c = on_cpu(spin);
	struct session s;
	uint32_t id, other;

	begin_logging(&s);
	id = sample_cpu(&s, "instructions");
	other = allocate(&s, "branches", SC, 0, 0, 0);
	ok(&s, hwpmc_start(s.h, other));
	take_counters(&c);
	dev_msleep(3500);
	ck_assert_uint_eq(atomic_load(&nlosses), 1);
	return_counters(id);
	ok(&s, hwpmc_release(s.h, id));
	ok(&s, hwpmc_stop(s.h, other));
	finish(&s);
	ck_assert_uint_eq(atomic_load(&nlosses), 2);
	end(&s);
	end_of(&c);
}
END_TEST

/* A stop writes what no look has found, and the next start ends the loss. */
START_TEST(look_at_the_stop_logs_the_loss)
{
	struct session s;
	uint32_t id;

	begin_logging(&s);
	id = sample_cpu(&s, "instructions");
	steal(ALL);
	ck_assert_int_eq(hwpmc_stop(s.h, id), -1);
	ok(&s, hwpmc_start(s.h, id));
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	ck_assert_uint_eq(atomic_load(&nlosses), 2);
	check_loss(0, id, HWPMC_WHY_COUNTER_TAKEN, 0);
	check_loss(1, id, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER);
	ck_assert_uint_eq(losses[1].since, losses[0].since);
	end(&s);
}
END_TEST

static void steal_on(int cpu)
{
	dev_pin(0, cpu);
	vpmu_steal(ALL);
	dev_unpin(0);
}

/* The row has lost its counter on CPU 1 before, and on CPU 0 after the start. */
START_TEST(look_logs_no_loss_of_before_the_start)
{
	struct child c = on_cpu(spin);
	struct session s;
	uint32_t id;

	begin_logging(&s);
	dev_go(&c);
	for (int cpu = CPU; cpu >= 0; cpu--) {
		dev_pin(c.pid, cpu);
		id = allocate(&s, "instructions", TC, 0, ANY, 0);
		ok(&s, hwpmc_attach(s.h, id, c.pid));
		ok(&s, hwpmc_start(s.h, id));
		dev_msleep(100);
		steal_on(cpu);
		ok(&s, hwpmc_stop(s.h, id));
		ok(&s, hwpmc_release(s.h, id));
	}
	finish(&s);
	ck_assert_uint_eq(losses_of(id, 0, 0), 1);
	ck_assert_uint_eq(losses_of(id, CPU, 0), 0);
	end(&s);
	end_of(&c);
}
END_TEST

/* The counter is still the host's as the PMC is started again. */
START_TEST(look_logs_the_end_of_a_loss_over_a_start)
{
	struct child c = on_cpu(spin);
	struct session s;
	uint32_t id;

	begin_logging(&s);
	id = sample_cpu(&s, "instructions");
	take_counters(&c);
	ck_assert_int_eq(hwpmc_stop(s.h, id), -1);
	ok(&s, hwpmc_start(s.h, id));
	dev_msleep(2500);
	ck_assert_uint_eq(atomic_load(&nlosses), 1);
	return_counters(id);
	ok(&s, hwpmc_release(s.h, id));
	finish(&s);
	ck_assert_uint_eq(atomic_load(&nlosses), 2);
	end(&s);
	end_of(&c);
}
END_TEST

static uint32_t select_msr, counter_msr;

static void load_msr_device(void)
{
	ck_assert_int_eq(system("[ -e /dev/cpu/0/msr ] || modprobe -d \"$VM_KERNEL\" msr"), 0);
	select_msr = dev_is_amd() ? 0xc001020a : 0x18d;
	counter_msr = dev_is_amd() ? 0xc0010201 : 0x4c1;
}

static uint32_t control_msr(void)
{
	if (vpmu_reg(VPMU_REG_VERSION, 0) < 2)
		return 0;
	return dev_is_amd() ? 0xc0000301 : 0x38f;
}

static uint64_t accesses(void)
{
	return vpmu_access(VPMU_N_RDMSR, CPU) + vpmu_access(VPMU_N_WRMSR, CPU) +
	       vpmu_access(VPMU_N_RDPMC, CPU);
}

/* Returns a time before this look, the next one is a second after it. */
static double await_look(void)
{
	double last, t = dev_seconds();
	uint64_t before = accesses();

	do {
		last = t;
		dev_msleep(5);
		t = dev_seconds();
	} while (accesses() == before);
	return last;
}

static bool clear_control_between_looks(void)
{
	double look = await_look();

	dev_wrmsr(CPU, control_msr(), 0);
	vpmu_knob(VPMU_KNOB_FROZEN, 0);
	return dev_seconds() - look < 0.7;
}

/* Returns false if a look may have come between the two writes. */
static bool loss_ends_before_another_reason(void)
{
	struct child c = on_cpu(spin);
	struct session s;
	bool between;
	uint32_t id;

	begin_logging(&s);
	id = sample_cpu(&s, "instructions");
	take_counters(&c);
	between = clear_control_between_looks();
	dev_unpin(0);
	if (between)
		await_losses(4);
	for (unsigned int i = 0; between && i < 4; i++) {
		check_loss(i, id, i < 2 ? HWPMC_WHY_COUNTER_TAKEN : HWPMC_WHY_REGISTER_CHANGED,
			   i & 1 ? HWPMC_LOSS_OVER : 0);
		ck_assert_uint_eq(losses[i].since, losses[i & ~1].since);
	}
	/* The look that finds the second reason ends the first one, which has lasted two looks. */
	if (between)
		ck_assert_uint_lt(4 * (losses[2].hdr.time - losses[1].hdr.time),
				  losses[1].hdr.time - losses[0].hdr.time);
	ok(&s, hwpmc_release(s.h, id));
	finish(&s);
	end(&s);
	end_of(&c);
	return between;
}

/* The host gives the counter back, and the control is cleared between two looks. */
START_TEST(look_logs_the_end_of_a_loss_before_another_reason)
{
	unsigned int rounds = 1;

	load_msr_device();
	while (!loss_ends_before_another_reason())
		ck_assert_uint_lt(rounds++, 10);
}
END_TEST

/* Its rows do not count, and the host did not take them; without a proof no row is sound. */
START_TEST(look_logs_a_cleared_control_by_its_register)
{
	struct child c = on_cpu(spin);
	uint32_t id[2];
	struct session s;

	load_msr_device();
	begin_logging(&s);
	id[0] = sample_cpu(&s, "instructions");
	id[1] = allocate(&s, "branch-misses", HWPMC_MODE_SS, 0, CPU, 1000003);
	ok(&s, hwpmc_start(s.h, id[1]));
	dev_go(&c);
	dev_msleep(2500);
	dev_wrmsr(CPU, control_msr(), 0);
	await_losses(4);
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t of = losses[i].hdr.id == id[0] ? id[0] : id[1];

		check_loss(i, of, HWPMC_WHY_REGISTER_CHANGED, losses[i].hdr.flags);
		ck_assert_uint_eq((uint32_t)losses[i].detail, control_msr());
	}
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(losses_of(id[i], CPU, 0), 1);
		ck_assert_uint_eq(losses_of(id[i], CPU, HWPMC_LOSS_OVER), 1);
	}
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(hwpmc_release(s.h, id[i]), 0);
	finish(&s);
	ck_assert_uint_eq(atomic_load(&nlosses), 4);
	end(&s);
	end_of(&c);
}
END_TEST

/* The host takes the counter of a PMC that counts the CPU or the child. */
static uint32_t lose(struct session *s, struct child *c, int mode)
{
	uint32_t id;

	begin_logging(s);
	id = allocate(s, "instructions", mode, 0, mode == TC ? ANY : CPU, 0);
	if (mode == TC)
		ok(s, hwpmc_attach(s->h, id, c->pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(c);
	dev_msleep(100);
	steal(ALL);
	return id;
}

static void check_end_logs_the_loss(int mode, bool release)
{
	struct child c = on_cpu(spin);
	struct session s;
	uint32_t id = lose(&s, &c, mode);

	if (release)
		ok(&s, hwpmc_release(s.h, id));
	finish(&s);
	if (!release)
		ok(&s, hwpmc_close_log(s.h));
	drain(&s);
	ck_assert_uint_eq(losses_of(id, CPU, 0), 1);
	check_loss(0, id, HWPMC_WHY_COUNTER_TAKEN, 0);
	end(&s);
	end_of(&c);
}

/* Its release looks, as a stop does. */
START_TEST(look_at_the_release_logs_the_loss_of_a_process)
{
	check_end_logs_the_loss(TC, true);
}
END_TEST

START_TEST(look_at_the_end_of_a_log_logs_losses_of_counts)
{
	check_end_logs_the_loss(TC, false);
	check_end_logs_the_loss(SC, false);
}
END_TEST

/* On all rows that can be the one of the first. */
static void count_of_another(int other, pid_t pid)
{
	for (unsigned int i = 0; i < dev_insn_counters(); i++) {
		uint32_t id = dev_alloc(other, TC, 0, ANY, INSN, U | K);

		dev_ok(dev_attach(other, id, pid));
		dev_ok(dev_start(other, id));
	}
}

START_TEST(look_logs_no_loss_of_others_after_the_last_target)
{
	struct child c = on_cpu(spin), after = on_cpu(spin);
	struct session s;
	uint32_t id = lose(&s, &c, TC);

	await_losses(2);
	end_of(&c);
	dev_msleep(2500);
	count_of_another(fd, after.pid);
	dev_go(&after);
	dev_msleep(2500);
	for (int i = 0; i < 3; i++) {
		steal(ALL);
		dev_msleep(2500);
	}
	ck_assert_uint_eq(stolen(), 0);
	ok(&s, hwpmc_release(s.h, id));
	finish(&s);
	ck_assert_uint_eq(losses_of(id, CPU, 0), 1);
	ck_assert_uint_eq(losses_of(id, CPU, HWPMC_LOSS_OVER), 1);
	end(&s);
	end_of(&after);
}
END_TEST

/* All CPUs where a process has run, whoever runs there now; not a PMC of another row. */
START_TEST(look_logs_that_the_machine_was_moved)
{
	struct child c = on_cpu(spin);
	uint32_t id[2], idle;
	struct session s;

	begin_logging(&s);
	for (int i = 0; i < 2; i++) {
		id[i] = allocate(&s, i ? "branches" : "instructions:u", TC, 0, ANY, 0);
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	idle = allocate(&s, "page-faults", SC, 0, CPU, 0);
	ok(&s, hwpmc_start(s.h, idle));
	dev_go(&c);
	dev_msleep(100);
	dev_pin(c.pid, 0);
	dev_msleep(100);
	vpmu_migrated();
	for (int i = 0; i < LOOKS * 10 && !(losses_of(id[0], 0, HWPMC_LOSS_OVER) &&
					    losses_of(id[1], 0, HWPMC_LOSS_OVER)); i++)
		dev_msleep(100);
	/* No more of them. */
	dev_msleep(2500);
	for (int i = 0; i < 2; i++) {
		printf("# PMC %d: %u, %u on CPU 0; %u, %u on CPU 1\n", i,
		       losses_of(id[i], 0, 0), losses_of(id[i], 0, HWPMC_LOSS_OVER),
		       losses_of(id[i], CPU, 0), losses_of(id[i], CPU, HWPMC_LOSS_OVER));
		/* A slice may have ended before the look: another reason, and another record. */
		ck_assert_uint_ge(losses_of(id[i], 0, 0), 1);
		ck_assert_uint_le(losses_of(id[i], 0, 0), 2);
		ck_assert_uint_ge(losses_of(id[i], CPU, 0), 1);
		ck_assert_uint_le(losses_of(id[i], CPU, 0), 2);
		ck_assert_uint_eq(losses_of(id[i], 0, HWPMC_LOSS_OVER), losses_of(id[i], 0, 0));
		/* The last one on the CPU that the process has left may be open. */
		ck_assert_uint_ge(losses_of(id[i], CPU, HWPMC_LOSS_OVER) + 1,
				  losses_of(id[i], CPU, 0));
	}
	ck_assert_uint_eq(losses_of(idle, CPU, 0), 0);
	finish(&s);
	end(&s);
	end_of(&c);
}
END_TEST

/* ---- a hypervisor that runs others ------------------------------------------- */

/* CPU 1 stands still in an NMI until this CPU has had a refusal, which it has only then. */
static void hold_an_nmi(void)
{
	int f = open("/dev/cpu/0/msr", O_RDWR);
	uint64_t value = 0;

	ck_assert_int_ge(f, 0);
	dev_pin(0, CPU);
	vpmu_knob(VPMU_KNOB_HOLD, counter_msr);
	dev_pin(0, 0);
	vpmu_knob(VPMU_KNOB_REFUSE, select_msr | VPMU_REFUSE_HELD);
	while (pwrite(f, &value, sizeof(value), select_msr) == sizeof(value))
		dev_msleep(30);
	vpmu_knob(VPMU_KNOB_REFUSE, 0);
	close(f);
	dev_spin(1000000);
	dev_unpin(0);
}

START_TEST(look_takes_stolen_time_for_no_cost_of_samples)
{
	struct session s;
	struct child c = on_cpu(spin);
	uint32_t id;

	load_msr_device();
	set_tunable("selfcost", 50);
	begin(&s, FAST, 0);
	/* On the first programmable counter. */
	id = allocate(&s, dev_is_amd() ? "instructions:u" : "branches:u", HWPMC_MODE_SS, 0, CPU,
		      10000000);
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	for (int i = 0; i < 3; i++)
		hold_an_nmi();
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	set_tunable("selfcost", 0);
	ck_assert_uint_ge(s.t.samples, 3);
	ck_assert_uint_eq(s.t.throttled, 0);
	end(&s);
	end_of(&c);
}
END_TEST

/* ---- where all is in order --------------------------------------------------- */

static bool under_hypervisor(void)
{
	return !system("grep -qw hypervisor /proc/cpuinfo");
}

/* All rows of a CPU count; the budget is of a second, and of the one that has begun. */
START_TEST(look_takes_ten_accesses_a_second_and_none_on_metal)
{
	struct child c = on_cpu(spin);
	unsigned int n = dev_insn_counters();
	uint64_t before, most;
	double begin;

	for (unsigned int i = 0; i < n; i++)
		of_cpu(INSN, i & 1 ? U : U | K);
	dev_go(&c);
	dev_msleep(1500);
	begin = dev_seconds();
	before = accesses();
	dev_msleep(5000);
	before = accesses() - before;
	begin = dev_seconds() - begin;
	most = under_hypervisor() ? 10 * ((long)begin + 2) : 0;
	printf("# %u rows: %llu accesses in %.1f s\n", n, (unsigned long long)before, begin);
	ck_assert_uint_le(before, most);
	if (most)
		ck_assert_uint_gt(before, 0);
	end_of(&c);
}
END_TEST

/* How often something that has a second's pause at least, up to a tick, took place in t. */
static unsigned int times_at_most(double t, unsigned int pause)
{
	return (t + 0.05) / pause + 1;
}

/* A row that stood still at the claim is tried once in five seconds. */
START_TEST(look_tries_still_rows_within_its_ten_accesses)
{
	struct child c = on_cpu(spin);
	unsigned int n = dev_insn_counters();
	uint64_t before, wrmsr, writes = 0;
	double first, begin;

	/* On the last CPU that is tried. */
	dev_pin(0, CPU);
	vpmu_knob(VPMU_KNOB_FROZEN, 1);
	dev_unpin(0);
	for (unsigned int i = 0; i < n - 1; i++)
		of_cpu(INSN, i & 1 ? U : U | K);
	dev_go(&c);
	dev_msleep(1500);
	first = dev_seconds();
	wrmsr = vpmu_access(VPMU_N_WRMSR, CPU);
	/* The row is programmed and stopped: two tries. */
	for (int i = 0; i < 12 || (i < 60 && writes < 2 * 2); i++) {
		begin = dev_seconds();
		before = accesses();
		dev_msleep(900);
		before = accesses() - before;
		ck_assert_uint_le(before, 10 * times_at_most(dev_seconds() - begin, 1));
		writes = vpmu_access(VPMU_N_WRMSR, CPU) - wrmsr;
	}
	printf("# %llu writes in %.1f s\n", (unsigned long long)writes, dev_seconds() - first);
	ck_assert_uint_ge(writes, 2 * 2);
	ck_assert_uint_le(writes, 2 * times_at_most(dev_seconds() - first, 5));
	end_of(&c);
}
END_TEST

START_TEST(look_leaves_counts_of_user_mode_exact)
{
	struct child c = dev_loop(300000000);
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_wait(&c);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(300000000));
}
END_TEST

/* Seldom events, sleepers, and CPUs that do nothing are not taken for still ones. */
START_TEST(look_finds_nothing_where_nothing_was_taken)
{
	struct child c = on_cpu(sleep_on), other = on_cpu(spin);
	uint32_t id[8], n = 0;

	id[n++] = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, id[0], c.pid));
	id[n++] = dev_alloc(fd, TC, 0, ANY, BRANCH, U | K);
	dev_ok(dev_attach(fd, id[1], c.pid));
	dev_ok(dev_start(fd, id[0]));
	dev_ok(dev_start(fd, id[1]));
	dev_go(&c);
	dev_go(&other);
	id[n++] = of_cpu(CYCLES, U);
	id[n++] = of_cpu(BRANCH, K);
	for (int i = 0; i < 5; i++) {
		dev_msleep(1000);
		if (i == 2)
			end_of(&other);
		for (uint32_t k = 0; k < n; k++)
			dev_read(fd, id[k]);
	}
	end_of(&c);
}
END_TEST

/* No user mode at all runs there from the start on. */
START_TEST(look_finds_nothing_on_a_cpu_that_is_idle)
{
	uint32_t id;

	dev_pin(0, 0);
	id = of_cpu(INSN, U);
	for (int i = 0; i < LOOKS; i++) {
		dev_msleep(1000);
		dev_read(fd, id);
	}
	dev_unpin(0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	if (under_hypervisor()) {
		harness_add(look_finds_a_counter_that_the_host_has_taken);
		harness_add(look_finds_a_taken_counter_that_counts_user_mode_alone);
		harness_add(look_finds_that_a_process_has_lost_its_counter);
		harness_add(look_finds_a_counter_that_is_taken_again_and_again);
		harness_add(look_at_the_stop_finds_a_taken_counter);
		harness_add(look_at_stop_finds_user_counter_that_never_counted);
		harness_add(look_finds_that_the_machine_of_a_sleeper_was_moved);
		harness_add(look_logs_each_loss_and_its_end);
		harness_add(look_logs_a_loss_that_goes_on_once);
		harness_add(look_at_the_stop_logs_the_loss);
		harness_add(look_logs_no_loss_of_before_the_start);
		harness_add(look_logs_the_end_of_a_loss_over_a_start);
		if (control_msr()) {
			harness_add(look_logs_the_end_of_a_loss_before_another_reason);
			harness_add(look_logs_a_cleared_control_by_its_register);
		}
		harness_add(look_at_the_release_logs_the_loss_of_a_process);
		harness_add(look_at_the_end_of_a_log_logs_losses_of_counts);
		harness_add(look_logs_no_loss_of_others_after_the_last_target);
		harness_add(look_logs_that_the_machine_was_moved);
		harness_add(look_takes_stolen_time_for_no_cost_of_samples);
		harness_add(look_tries_still_rows_within_its_ten_accesses);
	}
	harness_add(look_takes_ten_accesses_a_second_and_none_on_metal);
	harness_add(look_leaves_counts_of_user_mode_exact);
	harness_add(look_finds_nothing_where_nothing_was_taken);
	harness_add(look_finds_nothing_on_a_cpu_that_is_idle);
	return harness_run();
}
