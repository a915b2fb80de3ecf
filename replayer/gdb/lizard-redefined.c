/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands of GDB's that mean something else on a recording.

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

/* For other programs they are GDB's, but where lizard-gdb started it.
   What they mean is in Python: see lizard-python.c.  */

#include "command.h"
#include "cli/cli-decode.h"
#include "inferior.h"
#include "python/python-internal.h"

#include <list>

#include "lizard-python.h"
#include "lizard-target.h"

struct redefinition
{
  cmd_list_element *command;

  /* A Python callable of the argument and of from_tty.  What is true for
     Python means that GDB's own command goes on.  */
  PyObject *ours;
  cmd_func_ftype *gdbs;
};

static std::list<redefinition> redefinitions;

bool
lizard_recordings_only ()
{
  static const bool only = getenv ("LIZARD_GDB_OPEN") != nullptr;

  return only;
}

static bool
is_recording ()
{
  return lizard_recordings_only ()
    || dynamic_cast<lizard_target *>
	 (current_inferior ()->process_target ()) != nullptr;
}

/* Does GDB's own command go on?  */

static bool
ask_python (const redefinition &r, const char *args, int from_tty)
{
  gdbpy_enter enter_py;
  gdbpy_ref<> result (PyObject_CallFunction
		      (r.ours, "sO", args == nullptr ? "" : args,
		       from_tty ? Py_True : Py_False));

  if (result == nullptr)
    gdbpy_handle_exception ();
  return PyObject_IsTrue (result.get ()) == 1;
}

static void
run_redefined (const char *args, int from_tty, cmd_list_element *c)
{
  for (const redefinition &r : redefinitions)
    if (r.command == c
	&& (!is_recording () || ask_python (r, args, from_tty)))
      r.gdbs (args, from_tty, c);
}

cmd_list_element *
lizard_take_over (const char *text, cmd_func_ftype *ours,
		  cmd_func_ftype **gdbs)
{
  cmd_list_element *command = lizard_find_command (text);

  if (command != nullptr)
    {
      *gdbs = command->func;
      command->func = ours;
    }
  return command;
}

void
lizard_redefine (const char *text, PyObject *ours, const char *help)
{
  redefinition r {};

  r.command = lizard_take_over (text, run_redefined, &r.gdbs);
  if (r.command == nullptr)
    return;
  r.ours = gdbpy_ref<>::new_reference (ours).release ();
  redefinitions.push_back (r);
  if (help != nullptr && lizard_recordings_only ())
    r.command->doc = xstrdup (help);
}

void _initialize_lizard_redefined ();
void
_initialize_lizard_redefined ()
{
  /* The commands take it out of the environment.  */
  lizard_recordings_only ();
}
