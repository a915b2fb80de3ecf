/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where indirect jumps lead, in functions written here in assembler, as compilers write them and as they do not. */
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "replayer/program/jumps.h"

/* Code that nobody runs, and the tables it reads, which cannot change or can. */
/* clang-format off */
__asm__(
	".macro LABEL name\n"
	"\t.globl\t\\name\n"
	"\t\\name:\n"
	".endm\n"
	".macro FUNCTION name\n"
	"\t.text\n"
	"\tLABEL\t\\name\n"
	".endm\n"
	".macro END name\n"
	"\tLABEL\t\\name\\()_end\n"
	".endm\n"
	".macro CONSTANT\n"
	"\t.section .data.rel.ro.jumps, \"aw\"\n"
	"\t.balign\t8\n"
	".endm\n"
	".macro VARIABLE\n"
	"\t.data\n"
	"\t.balign\t8\n"
	".endm\n"
	"CONSTANT\n"
	"LABEL constants_begin\n"
	"VARIABLE\n"
	"LABEL variables_begin\n"
	/* switch at -O2: distances from the table, which is loaded far before */
	"FUNCTION switch_far\n"
	"\tlea\t9f(%rip), %rdi\n"
	"1:\tmovzbl\t(%rdx), %ecx\n"
	"\tcmp\t$2, %cl\n"
	"\tja\t2f\n"
	"\tmovslq\t(%rdi,%rcx,4), %rcx\n"
	"\tadd\t%rdi, %rcx\n"
	"LABEL far_jump\n"
	"\tjmp\t*%rcx\n"
	"\tnopw\t0(%rax,%rax)\n"
	"LABEL far_a\n"
	"\tinc\t%rdx\n"
	"\tjmp\t1b\n"
	"LABEL far_b\n"
	"\tdec\t%rdx\n"
	"\tjmp\t1b\n"
	"2:\tret\n"
	"END switch_far\n"
	"CONSTANT\n"
	"9:\t.long\tfar_b - 9b, far_a - 9b, far_b - 9b, 0x7fffffff\n"

	/* switch at -O0: the table is loaded twice, the distance extended in rax; a case that cannot be */
	"FUNCTION switch_near\n"
	"\tlea\t0(,%rax,4), %rdx\n"
	"\tlea\t9f(%rip), %rax\n"
	"\tmov\t(%rdx,%rax), %eax\n"
	"\tcltq\n"
	"\tlea\t9f(%rip), %rdx\n"
	"\tadd\t%rdx, %rax\n"
	"LABEL near_jump\n"
	"\tjmp\t*%rax\n"
	"LABEL near_a\n"
	"\tnop\n"
	"LABEL near_b\n"
	"\tret\n"
	"END switch_near\n"
	"CONSTANT\n"
	"9:\t.long\tnear_a - 9b, switch_near_end - 9b, near_b - 9b\n"

	/* computed goto: addresses in structs, with a hole, read in two places; the table begins in front of what is loaded */
	"FUNCTION computed\n"
	"\tlea\t9f+8(%rip), %rbx\n"
	"\tmov\t-8(%rbx,%rax,8), %rdx\n"
	"LABEL computed_jump\n"
	"\tjmp\t*%rdx\n"
	"LABEL computed_a\n"
	"\tcall\tswitch_near\n"
	"LABEL computed_jump2\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"LABEL computed_b\n"
	"\tnop\n"
	"LABEL computed_c\n"
	"\tret\n"
	"END computed\n"
	"CONSTANT\n"
	"\t.byte\t1\n"
	"9:\t.quad\tcomputed_a, 0\n"
	"\t.byte\t1\n"
	"\t.quad\tcomputed_c, computed_b\n"

	/* the same from a table that can be written to */
	"FUNCTION written\n"
	"\tlea\t9f(%rip), %rbx\n"
	"LABEL written_jump\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"LABEL written_a\n"
	"\tret\n"
	"END written\n"
	"VARIABLE\n"
	"9:\t.quad\twritten_a\n"

	/* from the table that the caller gives; another one is loaded behind the jump */
	"FUNCTION given\n"
	"LABEL given_jump\n"
	"\tjmp\t*(%rdi,%rax,8)\n"
	"LABEL given_a\n"
	"\tlea\t9f(%rip), %rdi\n"
	"\tjmp\tgiven_jump\n"
	"END given\n"
	"CONSTANT\n"
	"9:\t.quad\tgiven_a\n"

	/* control comes to the first jump only through the second one */
	"FUNCTION late\n"
	"\tlea\t9f(%rip), %rbx\n"
	"\tjmp\tlate_jump2\n"
	"LABEL late_jump\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"LABEL late_jump2\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"END late\n"
	"CONSTANT\n"
	"9:\t.quad\tlate_jump, late_jump2\n"

	/* another jump leads into an instruction: what that does is not known */
	"FUNCTION into\n"
	"\tlea\t9f(%rip), %rbx\n"
	"\tje\t1f + 1\n"
	"1:\tmov\t%rcx, %rax\n"
	"LABEL into_jump\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"END into\n"
	"CONSTANT\n"
	"9:\t.quad\tinto_jump\n"

	/* one of two ways comes with what a call returned */
	"FUNCTION called\n"
	"\tlea\t9f(%rip), %rax\n"
	"\ttest\t%rcx, %rcx\n"
	"\tje\tcalled_jump\n"
	"\tcall\tswitch_near\n"
	"LABEL called_jump\n"
	"\tjmp\t*(%rax,%rcx,8)\n"
	"LABEL called_a\n"
	"\tret\n"
	"END called\n"
	"CONSTANT\n"
	"9:\t.quad\tcalled_a\n"

	/* a target of the first jump lies between the second one and what it loads: there the table is the caller's */
	"FUNCTION entered\n"
	"\tlea\t9f(%rip), %rbx\n"
	"LABEL entered_jump\n"
	"\tjmp\t*(%rbx,%rax,8)\n"
	"\tlea\t9f(%rip), %rdx\n"
	"LABEL entered_jump2\n"
	"\tjmp\t*(%rdx,%rax,8)\n"
	"END entered\n"
	"CONSTANT\n"
	"9:\t.quad\tentered_jump2\n"

	/* two tables by two ways, copied on; one of the targets sets what the jump takes, and comes again */
	"FUNCTION merged\n"
	"\ttest\t%rcx, %rcx\n"
	"\tje\tmerged_c\n"
	"\tlea\t8f(%rip), %rdx\n"
	"\tmov\t(%rdx,%rax,8), %rsi\n"
	"\tjmp\t2f\n"
	"LABEL merged_c\n"
	"\tlea\t9f(%rip), %rdx\n"
	"\tmov\t(%rdx,%rax,8), %rsi\n"
	"2:\tmov\t%rsi, %rdi\n"
	"LABEL merged_jump\n"
	"\tjmp\t*%rdi\n"
	"LABEL merged_a\n"
	"\tlea\tmerged_c(%rip), %rdi\n"
	"\tjmp\tmerged_jump\n"
	"LABEL merged_b\n"
	"\tret\n"
	"END merged\n"
	"CONSTANT\n"
	"8:\t.quad\tmerged_a\n"
	"9:\t.quad\tmerged_b\n"
	"CONSTANT\n"
	"LABEL constants_end\n"
	"VARIABLE\n"
	"LABEL variables_end\n"
	".purgem LABEL\n"
	".text\n");
/* clang-format on */
extern uint8_t switch_far[], far_jump[], far_a[], far_b[], switch_near[], near_jump[], near_a[],
    near_b[], computed[], computed_jump[], computed_a[], computed_jump2[], computed_b[],
    computed_c[], written[], written_jump[], given[], given_jump[], late[], late_jump[],
    late_jump2[], into[], into_jump[], late_end[], into_end[], called[], called_jump[], entered[],
    entered_jump[], entered_jump2[], merged[], merged_c[], merged_jump[], merged_a[], merged_b[],
    switch_far_end[], switch_near_end[], computed_end[], written_end[], given_end[], called_end[],
    entered_end[], merged_end[], constants_begin[], constants_end[], variables_begin[],
    variables_end[];

/* What can change lies behind what cannot. */
static struct lz_jumps_data data[2];

static void find_data(void)
{
	data[0] = (struct lz_jumps_data){
	    {(uintptr_t)constants_begin, (uintptr_t)constants_end}, constants_begin, true};
	data[1] = (struct lz_jumps_data){
	    {(uintptr_t)variables_begin, (uintptr_t)variables_end}, variables_begin, false};
}

/* The targets of the jump at PC in [START, END), of which the first BYTES are another range. */
static size_t targets_of(const uint8_t *start, const uint8_t *end, size_t bytes, const uint8_t *pc,
                         uint64_t *targets)
{
	struct lz_part range[2] = {{(uintptr_t)start, (uintptr_t)start + bytes},
	                           {(uintptr_t)start + bytes, (uintptr_t)end}};
	uint8_t *copy[2] = {(uint8_t *)start, (uint8_t *)start + bytes};
	struct lz_jumps_code code = {.range = range + !bytes,
	                             .bytes = copy + !bytes,
	                             .n = bytes ? 2 : 1,
	                             .entry = (uintptr_t)start,
	                             .data = data,
	                             .n_data = 2};
	struct lz_jumps jumps;
	size_t n = SIZE_MAX;

	find_data();
	ck_assert_int_eq(lz_jumps_find(&code, &jumps), 0);
	for (size_t i = 0; i < jumps.n; i++)
		if (jumps.v[i].pc == (uintptr_t)pc) {
			n = jumps.v[i].n;
			for (size_t k = 0; k < n; k++)
				targets[k] = jumps.v[i].targets[k];
		}
	lz_jumps_free(&jumps);
	ck_assert_uint_ne(n, SIZE_MAX);
	return n;
}

/* Each of WANTED, in order of address, and nothing else. */
#define TARGETS(function, pc, ...)                                                                 \
	do {                                                                                       \
		uint8_t *wanted[] = {__VA_ARGS__};                                                 \
		uint64_t found[LZ_TARGETS_MAX];                                                    \
		ck_assert_uint_eq(targets_of(function, function##_end, 0, pc, found),              \
		                  sizeof(wanted) / sizeof(*wanted));                               \
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)                      \
			ck_assert_uint_eq(found[i], (uintptr_t)wanted[i]);                         \
	} while (0)

#define UNKNOWN(function, pc)                                                                      \
	do {                                                                                       \
		uint64_t found[LZ_TARGETS_MAX];                                                    \
		ck_assert_uint_eq(targets_of(function, function##_end, 0, pc, found), 0);          \
	} while (0)

START_TEST(distances)
{
	TARGETS(switch_far, far_jump, far_a, far_b);
	TARGETS(switch_near, near_jump, near_a, near_b);
}
END_TEST

START_TEST(addresses)
{
	TARGETS(computed, computed_jump, computed_a, computed_b, computed_c);
	TARGETS(computed, computed_jump2, computed_a, computed_b, computed_c);
}
END_TEST

START_TEST(unknown)
{
	UNKNOWN(written, written_jump);
	UNKNOWN(given, given_jump);
	UNKNOWN(called, called_jump);
	UNKNOWN(into, into_jump);
}
END_TEST

START_TEST(from_one_to_the_other)
{
	UNKNOWN(entered, entered_jump);
	UNKNOWN(entered, entered_jump2);
	TARGETS(late, late_jump, late_jump, late_jump2);
	TARGETS(late, late_jump2, late_jump, late_jump2);
	TARGETS(merged, merged_jump, merged_c, merged_a, merged_b);
}
END_TEST

/* Control comes back into the hot part from the cold one. */
START_TEST(ranges)
{
	uint64_t found[LZ_TARGETS_MAX];

	ck_assert_uint_eq(
	    targets_of(called, called_end, (size_t)(called_jump - called), called_jump, found), 0);
	ck_assert_uint_eq(
	    targets_of(switch_far, switch_far_end, (size_t)(far_a - switch_far), far_jump, found),
	    2);
}
END_TEST

START_TEST(no_code)
{
	static const uint8_t junk[] = {0x06, 0xff, 0xe0};
	struct lz_part range = {0x1000, 0x1000 + sizeof(junk)};
	uint8_t *bytes = (uint8_t *)junk;
	struct lz_jumps_code code = {
	    .range = &range, .bytes = &bytes, .n = 1, .entry = 0x1000, .data = data, .n_data = 2};
	struct lz_jumps jumps;

	ck_assert_int_eq(lz_jumps_find(&code, &jumps), 0);
	ck_assert_uint_eq(jumps.n, 0);
	lz_jumps_free(&jumps);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jumps");
	TCase *t = tcase_create("jumps");

	tcase_add_test(t, distances);
	tcase_add_test(t, addresses);
	tcase_add_test(t, unknown);
	tcase_add_test(t, from_one_to_the_other);
	tcase_add_test(t, ranges);
	tcase_add_test(t, no_code);
	suite_add_tcase(s, t);
	return run_suite(s);
}
