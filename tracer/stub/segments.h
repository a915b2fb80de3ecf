/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers that have no place on the stub's stack. Linux 5.9 or later: lz_segments_readable(). */
#ifndef LIZARD_TRACER_STUB_SEGMENTS_H
#define LIZARD_TRACER_STUB_SEGMENTS_H

#include "tracer/stub/stub.h"

/* A program may set these without a system call: wrfsbase. */
INLINE void read_segments(struct lz_counter_entry *e)
{
	__asm__ volatile("rdfsbase %0" : "=r"(e->fs_base));
	__asm__ volatile("rdgsbase %0" : "=r"(e->gs_base));
	__asm__ volatile("mov %%cs, %0" : "=r"(e->cs));
	__asm__ volatile("mov %%ss, %0" : "=r"(e->ss));
	__asm__ volatile("mov %%ds, %0" : "=r"(e->ds));
	__asm__ volatile("mov %%es, %0" : "=r"(e->es));
	__asm__ volatile("mov %%fs, %0" : "=r"(e->fs));
	__asm__ volatile("mov %%gs, %0" : "=r"(e->gs));
}

#endif
