/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cpuid answers on the CPU on which a recording begins, and code in the program that gives
 * these answers without a stop: the C library asks forty times in each program. */
#include "tracer/code/code.h"

#include <cpuid.h>
#include <lizard/error.h>
#include <stdlib.h>

enum { XSTATE = 0xd };

/* Left out are leaf 1 and the first part of leaf 7: they tell of rdrand and rdseed, which not all of
 * the code may know of. */
enum whose { ANYBODYS, AMDS, OTHERS };
static const struct {
	uint32_t first, last;
	uint32_t sub, end; /* of the sub-leaves; 0: they do not matter */
	enum whose
	    whose; /* the C library asks no other processor: in a virtual machine each takes 4 us */
} leaves[] = {
    {0, 0, 0, 0, ANYBODYS},
    {2, 2, 0, 0, OTHERS},
    {4, 4, 0, 5, OTHERS},
    {7, 7, 1, 2, ANYBODYS},
    {XSTATE, XSTATE, 0, 10, ANYBODYS},
    {0x14, 0x14, 0, 1, ANYBODYS},
    {0x19, 0x19, 0, 0, ANYBODYS},
    {0x80000000, 0x80000008, 0, 0, ANYBODYS},
    {0x8000001d, 0x8000001d, 0, 5, AMDS},
};

static struct lz_cpuid_answers known;

/* A part of the state that the processor does not have: all of the answer is 0. */
static bool is_absent(uint32_t leaf, uint32_t sub)
{
	uint32_t user[4], all[4];

	if (leaf != XSTATE || sub < 2)
		return false;
	lz_cpuid_ask(XSTATE, 0, user);
	lz_cpuid_ask(XSTATE, 1, all);
	return !((user[0] | all[2]) >> sub & 1);
}

static void ask(uint32_t leaf, uint32_t sub, bool any)
{
	struct lz_cpuid_answer a = {
	    .leaf = leaf, .sub = sub, .kind = any ? LZ_CPUID_ANY_SUB : LZ_CPUID_THIS_SUB};

	if (!is_absent(leaf, sub))
		lz_cpuid_ask(leaf, sub, a.answer);
	lz_cpuid_answers_add(&known, &a);
}

/* The highest leaf of the kind that LEAF is of. */
static uint32_t highest(uint32_t leaf)
{
	uint32_t answer[4];

	lz_cpuid_ask(leaf & 0x80000000, 0, answer);
	return answer[0];
}

/* As the C library sees it. */
static bool is_amd(void)
{
	uint32_t vendor[4];

	lz_cpuid_ask(0, 0, vendor);
	return vendor[2] == signature_AMD_ecx;
}

char **lz_cpuid_collect(void)
{
	const enum whose no = is_amd() ? OTHERS : AMDS;

	known = (struct lz_cpuid_answers){0};
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		if (leaves[i].whose == no)
			continue;
		const uint32_t max = highest(leaves[i].first);

		for (uint32_t leaf = leaves[i].first; leaf <= leaves[i].last && leaf <= max; leaf++)
			for (uint32_t sub = leaves[i].sub; !sub || sub < leaves[i].end; sub++)
				ask(leaf, sub, !leaves[i].end);
	}
	return lz_cpuid_answers_text(&known);
}

bool lz_cpuid_known(struct user_regs_struct *r)
{
	return lz_cpuid_answer(&known, r);
}

/* Looks eax and ecx up, and goes to rdx with rbx at what is found, or 8 bytes behind that if
 * nothing is. Only what cpuid overwrites is changed. The flags are kept in rax meanwhile: no stack
 * is used, which replay would show. */
__asm__(".pushsection .rodata\n"
        "	.balign 32\n"
        "lz_cpuid_code:\n"
        "	mov	%eax, %ebx\n"
        "	lahf\n"
        "	seto	%al\n"
        "	shl	$32, %rax\n"
        "	or	%rbx, %rax\n"
        "	lea	lz_cpuid_code_end(%rip), %rbx\n"
        "1:	cmpl	$0, 28(%rbx)\n"
        "	je	4f\n"
        "	cmp	(%rbx), %eax\n"
        "	jne	2f\n"
        "	cmpl	$1, 28(%rbx)\n"
        "	je	3f\n"
        "	cmp	4(%rbx), %ecx\n"
        "	je	3f\n"
        "2:	add	$32, %rbx\n"
        "	jmp	1b\n"
        "3:	shr	$32, %rax\n"
        "	add	$0x7f, %al\n"
        "	sahf\n"
        "	mov	8(%rbx), %eax\n"
        "	mov	16(%rbx), %ecx\n"
        "	jmp	*%rdx\n"
        "4:	mov	%eax, %ebx\n"
        "	shr	$32, %rax\n"
        "	add	$0x7f, %al\n"
        "	sahf\n"
        "	mov	%ebx, %eax\n"
        "	lea	8(%rdx), %rdx\n"
        "	jmp	*%rdx\n"
        "	.balign 32\n"
        "lz_cpuid_code_end:\n"
        ".popsection\n");
extern const uint8_t lz_cpuid_code[], lz_cpuid_code_end[];

_Static_assert(sizeof(struct lz_cpuid_answer) == 32, "the code has that size");
_Static_assert(LZ_CPUID_ANY_SUB == 1 && LZ_CPUID_NO_MORE == 0, "the code has these");

static size_t code_len(void)
{
	return (size_t)((uintptr_t)lz_cpuid_code_end - (uintptr_t)lz_cpuid_code);
}

bool lz_cpuid_inside(const struct lz_tracer *t, uint64_t ip)
{
	return ip - (t->meta.stub_addr + LZ_STUB_CPUID) < code_len();
}

static int put_code(struct lz_tracer *t)
{
	const uint64_t at = t->meta.stub_addr + LZ_STUB_CPUID;

	if (lz_proc_write(&t->p, at, lz_cpuid_code, code_len()) < 0)
		return -1;
	return lz_proc_write(&t->p, at + code_len(), known.a, (known.n + 1) * sizeof(*known.a));
}

int lz_cpuid_sites(struct lz_tracer *t)
{
	const struct lz_places *places = &t->armed.at[LZ_ARMED_CPUID];

	if (t->cpuid_faults || t->opt->calls != LZ_CALLS_BUFFER || !places->n || !known.n)
		return 0;
	if (put_code(t) < 0)
		return -1;
	for (size_t i = 0; i < places->n; i++)
		if (lz_detour_make(t, places->at[i] - 1) < 0)
			return -1;
	return 0;
}
