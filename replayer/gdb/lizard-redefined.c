/* "target lizard": commands of GDB's that mean something else on a
   recording.

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


/* A recorded program cannot be run anew, jump or return early, and what
   "checkpoint" remembers is a position.  For other programs these
   commands are GDB's, but where lizard-gdb started it.  */

#include "defs.h"
#include "breakpoint.h"
#include "cli/cli-decode.h"
#include "frame.h"
#include "gdbcmd.h"
#include "inferior.h"
#include "linespec.h"
#include "location.h"
#include "observable.h"
#include "symtab.h"
#include "value.h"

#include <map>

#include "lizard-cmds.h"
#include "lizard-target.h"

/* run, start, starti.  */

static void
refuse_arguments (const char *args)
{
  if (args != nullptr && *skip_spaces (args) != '\0')
    error (_("The program's arguments are the recorded ones."));
}

static void
to_start ()
{
  lizard_ask_recording ("seek start");
  lizard_move_silently ("seek start");
  lizard_settle (false);
}

/* From the start to main; stay at the start of a program that has
   none.  */

static void
to_main ()
{
  lizard_point point;

  try
    {
      const char *name = "main";
      location_spec_up spec
	= string_to_location_spec (&name, current_language);

      point.set_break (spec.get ());
    }
  catch (const gdb_exception_error &)
    {
      lizard_show_place ();
      return;
    }

  {
    lizard_quiet quiet;
    lizard_forward forward;

    lizard_run_command ("continue");
  }
  point.remove ();
  lizard_show_place ();
}

static void
run (const char *args, int from_tty)
{
  dont_repeat ();
  refuse_arguments (args);
  to_start ();
  lizard_run_command ("continue", from_tty);
}

static void
start (const char *args, int from_tty)
{
  dont_repeat ();
  refuse_arguments (args);
  to_start ();
  to_main ();
}

static void
starti (const char *args, int from_tty)
{
  dont_repeat ();
  refuse_arguments (args);
  lizard_travel ("seek start");
}

/* jump, return, signal, queue-signal.  */

static void
jump (const char *args, int from_tty)
{
  error (_("A recorded run cannot be made to go another way. \
jump_forward and jump_backward go to an instant at which control was there."));
}

static void
return_early (const char *args, int from_tty)
{
  error (_("A recorded run cannot be made to return early. \
\"finish\" goes to where the function returned, \"up\" shows the caller."));
}

static void
send_signal (const char *args, int from_tty)
{
  dont_repeat ();
  error (_("A recorded run gets the signals that it got when it was recorded, \
and no others. \"continue\" goes on with those."));
}

/* "signal 0" goes on like "continue".  */

static void
go_on_with (const char *args, int from_tty)
{
  if (args == nullptr || strcmp (args, "0") != 0)
    send_signal (args, from_tty);
  execute_command ("continue", from_tty);
}

/* Is the selected frame one of a function that GDB has called?  That
   runs in a copy of the process, which may go another way.  */

static bool
in_called_function ()
{
  if (!has_stack_frames ())
    return false;
  for (frame_info_ptr frame = get_selected_frame (nullptr); frame != nullptr;
       frame = get_prev_frame (frame))
    if (get_frame_type (frame) == DUMMY_FRAME)
      return true;
  return false;
}

/* checkpoint and its kin.  */

struct remembered
{
  std::string position, text;
};

static std::map<int, remembered> checkpoints;
static int last_checkpoint;

/* Where control is, without a source line.  */

static std::string
place_text ()
{
  std::string text;

  execute_command_to_string (text,
			     "with print frame-info location -- frame 0", 0,
			     false);
  if (startswith (text, "#0 "))
    text = skip_spaces (text.c_str () + strlen ("#0 "));
  return text.substr (0, text.find ('\n'));
}

static void
checkpoint (const char *args, int from_tty)
{
  lizard_need_process ();

  std::string position = lizard_value_of (lizard_ask ("when"), "position");
  std::string text = place_text ();

  checkpoints[++last_checkpoint] = { position, text };
  lizard_say (_("Checkpoint %d: %s.\n"), last_checkpoint, text.c_str ());
}

/* The checkpoint whose number is in ARGS.  */

static std::map<int, remembered>::iterator
find_checkpoint (const char *args)
{
  auto found = checkpoints.end ();

  try
    {
      if (args != nullptr)
	found = checkpoints.find (parse_and_eval_long (args));
    }
  catch (const gdb_exception_error &)
    {
    }
  if (found == checkpoints.end ())
    error (_("There is no checkpoint '%s'; \"info checkpoints\" lists them."),
	   args == nullptr ? "" : args);
  return found;
}

static void
restart (const char *args, int from_tty)
{
  dont_repeat ();
  lizard_travel ("seek " + find_checkpoint (args)->second.position);
}

static void
info_checkpoints (const char *args, int from_tty)
{
  if (checkpoints.empty ())
    lizard_say (_("No checkpoints.\n"));
  for (const auto &c : checkpoints)
    lizard_say ("  %d %s, %s\n", c.first, c.second.position.c_str (),
		c.second.text.c_str ());
}

static void
delete_checkpoint (const char *args, int from_tty)
{
  dont_repeat ();
  checkpoints.erase (find_checkpoint (args));
}

/* Taking them over.  */

struct redefinition
{
  const char *name;
  void (*ours) (const char *args, int from_tty);

  /* nullptr: GDB's.  */
  const char *help;

  /* Is it GDB's own all the same?  */
  bool (*excepted) ();

  /* GDB's own.  */
  cmd_list_element *command;
  cmd_func_ftype *gdbs;
};

static redefinition redefinitions[] = {
  { "run", run, N_("\
Go to the start of the recording and continue from there.\n\
Usage: run") },
  { "start", start, N_("\
Go to the start of the recording and from there to main.\n\
Usage: start") },
  { "starti", starti, N_("\
Go to the start of the recording.\n\
Usage: starti") },
  { "signal", go_on_with, N_("\
A recorded run gets the signals that it got, and no others.") },
  { "queue-signal", send_signal, N_("\
A recorded run gets the signals that it got, and no others.") },
  { "jump", jump, N_("\
A recorded run cannot go another way: see jump_forward and jump_backward.") },
  { "return", return_early, nullptr, in_called_function },
  { "checkpoint", checkpoint, N_("\
Remember the present instant; \"restart N\" comes back to it.\n\
Usage: checkpoint") },
  { "restart", restart, N_("\
Go to the instant that \"checkpoint\" remembered as number N.\n\
Usage: restart N") },
  { "info checkpoints", info_checkpoints, N_("\
List the remembered instants.\n\
Usage: info checkpoints") },
  { "delete checkpoint", delete_checkpoint, N_("\
Forget a remembered instant.\n\
Usage: delete checkpoint N") },
};

/* Has lizard-gdb started this GDB?  Then there is nothing else than
   recordings.  */
static bool recordings_only;

static void
run_redefined (const char *args, int from_tty, cmd_list_element *c)
{
  bool recording = recordings_only
    || dynamic_cast<lizard_target *>
	 (current_inferior ()->process_target ()) != nullptr;

  for (redefinition &o : redefinitions)
    if (o.command == c && recording
	&& (o.excepted == nullptr || !o.excepted ()))
      o.ours (args, from_tty);
    else if (o.command == c)
      o.gdbs (args, from_tty, c);
}

cmd_list_element *
lizard_take_over (const char *text, cmd_func_ftype *ours,
		  cmd_func_ftype **gdbs)
{
  cmd_list_element *alias, *prefix, *command;

  if (lookup_cmd_composition (text, &alias, &prefix, &command) == 0
      || command == nullptr || command == CMD_LIST_AMBIGUOUS)
    return nullptr;
  *gdbs = command->func;
  command->func = ours;
  return command;
}

static void
take_over (redefinition &o)
{
  o.command = lizard_take_over (o.name, run_redefined, &o.gdbs);
  if (o.command != nullptr && recordings_only && o.help != nullptr)
    o.command->doc = _(o.help);
}

/* Once all commands are there, which they are when the first inferior
   is.  */

static void
take_over_commands (inferior *inf)
{
  static bool done;

  if (done)
    return;
  done = true;
  for (redefinition &o : redefinitions)
    take_over (o);
  lizard_take_over_record ();
}

void _initialize_lizard_redefined ();
void
_initialize_lizard_redefined ()
{
  recordings_only = getenv ("LIZARD_GDB_OPEN") != nullptr;
  gdb::observers::inferior_added.attach (take_over_commands,
					 "lizard-redefined");
}
