/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of structs, by tables. */
#include "tests/forge/forge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t flags_of_mapping(uint64_t old)
{
	static const uint64_t flags[] = {
	    MAP_PRIVATE | MAP_ANONYMOUS,
	    MAP_SHARED | MAP_ANONYMOUS,
	    MAP_PRIVATE | MAP_GROWSDOWN,
	    MAP_SHARED | 1 << LZ_OBJECT_SHIFT,
	    MAP_PRIVATE | 2 << LZ_OBJECT_SHIFT,
	    MAP_SHARED | LZ_OBJECTS_MAX << LZ_OBJECT_SHIFT,
	    MAP_SHARED | 0xffffu << LZ_OBJECT_SHIFT,
	    MAP_HUGETLB,
	    MREMAP_DONTUNMAP,
	    UINT32_MAX,
	};
	return pick(4) ? flags[pick(N_OF(flags))] : old ^ 1u << pick(32);
}

static uint64_t any_of(const uint64_t *v, uint32_t n, uint64_t old)
{
	return pick(4) ? v[pick(n)] : value_number(old);
}

static uint64_t value_of(uint8_t kind, uint64_t old)
{
	static const uint64_t prot[] = {0, 1, 2, 3, 4, 5, 6, 7, 0xffffffff};
	static const uint64_t eflags[] = {0x100,   0x300,   0x3202, 0x40202, 0x4202,
	                                  0x10202, 0x20202, 0,      0x600};
	/* the first one: what is there is 32-bit code */
	static const uint64_t selector[] = {0x23, 0x23, 0x33, 0x2b, 0x10, 0x18, 0, 3, 0x63, 0xffff};

	switch (kind) {
	case ADDRESS: return pick(8) ? value_address() : value_number(old);
	case PAGE_ADDRESS: return pick(8) ? value_address() & -(uint64_t)LZ_PAGE : value_address();
	case LENGTH: return pick(4) ? value_length() : value_address();
	case THREAD: return pick(2) ? world.tid[pick(world.n_tids)] : value_number(old);
	case SMALL: return pick(8);
	case SELECTOR: return any_of(selector, N_OF(selector), old);
	case PROT: return any_of(prot, N_OF(prot), old);
	case EFLAGS: return any_of(eflags, N_OF(eflags), old);
	case MAP_FLAGS: return flags_of_mapping(old);
	case FILE_INDEX:
		return pick(4) ? pick(world.n_files + 1) : pick(2) ? LZ_NO_FILE : value_number(old);
	default: return value_number(old);
	}
}

void field_forge(void *base, const struct field *f, const char *of)
{
	uint64_t old = 0, now;

	memcpy(&old, (char *)base + f->offset, f->size);
	now = value_of(f->kind, old);
	memcpy((char *)base + f->offset, &now, f->size);
	now &= UINT64_MAX >> (64 - 8 * f->size);
	note("%s %s %#llx -> %#llx", of, f->name, (unsigned long long)old, (unsigned long long)now);
}

#define R(member, kind) FIELD(struct user_regs_struct, member, kind)
static const struct field registers[] = {
    R(r15, ADDRESS), R(r14, ADDRESS),     R(r13, ADDRESS),     R(r12, ADDRESS),
    R(rbp, ADDRESS), R(rbx, ADDRESS),     R(r11, NUMBER),      R(r10, ADDRESS),
    R(r9, ADDRESS),  R(r8, ADDRESS),      R(rax, NUMBER),      R(rcx, LENGTH),
    R(rdx, ADDRESS), R(rsi, ADDRESS),     R(rdi, ADDRESS),     R(orig_rax, NUMBER),
    R(rip, ADDRESS), R(cs, SELECTOR),     R(eflags, EFLAGS),   R(rsp, ADDRESS),
    R(ss, SELECTOR), R(fs_base, ADDRESS), R(gs_base, ADDRESS), R(ds, SELECTOR),
    R(es, SELECTOR), R(fs, SELECTOR),     R(gs, SELECTOR),     R(rip, ADDRESS),
    R(cs, SELECTOR), R(fs_base, ADDRESS),
};

/* What makes the kernel go back to a system call. */
static void restart(struct user_regs_struct *regs, const char *of)
{
	enum { FIRST = 512, KINDS = 5 }; /* ERESTARTSYS to ERESTART_RESTARTBLOCK */

	regs->orig_rax = pick(400);
	regs->rax = -(uint64_t)(FIRST + pick(KINDS));
	note("%s orig_rax %llu, rax %lld", of, (unsigned long long)regs->orig_rax,
	     (long long)regs->rax);
}

void regs_forge(struct user_regs_struct *regs, const char *of)
{
	if (pick(16))
		field_forge(regs, &registers[pick(N_OF(registers))], of);
	else
		restart(regs, of);
}

/* The legacy area, the header behind it, then the rest. */
uint8_t *xstate_forge(const uint8_t *xstate, uint32_t *len)
{
	static const uint32_t lengths[] = {0, 1, 24, 512, 576, 577, 832, 2696, 16384, 65536};
	uint32_t old = *len, at, n = pick(3) ? old : lengths[pick(N_OF(lengths))];
	uint8_t *copy = calloc(1, n + 8u);

	if (old)
		memcpy(copy, xstate, old < n ? old : n);
	at = pick(3) ? pick(n + 1) : 512 + 8 * pick(8);
	uint64_t value = value_number(0);
	if (at + 8 <= n)
		memcpy(copy + at, &value, 8);
	*len = n;
	note("xstate %u -> %u bytes, %#llx at %u", old, n, (unsigned long long)value, at);
	return copy;
}
