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


#include "defs.h"
#include "gdbthread.h"
#include "inferior.h"
#include "observable.h"
#include "regcache.h"
#include "progspace.h"
#include "solib.h"
#include "stack.h"
#include "symfile.h"
#include "target.h"
#include "target-dcache.h"

#include "lizard-target.h"

std::string
lizard_target::ask (const char *command)
{
  gdb::unique_xmalloc_ptr<char> answer;

  call ([&]
    {
      answer.reset (lz_front_monitor (m_front, command));
    });
  return answer == nullptr ? "" : answer.get ();
}

void
lizard_target::rcmd (const char *command, ui_file *output)
{
  output->puts (ask (command).c_str ());
}

std::string
lizard_target::move (const char *text)
{
  struct lz_front_resume how {};

  /* The move is armed, and carried out by a reverse resume.  */
  ask (text);
  how.direction = LZ_BACKWARD;
  how.how = LZ_RESUME_STEP;
  how.tid = inferior_ptid.lwp ();
  begin (how, ctrlc_is_fresh ());
  end ();
  m_state = STOPPED;

  std::string note = m_note == nullptr ? ask ("note") : m_note.get ();

  m_note.reset ();
  return note;
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

std::string
lizard_ask (const char *command)
{
  return current_lizard_target ()->ask (command);
}

/* GDB learns of libraries where the program loads them, and a move may
   pass such a moment.  At the first instant none is listed: what tells GDB
   of the loader is what a new process has it do.  */

static void
refresh_libraries ()
{
  solib_add (nullptr, 0, auto_solib_add);
  if (current_program_space->so_list == nullptr)
    solib_create_inferior_hook (0);
}

/* GDB has resumed nothing, so it must be told that all has changed.  */

std::string
lizard_move (const char *move)
{
  static const char failed[] = "error: ";
  lizard_target *target = current_lizard_target ();
  std::string note = target->move (move);

  target->follow_thread ();
  registers_changed ();
  target_dcache_invalidate ();
  reinit_frame_cache ();
  update_thread_list ();
  refresh_libraries ();
  inferior_thread ()->set_stop_pc
    (regcache_read_pc (get_current_regcache ()));

  if (startswith (note.c_str (), failed))
    {
      note.pop_back ();
      error ("%s", note.c_str () + strlen (failed));
    }
  return note;
}

void
lizard_go (const char *move)
{
  ptid_t before = inferior_ptid;
  std::string note = lizard_move (move);

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
