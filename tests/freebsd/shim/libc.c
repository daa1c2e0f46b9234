/* SPDX-License-Identifier: BSD-2-Clause */
/* libc.c - functions of FreeBSD's C library that its tools of counters call. */
#include <errno.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include <libutil.h>
#include <sys/cpuset.h>
#include <sys/sysctl.h>
#undef getopt
#undef sysconf

void errc(int status, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	errno = code;
	verr(status, format, args);
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	return (size_t)snprintf(to, size, "%s", from);
}

int freebsd_getopt(int argc, char *const argv[], const char *options)
{
	char all[200];

	snprintf(all, sizeof(all), "+%s", options);
	return getopt(argc, argv, all);
}

long freebsd_sysconf(int name)
{
	return name == _SC_CPUSET_SIZE ? (long)sizeof(cpuset_t) : sysconf(name);
}

int cpuset_getaffinity(int level, int which, long id, size_t size, cpuset_t *set)
{
	char path[80] = "/sys/devices/system/cpu/online";
	int first, last;
	char sep;
	FILE *f;

	(void)level;
	if (which == CPU_WHICH_DOMAIN)
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%ld/cpulist",
			 id);
	f = fopen(path, "r");
	if (!f || size < sizeof(*set))
		return -1;
	CPU_ZERO(set);
	while (fscanf(f, "%d", &first) == 1) {
		last = first;
		if (fscanf(f, "%c", &sep) == 1 && sep == '-' &&
		    fscanf(f, "%d%c", &last, &sep) < 1)
			break;
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
	}
	fclose(f);
	return 0;
}

int cpuset_parselist(const char *list, cpuset_t *set)
{
	unsigned long first, last;
	char *end;

	CPU_ZERO(set);
	do {
		first = last = strtoul(list, &end, 10);
		if (*end == '-')
			last = strtoul(list = end + 1, &end, 10);
		if (end == list || (*end && *end != ',') || last >= CPU_SETSIZE)
			return CPUSET_PARSE_INVALID_CPU;
		for (; first <= last; first++)
			CPU_SET(first, set);
		list = end + 1;
	} while (*end);
	return CPUSET_PARSE_OK;
}

/* vm.ndomains: a kernel without NUMA has one. */
static int domains(void)
{
	char path[80];
	int n = 0;

	do {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", n);
	} while (!access(path, F_OK) && ++n);
	return n ? n : 1;
}

/* hw.model, from /proc/cpuinfo; false: it has none. */
static int model(char *to, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[200];
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, "model name", 10) && strchr(line, ':');
	}
	if (f)
		fclose(f);
	if (found)
		strlcpy(to, strchr(line, ':') + 2, size);
	return found;
}

/* Text about the machine and its kernel; false: of another name. */
static int text(const char *name, char *to, size_t size)
{
	struct utsname kernel;

	if (!strcmp(name, "hw.model"))
		return model(to, size);
	uname(&kernel);
	if (!strcmp(name, "kern.osrelease"))
		strlcpy(to, kernel.release, size);
	else if (!strcmp(name, "kern.build_id"))
		strlcpy(to, kernel.version, size);
	else
		return 0;
	return 1;
}

/* No CPU is halted or a logical one here; the processor's name has a sysctl of hwpmc. */
int sysctlbyname(const char *name, void *old, size_t *oldlen, const void *value,
		 size_t len)
{
	char path[200] = "/proc/sys/";
	char *dot;
	FILE *f;

	(void)value;
	(void)len;
	if (!strcmp(name, "machdep.hlt_cpus") ||
	    !strcmp(name, "machdep.logical_cpus_mask")) {
		memset(old, 0, *oldlen);
		return 0;
	}
	if (!strcmp(name, "vm.ndomains") && *oldlen >= sizeof(int)) {
		*(int *)old = domains();
		*oldlen = sizeof(int);
		return 0;
	}
	if (text(name, old, *oldlen)) {
		*oldlen = strlen(old) + 1;
		return 0;
	}
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s", name);
	while ((dot = strchr(path, '.')))
		*dot = '/';
	f = fopen(path, "r");
	if (!f || !fgets(old, (int)*oldlen, f)) {
		if (f)
			fclose(f);
		errno = ENOENT;
		return -1;
	}
	((char *)old)[strcspn(old, "\n")] = '\0';
	*oldlen = strlen(old) + 1;
	fclose(f);
	return 0;
}

int sysctl(const int *name, unsigned int n, void *old, size_t *oldlen, const void *value,
	   size_t len)
{
	(void)value;
	(void)len;
	if (n != 2 || name[0] != CTL_KERN || name[1] != KERN_CLOCKRATE ||
	    *oldlen < sizeof(struct clockinfo)) {
		errno = ENOENT;
		return -1;
	}
	*(struct clockinfo *)old = (struct clockinfo){
		.hz = 100, .tick = 10000, .stathz = 100, .profhz = 100,
	};
	return 0;
}
