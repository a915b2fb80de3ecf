/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID of the recorded program, made up from the recording and the session's mappings:
 * the replay process is another one. */
#include "replayer/front/inside.h"

#include <common/base/print.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void print_vma(struct lz_front *f, FILE *to, const struct lz_vma *v)
{
	const char *name = "";

	if (v->file != LZ_NO_FILE && v->file < lz_reader_n_files(f->reader))
		name = lz_reader_file(f->reader, v->file)->path;
	else if (v->role == LZ_VMA_STACK)
		name = "[stack]";
	else if (v->role == LZ_VMA_HEAP)
		name = "[heap]";
	else if (lz_front_is_vdso(f, v))
		name = "[vdso]";
	int n = fprintf(to, "%lx-%lx %c%c%c%c %08lx 00:00 %u ", (unsigned long)v->start,
	                (unsigned long)v->end, v->prot & PROT_READ ? 'r' : '-',
	                v->prot & PROT_WRITE ? 'w' : '-', v->prot & PROT_EXEC ? 'x' : '-',
	                v->flags & MAP_SHARED ? 's' : 'p', (unsigned long)v->offset,
	                v->file != LZ_NO_FILE ? v->file + 1 : 0);
	lz_print(to, "%*s%s\n", *name && n < 73 ? 73 - n : 0, "", name);
}

static void maps(struct lz_front *f, FILE *to)
{
	struct lz_vma *v;
	uint32_t n;

	if (lz_session_vmas(f->s, &v, &n) < 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		print_vma(f, to, &v[i]);
	free(v);
}

/* Arguments are shown, so that they are text here; the environment is not. */
static void strings(FILE *to, char **list, bool shown)
{
	for (; list && *list; list++) {
		if (shown)
			lz_print(to, "%s", *list);
		else
			fputs(*list, to);
		fputc(0, to);
	}
}

static uint32_t count_threads(struct lz_front *f)
{
	struct lz_front_thread *t;
	uint32_t n;

	if (lz_front_threads(f, &t, &n) < 0)
		return 1;
	free(t);
	return n;
}

static void status(struct lz_front *f, FILE *to)
{
	lz_print(to,
	         "Name:\t%s\nState:\tt (tracing stop)\nTgid:\t%u\nPid:\t%u\nPPid:\t0\n"
	         "Threads:\t%u\n",
	         lz_front_now_runs(f)->comm, f->pid, f->pid, count_threads(f));
}

static void stat_line(struct lz_front *f, FILE *to)
{
	lz_print(to, "%u (%s) t 0 %u %u", f->pid, lz_front_now_runs(f)->comm, f->pid, f->pid);
	for (int i = 7; i <= 52; i++)
		fprintf(to, " %u", i == 20 ? count_threads(f) : 0);
	fputs("\n", to);
}

static bool print_file(struct lz_front *f, const char *name, FILE *to)
{
	const struct lz_meta *m = lz_reader_meta(f->reader);
	const void *auxv;
	size_t len;

	if (strcmp(name, "maps") == 0)
		maps(f, to);
	else if (strcmp(name, "cmdline") == 0)
		strings(to, m->argv, true);
	else if (strcmp(name, "environ") == 0)
		strings(to, m->envp, false);
	else if (strcmp(name, "comm") == 0)
		lz_print(to, "%s\n", lz_front_now_runs(f)->comm);
	else if (strcmp(name, "status") == 0)
		status(f, to);
	else if (strcmp(name, "stat") == 0)
		stat_line(f, to);
	else if (strcmp(name, "auxv") == 0 && (auxv = lz_front_auxv(f, &len)))
		fwrite(auxv, 1, len, to);
	else
		return false;
	return true;
}

char *lz_front_proc_file(struct lz_front *f, const char *name, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	if (!to)
		return NULL;
	bool known = print_file(f, name, to);

	fclose(to);
	if (known)
		return text;
	free(text);
	return NULL;
}

const char *lz_front_proc_link(struct lz_front *f, const char *name)
{
	if (strcmp(name, "exe") == 0)
		return lz_front_now_runs(f)->name;
	if (strcmp(name, "cwd") == 0)
		return lz_reader_meta(f->reader)->cwd;
	if (strcmp(name, "root") == 0)
		return "/";
	return NULL;
}
