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
   "target lizard", in Python: a change here is one there.  In this file
   are fs, fn, bs, the jumps, and what all commands have in common.  */

#include "defs.h"
#include "arch-utils.h"
#include "block.h"
#include "breakpoint.h"
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

#include "lizard-cmds.h"
#include "lizard-target.h"

bool lizard_machine_interface;

void
lizard_say (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  std::string text = string_vprintf (format, args);
  va_end (args);
  gdb_puts (text.c_str ());
}

void
lizard_need_process ()
{
  if (current_inferior ()->pid == 0)
    error (_("The program is not being replayed."));
}

std::string
lizard_ask_recording (const char *command)
{
  if (current_inferior ()->process_target () == nullptr)
    error (_("No recording is open. "
	     "(\"monitor\" command not supported by this target.)"));
  return lizard_ask (command);
}

bool
lizard_is_instrumented ()
{
  return lizard_value_of (lizard_ask ("info"), "instrumented") == "1";
}

void
lizard_run_command (const std::string &command, int from_tty)
{
  {
    scoped_restore save_async = make_scoped_restore (&current_ui->async, 0);

    execute_command (command.c_str (), from_tty);
  }
  /* Those of a breakpoint that it stopped at.  */
  bpstat_do_actions ();
}

void
lizard_print_place ()
{
  select_frame (get_current_frame ());
  print_stack_frame (get_current_frame (), 0, SRC_AND_LOC, 1);
  do_displays ();
}

void
lizard_show_place ()
{
  if (!lizard_machine_interface)
    {
      lizard_print_place ();
      return;
    }

  std::string position = lizard_value_of (lizard_ask ("when"), "position");

  lizard_carry_out ("seek " + position);
}

/* Have GDB look what libraries there are.  */

static bool
read_libraries ()
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

/* A move unloads no library, so GDB need not say what it does about
   breakpoints in one that was not there yet.  */

bool
lizard_refresh_libraries ()
{
  null_file nowhere;
  bool news = false;

  execute_fn_to_ui_file (&nowhere, [&] { news = read_libraries (); });
  return news;
}

void
lizard_settle (bool shown)
{
  bool unknown = get_frame_function (get_current_frame ()) == nullptr
		 && lookup_minimal_symbol_by_pc
		      (get_frame_pc (get_current_frame ())).minsym == nullptr;
  std::string errors;
  std::string note;

  if (lizard_refresh_libraries () && unknown && shown)
    lizard_print_place ();

  note = lizard_ask ("note");
  while (!note.empty ())
    {
      size_t end = std::min (note.find ('\n'), note.size () - 1);
      std::string line = note.substr (0, end);

      note = note.substr (end + 1);
      if (startswith (line.c_str (), "error: "))
	errors += (errors.empty () ? "" : "\n") + line.substr (7);
      else
	lizard_say ("%s%s", line.c_str (), line.empty () ? "" : "\n");
    }
  if (!errors.empty ())
    error ("%s", errors.c_str ());
}

/* The move is armed first: what comes between would leave it to the next
   resume.  */

void
lizard_carry_out (const std::string &text)
{
  lizard_ask (text.c_str ());
  {
    lizard_forward forward;
    scoped_restore save_async = make_scoped_restore (&current_ui->async, 0);

    execute_command ("reverse-stepi", 0);
  }
  bpstat_do_actions ();
}

void
lizard_move_silently (const std::string &text)
{
  lizard_silence silence;

  lizard_carry_out (text);
}

void
lizard_travel (const std::string &text)
{
  lizard_need_process ();
  lizard_move_silently (text);
  lizard_settle (lizard_machine_interface);
  if (!lizard_machine_interface)
    lizard_print_place ();
}

LONGEST
lizard_count (const char *args)
{
  if (args == nullptr || *skip_spaces (args) == '\0')
    return 1;
  return parse_and_eval_long (args);
}

/* fs, fn, bs.  */

static void
fs_command (const char *args, int from_tty)
{
  lizard_run_command (std::string ("step ") + (args == nullptr ? "" : args),
	       from_tty);
}

static void
fn_command (const char *args, int from_tty)
{
  lizard_run_command (std::string ("next ") + (args == nullptr ? "" : args),
	       from_tty);
}

static void
bs_command (const char *args, int from_tty)
{
  LONGEST count = lizard_count (args);

  if (count <= 0)
    return;

  lizard_need_process ();
  if (lizard_is_instrumented ())
    {
      lizard_carry_out (string_printf ("back-step %s", plongest (count)));
      lizard_settle (true);
      return;
    }
  lizard_say (_("The program was not built with lizard-cc: "
		"this is GDB's reverse-step.\n"));
  lizard_run_command (string_printf ("reverse-step %s", plongest (count)),
		      from_tty);
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
  /* GDB would abort.  */
  if (spec->type () == PROBE_LOCATION_SPEC
      || (spec->type () == LINESPEC_LOCATION_SPEC
	  && as_linespec_location_spec (spec.get ())->spec_string == nullptr))
    error (_("There is no code at %s."), location);
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
  bool any = where == "-any" || startswith (where.c_str (), "-any ");

  if (any)
    where = skip_spaces (where.c_str () + strlen ("-any"));
  while (!where.empty () && isspace (where.back ()))
    where.pop_back ();
  if (where.empty ())
    error (_("jump_%s: where to?"), direction);
  if (where == "start" || where == "end" || is_percentage (where)
      || is_position (where))
    {
      lizard_travel ("seek " + where);
      return;
    }
  lizard_need_process ();
  if (any)
    text += " any";
  for (CORE_ADDR addr : addresses_of (where.c_str ()))
    text += string_printf (" %s", phex_nz (addr, sizeof addr));
  lizard_travel (text);
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

/* What a jump's argument may begin with: -any, an instant's name, a
   location.  */

static void
complete_jump (cmd_list_element *ignore, completion_tracker &tracker,
	       const char *text, const char *word)
{
  static const char *const options[] = { "-any", nullptr };
  static const char *const instants[] = { "start", "end", nullptr };

  if (startswith (text, "-any") && isspace (text[strlen ("-any")]))
    {
      const char *rest = skip_spaces (text + strlen ("-any"));

      tracker.advance_custom_word_point_by (rest - text);
      text = rest;
    }
  else
    complete_on_enum (tracker, options, text, text);
  complete_on_enum (tracker, instants, text, text);
  location_completer (ignore, tracker, text, word);
}

/* A location's words are not those between break characters, so GDB
   completes it where it looks for them.  */

static void
complete_jump_by_word_point (cmd_list_element *ignore,
			     completion_tracker &tracker,
			     const char *text, const char *word)
{
  tracker.set_use_custom_word_point (true);
  complete_jump (ignore, tracker, text, word);
}

static void
complete_as_jump (cmd_list_element *c)
{
  set_cmd_completer (c, complete_jump);
  set_cmd_completer_handle_brkchars (c, complete_jump_by_word_point);
}

/* The commands.  */

#define LOCATION_HELP "\n\
Other threads do not count, but for -any.\n\
LOCATION is as for \"break\" (a line, a function, *ADDRESS), or an instant:\n\
start, end, a percentage of the run such as 12.5%, or a position as\n\
\"when\" prints it."

static void
add_jumps ()
{
  cmd_list_element *c;

  c = add_cmd ("jump_forward", class_lizard, jump_forward_command, _("\
Go forward to the next instant at which control is at LOCATION.\n\
Usage: jump_forward [-any] LOCATION" LOCATION_HELP), &cmdlist);
  complete_as_jump (c);
  c = add_cmd ("jump_backward", class_lizard, jump_backward_command, _("\
Go backward to the last instant at which control was at LOCATION.\n\
Usage: jump_backward [-any] LOCATION" LOCATION_HELP), &cmdlist);
  complete_as_jump (c);
}

void _initialize_lizard_cmds ();
void
_initialize_lizard_cmds ()
{
  lizard_machine_interface = getenv ("LIZARD_GDB_MI") != nullptr;

  add_cmd ("lizard", class_lizard, _("\
Moving in recordings made by lizard-trace.\n\
See also \"help record\", \"info lizard\" and \"checkpoint\"."), &cmdlist);
  add_cmd ("fs", class_lizard, fs_command, _("\
Step forward, into functions: GDB's \"step\".\n\
Usage: fs [N]"), &cmdlist);
  add_cmd ("fn", class_lizard, fn_command, _("\
Step forward, over functions: GDB's \"next\".\n\
Usage: fn [N]"), &cmdlist);
  add_cmd ("bs", class_lizard, bs_command, _("\
Step backward, into functions: the exact reverse of \"step\".\n\
Usage: bs [N]\n\
Goes to the place from which \"step\" leads here: to the last line of a\n\
function that has just returned, to the last iteration of a loop, to the\n\
caller from a function's first line."), &cmdlist);
  add_jumps ();
}
