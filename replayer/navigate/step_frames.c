/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GDB knows of an address and of the frame that control is in: lines, functions, inlined calls. */
#include <string.h>
#include "replayer/navigate/step_inside.h"

struct place_line step_line(struct lz_machine *m, uint64_t pc)
{
	struct place_line p = {.sal = {.pc = pc}};
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	if (!l)
		return p;
	p.sal = lz_lines_find(l, pc - bias);
	p.sal.pc += bias;
	p.sal.end += bias;
	p.of = l;
	return p;
}

bool step_function(struct lz_machine *m, uint64_t pc, struct lz_range *out)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	if (!l || !lz_lines_function(l, pc - bias, out))
		return false;
	out->start += bias;
	out->end += bias;
	return true;
}

bool step_in_plt(struct lz_machine *m, uint64_t pc)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);

	return l && lz_lines_in_plt(l, pc - bias);
}

bool step_read_word(void *arg, uint64_t addr, uint64_t *word)
{
	struct lz_machine *m = arg;

	return m->read(m->arg, addr, word, sizeof(*word)) == sizeof(*word);
}

bool step_cfa(struct stepping *s, uint64_t *cfa)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, s->r.rip, &bias);
	struct user_regs_struct r = s->r;

	return l && lz_lines_cfa(l, s->r.rip - bias, &r, step_read_word, s->m, cfa);
}

/* ---- inlined calls ---- */

size_t step_inlines(struct lz_machine *m, uint64_t pc, struct lz_inline *in, size_t *hidden)
{
	uint64_t bias;
	struct lz_lines *l = m->lines(m->arg, pc, &bias);
	size_t n = l ? lz_lines_inlines(l, pc - bias, in, STEP_INLINES) : 0;

	for (size_t i = 0; i < n; i++) {
		in[i].entry += bias;
		in[i].start += bias;
		in[i].end += bias;
	}
	*hidden = 0;
	while (*hidden < n && (in[n - 1 - *hidden].start == pc || in[n - 1 - *hidden].entry == pc))
		++*hidden;
	return n;
}

uint32_t lz_gdb_inlines(struct lz_machine *m, uint64_t pc)
{
	struct lz_inline in[STEP_INLINES];
	size_t hidden, n = step_inlines(m, pc, in, &hidden);

	return (uint32_t)(n - hidden);
}

uint64_t lz_gdb_frame(struct lz_machine *m, uint32_t *inlines)
{
	struct stepping s = {.m = m};
	uint64_t cfa;

	if (inlines)
		*inlines = 0;
	if (m->regs(m->arg, &s.r))
		return 0;
	if (inlines)
		*inlines = lz_gdb_inlines(m, s.r.rip);
	return step_cfa(&s, &cfa) ? cfa : 0;
}

bool lz_gdb_is_within(struct lz_machine *m, uint64_t cfa)
{
	enum { MAX_FRAMES = 1 << 12 }; /* damaged ones may go in a circle */
	struct user_regs_struct r;
	bool exact = true; /* r.rip is not behind a call */

	if (m->regs(m->arg, &r))
		return false;
	for (int i = 0; i < MAX_FRAMES; i++) {
		uint64_t bias, addr = r.rip - !exact;
		struct lz_lines *l = m->lines(m->arg, addr, &bias);

		if (!l || !lz_lines_unwind(l, addr - bias, &r, step_read_word, m, &exact))
			return false;
		if (r.rsp == cfa)
			return i > 0;
	}
	return false;
}

bool lz_gdb_hides(struct lz_machine *m)
{
	struct lz_inline in[STEP_INLINES];
	struct user_regs_struct r;
	size_t hidden = 0;

	if (!m->regs(m->arg, &r))
		step_inlines(m, r.rip, in, &hidden);
	return hidden > 0;
}

void step_fill_frame(struct stepping *s, const struct lz_inline *in, size_t n, struct step_frame *f)
{
	uint64_t bias;
	struct lz_lines *l = s->m->lines(s->m->arg, s->r.rip, &bias);

	memset(f, 0, sizeof(*f));
	step_cfa(s, &f->cfa);
	if (l)
		f->func = lz_lines_frame_start(l, s->r.rip - bias) + bias;
	f->n = n;
	for (size_t i = 0; i < n; i++)
		f->inlines[i] = in[i].entry;
}

bool step_same_frame(const struct step_frame *a, const struct step_frame *b)
{
	return a->cfa == b->cfa && a->func == b->func && a->n == b->n &&
	       !memcmp(a->inlines, b->inlines, a->n * sizeof(*a->inlines));
}

bool step_inlined_from(const struct step_frame *a, const struct step_frame *b)
{
	return a->cfa == b->cfa && a->func == b->func && a->n > b->n &&
	       !memcmp(a->inlines, b->inlines, b->n * sizeof(*a->inlines));
}

/* How many of the N calls around control are not around where the call begins that is stepped
 * through. */
static size_t not_entered(struct stepping *s, const struct lz_inline *in, size_t n)
{
	struct lz_inline before[STEP_INLINES];
	size_t hidden, same = 0;
	size_t m = step_inlines(s->m, s->frame.inlines[s->frame.n - 1], before, &hidden);

	while (same < n && same < m && in[same].id == before[same].id)
		same++;
	return n - same;
}

size_t step_shown_frame(struct stepping *s, const struct lz_inline *in, size_t n, size_t hidden,
                        struct step_frame *now)
{
	size_t entered;

	step_fill_frame(s, in, n - hidden, now);
	if (!lz_gdb_keeps_entered() || !hidden || !s->frame.n || now->cfa != s->frame.cfa)
		return hidden;
	entered = not_entered(s, in, n);
	if (entered >= hidden)
		return hidden;
	step_fill_frame(s, in, n - entered, now);
	return entered;
}
