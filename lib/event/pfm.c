/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pfm.c - event names by libpfm4: only raw encodings are asked for (of Netburst those
 * for perf), and only of the core PMUs that libpfm4 recognises on this CPU. Any thread: libpfm4 is
 * loaded and initialised once and only read after. LIBPFM_FORCE_PMU plays another CPU.
 */
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event.h"
#include "pfm_load.h"

#define PFM_PMUS	8		/* core PMUs of one machine */

static struct {
	pthread_once_t once;
	bool loaded;
	struct event_pfm_calls call;	/* if loaded */
	unsigned int n;
	pfm_pmu_t pmu[PFM_PMUS];
	const char *name[PFM_PMUS];
} present = { .once = PTHREAD_ONCE_INIT };

/* ix86arch last: the CPU's own names are better. */
static void present_add(pfm_pmu_t pmu, const char *name)
{
	if (present.n < PFM_PMUS) {
		present.pmu[present.n] = pmu;
		present.name[present.n++] = name;
	}
}

static void present_find(void)
{
	pfm_pmu_info_t info, arch = { .name = NULL };
	unsigned int i;

	present.loaded = !event_pfm_load(&present.call);
	if (!present.loaded || present.call.pfm_initialize() != PFM_SUCCESS)
		return;
	for (i = 0; i < PFM_PMU_MAX; i++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (present.call.pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS ||
		    !info.is_present || info.type != PFM_PMU_TYPE_CORE)
			continue;
		if (info.pmu == PFM_PMU_INTEL_X86_ARCH)
			arch = info;
		else
			present_add(info.pmu, info.name);
	}
	if (arch.name)
		present_add(arch.pmu, arch.name);
}

static void present_init(void)
{
	pthread_once(&present.once, present_find);
}

/* ------------------------------------------------------------------------ */

/* libpfm4's raw encoding does not say which unit an event belongs to. */
static int pfm_encode_netburst(const char *text, struct event_pfm_code *code)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int rc = present.call.pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3,
					   PFM_OS_PERF_EVENT, &arg);

	if (rc == PFM_SUCCESS)
		*code = (struct event_pfm_code) {
			.config = attr.config & ~P4_MODULE,
		};
	return rc;
}

static int pfm_encode(const char *text, struct event_pfm_code *code)
{
	pfm_pmu_encode_arg_t arg;
	int rc;

	if (!strncmp(text, "netburst", 8))
		return pfm_encode_netburst(text, code);
	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	rc = present.call.pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE,
				       &arg);
	if (rc != PFM_SUCCESS)
		return rc;
	code->config = arg.count > 0 ? arg.codes[0] & ~CODE_MODULE : 0;
	code->extra = arg.count > 1 ? arg.codes[1] : 0;
	free(arg.codes);
	return PFM_SUCCESS;
}

/* "pmu::NAME:attrs", with '_' for blanks and hyphens, and ':' for dots. */
static void text_of(const char *pmu, const char *name, const char *attrs,
		    char *buf, size_t size)
{
	char *p;
	size_t at;

	at = (size_t)snprintf(buf, size, "%s::", pmu);
	if (at >= size)
		return;
	snprintf(buf + at, size - at, "%s%s%s", name, *attrs ? ":" : "", attrs);
	for (p = buf + at; *p && *p != ':'; p++)
		if (*p == ' ' || *p == '-')
			*p = '_';
		else if (*p == '.')
			*p = ':';
}

/* ------------------------------------------------------------------------ */

typedef int attr_fn(const pfm_event_info_t *ev,
		    const pfm_event_attr_info_t *attr, void *arg);

/* The i-th unit mask of an event. libpfm4 puts them before the modifiers. */
static bool mask_at(const pfm_event_info_t *ev, int i, pfm_event_attr_info_t *attr)
{
	if (i >= ev->nattrs)
		return false;
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	return present.call.pfm_get_event_attr_info(ev->idx, i, PFM_OS_NONE, attr) ==
	       PFM_SUCCESS && attr->type == PFM_ATTR_UMASK;
}

/* Calls fn for an event by itself (attr NULL) and with each of its unit masks. */
static int each_attr(const pfm_event_info_t *ev, attr_fn *fn, void *arg)
{
	pfm_event_attr_info_t attr;
	int i, rc = fn(ev, NULL, arg);

	for (i = 0; !rc && mask_at(ev, i, &attr); i++)
		rc = fn(ev, &attr, arg);
	return rc;
}

static int each_event(pfm_pmu_t pmu, attr_fn *fn, void *arg)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };
	pfm_event_info_t ev;
	int i, rc = 0;

	if (present.call.pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS)
		return 0;
	for (i = info.first_event; !rc && i != -1; i = present.call.pfm_get_event_next(i)) {
		memset(&ev, 0, sizeof(ev));
		ev.size = sizeof(ev);
		if (present.call.pfm_get_event_info(i, PFM_OS_NONE, &ev) == PFM_SUCCESS)
			rc = each_attr(&ev, fn, arg);
	}
	return rc;
}

/* Without printf: lists make thousands of them. */
static void name_of(const pfm_event_info_t *ev,
		    const pfm_event_attr_info_t *attr, char *buf, size_t size)
{
	const char *part[] = { ev->name, attr ? ":" : "", attr ? attr->name : "" };
	size_t at = 0;

	for (unsigned int i = 0; i < sizeof(part) / sizeof(*part); i++) {
		size_t len = strlen(part[i]);

		if (len >= size - at)
			len = size - at - 1;
		memcpy(buf + at, part[i], len);
		at += len;
	}
	buf[at] = '\0';
}

struct loose {
	const char *want;		/* normal form, ':' as '_' */
	char found[160];
};

static int loose_match(const pfm_event_info_t *ev,
		       const pfm_event_attr_info_t *attr, void *arg)
{
	struct loose *l = arg;
	char name[160], loose[160];

	if (!event_rest(ev->name, l->want))
		return 0;
	name_of(ev, attr, name, sizeof(name));
	for (size_t i = 0; i <= strlen(name); i++)
		loose[i] = name[i] == ':' ? '.' : name[i];
	if (!event_is(loose, l->want))
		return 0;
	snprintf(l->found, sizeof(l->found), "%s", name);
	return 1;
}

/*
 * As FreeBSD takes space . _ - for the same, "mem.load-retired.l1_hit" is an
 * event and a unit mask that only a search through all of them finds.
 */
static int encode_loosely(unsigned int n, const struct event_terms *t,
			  struct event_pfm_code *code)
{
	char want[128], text[400];
	struct loose l = { .want = want, .found = "" };

	event_normal(t->name, want, sizeof(want));
	if (!each_event(present.pmu[n], loose_match, &l))
		return PFM_ERR_NOTFOUND;
	snprintf(text, sizeof(text), "%s::%s%s%s", present.name[n], l.found,
		 t->attrs[0] ? ":" : "", t->attrs);
	return pfm_encode(text, code);
}

static int encode_on(unsigned int n, const struct event_terms *t,
		     struct event_pfm_code *code)
{
	char text[400];
	int rc, loosely;

	text_of(present.name[n], t->name, t->attrs, text, sizeof(text));
	rc = pfm_encode(text, code);
	if (rc == PFM_SUCCESS)
		return rc;
	loosely = encode_loosely(n, t, code);
	return loosely == PFM_ERR_NOTFOUND ? rc : loosely;
}

/* ------------------------------------------------------------------------ */

static int refuse_pmu(const struct event_terms *t, struct event_error *e)
{
	char have[128] = "";
	unsigned int i;

	if (!present.loaded)
		return event_refuse(e, ENOENT, 0, "cannot look up names of '%s': libpfm4 is "
				    "not installed", t->pmu);
	for (i = 0; i < present.n; i++) {
		strncat(have, i ? ", " : "", sizeof(have) - strlen(have) - 1);
		strncat(have, present.name[i],
			sizeof(have) - strlen(have) - 1);
	}
	return event_refuse(e, ENOENT, 0,
			    "libpfm4 detects no core PMU '%s' here, but %s",
			    t->pmu, *have ? have : "none at all");
}

static int refuse_attr(const struct event_terms *t, int rc,
		       struct event_error *e)
{
	if (rc == PFM_ERR_UMASK && !t->attrs[0])
		return event_refuse(e, EINVAL, t->name_at + strlen(t->name),
				    "'%s' needs a unit mask: %s:… (see "
				    "'hwpmc list %s')", t->name, t->name,
				    t->name);
	return event_refuse(e, EINVAL, t->attrs[0] ? t->attrs_at : t->name_at,
			    "'%s' has no such unit mask or modifier: %s",
			    t->name, present.call.pfm_strerror(rc));
}

int event_pfm_find(const struct event_terms *t, struct event_pfm_code *code,
		   struct event_error *e)
{
	int rc, worst = PFM_ERR_NOTFOUND;
	bool pmu_seen = false;
	unsigned int i;

	present_init();
	for (i = 0; i < present.n; i++) {
		if (t->pmu[0] && strcasecmp(t->pmu, present.name[i]))
			continue;
		pmu_seen = true;
		rc = encode_on(i, t, code);
		if (rc == PFM_SUCCESS)
			return 0;
		if (rc != PFM_ERR_NOTFOUND && worst == PFM_ERR_NOTFOUND)
			worst = rc;
	}
	if (t->pmu[0] && !pmu_seen)
		return refuse_pmu(t, e);
	if (worst != PFM_ERR_NOTFOUND)
		return refuse_attr(t, worst, e);
	return event_refuse(e, ENOENT, t->name_at, "no event '%s'", t->name);
}

bool event_pfm_installed(void)
{
	present_init();
	return present.loaded;
}

bool event_pfm_any(void)
{
	present_init();
	for (unsigned int i = 0; i < present.n; i++)
		if (present.pmu[i] != PFM_PMU_INTEL_X86_ARCH)
			return true;
	return false;
}

bool event_pfm_find_name(const char *name, struct event_pfm_code *code)
{
	char text[200];
	unsigned int i;

	present_init();
	for (i = 0; i < present.n; i++) {
		snprintf(text, sizeof(text), "%s::%s", present.name[i], name);
		if (pfm_encode(text, code) == PFM_SUCCESS)
			return true;
	}
	return false;
}

struct each_line {
	const char *pmu;
	event_pfm_fn *wanted, *fn;
	void *arg;
};

/* An event with unit masks is listed by them, not by itself. */
static bool has_umasks(const pfm_event_info_t *ev)
{
	pfm_event_attr_info_t attr;

	return mask_at(ev, 0, &attr);
}

static int line_out(const pfm_event_info_t *ev,
		    const pfm_event_attr_info_t *attr, void *arg)
{
	struct each_line *l = arg;
	char name[160], desc[512];
	struct event_pfm_line line = { .pmu = l->pmu, .name = name, .desc = "" };

	if (!attr && has_umasks(ev))
		return 0;
	name_of(ev, attr, name, sizeof(name));
	if (l->wanted && !l->wanted(&line, l->arg))
		return 0;
	line.desc = desc;
	snprintf(desc, sizeof(desc), "%s%s%s", ev->desc ? ev->desc : "",
		 attr ? ": " : "", attr && attr->desc ? attr->desc : "");
	return l->fn(&line, l->arg);
}

int event_pfm_each(event_pfm_fn *wanted, event_pfm_fn *fn, void *arg)
{
	struct each_line l = { .wanted = wanted, .fn = fn, .arg = arg };
	unsigned int i;
	int rc = 0;

	present_init();
	for (i = 0; !rc && i < present.n; i++) {
		/* The CPU's own tables have the architectural names too. */
		if (i && present.pmu[i] == PFM_PMU_INTEL_X86_ARCH)
			continue;
		l.pmu = present.name[i];
		rc = each_event(present.pmu[i], line_out, &l);
	}
	return rc;
}
