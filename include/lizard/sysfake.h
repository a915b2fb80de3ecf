/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applying events of the log to a re-executed process, instead of executing them: sysfake's
 * contract. */
#ifndef LIZARD_SYSFAKE_H
#define LIZARD_SYSFAKE_H

#include <lizard/proc.h>
#include <lizard/recording.h>

/* The mappings of the process as the program should see them. */
struct lz_space {
	struct lz_vma *vmas; /* sorted, without overlaps */
	uint32_t n, room;
};

int lz_space_copy(struct lz_space *to, const struct lz_vma *vmas, uint32_t n);
void lz_space_free(struct lz_space *s);
/* Index of the first mapping that ends behind ADDR. */
uint32_t lz_space_from(const struct lz_space *s, uint64_t addr);
/* The mapping that holds ADDR, or NULL. */
const struct lz_vma *lz_space_find(const struct lz_space *s, uint64_t addr);
/* What OP does to the list. */
int lz_space_apply(struct lz_space *s, const struct lz_map_op *op);
/* The role of all mappings inside [start, end). */
void lz_space_set_role(struct lz_space *s, uint64_t start, uint64_t end, uint32_t role);

/* The stack grows by itself: its start becomes what the kernel says of process PID. */
int lz_space_follow_stack(struct lz_space *s, pid_t pid);

/* Must lz_proc_syscall() be possible for lz_fake_event()? True if the event changes mappings or may
 * have to grow the stack. */
bool lz_fake_needs_calls(const struct lz_space *s, const struct lz_event *ev);
/* Does what EV did: mappings, then memory. Registers: *regs, which holds those at the event's
 * instant, is changed to those after it; the caller sets them (and ev->xstate). */
int lz_fake_event(struct lz_proc *p, struct lz_reader *r, struct lz_space *s,
                  const struct lz_event *ev, struct user_regs_struct *regs);

#endif
