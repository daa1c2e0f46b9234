/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_log.c - see stat_log.h. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "stat_log.h"

#define PMC_ID	7

void *log_add(struct log *log, uint8_t type, size_t len)
{
	struct hwpmc_log_hdr *h;

	len = (len + 7) & ~7ul;
	if (log->len + len > log->room) {
		log->room = 2 * (log->len + len);
		log->bytes = realloc(log->bytes, log->room);
	}
	h = (void *)(log->bytes + log->len);
	memset((void *)h, 0, len);
	h->len = len;
	h->type = type;
	h->time = log->time++;
	log->len += len;
	return h;
}

void log_free(struct log *log)
{
	free(log->bytes);
	memset(log, 0, sizeof(*log));
}

void log_event(struct log *log, uint32_t id, const char *name, uint64_t period)
{
	struct hwpmc_log_allocate *r;

	r = log_add(log, HWPMC_LOG_PMCALLOCATEDYN, sizeof(*r));
	r->hdr.id = id;
	r->mode = HWPMC_MODE_TS;
	r->count = period;
	strncpy(r->name, name, sizeof(r->name) - 1);
}

void log_begin(struct log *log)
{
	struct hwpmc_log_initialize *r;

	memset(log, 0, sizeof(*log));
	log->time = 1000;
	r = log_add(log, HWPMC_LOG_INITIALIZE, sizeof(*r));
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->ncpu = 2;
	r->clock = HWPMC_CLOCK_TSC;
	r->khz = 1000000;
	strcpy(r->cpuid, "GenuineIntel-6-55-4");
	log_event(log, PMC_ID, "instructions", 1000);
}

void log_cpu(struct log *log, uint32_t cpu)
{
	struct hwpmc_log_hdr *h = log_add(log, HWPMC_LOG_CPU, sizeof(*h));

	h->id = cpu;
}

void log_context(struct log *log, int32_t pid, int32_t tid)
{
	struct hwpmc_log_context *r;

	r = log_add(log, HWPMC_LOG_CONTEXT, sizeof(*r));
	r->pid = pid;
	r->tid = tid;
}

void log_exec(struct log *log, int32_t pid, const char *path, const char *comm)
{
	struct hwpmc_log_exec *r;

	r = log_add(log, HWPMC_LOG_PROCEXEC, sizeof(*r) + strlen(path) + 1);
	r->pid = r->tid = pid;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
	strcpy(r->path, path);
}

void log_fork(struct log *log, int32_t parent, int32_t child)
{
	struct hwpmc_log_fork *r;

	r = log_add(log, HWPMC_LOG_PROCFORK, sizeof(*r));
	r->parent = parent;
	r->child = child;
}

void log_exit(struct log *log, int32_t pid)
{
	struct hwpmc_log_task *r;

	r = log_add(log, HWPMC_LOG_SYSEXIT, sizeof(*r));
	r->pid = r->tid = pid;
}

void log_note(struct log *log, const char *text)
{
	struct hwpmc_log_note *r;

	r = log_add(log, HWPMC_LOG_NOTE, sizeof(*r) + strlen(text) + 1);
	strcpy(r->text, text);
}

struct hwpmc_log_map *log_map(struct log *log, int32_t pid, uint64_t start,
			      uint64_t size, uint64_t offset, const char *path)
{
	struct hwpmc_log_map *r;

	r = log_add(log, HWPMC_LOG_MAP_IN, sizeof(*r) + strlen(path) + 1);
	r->pid = pid;
	r->start = start;
	r->end = start + size;
	r->offset = offset;
	strcpy(r->path, path);
	return r;
}

void log_unmap(struct log *log, int32_t pid, uint64_t start, uint64_t size)
{
	struct hwpmc_log_unmap *r;

	r = log_add(log, HWPMC_LOG_MAP_OUT, sizeof(*r));
	r->pid = pid;
	r->start = start;
	r->end = start + size;
}

void log_stack(struct log *log, uint8_t flags, uint32_t n, const uint64_t *pc)
{
	struct hwpmc_log_sample *r;

	r = log_add(log, HWPMC_LOG_CALLCHAIN, sizeof(*r) + n * sizeof(*pc));
	r->hdr.id = PMC_ID;
	r->hdr.flags = flags;
	memcpy(r->pc, pc, n * sizeof(*pc));
	log->samples++;
}

void log_user(struct log *log, uint64_t pc)
{
	log_stack(log, HWPMC_SAMPLE_USER, 1, &pc);
}

void log_kernel(struct log *log, uint64_t pc)
{
	log_stack(log, 0, 1, &pc);
}

/* ---- reading it ---------------------------------------------------------- */

struct hwpmc_profile_options log_options(void)
{
	return (struct hwpmc_profile_options){ 0 };
}

struct hwpmc_profile *log_profile(const struct log *log,
				  const struct hwpmc_profile_options *o)
{
	struct hwpmc_profile_options standard = log_options();
	struct hwpmc_input *in = hwpmc_input_memory(log->bytes, log->len);
	struct hwpmc_profile *p;
	char err[600] = "";

	ck_assert_ptr_nonnull(in);
	p = hwpmc_profile_read(in, o ? o : &standard, NULL, NULL, err,
			       sizeof(err));
	ck_assert_msg(p, "%s", err);
	hwpmc_input_close(in);
	return p;
}

void check_conservation(const struct log *log, struct hwpmc_profile *p)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	uint64_t stacks = 0, images = 0, events = 0, filtered = 0, unknown = 0;
	const struct hwpmc_profile_event *ev;
	struct hwpmc_image *const *img;
	const struct hwpmc_stack *s;
	uint32_t n;

	s = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		stacks += s[i].taken;
		if (s[i].frame[0]->symbol->unknown)
			unknown += s[i].taken;
	}
	img = hwpmc_profile_images(p, &n);
	for (uint32_t i = 0; i < n; i++)
		images += img[i]->samples;
	ev = hwpmc_profile_events(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		events += ev[i].taken;
		filtered += ev[i].filtered;
	}
	ck_assert_uint_eq(t->samples, log->samples);
	ck_assert_uint_eq(t->kept + filtered, t->samples);
	ck_assert_uint_eq(events, t->kept);
	ck_assert_uint_eq(stacks, t->kept);
	ck_assert_uint_eq(images, t->kept);
	ck_assert_uint_eq(unknown, t->unknown);
}

const struct hwpmc_stack *stack_at(struct hwpmc_profile *p, uint64_t pc)
{
	const struct hwpmc_stack *s;
	uint32_t n;

	s = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (s[i].frame[0]->pc == pc)
			return &s[i];
	ck_abort_msg("no stack begins at %#" PRIx64, pc);
	return NULL;
}

uint64_t samples_in(struct hwpmc_profile *p, const char *symbol)
{
	const struct hwpmc_stack *s;
	uint64_t sum = 0;
	uint32_t n;

	s = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(s[i].frame[0]->symbol->name, symbol) == 0)
			sum += s[i].count;
	return sum;
}

const struct hwpmc_image *image_of(struct hwpmc_profile *p, const char *name)
{
	struct hwpmc_image *const *img;
	uint32_t n;

	img = hwpmc_profile_images(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(img[i]->name, name) == 0)
			return img[i];
	ck_abort_msg("no image is called %s", name);
	return NULL;
}

/* ---- programs ------------------------------------------------------------ */

const char *program(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", SYMBOLS_DIR, name);
	ck_assert_msg(access(path, R_OK) == 0, "%s is not made", path);
	return path;
}

static FILE *run(const char *command, const char *path)
{
	char line[5000];
	FILE *f;

	snprintf(line, sizeof(line), "%s '%s'", command, path);
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	return f;
}

uint64_t nm_addr(const char *path, const char *symbol)
{
	char line[4096], name[1024], type;
	uint64_t addr, found = 0;
	FILE *f = run("nm", path);

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %c %1023s", &addr, &type,
			   name) == 3 && strcmp(name, symbol) == 0)
			found = addr;
	pclose(f);
	ck_assert_msg(found, "%s has no %s", path, symbol);
	return found;
}

struct text text_of(const char *path)
{
	uint64_t offset, addr, phys, file, mem;
	FILE *f = run("readelf -lW", path);
	struct text t = { 0, 0, 0 };
	char line[4096];

	while (fgets(line, sizeof(line), f))
		if (strstr(line, " R E ") &&
		    sscanf(line, " LOAD %" SCNx64 " %" SCNx64 " %" SCNx64 " %"
			   SCNx64 " %" SCNx64, &offset, &addr, &phys, &file,
			   &mem) == 5)
			t = (struct text){
				offset & ~0xfffull, addr & ~0xfffull,
				(mem + (addr & 0xfff) + 0xfff) & ~0xfffull,
			};
	pclose(f);
	ck_assert_msg(t.size, "%s has no text", path);
	return t;
}

uint32_t build_id_of(const char *path, uint8_t *id)
{
	FILE *f = run("readelf -nW", path);
	char line[4096], *at;
	unsigned int byte;
	uint32_t n = 0;

	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "Build ID: ");
		for (at = at ? at + 10 : NULL;
		     at && n < HWPMC_LOG_BUILD_ID &&
		     sscanf(at, "%2x", &byte) == 1; at += 2)
			id[n++] = byte;
	}
	pclose(f);
	return n;
}

struct hwpmc_log_map *log_program(struct log *log, int32_t pid, uint64_t base,
				  const char *path)
{
	struct text t = text_of(path);
	struct hwpmc_log_map *r;

	r = log_map(log, pid, base + t.addr, t.size, t.offset, path);
	r->build_id_len = build_id_of(path, r->build_id);
	if (r->build_id_len)
		r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
	return r;
}

unsigned int line_with(const char *file, const char *text)
{
	unsigned int n = 0, found = 0;
	char line[1024], path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", SYMBOLS_SRC, file);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f)) {
		n++;
		if (strstr(line, text))
			found = n;
	}
	fclose(f);
	ck_assert_msg(found, "%s does not have '%s'", path, text);
	return found;
}
