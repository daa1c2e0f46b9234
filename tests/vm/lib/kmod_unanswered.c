// SPDX-License-Identifier: BSD-2-Clause
/* kmod_unanswered.c - see kmod_unanswered.h. */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "../tests/kmod_dev.h"
#include "kmod_unanswered.h"

#define DIR	"/tmp/unanswered"
#define SIZE	(1 << 20)
#define FILE_ID	2
#define VALID	3600	/* seconds */

static pid_t server;

/* ---- the server ------------------------------------------------------------- */

static void answer(int dev, uint64_t unique, int error, void *data, size_t size)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + size, .error = -error, .unique = unique,
	};
	struct iovec part[] = { { &out, sizeof(out) }, { data, size } };

	if (writev(dev, part, 2) != (ssize_t)out.len)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t id)
{
	return (struct fuse_attr){
		.ino = id, .nlink = 1, .blksize = 4096,
		.size = id == FILE_ID ? SIZE : 0,
		.mode = id == FILE_ID ? S_IFREG | 0666 : S_IFDIR | 0755,
	};
}

static void begin(int dev, const struct fuse_in_header *in)
{
	const struct fuse_init_in *init = (const void *)(in + 1);
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = init->minor,
		.max_readahead = init->max_readahead, .flags = FUSE_ASYNC_DIO,
		.max_background = 16, .congestion_threshold = 12, .max_write = 4096,
		.time_gran = 1,
	};

	answer(dev, in->unique, 0, &out, sizeof(out));
}

static void serve_one(int dev, const struct fuse_in_header *in)
{
	struct fuse_entry_out entry = {
		.nodeid = FILE_ID, .entry_valid = VALID, .attr_valid = VALID,
		.attr = attributes(FILE_ID),
	};
	struct fuse_attr_out attr = { .attr_valid = VALID, .attr = attributes(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		begin(dev, in);
		break;
	case FUSE_LOOKUP:
		answer(dev, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(dev, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(dev, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(dev, in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(int dev)
{
	static char request[1 << 17] __attribute__((aligned(8)));

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(dev, request, sizeof(request)) > 0)
		serve_one(dev, (void *)request);
	_exit(0);
}

/* ---- for tests ---------------------------------------------------------------- */

void unanswered_mount(void)
{
	char options[80];
	int dev;

	ck_assert(!system("[ -e /dev/fuse ] || modprobe -d \"$VM_KERNEL\" fuse"));
	ck_assert(!mkdir(DIR, 0755) || errno == EEXIST);
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(dev, 0);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", dev);
	ck_assert(!mount("unanswered", DIR, "fuse", MS_NOSUID | MS_NODEV, options));
	server = fork();
	ck_assert_int_ge(server, 0);
	if (!server)
		serve(dev);
	close(dev);
}

void unanswered_read(void)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct iocb iocb = {
		.aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uintptr_t)page,
		.aio_nbytes = sizeof(page),
	}, *list = &iocb;
	aio_context_t context = 0;
	int fd = open(DIR "/file", O_RDONLY | O_DIRECT | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	iocb.aio_fildes = fd;
	ck_assert(!syscall(SYS_io_setup, 1, &context));
	ck_assert_int_eq(syscall(SYS_io_submit, context, 1, &list), 1);
}

void unanswered_end(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	ck_assert(!umount2(DIR, MNT_DETACH));
}
