/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An event is answered from the log: its effects are put into the process. */
#include <common/process/guard.h>
#include <lizard/sysfake.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/restore.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { FLAG_RF = 1 << 16 };

/* As the `syscall` instruction and the kernel leave them. */
static void call_result(const struct lz_event *ev, struct user_regs_struct *regs)
{
	regs->rax = (uint64_t)ev->result;
	regs->rcx = regs->rip = ev->ip;
	regs->r11 = regs->eflags & ~(uint64_t)FLAG_RF;
}

static int do_maps(struct lz_proc *p, struct lz_reader *r, struct lz_space *s,
                   const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_ops; i++)
		if (lz_restore_op(p, r, &ev->ops[i]) < 0 || lz_space_apply(s, &ev->ops[i]) < 0)
			return -1;
	return 0;
}

bool lz_fake_needs_calls(const struct lz_space *s, const struct lz_event *ev)
{
	if (ev->n_ops)
		return true;
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		const struct lz_vma *v = lz_space_find(s, w->addr);
		/* the stack may have grown since the list was made: only a guess */
		if (!v || w->len > v->end - w->addr)
			return true;
	}
	return false;
}

/* The lowest mapped address above ADDR. */
struct above {
	uint64_t addr, start;
};

static int find_above(void *arg, const struct lz_maps_entry *e)
{
	struct above *a = arg;

	if (e->end <= a->addr)
		return 0;
	a->start = e->start;
	return 1;
}

/* The kernel grows the stack when it writes there itself; a write by ptrace does not. */
static int grow_stack(struct lz_proc *p, struct lz_reader *r, struct lz_space *s, uint64_t addr)
{
	struct above a = {.addr = addr};
	uint64_t page = addr & ~(uint64_t)(LZ_PAGE - 1);

	if (lz_proc_maps(p->pid, find_above, &a) < 0)
		return -1;
	struct rlimit limit = {0, 0};
	prlimit(p->pid, RLIMIT_STACK, NULL, &limit);
	const struct lz_vma *v = lz_space_find(s, a.start);
	if (!v && a.start)
		for (uint32_t i = 0; i < s->n; i++)
			if (s->vmas[i].role == LZ_VMA_STACK && a.start <= s->vmas[i].start)
				v = &s->vmas[i];
	if (a.start <= page || !v || v->role != LZ_VMA_STACK || v->end - page > limit.rlim_cur)
		return lz_fail("an event writes to %#lx, where nothing is mapped",
		               (unsigned long)addr);
	struct lz_map_op op = {.op = LZ_MAP,
	                       .addr = page,
	                       .len = a.start - page,
	                       .prot = v->prot,
	                       .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN,
	                       .file = LZ_NO_FILE};
	uint32_t i = (uint32_t)(v - s->vmas);
	if (lz_restore_op(p, r, &op) < 0)
		return -1;
	if (page < s->vmas[i].start)
		s->vmas[i].start = page;
	return 0;
}

static int do_write(struct lz_proc *p, struct lz_reader *r, struct lz_space *s,
                    const struct lz_write *w)
{
	if (lz_guard_range(p, w->addr, w->len) < 0)
		return -1;
	if (lz_proc_write(p, w->addr, w->bytes, w->len) == 0)
		return 0;
	if (grow_stack(p, r, s, w->addr) < 0)
		return -1;
	return lz_proc_write(p, w->addr, w->bytes, w->len);
}

/* A changed stack limit is the one limit that decides what the program's own instructions do. */
static int follow_stack_limit(struct lz_proc *p, const struct lz_event *ev)
{
	bool own = ev->nr == SYS_prlimit64 && (ev->args[0] == 0 || ev->args[0] == ev->tid);
	uint64_t resource = own ? ev->args[1] : ev->args[0];
	uint64_t from = own ? ev->args[2] : ev->args[1], limit;

	if (ev->kind != LZ_EV_SYSCALL || (!own && ev->nr != SYS_setrlimit) || ev->result != 0 ||
	    resource != RLIMIT_STACK || !from)
		return 0;
	if (lz_proc_read(p, from, &limit, sizeof(limit)) < 0)
		return -1;
	lz_stub_limit_stack(p, limit);
	return 0;
}

int lz_fake_event(struct lz_proc *p, struct lz_reader *r, struct lz_space *s,
                  const struct lz_event *ev, struct user_regs_struct *regs)
{
	if (do_maps(p, r, s, ev) < 0 || follow_stack_limit(p, ev) < 0)
		return lz_fail_in("event %lu", (unsigned long)ev->index);
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		if (do_write(p, r, s, &ev->writes[i]) < 0)
			return lz_fail_in("event %lu", (unsigned long)ev->index);
	}
	if (ev->has_regs)
		*regs = ev->regs;
	else if (ev->kind == LZ_EV_SYSCALL)
		call_result(ev, regs);
	regs->orig_rax = (uint64_t)-1;
	return 0;
}
