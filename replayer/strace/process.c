/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static void show_status(struct lz_show *s, const void *bytes)
{
	int st;

	memcpy(&st, bytes, sizeof(st));
	if (WIFEXITED(st))
		fprintf(s->to, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(st));
	else if (WIFSIGNALED(st)) {
		fputs("[{WIFSIGNALED(s) && WTERMSIG(s) == ", s->to);
		lz_show_signal(s, (uint64_t)WTERMSIG(st));
		fputs(WCOREDUMP(st) ? " && WCOREDUMP(s)}]" : "}]", s->to);
	} else if (WIFSTOPPED(st)) {
		fputs("[{WIFSTOPPED(s) && WSTOPSIG(s) == ", s->to);
		lz_show_signal(s, (uint64_t)WSTOPSIG(st));
		fputs("}]", s->to);
	} else
		fprintf(s->to, "[{WIFCONTINUED(s)}]");
}

static void show_int_box(struct lz_show *s, const void *bytes)
{
	int v;

	memcpy(&v, bytes, sizeof(v));
	fprintf(s->to, "[%d]", v);
}

static void show_name_text(struct lz_show *s, const char *text, size_t room)
{
	const size_t n = strnlen(text, room);

	lz_show_quoted(s, (const uint8_t *)text, n, n, false);
}

static void show_utsname(struct lz_show *s, const void *bytes)
{
	const struct utsname *u = bytes;

	fputs("{sysname=", s->to);
	show_name_text(s, u->sysname, sizeof(u->sysname));
	fputs(", nodename=", s->to);
	show_name_text(s, u->nodename, sizeof(u->nodename));
	fputs(", ...}", s->to);
}

static void show_sysinfo(struct lz_show *s, const void *bytes)
{
	const struct sysinfo *i = bytes;

	fprintf(
	    s->to,
	    "{uptime=%ld, loads=[%lu, %lu, %lu], totalram=%lu, freeram=%lu, sharedram=%lu, "
	    "bufferram=%lu, totalswap=%lu, freeswap=%lu, procs=%u, totalhigh=%lu, freehigh=%lu, "
	    "mem_unit=%u}",
	    i->uptime, i->loads[0], i->loads[1], i->loads[2], i->totalram, i->freeram, i->sharedram,
	    i->bufferram, i->totalswap, i->freeswap, i->procs, i->totalhigh, i->freehigh,
	    i->mem_unit);
}

const struct lz_shape lz_shapes_process[] = {{"status", sizeof(int), show_status},
                                             {"intbox", sizeof(int), show_int_box},
                                             {"utsname", 390, show_utsname},
                                             {"sysinfo", sizeof(struct sysinfo), show_sysinfo},
                                             {0}};

/* ---- forms ---- */

/* As many as the result says. */
static void show_ints(struct lz_show *s, uint64_t v, unsigned i)
{
	enum { MOST = 32 };
	int n[MOST];
	const int64_t all = s->ev->result;
	const size_t want = all > MOST ? MOST : all > 0 ? (size_t)all : 0;

	(void)i;
	if (!v || all < 0 || !s->ev->args[0] ||
	    lz_show_bytes(s, v, n, want * sizeof(*n)) < want * sizeof(*n)) {
		lz_show_address(s, v);
		return;
	}
	fputc('[', s->to);
	for (size_t k = 0; k < want; k++)
		lz_print(s->to, "%s%d", k ? ", " : "", n[k]);
	fputs((int64_t)want < all ? ", ...]" : "]", s->to);
}

static void show_cpus(struct lz_show *s, uint64_t v, unsigned i)
{
	cpu_set_t set = {0};
	const int64_t len = s->ev->result;
	bool any = false;

	(void)i;
	if (len <= 0 || (size_t)len > sizeof(set) ||
	    lz_show_bytes(s, v, &set, (size_t)len) < (size_t)len) {
		lz_show_address(s, v);
		return;
	}
	fputc('[', s->to);
	for (size_t c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &set)) {
			lz_print(s->to, "%s%zu", any ? " " : "", c);
			any = true;
		}
	fputc(']', s->to);
}

static void show_clone_part(struct lz_show *s, const char *name, uint64_t addr, bool value)
{
	int tid;

	lz_print(s->to, ", %s=", name);
	if (value && lz_show_either(s, addr, &tid, sizeof(tid)) == sizeof(tid))
		fprintf(s->to, "[%d]", tid);
	else
		lz_show_address(s, addr);
}

static void show_clone(struct lz_show *s, uint64_t v, unsigned i)
{
	const uint64_t *a = s->ev->args, flags = v & ~(uint64_t)CSIGNAL;

	(void)i;
	fputs("child_stack=", s->to);
	lz_show_address(s, a[1]);
	fputs(", flags=", s->to);
	lz_show_flags(s, "clone", flags);
	if (v & CSIGNAL) {
		fputc('|', s->to);
		lz_show_signal(s, v & CSIGNAL);
	}
	if (flags & (CLONE_PARENT_SETTID | CLONE_PIDFD))
		show_clone_part(s, "parent_tid", a[2], !lz_show_failed(s));
	if (flags & CLONE_SETTLS)
		show_clone_part(s, "tls", a[4], false);
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		show_clone_part(s, "child_tidptr", a[3], false);
}

static void show_remapped(struct lz_show *s, uint64_t v, unsigned i)
{
	if (s->ev->args[i - 1] & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		lz_show_address(s, v);
}

static void show_prctl(struct lz_show *s, uint64_t v, unsigned i)
{
	static const char *const dumpable[] = {"DISABLE", "USER", "ROOT"};
	const uint64_t what = s->ev->args[0];

	if (what == PR_SET_NAME || what == PR_GET_NAME) {
		s->out = what == PR_GET_NAME;
		if (i == 1)
			lz_show_string(s, v, false);
	} else if (what == PR_GET_DUMPABLE) {
		if (i == 1 && s->ev->result >= 0 && s->ev->result < 3)
			lz_print(s->note, "SUID_DUMP_%s", dumpable[s->ev->result]);
	} else {
		lz_show_hex(s, v);
	}
}

static void show_restarted(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)v, (void)i;
	fputs("<... resuming interrupted system call ...>", s->to);
}

static void show_ipc_key(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)i;
	if (v)
		lz_show_hex(s, (uint32_t)v);
	else
		fputs("IPC_PRIVATE", s->to);
}

static void show_ipc_mode(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)i;
	if (v & ~0777ULL) {
		lz_show_flags(s, "ipc_flags", v & ~0777ULL);
		fputc('|', s->to);
	}
	lz_show_mode(s, v & 0777);
}

const struct lz_form lz_forms_process[] = {
    {"ints", show_ints},         {"cpus", show_cpus},        {"clone", show_clone},
    {"remapped", show_remapped}, {"prctl", show_prctl},      {"restarted", show_restarted},
    {"ipckey", show_ipc_key},    {"ipcmode", show_ipc_mode}, {0}};
