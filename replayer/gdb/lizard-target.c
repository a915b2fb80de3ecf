/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replay of a recording made by lizard-trace, for GDB.

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

/* "target lizard" re-executes a recorded run in GDB's own process, by
   way of Lizard's replay library.  What a debugger needs of it, this
   one or another, is lizard/front.h.

   The library traces the re-executed program with ptrace, so all calls
   must come from one thread.  That is a worker, not GDB's main thread,
   since a resume takes as long as the program does.  Short jobs are
   waited for; the end of a resume is announced through a pipe.

   Here it is opened and closed.  */

#include "completer.h"
#include "exec.h"
#include "gdbcore.h"
#include "gdbsupport/buildargv.h"
#include "gdbsupport/filestuff.h"
#include "gdbsupport/gdb_tilde_expand.h"
#include "gdbsupport/version.h"
#include "gdbthread.h"
#include "inferior.h"
#include "infrun.h"
#include "progspace.h"
#include "solib.h"
#include "target.h"
#include "target-descriptions.h"

#include <fcntl.h>

#include "lizard-target.h"
#include "lizard-worker.h"

static const target_info lizard_target_info = {
  "lizard",
  N_("Recording made by lizard-trace"),
  N_("Replay a recording made by lizard-trace.\n\
Usage: target lizard [-end] [-echo] RECORDING|PROGRAM\n\
Begins at the start of the recording, or at its end with -end.\n\
With -echo, what the program writes is shown.")
};

const target_info &
lizard_target::info () const
{
  return lizard_target_info;
}

/* Opening and closing.  */

void
lizard_target::open_in_worker (const lizard_open_options &options,
			       int echo_fd, std::string *error)
{
  gdb::unique_xmalloc_ptr<char> dir
    (lz_recording_find (options.what.c_str ()));
  lz_session_options session_options {};

  session_options.echo_fd = echo_fd;
  if (dir != nullptr)
    {
      m_dir = dir.get ();
      m_session = lz_session_open (dir.get (), &session_options);
    }
  if (m_session != nullptr
      && (!options.at_end || lz_session_seek_end (m_session) == 0))
    m_front = lz_front_new (m_session, true, "target lizard");
  if (m_front == nullptr)
    {
      *error = lz_error ();
      return;
    }

  lz_front_follow_gdb (m_front, atoi (version));
  lz_front_quiet (m_front);
  m_pid = lz_front_pid (m_front);
  m_tid = lz_front_tid (m_front);
  lz_front_stop (m_front, &m_stop);
}

void
lizard_target::open (const lizard_open_options &options)
{
  std::string error_text;

  if (!m_event_pipe.open_pipe ())
    perror_with_name (_("pipe"));
  if (options.echo && gdb_pipe_cloexec (m_output) != 0)
    perror_with_name (_("pipe"));
  if (m_output[0] != -1)
    fcntl (m_output[0], F_SETFL, O_NONBLOCK);

  m_worker.reset (new lizard_worker ());
  call ([&]
    {
      open_in_worker (options, m_output[1], &error_text);
    });
  if (m_front == nullptr)
    error ("%s", error_text.c_str ());
  m_state = ENDED;
}

void
lizard_target::appear ()
{
  inferior *inf = current_inferior ();

  inferior_appeared (inf, m_pid);
  inf->attach_flag = true;
  if (current_program_space->exec_filename () == nullptr)
    exec_file_locate_attach (m_pid, 0, 1);
  validate_exec_file (1);

  thread_info *thread = add_thread_silent (this, ptid_t (m_pid, m_tid));
  switch_to_thread_no_regs (thread);
}

lizard_target::~lizard_target ()
{
  if (m_state == RUNNING)
    {
      interrupt ();
      ignore_child_stops (false);
    }
  if (m_worker != nullptr)
    m_worker->call ([this]
      {
	if (m_front != nullptr)
	  lz_front_free (m_front);
	if (m_session != nullptr)
	  lz_session_close (m_session);
      });
  m_worker.reset ();
  for (int fd : m_output)
    if (fd != -1)
      ::close (fd);
}

void
lizard_target::close ()
{
  async (false);
  delete this;
}

void
lizard_target::mourn_inferior ()
{
  /* This target replays one process.  */
  target_ops_ref keep = target_ops_ref::new_reference (this);
  scoped_restore_current_inferior restore_current_inferior;

  for (inferior *inf : all_inferiors (this))
    {
      switch_to_inferior_no_thread (inf);
      inf->pop_all_targets_at_and_above (process_stratum);
      generic_mourn_inferior ();
    }
}

void
lizard_target::kill ()
{
  target_mourn_inferior (inferior_ptid);
}

void
lizard_target::detach (inferior *inf, int from_tty)
{
  std::string process = target_pid_to_str (ptid_t (m_pid));

  target_announce_detach (from_tty);
  target_mourn_inferior (inferior_ptid);
  if (print_inferior_events)
    gdb_printf (_("[Inferior %d (%s) detached]\n"), inf->num,
		process.c_str ());
}

void
lizard_target::disconnect (const char *args, int from_tty)
{
  if (args != nullptr)
    error (_("Argument given to \"disconnect\" when replaying."));
  target_mourn_inferior (inferior_ptid);
}

/* Jobs.  */

void
lizard_target::check_stopped () const
{
  if (m_state == RUNNING)
    error (_("Cannot do this while the recording is being replayed.\n\
Try the `interrupt' command first."));
}

/* Have JOB done by the worker, which must have nothing else to do.  */

void
lizard_target::call (const std::function<void ()> &job)
{
  check_stopped ();
  m_worker->call (job);
}

/* The command.  */

static lizard_open_options
parse_open_options (const char *args)
{
  lizard_open_options options;
  gdb_argv argv (args);

  for (const char *arg : argv)
    if (strcmp (arg, "-end") == 0)
      options.at_end = true;
    else if (strcmp (arg, "-echo") == 0)
      options.echo = true;
    else if (arg[0] != '-' && options.what.empty ())
      options.what = gdb_tilde_expand (arg);
    else
      error (_("Unexpected argument \"%s\" of \"target lizard\"."), arg);
  if (options.what.empty ())
    error (_("Which recording? Name its directory or the program."));
  return options;
}

static void
lizard_target_open (const char *args, int from_tty)
{
  lizard_open_options options = parse_open_options (args);

  if (non_stop)
    error (_("Non-stop mode requested, but in a recording one thread runs"
	     " at a time; use \"set non-stop off\"."));
  target_preopen (from_tty);
  lizard_load_commands ();

  lizard_target *target = new lizard_target ();
  target_ops_up holder (target);

  target->open (options);
  no_shared_libraries (current_program_space);
  current_inferior ()->push_target (std::move (holder));
  try
    {
      push_lizard_record_target ();
      target->appear ();
      target_find_description ();
      init_wait_for_inferior ();
      start_remote (from_tty);
    }
  catch (const gdb_exception &ex)
    {
      target->mourn_inferior ();
      throw;
    }
}

void _initialize_lizard_target ();
void
_initialize_lizard_target ()
{
  add_target (lizard_target_info, lizard_target_open,
	      filename_maybe_quoted_completer);
}
