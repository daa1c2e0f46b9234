/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_ring.c - the ring of one CPU, with signals in the place of NMIs: they come in
 * the middle of anything and are done before it goes on.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "harness.h"
#include "log/buildid.h"
#include "sampling/ring.h"

#define SIZE	4096

static struct hwpmc_log_ring ctl;
static struct hwpmc_ring ring;
static uint8_t *data;

/* The data twice in a row, as the module maps it. */
static void setup(void)
{
	int fd = memfd_create("ring", 0);

	ck_assert_int_eq(ftruncate(fd, SIZE), 0);
	data = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_ne(mmap(data + i * SIZE, SIZE,
				      PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, fd, 0), MAP_FAILED);
	close(fd);
	memset(&ctl, 0, sizeof(ctl));
	hwpmc_ring_init(&ring, &ctl, data, SIZE, 1024, 3);
}

/* A DROPNOTIFY record of all causes. */
#define NOTIFY	(sizeof(struct hwpmc_log_drop) + \
		 (HWPMC_DROP__COUNT - HWPMC_DROP_FIXED) * sizeof(struct hwpmc_log_drop_pair))

static bool write_one(uint32_t id, size_t len, uint64_t time)
{
	struct hwpmc_log_hdr *h = hwpmc_ring_reserve_nmi(&ring, len);

	if (!h)
		return false;
	*h = (struct hwpmc_log_hdr){
		.len = len, .type = HWPMC_LOG_USERDATA, .id = id, .time = time,
	};
	hwpmc_ring_commit_nmi(&ring);
	return true;
}

static uint64_t read_drops(const struct hwpmc_log_drop *r)
{
	const struct hwpmc_log_drop_pair *more = (const void *)(r + 1);
	uint64_t n = 0;

	for (int i = 0; i < HWPMC_DROP_FIXED; i++)
		n += r->samples[i] + r->others[i];
	for (uint32_t i = HWPMC_DROP_FIXED; i < r->ncause; i++, more++)
		n += more->samples + more->others;
	return n;
}

struct seen {
	uint64_t records, dropped;
};

/* As a reader does: whole records from tail to head. */
static void read_all(struct seen *seen)
{
	uint64_t head = __atomic_load_n(&ctl.head, __ATOMIC_ACQUIRE);
	uint64_t tail = ctl.tail;

	while (tail != head) {
		const struct hwpmc_log_hdr *h =
			(void *)(data + (tail & (SIZE - 1)));

		ck_assert_uint_ge(h->len, 16);
		ck_assert_uint_le(h->len, head - tail);
		if (h->type == HWPMC_LOG_DROPNOTIFY)
			seen->dropped += read_drops((const void *)h);
		else
			seen->records++;
		tail += h->len;
	}
	__atomic_store_n(&ctl.tail, tail, __ATOMIC_RELEASE);
}

START_TEST(records_are_read_as_they_were_written_over_many_rounds)
{
	struct seen seen = { 0 };

	for (uint32_t i = 0; i < 10000; i++) {
		ck_assert(write_one(i, 16 + 8 * (i % 40), i));
		if (i % 5 == 0)
			read_all(&seen);
	}
	read_all(&seen);
	ck_assert_uint_eq(seen.records, 10000);
}
END_TEST

START_TEST(a_full_ring_takes_nothing_and_says_later_what_is_missing)
{
	struct seen seen = { 0 };
	uint64_t written = 0, lost = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		if (write_one(i, 24, i)) {
			written++;
			continue;
		}
		hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, i & 1, 1, i);
		lost++;
	}
	ck_assert_uint_eq(written, SIZE / 24);
	hwpmc_ring_declare_nmi(&ring, 1000);
	ck_assert(ring.dropped);
	read_all(&seen);
	ck_assert_uint_eq(seen.dropped, 0);
	hwpmc_ring_declare_nmi(&ring, 1001);
	ck_assert(!ring.dropped);
	read_all(&seen);
	ck_assert_uint_eq(seen.records, written);
	ck_assert_uint_eq(seen.dropped, lost);
	ck_assert_uint_eq(ctl.samples_dropped[0] + ctl.others_dropped[0], lost);
}
END_TEST

/* While drops are not declared, a record may not take the room of their declaration. */
START_TEST(a_record_leaves_the_room_for_the_declaration_of_drops)
{
	const size_t room = NOTIFY + 64;
	struct seen seen = { 0 };

	while (hwpmc_ring_room_nmi(&ring) > room)
		ck_assert(write_one(1, 16, 1));
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, false, 5, 2);
	ck_assert(!write_one(2, 64 + 8, 3));
	ck_assert(write_one(2, 64, 3));
	ck_assert(!write_one(2, 16, 4));
	hwpmc_ring_declare_nmi(&ring, 5);
	ck_assert_uint_eq(hwpmc_ring_room_nmi(&ring), 0);
	read_all(&seen);
	ck_assert_uint_eq(seen.dropped, 5);
}
END_TEST

START_TEST(declaration_has_the_drops_of_each_kind_since_the_first)
{
	const struct hwpmc_log_drop *r = (const void *)data;
	const struct hwpmc_log_drop_pair *more = (const void *)(r + 1);

	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 2, 100);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, false, 5, 200);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_BUSY, false, 7, 300);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_PAUSED, true, 11, 350);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_PAUSED, false, 13, 350);
	hwpmc_ring_declare_nmi(&ring, 400);
	ck_assert_uint_eq(ctl.head, NOTIFY);
	ck_assert_uint_eq(r->hdr.time, 400);
	ck_assert_uint_eq(r->since, 100);
	ck_assert_uint_eq(r->cpu, 3);
	ck_assert_uint_eq(r->ncause, HWPMC_DROP__COUNT);
	ck_assert_uint_eq(r->samples[HWPMC_DROP_FULL], 2);
	ck_assert_uint_eq(r->others[HWPMC_DROP_FULL], 5);
	ck_assert_uint_eq(r->samples[HWPMC_DROP_BUSY], 0);
	ck_assert_uint_eq(r->others[HWPMC_DROP_BUSY], 7);
	ck_assert_uint_eq(more->samples, 11);
	ck_assert_uint_eq(more->others, 13);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, 500);
	hwpmc_ring_declare_nmi(&ring, 600);
	ck_assert_uint_eq(ctl.head, 2 * NOTIFY);
	r = (const void *)(data + NOTIFY);
	ck_assert_uint_eq(r->since, 500);
	ck_assert_uint_eq(read_drops(r), 1);
	ck_assert_uint_eq(ctl.samples_dropped[HWPMC_DROP_FULL], 3);
	ck_assert_uint_eq(ctl.others_dropped[HWPMC_DROP_FULL], 5);
	ck_assert_uint_eq(ctl.more_dropped[0].samples, 11);
	ck_assert_uint_eq(ctl.more_dropped[0].others, 13);
	ck_assert_uint_eq(ctl.more_dropped[1].samples + ctl.more_dropped[1].others, 0);
}
END_TEST

START_TEST(declaration_has_pairs_for_causes_behind_the_fixed_ones)
{
	const struct hwpmc_log_drop_pair *more = (const void *)(data + sizeof(struct hwpmc_log_drop));
	const struct hwpmc_log_drop *r = (const void *)data;

	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FILTERED, true, 3, 100);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_UNCOUNTED, true, 40, 200);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_PAUSED, true, 500, 250);
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FILTERED, false, 6, 300);
	hwpmc_ring_declare_nmi(&ring, 400);
	ck_assert_uint_eq(r->hdr.len, NOTIFY);
	ck_assert_uint_eq(ctl.head, NOTIFY);
	ck_assert_uint_eq(r->since, 100);
	ck_assert_uint_eq(more[0].samples, 500);
	ck_assert_uint_eq(more[1].samples, 3);
	ck_assert_uint_eq(more[1].others, 6);
	ck_assert_uint_eq(more[2].samples, 40);
	ck_assert_uint_eq(read_drops(r), 549);
	ck_assert_uint_eq(ctl.more_dropped[0].samples, 500);
	ck_assert_uint_eq(ctl.more_dropped[1].samples, 43);
	ck_assert_uint_eq(ctl.more_dropped[1].others, 6);
	ck_assert_uint_eq(ctl.each_dropped[0].samples, 3);
	ck_assert_uint_eq(ctl.each_dropped[0].others, 6);
	ck_assert_uint_eq(ctl.each_dropped[1].samples, 40);
}
END_TEST

START_TEST(declaration_says_before_it_what_dropped_samples_stood_for)
{
	const struct hwpmc_log_period *p = (const void *)data;
	const struct hwpmc_log_drop *r = (const void *)(p + 1);

	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 2, 100);
	hwpmc_ring_drop_events_nmi(&ring, 5000, 100);
	hwpmc_ring_drop_events_nmi(&ring, 300, 200);
	hwpmc_ring_declare_nmi(&ring, 400);
	ck_assert_uint_eq(ctl.head, sizeof(*p) + NOTIFY);
	ck_assert_uint_eq(p->hdr.type, HWPMC_LOG_PERIOD);
	ck_assert_uint_eq(p->hdr.len, sizeof(*p));
	ck_assert_uint_eq(p->hdr.flags, HWPMC_PERIOD_DROPPED);
	ck_assert_uint_eq(p->hdr.time, 400);
	ck_assert_uint_eq(p->period, 5300);
	ck_assert_uint_eq(r->hdr.type, HWPMC_LOG_DROPNOTIFY);
	ck_assert_uint_eq(r->since, 100);
	ck_assert_uint_eq(read_drops(r), 2);
	/* Those that were declared are not declared again. */
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, 500);
	hwpmc_ring_declare_nmi(&ring, 500);
	ck_assert_uint_eq(ctl.head, sizeof(*p) + 2 * NOTIFY);
}
END_TEST

START_TEST(what_an_owner_writes_into_its_counts_of_drops_is_not_read_back)
{
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, 1);
	memset((void *)ctl.samples_dropped, 0xa5, sizeof(ctl.samples_dropped));
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, 2);
	ck_assert_uint_eq(ctl.samples_dropped[HWPMC_DROP_FULL], 2);
}
END_TEST

START_TEST(what_is_not_committed_is_not_seen)
{
	struct hwpmc_log_hdr *outer = hwpmc_ring_reserve_nmi(&ring, 16);

	ck_assert_uint_eq(ctl.head, 0);
	ck_assert(write_one(1, 16, 1));		/* as an NMI over it would */
	ck_assert_uint_eq(ctl.head, 0);
	outer->len = 16;
	hwpmc_ring_commit_nmi(&ring);
	ck_assert_uint_eq(ctl.head, 32);
}
END_TEST

START_TEST(push_over_an_unfinished_record_is_not_seen)
{
	struct hwpmc_log_hdr *outer = hwpmc_ring_reserve_nmi(&ring, 16);

	ck_assert(!hwpmc_ring_push_nmi(&ring, 24));
	ck_assert_uint_eq(ctl.head, 0);
	outer->len = 16;
	hwpmc_ring_commit_nmi(&ring);
	ck_assert_uint_eq(ctl.head, 40);
	hwpmc_ring_push_nmi(&ring, 24);
	ck_assert_uint_eq(ctl.head, 64);
}
END_TEST

/* The fixture asks for the reader after each 1024 bytes. */
START_TEST(reader_is_woken_once_for_every_wakeup_bytes)
{
	for (unsigned int i = 1; i <= 3 * 1024 / 32; i++) {
		ck_assert_ptr_nonnull(hwpmc_ring_reserve_nmi(&ring, 32));
		ck_assert_int_eq(hwpmc_ring_commit_nmi(&ring), i % 32 == 0);
	}
}
END_TEST

START_TEST(a_declaration_that_crosses_the_mark_wakes_the_reader)
{
	for (unsigned int i = 1; i < 1024 / 32; i++) {
		ck_assert_ptr_nonnull(hwpmc_ring_reserve_nmi(&ring, 32));
		ck_assert(!hwpmc_ring_commit_nmi(&ring));
	}
	ck_assert(!hwpmc_ring_declare_nmi(&ring, 1));
	hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, 2);
	ck_assert(hwpmc_ring_declare_nmi(&ring, 3));
	ck_assert(!hwpmc_ring_push_nmi(&ring, 24));
}
END_TEST

START_TEST(a_hostile_tail_costs_records_and_nothing_else)
{
	static const uint64_t tails[] = {
		1, 7, 8, SIZE, ~0ULL, 1ULL << 63, 0xdeadbeef, -8ULL, SIZE * 2,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(tails); i++) {
		ctl.tail = tails[i];
		for (uint32_t j = 0; j < 1000; j++)
			write_one(j, 24, j);
		ck_assert_uint_le(hwpmc_ring_room_nmi(&ring), SIZE);
	}
}
END_TEST

static volatile sig_atomic_t signals;
static uint64_t nmi_written, nmi_lost;

static void nmi(int sig)
{
	uint64_t room = hwpmc_ring_room_nmi(&ring);

	signals++;
	if (room < 24 || ring.dropped) {
		hwpmc_ring_declare_nmi(&ring, signals);
		room = hwpmc_ring_room_nmi(&ring);
	}
	if (ring.dropped || room < 24) {
		hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, true, 1, signals);
		nmi_lost++;
		return;
	}
	*(struct hwpmc_log_hdr *)hwpmc_ring_at(&ring, ring.reserved) =
		(struct hwpmc_log_hdr){ .len = 24, .type = HWPMC_LOG_CALLCHAIN };
	hwpmc_ring_push_nmi(&ring, 24);
	nmi_written++;
}

START_TEST(writers_that_interrupt_each_other_lose_nothing)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	uint64_t written = 0, lost = 0;
	struct seen seen = { 0 };

	signal(SIGALRM, nmi);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint32_t i = 0; signals < 2000; i++) {
		hwpmc_ring_declare_nmi(&ring, i);
		if (write_one(i, 16 + 8 * (i % 8), i)) {
			written++;
		} else {
			hwpmc_ring_drop_nmi(&ring, HWPMC_DROP_FULL, false, 1, i);
			lost++;
		}
		if (i % 70 == 0)
			read_all(&seen);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	read_all(&seen);
	hwpmc_ring_declare_nmi(&ring, 0);
	read_all(&seen);
	ck_assert_uint_eq(seen.records, written + nmi_written);
	ck_assert_uint_eq(seen.dropped, lost + nmi_lost);
	ck_assert_uint_eq(ctl.head, ctl.tail);
}
END_TEST

/* ---- ELF files: another pure file of logs --------------------------------- */

static void ask_all(const uint8_t *bytes, size_t size)
{
	struct hwpmc_elf_entry entry;
	uint8_t id[20];
	s32 slide;
	u64 at;

	hwpmc_build_id(bytes, size, id, sizeof(id));
	hwpmc_elf_slide(bytes, size, 0x1000, &slide);
	hwpmc_elf_entry(bytes, size, &entry);
	for (unsigned int n = 0; n < HWPMC_ELF_SEGMENTS; n++)
		hwpmc_elf_code_at(bytes, size, n, 0x1000, 0x1000, &at);
}

START_TEST(the_build_id_of_this_program_is_found)
{
	uint8_t page[4096], id[20], *exact;
	FILE *f = fopen("/proc/self/exe", "r");
	unsigned int n;
	size_t len = fread(page, 1, sizeof(page), f);

	fclose(f);
	n = hwpmc_build_id(page, len, id, sizeof(id));
	ck_assert_uint_eq(n, 20);
	ck_assert_uint_eq(hwpmc_build_id(page, len, id, 19), 0);
	/* Cut anywhere, and damaged anywhere: nothing behind it is read. */
	for (size_t cut = 0; cut < 1024; cut++) {
		exact = malloc(cut ? cut : 1);
		memcpy(exact, page, cut);
		ask_all(exact, cut);
		free(exact);
	}
	srandom(1);
	for (int i = 0; i < 100000; i++) {
		exact = malloc(1024);
		memcpy(exact, page, 1024);
		for (int j = 0; j < 3; j++)
			exact[16 + random() % 1008] = random();
		ask_all(exact, 1024);
		free(exact);
	}
}
END_TEST

struct made_note {
	u32 name_len, len, type;
	const char *name;
	u8 first;		/* of its contents, which count from there */
};

static size_t add_note(u8 *at, const struct made_note *note)
{
	size_t desc = 12 + ((note->name_len + 3) & ~3u);

	memcpy(at, note, 12);
	memcpy(at + 12, note->name, note->name_len);
	for (u32 i = 0; i < note->len; i++)
		at[desc + i] = note->first + i;
	return desc + ((note->len + 3) & ~3u);
}

/* A header, a segment of another type, one of notes, and the notes at 256. */
static size_t make_elf(u8 *page, bool wide)
{
	static const struct made_note notes[] = {
		{ 6, 5, 3, "Other", 0x10 },	/* both parts are padded */
		{ 4, 6, 3, "XYZ", 0x20 },	/* the type of another vendor */
		{ 4, 3, 1, "GNU", 0x30 },	/* another type */
		{ 4, 9, 3, "GNU", 0x40 },
	};
	Elf64_Phdr *wide_ph = (void *)(page + sizeof(Elf64_Ehdr));
	Elf32_Phdr *ph = (void *)(page + sizeof(Elf32_Ehdr));
	size_t len = 0;

	memset(page, 0, 512);
	for (unsigned int i = 0; i < ARRAY_SIZE(notes); i++)
		len += add_note(page + 256 + len, &notes[i]);
	if (wide) {
		*(Elf64_Ehdr *)page = (Elf64_Ehdr){
			.e_ident = ELFMAG "\2", .e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		};
		wide_ph[1] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = 256, .p_filesz = len,
		};
	} else {
		*(Elf32_Ehdr *)page = (Elf32_Ehdr){
			.e_ident = ELFMAG "\1", .e_phoff = sizeof(Elf32_Ehdr),
			.e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 2,
		};
		ph[1] = (Elf32_Phdr){
			.p_type = PT_NOTE, .p_offset = 256, .p_filesz = len,
		};
	}
	return 256 + len;
}

START_TEST(build_id_is_found_behind_other_notes_in_files_of_32_and_64_bits)
{
	u8 page[512] __attribute__((aligned(8))), id[20];

	for (int wide = 0; wide < 2; wide++) {
		size_t len = make_elf(page, wide);

		ck_assert_uint_eq(hwpmc_build_id(page, len, id, sizeof(id)), 9);
		for (unsigned int i = 0; i < 9; i++)
			ck_assert_uint_eq(id[i], 0x40 + i);
	}
}
END_TEST

/* Read-only data at 0, code at 0x1200 of the file, one page higher in memory than there;
 * data in the same page, which is not executed. */
static void make_segments(u8 *page, bool wide)
{
	Elf64_Phdr *wide_ph = (void *)(page + sizeof(Elf64_Ehdr));
	Elf32_Phdr *ph = (void *)(page + sizeof(Elf32_Ehdr));

	memset(page, 0, 512);
	*(Elf64_Ehdr *)page = (Elf64_Ehdr){
		.e_ident = ELFMAG "\2", .e_type = ET_DYN, .e_entry = 0x2345,
		.e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	wide_ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R, 0, 0, 0, 0x1200, 0x1200, 0x1000 };
	wide_ph[1] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0x1200, 0x2200, 0, 0x2000,
				   0x2000, 0x1000 };
	wide_ph[2] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, 0x3200, 0x5200, 0, 0x100,
				   0x100, 0x1000 };
	if (wide)
		return;
	memset(page, 0, 512);
	*(Elf32_Ehdr *)page = (Elf32_Ehdr){
		.e_ident = ELFMAG "\1", .e_type = ET_EXEC, .e_entry = 0x2345,
		.e_phoff = sizeof(Elf32_Ehdr), .e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 3,
	};
	ph[0] = (Elf32_Phdr){ PT_LOAD, 0, 0, 0, 0x1200, 0x1200, PF_R, 0x1000 };
	ph[1] = (Elf32_Phdr){ PT_LOAD, 0x1200, 0x2200, 0, 0x2000, 0x2000, PF_R | PF_X,
			      0x1000 };
	ph[2] = (Elf32_Phdr){ PT_LOAD, 0x3200, 0x5200, 0, 0x100, 0x100, PF_R | PF_W,
			      0x1000 };
}

START_TEST(elf_files_of_32_and_64_bits_say_where_their_code_is)
{
	u8 page[512] __attribute__((aligned(8)));
	struct hwpmc_elf_entry e;

	for (int wide = 0; wide < 2; wide++) {
		s32 slide = 0;

		make_segments(page, wide);
		/* From the beginning of its page to its last byte. */
		ck_assert(!hwpmc_elf_slide(page, 512, 0, &slide));
		ck_assert(hwpmc_elf_slide(page, 512, 0x1000, &slide));
		ck_assert_int_eq(slide, 1);
		ck_assert(hwpmc_elf_slide(page, 512, 0x31ff, &slide));
		ck_assert(!hwpmc_elf_slide(page, 512, 0x3200, &slide));
		ck_assert(hwpmc_elf_entry(page, 512, &e));
		ck_assert_uint_eq(e.address, 0x2345);
		ck_assert_int_eq(e.moves, wide);
		ck_assert_uint_eq(e.word, wide ? 8 : 4);
	}
	/* No ELF file maps a part of a page. */
	make_segments(page, true);
	((Elf64_Phdr *)(page + sizeof(Elf64_Ehdr)))[1].p_vaddr++;
	ck_assert(!hwpmc_elf_slide(page, 512, 0x1000, &(s32){ 0 }));
}
END_TEST

/* Segments of data, code at 0x2200 and data at 0x5200. */
START_TEST(code_beside_a_mapping_of_its_file_is_found_in_the_file)
{
	u8 page[512] __attribute__((aligned(8)));
	u64 at;

	for (int wide = 0; wide < 2; wide++) {
		make_segments(page, wide);
		/* From the first segment, and from the page that both have. */
		ck_assert(hwpmc_elf_code_at(page, 512, 0, 0, 0x3000, &at));
		ck_assert_uint_eq(at, 0x2000);
		ck_assert(hwpmc_elf_code_at(page, 512, 0, 0x1000, 0x1000, &at));
		ck_assert_uint_eq(at, 0x1000);
		ck_assert(hwpmc_elf_code_at(page, 512, 1, 0x1000, 0x1000, &at));
		ck_assert_uint_eq(at, 0x2000);
		/* From above it. */
		ck_assert(hwpmc_elf_code_at(page, 512, 2, 0x3000, -0x1000ull, &at));
		ck_assert_uint_eq(at, 0x3000);
		ck_assert(hwpmc_elf_code_at(page, 512, 2, 0x3000, -0x3000ull, &at));
		ck_assert_uint_eq(at, 0x1000);
		/* No code is there, no segment has that offset, and there is no such segment. */
		ck_assert(!hwpmc_elf_code_at(page, 512, 0, 0, 0x1000, &at));
		ck_assert(!hwpmc_elf_code_at(page, 512, 0, 0, 0x5000, &at));
		ck_assert(!hwpmc_elf_code_at(page, 512, 0, 0x2000, 0, &at));
		ck_assert(!hwpmc_elf_code_at(page, 512, 3, 0, 0x3000, &at));
	}
	/* Part of a page. */
	ck_assert(!hwpmc_elf_code_at(page, 512, 0, 0, 0x3010, &at));
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(records_are_read_as_they_were_written_over_many_rounds);
	harness_add(a_full_ring_takes_nothing_and_says_later_what_is_missing);
	harness_add(a_record_leaves_the_room_for_the_declaration_of_drops);
	harness_add(declaration_has_the_drops_of_each_kind_since_the_first);
	harness_add(declaration_has_pairs_for_causes_behind_the_fixed_ones);
	harness_add(declaration_says_before_it_what_dropped_samples_stood_for);
	harness_add(what_an_owner_writes_into_its_counts_of_drops_is_not_read_back);
	harness_add(what_is_not_committed_is_not_seen);
	harness_add(push_over_an_unfinished_record_is_not_seen);
	harness_add(reader_is_woken_once_for_every_wakeup_bytes);
	harness_add(a_declaration_that_crosses_the_mark_wakes_the_reader);
	harness_add(a_hostile_tail_costs_records_and_nothing_else);
	harness_add_timed(writers_that_interrupt_each_other_lose_nothing, 30);
	harness_add_timed(the_build_id_of_this_program_is_found, 60);
	harness_add(build_id_is_found_behind_other_notes_in_files_of_32_and_64_bits);
	harness_add(elf_files_of_32_and_64_bits_say_where_their_code_is);
	harness_add(code_beside_a_mapping_of_its_file_is_found_in_the_file);
	return harness_run();
}
