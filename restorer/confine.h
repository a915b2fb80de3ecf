/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that a replayed process can make. */
#ifndef LIZARD_RESTORER_CONFINE_H
#define LIZARD_RESTORER_CONFINE_H

#include <lizard/proc.h>

/* From now on only the calls that Lizard itself injects reach the kernel, from the stub's one
 * `syscall` instruction (p->syscall_insn), with the arguments that Lizard gives them; any other one
 * kills the process. It cannot be undone, and holds for copies of the process. The stub's page is
 * used for it. */
int lz_confine(struct lz_proc *p);

#endif
