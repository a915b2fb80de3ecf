/* An event is answered from the log: its effects are put into the process. */
#include <lizard/sysfake.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/restore.h>

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

int lz_fake_event(struct lz_proc *p, struct lz_reader *r, struct lz_space *s,
                  const struct lz_event *ev, struct user_regs_struct *regs)
{
	if (do_maps(p, r, s, ev) < 0)
		return lz_fail_in("event %lu", (unsigned long)ev->index);
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		const struct lz_write *w = &ev->writes[i];
		if (lz_proc_write(p, w->addr, w->bytes, w->len) < 0)
			return lz_fail_in("event %lu", (unsigned long)ev->index);
	}
	if (ev->has_regs)
		*regs = ev->regs;
	else if (ev->kind == LZ_EV_SYSCALL)
		call_result(ev, regs);
	regs->orig_rax = (uint64_t)-1;
	return 0;
}
