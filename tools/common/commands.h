/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.h - the commands of hwpmc. One file cmd_NAME.c each; the table is in
 * hwpmc/hwpmc.c.
 */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

/* argv[0] is the command's name. The return value is the exit status. */
int cmd_stat(int argc, char *argv[]);
int cmd_record(int argc, char *argv[]);
int cmd_report(int argc, char *argv[]);
int cmd_top(int argc, char *argv[]);
int cmd_diff(int argc, char *argv[]);
int cmd_annotate(int argc, char *argv[]);
int cmd_dump(int argc, char *argv[]);
int cmd_filter(int argc, char *argv[]);
int cmd_merge(int argc, char *argv[]);
int cmd_list(int argc, char *argv[]);
int cmd_control(int argc, char *argv[]);
int cmd_kgmon(int argc, char *argv[]);
int cmd_selftest(int argc, char *argv[]);
int cmd_doctor(int argc, char *argv[]);
int cmd_push(int argc, char *argv[]);
int cmd_metrics(int argc, char *argv[]);
int cmd_unload(int argc, char *argv[]);

extern const char cmd_stat_help[];
extern const char cmd_record_help[];
extern const char cmd_report_help[];
extern const char cmd_top_help[];
extern const char cmd_diff_help[];
extern const char cmd_annotate_help[];
extern const char cmd_dump_help[];
extern const char cmd_filter_help[];
extern const char cmd_merge_help[];
extern const char cmd_list_help[];
extern const char cmd_control_help[];
extern const char cmd_kgmon_help[];
extern const char cmd_selftest_help[];
extern const char cmd_doctor_help[];
extern const char cmd_push_help[];
extern const char cmd_metrics_help[];
extern const char cmd_unload_help[];

#endif
