/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_pmclog.c - what a program for FreeBSD does that samples: pmc(3) writes a log of
 * a child of known length, pmclog(3) reads it, with the module under both.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmc.h>
#include <pmclog.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define HOT3		"build/vm/progs/hot3"
#define PERIOD		10000
/* See hot3.S; the child runs some of the C library before. */
#define HOT3_ROUNDS	10000
#define HOT3_ROUND	(3 * (600 + 300 + 100) + 3 * 5 + 5)
#define HOT3_SAMPLES	(HOT3_ROUNDS * HOT3_ROUND / PERIOD)

/* Where it is written, and read: with a place in the file of its own. */
static int log_fd, read_fd;

/* A child that becomes HOT3 when its pipe is closed. */
static pid_t child_to_exec(int *go)
{
	int fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 0)
			execl(HOT3, HOT3, NULL);
		_exit(1);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static void setup(void)
{
	char path[] = "/tmp/lib_pmclog.XXXXXX";

	log_fd = mkstemp(path);
	read_fd = open(path, O_RDONLY);
	unlink(path);
	ck_assert_int_ge(log_fd, 0);
	ck_assert_int_ge(read_fd, 0);
	ck_assert_msg(pmc_init() == 0, "%s", pmc_error());
	ck_assert_msg(pmc_configure_logfile(log_fd) == 0, "%s", pmc_error());
}

static pid_t measure_child(pmc_id_t id)
{
	int go, status;
	pid_t pid = child_to_exec(&go);

	ck_assert_msg(pmc_attach(id, pid) == 0, "%s", pmc_error());
	ck_assert_msg(pmc_start(id) == 0, "%s", pmc_error());
	close(go);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(pmc_writelog(0x1234), 0);
	ck_assert_msg(pmc_flush_logfile() == 0, "%s", pmc_error());
	return pid;
}

struct found {
	unsigned int events, samples, elsewhere, dropped, execs, maps, attached;
	unsigned int others;		/* samples of other processes */
	uint64_t userdata, switched, at_exit;
	uint64_t rate;
	int event;
	char evname[PMC_NAME_MAX];
	enum pmclog_type first;
	enum pmclog_state end;
};

static void look_at(struct found *f, const struct pmclog_ev *ev, pid_t pid)
{
	const struct pmclog_ev_callchain *cc = &ev->pl_u.pl_cc;

	switch (ev->pl_type) {
	case PMCLOG_TYPE_CALLCHAIN:
		f->samples++;
		f->others += cc->pl_pid != (uint32_t)pid;
		f->elsewhere += !PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(cc->pl_cpuflags);
		break;
	case PMCLOG_TYPE_DROPNOTIFY:
		f->dropped += ev->pl_u.pl_dn.pl_samples;
		break;
	case PMCLOG_TYPE_PMCALLOCATE:
		f->rate = ev->pl_u.pl_a.pl_rate;
		f->event = (int)ev->pl_u.pl_a.pl_event;
		strcpy(f->evname, ev->pl_u.pl_a.pl_evname);
		break;
	case PMCLOG_TYPE_PMCATTACH:
		f->attached += ev->pl_u.pl_t.pl_pid == pid;
		break;
	case PMCLOG_TYPE_PROCEXEC:
		f->execs += strstr(ev->pl_u.pl_x.pl_pathname, "/hot3") != NULL;
		break;
	case PMCLOG_TYPE_MAP_IN:
		f->maps += strstr(ev->pl_u.pl_mi.pl_pathname, "/hot3") != NULL;
		break;
	case PMCLOG_TYPE_PROCCSW:
		f->switched += ev->pl_u.pl_c.pl_value;
		break;
	case PMCLOG_TYPE_PROCEXIT:
		f->at_exit += ev->pl_u.pl_e.pl_value;
		break;
	case PMCLOG_TYPE_USERDATA:
		f->userdata = ev->pl_u.pl_u.pl_userdata;
		break;
	default:
		break;
	}
}

static struct found read_log(pid_t pid)
{
	void *cookie = pmclog_open(read_fd);
	struct found f = { .events = 0 };
	struct pmclog_ev ev;

	while (pmclog_read(cookie, &ev) == 0) {
		if (!f.events++)
			f.first = ev.pl_type;
		look_at(&f, &ev, pid);
	}
	f.end = ev.pl_state;
	ck_assert_msg(f.end == PMCLOG_EOF, "%s", pmclog_error(cookie));
	pmclog_close(cookie);
	return f;
}

START_TEST(freebsd_program_reads_the_samples_that_it_took_of_a_child)
{
	struct found f;
	pmc_id_t id;
	pid_t pid;

	ck_assert_msg(pmc_allocate("instructions,usr", PMC_MODE_TS, 0,
				   PMC_CPU_ANY, &id, PERIOD) == 0, "%s",
		      pmc_error());
	pid = measure_child(id);
	f = read_log(pid);
	ck_assert_int_eq(f.first, PMCLOG_TYPE_INITIALIZE);
	ck_assert_uint_eq(f.rate, PERIOD);
	ck_assert_uint_gt(strlen(f.evname), 0);
	ck_assert_int_gt(f.event, 0);
	ck_assert_int_eq(f.event, pmc_pmu_idx_get_by_event(NULL, "instructions"));
	ck_assert_uint_eq(f.attached, 1);
	ck_assert_uint_eq(f.execs, 1);
	ck_assert_uint_ge(f.maps, 1);
	ck_assert_uint_eq(f.userdata, 0x1234);
	ck_assert_uint_eq(f.others, 0);
	/* The C library of the child before its exec: less than 20 periods. */
	ck_assert_uint_ge(f.samples + f.dropped, HOT3_SAMPLES);
	ck_assert_uint_le(f.samples + f.dropped, HOT3_SAMPLES + 20);
	ck_assert_uint_le(f.elsewhere, 20);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

/* As FreeBSD's `pmc record` does: a part of its own, then the log. */
START_TEST(freebsd_log_follows_what_its_file_has)
{
	static const char head[1000] = "a head of the program's own";
	char read_head[sizeof(head)];
	struct found f;
	pmc_id_t id;
	pid_t pid;

	ck_assert_int_eq(pmc_configure_logfile(-1), 0);
	ck_assert_int_eq(ftruncate(log_fd, 0), 0);
	ck_assert_int_eq(lseek(log_fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(write(log_fd, head, sizeof(head)), sizeof(head));
	ck_assert_msg(pmc_configure_logfile(log_fd) == 0, "%s", pmc_error());
	ck_assert_int_eq(pmc_allocate("instructions,usr", PMC_MODE_TS, 0,
				      PMC_CPU_ANY, &id, PERIOD), 0);
	pid = measure_child(id);
	ck_assert_int_eq(read(read_fd, read_head, sizeof(head)), sizeof(head));
	ck_assert_int_eq(memcmp(read_head, head, sizeof(head)), 0);
	f = read_log(pid);
	ck_assert_int_eq(f.first, PMCLOG_TYPE_INITIALIZE);
	ck_assert_uint_ge(f.samples + f.dropped, HOT3_SAMPLES);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_program_reads_the_values_of_switches_and_exits)
{
	struct found f;
	pmc_value_t v;
	pmc_id_t id;
	pid_t pid;

	ck_assert_msg(pmc_allocate("instructions,usr", PMC_MODE_TC,
				   PMC_F_LOG_PROCCSW | PMC_F_LOG_PROCEXIT,
				   PMC_CPU_ANY, &id, 0) == 0, "%s",
		      pmc_error());
	pid = measure_child(id);
	f = read_log(pid);
	ck_assert_int_eq(pmc_read(id, &v), 0);
	ck_assert_uint_ge(v, HOT3_ROUNDS * HOT3_ROUND);
	ck_assert_uint_eq(f.switched, v);
	ck_assert_uint_eq(f.at_exit, v);
	ck_assert_uint_eq(f.samples, 0);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

START_TEST(freebsd_log_ends_with_closelog)
{
	enum pmclog_type last = 0;
	struct pmclog_ev ev;
	void *cookie;
	pmc_id_t id;

	ck_assert_int_eq(pmc_allocate("instructions,usr", PMC_MODE_TS, 0,
				      PMC_CPU_ANY, &id, PERIOD), 0);
	measure_child(id);
	ck_assert_int_eq(pmc_close_logfile(), 0);
	cookie = pmclog_open(read_fd);
	/* It is written when the log's thread comes to it. */
	while (last != PMCLOG_TYPE_CLOSELOG) {
		while (pmclog_read(cookie, &ev) == 0)
			last = ev.pl_type;
		ck_assert_int_eq(ev.pl_state, PMCLOG_EOF);
		usleep(50000);
	}
	ck_assert_int_eq(last, PMCLOG_TYPE_CLOSELOG);
	pmclog_close(cookie);
	ck_assert_int_eq(pmc_release(id), 0);
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_SELFCOST);
	harness_fixture(setup, NULL);
	harness_add(freebsd_program_reads_the_samples_that_it_took_of_a_child);
	harness_add(freebsd_log_follows_what_its_file_has);
	harness_add(freebsd_program_reads_the_values_of_switches_and_exits);
	harness_add(freebsd_log_ends_with_closelog);
	return harness_run();
}
