/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: hands the turn from a thread that begins to wait for a futex to one that waits in
 * here, too, and has been woken.
 *
 * What has been done up to the store to the log's head can be undone: lz_hand_undo(). From that store on
 * the turn is the other's. */
#include "tracer/stub/segments.h"
#include "tracer/stub/try.h"

#include <linux/futex.h>
#include <lizard/marker.h>
#include <stddef.h>
#include <sys/syscall.h>

_Static_assert(sizeof(struct lz_stub_saved) == 112 && offsetof(struct lz_stub_saved, rax) == 48 &&
                   SYS_futex == 202 && FUTEX_WAIT == 0 && FUTEX_WAKE == 1 && LZ_TURN == 8,
               "the assembly part has these numbers");

/* RDI: where RSI is stored, the log's head and that nothing is waited for; RDX, RCX: the states of this
 * thread and of the next one; R8: this one's place; R9: where `busy` is. Behind the store to the next
 * one's state the stack is the other thread's.
 *
 * At lz_stub_standby: RBX and R13 are what RDX and R8 were. */
__asm__(".pushsection lz_stub,\"ax\",@progbits\n"
        ".globl lz_stub_hand, lz_stub_handed, lz_stub_turned, lz_stub_standby\n"
        ".hidden lz_stub_hand\n"
        "lz_stub_hand:\n"
        "	movq %rdx, %rbx\n"
        "	movq %rcx, %r12\n"
        "	movl %r8d, %r13d\n"
        "	movq %rsi, (%rdi)\n"
        "lz_stub_handed:\n"
        "	movl $0, (%r9)\n"
        "	lock orl $8, (%r12)\n"
        "lz_stub_turned:\n"
        "	movl $202, %eax\n"
        "	movq %r12, %rdi\n"
        "	movl $1, %esi\n"
        "	movl $1, %edx\n"
        "	syscall\n"
        "lz_stub_standby:\n"
        "1:	movl (%rbx), %edx\n"
        "	testl $8, %edx\n"
        "	jne 2f\n"
        "	movl $202, %eax\n"
        "	movq %rbx, %rdi\n"
        "	xorl %esi, %esi\n"
        "	xorl %r10d, %r10d\n"
        "	syscall\n"
        "	jmp 1b\n"
        "2:	leaq " PAGE "+0x1040-112(%rip), %rsp\n"
        "	leaq " PAGE "(%rip), %rdi\n"
        "	movl %r13d, %esi\n"
        "	call lz_stub_on_turn\n"
        "	popq %r15\n"
        "	popq %r14\n"
        "	popq %r13\n"
        "	popq %r12\n"
        "	popq %rbp\n"
        "	popq %rbx\n"
        "	movq " PAGE "+8(%rip), %rcx\n"
        "	jmp lz_stub_out\n"
        ".popsection\n");

void lz_stub_hand(uint64_t *head_and_waits, uint64_t value, uint32_t *mine, uint32_t *next,
                  uint32_t place, uint32_t *busy) STUB __attribute__((noreturn));

INLINE struct lz_stub_saved *saved(struct lz_call_page *p)
{
	return (struct lz_stub_saved *)(p->stack + LZ_STUB_STACK) - 1;
}

void lz_stub_on_turn(struct lz_call_page *p, uint32_t place) STUB;
void lz_stub_on_turn(struct lz_call_page *p, uint32_t place)
{
	const struct lz_standby *s = &p->standby[place];

	p->site = s->site;
	p->back = s->back;
	p->rsp = s->rsp;
	p->pos_addr = s->pos_addr;
	p->open = s->open;
	copy((uint8_t *)saved(p), (uint64_t)&s->regs, sizeof(s->regs));
	saved(p)->rax = 0;
	if (s->marker)
		*(volatile uint64_t *)s->pos_addr = s->marker;
	p->parked[place].state = 0;
	__atomic_store_n(&p->parked[place].at, 0, __ATOMIC_RELEASE);
}

/* LZ_PARKED: there is none. */
INLINE uint32_t free_place(const struct lz_call_page *p)
{
	uint32_t i = 0;

	while (i < LZ_PARKED && p->parked[i].at)
		i++;
	return i;
}

/* Of those that have been woken on standby the one that has waited longest. */
INLINE uint32_t next_place(const struct lz_call_page *p)
{
	uint32_t found = LZ_PARKED;

	for (uint32_t i = 0; i < p->parked_end && i < LZ_PARKED; i++) {
		const struct lz_futex_wait *w = &p->parked[i];

		if (w->at && *(const volatile uint32_t *)&w->state == (LZ_STANDBY | LZ_WOKEN) &&
		    (!p->ring || p->standby[i].pos_addr) &&
		    (found == LZ_PARKED || w->ticket < p->parked[found].ticket))
			found = i;
	}
	return found;
}

INLINE bool claim(struct lz_futex_wait *w)
{
	uint32_t woken = LZ_STANDBY | LZ_WOKEN;

	return __atomic_compare_exchange_n(&w->state, &woken, LZ_STANDBY | LZ_WOKEN | LZ_NEXT,
	                                   false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

INLINE void stand_by(struct attempt *t, uint32_t place)
{
	struct lz_call_page *p = t->p;
	struct lz_futex_wait *w = &p->parked[place];
	struct lz_standby *s = &p->standby[place];
	const bool bitset = ((uint32_t)t->args[1] & (uint32_t)FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	copy((uint8_t *)&s->regs, (uint64_t)saved(p), sizeof(s->regs));
	s->site = p->site;
	s->back = p->back;
	s->rsp = p->rsp;
	s->pos_addr = p->pos_addr;
	s->open = p->open;
	w->ticket = ++p->tickets;
	w->bits = bitset ? (uint32_t)t->args[5] : UINT32_MAX;
	w->state = LZ_STANDBY;
	if (p->parked_end <= place)
		p->parked_end = place + 1;
	__atomic_store_n(&w->at, t->args[0], __ATOMIC_RELEASE);
}

/* All threads write one stream of markers: the next one's pointer is this one's. */
INLINE void pass_pointer(const struct lz_call_page *p, uint64_t marker, struct lz_standby *next)
{
	next->marker = p->ring ? marker : 0;
	if (p->ring && next->regs.r15 - lz_ring_of(p->ring) < LZ_RING_SIZE)
		next->regs.r15 = marker;
}

INLINE void note_regs(struct lz_call_page *p, struct lz_counter_entry *e)
{
	const struct lz_stub_saved *s = saved(p);
	struct lz_counter_regs *r = &e->regs;

	r->rax = s->rax, r->rdx = s->rdx, r->rsi = s->rsi, r->rdi = s->rdi;
	r->r8 = s->r8, r->r9 = s->r9, r->r10 = s->r10, r->rbx = s->rbx, r->rbp = s->rbp;
	r->r12 = s->r12, r->r13 = s->r13, r->r14 = s->r14, r->r15 = s->r15;
	r->rcx = p->site;
	r->r11 = r->eflags = s->eflags;
	r->rsp = p->rsp;
	read_segments(e);
}

INLINE void write_down(struct attempt *t, uint32_t mine, uint32_t next)
{
	struct lz_call_record *r = t->r;
	struct lz_hand_entry *e = (struct lz_hand_entry *)(r + 1);

	r->nr = LZ_CALL_HAND;
	r->flags = 0;
	r->len = sizeof(*r) + sizeof(*e);
	r->result = 0;
	for (int i = 0; i < 6; i++)
		r->args[i] = t->args[i];
	note_regs(t->p, &e->regs);
	e->next_r15 = t->p->standby[next].regs.r15;
	e->mine = mine;
	e->next = next;
	e->open = t->p->open;
	e->unused = 0;
}

uint32_t lz_try_hand(struct attempt *t)
{
	struct lz_call_page *p = t->p;
	const uint32_t mine = free_place(p), next = next_place(p);
	const uint32_t head = (uint32_t)((uint8_t *)t->r - p->log);

	if (!p->may_hand || mine == LZ_PARKED || next == LZ_PARKED)
		return LZ_STOP;
	__atomic_store_n(&p->waits, LZ_WAITS_HAND, __ATOMIC_SEQ_CST);
	if (!is_let(&p->go) || !is_let(&p->may_hand) || !claim(&p->parked[next])) {
		__atomic_store_n(&p->waits, LZ_WAITS_NO, __ATOMIC_SEQ_CST);
		return LZ_STOP;
	}
	pass_pointer(p, t->r->marker, &p->standby[next]);
	stand_by(t, mine);
	write_down(t, mine, next);
	lz_stub_hand((uint64_t *)&p->head, head + t->r->len, &p->parked[mine].state,
	             &p->parked[next].state, mine, &p->busy);
}
