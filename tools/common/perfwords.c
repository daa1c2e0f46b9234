/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfwords.c - options and commands of perf that hwpmc does not have, and what does the same
 * here: the answer to a user whose fingers know perf. Pure tables and their search.
 */
#include <stddef.h>
#include <string.h>

#include "perfwords.h"

#define NO_BRANCHES	"hwpmc records no branch stacks"
#define NO_DATA		"hwpmc records no data addresses"
#define NO_THREAD	"hwpmc samples whole processes: use -p, and hwpmc report -t"
#define NO_CGROUP	"hwpmc samples no control groups: use -p or -a"
#define NO_TUI		"hwpmc report prints text (for a browser: --format flamegraph)"

#define SAME(command, word, here)	{ command, word, here, NULL }
#define NONE(command, word, why)	{ command, word, NULL, why }

static const struct perfword words[] = {
	SAME("", "evlist", "hwpmc report (it names the events of a log first)"),
	SAME("", "script", "hwpmc dump"),
	SAME("", "test", "hwpmc selftest"),
	SAME("", "version", "hwpmc --version"),
	SAME("", "daemon", "hwpmc record --every"),

	SAME("stat", "-A", "--per-cpu"),
	SAME("stat", "--no-aggr", "--per-cpu"),
	SAME("stat", "-D", "--delay"),
	SAME("stat", "-d", "-e dc-loads,dc-misses,cache-references,cache-misses"),
	SAME("stat", "--detailed", "-e dc-loads,dc-misses,cache-references,cache-misses"),
	SAME("stat", "-i", "--no-descendants"),
	SAME("stat", "-j", "--json"),
	SAME("stat", "--for-each-cgroup", "-G"),
	SAME("stat", "--interval-print", "-I"),
	SAME("stat", "--no-inherit", "--no-descendants"),
	SAME("stat", "--per-die", "--per-socket"),
	SAME("stat", "--per-node", "--per-socket"),
	SAME("stat", "--topdown", "-M with a group of hwpmc list --metrics"),

	NONE("record", "-b", NO_BRANCHES),
	NONE("record", "-G", NO_CGROUP),
	SAME("record", "-i", "--no-descendants"),
	NONE("record", "-j", NO_BRANCHES),
	SAME("record", "-m", "--ring-size"),
	NONE("record", "-t", NO_THREAD),
	NONE("record", "-W", NO_DATA),
	NONE("record", "--branch-any", NO_BRANCHES),
	NONE("record", "--branch-filter", NO_BRANCHES),
	NONE("record", "--cgroup", NO_CGROUP),
	NONE("record", "--data", NO_DATA),
	SAME("record", "--mmap-pages", "--ring-size"),
	SAME("record", "--no-inherit", "--no-descendants"),
	NONE("record", "--tid", NO_THREAD),

	SAME("report", "-c", "--comm"),
	SAME("report", "-D", "hwpmc dump"),
	SAME("report", "-d", "--image"),
	SAME("report", "-F", "--sort"),
	SAME("report", "-G", "--callees"),
	SAME("report", "-g", "--tree, --callers or --callees"),
	SAME("report", "-n", "the default"),
	SAME("report", "-S", "--symbol"),
	SAME("report", "-T", "--sort thread"),
	SAME("report", "--call-graph", "--tree, --callers or --callees"),
	SAME("report", "--comms", "--comm"),
	SAME("report", "--dsos", "--image"),
	SAME("report", "--dump-raw-trace", "hwpmc dump"),
	SAME("report", "--fields", "--sort"),
	NONE("report", "--gtk", NO_TUI),
	SAME("report", "--hierarchy", "--sort with several keys"),
	SAME("report", "--inverted", "--callees"),
	SAME("report", "--percent-limit", "--limit"),
	SAME("report", "--show-nr-samples", "the default"),
	SAME("report", "--symbols", "--symbol"),
	SAME("report", "--symfs", "--root"),
	SAME("report", "--threads", "--sort thread"),
	NONE("report", "--tui", NO_TUI),
	SAME("report", "--vmlinux", "--kernel"),

	SAME("annotate", "-d", "--image"),
	SAME("annotate", "-M", "--intel"),
	SAME("annotate", "-s", "a function as an argument"),
	SAME("annotate", "-S", "a function as an argument"),
	SAME("annotate", "--disassembler-style", "--intel"),
	SAME("annotate", "--dsos", "--image"),
	SAME("annotate", "--symbol", "a function as an argument"),
	SAME("annotate", "--symfs", "--root"),
	SAME("annotate", "--vmlinux", "--kernel"),

	NONE("top", "-b", NO_BRANCHES),
	SAME("top", "-i", "--no-descendants"),
	SAME("top", "-m", "--ring-size"),
	NONE("top", "-t", NO_THREAD),
	SAME("top", "--mmap-pages", "--ring-size"),
	SAME("top", "--no-inherit", "--no-descendants"),
	SAME("top", "--vmlinux", "--kernel"),
};

const struct perfword *perfword_find(const char *command, const char *word)
{
	size_t len = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strlen(word);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].command, command) == 0 &&
		    strlen(words[i].word) == len && strncmp(words[i].word, word, len) == 0)
			return &words[i];
	return NULL;
}
