/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that a recorded process ran, one after another. */
#include <common/base/array.h>
#include <common/recording/reader.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

enum { SYSCALL_INSN = 2 }; /* its length */

/* Is checkpoint I the one from which replay goes on behind an execve? The recorder makes those
 * whole. */
static bool is_begin(struct lz_reader *r, uint32_t i)
{
	const struct lz_frame *head = &r->checkpoints.v[r->cks[i].head];

	if (i == 0 || !lz_reader_checkpoint_whole(r, i) || head->key0 <= r->first_event ||
	    r->checkpoints.v[r->cks[i - 1].head].key0 == head->key0)
		return false;
	const struct lz_event *ev = lz_reader_event(r, head->key0 - 1);

	return ev && ev->flags & LZ_EVF_REBASE;
}

static bool is_named(const struct lz_reader *r, uint32_t file, const char *path)
{
	return file < r->n_files && strcmp(r->files[file].path, path) == 0;
}

/* The file of what runs from CK on, where only the program and the loader are mapped, and control
 * is in the loader if there is one. */
static uint32_t file_begun(const struct lz_reader *r, const struct lz_checkpoint *ck)
{
	uint64_t ip = ck->threads[0].regs.rip;
	uint32_t running = LZ_NO_FILE;

	for (uint32_t i = 0; i < ck->n_vmas; i++)
		if (ip >= ck->vmas[i].start && ip < ck->vmas[i].end)
			running = ck->vmas[i].file;
	for (uint32_t i = 0; i < ck->n_vmas; i++)
		if (ck->vmas[i].file < r->n_files && ck->vmas[i].file != running)
			return ck->vmas[i].file;
	return running < r->n_files ? running : LZ_NO_FILE;
}

/* Of a process that ran already: the recorded program if it is mapped, else what lies lowest, as
 * programs do. */
static uint32_t file_running(const struct lz_reader *r, const struct lz_checkpoint *ck)
{
	uint32_t lowest = LZ_NO_FILE;

	for (uint32_t i = 0; i < ck->n_vmas; i++) {
		const struct lz_vma *v = &ck->vmas[i];

		if (is_named(r, v->file, r->meta.program))
			return v->file;
		if (lowest == LZ_NO_FILE && v->file < r->n_files && v->prot & PROT_EXEC)
			lowest = v->file;
	}
	return lowest;
}

static void describe(struct lz_reader *r, uint32_t i, struct lz_program *p)
{
	const struct lz_checkpoint *ck = lz_reader_checkpoint(r, i);

	*p = (struct lz_program){.to = UINT64_MAX, .file = LZ_NO_FILE, .path = r->meta.program};
	if (!ck)
		return;
	p->from = i ? ck->pos.event : 0;
	p->begin = ck->pos;
	p->stack_start = ck->stack_start;
	p->file = i ? file_begun(r, ck) : file_running(r, ck);
	if (p->file != LZ_NO_FILE && (i || r->first_event))
		p->path = r->files[p->file].path;
}

/* Where the execve began that event I tells of; it has returned into the next program, and other
 * threads may have run meanwhile. */
static struct lz_pos execve_of(struct lz_reader *r, uint64_t i)
{
	const struct lz_event *ev = lz_reader_event(r, i);
	struct lz_pos at = {0};

	if (!ev)
		return at;
	at = (struct lz_pos){ev->tid, 1, i, ev->marker, ev->ip - SYSCALL_INSN};
	ev = i > r->first_event ? lz_reader_event(r, i - 1) : NULL;
	if (ev && ev->kind == LZ_EV_SWITCH && ev->next == at.tid &&
	    ev->regs.rip == at.ip + SYSCALL_INSN)
		at.ip += SYSCALL_INSN;
	return at;
}

static int find(struct lz_reader *r)
{
	struct lz_program *v = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_cks || i == 0; i++) {
		if (i && !is_begin(r, i))
			continue;
		if (lz_extend(v, n) < 0) {
			free(v);
			return -1;
		}
		describe(r, i, &v[n++]);
		if (n == 1)
			continue;
		v[n - 2].to = v[n - 1].from;
		v[n - 2].end = execve_of(r, v[n - 1].from - 1);
	}
	r->programs = v;
	r->n_programs = n;
	return 0;
}

const struct lz_program *lz_reader_programs(struct lz_reader *r, uint32_t *n)
{
	if (!r->programs && find(r) < 0)
		return NULL;
	*n = r->n_programs;
	return r->programs;
}

uint32_t lz_reader_program_at(struct lz_reader *r, uint64_t event)
{
	uint32_t n = 0;
	const struct lz_program *v = lz_reader_programs(r, &n);

	n = lz_lower_bound(i, n, v[i].from <= event);
	return n ? n - 1 : 0;
}
