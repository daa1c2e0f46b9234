/* SPDX-License-Identifier: BSD-2-Clause */
/* kvm.c - the list of processes that FreeBSD's tools of counters search by name. */
#include <ctype.h>
#include <dirent.h>

#include <kvm.h>

struct kvm {
	struct kinfo_proc *procs;
	char error[80];
};

kvm_t *kvm_openfiles(const char *kernel, const char *core, const char *swap, int flags,
		     char *errbuf)
{
	kvm_t *kd = calloc(1, sizeof(*kd));

	(void)kernel;
	(void)core;
	(void)swap;
	(void)flags;
	if (!kd)
		snprintf(errbuf, _POSIX2_LINE_MAX, "no memory");
	return kd;
}

/* False: it has ended, or it is no process. */
static int proc_read(const char *pid, struct kinfo_proc *proc)
{
	char path[300];
	FILE *f;
	int ok;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	proc->ki_pid = atoi(pid);
	ok = fgets(proc->ki_comm, sizeof(proc->ki_comm), f) != NULL;
	proc->ki_comm[strcspn(proc->ki_comm, "\n")] = '\0';
	fclose(f);
	return ok;
}

struct kinfo_proc *kvm_getprocs(kvm_t *kd, int op, int arg, int *count)
{
	struct kinfo_proc *more;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	(void)op;
	(void)arg;
	*count = 0;
	if (!dir) {
		snprintf(kd->error, sizeof(kd->error), "no /proc");
		return NULL;
	}
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		more = realloc(kd->procs, (*count + 1) * sizeof(*more));
		if (!more) {
			snprintf(kd->error, sizeof(kd->error), "no memory");
			break;
		}
		kd->procs = more;
		*count += proc_read(entry->d_name, &more[*count]);
	}
	closedir(dir);
	return entry ? NULL : kd->procs;
}

char *kvm_geterr(kvm_t *kd)
{
	return kd->error;
}

int kvm_close(kvm_t *kd)
{
	free(kd->procs);
	free(kd);
	return 0;
}
