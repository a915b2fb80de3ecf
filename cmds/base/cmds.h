/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The multi-call program: one function per command, in cmds/NAME.c. */
#ifndef LIZARD_CMDS_H
#define LIZARD_CMDS_H

/* argv[0] is the command's name. The result is the exit status. */
struct lz_cmd {
	const char *name, *summary;
	int (*main)(int argc, char **argv);
};

int lz_cmd_trace(int argc, char **argv);
int lz_cmd_hunt(int argc, char **argv);
int lz_cmd_gdb(int argc, char **argv);
int lz_cmd_dap(int argc, char **argv);
int lz_cmd_serve(int argc, char **argv);
int lz_cmd_verify(int argc, char **argv);
int lz_cmd_ls(int argc, char **argv);
int lz_cmd_ps(int argc, char **argv);
int lz_cmd_rm(int argc, char **argv);
int lz_cmd_pack(int argc, char **argv);
int lz_cmd_unpack(int argc, char **argv);
int lz_cmd_prune(int argc, char **argv);
int lz_cmd_info(int argc, char **argv);
int lz_cmd_index(int argc, char **argv);
int lz_cmd_dump(int argc, char **argv);
int lz_cmd_calls(int argc, char **argv);
int lz_cmd_hits(int argc, char **argv);
int lz_cmd_coverage(int argc, char **argv);
int lz_cmd_diff(int argc, char **argv);
int lz_cmd_profile(int argc, char **argv);
int lz_cmd_tree(int argc, char **argv);
int lz_cmd_grep(int argc, char **argv);
int lz_cmd_strace(int argc, char **argv);
int lz_cmd_output(int argc, char **argv);
int lz_cmd_points(int argc, char **argv);
int lz_cmd_marks(int argc, char **argv);
int lz_cmd_timeline(int argc, char **argv);
int lz_cmd_report(int argc, char **argv);

#endif
