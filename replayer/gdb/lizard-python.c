/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The module _lizard: what Lizard's commands ask of "target lizard".

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

/* Lizard's commands are in Python, the same for this GDB and for one that
   asks a server.  Here is what differs.  now, info, arm, outcome and
   pass_all_signals are as in lizard_gdb/server.py, which sends packets for
   them; the others only the inside of GDB can do.  */

#include "command.h"
#include "cli/cli-cmds.h"
#include "cli/cli-decode.h"
#include "frame.h"
#include "gdbthread.h"
#include "inferior.h"
#include "inline-frame.h"
#include "breakpoint.h"
#include "python/python-internal.h"
#include "regcache.h"
#include "stack.h"
#include "symtab.h"
#include "target.h"
#include "top.h"

#include "lizard-python.h"
#include "lizard-target.h"

/* A help class behind GDB's own.  */

static const command_class class_lizard
  = (command_class) (no_set_class + 1);

/* What FN returns, a new reference, or null with Python's error set for
   what it throws.  */

template<typename F>
static PyObject *
guarded (F fn)
{
  try
    {
      return fn ();
    }
  catch (const gdb_exception &except)
    {
      gdbpy_convert_exception (except);
      return nullptr;
    }
}

/* As a string of Python's, whatever bytes it has.  */

static PyObject *
as_text (const char *text)
{
  return PyUnicode_DecodeUTF8 (text, strlen (text), "backslashreplace");
}

static PyObject *
replaying (PyObject *, PyObject *)
{
  lizard_target *target
    = dynamic_cast<lizard_target *> (current_inferior ()->process_target ());

  return PyBool_FromLong (target != nullptr);
}

static std::string
as_string (const lz_pos &position)
{
  char text[LZ_POS_TEXT];

  lz_pos_print (&position, text);
  return text;
}

static PyObject *
now (PyObject *, PyObject *)
{
  return guarded ([]
    {
      lz_front_instant now = current_lizard_target ()->now ();
      std::string position = as_string (now.pos);
      std::string crosses = now.crosses.n ? as_string (now.crosses) : "";

      return Py_BuildValue ("{sKsKsKsKsssKsKsisNsNsNsisNsssKsN}",
			    "event", now.pos.event, "events", now.events,
			    "time", now.time, "total", now.total,
			    "position", position.c_str (), "marker", now.pos.marker,
			    "moves", now.moves, "tid", now.pos.tid,
			    "start", PyBool_FromLong (now.at_start),
			    "end", PyBool_FromLong (now.at_end),
			    "begin", PyBool_FromLong (now.at_begin),
			    "threads", now.n_threads,
			    "name", as_text (now.thread),
			    "crosses", crosses.c_str (),
			    "n_mark", now.n_mark, "mark", as_text (now.mark));
    });
}

static PyObject *
position (PyObject *, PyObject *)
{
  return guarded ([]
    {
      return as_text (current_lizard_target ()->position ().c_str ());
    });
}

/* A list of what TEXT says of each program.  */

static PyObject *
of_programs (const lz_front_recording &info,
	     std::function<std::string (uint32_t)> text)
{
  PyObject *list = PyList_New (info.n_programs);

  for (uint32_t i = 0; list != nullptr && i < info.n_programs; i++)
    PyList_SET_ITEM (list, i, as_text (text (i).c_str ()));
  return list;
}

/* The recording: what only some have is left out of the others.  */

static PyObject *
describe (const lz_front_recording &info)
{
  gdbpy_ref<> dict (Py_BuildValue
    ("{sNsNsNsNsKsKsisNsisNsNsssIsNsNsN}",
     "recording", as_text (info.recording), "program", as_text (info.program),
     "args", as_text (info.command), "cwd", as_text (info.cwd),
     "started", info.started, "duration_ns", info.duration_ns,
     "exit_status", info.exit_status, "inside", PyBool_FromLong (info.inside),
     "checkpoints", info.n_checkpoints,
     "instrumented", PyBool_FromLong (info.instrumented),
     "built", PyBool_FromLong (info.built),
     "front_end", info.front_end, "n_program", info.n_program,
     "programs", of_programs (info, [&] (uint32_t i)
       {
	 return std::string (info.programs[i]);
       }),
     "begins", of_programs (info, [&] (uint32_t i)
       {
	 return as_string (info.where[i].begin);
       }),
     "ends", of_programs (info, [&] (uint32_t i)
       {
	 return as_string (info.where[i].end);
       })));

  if (dict == nullptr)
    return nullptr;
  if (info.not_kept != 0)
    {
      gdbpy_ref<> n (PyLong_FromUnsignedLongLong (info.not_kept));

      if (n == nullptr
	  || PyDict_SetItemString (dict.get (), "not_kept", n.get ()) < 0)
	return nullptr;
    }
  if (info.damage != nullptr)
    {
      gdbpy_ref<> text (as_text (info.damage));

      if (text == nullptr
	  || PyDict_SetItemString (dict.get (), "damage", text.get ()) < 0)
	return nullptr;
    }
  return dict.release ();
}

static PyObject *
info (PyObject *, PyObject *)
{
  return guarded ([]
    {
      return describe (*current_lizard_target ()->recording ());
    });
}

/* Moves.  */

/* The addresses of a jump.  False with Python's error set.  */

static bool
set_addresses (PyObject *list, lz_front_move *move)
{
  gdbpy_ref<> addresses (PySequence_Fast (list, "addresses expected"));

  if (addresses == nullptr)
    return false;

  Py_ssize_t n = PySequence_Fast_GET_SIZE (addresses.get ());

  if (n > LZ_JUMP_ADDRS_MAX)
    {
      PyErr_Format (gdbpy_gdberror_exc, _("a jump takes at most %d addresses"),
		    LZ_JUMP_ADDRS_MAX);
      return false;
    }
  for (Py_ssize_t i = 0; i < n; i++)
    move->addrs[i] = PyLong_AsUnsignedLongLong
      (PySequence_Fast_GET_ITEM (addresses.get (), i));
  move->n_addrs = n;
  return PyErr_Occurred () == nullptr;
}

static bool
set_jump (PyObject *args, lz_front_move *move)
{
  const char *kind, *direction;
  PyObject *addresses;
  int any_thread;

  if (!PyArg_ParseTuple (args, "sspO", &kind, &direction, &any_thread,
			 &addresses))
    return false;
  move->kind = LZ_MOVE_JUMP;
  move->direction = strcmp (direction, "backward") == 0 ? LZ_BACKWARD
		    : LZ_FORWARD;
  move->any_thread = any_thread;
  return set_addresses (addresses, move);
}

static bool
set_times (PyObject *args, lz_front_move *move)
{
  const char *kind;
  unsigned long long n;

  if (!PyArg_ParseTuple (args, "sK", &kind, &n))
    return false;
  move->kind = strcmp (kind, "back-next") == 0 ? LZ_MOVE_BACK_NEXT
	       : strcmp (kind, "undo") == 0 ? LZ_MOVE_UNDO
	       : strcmp (kind, "redo") == 0 ? LZ_MOVE_REDO
	       : LZ_MOVE_BACK_STEP;
  move->n = n;
  return true;
}

/* The words are those of a monitor command.  */

static bool
set_words (PyObject *args, lz_front_move *move)
{
  gdbpy_ref<> space (PyUnicode_FromString (" "));
  gdbpy_ref<> words (PySequence_List (args));

  if (space == nullptr || words == nullptr)
    return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (words.get ()); i++)
    {
      PyObject *word = PyObject_Str (PyList_GET_ITEM (words.get (), i));

      if (word == nullptr || PyList_SetItem (words.get (), i, word) < 0)
	return false;
    }

  gdbpy_ref<> text (PyUnicode_Join (space.get (), words.get ()));
  const char *bytes = text == nullptr ? nullptr : PyUnicode_AsUTF8 (text.get ());

  if (bytes == nullptr)
    return false;
  if (lz_front_move_parse (bytes, move) < 0)
    error ("%s", lz_error ());
  return true;
}

static bool
set_move (PyObject *args, lz_front_move *move)
{
  PyObject *first = PySequence_Size (args) > 0 ? PyTuple_GET_ITEM (args, 0)
		    : Py_None;
  const char *kind = PyUnicode_Check (first) ? PyUnicode_AsUTF8 (first) : "";
  const char *where;

  if (kind == nullptr)
    return false;
  if (strcmp (kind, "jump") == 0)
    return set_jump (args, move);
  if (strcmp (kind, "access") == 0 || strcmp (kind, "origin") == 0)
    return set_words (args, move);
  if (strcmp (kind, "seek") != 0)
    return set_times (args, move);
  if (!PyArg_ParseTuple (args, "ss", &kind, &where))
    return false;
  *move = lizard_move_to (where);
  return true;
}

/* GDB resumes nothing for it, which is faster where nothing is shown.  */

static PyObject *
move (PyObject *, PyObject *args)
{
  return guarded ([=] () -> PyObject *
    {
      lz_front_move what {};

      if (!set_move (args, &what))
	return nullptr;
      lizard_move (what);
      return PyBool_FromLong (!current_lizard_target ()->is_interrupted ());
    });
}

static PyObject *
arm (PyObject *, PyObject *args)
{
  return guarded ([=] () -> PyObject *
    {
      lz_front_move move {};

      if (!set_move (args, &move))
	return nullptr;
      current_lizard_target ()->arm (move);
      Py_RETURN_NONE;
    });
}

static PyObject *
outcome (PyObject *, PyObject *)
{
  return guarded ([]
    {
      lizard_outcome said = current_lizard_target ()->outcome ();
      PyObject *failure = Py_None;

      if (said.failure.empty ())
	Py_INCREF (failure);
      else
	failure = as_text (said.failure.c_str ());
      return Py_BuildValue ("NN", as_text (said.note.c_str ()), failure);
    });
}

static PyObject *
pass_all_signals (PyObject *, PyObject *args)
{
  int pass;

  if (!PyArg_ParseTuple (args, "p", &pass))
    return nullptr;
  return guarded ([=] () -> PyObject *
    {
      current_lizard_target ()->pass_all_signals (pass);
      Py_RETURN_NONE;
    });
}

static PyObject *
here (PyObject *, PyObject *)
{
  return guarded ([]
    {
      return PyBool_FromLong (current_lizard_target ()->here ());
    });
}

/* What only the inside of GDB can do.  */

static PyObject *
refresh_libraries (PyObject *, PyObject *)
{
  return guarded ([]
    {
      return PyBool_FromLong (lizard_refresh_libraries ());
    });
}

/* Where control is, without the frame's number; the source line only, if
   asked to and if there is one.  */

static PyObject *
print_place (PyObject *, PyObject *args)
{
  int line_only;

  if (!PyArg_ParseTuple (args, "p", &line_only))
    return nullptr;
  return guarded ([=] () -> PyObject *
    {
      frame_info_ptr frame = get_current_frame ();
      bool has_line = find_frame_sal (frame).symtab != nullptr;

      select_frame (frame);
      print_stack_frame (frame, 0, line_only && has_line ? SRC_LINE
			 : SRC_AND_LOC, 1);
      Py_RETURN_NONE;
    });
}

/* Have GDB take the present place for one that it has run to: there it
   hides the inlined functions that begin, but for the end of a stepi and
   for breakpoints of the user's.  */

static PyObject *
hide_inlined (PyObject *, PyObject *)
{
  return guarded ([] () -> PyObject *
    {
      thread_info *thread = inferior_thread ();
      regcache *regs = get_thread_regcache (thread);
      target_waitstatus ws;

      ws.set_stopped (GDB_SIGNAL_TRAP);

      bpstat *chain
	= build_bpstat_chain (thread->inf->aspace.get (), regcache_read_pc (regs), ws);

      clear_inline_frame_state (thread);
      skip_inline_frames (thread, chain);
      bpstat_clear (&chain);
      Py_RETURN_NONE;
    });
}

/* Show the outermost of those that are hidden as entered.  */

static PyObject *
enter_inlined (PyObject *, PyObject *)
{
  return guarded ([] () -> PyObject *
    {
      step_into_inline_frame (inferior_thread ());
      Py_RETURN_NONE;
    });
}

/* GDB's commands.  */

cmd_list_element *
lizard_find_command (const char *text)
{
  cmd_list_element *alias, *prefix, *command;

  if (lookup_cmd_composition (text, &alias, &prefix, &command) == 0
      || command == CMD_LIST_AMBIGUOUS)
    return nullptr;
  return command;
}

static PyObject *
take_over (PyObject *, PyObject *args)
{
  const char *name, *help;
  PyObject *ours;

  if (!PyArg_ParseTuple (args, "sOz", &name, &ours, &help))
    return nullptr;
  return guarded ([=] () -> PyObject *
    {
      lizard_redefine (name, ours, help);
      Py_RETURN_NONE;
    });
}

/* "help lizard" lists the command.  */

static PyObject *
list_in_help (PyObject *, PyObject *args)
{
  const char *name;

  if (!PyArg_ParseTuple (args, "s", &name))
    return nullptr;
  return guarded ([=] () -> PyObject *
    {
      cmd_list_element *command = lizard_find_command (name);

      if (command != nullptr)
	command->theclass = class_lizard;
      Py_RETURN_NONE;
    });
}

/* The module.  */

static PyMethodDef methods[] = {
  { "replaying", replaying, METH_NOARGS,
    "Does target lizard replay the selected inferior?" },
  { "now", now, METH_NOARGS,
    "The present instant; its position is not counted where that may take long." },
  { "position", position, METH_NOARGS,
    "The present position, counted in any case." },
  { "info", info, METH_NOARGS, "The recording." },
  { "arm", arm, METH_VARARGS,
    "The next reverse resume carries out this move." },
  { "move", move, METH_VARARGS,
    "Carries out a move that is not shown; false if Ctrl-C ended it." },
  { "outcome", outcome, METH_NOARGS,
    "What there is to say about the last move, and why it could not be made, \
or None." },
  { "pass_all_signals", pass_all_signals, METH_VARARGS,
    "No signal stops a run, or those do again that GDB stops for." },
  { "here", here, METH_NOARGS,
    "The user is shown this instant; has a continue backwards found nothing?" },
  { "refresh_libraries", refresh_libraries, METH_NOARGS,
    "Has GDB look what libraries there are; did it hear of new ones?" },
  { "print_place", print_place, METH_VARARGS,
    "Shows where control is, or the source line only." },
  { "hide_inlined", hide_inlined, METH_NOARGS,
    "Shows the inlined functions that begin here as not yet entered." },
  { "enter_inlined", enter_inlined, METH_NOARGS,
    "Shows the first of those as entered." },
  { "take_over", take_over, METH_VARARGS,
    "GDB's command NAME calls a function first; if that is true, it goes on." },
  { "list_in_help", list_in_help, METH_VARARGS,
    "\"help lizard\" lists the command NAME." },
  {}
};

static PyModuleDef module = {
  PyModuleDef_HEAD_INIT, "_lizard", nullptr, -1, methods
};

static PyObject *
init_module ()
{
  return PyModule_Create (&module);
}

/* They are beside the directory in which GDB is installed.  */

void
lizard_load_commands ()
{
  static bool done = lizard_recordings_only ();
  std::string file = gdb_datadir + "/../../../lizard.py";

  if (done)
    return;
  done = true;
  if (access (file.c_str (), R_OK) == 0)
    execute_command (("source " + file).c_str (), 0);
}

void _initialize_lizard_python ();
void
_initialize_lizard_python ()
{
  /* Python is started later.  */
  PyImport_AppendInittab ("_lizard", init_module);
  add_cmd ("lizard", class_lizard, _("\
Moving in recordings made by lizard-trace.\n\
See also \"help record\", \"info lizard\" and \"checkpoint\"."), &cmdlist);
}
