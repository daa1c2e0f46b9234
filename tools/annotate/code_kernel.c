/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code_kernel.c - the bytes of the kernel's functions: of its vmlinux, where the
 * user gave it, else of the running kernel. That one has the function where its own
 * kallsyms says, which is elsewhere than in a log of before the last boot.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code_read.h"
#include "common/msg.h"

/* ---- where functions are in the running kernel --------------------------- */

/* /proc/kallsyms, read once: lines "address type name [module]", by name. */
static struct {
	char *text;
	char **slot;			/* lines; NULL: free */
	uint32_t nslot;			/* a power of two */
} running;

static const char *name_in(const char *line)
{
	return line + strcspn(line, " ") + 3;
}

static size_t name_length(const char *name)
{
	return strcspn(name, "\t");
}

static uint32_t hash_name(const char *name, size_t len)
{
	uint32_t h = 5381;

	while (len--)
		h = h * 33 + (unsigned char)*name++;
	return h ^ h >> 15;
}

static void enter_line(char *line)
{
	const char *name = name_in(line);
	uint32_t at = hash_name(name, name_length(name));

	for (at &= running.nslot - 1; running.slot[at];
	     at = (at + 1) & (running.nslot - 1))
		;
	running.slot[at] = line;
}

static void read_running(void)
{
	FILE *f = running.nslot ? NULL : fopen("/proc/kallsyms", "re");
	char *rest, *line;
	uint32_t n = 0;
	size_t size = 0;

	if (!f)
		return;
	if (getdelim(&running.text, &size, '\0', f) < 0)
		running.text[0] = '\0';
	fclose(f);
	for (const char *c = running.text; *c; c++)
		n += *c == '\n';
	for (running.nslot = 1024; running.nslot < 2 * n; )
		running.nslot *= 2;
	running.slot = must_calloc(running.nslot, sizeof(char *));
	rest = running.text;
	while ((line = strsep(&rest, "\n")))
		if (strlen(line) > 19)
			enter_line(line);
}

static bool is_of(const char *line, const char *name, const char *module)
{
	const char *its = name_in(line);
	size_t len = name_length(its);

	if (strncmp(its, name, len) || name[len])
		return false;
	return module ? its[len] && strcmp(its + len + 1, module) == 0 :
	       !its[len];
}

/*
 * Static functions may share a name: then the address must be the log's. module:
 * "[name]", NULL: the kernel itself. 0: not there, or ambiguous.
 */
static uint64_t find_running(const char *name, const char *module,
			     uint64_t want)
{
	uint64_t found = 0;
	unsigned int n = 0;
	uint32_t at;

	read_running();
	at = hash_name(name, strlen(name));
	for (; running.nslot && running.slot[at & (running.nslot - 1)]; at++) {
		const char *line = running.slot[at & (running.nslot - 1)];

		if (!is_of(line, name, module))
			continue;
		found = strtoull(line, NULL, 16);
		if (found == want)
			return want;
		n++;
	}
	return n == 1 ? found : 0;
}

/* ---- its memory ---------------------------------------------------------- */

static bool kcore_offset(int fd, uint64_t addr, uint64_t *offset,
			 uint64_t *left)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return false;
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) !=
		    sizeof(ph))
			return false;
		if (ph.p_type != PT_LOAD || addr < ph.p_vaddr ||
		    addr - ph.p_vaddr >= ph.p_memsz)
			continue;
		*offset = ph.p_offset + (addr - ph.p_vaddr);
		*left = ph.p_memsz - (addr - ph.p_vaddr);
		return true;
	}
	return false;
}

static int read_kcore(struct code *c, uint64_t addr, uint64_t size, char *err,
		      size_t errsize)
{
	uint64_t offset, left;
	int fd, rc;

	strcpy(c->from, "/proc/kcore");
	fd = open(c->from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return code_refuse(err, errsize, "cannot read the instructions of the kernel from /proc/kcore",
				   errno == EACCES || errno == EPERM ?
				   "run as root, or give vmlinux by --kernel" :
				   strerror(errno));
	if (kcore_offset(fd, addr, &offset, &left))
		rc = code_read_bytes(c, fd, offset, size < left ? size : left,
				     err, errsize);
	else
		rc = code_refuse(err, errsize, c->from,
				 "the running kernel has no code at the address of the function");
	close(fd);
	return rc;
}

/* Does the running kernel have the build-id, as far as both are known? */
static bool is_running(const struct hwpmc_image *image)
{
	char path[200], name[100];
	uint8_t notes[4096];
	ssize_t n;
	int fd;

	if (!image->build_id_len)
		return true;
	snprintf(path, sizeof(path), "/sys/kernel/notes");
	if (image->kind == HWPMC_IMAGE_MODULE &&
	    sscanf(image->path, "[%99[^]/]]", name) == 1 && name[0] != '.')
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n <= 0 || memmem(notes, n, image->build_id, image->build_id_len);
}

int code_read_kernel(struct code *c, const struct hwpmc_symbol *s,
		     uint64_t size, char *err, size_t errsize)
{
	const struct hwpmc_image *image = s->image;
	bool module = image->kind == HWPMC_IMAGE_MODULE;
	uint64_t addr;

	if (!module && image->code) {
		snprintf(c->from, sizeof(c->from), "%s", image->code);
		return code_read_elf(c, NULL, image->code, image, size, err,
				     errsize);
	}
	if (!is_running(image))
		return code_refuse(err, errsize, image->path,
				   "the log is from another kernel: give its vmlinux by --kernel");
	addr = find_running(s->raw, module ? image->path : NULL,
			    s->start + image->load);
	if (!addr)
		return code_refuse(err, errsize, s->name,
				   "/proc/kallsyms does not show its address: run as root, or give vmlinux by --kernel");
	return read_kcore(c, addr, size, err, errsize);
}
