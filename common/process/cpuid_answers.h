/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cpuid answers in a recorded program, always the same: no event tells it. */
#ifndef LZ_COMMON_CPUID_ANSWERS_H
#define LZ_COMMON_CPUID_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

enum { LZ_CPUID_ANSWERS = 48 };
/* Code in the program reads it, tracer/code/cpuid_sites.c. */
struct lz_cpuid_answer {
	uint32_t leaf, sub, answer[4]; /* eax, ebx, ecx, edx */
	uint32_t unused;
	enum { LZ_CPUID_NO_MORE, LZ_CPUID_ANY_SUB, LZ_CPUID_THIS_SUB } kind;
};
struct lz_cpuid_answers {
	struct lz_cpuid_answer a[LZ_CPUID_ANSWERS + 1]; /* the last one is NO_MORE */
	unsigned n;
};

void lz_cpuid_answers_add(struct lz_cpuid_answers *s, const struct lz_cpuid_answer *a);
/* R is at a cpuid, which is done if the answer is known. */
bool lz_cpuid_answer(const struct lz_cpuid_answers *s, struct user_regs_struct *r);
/* As a recording tells them: a NULL-terminated list of texts, malloced; NULL: no memory. */
char **lz_cpuid_answers_text(const struct lz_cpuid_answers *s);
/* -1: TEXTS are no such list. */
int lz_cpuid_answers_parse(struct lz_cpuid_answers *s, char *const *texts);

#endif
