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
