/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": moves and questions that GDB has no name for.

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


#include "breakpoint.h"
#include "gdbcore.h"
#include "exec.h"
#include "gdbthread.h"
#include "inferior.h"
#include "observable.h"
#include "regcache.h"
#include "progspace.h"
#include "solib.h"
#include "solist.h"
#include "stack.h"
#include "symfile.h"
#include "target.h"
#include "target-dcache.h"
#include "top.h"

#include "lizard-target.h"
#include "lizard-worker.h"

/* Questions.  */

lz_front_instant
lizard_target::now ()
{
  lz_front_instant now {};
  std::string error_text;

  call ([&]
    {
      if (lz_front_now (m_front, &now) < 0)
	error_text = lz_error ();
    });
  if (!error_text.empty ())
    error ("%s", error_text.c_str ());
  return now;
}

std::string
lizard_target::position ()
{
  char text[LZ_POS_TEXT];
  lz_pos pos {};

  call ([&]
    {
      lz_front_position (m_front, &pos);
    });
  lz_pos_print (&pos, text);
  return text;
}

lizard_info
lizard_target::recording ()
{
  lizard_info info (new lz_front_recording ());

  check_stopped ();
  if (lz_front_describe (m_front, info.get ()) < 0)
    error ("%s", lz_error ());
  return info;
}

bool
lizard_target::here ()
{
  bool returned = false;

  call ([&]
    {
      lz_front_here (m_front, &returned);
    });
  return returned;
}

void
lizard_target::pass_all_signals (bool pass)
{
  check_stopped ();
  lz_front_pass_all_signals (m_front, pass);
}

void
lizard_target::rcmd (const char *command, ui_file *output)
{
  gdb::unique_xmalloc_ptr<char> answer;

  call ([&]
    {
      answer.reset (lz_front_monitor (m_front, command));
    });
  if (answer != nullptr)
    output->puts (answer.get ());
}

/* Moves.  */

lz_front_move
lizard_move_to (const char *where)
{
  lz_front_move move;

  if (lz_front_move_to (&move, where) < 0)
    error ("%s", lz_error ());
  return move;
}

void
lizard_target::arm (const lz_front_move &move)
{
  check_stopped ();
  if (lz_front_arm (m_front, &move) < 0)
    error ("%s", lz_error ());
}

lizard_outcome
lizard_target::outcome ()
{
  char *note, *failure;

  check_stopped ();
  lz_front_outcome (m_front, &note, &failure);

  gdb::unique_xmalloc_ptr<char> keep_note (note), keep_failure (failure);

  return { note == nullptr ? "" : note, failure == nullptr ? "" : failure, "" };
}

lizard_outcome
lizard_target::move (const lz_front_move &move)
{
  struct lz_front_resume how {};

  /* The move is armed, and carried out by a reverse resume.  */
  arm (move);
  how.direction = LZ_BACKWARD;
  how.how = LZ_RESUME_STEP;
  how.tid = inferior_ptid.lwp ();
  begin (how, ctrlc_is_fresh ());
  end ();
  m_state = STOPPED;

  std::string program;

  if (m_stop.why == LZ_SHOWN_EXEC)
    {
      program = lz_front_program (m_front);
      m_worker->call ([this]
	{
	  lz_front_stop (m_front, &m_stop);
	});
    }

  lizard_outcome result = outcome ();

  result.program = program;
  return result;
}

lizard_target *
current_lizard_target ()
{
  lizard_target *target
    = dynamic_cast<lizard_target *> (current_inferior ()->process_target ());

  if (target == nullptr)
    error (_("No recording is being replayed."));
  return target;
}

static bool
read_libraries ()
{
  lizard_target *target
    = dynamic_cast<lizard_target *> (current_inferior ()->process_target ());
  bool unread = false;

  if (target == nullptr || !target->is_list_of_libraries_known ())
    update_solib_list (0);
  for (const solib &so : current_program_space->solibs ())
    unread |= !so.so_name.empty () && so.addr_high != 0
	      && !so.symbols_loaded;
  if (!unread || !auto_solib_add)
    return false;
  solib_add (nullptr, 0, 1);
  return true;
}

bool
lizard_refresh_libraries ()
{
  std::string said;
  bool news = false;

  execute_fn_to_string (said, [&] { news = read_libraries (); }, false);
  return news;
}

/* GDB learns of libraries where the program loads them, and a move may
   pass such a moment.  At the first instant none is listed: what tells GDB
   of the loader is what a new process has it do.  */

static void
refresh_libraries ()
{
  solib_add (nullptr, 0, auto_solib_add);
  if (current_program_space->solibs ().empty ())
    solib_create_inferior_hook (0);
}

/* Another program runs now.  What infrun does when it is told of that by a
   stop.  */

static void
lizard_follow_exec (const char *path)
{
  inferior *inf = current_inferior ();

  gdb_printf (_("%s is executing new program: %s\n"),
	      target_pid_to_str (ptid_t (inf->pid)).c_str (), path);
  mark_breakpoints_out (current_program_space);
  no_shared_libraries (current_program_space);
  try_open_exec_file (exec_file_find (path, nullptr).get (), inf,
		      SYMFILE_DEFER_BP_RESET);
  gdb::observers::inferior_execd.notify (inf, inf);
  breakpoint_re_set ();
}

/* GDB has resumed nothing, so it must be told that all has changed.  */

std::string
lizard_move (const lz_front_move &move)
{
  lizard_target *target = current_lizard_target ();
  lizard_outcome outcome = target->move (move);

  target->follow_thread ();
  registers_changed ();
  target_dcache_invalidate (current_program_space->aspace);
  reinit_frame_cache ();
  update_thread_list ();
  if (!outcome.program.empty ())
    lizard_follow_exec (outcome.program.c_str ());
  refresh_libraries ();
  inferior_thread ()->set_stop_pc
    (regcache_read_pc (get_thread_regcache (inferior_thread ())));

  if (!outcome.failure.empty ())
    error ("%s", outcome.failure.c_str ());
  return outcome.note;
}

void
lizard_go (const lz_front_move &move)
{
  ptid_t before = inferior_ptid;
  std::string note = lizard_move (move);

  current_lizard_target ()->here ();
  if (inferior_ptid != before)
    gdb_printf (_("[Switching to %s]\n"),
		target_pid_to_str (inferior_ptid).c_str ());
  gdb_puts (note.c_str ());
  print_stack_frame (get_selected_frame (nullptr), 1, SRC_AND_LOC, 1);
}

/* Run back to the begin, GDB would still look names up among the libraries
   of later only.  */

static void
note_stop (bpstat *, int)
{
  const lizard_target *target
    = dynamic_cast<lizard_target *> (current_inferior ()->process_target ());

  if (target != nullptr && target->is_at_begin ())
    refresh_libraries ();
}

void _initialize_lizard_move ();
void
_initialize_lizard_move ()
{
  gdb::observers::normal_stop.attach (note_stop, "lizard-move");
}
