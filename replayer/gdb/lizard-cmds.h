/* What the files of Lizard's commands share.

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

#ifndef LIZARD_CMDS_H
#define LIZARD_CMDS_H

#include "cli/cli-interp.h"
#include "command.h"
#include "gdbsupport/scoped_restore.h"
#include "infrun.h"

#include <string>
#include <vector>

/* A help class behind GDB's own.  */

static const command_class class_lizard
  = (command_class) (no_set_class + 1);

/* Is this GDB driven by a machine interface?  It wants stops of its own
   kind.  */

extern bool lizard_machine_interface;

/* Print in one piece, which is one record to a machine interface.  */

extern void lizard_say (const char *format, ...) ATTRIBUTE_PRINTF (1, 2);

/* Throw an error if nothing is replayed.  */

extern void lizard_need_process ();

/* As lizard_ask, for commands that may be given without a recording.  */

extern std::string lizard_ask_recording (const char *command);

/* Was the program built with lizard-cc?  */

extern bool lizard_is_instrumented ();

/* COMMAND, and all that follows from it.  */

extern void lizard_run_command (const std::string &command,
				int from_tty = 0);

/* Where control is, without the frame's number, and what is displayed
   at a stop.  */

extern void lizard_print_place ();

/* The same after a stop that was not shown.  */

extern void lizard_show_place ();

/* A move may pass an instant at which the program loaded a library.
   True if GDB had not read the symbols of one.  */

extern bool lizard_refresh_libraries ();

/* After a move: what there is to say about it.  SHOWN: GDB has shown
   the new place itself.  */

extern void lizard_settle (bool shown);

/* Put OURS in front of what GDB's command TEXT does.  Returns the
   command, or null if there is none; GDB's own goes to GDBS.  */

extern cmd_list_element *lizard_take_over (const char *text,
					   cmd_func_ftype *ours,
					   cmd_func_ftype **gdbs);

/* The same with "record" and "record restore".  */

extern void lizard_take_over_record ();

/* Carry out a move, whose end is shown as after "step".  */

extern void lizard_carry_out (const std::string &text);

/* Carry out a move that GDB shows nothing of.  */

extern void lizard_move_silently (const std::string &text);

/* A move to anywhere, whose end is shown with its function.  */

extern void lizard_travel (const std::string &text);

/* The number that is written in ARGS, or 1.  */

extern LONGEST lizard_count (const char *args);

/* Stops are not shown while such an object lives.  */

class lizard_silence
{
  scoped_restore_tmpl<bool> m_stop
    = make_scoped_restore (&cli_suppress_notification.normal_stop, true);
  scoped_restore_tmpl<bool> m_context
    = make_scoped_restore (&cli_suppress_notification.user_selected_context,
			   true);
};

/* The program runs forward, whatever "set exec-direction" says, while
   such an object lives; "reverse-" commands are refused otherwise.  */

class lizard_forward
{
  scoped_restore_tmpl<exec_direction_kind> m_direction
    = make_scoped_restore (&execution_direction, EXEC_FORWARD);
};

/* The user's breakpoints and watchpoints are off while such an object
   lives.  */

class lizard_quiet
{
public:
  lizard_quiet ();
  ~lizard_quiet ();
  DISABLE_COPY_AND_ASSIGN (lizard_quiet);

private:
  /* Their numbers and what "enable count" left of them.  */
  std::vector<std::pair<int, int>> m_off;
};

/* A silent breakpoint of our own, deleted with the object.  GDB may
   delete it earlier.  */

class lizard_point
{
public:
  lizard_point () = default;
  ~lizard_point ();
  DISABLE_COPY_AND_ASSIGN (lizard_point);

  /* At SPEC, only where CONDITION holds.  */
  void set_break (location_spec *spec, const char *condition = nullptr);

  /* On EXPRESSION's value.  */
  void set_watch (const std::string &expression);

  breakpoint *get () const;
  void remove ();

  /* Is it what the last stop was about?  */
  bool stopped () const;

private:
  void adopt_last ();

  int m_number = 0;
};

#endif /* LIZARD_CMDS_H */
