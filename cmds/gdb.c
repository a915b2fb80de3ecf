/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `lizard gdb`, that is lizard-gdb: GDB on a recording. A stock GDB talks to `lizard serve` on a
 * pipe; the patched one (`make gdb`) replays in its own process. */
#include "cmds/base/cmds.h"
#include "cmds/base/gdb_find.h"
#include "cmds/gdb_words.h"
#include "cmds/pack/pack.h"
#include "cmds/base/processes.h"

#include <common/base/hostfile.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/shell.h>
#include <lizard/error.h>
#include <lizard/recording.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USED_WRONGLY = 2 }; /* the exit status */

struct options {
	const char *what, *gdb, *port, *process;
	enum lz_front_end front_end;
	bool at_end, echo, kept, version, tell;
	const char **rest; /* GDB's arguments */
	int n_rest;
	char *first; /* the recording of the first process, which has what all processes share */
};

static void usage(FILE *to)
{
	fputs(
	    "usage: lizard-gdb [options] PROG|RECORDING [GDB ARGS]\n"
	    "       lizard-gdb [options] -i=mi [GDB ARGS]\n\n"
	    "Opens a recording in GDB: of a program its latest one, else the one named. Stops at "
	    "main.\n"
	    "For an editor, which names the program later: `run` opens its latest recording.\n\n"
	    "  -e, --end         open at the end of the recording, where a crash is\n"
	    "  -p, --process PID|NAME\n"
	    "                    open this process of the recording (`lizard ps` shows them)\n"
	    "  -s, --serve PORT  start no GDB, but serve one debugger after another on this port\n"
	    "                    of this machine (0: any free one)\n"
	    "      --echo        show what the program writes\n"
	    "      --kept        use the copy of the program that the recording keeps, whatever "
	    "has\n"
	    "                    become of the program\n"
	    "      --patched     use the patched GDB, which replays in its own process\n"
	    "      --stock       use a stock GDB and the server (default: $LIZARD_FRONT_END,\n"
	    "                    else patched where it is built, else stock)\n"
	    "      --gdb PATH    the stock GDB to start (default: $LIZARD_GDB, else gdb)\n"
	    "  -h, --help        this text\n"
	    "  -v, --version     the versions of Lizard and of the GDB that would be started\n\n"
	    "All else is GDB's: -batch, -ex COMMAND, -x FILE, -i=mi, ...\n"
	    "Inside: fs, fn, bs, prev, jump_forward, jump_backward, reverse_watchpoint, when,\n"
	    "info lizard, checkpoint, restart, and all of GDB's own; `help bs` says more.\n",
	    to);
}

/* GDB options whose argument is the next word. */
static bool takes_word(const char *arg)
{
	static const char *const names[] = {"ex",        "eval-command",
	                                    "iex",       "init-eval-command",
	                                    "x",         "command",
	                                    "ix",        "init-command",
	                                    "cd",        "d",
	                                    "directory", "tty",
	                                    "D",         "data-directory",
	                                    "i",         "interpreter",
	                                    "l",         "b",
	                                    "eix",       "early-init-command",
	                                    "eiex",      "early-init-eval-command",
	                                    "u",         "ui"};

	if (arg[0] != '-' || strchr(arg, '='))
		return false;
	arg += arg[1] == '-' ? 2 : 1;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(arg, names[i]) == 0)
			return true;
	return false;
}

/* The interpreter that word I of GDB's asks for, as an editor does: -i=mi, --interpreter mi2 and
 * what else GDB takes. NULL: it asks for none. */
static const char *asks_for(const struct options *o, int i)
{
	const char *arg = o->rest[i] + (o->rest[i][0] == '-') + (strncmp(o->rest[i], "--", 2) == 0);
	size_t name = strcspn(arg, "=");

	if (arg == o->rest[i] || !name || (i > 0 && takes_word(o->rest[i - 1])) ||
	    !(strncmp(arg, "i", name) == 0 || (name > 2 && strncmp(arg, "interpreter", name) == 0)))
		return NULL;
	return arg[name] ? arg + name + 1 : i + 1 < o->n_rest ? o->rest[i + 1] : NULL;
}

static bool interpreter_is(const struct options *o, const char *begin)
{
	for (int i = 0; i < o->n_rest; i++) {
		const char *name = asks_for(o, i);

		if (name && strncmp(name, begin, strlen(begin)) == 0)
			return true;
	}
	return false;
}

/* What lizard-gdb itself understands: a switch sets a bool, a value a text of struct options. */
static const struct own_option {
	const char *name, *letter;
	enum { SWITCH, VALUE, USE_STOCK, USE_PATCHED, HELP } kind;
	size_t field;
} own_options[] = {
    {"--end", "-e", SWITCH, offsetof(struct options, at_end)},
    {"--process", "-p", VALUE, offsetof(struct options, process)},
    {"--serve", "-s", VALUE, offsetof(struct options, port)},
    {"--echo", NULL, SWITCH, offsetof(struct options, echo)},
    {"--kept", NULL, SWITCH, offsetof(struct options, kept)},
    {"--tell", NULL, SWITCH, offsetof(struct options, tell)}, /* for Lizard's commands in GDB */
    {"--patched", NULL, USE_PATCHED, 0},
    {"--stock", NULL, USE_STOCK, 0},
    {"--gdb", NULL, VALUE, offsetof(struct options, gdb)},
    {"--help", "-h", HELP, 0},
    {"--version", "-v", SWITCH, offsetof(struct options, version)},
};

/* The option that ARG is; *VALUE: what NAME=VALUE gives it, else NULL. */
static const struct own_option *option_of(const char *arg, const char **value)
{
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

	*value = equals ? equals + 1 : NULL;
	for (size_t i = 0; i < sizeof own_options / sizeof *own_options; i++) {
		const struct own_option *d = &own_options[i];

		if (d->letter && strcmp(arg, d->letter) == 0)
			return d;
		if (len == strlen(d->name) && strncmp(arg, d->name, len) == 0 &&
		    (!equals || d->kind == VALUE))
			return d;
	}
	return NULL;
}

/* What option D says. 0: go on; 1: done. */
static int obey(const struct own_option *d, const char *value, struct options *o)
{
	void *field = (char *)o + d->field;

	switch (d->kind) {
	case SWITCH: *(bool *)field = true; return 0;
	case VALUE: *(const char **)field = value; return 0;
	case USE_STOCK: o->front_end = LZ_FRONT_STOCK; return 0;
	case USE_PATCHED: o->front_end = LZ_FRONT_PATCHED; return 0;
	case HELP: usage(stdout); return 1;
	}
	return 0;
}

/* 0: go on; 1: done; -1: wrong. */
static int parse(int argc, char **argv, struct options *o)
{
	o->rest = calloc((size_t)argc + 1, sizeof *o->rest);
	if (!o->rest)
		return lz_fail("out of memory");
	if (lz_gdb_front_end(&o->front_end) < 0)
		return -1;
	for (int i = 1; i < argc; i++) {
		bool ours = !o->what; /* behind PROG all is GDB's */
		const char *value;
		const struct own_option *d = ours ? option_of(argv[i], &value) : NULL;

		if (d) {
			if (d->kind == VALUE && !value && i + 1 == argc)
				return lz_fail("option '%s' requires an argument", argv[i]);
			if (d->kind == VALUE && !value)
				value = argv[++i];
			if (obey(d, value, o))
				return 1;
		} else if (ours && argv[i][0] != '-') {
			o->what = argv[i];
		} else {
			o->rest[o->n_rest++] = argv[i];
			if (takes_word(argv[i]) && i + 1 < argc)
				o->rest[o->n_rest++] = argv[++i];
		}
	}
	if (!o->what && !o->version && !interpreter_is(o, "mi") && !interpreter_is(o, "dap"))
		return lz_fail("which program or recording? See lizard-gdb --help");
	return 0;
}

/* The program that GDB is to know first: that of the instant at which it opens. */
struct first {
	const char *path, *build_id;
};

static struct first first_program(struct lz_reader *r, const struct options *o)
{
	const struct lz_meta *m = lz_reader_meta(r);
	uint32_t n = 0;
	const struct lz_program *p = lz_reader_programs(r, &n);
	uint32_t i = o->at_end && n ? n - 1 : 0;

	if (!p || strcmp(p[i].path, m->program) == 0 || p[i].file == LZ_NO_FILE)
		return (struct first){m->program, m->build_id};
	return (struct first){p[i].path, lz_reader_file(r, p[i].file)->build_id};
}

static void say_copy_is_used(const char *program, const char *why)
{
	lz_print(stderr, "lizard-gdb: %s %s; using the copy that the recording keeps\n", program,
	         why);
}

/* The program is here as it was recorded. If it has no build-id, one that is here counts. */
static bool is_same(const char *now, const struct first *p)
{
	return now && (!p->build_id[0] || strcmp(now, p->build_id) == 0);
}

/* The program file for GDB: the recorded one, checked. malloced. */
static char *program_file(struct lz_reader *r, const struct options *o)
{
	const struct first p = first_program(r, o);
	/* no recorder names it otherwise, and GDB might take it for an option */
	bool absolute = p.path[0] == '/';
	lz_auto_free char *now = o->kept || !absolute ? NULL : lz_build_id(p.path);

	if (is_same(now, &p))
		return strdup(p.path);
	char *copy = lz_reader_object_of(r, p.path);

	if (copy && !o->kept)
		say_copy_is_used(p.path, !now ? "is gone"
		                         : lz_pack_is(o->what)
		                             ? "is another build"
		                             : "was rebuilt after it was recorded");
	if (!copy)
		lz_fail_in("%s is %s", p.path,
		           now        ? "another build than the recorded one"
		           : absolute ? "gone"
		                      : "no program's path");
	return copy;
}

/* Are the host's files what was mapped then? If so GDB reads them itself, which is faster. It is
 * told of them by what is shown of their names, which must then be the names. It would open
 * whatever has such a name, a FIFO as well. The program it is given by name; of several it looks
 * for the others itself. */
static bool same_files(struct lz_reader *r)
{
	uint32_t n = 0;

	lz_reader_programs(r, &n);
	const char *given = n == 1 ? lz_reader_meta(r)->program : "";

	for (uint32_t i = 0; i < lz_reader_n_files(r); i++) {
		const struct lz_file *f = lz_reader_file(r, i);

		if (lz_is_special(f->path) || !lz_gdb_shows(f->path))
			return false;
		if (!f->build_id[0] || strcmp(f->path, given) == 0)
			continue;
		char *now = lz_build_id(f->path);
		bool same = now && strcmp(now, f->build_id) == 0;

		free(now);
		if (!same)
			return false;
	}
	return true;
}

/* GDB's command that opens the recording. malloced. */
static char *server_command(const struct options *o, const char *self, const char *dir)
{
	char *program = lz_shell_word(self), *recording = lz_shell_word(dir), *command = NULL;
	/* a GDB that runs has none of what is open here */
	int n = -1, err = o->tell ? -1 : fcntl(STDERR_FILENO, F_DUPFD, 3);
	char redirect[16] = "";

	/* GDB shows what the server writes to its stderr late, or never if the server is gone. */
	if (err > 0 && err < 10)
		snprintf(redirect, sizeof redirect, " 2>&%d", err);
	if (program && recording)
		n = asprintf(&command, "target remote | exec %s serve%s%s %s%s", program,
		             o->at_end ? " --end" : "", o->echo ? " --echo" : "", recording,
		             redirect);
	free(program);
	free(recording);
	return n < 0 ? NULL : command;
}

static char *target_command(const struct options *o, const char *dir)
{
	char *recording = lz_gdb_word(dir), *command = NULL;
	int n = -1;

	if (recording)
		n = asprintf(&command, "target lizard%s%s %s", o->at_end ? " -end" : "",
		             o->echo ? " -echo" : "", recording);
	free(recording);
	return n < 0 ? NULL : command;
}

/* As Python wants it. */
static bool is_utf8(const char *text)
{
	json_t *v = json_string(text);

	json_decref(v);
	return v;
}

static int tell_gdb(const struct options *o, const char *self, const char *dir)
{
	if (strchr(self, '\n') || strchr(dir, '\n'))
		return lz_fail("%s: GDB has no way to name a path with a line break in it; "
		               "rename it",
		               strchr(dir, '\n') ? dir : self);
	if (!is_utf8(dir))
		return lz_fail("%s: GDB has no way to name a path that is no UTF-8; rename it",
		               dir);
	char *command = o->front_end == LZ_FRONT_PATCHED ? target_command(o, dir)
	                                                 : server_command(o, self, dir);

	if (!command)
		return lz_fail("out of memory");
	setenv("LIZARD_GDB_OPEN", command, 1);
	setenv("LIZARD_GDB_RECORDING", dir, 1);
	if (o->at_end)
		setenv("LIZARD_GDB_END", "1", 1);
	free(command);
	return 0;
}

/* The command by which GDB learns how to open a recording itself. malloced. */
static char *tell_command(const struct options *o, const char *self)
{
	lz_auto_free char *program = lz_shell_word(self);
	lz_auto_free char *process = o->process ? lz_shell_word(o->process) : NULL;
	char *command = NULL;

	if (!program || (o->process && !process) ||
	    asprintf(&command, "%s gdb --tell --%s%s%s%s%s%s", program,
	             o->front_end == LZ_FRONT_PATCHED ? "patched" : "stock",
	             o->at_end ? " --end" : "", o->echo ? " --echo" : "", o->kept ? " --kept" : "",
	             process ? " --process " : "", process ? process : "") < 0)
		return NULL;
	return command;
}

/* What holds whether a recording is named or not. */
static int prepare(const struct options *o, const char *self)
{
	lz_auto_free char *command = tell_command(o, self);

	if (!command)
		return lz_fail("out of memory");
	setenv("LIZARD_GDB_TELL", command, 1);
	if (interpreter_is(o, "mi"))
		setenv("LIZARD_GDB_MI", "1", 1);
	return 0;
}

static int find_commands(const char *self, char path[PATH_MAX])
{
	if (lz_gdb_part(self, "lizard.py", R_OK, path) < 0)
		return lz_fail_errno("%s (GDB's commands for recordings)", path);
	return 0;
}

/* The words by which GDB finds what the recording brought along. */
static int found_words(const struct options *o, const char **argv)
{
	int n = lz_gdb_kept_words(o->first, argv);

	n += lz_gdb_source_words(o->first, argv + n);
	return n + lz_gdb_debug_words(o->first, argv + n);
}

/* PROGRAM: NULL if none is named. */
static int start_gdb(const struct options *o, const char *gdb, const char *commands,
                     const char *program)
{
	const char **argv = calloc((size_t)o->n_rest + 12 + LZ_GDB_WORDS, sizeof *argv);
	int n = 0;

	if (!argv)
		return lz_fail("out of memory");
	argv[n++] = gdb;
	argv[n++] = "-q";
	if (o->front_end == LZ_FRONT_PATCHED) { /* its Python files are in the installation */
		argv[n++] = "-eiex";
		argv[n++] = "set python dont-write-bytecode on";
	}
	if (o->first)
		n += found_words(o, argv + n);
	argv[n++] = "-x";
	argv[n++] = commands;
	for (int i = 0; i < o->n_rest; i++)
		argv[n++] = o->rest[i];
	argv[n++] = program;
	fflush(NULL);
	execvp(argv[0], (char **)argv);
	lz_fail_errno("starting %s", argv[0]);
	free(argv);
	return -1;
}

/* For a GDB that runs: {"environment": {NAME: TEXT}, "commands": [TEXT], "program": PATH}. */
static int tell_start(const struct options *o, const char *program)
{
	static const char *const names[] = {"LIZARD_GDB_OPEN", "LIZARD_GDB_RECORDING",
	                                    "LIZARD_GDB_END", "LIZARD_GDB_SYSROOT",
	                                    "LIZARD_GDB_DEBUG"};
	const char *words[LZ_GDB_WORDS];
	int n = found_words(o, words);
	json_t *environment = json_object(), *commands = json_array();

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			json_object_set_new(environment, names[i], json_string(getenv(names[i])));
	for (int i = 1; i < n; i += 2)
		json_array_append_new(commands, json_string(words[i]));
	json_t *all = json_pack("{so so ss}", "environment", environment, "commands", commands,
	                        "program", program);
	lz_auto_free char *text = all ? json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(all);
	if (!text)
		return lz_fail("%s: GDB has no way to name a path that is no UTF-8; rename it",
		               program);
	lz_print(stdout, "%s\n", text);
	return 0;
}

/* LLDB opens the program itself, and must be given the recorded one. */
static void say_lldb(struct options *o, struct lz_reader *r)
{
	char self[PATH_MAX], commands[PATH_MAX];
	lz_auto_free char *program = program_file(r, o);
	lz_auto_free char *word = program ? lz_shell_word(program) : NULL;

	if (!word || lz_gdb_self(self) < 0 ||
	    lz_gdb_part(self, "lizard_lldb.py", R_OK, commands) < 0)
		return;
	lz_auto_free char *real = realpath(commands, NULL);

	if (real)
		lz_print(stderr,
		         "lizard: for LLDB: lldb -o 'command script import %s' %s\n"
		         "lizard: in LLDB: gdb-remote %s\n",
		         real, word, strcmp(o->port, "0") == 0 ? "PORT" : o->port);
}

static int serve_port(const struct options *o, const char *dir)
{
	const char *argv[8] = {"serve", "-s", o->port};
	int n = 3;

	if (o->at_end)
		argv[n++] = "--end";
	if (o->echo)
		argv[n++] = "--echo";
	argv[n++] = dir;
	return lz_cmd_serve(n, (char **)argv);
}

/* GDB's own messages have paths in them. The patched one prints them as text. */
static int check_shown(const char *path)
{
	if (lz_gdb_shows(path))
		return 0;
	return lz_fail("%s: a stock GDB would print the control characters in this path as they "
	               "are; rename it, or use the patched GDB (" GET_PATCHED ")",
	               path);
}

static int say_version(struct options *o)
{
	char self[PATH_MAX], gdb[PATH_MAX], line[200];

	if (lz_gdb_self(self) < 0 || lz_gdb_find(&o->front_end, o->gdb, self, gdb) < 0 ||
	    lz_gdb_version(gdb, line) < 0)
		return -1;
	/* GDB's first, for programs that ask whether this is one, and which */
	lz_print(stdout, "%s\nlizard " LIZARD_VERSION ", %s GDB %s\n", line,
	         o->front_end == LZ_FRONT_PATCHED ? "patched" : "stock", gdb);
	return 0;
}

static int open_in_gdb(struct options *o, const char *dir, struct lz_reader *r)
{
	char self[PATH_MAX], commands[PATH_MAX], gdb[PATH_MAX];

	if (lz_gdb_self(self) < 0)
		return -1;
	char *program = program_file(r, o);
	bool host = same_files(r);

	if (host)
		setenv("LIZARD_GDB_SYSROOT", "", 1);
	lz_reader_close(r);
	if (!program)
		return -1;
	int rc = find_commands(self, commands);

	if (rc == 0)
		rc = lz_gdb_find(&o->front_end, o->gdb, self, gdb);
	if (rc == 0)
		rc = tell_gdb(o, self, dir);
	if (rc == 0 && !o->tell)
		rc = prepare(o, self);
	if (rc == 0 && o->front_end == LZ_FRONT_STOCK)
		rc = check_shown(dir) < 0 ? -1 : check_shown(program);
	if (rc == 0)
		rc = o->tell ? tell_start(o, program) : start_gdb(o, gdb, commands, program);
	free(program);
	return rc;
}

/* GDB without a recording: its user names the program there. */
static int open_without(struct options *o)
{
	char self[PATH_MAX], commands[PATH_MAX], gdb[PATH_MAX];

	if (lz_gdb_self(self) < 0 || find_commands(self, commands) < 0 ||
	    lz_gdb_find(&o->front_end, o->gdb, self, gdb) < 0 || prepare(o, self) < 0)
		return -1;
	setenv("LIZARD_GDB_OPEN", "", 1);
	return start_gdb(o, gdb, commands, NULL);
}

/* The recording that is meant. malloced. */
static char *find_recording(struct options *o)
{
	o->first = lz_find(o->what);
	if (!o->first)
		return NULL;
	return o->process ? lz_process_find(o->first, o->process) : strdup(o->first);
}

/* GDB would have its pipe to the server where it expects its input. */
static void open_missing(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* An exit status, or -1. */
static int open_recording(struct options *o)
{
	lz_auto_free char *dir = find_recording(o);
	struct lz_reader *r = dir ? lz_reader_open(dir) : NULL;

	if (!r)
		return -1;
	if (!o->port)
		return open_in_gdb(o, dir, r);
	say_lldb(o, r);
	lz_reader_close(r);
	return serve_port(o, dir);
}

int lz_cmd_gdb(int argc, char **argv)
{
	struct options o = {0};

	open_missing();
	int rc = parse(argc, argv, &o), failed = rc < 0 ? USED_WRONGLY : 1;

	if (rc == 0)
		rc = o.version ? say_version(&o) : o.what ? open_recording(&o) : open_without(&o);
	else if (rc > 0)
		rc = 0;
	free(o.first);
	free(o.rest);
	if (rc < 0)
		lz_print_lines(stderr, "lizard-gdb: %s\n", lz_error());
	return rc < 0 ? failed : rc;
}
