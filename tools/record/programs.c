/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.c - see programs.h. A wrong guess costs the tables of one file. */
#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/msg.h"
#include "programs.h"

struct list {
	char **path;
	unsigned int n;
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_shell(const char *path)
{
	static const char *const names[] = { "sh", "bash", "dash", "ash", "ksh", "zsh" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(base_of(path), names[i]) == 0)
			return true;
	return false;
}

/* Programs that execute the program that is named by one of their words. */
static bool is_wrapper(const char *path)
{
	static const char *const names[] = {
		"env", "nice", "taskset", "nohup", "timeout", "setsid", "stdbuf", "chrt",
		"ionice", "numactl", "setarch", "prlimit", "time", "sudo", "doas", "runuser",
		"chroot", "unshare", "nsenter", "setpriv", "busybox",
	};
	const char *base = base_of(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(base, names[i]) == 0)
			return true;
	return strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld.so", 5) == 0 ||
	       strncmp(base, "ld-musl", 7) == 0;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Returns the path that execvp() finds; the caller frees it. */
static char *find_program(const char *name)
{
	const char *dirs = getenv("PATH");
	char *copy, *rest, *dir, *path = NULL;

	if (strchr(name, '/'))
		return is_program(name) ? must_strdup(name) : NULL;
	copy = rest = must_strdup(dirs ? dirs : "/bin:/usr/bin");
	while (!path && (dir = strsep(&rest, ":"))) {
		if (asprintf(&path, "%s/%s", *dir ? dir : ".", name) < 0)
			path = NULL;
		else if (!is_program(path)) {
			free(path);
			path = NULL;
		}
	}
	free(copy);
	return path;
}

static size_t read_start(const char *path, void *bytes, size_t size)
{
	const struct hwpmc_guard guard = { .limit = UINT64_MAX };
	int fd = hwpmc_open_guarded(&guard, path, NULL);
	ssize_t n = fd >= 0 ? pread(fd, bytes, size, 0) : -1;

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : n;
}

static void add_path(struct list *l, char *path);

/* "#!/bin/sh -e": what the kernel executes. */
static void add_interpreter(struct list *l, const char *path)
{
	char line[256] = "", *at = line + 2;

	if (read_start(path, line, sizeof(line) - 1) < 2 || strncmp(line, "#!", 2))
		return;
	at += strspn(at, " \t");
	at[strcspn(at, " \t\r\n")] = '\0';
	if (*at && is_program(at))
		add_path(l, must_strdup(at));
}

/* Takes it. */
static void add_path(struct list *l, char *path)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (strcmp(l->path[i], path) == 0) {
			free(path);
			return;
		}
	if (l->n == PROGRAMS_MOST) {
		free(path);
		return;
	}
	l->path[l->n++] = path;
	add_interpreter(l, path);
}

/* Each word of a shell's text that is a program. */
static void add_text(struct list *l, const char *text)
{
	char *copy = must_strdup(text), *rest = copy, *word, *path;

	while ((word = strsep(&rest, " \t\n;&|()")) != NULL) {
		path = *word ? find_program(word) : NULL;
		if (path)
			add_path(l, path);
	}
	free(copy);
}

/* Options and their values, and assignments, are no programs that are found. */
static char *program_behind(char *const *word, unsigned int *at)
{
	char *path = NULL;

	for (; word[*at] && !path; ++*at)
		if (word[*at][0] != '-' && !strchr(word[*at], '='))
			path = find_program(word[*at]);
	return path;
}

unsigned int programs_of(char *const *command, char *path[PROGRAMS_MOST])
{
	struct list l = { .path = path };
	unsigned int at = 1;
	char *program = command[0] ? find_program(command[0]) : NULL;

	while (program) {
		bool wraps = is_wrapper(program), shell = is_shell(program);

		add_path(&l, program);
		if (shell && command[at] && strcmp(command[at], "-c") == 0 && command[at + 1])
			add_text(&l, command[at + 1]);
		program = wraps ? program_behind(command, &at) : NULL;
	}
	return l.n;
}

bool programs_is_dynamic(const char *path)
{
	union {
		Elf64_Ehdr eh;
		char bytes[4096];
	} head;
	size_t n = read_start(path, &head, sizeof(head));
	Elf64_Phdr ph;

	if (n < sizeof(head.eh) || memcmp(head.eh.e_ident, ELFMAG, SELFMAG) ||
	    head.eh.e_ident[EI_CLASS] != ELFCLASS64 || head.eh.e_machine != EM_X86_64)
		return false;
	for (unsigned int i = 0; i < head.eh.e_phnum; i++) {
		uint64_t offset = head.eh.e_phoff + i * sizeof(ph);

		if (offset > n || n - offset < sizeof(ph))
			return false;
		memcpy(&ph, head.bytes + offset, sizeof(ph));
		if (ph.p_type == PT_INTERP)
			return true;
	}
	return false;
}
