// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_abi - the door itself: numbers of operations, sizes of their
 * arguments, addresses, reserved fields, versions, 32-bit callers. Each test ends
 * by proving that the driver still counts.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "kmod_dev.h"

static int fd;

static void setup(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
}

static void prove(void)
{
	close(fd);
	dev_still_counts();
}

/* An argument with room behind, and what became of its header. */
static union {
	struct hwpmc_hdr hdr;
	struct hwpmc_op_simple simple;
	struct hwpmc_op_configurelog configurelog;
	struct hwpmc_op_getcpuinfo cpuinfo;
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc_op_getmoduleversion version;
	struct hwpmc_op_getpmcinfo pmcinfo;
	struct hwpmc_op_pmcadmin admin;
	struct hwpmc_op_pmcallocate allocate;
	struct hwpmc_op_pmcallocate_named named;
	struct hwpmc_op_pmcattach attach;
	struct hwpmc_op_pmc pmc;
	struct hwpmc_op_pmcrw rw;
	struct hwpmc_op_pmcsetcount setcount;
	struct hwpmc_op_getdyneventinfo dynevents;
	struct hwpmc_op_getcaps caps;
	struct hwpmc_op_writelog writelog;
	struct hwpmc_op_kgmon kgmon;
	struct hwpmc_op_batch batch;
	unsigned char bytes[1024];
} arg;

static int call(unsigned int nr, size_t size)
{
	return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, HWPMC_IOC, nr, size),
		     &arg) ? errno : 0;
}

static void check(int got, int err, unsigned int why, int detail)
{
	ck_assert_int_eq(got, err);
	ck_assert_uint_eq(arg.hdr.reason, why);
	ck_assert_int_eq(arg.hdr.detail, detail);
}

/* The operations that there are, with the size that each began with. */
static const struct {
	unsigned int nr;
	size_t size;
} offered[] = {
	{ HWPMC_OP_GETCPUINFO, HWPMC_SIZE_V1_GETCPUINFO },
	{ HWPMC_OP_GETDRIVERSTATS, HWPMC_SIZE_V1_GETDRIVERSTATS },
	{ HWPMC_OP_GETMODULEVERSION, HWPMC_SIZE_V1_GETMODULEVERSION },
	{ HWPMC_OP_GETPMCINFO, HWPMC_SIZE_V1_GETPMCINFO },
	{ HWPMC_OP_PMCADMIN, HWPMC_SIZE_V1_PMCADMIN },
	{ HWPMC_OP_PMCALLOCATE, HWPMC_SIZE_V1_PMCALLOCATE },
	{ HWPMC_OP_PMCATTACH, HWPMC_SIZE_V1_PMCATTACH },
	{ HWPMC_OP_PMCDETACH, HWPMC_SIZE_V1_PMCATTACH },
	{ HWPMC_OP_PMCRELEASE, HWPMC_SIZE_V1_PMC },
	{ HWPMC_OP_PMCRW, HWPMC_SIZE_V1_PMCRW },
	{ HWPMC_OP_PMCSETCOUNT, HWPMC_SIZE_V1_PMCSETCOUNT },
	{ HWPMC_OP_PMCSTART, HWPMC_SIZE_V1_PMC },
	{ HWPMC_OP_PMCSTOP, HWPMC_SIZE_V1_PMC },
	{ HWPMC_OP_GETDYNEVENTINFO, HWPMC_SIZE_V1_GETDYNEVENTINFO },
	{ HWPMC_OP_GETCAPS, HWPMC_SIZE_V1_GETCAPS },
	{ HWPMC_OP_PMCGETMSR, HWPMC_SIZE_V1_GETMSR },
	{ HWPMC_OP_CONFIGURELOG, HWPMC_SIZE_V1_CONFIGURELOG },
	{ HWPMC_OP_WRITELOG, HWPMC_SIZE_V1_WRITELOG },
	{ HWPMC_OP_FLUSHLOG, HWPMC_SIZE_V1_SIMPLE },
	{ HWPMC_OP_CLOSELOG, HWPMC_SIZE_V1_SIMPLE },
	{ HWPMC_OP_REVOKE, HWPMC_SIZE_V1_SIMPLE },
	{ HWPMC_OP_KGMON, HWPMC_SIZE_V1_KGMON },
	{ HWPMC_OP_BATCH, HWPMC_SIZE_V1_BATCH },
	{ HWPMC_OP_UNWIND, HWPMC_SIZE_V1_UNWIND },
	{ HWPMC_OP_GETCHAINSTATS, HWPMC_SIZE_V1_GETCHAINSTATS },
	{ HWPMC_OP_GETKINDS, HWPMC_SIZE_V1_GETKINDS },
	{ HWPMC_OP_GETUNCOUNTED, HWPMC_SIZE_V1_GETUNCOUNTED },
	{ HWPMC_OP_PMCOPEN, HWPMC_SIZE_V1_PMCOPEN },
};

/* What it has grown to since. */
static size_t size_now(unsigned int nr, size_t first)
{
	switch (nr) {
	case HWPMC_OP_CONFIGURELOG:
		return sizeof(arg.configurelog);
	case HWPMC_OP_PMCALLOCATE:
		return sizeof(arg.named);
	case HWPMC_OP_GETCPUINFO:
		return sizeof(arg.cpuinfo);
	default:
		return first;
	}
}

#define EACH_OFFERED(i) \
	for (size_t i = 0; i < sizeof(offered) / sizeof(offered[0]); i++)

/* A log that has just begun, or none. */
static void log_anew(bool begin)
{
	static int file = -1;
	struct hwpmc_op_configurelog end = { .logfd = -1 }, new;

	if (file < 0)
		file = memfd_create("log", MFD_CLOEXEC);
	ioctl(fd, HWPMC_IOC_CONFIGURELOG, &end);
	new = (struct hwpmc_op_configurelog){ .logfd = file };
	if (begin)
		ck_assert_int_eq(ioctl(fd, HWPMC_IOC_CONFIGURELOG, &new), 0);
	else
		arg.configurelog = new;
}

/* A PMC of this process alone, in place of the one before. */
static uint32_t own_pmc(void)
{
	static uint32_t id;

	if (id)
		dev_ok(dev_release(fd, id));
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, id, 0));
	return id;
}

/* The same for the operations on logs. */
static void valid_log(unsigned int nr)
{
	if (nr == HWPMC_OP_CONFIGURELOG)
		log_anew(false);
	if (nr == HWPMC_OP_WRITELOG || nr == HWPMC_OP_FLUSHLOG ||
	    nr == HWPMC_OP_CLOSELOG)
		log_anew(true);
}

#define DYNEVENTS	4096

/* Fill in a request that succeeds, of each operation in turn. */
static void valid(unsigned int nr)
{
	static struct hwpmc_pmcinfo infos[HWPMC_ROW_MAX];
	static struct hwpmc_dynevent dynevents[DYNEVENTS];
	static struct hwpmc_batch_entry entry;
	static uint32_t id;

	if (!id) {
		id = dev_alloc(fd, TC, 0, ANY, INSN, U);
		dev_ok(dev_start(fd, id));
		dev_ok(dev_stop(fd, id));
		dev_ok(dev_detach(fd, id, 0));
	}
	memset(&arg, 0, sizeof(arg));
	valid_log(nr);
	switch (nr) {
	case HWPMC_OP_PMCGETMSR:
		arg.pmc.pmcid = own_pmc();
		break;
	case HWPMC_OP_KGMON:
		arg.kgmon.command = HWPMC_KGMON_READ;
		break;
	case HWPMC_OP_BATCH:
		entry.pmcid = id;
		arg.batch.n = 1;
		arg.batch.entry_size = sizeof(entry);
		arg.batch.entries = (uintptr_t)&entry;
		break;
	case HWPMC_OP_GETMODULEVERSION:
		arg.version.version = HWPMC_API_VERSION;
		break;
	case HWPMC_OP_GETPMCINFO:
		arg.pmcinfo.npmc = HWPMC_ROW_MAX;
		arg.pmcinfo.pmcs = (uintptr_t)infos;
		break;
	case HWPMC_OP_GETDYNEVENTINFO:
		arg.dynevents.class = HWPMC_CLASS_SOFT;
		arg.dynevents.nevent = DYNEVENTS;
		arg.dynevents.events = (uintptr_t)dynevents;
		break;
	case HWPMC_OP_PMCADMIN:
		arg.admin.row = dev_first_row() + 2;
		arg.admin.state = HWPMC_STATE_FREE;
		break;
	case HWPMC_OP_PMCALLOCATE:
	case HWPMC_OP_PMCOPEN:
		dev_request(&arg.allocate, TC, 0, ANY, INSN, U);
		break;
	case HWPMC_OP_PMCRW:
		arg.rw.pmcid = id;
		arg.rw.flags = HWPMC_F_OLDVALUE;
		break;
	case HWPMC_OP_PMCRELEASE:
		arg.pmc.pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U);
		break;
	case HWPMC_OP_PMCDETACH:
		dev_attach(fd, id, 0);
		arg.attach.pmcid = id;
		break;
	case HWPMC_OP_PMCATTACH:
		dev_stop(fd, id);
		dev_detach(fd, id, 0);
		arg.attach.pmcid = id;
		break;
	case HWPMC_OP_PMCSTART:
		dev_attach(fd, id, 0);
		arg.pmc.pmcid = id;
		break;
	case HWPMC_OP_PMCSETCOUNT:
		dev_stop(fd, id);
		arg.setcount.pmcid = id;
		break;
	case HWPMC_OP_GETUNCOUNTED:
	case HWPMC_OP_PMCSTOP:
	case HWPMC_OP_GETCAPS:
		arg.pmc.pmcid = id;
		break;
	}
}

/* ---- numbers ------------------------------------------------------------- */

START_TEST(unknown_operations_are_einval_and_say_so)
{
	static const unsigned int unknown[] = { 20, 25, 31, HWPMC_OP__COUNT, 100, 255 };

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		memset(&arg, 0, sizeof(arg));
		check(call(unknown[i], 16), EINVAL, HWPMC_WHY_UNKNOWN_OP,
		      unknown[i]);
	}
	ck_assert_int_eq(call(200, 0), EINVAL);
}
END_TEST

START_TEST(ioctls_of_another_type_are_enotty)
{
	ck_assert_int_eq(ioctl(fd, _IOWR(0xee, HWPMC_OP_GETCAPS,
					 struct hwpmc_op_getcaps), &arg), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(ioctl(fd, 0x5401, &arg), -1);	/* TCGETS */
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

START_TEST(operation_numbers_are_those_of_freebsd)
{
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_CONFIGURELOG), 0);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_GETCPUINFO), 2);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_PMCADMIN), 6);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_PMCALLOCATE), 7);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_PMCRW), 12);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_PMCSTOP), 15);
	ck_assert_uint_eq(_IOC_NR(HWPMC_IOC_GETCAPS), 19);
}
END_TEST

/* ---- sizes --------------------------------------------------------------- */

START_TEST(a_structure_of_the_first_release_is_accepted)
{
	EACH_OFFERED(i) {
		valid(offered[i].nr);
		check(call(offered[i].nr, offered[i].size), 0, 0, 0);
	}
}
END_TEST

START_TEST(a_structure_that_is_too_short_is_einval_with_the_size_needed)
{
	EACH_OFFERED(i) {
		valid(offered[i].nr);
		if (offered[i].size > HWPMC_SIZE_V1_SIMPLE)
			check(call(offered[i].nr, offered[i].size - 8), EINVAL,
			      HWPMC_WHY_SIZE, offered[i].size);
		/* Where there is no room for a reason there is none. */
		valid(offered[i].nr);
		check(call(offered[i].nr, 4), EINVAL, 0, 0);
	}
}
END_TEST

START_TEST(a_longer_structure_with_zeroes_behind_is_accepted)
{
	EACH_OFFERED(i) {
		valid(offered[i].nr);
		check(call(offered[i].nr, offered[i].size + 1), 0, 0, 0);
		valid(offered[i].nr);
		check(call(offered[i].nr, sizeof(arg)), 0, 0, 0);
	}
}
END_TEST

START_TEST(a_longer_structure_with_unknown_contents_is_e2big)
{
	EACH_OFFERED(i) {
		size_t size = size_now(offered[i].nr, offered[i].size);

		valid(offered[i].nr);
		arg.bytes[size + 3] = 1;
		check(call(offered[i].nr, size + 8), E2BIG, HWPMC_WHY_SIZE,
		      size);
	}
}
END_TEST

START_TEST(nothing_is_written_behind_the_structure_of_the_caller)
{
	EACH_OFFERED(i) {
		valid(offered[i].nr);
		memset(arg.bytes + offered[i].size, 0xa5, 64);
		ck_assert_int_eq(call(offered[i].nr, offered[i].size), 0);
		for (int k = 0; k < 64; k++)
			ck_assert_uint_eq(arg.bytes[offered[i].size + k], 0xa5);
	}
}
END_TEST

/* ---- contents ------------------------------------------------------------ */

START_TEST(reserved_fields_that_are_not_zero_are_einval)
{
	static const struct {
		unsigned int nr;
		size_t at;
	} reserved[] = {
		{ HWPMC_OP_GETMODULEVERSION,
		  offsetof(struct hwpmc_op_getmoduleversion, __reserved) },
		{ HWPMC_OP_PMCADMIN, offsetof(struct hwpmc_op_pmcadmin, __reserved) },
		{ HWPMC_OP_GETKINDS, offsetof(struct hwpmc_op_getkinds, __reserved) },
		{ HWPMC_OP_PMCALLOCATE,
		  offsetof(struct hwpmc_op_pmcallocate, config2) + 7 },
		{ HWPMC_OP_PMCRELEASE, offsetof(struct hwpmc_op_pmc, __reserved) },
		{ HWPMC_OP_PMCSTART, offsetof(struct hwpmc_op_pmc, __reserved) },
		{ HWPMC_OP_PMCSTOP, offsetof(struct hwpmc_op_pmc, __reserved) },
		{ HWPMC_OP_PMCSETCOUNT,
		  offsetof(struct hwpmc_op_pmcsetcount, __reserved) + 3 },
		{ HWPMC_OP_WRITELOG,
		  offsetof(struct hwpmc_op_writelog, __reserved) },
	};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
		size_t size = 0;

		EACH_OFFERED(k)
			if (offered[k].nr == reserved[i].nr)
				size = offered[k].size;
		valid(reserved[i].nr);
		arg.bytes[reserved[i].at] = 1;
		check(call(reserved[i].nr, size), EINVAL, HWPMC_WHY_RESERVED, 0);
	}
}
END_TEST

START_TEST(header_of_a_request_is_output_only)
{
	EACH_OFFERED(i) {
		valid(offered[i].nr);
		arg.hdr = (struct hwpmc_hdr){ 77, -77 };
		check(call(offered[i].nr, offered[i].size), 0, 0, 0);
	}
}
END_TEST

START_TEST(a_client_newer_than_the_module_is_eprotonosupport)
{
	arg.version.version = HWPMC_API_VERSION + 0x01000000;
	check(call(HWPMC_OP_GETMODULEVERSION, 16), EPROTONOSUPPORT,
	      HWPMC_WHY_VERSION, HWPMC_API_VERSION);
	ck_assert_uint_eq(arg.version.version, HWPMC_API_VERSION);
	arg.version.version = HWPMC_API_VERSION + 0x00010000;
	check(call(HWPMC_OP_GETMODULEVERSION, 16), EPROTONOSUPPORT,
	      HWPMC_WHY_VERSION, HWPMC_API_VERSION);
	/* A patch, and what is older, are fine. */
	arg.version.version = HWPMC_API_VERSION + 1;
	check(call(HWPMC_OP_GETMODULEVERSION, 16), 0, 0, 0);
	arg.version.version = 0;
	check(call(HWPMC_OP_GETMODULEVERSION, 16), 0, 0, 0);
	ck_assert_uint_eq(arg.version.version, HWPMC_API_VERSION);
}
END_TEST

/* ---- addresses ----------------------------------------------------------- */

START_TEST(addresses_that_cannot_be_read_are_efault)
{
	static void *const bad[] = { NULL, (void *)1, (void *)-4096L };

	EACH_OFFERED(i)
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			unsigned long cmd = _IOC(_IOC_READ | _IOC_WRITE,
				HWPMC_IOC, offered[i].nr, offered[i].size);

			ck_assert_int_eq(ioctl(fd, cmd, bad[k]), -1);
			ck_assert_int_eq(errno, EFAULT);
		}
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_FLUSHLOG, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
}
END_TEST

START_TEST(an_argument_that_ends_in_an_absent_page_is_efault)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	munmap(p + page, page);
	EACH_OFFERED(i) {
		unsigned long cmd = _IOC(_IOC_READ | _IOC_WRITE, HWPMC_IOC,
					 offered[i].nr, offered[i].size);

		if (offered[i].size <= 8)
			continue;
		valid(offered[i].nr);
		memcpy(p + page - 8, &arg, 8);
		ck_assert_int_eq(ioctl(fd, cmd, p + page - 8), -1);
		ck_assert_int_eq(errno, EFAULT);
	}
}
END_TEST

START_TEST(an_argument_that_cannot_be_written_is_efault_and_changes_nothing)
{
	struct hwpmc_op_pmcallocate *op;
	uint32_t id = 0;

	op = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(op, MAP_FAILED);
	dev_request(op, TC, 0, ANY, INSN, U);
	mprotect(op, 4096, PROT_READ);
	/* More often than there are rows: none may be left behind. */
	for (unsigned int i = 0; i < dev_counters() + 2; i++) {
		ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCALLOCATE, op), -1);
		ck_assert_int_eq(errno, EFAULT);
	}
	for (unsigned int i = 0; i < dev_counters(); i++)
		id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	mprotect(op, 4096, PROT_READ | PROT_WRITE);
	*(struct hwpmc_op_pmc *)op = (struct hwpmc_op_pmc){ .pmcid = id };
	mprotect(op, 4096, PROT_READ);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCRELEASE, op), -1);
	ck_assert_int_eq(errno, EFAULT);
	dev_ok(dev_release(fd, id));
}
END_TEST

/* ---- statistics ---------------------------------------------------------- */

static struct hwpmc_op_getdriverstats statistics(void)
{
	struct hwpmc_op_getdriverstats op = { };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETDRIVERSTATS, &op), 0);
	return op;
}

START_TEST(an_operation_that_fails_is_counted_as_an_error)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct hwpmc_op_getdriverstats before = statistics(), after;
	uint64_t value = 0;

	/* A PMC that is not, and one that was never started. */
	ck_assert_int_eq(dev_stop(fd, HWPMC_ID_INVALID), EINVAL);
	ck_assert_int_eq(dev_stop(fd, id), EINVAL);
	/* Without an operation, without an argument, and by the fast way of reads. */
	ck_assert_int_eq(ioctl(fd, _IO('#', 1)), -1);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCSTART, NULL), -1);
	ck_assert_int_eq(dev_rw(fd, HWPMC_ID_INVALID, HWPMC_F_OLDVALUE, &value),
			 EINVAL);
	/* And three that do not fail. */
	dev_ok(dev_start(fd, id));
	dev_read(fd, id);
	dev_ok(dev_stop(fd, id));
	after = statistics();
	ck_assert_uint_eq(after.syscall_errors - before.syscall_errors, 5);
	/* Itself included. */
	ck_assert_uint_eq(after.syscalls - before.syscalls, 5 + 3 + 1);
}
END_TEST

/* Each asks for room in the ring, as other records do. */
START_TEST(samples_are_requests_of_room)
{
	struct hwpmc_op_configurelog log = { .logfd = open("/dev/null", O_WRONLY) };
	struct hwpmc_op_getdriverstats before, after;
	struct hwpmc_op_pmcallocate op;

	ck_assert(!ioctl(fd, HWPMC_IOC_CONFIGURELOG, &log));
	dev_request(&op, HWPMC_MODE_TS, 0, ANY, INSN, U);
	op.count = 10000;
	dev_ok(dev_allocate(fd, &op));
	dev_ok(dev_attach(fd, op.pmcid, 0));
	before = statistics();
	dev_ok(dev_start(fd, op.pmcid));
	dev_spin(1000000);
	dev_ok(dev_stop(fd, op.pmcid));
	after = statistics();
	/* Three instructions a turn. */
	ck_assert_uint_ge(after.buffer_requests - before.buffer_requests, 300);
	ck_assert_uint_ge(after.buffer_requests - before.buffer_requests,
			  after.intr_processed - before.intr_processed);
	close(log.logfd);
}
END_TEST

/* ---- 32 bits ------------------------------------------------------------- */

START_TEST(a_32_bit_program_allocates_starts_and_reads_exactly)
{
	int status = system("build/vm/progs32/caller");

	/* Its exit status is the line that failed. */
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_32_bit_program_executes_rdpmc_and_its_child_may_not)
{
	ck_assert_int_eq(system("build/vm/progs32/rdpmc"), 0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(unknown_operations_are_einval_and_say_so);
	harness_add(ioctls_of_another_type_are_enotty);
	harness_add(operation_numbers_are_those_of_freebsd);
	harness_add(a_structure_of_the_first_release_is_accepted);
	harness_add(a_structure_that_is_too_short_is_einval_with_the_size_needed);
	harness_add(a_longer_structure_with_zeroes_behind_is_accepted);
	harness_add(a_longer_structure_with_unknown_contents_is_e2big);
	harness_add(nothing_is_written_behind_the_structure_of_the_caller);
	harness_add(reserved_fields_that_are_not_zero_are_einval);
	harness_add(header_of_a_request_is_output_only);
	harness_add(a_client_newer_than_the_module_is_eprotonosupport);
	harness_add(addresses_that_cannot_be_read_are_efault);
	harness_add(an_argument_that_ends_in_an_absent_page_is_efault);
	harness_add(an_argument_that_cannot_be_written_is_efault_and_changes_nothing);
	harness_add(an_operation_that_fails_is_counted_as_an_error);
	harness_add(samples_are_requests_of_room);
	harness_add(a_32_bit_program_allocates_starts_and_reads_exactly);
	harness_add(a_32_bit_program_executes_rdpmc_and_its_child_may_not);
	return harness_run();
}
