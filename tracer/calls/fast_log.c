/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of calls that the program has made without a stop: each becomes an event like any other.
 * The log is the program's memory: nothing in it is trusted. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/memory/objects.h"

#include <errno.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <lizard/error.h>
#include <lizard/mark.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct entry {
	struct lz_call_record r; /* copied */
	const uint8_t *bytes;    /* in the log */
	uint32_t n;
	bool aside; /* the program has gone on since */
};

int lz_fast_broken(const char *what)
{
	return lz_fail("the log of system calls is broken: %s; has the program stored there?",
	               what);
}

int lz_fast_offset(struct lz_tracer *t, const struct lz_call_record *r, uint64_t *marker)
{
	struct lz_stream *s = &t->s;
	uint64_t at = s->mem ? r->marker - s->base : 0;

	*marker = s->start + at;
	if (at > LZ_BUFFER_GUARD || *marker < t->last_marker)
		return lz_fast_broken("a marker's offset");
	if (at <= s->parsed)
		return 0;
	if (lz_self_check_boundary(t, (uint32_t)at) < 0)
		return -1;
	s->parsed = (uint32_t)at;
	return 0;
}

static int add_out(struct lz_tracer *t, struct entry *e, uint64_t addr, uint64_t len)
{
	if (!addr || !len)
		return 0;
	if (len > e->n)
		return lz_fast_broken("an output's length");
	int ret = lz_build_refer(t, addr, e->bytes, len);
	e->bytes += len;
	e->n -= (uint32_t)len;
	return ret;
}

static int add_mark(struct lz_tracer *t, struct entry *e)
{
	if (e->r.result > LIZARD_MARK_MOST)
		return lz_fast_broken("the length of a mark");
	return add_out(t, e, e->r.args[1], (uint64_t)e->r.result);
}

static int add_special(struct lz_tracer *t, struct entry *e)
{
	uint64_t at, len = lz_fast_special(lz_fast_rule(e->r.nr), e->r.args, &at);

	return add_out(t, e, at, len);
}

static int add_outs(struct lz_tracer *t, struct entry *e)
{
	const struct lz_syscall *row = lz_syscall(e->r.nr);

	for (int i = 0; i < LZ_SYS_OUTS && row->out[i].kind; i++) {
		const struct lz_sys_out *o = &row->out[i];
		uint64_t len = o->size;

		if (o->kind == LZ_OUT_SPECIAL) /* it has no other */
			return add_special(t, e);
		if (o->kind == LZ_OUT_LEN)
			len = e->r.args[o->b];
		if (o->kind == LZ_OUT_RET)
			len = (uint64_t)e->r.result;
		if (o->kind == LZ_OUT_RET && len > e->r.args[o->b])
			len = e->r.args[o->b];
		if (add_out(t, e, e->r.args[o->a], len) < 0)
			return -1;
	}
	return 0;
}

/* The argument that points to what the call takes; -1: none. */
static int taken_arg(uint64_t nr)
{
	return nr == SYS_write || nr == SYS_pwrite64 ? 1 : -1;
}

static int add_taken(struct lz_tracer *t, struct entry *e, int arg)
{
	uint64_t len = (uint64_t)e->r.result;

	if (len > e->n || len > LZ_FAST_TAKEN)
		return lz_fast_broken("a result");
	if (len && lz_taken_is_own(t, e->r.args[arg], len)) {
		t->b.ev.has_taken = true;
		t->b.ev.taken = libdeflate_crc32(0, e->bytes, len);
	}
	return 0;
}

/* ---- records with pieces ---- */

struct pieces {
	const uint8_t *at; /* the next one's */
	uint64_t left;
};

static int begin_pieces(struct entry *e, struct pieces *p)
{
	const uint64_t size = sizeof(struct lz_call_piece);

	if (e->n < sizeof(p->left))
		return lz_fast_broken("a count");
	memcpy(&p->left, e->bytes, sizeof(p->left));
	p->at = e->bytes + sizeof(p->left);
	e->n -= (uint32_t)sizeof(p->left);
	if (p->left > LZ_CALL_PIECES_MAX || p->left * size > e->n)
		return lz_fast_broken("a count");
	e->n -= (uint32_t)(p->left * size);
	e->bytes = p->at + p->left * size;
	return 0;
}

static bool next_piece(struct pieces *p, struct lz_call_piece *piece)
{
	if (!p->left)
		return false;
	memcpy(piece, p->at, sizeof(*piece));
	p->at += sizeof(*piece);
	p->left--;
	return true;
}

static int add_written_pieces(struct lz_tracer *t, struct entry *e, struct pieces *p)
{
	struct lz_call_piece piece;

	while (next_piece(p, &piece))
		if (add_out(t, e, piece.addr, piece.len) < 0)
			return -1;
	return 0;
}

static int add_taken_pieces(struct lz_tracer *t, struct entry *e, struct pieces *p)
{
	uint32_t crc = 0, headers = lz_try_headers(lz_fast_try(e->r.nr));
	struct lz_call_piece piece;
	uint64_t len = 0;
	bool own = true;

	while (next_piece(p, &piece)) {
		own &= !piece.len || lz_taken_is_own(t, piece.addr, piece.len);
		if (headers && headers--)
			continue;
		if (piece.len > e->n)
			return lz_fast_broken("a piece's length");
		crc = libdeflate_crc32(crc, e->bytes, piece.len);
		e->bytes += piece.len;
		e->n -= (uint32_t)piece.len;
		len += piece.len;
	}
	if (e->r.result > 0 && len != (uint64_t)e->r.result)
		return lz_fast_broken("a result");
	if (e->r.result > 0 && own) {
		t->b.ev.has_taken = true;
		t->b.ev.taken = crc;
	}
	return 0;
}

static int add_pieces(struct lz_tracer *t, struct entry *e)
{
	struct pieces p = {0};

	if (begin_pieces(e, &p) < 0)
		return -1;
	return lz_try_takes(lz_fast_try(e->r.nr)) ? add_taken_pieces(t, e, &p)
	                                          : add_written_pieces(t, e, &p);
}

/* By the function that it has at a stop. */
static int as_at_stop(struct lz_tracer *t, const struct lz_call_record *r,
                      int (*look)(struct lz_tracer *t, int64_t result))
{
	struct lz_call *c = &t->cur->call, was = *c;

	*c = (struct lz_call){.nr = r->nr, .ip = r->ip, .row = lz_syscall(r->nr)};
	memcpy(c->args, r->args, sizeof(c->args));
	lz_vectors_begin(t);
	int ret = look(t, r->result);
	*c = was;
	return ret;
}

static int add_file(struct lz_tracer *t, const struct entry *e)
{
	uint64_t n = 0;

	if (e->n >= sizeof(n))
		memcpy(&n, e->bytes, sizeof(n));
	if (!n || n > e->n - sizeof(n) || n > lz_page_up(e->r.args[1]))
		return lz_fast_broken("a file's length");
	const int ret = lz_small_logged(t, &e->r, e->bytes + sizeof(n), n);
	return ret > 0 ? lz_fast_broken("the number of files") : ret;
}

/* Could the file that the present call has mapped not be copied? */
static bool has_no_file(const struct lz_tracer *t, int64_t result)
{
	const struct lz_call *c = &t->cur->call;
	const ptrdiff_t i = c->args[3] & MAP_ANONYMOUS || result < 0
	                        ? -1
	                        : lz_vmas_find(&t->vmas, (uint64_t)result);

	return i >= 0 && t->vmas.a[i].v.file == LZ_NO_FILE;
}

/* The program stands behind the call, and has the file open: that is looked at, and code is armed. */
static int map_at_once(struct lz_tracer *t, int64_t result)
{
	const int ret = lz_map_call(t, result);

	t->fast.gone = (ret < 0 || has_no_file(t, result)) && lz_proc_has_ended(t->p.pid);
	if (ret < 0 || t->fast.gone)
		return t->fast.gone ? 0 : -1;
	if (t->fast.page)
		lz_fast_fds_mapped(t);
	/* what others change is told by the next call: the program may have stored there since this one */
	if (t->fast.page && t->fast.page->put_off)
		return 0;
	/* that the file is opened here is no news */
	return t->shared ? lz_outside_notes(t, 0) : 0;
}

static int add_map(struct lz_tracer *t, const struct entry *e)
{
	const struct lz_call_record *r = &e->r;

	if (lz_fast_check_map(t, r) < 0)
		return -1;
	const bool small = r->nr == SYS_mmap && r->result >= 0 && lz_maps_small(r->args);
	if (small && e->n)
		return add_file(t, e);
	if (small || (r->nr == SYS_mmap && lz_maps_at_once(r->args)))
		return e->aside ? lz_fast_broken("a mapping") : as_at_stop(t, r, map_at_once);
	if (r->nr == SYS_munmap && r->result == 0)
		lz_small_gone(t, r->args[0], r->args[0] + lz_page_up(r->args[1]));
	return as_at_stop(t, r, lz_map_call);
}

/* A number that is, or may be, another file's now. */
static void forget_fd(struct lz_shared *s, const struct lz_call_record *r)
{
	const uint8_t rule = lz_fast_rule(r->nr);
	uint64_t fd = LZ_FDS;

	if (r->nr == SYS_close)
		fd = r->args[0];
	if (lz_makes_fds(rule) || rule == LZ_RULE_FCNTL || r->nr == SYS_accept ||
	    r->nr == SYS_accept4)
		fd = (uint64_t)r->result;
	if (rule == LZ_RULE_PIPE || r->nr == SYS_recvmsg)
		memset(s->fd, LZ_FD_UNKNOWN, sizeof(s->fd));
	if (fd < LZ_FDS)
		s->fd[fd] = LZ_FD_UNKNOWN;
}

/* What was known of signals, or of the thread, has changed. */
static int take_note(struct lz_tracer *t, struct entry *e)
{
	const uint32_t len = lz_fast_note(lz_fast_rule(e->r.nr), e->r.args, e->r.result);
	struct lz_disposition act;
	uint64_t mask;

	if (len > e->n)
		return lz_fast_broken("what is behind a call");
	if (len == sizeof(mask)) {
		memcpy(&mask, e->bytes, sizeof(mask));
		t->cur->sig.blocked = mask;
	}
	if (len == sizeof(act) && e->r.args[0] < LZ_SIGNALS) {
		memcpy(&act, e->bytes, sizeof(act));
		t->act[e->r.args[0]] = act;
	}
	if (e->r.nr == SYS_set_tid_address)
		t->cur->clear_tid = e->r.args[0];
	return 0;
}

/* ---- reads of which the log has no bytes ---- */

/* Into several places: together they have LEFT bytes at most. */
static int several_pieces(struct entry *e, uint64_t left, struct lz_call_piece *piece, uint32_t *n)
{
	struct pieces p = {0};

	*n = 0;
	if (begin_pieces(e, &p) < 0)
		return -1;
	while (next_piece(&p, &piece[*n])) {
		if (piece[*n].len > left)
			return lz_fast_broken("a read of a file");
		left -= piece[(*n)++].len;
	}
	return 0;
}

static uint64_t length_of(const struct lz_call_piece *piece, uint32_t n)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += piece[i].len;
	return len;
}

/* Where the bytes are that it gave. -1: that cannot be. */
static int pieces_of_read(struct entry *e, bool several, struct lz_call_piece *piece, uint32_t *n)
{
	if (!lz_may_be_leased(e->r.nr) || several != lz_only_tried(lz_fast_try(e->r.nr)) ||
	    e->r.result <= 0 || e->r.result > LZ_LEASED_MOST)
		return lz_fast_broken("a read of a file");
	if (several && several_pieces(e, (uint64_t)e->r.result, piece, n) < 0)
		return -1;
	if (several && length_of(piece, *n) != (uint64_t)e->r.result)
		return lz_fast_broken("a read of a file");
	if (several)
		return 0;
	piece[0] = (struct lz_call_piece){e->r.args[1], (uint64_t)e->r.result};
	*n = 1;
	return piece[0].len > e->r.args[2] ? lz_fast_broken("a read of a file") : 0;
}

/* From where it was is told instead of what it gave. */
static int add_leased(struct lz_tracer *t, struct entry *e)
{
	static struct lz_call_piece piece[LZ_CALL_PIECES_MAX];
	struct lz_call_leased at;
	uint32_t n;

	if (pieces_of_read(e, e->r.flags & LZ_CALL_PIECES, piece, &n) < 0)
		return -1;
	if (e->n < sizeof(at))
		return lz_fast_broken("a read of a file");
	memcpy(&at, e->bytes, sizeof(at));
	return lz_leased_log(t, &at, piece, n);
}

static int read_pieces(struct lz_tracer *t, const struct lz_call_piece *piece, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (lz_build_read(t, piece[i].addr, piece[i].len) < 0)
			return -1;
	return 0;
}

/* The vector may lie where the call has put its bytes: the record has its pieces. */
static int add_unread_pieces(struct lz_tracer *t, struct entry *e)
{
	static struct lz_call_piece piece[LZ_CALL_PIECES_MAX];
	uint32_t n;

	if ((e->r.result > 0 ? pieces_of_read(e, true, piece, &n)
	                     : several_pieces(e, LZ_LEASED_MOST, piece, &n)) < 0)
		return -1;
	/* without a name nothing has been stored */
	const bool nothing =
	    e->r.nr == SYS_recvmsg && e->r.result == -EINVAL && n > 1 && !piece[1].addr;
	return read_pieces(t, piece, nothing ? 0 : n);
}

int lz_fast_note_pieces(struct lz_tracer *t)
{
	static struct lz_call_piece piece[LZ_CALL_PIECES_MAX];
	const struct lz_call_page *page = t->fast.page;
	const uint32_t head = page->head;
	struct entry e = {.bytes = page->log + head + sizeof(e.r)};
	uint32_t n;

	if (!lz_try_scatters(lz_fast_try(t->cur->call.nr)))
		return 0;
	if (head > LZ_CALL_LOG - sizeof(e.r))
		return lz_fast_broken("its length");
	e.n = LZ_CALL_LOG - head - (uint32_t)sizeof(e.r);
	if (several_pieces(&e, LZ_LEASED_MOST, piece, &n) < 0)
		return -1;
	return lz_vectors_of_pieces(t, piece, n);
}

/* Is what the call gave still to be read from memory? */
static bool may_be_unread(const struct lz_call_record *r)
{
	return lz_breaks_off(r->nr, r->args, r->result) ||
	       (lz_may_be_leased(r->nr) && r->result > LZ_LONG_LOGGED &&
	        r->result <= LZ_LEASED_MOST);
}

static int add_unread(struct lz_tracer *t, struct entry *e)
{
	const uint8_t try = lz_fast_try(e->r.nr);

	if (lz_try_scatters(try))
		return add_unread_pieces(t, e);
	return as_at_stop(t, &e->r, lz_capture);
}

static int add_effects(struct lz_tracer *t, struct entry *e)
{
	const int arg = taken_arg(e->r.nr);
	const bool pieces = e->r.flags & LZ_CALL_PIECES;
	const uint16_t others = e->r.flags & ~LZ_CALL_PIECES;

	if (others == LZ_CALL_LEASED)
		return add_leased(t, e);
	if (e->r.flags == LZ_CALL_UNREAD && may_be_unread(&e->r))
		return add_unread(t, e);
	if (others || lz_breaks_off(e->r.nr, e->r.args, e->r.result) ||
	    (pieces && !lz_fast_try(e->r.nr)))
		return lz_fast_broken("a flag");
	if (!pieces && lz_only_tried(lz_fast_try(e->r.nr)))
		return lz_fast_broken("a flag");
	if (t->shared && e->r.result >= 0)
		forget_fd(t->shared, &e->r);
	t->fast.mapped_fd.known &= e->r.nr == SYS_mmap;
	lz_leases_note(t, e->r.nr, e->r.args, e->r.result);
	if (pieces)
		return add_pieces(t, e);
	if (lz_changes_maps(lz_fast_rule(e->r.nr)))
		return add_map(t, e);
	if (e->r.result < 0)
		return 0;
	if (lz_is_mark(e->r.nr, e->r.args))
		return add_mark(t, e);
	return arg < 0 ? add_outs(t, e) : add_taken(t, e, arg);
}

void lz_fast_regs(const struct lz_counter_entry *e, uint64_t ip, struct user_regs_struct *r)
{
	const struct lz_counter_regs *g = &e->regs;

	*r = (struct user_regs_struct){.rax = g->rax,
	                               .rdx = g->rdx,
	                               .rcx = g->rcx,
	                               .rsi = g->rsi,
	                               .rdi = g->rdi,
	                               .r8 = g->r8,
	                               .r9 = g->r9,
	                               .r10 = g->r10,
	                               .r11 = g->r11,
	                               .rbx = g->rbx,
	                               .rbp = g->rbp,
	                               .r12 = g->r12,
	                               .r13 = g->r13,
	                               .r14 = g->r14,
	                               .r15 = g->r15,
	                               .rsp = g->rsp,
	                               .eflags = g->eflags,
	                               .rip = ip,
	                               .orig_rax = (uint64_t)-1,
	                               .fs_base = e->fs_base,
	                               .gs_base = e->gs_base,
	                               .cs = e->cs,
	                               .ss = e->ss,
	                               .ds = e->ds,
	                               .es = e->es,
	                               .fs = e->fs,
	                               .gs = e->gs};
}

static int insn_regs(const struct entry *e, struct user_regs_struct *r)
{
	struct lz_counter_entry had;

	if (e->n < sizeof(had))
		return lz_fast_broken("an instruction's length");
	memcpy(&had, e->bytes, sizeof(had));
	lz_fast_regs(&had, e->r.ip, r);
	return 0;
}

static bool is_insn_site(const struct lz_sites *s, uint64_t at, const struct lz_call_record *r)
{
	const bool xsavec = r->nr == LZ_CALL_XSAVEC;

	for (size_t i = 0; i < s->n; i++)
		if ((xsavec ? s->a[i].xsavec : s->a[i].counter) && s->a[i].at == at &&
		    s->a[i].len == r->result)
			return true;
	return false;
}

/* Behind the registers: the header of the area, and what has been stored there. */
static int add_stored(struct lz_tracer *t, const struct entry *e)
{
	const uint8_t *bytes = e->bytes + sizeof(struct lz_counter_entry);
	uint32_t left = e->n - (uint32_t)sizeof(struct lz_counter_entry);
	struct lz_xsavec_part part[LZ_XSAVEC_PARTS];
	uint64_t header[2];

	if (left < sizeof(header))
		return lz_fast_broken("an instruction's length");
	memcpy(header, bytes, sizeof(header));
	bytes += sizeof(header);
	left -= (uint32_t)sizeof(header);
	const uint32_t n = lz_xsave_parts(t->fast.component, header[0], header[1], part);
	for (uint32_t i = 0; i < n; i++) {
		if (part[i].len > left)
			return lz_fast_broken("an instruction's length");
		if (lz_build_refer(t, e->r.args[0] + part[i].at, bytes, part[i].len) < 0)
			return -1;
		bytes += part[i].len;
		left -= part[i].len;
	}
	return left ? lz_fast_broken("an instruction's length") : 0;
}

static int add_insn(struct lz_tracer *t, struct entry *e, uint64_t time)
{
	const uint64_t at = e->r.ip - (uint64_t)e->r.result;
	const bool xsavec = e->r.nr == LZ_CALL_XSAVEC;
	struct user_regs_struct r;
	uint64_t marker;

	if (!is_insn_site(&t->fast.sites, at, &e->r) || e->r.flags)
		return lz_fast_broken("an instruction's address");
	if (!xsavec && e->n != sizeof(struct lz_counter_entry))
		return lz_fast_broken("an instruction's length");
	if (insn_regs(e, &r) < 0 || lz_fast_offset(t, &e->r, &marker) < 0)
		return -1;
	lz_build_at(t, LZ_EV_INSN, at, marker, time);
	t->b.ev.insn = xsavec                          ? LZ_INSN_XSAVEC
	               : e->r.result == LZ_RDTSCP_INSN ? LZ_INSN_RDTSCP
	                                               : LZ_INSN_RDTSC;
	if ((xsavec && add_stored(t, e) < 0) || lz_build_regs(t, &r, false) < 0)
		return -1;
	return lz_build_commit(t);
}

static int add_event(struct lz_tracer *t, struct entry *e, uint64_t time)
{
	uint64_t marker;

	*lz_site_used(t, e->r.ip) = true;
	if (e->r.nr == LZ_CALL_HAND)
		return e->aside ? lz_fast_broken("a turn")
		                : lz_hand_logged(t, &e->r, e->bytes, e->n, time);
	if (e->r.nr == LZ_CALL_RDTSC || e->r.nr == LZ_CALL_XSAVEC)
		return add_insn(t, e, time);
	if (!lz_fast_may(e->r.nr))
		return lz_fast_broken("a call's number");
	if (lz_fast_offset(t, &e->r, &marker) < 0)
		return -1;
	lz_build_at(t, LZ_EV_SYSCALL, e->r.ip, marker, time);
	t->b.ev.nr = e->r.nr;
	memcpy(t->b.ev.args, e->r.args, sizeof(t->b.ev.args));
	t->b.ev.result = e->r.result;
	if (add_effects(t, e) < 0 || take_note(t, e) < 0)
		return -1;
	/* it has not run much further: that it was killed comes instead of the call */
	return t->fast.gone ? 0 : lz_build_commit(t);
}

bool *lz_site_used(struct lz_tracer *t, uint64_t ip)
{
	return &t->fast.used[ip % (sizeof(t->fast.used) / sizeof(*t->fast.used))];
}

static void count(struct lz_fast *f, const struct lz_call_record *r)
{
	f->n_taken++;
	if (r->nr < LZ_FAST_CALLS)
		f->n_of[r->nr]++;
	else if (r->nr == LZ_CALL_HAND)
		f->n_hands++;
	else if (r->nr == LZ_CALL_XSAVEC)
		f->n_xsavec++;
	else if (r->result == LZ_RDTSCP_INSN)
		f->n_rdtscp++;
	else
		f->n_rdtsc++;
}

static int make_events(struct lz_tracer *t, struct lz_call_log *log)
{
	while (log->taken < log->len && !t->fast.gone) {
		struct entry e = {.aside = log == &t->fast.aside};
		uint32_t left = log->len - log->taken;

		if (left < sizeof(e.r))
			return lz_fast_broken("its end");
		memcpy(&e.r, log->bytes + log->taken, sizeof(e.r));
		if (e.r.len < sizeof(e.r) || e.r.len > left || e.r.len % 8)
			return lz_fast_broken("a length");
		e.bytes = log->bytes + log->taken + sizeof(e.r);
		e.n = e.r.len - (uint32_t)sizeof(e.r);
		log->taken += e.r.len;
		if (add_event(t, &e, log->time) < 0)
			return -1;
		count(&t->fast, &e.r);
	}
	return 0;
}

int lz_fast_events(struct lz_tracer *t, struct lz_call_log *log)
{
	const int ret = make_events(t, log);

	t->fast.broken |= ret < 0;
	return ret;
}

int lz_fast_drain(struct lz_tracer *t)
{
	struct lz_fast *f = &t->fast;

	if (!f->page)
		return 0;
	if (lz_full_done(t) < 0)
		return -1;
	if (f->broken)
		return lz_fast_broken("one of its records");
	struct lz_call_log log = {
	    .bytes = f->page->log,
	    .len = __atomic_load_n(&f->page->head, __ATOMIC_ACQUIRE),
	    .taken = f->taken,
	};
	if (log.len > LZ_CALL_LOG || log.len < f->taken)
		return lz_fast_broken("its length");
	log.time = log.len == f->taken ? 0 : lz_elapsed(t);
	const int ret = lz_fast_events(t, &log);
	f->taken = log.taken;
	if (ret == 0)
		lz_fast_track(t);
	return ret;
}

void lz_fast_tell(const struct lz_tracer *t)
{
	const struct lz_fast *f = &t->fast;

	if (!f->page)
		return;
	lz_debug("%" PRIu64 " system calls were made without a stop, at %zu places", f->n_taken,
	         f->sites.n);
	if (f->n_rdtsc || f->n_rdtscp || f->n_xsavec)
		lz_debug("of these were %" PRIu64 " times rdtsc, %" PRIu64 " times rdtscp, %" PRIu64
		         " times xsavec",
		         f->n_rdtsc, f->n_rdtscp, f->n_xsavec);
	lz_debug("%" PRIu64 " stops", f->n_stops);
	if (f->n_full)
		lz_debug("the log was full %" PRIu64 " times while nothing else was due",
		         f->n_full);
	lz_debug("%" PRIu64 " system calls were refused, %" PRIu64
	         " of them with a stop more than need be",
	         f->n_refused + f->n_stepped, f->n_refused);
	if (f->leases.n_reads)
		lz_debug("%" PRIu64 " reads were of files with a lease", f->leases.n_reads);
	if (f->n_traps)
		lz_debug("control came %" PRIu64 " times to what a jump covers", f->n_traps);
	if (f->page->n_waits)
		lz_debug("%" PRIu64 " waits were made without a stop, %" PRIu64 " of them in part",
		         f->page->n_waits, f->n_cut);
	if (f->n_parked)
		lz_debug("%" PRIu64 " waits for a futex had one stop", f->n_parked);
	if (f->n_hands)
		lz_debug("%" PRIu64 " waits for a futex had none", f->n_hands);
	for (unsigned nr = 0; nr < LZ_FAST_CALLS; nr++)
		if (f->n_of[nr])
			lz_debug("without a stop: %s %" PRIu64, lz_syscall_name(nr), f->n_of[nr]);
	for (unsigned nr = 0; nr < LZ_FAST_CALLS; nr++)
		if (f->stops_of[nr])
			lz_debug("with stops: %s %" PRIu64, lz_syscall_name(nr), f->stops_of[nr]);
}
