/* SPDX-License-Identifier: BSD-2-Clause */
/* perfwords.h - what perf's options and commands are called in hwpmc. */
#ifndef TOOLS_PERFWORDS_H
#define TOOLS_PERFWORDS_H

struct perfword {
	const char *command;	/* hwpmc's, without "hwpmc "; "": the word is a command */
	const char *word;	/* perf's: "-A", "--no-aggr" */
	const char *here;	/* "--per-cpu"; NULL: hwpmc has none, see .why */
	const char *why;
};

/* word: as in the arguments, "--option=value" included. NULL: perf's word is not known. */
const struct perfword *perfword_find(const char *command, const char *word);

#endif
