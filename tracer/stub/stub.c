/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: makes system calls that need no tracer and writes them down.
 *
 * A site's detour (tracer/code/detour.c) comes here with the address behind the site in rcx and
 * the one behind the detour's own system call instruction in r11: a system call overwrites both.
 * What is left of this is what a system call leaves. Neither the program's stack nor any other
 * register is touched. It is compiled without vector registers, constants in memory and calls of
 * a library (tracer/build.mk), and copied into the program. */
#include "tracer/stub/clock.h"
#include "tracer/stub/descriptors.h"
#include "tracer/stub/leased.h"
#include "tracer/stub/maps.h"

#include <common/process/sites.h>

#include <errno.h>
#include <lizard/mark.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

_Static_assert(
    offsetof(struct lz_call_page, site) == 0 && offsetof(struct lz_call_page, back) == 8 &&
        offsetof(struct lz_call_page, target) == 16 && offsetof(struct lz_call_page, rsp) == 24 &&
        offsetof(struct lz_call_page, kind) == 32 && offsetof(struct lz_call_page, insn) == 36 &&
        offsetof(struct lz_call_page, stack) + LZ_STUB_STACK == 0x1040 && LZ_STUB_CODE == 0x8000,
    "the assembly part has these numbers");

/* The registers that C code may use are saved for a fault of its: lz_fast_fault(). */
__asm__(ENTRIES ".pushsection lz_stub,\"ax\",@progbits\n"
                ".globl lz_stub_entry, lz_stub_trap, lz_stub_out\n"
                ".hidden lz_stub_out\n"
                "	entries lz_stub_entry\n"
                "3:	movq %rcx, " PAGE "(%rip)\n"
                "	movq %r11, " PAGE "+8(%rip)\n"
                "	movq %rsp, " PAGE "+24(%rip)\n"
                "	leaq " PAGE "+0x1040(%rip), %rsp\n"
                "	pushfq\n"
                "	pushq %r9\n"
                "	pushq %r8\n"
                "	pushq %r10\n"
                "	pushq %rdx\n"
                "	pushq %rsi\n"
                "	pushq %rdi\n"
                "	pushq %rax\n"
                "	movq %rsp, %rsi\n"
                "	pushq %rbx\n"
                "	pushq %rbp\n"
                "	pushq %r12\n"
                "	pushq %r13\n"
                "	pushq %r14\n"
                "	pushq %r15\n"
                "	cld\n"
                "	leaq " PAGE "(%rip), %rdi\n"
                "	movq %r15, %rdx\n"
                "	call lz_stub_call\n"
                "	addq $48, %rsp\n"
                "	movq " PAGE "+8(%rip), %rcx\n"
                "	cmpl $1, %eax\n"
                "	je 2f\n"
                "	ja 1f\n"
                "	subq $2, %rcx\n"
                "	jmp 2f\n"
                "1:	int3\n"
                "lz_stub_trap:\n"
                "lz_stub_out:\n"
                "2:	movq %rcx, " PAGE "+16(%rip)\n"
                "	popq %rax\n"
                "	popq %rdi\n"
                "	popq %rsi\n"
                "	popq %rdx\n"
                "	popq %r10\n"
                "	popq %r8\n"
                "	popq %r9\n"
                "	movq (%rsp), %r11\n"
                "	popfq\n"
                "	movq " PAGE "(%rip), %rcx\n"
                "	movq " PAGE "+24(%rip), %rsp\n"
                "	jmp *" PAGE "+16(%rip)\n"
                ".popsection\n");

/* How many bytes the call may put into the log; UINT64_MAX: too many. */
INLINE uint64_t most_of(const struct lz_call_page *p, const struct lz_fast_call *c,
                        const uint64_t *args)
{
	const bool small = c->rule == LZ_RULE_MMAP && lz_maps_small(args);
	const uint64_t limit = args[c->most];
	uint64_t special, sum = LZ_FAST_NOTE + lz_fast_special(c->rule, args, &special) +
	                        (small ? LZ_SMALL_FILE : 0);

	if (c->takes)
		return limit <= LZ_FAST_TAKEN && !is_changed_code(p, args[c->takes - 1], limit)
		           ? limit
		           : UINT64_MAX;
	for (int i = 0; i < c->n_outs; i++) {
		if (!c->out[i].size && limit > LZ_FAST_MOST)
			return UINT64_MAX;
		sum += c->out[i].size ? c->out[i].size : limit;
	}
	return sum;
}

INLINE uint32_t add_bytes(const struct lz_fast_call *c, const uint64_t *args, int64_t result,
                          uint8_t *to)
{
	uint32_t done = 0;

	if (result < 0)
		return 0;
	if (c->takes) {
		copy(to, args[c->takes - 1], (uint64_t)result);
		return (uint32_t)result;
	}
	for (int i = 0; i < c->n_outs; i++) {
		uint64_t n = c->out[i].size ? c->out[i].size : (uint64_t)result;

		/* a length may be asked for alone */
		if (!c->out[i].size && n > args[c->most])
			n = args[c->most];
		if (!args[c->out[i].arg])
			continue;
		copy(to + done, args[c->out[i].arg], n);
		done += (uint32_t)n;
	}
	uint64_t at, n = lz_fast_special(c->rule, args, &at);
	if (at && n) {
		copy(to + done, at, n);
		done += (uint32_t)n;
	}
	return done;
}

/* The mask is asked for again: what the program has given may be written over. */
INLINE uint32_t add_note(struct lz_call_page *p, uint8_t rule, const uint64_t *args, int64_t result,
                         uint8_t *to)
{
	const uint32_t n = lz_fast_note(rule, args, result);

	p->notes |= n;
	if (n && rule == LZ_RULE_MASK)
		call4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (uint64_t)to, n);
	else if (n)
		copy(to, args[1], n);
	return n;
}

/* A signal that waits and is let in comes before the call returns. */
INLINE bool may_let_signals_in(const uint64_t *args)
{
	uint64_t pending = 0;

	if (!args[1] || args[0] == SIG_BLOCK)
		return false;
	return call4(SYS_rt_sigpending, (uint64_t)&pending, sizeof(pending), 0, 0) != 0 || pending;
}

/* The one on which it runs is of no interest. */
INLINE void show_cpu(const struct lz_call_page *p, const uint64_t *args)
{
	if (args[0])
		*(volatile uint32_t *)args[0] = p->cpu;
	if (args[1])
		*(volatile uint32_t *)args[1] = p->node;
}

/* Does it wait for nobody, and has no effect but those that are logged? */
INLINE bool may_now(struct lz_call_page *p, uint8_t rule, const uint64_t *args)
{
	switch (rule) {
	case LZ_RULE_MASK: return !may_let_signals_in(args);
	default: return lz_changes_maps(rule) ? is_own_map(p, rule, args) : is_safe(p, rule, args);
	}
}

/* Has a read that is too long for the log a lease, so that it need not be there? */
INLINE bool is_long_leased(const struct lz_call_page *p, uint64_t nr, const uint64_t *args)
{
	uint64_t at;

	return reads_from(nr, args, &at) && args[2] <= LZ_LEASED_MOST && lease_of(p, args[0]);
}

INLINE bool refers_too_much(struct lz_call_page *p, uint64_t nr, const uint64_t *args)
{
	uint64_t at;

	return reads_from(nr, args, &at) && !may_refer(p, args[0], args[2]);
}

INLINE void begin_leased(struct lz_call_page *p, uint64_t nr, const uint64_t *args,
                         struct leased_read *l)
{
	uint64_t at;

	l->lease = 0;
	if (reads_from(nr, args, &at) && lease_of(p, args[0]))
		lz_begin_leased(p, args[0], args[2], at, l);
}

INLINE bool is_leased(const struct lz_call_page *p, const uint64_t *args, int64_t result,
                      const struct leased_read *l, uint8_t *part)
{
	struct lz_call_piece all;

	if (!l->lease)
		return false;
	all.addr = args[1];
	all.len = (uint64_t)result;
	return lz_is_leased(p, l, result, &all, 1, part);
}

/* Is it a call that is tried without waiting? */
INLINE bool is_try(const struct lz_call_page *p, const struct lz_fast_call *c, const uint64_t *args)
{
	if (!c->try || !p->tries)
		return false;
	if (!lz_try_of_kind(c->try))
		return true;
	const uint8_t fd = args[0] < LZ_FAST_FDS ? p->fd[args[0]] : 0;
	return lz_kind_of(fd) != LZ_KIND_NONE || (lz_only_tried(c->try) && fd & c->fd);
}

uint32_t lz_stub_call(struct lz_call_page *p, uint64_t *regs, uint64_t r15)
{
	const uint64_t nr = regs[0], *args = regs + 1;
	const struct lz_fast_call *c = &p->call[nr < LZ_FAST_CALLS ? nr : 0];
	const bool mark = lz_is_mark(nr, args);
	struct leased_read leased;
	const bool small = c->rule == LZ_RULE_MMAP && lz_maps_small(args);
	bool told = c->rule == LZ_RULE_MMAP && lz_maps_at_once(args);
	uint64_t marker, most;

	if (!p->go || nr >= LZ_FAST_CALLS || !c->may || !lz_fast_allows(c->rule, args) ||
	    (p->put_off && !(told && is_part(p, args))))
		return 0;
	if (is_try(p, c, args))
		return find_marker(p, r15, &marker) ? lz_stub_try(p, regs, marker) : LZ_STOP;
	if (lz_only_tried(c->try))
		return LZ_STOP;
	if (mark && args[2] > LIZARD_MARK_MOST)
		return 0;
	if (!mark && c->fd && (args[0] >= LZ_FAST_FDS || !(p->fd[args[0]] & c->fd)))
		return 0;
	most = most_of(p, c, args);
	const bool is_long = most == UINT64_MAX && is_long_leased(p, nr, args);
	if (is_long)
		most = LZ_LONG_LOGGED;
	if (most == UINT64_MAX || refers_too_much(p, nr, args) || !find_marker(p, r15, &marker))
		return 0;
	/* From here on the tracer leaves the log where it is. */
	set_busy(p, 1);
	const uint32_t head = *(volatile uint32_t *)&p->head;
	struct lz_call_record *r = (struct lz_call_record *)(p->log + head);
	if (!is_still_let(p) || !has_room(p, head, most + sizeof(struct lz_call_record) + 8) ||
	    !may_now(p, c->rule, args) ||
	    (small && !read_small(p, args, (uint8_t *)(r + 1), &told))) {
		set_busy(p, 0);
		return 0;
	}
	for (int i = 0; i < 6; i++)
		r->args[i] = args[i];
	forget_fd(p, c->rule, args);
	begin_leased(p, nr, args, &leased);
	const bool later = told && may_put_off(p, args);
	int64_t result = c->rule == LZ_RULE_CLOCK ? read_clock(p, regs) : make(regs);
	if (mark)
		result = (int64_t)args[2];
	else if (c->rule != LZ_RULE_CLOCK)
		set_made(p, result);
	note_fd(p, c->rule, args, result);
	if (!told)
		note_map(p, c->rule, args, result);
	if (nr == SYS_getcpu && result == 0)
		show_cpu(p, args);
	uint32_t n = sizeof(*r), flags = result == -EFAULT ? LZ_CALL_UNREAD : 0;
	r->nr = (uint16_t)nr;
	r->ip = p->site;
	r->marker = marker;
	r->result = result;
	if (is_leased(p, args, result, &leased, (uint8_t *)(r + 1))) {
		flags = LZ_CALL_LEASED;
		n += add_leased(p, &leased, result, (uint8_t *)(r + 1));
	} else if (is_long && result > LZ_LONG_LOGGED) {
		flags = LZ_CALL_UNREAD;
	} else {
		n += add_bytes(c, args, result, (uint8_t *)(r + 1));
	}
	n += add_note(p, c->rule, args, result, (uint8_t *)r + n);
	if (small && !told && result >= 0)
		n += (uint32_t)(sizeof(uint64_t) + *(uint64_t *)(r + 1));
	r->flags = (uint16_t)flags;
	r->len = (n + 7) & ~7u;
	/* not before: at a fault the number is needed */
	regs[0] = (uint64_t)result;
	__atomic_store_n(&p->head, head + r->len, __ATOMIC_RELEASE);
	end_leased(p, &leased);
	set_busy(p, 0);
	if (later && result >= 0)
		put_off(p, args, (uint64_t)result);
	else if (told)
		return LZ_LOOK;
	return flags & LZ_CALL_UNREAD || (result < 0 && lz_fails_midway(c->rule)) ? LZ_LOOK
	                                                                          : LZ_MADE;
}
