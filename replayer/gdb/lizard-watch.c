/* "target lizard": reverse_watchpoint.

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


#include "defs.h"
#include "block.h"
#include "breakpoint.h"
#include "completer.h"
#include "frame.h"
#include "gdbcmd.h"
#include "gdbthread.h"
#include "inferior.h"
#include "language.h"
#include "location.h"
#include "parser-defs.h"
#include "regcache.h"
#include "typeprint.h"
#include "value.h"

#include "lizard-cmds.h"
#include "lizard-target.h"

/* What ended a search, if it was not a change.  */
static const char start_of_activation[] = N_("start of the activation");
static const char start_of_recording[] = N_("start of the recording");
static const char interrupted[] = "interrupted";

struct search_result
{
  const char *met;
  std::string old_value, new_value;
};

/* No signal stops a run while such an object lives.  */

class signals_pass
{
public:
  signals_pass ()
  { lizard_ask ("signals pass"); }

  ~signals_pass ()
  {
    try
      {
	lizard_ask ("signals stop");
      }
    catch (const gdb_exception &)
      {
	/* The recording has been closed.  */
      }
  }

  DISABLE_COPY_AND_ASSIGN (signals_pass);
};

/* Expressions.  */

/* TEXT: the value as "output" shows it, or <the error>.  False if there
   is none.  */

static bool
evaluate (const std::string &expression, std::string *text)
{
  scoped_value_mark mark;

  try
    {
      value *val = parse_and_eval (expression.c_str ());

      if (value_lazy (val))
	value_fetch_lazy (val);
    }
  catch (const gdb_exception_error &ex)
    {
      *text = string_printf ("<%s>", ex.what ());
      return false;
    }
  execute_command_to_string (*text, ("output " + expression).c_str (), 0,
			     false);
  return true;
}

/* For values that are only looked at.  */

static std::string
value_text (const std::string &expression)
{
  std::string text;

  evaluate (expression, &text);
  return text;
}

static bool
is_known (const std::string &text)
{
  /* It, or what leads to it.  */
  return (text.find ("<optimized out>") == std::string::npos
	  && text != "<value has been optimized out>");
}

static bool
is_unreadable (const std::string &text)
{
  return startswith (text.c_str (), "<Cannot access memory at address ");
}

/* To watchpoints, what cannot be read is one value, wherever it would
   be.  */

static bool
is_same (const std::string &a, const std::string &b)
{
  return a == b || (is_unreadable (a) && is_unreadable (b));
}

/* As frame ID sees it, though control is in a function that it
   called.  */

static std::string
value_text_in (const frame_id &id, const std::string &expression)
{
  frame_info_ptr frame = frame_find_by_id (id);

  select_frame (frame != nullptr ? frame : get_current_frame ());

  std::string text = value_text (expression);

  select_frame (get_current_frame ());
  return text;
}

/* The memory that EXPRESSION refers to now, as an expression without
   variables.  */

static std::string
place_of (const std::string &expression)
{
  value *val = parse_and_eval (expression.c_str ());
  value *addr;
  string_file type;

  try
    {
      addr = value_addr (val);
    }
  catch (const gdb_exception_error &)
    {
      error (_("%s is not in memory."), expression.c_str ());
    }
  current_language->print_type (value_type (val), "", &type, -1, 0,
				&type_print_raw_options);
  return string_printf ("*(%s *) %s", type.c_str (),
			hex_string (value_as_address (addr)));
}

/* Would evaluating it change the program?  C's operators that do; text
   between quotes does not count.  */

static bool
assigns (const std::string &expression)
{
  char quote = 0, before = ' ', last = ' ';

  for (size_t i = 0; i < expression.size (); i++)
    {
      char c = expression[i];
      char next = i + 1 < expression.size () ? expression[i + 1] : ' ';

      if (quote != 0)
	{
	  if (c == '\\')
	    i++;
	  else if (c == quote)
	    quote = 0;
	  continue;
	}
      if (c == '\'' || c == '"')
	quote = c;
      if ((c == '+' || c == '-') && next == c)
	return true;
      bool compares = (strchr ("=!", last) != nullptr
		       || (strchr ("<>", last) != nullptr && before != last));
      if (c == '=' && next != '=' && !compares)
	return true;
      before = last;
      last = c;
    }
  return false;
}

/* Does a name in it mean a local variable of the selected frame?  */

static bool
uses_locals (const std::string &expression)
{
  innermost_block_tracker tracker;

  try
    {
      parse_expression (expression.c_str (), &tracker);
    }
  catch (const gdb_exception_error &)
    {
      return false;
    }
  return tracker.block () != nullptr;
}

/* Activations.  */

/* The first instruction of FRAME's function, or 0.  */

static CORE_ADDR
entry_of (frame_info_ptr frame)
{
  const block *b = get_frame_block (frame, nullptr);

  while (b != nullptr && b->function () == nullptr)
    b = b->superblock ();
  return b == nullptr ? 0 : b->entry_pc ();
}

/* Set POINT at the entry of FRAME's activation, if that can be said: the
   return address is on the stack there and nothing else.  */

static void
set_at_activation_start (lizard_point *point, frame_info_ptr frame)
{
  while (frame != nullptr && get_frame_type (frame) == INLINE_FRAME)
    frame = get_prev_frame (frame);
  if (frame == nullptr)
    return;

  CORE_ADDR entry = entry_of (frame);
  /* Of main as well, which "backtrace" shows no caller of.  */
  frame_info_ptr older = get_prev_frame_always (frame);

  if (entry == 0 || older == nullptr)
    return;

  CORE_ADDR cfa = get_frame_sp (older);
  std::string condition = string_printf ("(unsigned long)$rsp == %sUL",
					 pulongest (cfa - 8));
  location_spec_up spec = new_address_location_spec (entry, nullptr, 0);

  point->set_break (spec.get (), condition.c_str ());
}

/* Select the frame of ACTIVATION, if control is in it or at the
   beginning of what is inlined there.  */

static bool
select_activation (const frame_id &activation)
{
  frame_info_ptr frame = get_current_frame ();

  while (frame != nullptr && get_frame_type (frame) == INLINE_FRAME
	 && get_frame_id (frame) != activation)
    frame = get_prev_frame (frame);
  if (frame == nullptr || get_frame_id (frame) != activation)
    return false;
  select_frame (frame);
  return true;
}

/* Searching.  */

/* Run backward to the last change.  Returns the end that was met, or
   null.  */

static const char *
search_change (const lizard_point &watch, const lizard_point &start)
{
  while (true)
    {
      std::string before = lizard_ask ("when");

      {
	lizard_silence silence;

	lizard_run_command ("reverse-continue");
      }
      if (start.stopped () || watch.get () == nullptr)
	return start_of_activation;
      if (watch.stopped ())
	return nullptr;

      std::string now = lizard_ask ("when");
      gdb_signal sig = inferior_thread ()->stop_signal ();

      if (lizard_value_of (now, "start") == "1")
	return start_of_recording;
      if (now == before
	  || (sig != GDB_SIGNAL_0 && sig != GDB_SIGNAL_TRAP))
	return interrupted;
    }
}

struct instant
{
  std::string position;
  ULONGEST marker;
  bool at_start;
};

static instant
now ()
{
  std::string when = lizard_ask ("when");

  return { lizard_value_of (when, "position"),
	   strtoulst (lizard_value_of (when, "marker").c_str (), nullptr, 10),
	   lizard_value_of (when, "start") == "1" };
}

/* A move.  False if Ctrl-C ended it.  */

static bool
go (const std::string &move)
{
  lizard_move (move.c_str ());
  return !current_lizard_target ()->is_interrupted ();
}

/* Forward from here to LATER, and back to the last instruction on the
   way that changes the value.  */

static search_result
find_instruction (const std::string &expression, const frame_id &activation,
		  const instant &later, const std::string &old_value,
		  const std::string &new_value)
{
  instant here = now ();
  instant change = here;
  search_result found { nullptr, old_value, old_value };

  /* A nexti may pass LATER: where a signal's handler does not return.  */
  while (here.position != later.position && here.marker <= later.marker)
    {
      lizard_silence silence;
      instant before = here;

      lizard_run_command ("nexti");
      here = now ();
      if (inferior_thread ()->stop_signal () == GDB_SIGNAL_INT
	  || here.position == before.position)
	return { interrupted, new_value, new_value };

      std::string value = new_value;

      if (here.position != later.position)
	{
	  if (!select_activation (activation))
	    continue;
	  value = value_text (expression);
	}
      if (!is_known (value) || is_same (value, found.new_value))
	continue;
      found = { nullptr, found.new_value, value };
      change = before;
    }

  if (!go ("seek " + change.position))
    return { interrupted, new_value, new_value };
  return found;
}

/* For a variable in registers: the last line of this activation that
   changed it, then the instruction.  A watchpoint would single-step,
   through all that is called as well.  */

static search_result
search_in_frame (const std::string &expression)
{
  frame_id activation = get_frame_id (get_current_frame ());
  CORE_ADDR entry = entry_of (get_current_frame ());
  std::string new_value = value_text (expression);
  instant here = now ();
  instant later = here;

  while (true)
    {
      instant before = here;

      if (get_frame_pc (get_current_frame ()) == entry)
	return { start_of_activation, new_value, new_value };
      if (!go ("back-next"))
	return { interrupted, new_value, new_value };
      here = now ();
      if (here.at_start)
	return { start_of_recording, new_value, new_value };
      if (here.position == before.position)
	return { interrupted, new_value, new_value };
      if (!select_activation (activation))
	return { start_of_activation, new_value, new_value };

      std::string old_value = value_text (expression);

      if (!is_known (old_value))
	continue;
      if (is_known (new_value) && !is_same (old_value, new_value))
	return find_instruction (expression, activation, later, old_value,
				 new_value);
      new_value = old_value;
      later = here;
    }
}

static search_result
search (const std::string &expression, const std::string &new_value)
{
  frame_info_ptr frame = get_selected_frame (nullptr);
  frame_id id = get_frame_id (frame);
  bool local = uses_locals (expression);
  lizard_point watch, start;

  watch.set_watch (expression);
  /* That may have emptied the frame cache.  */
  frame = frame_find_by_id (id);

  bool in_memory = watch.get ()->type != bp_watchpoint;

  if (!in_memory && local && frame_relative_level (frame) == 0
      && lizard_is_instrumented ())
    {
      watch.remove ();
      return search_in_frame (expression);
    }
  if (local)
    set_at_activation_start (&start, frame);
  if (!in_memory)
    lizard_say (_("%s is not in memory: this goes by single steps.\n"),
		expression.c_str ());

  const char *met = search_change (watch, start);

  return { met, value_text_in (id, expression), new_value };
}

static void
report (const std::string &expression, const search_result &found)
{
  const char *what = expression.c_str ();

  lizard_refresh_libraries ();
  if (found.met == interrupted)
    lizard_say (_("Interrupted before a change of %s was found.\n"), what);
  else if (found.met != nullptr)
    lizard_say (_("%s did not change since the %s.\n"), what,
		_(found.met));
  else
    lizard_say (_("%s\n\nOld value = %s\nNew value = %s\n"), what,
		found.old_value.c_str (), found.new_value.c_str ());
  lizard_show_place ();
}

/* The command.  */

/* What stands behind "-l" or "-location" in TEXT, or empty.  */

static std::string
location_argument (const std::string &text)
{
  const char *rest = text.c_str ();

  for (const char *option : { "-location", "-l" })
    if (startswith (rest, option) && isspace (rest[strlen (option)]))
      return skip_spaces (rest + strlen (option));
  return "";
}

static void
reverse_watchpoint_command (const char *args, int from_tty)
{
  std::string expression (args == nullptr ? "" : skip_spaces (args));
  std::string value;

  while (!expression.empty () && isspace (expression.back ()))
    expression.pop_back ();
  if (expression.empty ())
    error (_("reverse_watchpoint: which expression?"));
  if (assigns (expression))
    error (_("reverse_watchpoint: \"%s\" changes what it is to watch; "
	     "\"==\" compares."), expression.c_str ());
  lizard_need_process ();

  std::string location = location_argument (expression);

  if (!location.empty ())
    expression = place_of (location);

  frame_info_ptr frame = get_selected_frame (nullptr);

  if (uses_locals (expression) && get_frame_pc (frame) == entry_of (frame))
    error (_("%s: this is the start of the activation."),
	   expression.c_str ());

  bool readable = evaluate (expression, &value);

  if (!is_known (value))
    error (_("%s is optimized out here."), expression.c_str ());
  if (!readable && !is_unreadable (value))
    error ("%s: %s", expression.c_str (),
	   value.substr (1, value.size () - 2).c_str ());

  search_result found;
  {
    lizard_quiet quiet;
    lizard_forward forward;
    signals_pass pass;

    try
      {
	found = search (expression, value);
      }
    catch (const gdb_exception_quit &)
      {
	/* Ctrl-C while nothing ran.  */
	found.met = interrupted;
      }
  }
  report (expression, found);
}

void _initialize_lizard_watch ();
void
_initialize_lizard_watch ()
{
  cmd_list_element *c
    = add_cmd ("reverse_watchpoint", class_lizard,
	       reverse_watchpoint_command, _("\
Go backward to the last instant at which the value of EXPRESSION changed.\n\
Usage: reverse_watchpoint [-l|-location] EXPRESSION\n\
With -l, as for \"watch\": the memory that EXPRESSION refers to now, whatever\n\
becomes of the variables in it.\n\
Stops right before the instruction (or system call) that changed it, and\n\
shows the values before and after.  Further uses go to earlier changes.\n\
Breakpoints do not count."), &cmdlist);

  set_cmd_completer (c, expression_completer);
}
