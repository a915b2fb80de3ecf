/* Commands of their own for recordings made by lizard-trace.

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


/* They show the same as those that Lizard gives to a GDB without
   "target lizard", in Python; the rest of them are still there.  */

#include "defs.h"
#include "arch-utils.h"
#include "block.h"
#include "command.h"
#include "completer.h"
#include "frame.h"
#include "gdbcmd.h"
#include "inferior.h"
#include "linespec.h"
#include "location.h"
#include "progspace.h"
#include "solib.h"
#include "solist.h"
#include "source.h"
#include "stack.h"
#include "symfile.h"
#include "symtab.h"
#include "top.h"
#include "value.h"

#include <set>

#include "lizard-target.h"

/* A help class behind GDB's own.  */

static const command_class class_lizard
  = (command_class) (no_set_class + 1);

/* Is this GDB driven by a machine interface?  It wants stops of its own
   kind.  */
static bool machine_interface;

static void
need_process ()
{
  if (current_inferior ()->pid == 0)
    error (_("The program is not being replayed."));
}

/* COMMAND, and all that follows from it.  */

static void
run_command (const std::string &command, int from_tty)
{
  scoped_restore save_async = make_scoped_restore (&current_ui->async, 0);

  execute_command (command.c_str (), from_tty);
}

/* Where control is, without the frame's number.  */

static void
print_place ()
{
  print_stack_frame (get_current_frame (), 0, SRC_AND_LOC, 1);
}

/* A move may pass an instant at which the program loaded a library.
   True if GDB had not read the symbols of one.  */

static bool
refresh_libraries ()
{
  bool unread = false;

  update_solib_list (0);
  for (so_list *so : current_program_space->solibs ())
    unread |= so->so_name[0] != '\0' && so->addr_high != 0
	      && !so->symbols_loaded;
  if (!unread || !auto_solib_add)
    return false;
  solib_add (nullptr, 0, 1);
  return true;
}

/* After a move: what there is to say about it.  SHOWN: GDB has shown
   the new place itself.  */

static void
settle (bool shown)
{
  bool unknown = get_frame_function (get_current_frame ()) == nullptr
		 && lookup_minimal_symbol_by_pc
		      (get_frame_pc (get_current_frame ())).minsym == nullptr;
  std::string errors;
  std::string note;

  if (refresh_libraries () && unknown && shown)
    print_place ();

  note = lizard_ask ("note");
  while (!note.empty ())
    {
      size_t end = std::min (note.find ('\n'), note.size () - 1);
      std::string line = note.substr (0, end);

      note = note.substr (end + 1);
      if (startswith (line.c_str (), "error: "))
	errors += (errors.empty () ? "" : "\n") + line.substr (7);
      else if (line != "history")
	gdb_printf ("%s%s", line.c_str (), line.empty () ? "" : "\n");
      else if (!shown)
	gdb_puts (_("\nNo more reverse-execution history.\n"));
    }
  if (!errors.empty ())
    error ("%s", errors.c_str ());
}

/* A short move, whose end is shown as after "step".  */

static void
short_move (const std::string &text)
{
  need_process ();
  lizard_ask (text.c_str ());
  run_command ("reverse-stepi", 0);
  settle (true);
}

/* A move to anywhere, whose end is shown with its function.  */

static void
travel (const std::string &text)
{
  need_process ();
  lizard_ask (text.c_str ());
  {
    auto stop = make_scoped_restore (&cli_suppress_notification.normal_stop,
				     1);
    auto context
      = make_scoped_restore (&cli_suppress_notification.user_selected_context,
			     1);

    run_command ("reverse-stepi", 0);
  }
  settle (machine_interface);
  if (!machine_interface)
    print_place ();
}

/* fs, fn, bs.  */

static void
fs_command (const char *args, int from_tty)
{
  run_command (std::string ("step ") + (args == nullptr ? "" : args),
	       from_tty);
}

static void
fn_command (const char *args, int from_tty)
{
  run_command (std::string ("next ") + (args == nullptr ? "" : args),
	       from_tty);
}

static void
bs_command (const char *args, int from_tty)
{
  LONGEST count = 1;

  if (args != nullptr && *skip_spaces (args) != '\0')
    count = parse_and_eval_long (args);
  if (count <= 0)
    return;

  need_process ();
  if (lizard_value_of (lizard_ask ("info"), "instrumented") == "1")
    {
      short_move (string_printf ("back-step %s", plongest (count)));
      return;
    }
  gdb_printf (_("The program was not built with lizard-cc: "
		"this is GDB's reverse-step.\n"));
  run_command (string_printf ("reverse-step %s", plongest (count)), from_tty);
}

/* jump_forward and jump_backward.  */

static bool
only (const std::string &text, const char *of)
{
  return !text.empty () && text.find_first_not_of (of) == std::string::npos;
}

/* Is it a percentage of the run?  */

static bool
is_percentage (const std::string &text)
{
  return text.back () == '%' && isdigit (text[0])
	 && only (text.substr (0, text.size () - 1), "0123456789.")
	 && text.find ('.') == text.rfind ('.');
}

/* Is it a position, as "when" prints it: THREAD:MARKER.EVENT@ADDRESS#N?  */

static bool
is_position (const std::string &text)
{
  static const char separators[] = ":.@#";
  static const char digits[] = "0123456789,";
  size_t start = 0;

  for (const char *s = separators; *s != '\0'; s++)
    {
      size_t end = text.find (*s, start);

      if (end == std::string::npos || !isxdigit (text[start])
	  || !only (text.substr (start, end - start),
		    *s == '#' ? "0123456789abcdefABCDEFx" : digits))
	return false;
      start = end + 1;
    }
  return only (text.substr (start), "0123456789");
}

/* Where GDB would put breakpoints for LOCATION.  */

static std::set<CORE_ADDR>
addresses_of (const char *location)
{
  std::set<CORE_ADDR> found;
  linespec_result canonical;
  const char *rest = location;
  symtab_and_line here = get_current_source_symtab_and_line ();
  bool displayed = (last_displayed_sal_is_valid ()
		    && (here.symtab == nullptr
			|| strchr ("+-", location[0]) != nullptr));

  if (location[0] == '*')
    return { parse_and_eval_address (location + 1) };

  location_spec_up spec = string_to_location_spec (&rest, current_language);

  if (*rest != '\0')
    error (_("Junk at end of arguments."));
  decode_line_full (spec.get (), DECODE_LINE_FUNFIRSTLINE, nullptr,
		    displayed ? get_last_displayed_symtab () : here.symtab,
		    displayed ? get_last_displayed_line () : here.line,
		    &canonical, nullptr, nullptr);
  for (linespec_sals &sals : canonical.lsals)
    for (symtab_and_line &sal : sals.sals)
      {
	resolve_sal_pc (&sal);
	found.insert (sal.pc);
      }
  if (found.empty ())
    error (_("There is no code at %s."), location);
  return found;
}

static void
jump_to (const char *direction, const char *args)
{
  std::string where (args == nullptr ? "" : skip_spaces (args));
  std::string text = string_printf ("jump %s", direction);
  bool any = startswith (where.c_str (), "-any ");

  if (any)
    where = skip_spaces (where.c_str () + strlen ("-any "));
  while (!where.empty () && isspace (where.back ()))
    where.pop_back ();
  if (where.empty ())
    error (_("jump_%s: where to?"), direction);
  if (where == "start" || where == "end" || is_percentage (where)
      || is_position (where))
    {
      travel ("seek " + where);
      return;
    }
  need_process ();
  if (any)
    text += " any";
  for (CORE_ADDR addr : addresses_of (where.c_str ()))
    text += string_printf (" %s", phex_nz (addr, sizeof addr));
  travel (text);
}

static void
jump_forward_command (const char *args, int from_tty)
{
  jump_to ("forward", args);
}

static void
jump_backward_command (const char *args, int from_tty)
{
  jump_to ("backward", args);
}

/* when.  */

static std::string
with_commas (const std::string &number)
{
  std::string text;

  for (size_t i = 0; i < number.size (); i++)
    {
      if (i != 0 && (number.size () - i) % 3 == 0)
	text += ',';
      text += number[i];
    }
  return text;
}

static double
percent (const std::string &part, const std::string &whole)
{
  return 100.0 * strtod (part.c_str (), nullptr)
	 / std::max (1.0, strtod (whole.c_str (), nullptr));
}

static void
when_command (const char *args, int from_tty)
{
  if (current_inferior ()->process_target () == nullptr)
    error (_("No recording is open. "
	     "(\"monitor\" command not supported by this target.)"));

  std::string text = lizard_ask ("when");
  auto field = [&] (const char *key) { return lizard_value_of (text, key); };
  bool timed = field ("total") != "0";

  gdb_printf (_("event %s of %s, time %s of %s (%.2f%%)\nposition %s\n"),
	      with_commas (field ("event")).c_str (),
	      with_commas (field ("events")).c_str (),
	      with_commas (field ("time")).c_str (),
	      with_commas (field ("total")).c_str (),
	      timed ? percent (field ("time"), field ("total"))
	      : percent (field ("event"), field ("events")),
	      field ("position").c_str ());
  if (field ("threads") != "1")
    gdb_printf (_("thread %s \"%s\", one of %s\n"), field ("tid").c_str (),
		field ("name").c_str (), field ("threads").c_str ());
}

#define LOCATION_HELP "\n\
Other threads do not count, but for -any.\n\
LOCATION is as for `break' (a line, a function, *ADDRESS), or an instant:\n\
start, end, a percentage of the run such as 12.5%, or a position as\n\
`when' prints it."

static void
add_jumps ()
{
  cmd_list_element *c;

  c = add_cmd ("jump_forward", class_lizard, jump_forward_command, _("\
Go forward to the next instant at which control is at LOCATION.\n\
Usage: jump_forward [-any] LOCATION" LOCATION_HELP), &cmdlist);
  set_cmd_completer (c, location_completer);
  c = add_cmd ("jump_backward", class_lizard, jump_backward_command, _("\
Go backward to the last instant at which control was at LOCATION.\n\
Usage: jump_backward [-any] LOCATION" LOCATION_HELP), &cmdlist);
  set_cmd_completer (c, location_completer);
}

void _initialize_lizard_cmds ();
void
_initialize_lizard_cmds ()
{
  machine_interface = getenv ("LIZARD_GDB_MI") != nullptr;

  add_cmd ("lizard", class_lizard, _("Moving in recordings made by \
lizard-trace.\n\
See also `prev' and `reverse_watchpoint', which lizard-gdb adds, and `help record'."),
	   &cmdlist);
  add_cmd ("fs", class_lizard, fs_command, _("\
Step forward, into functions: GDB's `step'.\n\
Usage: fs [N]"), &cmdlist);
  add_cmd ("fn", class_lizard, fn_command, _("\
Step forward, over functions: GDB's `next'.\n\
Usage: fn [N]"), &cmdlist);
  add_cmd ("bs", class_lizard, bs_command, _("\
Step backward, into functions: the exact reverse of `step'.\n\
Usage: bs [N]\n\
Goes to the place from which `step' leads here: to the last line of a\n\
function that has just returned, to the last iteration of a loop, to the\n\
caller from a function's first line."), &cmdlist);
  add_jumps ();
  add_cmd ("when", class_lizard, when_command, _("\
Show the present instant: event, global time, position and thread.\n\
Usage: when\n\
The time is also shown as a percentage of the run.  The position can be given to jump_forward and jump_backward."), &cmdlist);
}
