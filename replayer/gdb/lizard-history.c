/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "record function-call-history" and "record instruction-history".

   This program is free software; you can redistribute it and/or modify
   it under the terms of the GNU General Public License as published by
   the Free Software Foundation; either version 3 of the License, or
   (at your option) any later version.

   This program is distributed in the hope that it will be useful,
   but WITHOUT ANY WARRANTY; without even the implied warranty of
   MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
   GNU General Public License for more details.

   You should have received a copy of the GNU General Public License
   along with this program.  If not, see <http://www.gnu.org/licenses/>.  */


/* The numbers of calls are global times, as "record goto" takes them;
   those of instructions count from the present one.  */

#include "cli/cli-style.h"
#include "disasm.h"
#include "event-top.h"
#include "gdbthread.h"
#include "inferior.h"
#include "record.h"
#include "regcache.h"
#include "source.h"
#include "symtab.h"
#include "ui-out.h"

#include "lizard-target.h"

/* What the replay library gives, or throw its error.  */

struct lizard_calls
{
  ~lizard_calls ()
  { free (v); }

  struct lz_history_call *v = nullptr;
  size_t n = 0;
};

static void
get_calls (const std::function<int (lz_front *, lizard_calls &)> &get,
	   lizard_calls &calls)
{
  current_lizard_target ()->with_front ([&] (lz_front *front)
    {
      return get (front, calls);
    });
}

/* The name that GDB has for the function at ENTRY.  */

static void
print_function (ui_out *uiout, CORE_ADDR entry)
{
  symbol *sym = entry == 0 ? nullptr : find_pc_function (entry);
  bound_minimal_symbol msym;

  if (sym == nullptr && entry != 0)
    msym = lookup_minimal_symbol_by_pc (entry);
  const char *name = (sym != nullptr ? sym->print_name ()
		      : msym.minsym != nullptr ? msym.minsym->print_name ()
		      : "??");

  uiout->field_string ("function", name, function_name_style.style ());
}

static void
print_file (ui_out *uiout, CORE_ADDR entry)
{
  symbol *sym = entry == 0 ? nullptr : find_pc_function (entry);

  if (sym == nullptr)
    return;
  uiout->field_string ("file", symtab_to_filename_for_display (sym->symtab ()),
		       file_name_style.style ());
}

static void
print_call (ui_out *uiout, const lz_history_call &call,
	    record_print_flags flags)
{
  uiout->field_unsigned ("index", call.begin);
  uiout->text ("\t");
  if ((flags & RECORD_PRINT_INDENT_CALLS) != 0)
    uiout->text (std::string (2 * call.depth, ' ').c_str ());
  print_function (uiout, call.entry);
  if ((flags & RECORD_PRINT_INSN_RANGE) != 0)
    {
      uiout->text (_("\ttime "));
      uiout->field_unsigned ("insn begin", call.begin);
      uiout->text (",");
      uiout->field_unsigned ("insn end", call.end);
    }
  if ((flags & RECORD_PRINT_SRC_LINE) != 0)
    {
      uiout->text (_("\tat "));
      print_file (uiout, call.entry);
    }
  uiout->text ("\n");
}

static void
print_calls (const lizard_calls &calls, record_print_flags flags)
{
  ui_out *uiout = current_uiout;
  ui_out_emit_tuple tuple (uiout, "func history");

  for (size_t i = 0; i < calls.n; i++)
    print_call (uiout, calls.v[i], flags);
}

void
lizard_print_calls (int size, record_print_flags flags)
{
  lizard_calls calls;

  get_calls ([=] (lz_front *front, lizard_calls &to)
    {
      return lz_front_calls (front, size, &to.v, &to.n);
    }, calls);
  if (calls.n == 0)
    gdb_printf (size < 0 ? _("At the start of the recording.\n")
		: _("At the end of the recording.\n"));
  print_calls (calls, flags);
}

void
lizard_print_calls_from (ULONGEST time, int size, record_print_flags flags)
{
  lizard_calls calls;

  get_calls ([=] (lz_front *front, lizard_calls &to)
    {
      return lz_front_calls_from (front, time, size, &to.v, &to.n);
    }, calls);
  print_calls (calls, flags);
}

void
lizard_print_calls_between (ULONGEST from, ULONGEST to,
			    record_print_flags flags)
{
  lizard_calls calls;

  if (to < from)
    error (_("Bad range."));
  get_calls ([=] (lz_front *front, lizard_calls &result)
    {
      return lz_front_calls_between (front, from, to, &result.v, &result.n);
    }, calls);
  print_calls (calls, flags);
}

/* Instructions.  */

struct lizard_insns
{
  ~lizard_insns ()
  { free (addrs); }

  uint64_t *addrs = nullptr;
  size_t n = 0;
  int64_t first = 0;
};

static void
get_insns (const std::function<int (lz_front *, lizard_insns &)> &get,
	   lizard_insns &insns)
{
  current_lizard_target ()->with_front ([&] (lz_front *front)
    {
      return get (front, insns);
    });
}

static void
print_source (CORE_ADDR addr, symtab_and_line &last,
	      gdb_disassembly_flags flags)
{
  symtab_and_line sal = find_pc_line (addr, 0);
  print_source_lines_flags source_flags = 0;

  if (sal.symtab == nullptr
      || (sal.symtab == last.symtab && sal.line == last.line))
    return;
  if ((flags & DISASSEMBLY_FILENAME) != 0)
    source_flags |= PRINT_SOURCE_LINES_FILENAME;
  print_source_lines (sal.symtab, sal.line, sal.line + 1, source_flags);
  last = sal;
}

/* Only number 0 is the present one, however often control comes there.  */

static void
print_mark (int64_t number, gdb_disassembly_flags &flags)
{
  if ((flags & DISASSEMBLY_OMIT_PC) == 0)
    current_uiout->text (number == 0 ? "=> " : "   ");
  flags |= DISASSEMBLY_OMIT_PC;
}

/* The disassembler's callbacks cannot throw: GDB ends where Ctrl-C comes
   in one.  */

static void
quit_later ()
{
}

static void
print_insns (const lizard_insns &insns, gdb_disassembly_flags flags)
{
  ui_out *uiout = current_uiout;
  gdbarch *arch = get_thread_regcache (inferior_thread ())->arch ();
  symtab_and_line last;
  ui_out_emit_tuple tuple (uiout, "insn history");
  gdb_pretty_print_disassembler disassembler (arch, uiout);

  for (size_t i = 0; i < insns.n; i++)
    {
      int64_t number = insns.first + (int64_t) i;
      gdb_disassembly_flags how = flags;
      disasm_insn insn {};

      insn.addr = insns.addrs[i];
      if ((flags & DISASSEMBLY_SOURCE) != 0)
	print_source (insn.addr, last, flags);
      uiout->field_signed ("insn-number", number);
      uiout->text ("\t");
      print_mark (number, how);
      {
	scoped_restore restore
	  = make_scoped_restore (&quit_handler, quit_later);

	disassembler.pretty_print_insn (&insn, how);
      }
      QUIT;
    }
}

void
lizard_print_instructions (int size, gdb_disassembly_flags flags)
{
  lizard_insns insns;

  get_insns ([=] (lz_front *front, lizard_insns &to)
    {
      return lz_front_instructions (front, size, &to.addrs, &to.n, &to.first);
    }, insns);
  if (insns.n == 0)
    gdb_printf (size < 0 ? _("At the start of the recording.\n")
		: _("At the end of the recording.\n"));
  print_insns (insns, flags);
}

void
lizard_print_instructions_between (LONGEST from, LONGEST to,
				   gdb_disassembly_flags flags)
{
  lizard_insns insns;

  get_insns ([=] (lz_front *front, lizard_insns &result)
    {
      return lz_front_instructions_between (front, from, to, &result.addrs,
					    &result.n, &result.first);
    }, insns);
  print_insns (insns, flags);
}

void
lizard_print_instructions_from (LONGEST from, int size,
				gdb_disassembly_flags flags)
{
  if (size == 0)
    error (_("Bad range."));
  if (size < 0)
    lizard_print_instructions_between (from + size + 1, from, flags);
  else
    lizard_print_instructions_between (from, from + size - 1, flags);
}
