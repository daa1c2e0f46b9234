/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_msr_faults.c - registers of the counters fault, as where a hypervisor filters
 * them: the module notices, refuses or goes on, declares what is not certain any
 * more, and counts again once the registers are there again.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_session.h"

static uint32_t select_msr, counter_msr, first_msr;

/* Each vCPU has its own. */
static void refuse(uint64_t which)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(VPMU_KNOB_REFUSE, which);
	}
	dev_unpin(getpid());
}

static void setup(void)
{
	bool core = vpmu_reg(VPMU_REG_VERSION, 0) >= 1;

	refuse(0);
	select_msr = !dev_is_amd() ? 0x186 : core ? 0xc0010200 : 0xc0010000;
	counter_msr = !dev_is_amd() ? 0x4c1 : core ? 0xc0010201 : 0xc0010004;
	first_msr = select_msr;
}

static void prove(void)
{
	refuse(0);
	dev_check_registers_clear();
	dev_still_counts();
}

#define REFUSED(call) do {						\
	int got_ = (call);						\
	ck_assert_msg(got_ == EIO &&					\
		      dev_hdr.reason == HWPMC_WHY_PMU_REFUSED,		\
		      "%s: errno %d, reason %u (%d)", #call, got_,	\
		      dev_hdr.reason, dev_hdr.detail);			\
} while (0)

static int read_it(int fd, uint32_t id)
{
	uint64_t value = 0;

	return dev_rw(fd, id, HWPMC_F_OLDVALUE, &value);
}

START_TEST(a_select_that_faults_refuses_the_allocation_and_names_itself)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, TC, 0, ANY, INSN, U);
	refuse(select_msr);
	REFUSED(dev_allocate(fd, &op));
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, select_msr);
	refuse(0);
	dev_ok(dev_allocate(fd, &op));
	close(fd);
}
END_TEST

START_TEST(registers_that_cannot_even_be_read_refuse_the_allocation)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, TC, 0, ANY, INSN, U);
	refuse(VPMU_REFUSE_ALL | VPMU_REFUSE_READS);
	REFUSED(dev_allocate(fd, &op));
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, first_msr);
	close(fd);
}
END_TEST

/* The switch finds it out; nobody asks a thread that is switched to. */
START_TEST(a_select_that_faults_at_a_switch_makes_the_count_uncertain)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	struct hwpmc_op_pmcallocate op;
	struct child c = dev_loop(10000);

	dev_ok(dev_attach(fd, id, c.pid));
	refuse(VPMU_REFUSE_ALL);
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_wait(&c);
	REFUSED(read_it(fd, id));
	/* Until all is given back nothing else is begun. */
	refuse(0);
	dev_request(&op, TC, 0, ANY, INSN, U);
	REFUSED(dev_allocate(fd, &op));
	dev_ok(dev_release(fd, id));
	dev_ok(dev_allocate(fd, &op));
	close(fd);
}
END_TEST

/* Turns of a child since its registers are refused, to be seen by the test. */
static volatile unsigned int *turns;

static struct child child_that_tells(void (*fn)(void *), uintptr_t arg)
{
	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(turns != MAP_FAILED);
	return dev_child(fn, (void *)arg);
}

static void await_turns(unsigned int n)
{
	unsigned int begin = *turns;

	while (*turns - begin < n)
		dev_msleep(1);
}

/* Branches of a turn, in user mode. */
#define TURN	20000

/* Refused while its counter runs here: so it is the end of the turn that fails. */
static void doze(void *which)
{
	dev_spin(100000);
	vpmu_knob(VPMU_KNOB_REFUSE, (uintptr_t)which);
	for (;;) {
		dev_msleep(1);
		++*turns;
		dev_spin(TURN);
	}
}

/* The child first: what it would still do is no part of the session. */
static void end_without(struct session *s, struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	s->stop = true;
	pthread_join(s->thread, NULL);
	end(s);
}

/* Two on a CPU, that take turns. */
static void switch_often(void *arg)
{
	for (;;) {
		dev_spin(1000);
		sched_yield();
		dev_msleep(1);
		++*turns;
	}
}

static void kill_both(struct child *c)
{
	for (int i = 0; i < 2; i++) {
		kill(c[i].pid, SIGKILL);
		waitpid(c[i].pid, NULL, 0);
	}
}

/* It would be told by a signal, or read a number that means nothing. */
START_TEST(the_page_of_a_program_is_not_valid_once_registers_fault)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	const volatile struct hwpmc_user_row *row;
	void *page;
	struct hwpmc_op_getmsr op = { .pmcid = id };
	bool valid = false;

	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	ck_assert(!ioctl(fd, HWPMC_IOC_PMCGETMSR, &op));
	page = mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	ck_assert_ptr_ne(page, MAP_FAILED);
	row = (struct hwpmc_user_row *)page + HWPMC_ID_ROW(id);
	for (int i = 0; i < 1000 && !valid; i++)
		valid = row->own == row->seq;
	ck_assert(valid);
	refuse(VPMU_REFUSE_RDPMC);
	/* Each is a switch. */
	for (int i = 0; i < 3; i++)
		dev_msleep(1);
	for (int i = 0; i < 1000; i++)
		ck_assert(row->own != row->seq && row->sum != row->seq);
	REFUSED(read_it(fd, id));
	refuse(0);
	/* The mapping keeps the descriptor. */
	munmap(page, HWPMC_USER_SIZE);
	close(fd);
}
END_TEST

/* As where a VM is moved to a host that filters it: the switch has no one to tell. */
START_TEST(rdpmc_that_faults_from_a_switch_on_refuses_the_class)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct child c[2];

	for (int i = 0; i < 2; i++) {
		c[i] = child_that_tells(switch_often, 0);
		dev_pin(c[i].pid, 1);
		dev_ok(dev_attach(fd, id, c[i].pid));
	}
	dev_ok(dev_start(fd, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	await_turns(10);
	ck_assert_int_eq(read_it(fd, id), 0);
	refuse(VPMU_REFUSE_RDPMC);
	await_turns(10);
	REFUSED(read_it(fd, id));
	ck_assert_uint_eq(dev_hdr.detail & HWPMC_FAULT_RDPMC, HWPMC_FAULT_RDPMC);
	dev_request(&op, TC, 0, ANY, BRANCH, U);
	REFUSED(dev_allocate(fd, &op));
	/* The next claim finds it out at once. */
	dev_ok(dev_release(fd, id));
	REFUSED(dev_allocate(fd, &op));
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, HWPMC_FAULT_RDPMC);
	refuse(0);
	dev_ok(dev_allocate(fd, &op));
	kill_both(c);
	close(fd);
}
END_TEST

static void run_as(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	ck_assert_int_eq(sched_setscheduler(0, policy, &param), 0);
}

/* No other thread takes its CPU until the first overflow: so it is an NMI that finds it
 * out, and no switch. */
static void lose_rdpmc(void *arg)
{
	run_as(SCHED_FIFO, 50);
	dev_spin(100000);
	vpmu_knob(VPMU_KNOB_REFUSE, VPMU_REFUSE_RDPMC);
	dev_spin(TURN);
	run_as(SCHED_OTHER, 0);
	for (;;) {
		++*turns;
		dev_spin(TURN);
	}
}

/* The second counter is far from its first overflow. */
START_TEST(rdpmc_that_faults_while_it_samples_makes_no_samples)
{
	unsigned int unknown = dev_unknown_nmis();
	struct session s;
	struct child c;
	uint32_t id, far;

	begin(&s, FAST, 0);
	id = allocate(&s, "branches:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 5000);
	far = allocate(&s, "branches:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1ull << 40);
	c = child_that_tells(lose_rdpmc, 0);
	dev_pin(c.pid, 1);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_attach(s.h, far, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	ok(&s, hwpmc_start(s.h, far));
	dev_go(&c);
	await_turns(10);
	ck_assert_int_ne(hwpmc_stop(s.h, id), 0);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PMU_REFUSED);
	refuse(0);
	end_without(&s, &c);
	ck_assert_uint_ge(s.t.samples, 10);
	/* The last overflow is not known to be one. */
	ck_assert_uint_lt(s.t.samples, overflows() - s.overflows);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
}
END_TEST

static void refuse_ack(uint64_t bits)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(VPMU_KNOB_REFUSE_ACK, bits);
	}
	dev_unpin(getpid());
}

/* The bit that ends a freeze; hypervisors that do not freeze may refuse it. */
START_TEST(an_acknowledgement_that_is_refused_with_bit_59_is_tried_without_it)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();
	int refused;

	refuse_ack(1ULL << 59);
	dev_request(&op, TC, 0, ANY, INSN, U);
	refused = dev_allocate(fd, &op);
	close(fd);
	dev_still_counts();
	refuse_ack(0);
	ck_assert_int_eq(refused, 0);
	/* Without any it cannot be: what is refused then is told. */
	refuse_ack(~0ULL);
	fd = dev_open();
	refused = dev_allocate(fd, &op);
	refuse_ack(0);
	ck_assert_int_eq(refused, EIO);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, 0x390);
	close(fd);
}
END_TEST

START_TEST(a_select_that_faults_at_the_start_of_a_cpu_refuses_the_start)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, SC, 0, 1, INSN, U | K);

	refuse(VPMU_REFUSE_ALL);
	REFUSED(dev_start(fd, id));
	REFUSED(dev_start(fd, id));
	REFUSED(read_it(fd, id));
	/* Else what cannot be written cannot be cleared. */
	refuse(0);
	close(fd);
}
END_TEST

START_TEST(what_does_not_need_the_registers_goes_on)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_TSC, .mode = SC, .cpu = 0,
		.ev = HWPMC_EV_TSC,
	};
	int fd = dev_open(), tsc = dev_open();
	uint32_t id = dev_alloc(fd, SC, 0, 0, INSN, U | K);
	uint64_t value = 0;

	dev_ok(dev_allocate(tsc, &op));
	dev_ok(dev_start(tsc, op.pmcid));
	refuse(VPMU_REFUSE_ALL);
	REFUSED(dev_start(fd, id));
	dev_ok(dev_rw(tsc, op.pmcid, HWPMC_F_OLDVALUE, &value));
	ck_assert_uint_gt(value, 0);
	refuse(0);
	close(fd);
	close(tsc);
}
END_TEST

/* Armed no more, a counter looks overflowed for ever: that makes no samples. */
START_TEST(a_counter_that_faults_while_it_samples_stands_still_and_says_so)
{
	struct child c[2];
	struct session s;
	uint64_t samples;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY,
		      5000);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(4000000);
		dev_pin(c[i].pid, i);
		ok(&s, hwpmc_attach(s.h, id, c[i].pid));
	}
	ok(&s, hwpmc_start(s.h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	while (overflows() - s.overflows < 20)
		sched_yield();
	refuse(VPMU_REFUSE_ALL);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ck_assert_int_ne(hwpmc_stop(s.h, id), 0);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PMU_REFUSED);
	ck_assert_int_ne(hwpmc_flush_log(s.h), 0);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PMU_REFUSED);
	s.stop = true;
	pthread_join(s.thread, NULL);
	samples = s.t.samples;
	s.overflows = overflows() - s.overflows;
	ck_assert_uint_le(samples, s.overflows);
	refuse(0);
	end(&s);
}
END_TEST

#define PERIOD	5000
#define TURNS	20	/* of TURN: 80 periods */

/* Else its overflows go on, and on AMD nobody owns up to their interrupts. */
static void check_armed_no_more(const char *event, uintptr_t which)
{
	struct session s;
	struct child c;
	uint64_t before;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, event, HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, PERIOD);
	c = child_that_tells(doze, which);
	dev_pin(c.pid, 1);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	/* Its last overflows may come in the first turns. */
	await_turns(TURNS);
	refuse(0);
	before = overflows();
	ck_assert_uint_gt(before, s.overflows);
	await_turns(TURNS);
	ck_assert_uint_le(overflows() - before, 1);
	ck_assert_int_ne(hwpmc_stop(s.h, id), 0);
	end_without(&s, &c);
	dev_check_registers_clear();
}

START_TEST(a_counter_that_cannot_be_stopped_is_armed_no_more)
{
	check_armed_no_more("branches:u", select_msr);
	check_armed_no_more("branches", select_msr);
	check_armed_no_more("branches", VPMU_REFUSE_ALL);
	check_armed_no_more("branches", counter_msr);
}
END_TEST

/*
 * From an overflow on, with a period left until the next: that one's interrupt is held,
 * with the counter armed again.
 */
static void stay(void *arg)
{
	uint64_t before = overflows();

	/* Where it leaves, the counter is found to go on by that. Not for real time: on
	 * kernels for that all that waits for this CPU, or for RCU, would stand still. */
	setpriority(PRIO_PROCESS, 0, -20);
	while (overflows() == before)
		dev_spin(1000);
	vpmu_knob(VPMU_KNOB_REFUSE, VPMU_REFUSE_ALL | VPMU_REFUSE_HELD);
	vpmu_knob(VPMU_KNOB_HOLD, counter_msr);
	for (;;) {
		++*turns;
		dev_spin(TURN);
	}
}

/*
 * The other CPU is refused something after this one has armed its counter and before it
 * looks whether all is well: the counter goes on, and its thread as well.
 */
static bool check_given_up_as_armed(void)
{
	uint64_t held_out = vpmu_access(VPMU_N_HELD_OUT, VPMU_ALL_VCPUS);
	unsigned int unknown = dev_unknown_nmis();
	struct session s;
	struct child c;
	uint64_t before;
	uint32_t id, other;

	/* The reader of the rings as well: CPU 1 is for one thread alone. */
	dev_pin(getpid(), 0);
	begin(&s, FAST, 0);
	id = allocate(&s, "branches:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 50000);
	other = allocate(&s, "instructions", HWPMC_MODE_SC, 0, 0, 0);
	c = child_that_tells(stay, 0);
	dev_pin(c.pid, 1);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	vpmu_knob(VPMU_KNOB_REFUSE, VPMU_REFUSE_ALL | VPMU_REFUSE_HELD);
	dev_go(&c);
	/* No more than that: its CPU may stand still soon. */
	while (!*turns)
		dev_msleep(1);
	while (hwpmc_start(s.h, other) == 0)
		ok(&s, hwpmc_stop(s.h, other));
	if (vpmu_access(VPMU_N_HELD_OUT, VPMU_ALL_VCPUS) != held_out) {
		refuse(0);
		end_without(&s, &c);
		dev_check_registers_clear();
		return false;
	}
	/* One before, and one that was held; once there was another between them, as
	 * where a switch has written the register rather than an NMI. */
	before = overflows();
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PMU_REFUSED);
	while (overflows() - s.overflows < 3)
		dev_msleep(1);
	/* Four periods more. */
	await_turns(10);
	ck_assert_uint_le(overflows() - before, 1);
	ck_assert_uint_le(overflows() - s.overflows, 4);
	refuse(0);
	end_without(&s, &c);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
	dev_check_registers_clear();
	return true;
}

/*
 * Thrice: something may yet take the thread's place for a moment. One that comes to
 * nothing is done again: after an attach the module ends its watch of the switches,
 * and code that is patched waits for the CPU that is held.
 */
START_TEST(a_counter_that_is_given_up_as_it_is_armed_overflows_once_more_and_is_ours)
{
	int done = 0;

	for (int i = 0; i < 12 && done < 3; i++)
		done += check_given_up_as_armed();
	ck_assert_int_eq(done, 3);
}
END_TEST

static void leave_for_good(void *arg)
{
	vpmu_knob(VPMU_KNOB_REFUSE, VPMU_REFUSE_ALL);
	pause();
}

/*
 * Each overflows once more after its thread has left, for whoever runs here; on AMD
 * nothing but their counters tells whose the interrupts are. The fourth never comes to
 * that, and must not own up to what is not ours when its counter counts, beyond 0.
 */
START_TEST(the_last_interrupts_of_counters_that_cannot_be_stopped_are_ours)
{
	unsigned int unknown = dev_unknown_nmis();
	uint64_t before, storm;
	struct session s;
	struct child c;
	uint32_t id[4];

	begin(&s, FAST, 0);
	c = dev_child(leave_for_good, NULL);
	dev_pin(c.pid, 1);
	for (int i = 0; i < 4; i++) {
		id[i] = allocate(&s, "branches", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY,
				 i < 3 ? 100000 << i : 20000000);
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	before = overflows();
	dev_go(&c);
	dev_await_call(c.pid, SYS_pause);
	dev_pin(getpid(), 1);
	dev_spin(600000);
	dev_unpin(getpid());
	ck_assert_uint_eq(overflows() - before, 3);
	refuse(0);
	end_without(&s, &c);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
	dev_check_registers_clear();
	/* The module expects such an interrupt for a second; nothing tells of its end. */
	dev_msleep(1500);
	begin(&s, NONE, 0);
	for (int i = 0; i < 4; i++)
		ok(&s, hwpmc_start(s.h, allocate(&s, "branches", HWPMC_MODE_SC, 0, 1, 0)));
	dev_expect("NMI received for unknown reason\nDazed and confused");
	storm = vpmu_access(VPMU_N_STORM, VPMU_ALL_VCPUS);
	dev_pin(getpid(), 1);
	dev_spin(25000000);
	vpmu_knob(VPMU_KNOB_STORM_LEFT, 1);
	vpmu_knob(VPMU_KNOB_STORM, 1000);
	while (vpmu_access(VPMU_N_STORM, VPMU_ALL_VCPUS) == storm)
		dev_spin(10000);
	vpmu_knob(VPMU_KNOB_STORM, 0);
	dev_unpin(getpid());
	ck_assert_uint_eq(dev_unknown_nmis(), unknown + 1);
	end(&s);
}
END_TEST

static void spin(void *arg)
{
	for (;;)
		dev_spin(1000000);
}

/* One register or the other, on and off, while all counts and samples. */
START_TEST(registers_that_come_and_go_under_load_hurt_nobody)
{
	uint32_t some[] = { select_msr, counter_msr, VPMU_REFUSE_ALL,
			    dev_is_amd() ? 0xc0000301 : 0x38f,
			    dev_is_amd() ? 0xc0000302 : 0x390 };

	for (int i = 0; i < 25; i++) {
		struct child c[2] = { dev_child(spin, NULL), dev_child(spin, NULL) };
		struct session s;
		uint32_t id[3];

		begin(&s, FAST, 0);
		id[0] = allocate(&s, "instructions", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 5000);
		id[1] = allocate(&s, "branches:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0);
		id[2] = allocate(&s, "instructions", HWPMC_MODE_SS, 0, 1, 20011);
		for (int j = 0; j < 2; j++)
			for (int k = 0; k < 2; k++)
				ok(&s, hwpmc_attach(s.h, id[j], c[k].pid));
		for (int j = 0; j < 3; j++)
			ok(&s, hwpmc_start(s.h, id[j]));
		dev_go(&c[0]);
		dev_go(&c[1]);
		for (int j = 0; j < 4; j++) {
			refuse(some[i % 5]);
			dev_msleep(3);
			refuse(0);
			dev_msleep(1);
		}
		s.stop = true;
		pthread_join(s.thread, NULL);
		/* With the registers back the end of it is clean. */
		end(&s);
		for (int j = 0; j < 2; j++) {
			kill(c[j].pid, SIGKILL);
			waitpid(c[j].pid, NULL, 0);
		}
		dev_check_registers_clear();
	}
}
END_TEST

static void check_no_counters_with(uint64_t which)
{
	struct hwpmc_op_pmcallocate op;
	int fd;

	dev_request(&op, TC, 0, ANY, INSN, U);
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	refuse(which);
	dev_setup();
	fd = dev_open();
	ck_assert_int_eq(dev_allocate(fd, &op), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_CLASS);
	close(fd);
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	refuse(0);
	dev_setup();
	ck_assert(try_tunable("selfcost", 0));
}

START_TEST(a_module_loaded_while_the_registers_fault_has_no_counters_of_them)
{
	check_no_counters_with(VPMU_REFUSE_ALL);
}
END_TEST

/* Counters are read by it in places where no fault can be mended. */
START_TEST(a_module_loaded_where_rdpmc_faults_has_no_counters)
{
	check_no_counters_with(VPMU_REFUSE_RDPMC);
}
END_TEST

/* Else anybody could put the counts of all in doubt by asking for such an event. */
START_TEST(an_offcore_register_that_is_missing_is_no_reason_to_doubt_others)
{
	struct hwpmc_op_pmcallocate op;
	uint32_t id;
	int fd, refused;

	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	refuse(0x1a6 | VPMU_REFUSE_READS);
	dev_setup();
	fd = dev_open();
	dev_request(&op, TC, 0, ANY, INSN, U);
	op.config = 0x1b7;	/* OFFCORE_RESPONSE_0 */
	op.config1 = 1;
	refused = dev_allocate(fd, &op);
	if (!refused)
		dev_start(fd, op.pmcid);
	id = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	dev_ok(dev_start(fd, id));
	dev_spin(1000);
	ck_assert_int_eq(read_it(fd, id), 0);
	ck_assert_int_eq(refused, EINVAL);
	close(fd);
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	refuse(0);
	dev_setup();
	ck_assert(try_tunable("selfcost", 0));
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(a_select_that_faults_refuses_the_allocation_and_names_itself);
	harness_add(registers_that_cannot_even_be_read_refuse_the_allocation);
	harness_add(a_select_that_faults_at_a_switch_makes_the_count_uncertain);
	harness_add(the_page_of_a_program_is_not_valid_once_registers_fault);
	harness_add(rdpmc_that_faults_from_a_switch_on_refuses_the_class);
	harness_add(rdpmc_that_faults_while_it_samples_makes_no_samples);
	if (!dev_is_amd())
		harness_add(an_acknowledgement_that_is_refused_with_bit_59_is_tried_without_it);
	harness_add(a_select_that_faults_at_the_start_of_a_cpu_refuses_the_start);
	harness_add(what_does_not_need_the_registers_goes_on);
	harness_add(a_counter_that_faults_while_it_samples_stands_still_and_says_so);
	harness_add(a_counter_that_cannot_be_stopped_is_armed_no_more);
	harness_add_timed(a_counter_that_is_given_up_as_it_is_armed_overflows_once_more_and_is_ours,
			  230);
	harness_add(the_last_interrupts_of_counters_that_cannot_be_stopped_are_ours);
	harness_add_timed(registers_that_come_and_go_under_load_hurt_nobody, 30);
	if (!dev_is_amd())
		harness_add(an_offcore_register_that_is_missing_is_no_reason_to_doubt_others);
	harness_add(a_module_loaded_where_rdpmc_faults_has_no_counters);
	harness_add(a_module_loaded_while_the_registers_fault_has_no_counters_of_them);
	return harness_run();
}
