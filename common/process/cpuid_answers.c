/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/cpuid_answers.h>

#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lz_cpuid_answers_add(struct lz_cpuid_answers *s, const struct lz_cpuid_answer *a)
{
	if (s->n < LZ_CPUID_ANSWERS)
		s->a[s->n++] = *a;
}

bool lz_cpuid_answer(const struct lz_cpuid_answers *s, struct user_regs_struct *r)
{
	for (const struct lz_cpuid_answer *a = s->a; a->kind != LZ_CPUID_NO_MORE; a++) {
		if (a->leaf != (uint32_t)r->rax ||
		    (a->kind == LZ_CPUID_THIS_SUB && a->sub != (uint32_t)r->rcx))
			continue;
		r->rax = a->answer[0], r->rbx = a->answer[1];
		r->rcx = a->answer[2], r->rdx = a->answer[3];
		r->rip += LZ_CPUID_LEN;
		return true;
	}
	return false;
}

char **lz_cpuid_answers_text(const struct lz_cpuid_answers *s)
{
	char **texts = calloc(s->n + 1, sizeof(*texts));

	for (unsigned i = 0; texts && i < s->n; i++) {
		const struct lz_cpuid_answer *a = &s->a[i];
		char sub[12] = "*";

		if (a->kind == LZ_CPUID_THIS_SUB)
			snprintf(sub, sizeof(sub), "%x", a->sub);
		if (asprintf(&texts[i], "%x %s %x %x %x %x", a->leaf, sub, a->answer[0],
		             a->answer[1], a->answer[2], a->answer[3]) < 0) {
			texts[i] = NULL;
			break;
		}
	}
	return texts;
}

static bool parse(const char *text, struct lz_cpuid_answer *a)
{
	char sub[9];
	int end = 0;

	*a = (struct lz_cpuid_answer){.kind = LZ_CPUID_ANY_SUB};
	if (sscanf(text, "%8x %8s %8x %8x %8x %8x%n", &a->leaf, sub, &a->answer[0], &a->answer[1],
	           &a->answer[2], &a->answer[3], &end) != 6 ||
	    text[end])
		return false;
	if (strcmp(sub, "*") == 0)
		return true;
	a->kind = LZ_CPUID_THIS_SUB;
	return sscanf(sub, "%x%n", &a->sub, &end) == 1 && !sub[end];
}

int lz_cpuid_answers_parse(struct lz_cpuid_answers *s, char *const *texts)
{
	struct lz_cpuid_answer a;

	*s = (struct lz_cpuid_answers){0};
	for (; texts && *texts; texts++) {
		if (s->n == LZ_CPUID_ANSWERS || !parse(*texts, &a))
			return lz_fail("`%s` is no answer of cpuid: the recording is damaged or "
			               "forged",
			               *texts);
		lz_cpuid_answers_add(s, &a);
	}
	return 0;
}
