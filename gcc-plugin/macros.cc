/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The assembler macros that the asm statements use. */
#include "gcc.h"
#include "plugin.h"
#include "macros.h"

static void macro(const char *head, const char *body)
{
	fprintf(asm_out_file, "\t.macro %s\n%s\t.endm\n", head, body);
}

/* Bookkeeping: one row per label and per marker instruction. */
static void row_macros()
{
	fputs("\t.macro lz.row id, kind, code\n"
	      ".Llz.r\\@:\n"
	      "\tlz.piece\n"
	      "\t.quad .Llz.r\\@\n"
	      "\t.long \\id\n"
	      "\t.byte \\kind, \\code\n"
	      "\t.value 0\n"
	      "\t.popsection\n"
	      "\t.endm\n"
	      "\t.macro lz.label node\n"
	      "\tlz.row \\node, 1, 0\n"
	      "\t.endm\n",
	      asm_out_file);
}

/* Loading and storing __lizard_pos. */
static void pos_macros()
{
	if (flag_pic && !flag_pie) {
		macro("lz.store reg", "\tmovq __lizard_pos@gottpoff(%rip), \\reg\n"
		                      "\tmovq %r15, %fs:(\\reg)\n");
		macro("lz.load", "\tmovq __lizard_pos@gottpoff(%rip), %r15\n"
		                 "\tmovq %fs:(%r15), %r15\n");
	} else {
		macro("lz.store", "\tmovq %r15, %fs:__lizard_pos@tpoff\n");
		macro("lz.load", "\tmovq %fs:__lizard_pos@tpoff, %r15\n");
	}
}

/* Advancing; in checking mode r15 is compared with a count in TLS first. The
 * call must not touch the red zone. */
static void check_macros()
{
	if (!lz_options.check) {
		macro("lz.expect reg", "");
		macro("lz.advance size, reg", "\taddw $\\size, %r15w\n");
		return;
	}
	fputs("\t.pushsection lizard_check,\"aR\",@progbits\n\t.byte 1\n\t.popsection\n",
	      asm_out_file);
	macro("lz.expect reg", "\tmovq __lizard_expect@gottpoff(%rip), \\reg\n"
	                       "\tcmpq %r15, %fs:(\\reg)\n"
	                       "\tje .Llz.c\\@\n"
	                       "\tleaq -128(%rsp), %rsp\n"
	                       "\tcall __lizard_unexpected@PLT\n"
	                       "\tleaq 128(%rsp), %rsp\n"
	                       ".Llz.c\\@:\n");
	macro("lz.advance size, reg", "\taddw $\\size, %r15w\n"
	                              "\tmovq __lizard_expect@gottpoff(%rip), \\reg\n"
	                              "\taddw $\\size, %fs:(\\reg)\n");
}

/* The payload is stored before the code byte, its highest part first, so that
 * a fault at the guard page can only hit a marker's first store. */
static void marker_macros()
{
	macro("lz.edge id, reg", "\tlz.expect \\reg\n"
	                         "\tlz.row \\id, 2, \\id\n"
	                         "\tmovb $\\id, (%r15)\n"
	                         "\tlz.advance 1, \\reg\n");
	macro("lz.wide id, reg", "\tlz.expect \\reg\n"
	                         "\tmovw $\\id, 1(%r15)\n"
	                         "\tlz.row \\id, 2, 0xf0\n"
	                         "\tmovb $0xf0, (%r15)\n"
	                         "\tlz.advance 3, \\reg\n");
	macro("lz.wide32 id, reg", "\tlz.expect \\reg\n"
	                           "\tmovl $\\id, 1(%r15)\n"
	                           "\tlz.row \\id, 2, 0xf1\n"
	                           "\tmovb $0xf1, (%r15)\n"
	                           "\tlz.advance 5, \\reg\n");
	macro("lz.enter low, reg", "\tlz.expect \\reg\n"
	                           "\tlz.entry \\reg\n"
	                           "\tmovl \\low, 1(%r15)\n"
	                           "\tlz.row 0, 2, 0xf2\n"
	                           "\tmovb $0xf2, (%r15)\n"
	                           "\tlz.advance 5, \\reg\n");
	macro("lz.leave code, reg", "\tlz.expect \\reg\n"
	                            "\tlz.row 0, 2, \\code\n"
	                            "\tmovb $\\code, (%r15)\n"
	                            "\tlz.advance 1, \\reg\n");
	macro("lz.landing low, frame, reg", "\tlz.expect \\reg\n"
	                                    "\tmovl \\frame, 5(%r15)\n"
	                                    "\tlz.entry \\reg\n"
	                                    "\tmovl \\low, 1(%r15)\n"
	                                    "\tlz.row 0, 2, 0xf5\n"
	                                    "\tmovb $0xf5, (%r15)\n"
	                                    "\tlz.advance 9, \\reg\n");
}

static void unit_macros()
{
	row_macros();
	pos_macros();
	check_macros();
	marker_macros();
}

/* "o" ties the piece to the code's section, "G" to its COMDAT group. */
static void piece_macro(const struct lz_piece *piece)
{
	fprintf(asm_out_file, "\t.macro lz.piece\n\t.pushsection \"%s\",", piece->name);
	if (piece->group)
		fprintf(asm_out_file, "\"oG\",@progbits,%s,%s,comdat", piece->first, piece->group);
	else
		fprintf(asm_out_file, "\"o\",@progbits,%s", piece->first);
	fputs("\n\t.endm\n", asm_out_file);
}

void lz_begin_function_macros(tree fndecl, unsigned number)
{
	static bool begun;

	if (!begun)
		unit_macros();
	else
		fputs("\t.purgem lz.piece\n\t.purgem lz.entry\n", asm_out_file);
	begun = true;
	piece_macro(lz_piece_of(fndecl));
	/* a local twin of the function's symbol: needs no PLT, no GOT */
	fprintf(asm_out_file, "\t.set .Llz.f%u, %s\n", number, lz_asm_name(fndecl));
	fprintf(asm_out_file, "\t.macro lz.entry reg\n\tleaq .Llz.f%u(%%rip), \\reg\n\t.endm\n",
	        number);
}
