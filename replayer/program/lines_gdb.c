/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where versions of GDB differ in what they make of lines and inlined calls. */
#include "replayer/program/lines.h"

static unsigned gdb = 13;

void lz_lines_follow_gdb(unsigned major)
{
	gdb = major;
}

/* symtab.h: the type of symbol::m_line */
bool lz_gdb_keeps_far_lines(void)
{
	return gdb >= 14;
}

/* symtab.c: find_pc_sect_line() */
bool lz_gdb_joins_rows(void)
{
	return gdb >= 14;
}

/* dwarf2/read.c: dwarf2_record_block_ranges() */
bool lz_gdb_takes_both_extents(void)
{
	return gdb < 16;
}

/* dwarf2/read.c: dwarf2_record_block_entry_pc() */
bool lz_gdb_knows_entries(void)
{
	return gdb >= 16;
}

/* infrun.c: process_event_stop_test(), "when subroutines have multiple ranges" */
bool lz_gdb_keeps_entered(void)
{
	return gdb >= 16;
}

/* dwarf2/read.c: dwarf_fixup_empty_range() */
bool lz_gdb_widens_empty(void)
{
	return gdb >= 18;
}

/* dwarf2/line-program.c: dwarf_find_and_extend_inline_block_range() */
bool lz_gdb_extends_inlined(void)
{
	return gdb >= 18;
}

/* buildsym.c: make_blockvector() */
bool lz_gdb_sorts_blocks(void)
{
	return gdb >= 18;
}

/* dwarf2/line-program.c: handle_set_file() */
bool lz_gdb_ends_kept_file(void)
{
	return gdb >= 18;
}
