// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * drain.c - the thread that writes a log to its descriptor: one thread for each log
 * of the descriptor form, with the owner's credentials. It writes the records of
 * each ring in turn, directly from the ring, after a CPU record. A sweep over all rings
 * takes what is older than its beginning, and ends with a SYNC record: so what any record
 * in it depends on is in it too, or before it.
 *
 * A write can block for ever (a pipe without a reader): only SIGKILL, which
 * hwpmc_drain_urge() sends, ends it. The release of the file can last as long as its user
 * likes, too. Both happen here alone, so that they hold up this log and no other.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/kthread.h>
#include <linux/major.h>
#include <linux/sched/signal.h>

#include "../compat/fput.h"
#include "../core/owner.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "../sampling/log_object.h"
#include "drain.h"
#include "end.h"
#include "limits.h"
#include "records.h"

/* Most bytes of one ring in a write: the other rings fill up meanwhile. */
#define PIECE		(256 * 1024)
/* And of what is no regular file: a write of it returns when a reader has made room for
 * all, and only then is progress seen. */
#define STREAM_PIECE	4096
/* Longest time between two sweeps. */
#define PERIOD		(HZ / 10)
/* A sweep without a limit of time. */
#define ALL		U64_MAX

static loff_t *drain_position(struct hwpmc_log *log, loff_t *zero)
{
	*zero = 0;
	return S_ISREG(file_inode(log->file)->i_mode) ? &log->pos : zero;
}

/* Devices of which a program's write is the only one, but what it does is known. */
enum { MEMORY_NULL = 3, MEMORY_FULL = 7 };

static bool is_memory_device(const struct file *file, unsigned int minor)
{
	const struct inode *inode = file_inode(file);

	return S_ISCHR(inode->i_mode) && inode->i_rdev == MKDEV(MEM_MAJOR, minor);
}

bool hwpmc_drain_can_write(const struct file *file)
{
	if (!(file->f_mode & FMODE_WRITE))
		return false;
	/* kernel_write() needs write_iter(), and refuses a file that has write() too. */
	return (file->f_op->write_iter && !file->f_op->write) ||
	       is_memory_device(file, MEMORY_NULL) || is_memory_device(file, MEMORY_FULL);
}

static ssize_t write_some(struct hwpmc_log *log, const void *data, size_t len)
{
	loff_t zero;

	if (is_memory_device(log->file, MEMORY_NULL))
		return len;
	if (is_memory_device(log->file, MEMORY_FULL))
		return -ENOSPC;
	if (!S_ISREG(file_inode(log->file)->i_mode))
		len = min_t(size_t, len, STREAM_PIECE);
	return kernel_write(log->file, data, len, drain_position(log, &zero));
}

static int write_all(struct hwpmc_log *log, const void *data, size_t len)
{
	while (len) {
		ssize_t n = write_some(log, data, len);

		trace_hwpmc_logging_write(len, n);
		if (n == -EAGAIN) {	/* the descriptor does not block */
			schedule_timeout_interruptible(1);
			if (!signal_pending(current))
				continue;
			n = -EINTR;
		}
		if (n <= 0)
			return n ? n : -EIO;
		data += n;
		len -= n;
		WRITE_ONCE(log->progress, log->progress + n);
	}
	return 0;
}

/*
 * Where the records end that are older than `until`. The first of a log is not judged:
 * the clock of some machines is not the same to a hair on all CPUs, and it must be the
 * first of the stream.
 */
static u64 end_of_older(const struct hwpmc_ring *ring, u64 head, u64 until)
{
	u64 at = ring->ctl->tail;

	while (at != head) {
		const struct hwpmc_log_hdr *hdr = hwpmc_ring_at(ring, at);

		if (hdr->type != HWPMC_LOG_INITIALIZE && hdr->time >= until)
			break;
		at += hdr->len;
	}
	return at;
}

/* Only this thread writes tail: rings of the descriptor form are not mapped. */
static int write_ring(struct hwpmc_log *log, struct hwpmc_log_cpu *lc, u64 until)
{
	struct hwpmc_log_ring *ctl = lc->ring.ctl;
	struct hwpmc_log_hdr mark;
	u64 tail = ctl->tail, head;
	int ret;

	head = smp_load_acquire(&ctl->head);	/* C: hwpmc_ring_publish_nmi() */
	if (until != ALL)
		head = end_of_older(&lc->ring, head, until);
	if (head == tail)
		return 0;
	/* No CPU record before INITIALIZE, the first record of the stream. */
	if (tail || lc->ring.cpu != cpumask_first(cpu_possible_mask)) {
		hwpmc_records_fill_cpu(&mark, lc->ring.cpu);
		ret = write_all(log, &mark, sizeof(mark));
		if (ret)
			return ret;
	}
	while (tail != head) {
		u64 len = min_t(u64, head - tail, PIECE);

		ret = write_all(log, hwpmc_ring_at(&lc->ring, tail), len);
		if (ret)
			return ret;
		tail += len;
		/* Gives the space back to the writer: the data was read. */
		smp_store_release(&ctl->tail, tail);
	}
	return 0;
}

static void sweep_done(struct hwpmc_log *log)
{
	if (S_ISREG(file_inode(log->file)->i_mode))
		log->file->f_pos = log->pos;
	hwpmc_stat_inc(log_sweeps);
}

static int drain_sweep(struct hwpmc_log *log)
{
	u64 until = hwpmc_log_time_nmi(), before = log->progress;
	struct hwpmc_log_hdr sync;
	int cpu, ret = 0;

	for_each_possible_cpu(cpu)
		ret = ret ?: write_ring(log, per_cpu_ptr(log->cpus, cpu), until);
	if (!ret && log->progress != before) {
		hwpmc_records_fill_sync(&sync, until);
		ret = write_all(log, &sync, sizeof(sync));
	}
	sweep_done(log);
	return ret;
}

/* Of a log that no CPU writes to any more: the ring with CLOSELOG is the last. */
static int drain_rest(struct hwpmc_log *log)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu)
		if (cpu != log->end_cpu)
			ret = ret ?: write_ring(log, per_cpu_ptr(log->cpus, cpu), ALL);
	ret = ret ?: write_ring(log, per_cpu_ptr(log->cpus, log->end_cpu), ALL);
	sweep_done(log);
	return ret;
}

/* Write everything, and again until every ring had room to declare its drops. */
static int sweep_all(struct hwpmc_log *log)
{
	int ret;

	do {
		ret = drain_sweep(log);
	} while (!ret && !hwpmc_log_declare_all(log));
	return ret ?: drain_sweep(log);
}

static bool has_work(struct hwpmc_log *log)
{
	return READ_ONCE(log->asked) != READ_ONCE(log->answered) ||
	       READ_ONCE(log->closing) || kthread_should_stop();
}

/* Returns when the log is closed and all of it is written, or on an error. */
static int drain_serve(struct hwpmc_log *log)
{
	bool closing = false;
	u64 asked;
	int ret;

	while (!closing && !kthread_should_stop()) {
		wait_event_interruptible_timeout(log->owner->log_wait,
						 has_work(log), PERIOD);
		if (signal_pending(current))
			return -EINTR;
		asked = READ_ONCE(log->asked);
		closing = READ_ONCE(log->closing);
		if (closing || asked != log->answered) {
			ret = sweep_all(log);
			if (!ret && closing) {
				hwpmc_records_end(log);
				ret = drain_rest(log);
			}
		} else {
			ret = drain_sweep(log);
		}
		if (ret)
			return ret;
		WRITE_ONCE(log->answered, asked);
		wake_up_all(&log->flushers);
	}
	return 0;
}

static void drain_fail(struct hwpmc_log *log, int error)
{
	WRITE_ONCE(log->open, false);
	WRITE_ONCE(log->error, error);
	wake_up_all(&log->flushers);
	hwpmc_sigio(log->owner);
}

/* A log that has failed keeps its file until its end. */
static void await_end(const struct hwpmc_log *log)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!READ_ONCE(log->told) && !READ_ONCE(log->ending)) {
		flush_signals(current);
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
}

/* SIGKILL may come before it. */
static void await_stop(void)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		flush_signals(current);
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
}

/*
 * After CLOSELOG the owner may keep the device open for as long as it likes: the reader of
 * a pipe is to see its end. So the file is put as soon as all is written.
 */
static int drain_thread(void *arg)
{
	struct hwpmc_log *log = arg;
	const struct cred *old = override_creds(log->cred);
	int ret;

	allow_signal(SIGKILL);
	hwpmc_limits_enter(log);
	ret = drain_serve(log);
	if (ret && !READ_ONCE(log->discard))
		drain_fail(log, ret);
	WRITE_ONCE(log->drained, true);
	wake_up_all(&log->flushers);
	if (ret)
		await_end(log);
	hwpmc_fput_await(log->file);
	log->file = NULL;
	hwpmc_limits_leave();
	revert_creds(old);
	hwpmc_log_drainer_gone(log);
	await_stop();
	return 0;
}

int hwpmc_drain_start(struct hwpmc_log *log)
{
	log->pos = log->file->f_pos;
	log->drainer = kthread_create(drain_thread, log, "hwpmc/%d",
				      pid_nr(log->owner->tgid));
	if (IS_ERR(log->drainer)) {
		int ret = PTR_ERR(log->drainer);

		log->drainer = NULL;
		return ret;
	}
	get_task_struct(log->drainer);
	wake_up_process(log->drainer);
	return 0;
}

bool hwpmc_drain_is_gone(struct hwpmc_log *log)
{
	if (!READ_ONCE(log->gone))
		return false;
	kthread_stop(log->drainer);
	put_task_struct(log->drainer);
	log->drainer = NULL;
	return true;
}

/* At the first look it has time to write, or to put its file, whatever it did before. */
static bool goes_on(struct hwpmc_log *log)
{
	u64 progress = READ_ONCE(log->progress);
	bool yes = !log->urged || (!READ_ONCE(log->drained) && progress != log->seen);

	log->seen = progress;
	log->urged = true;
	return yes && !READ_ONCE(log->discard);
}

bool hwpmc_drain_urge(struct hwpmc_log *log)
{
	bool kill = !goes_on(log), again = log->killed;

	if (READ_ONCE(log->drained)) {
		WRITE_ONCE(log->told, true);
		wake_up_process(log->drainer);
	}
	if (!kill)
		return true;
	WRITE_ONCE(log->discard, true);
	WRITE_ONCE(log->told, true);
	log->killed = true;
	send_sig(SIGKILL, log->drainer, 1);
	return !again;
}

int hwpmc_drain_flush(struct hwpmc_log *log)
{
	u64 ticket;
	int ret;

	if (log->error)
		return log->error;
	if (!READ_ONCE(log->closing)) {
		hwpmc_log_declare_all(log);
		hwpmc_records_clock(log);
	}
	spin_lock(&log->flushers.lock);
	ticket = ++log->asked;
	spin_unlock(&log->flushers.lock);
	wake_up(&log->owner->log_wait);
	ret = wait_event_interruptible(log->flushers,
				       READ_ONCE(log->answered) >= ticket ||
				       READ_ONCE(log->drained));
	/* The signal may be the SIGIO of drain_fail(). */
	if (READ_ONCE(log->error))
		return READ_ONCE(log->error);
	return ret ? -EINTR : 0;
}
