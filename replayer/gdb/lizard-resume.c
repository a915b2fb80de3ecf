/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": resuming, waiting, interrupting.

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


#include "block.h"
#include "breakpoint.h"
#include "frame.h"
#include "extension-priv.h"
#include "gdbsupport/event-loop.h"
#include "gdbsupport/gdb-sigmask.h"
#include "gdbsupport/gdb_select.h"
#include "gdbthread.h"
#include "inf-loop.h"
#include "inferior.h"
#include "infrun.h"
#include "inline-frame.h"
#include "regcache.h"
#include "target.h"

#include "lizard-target.h"
#include "lizard-worker.h"

/* A Ctrl-C between two resumes of one command stops the next one.  */
static const std::chrono::milliseconds ctrlc_lifetime {1000};

/* In the worker: carry out a resume.  */

void
lizard_target::run (const struct lz_front_resume &how, bool interrupted)
{
  lz_front_pass_signals (m_front, m_passed_signals);
  lz_front_heed_conditions (m_front, m_heed);
  if (interrupted)
    lz_front_not_resumed (m_front);
  else
    lz_front_resume (m_front, &how);
  m_note.reset (lz_front_note (m_front));
  m_tid = lz_front_tid (m_front);
  m_event_pipe.mark ();
}

/* Each stop of the re-executed program, of which there are many in one
   resume, would wake GDB's main thread by SIGCHLD.  Only native targets
   want that.  */

void
lizard_target::ignore_child_stops (bool ignore)
{
  sigset_t chld;

  if (ignore)
    for (inferior *inf : all_inferiors ())
      if (inf->pid != 0 && inf->process_target () != this)
	return;

  sigemptyset (&chld);
  sigaddset (&chld, SIGCHLD);
  gdb_sigmask (ignore ? SIG_BLOCK : SIG_UNBLOCK, &chld, nullptr);
}

bool
lizard_target::ctrlc_is_fresh () const
{
  return m_ctrlc && clock::now () - m_ctrlc_at < ctrlc_lifetime;
}

/* Is there nothing but a step through lines to be done?  */

static bool
steps_undisturbed (const thread_info *thread)
{
  const thread_control_state &control = thread->control;

  return control.step_range_end > 1 && !control.trap_expected
	 && control.step_resume_breakpoint == nullptr
	 && control.exception_resume_breakpoint == nullptr
	 && !thread->step_after_step_resume_breakpoint
	 && !bpstat_should_step ();
}

/* GDB knows a stop_pc of the thread that has stopped last only.  */

static CORE_ADDR
pc_of (thread_info *thread)
{
  return regcache_read_pc (get_thread_regcache (thread));
}

/* The inlined call within the stepping frame that control is in, if
   `next' and its kind go on until it has ended, whatever it meets.  */

static const struct block *
inlined_call_gone_over (thread_info *thread)
{
  const thread_control_state &control = thread->control;

  if (control.step_over_calls != STEP_OVER_ALL || !steps_undisturbed (thread))
    return nullptr;

  frame_info_ptr frame = get_current_frame ();

  while (get_frame_type (frame) == INLINE_FRAME)
    {
      frame_info_ptr caller = get_prev_frame (frame);

      if (caller == nullptr)
	return nullptr;
      if (get_frame_id (caller) == control.step_frame_id)
	return get_frame_block (frame, nullptr);
      frame = caller;
    }
  return nullptr;
}

/* PIECE becomes the code of the inlined call that BLOCK is in, that around
   PC first.  Is PC in it, and not where GDB hides the call, at the start
   of a range?  */

static bool
find_inlined_call (const struct block *block, CORE_ADDR pc,
		   struct lz_piece_of_code *piece)
{
  while (block != nullptr && !block->inlined_p ())
    block = block->superblock ();
  if (block == nullptr)
    return false;

  piece->hidden_starts = true;
  if (block->ranges ().empty ())
    piece->range[piece->n_ranges++] = { block->start (), block->end () };
  for (const blockrange &range : block->ranges ())
    if (pc >= range.start () && pc < range.end ())
      piece->range[piece->n_ranges++] = { range.start (), range.end () };
  for (const blockrange &range : block->ranges ())
    if ((pc < range.start () || pc >= range.end ())
	&& piece->n_ranges < LZ_RANGES_MAX)
      piece->range[piece->n_ranges++] = { range.start (), range.end () };
  return lz_piece_has (piece, pc) && pc != block->entry_pc ();
}

/* Single steps through an inlined call would take minutes.  */

static void
leave_inlined_call (thread_info *thread, struct lz_front_resume *how)
{
  const struct block *block = inlined_call_gone_over (thread);

  if (block == nullptr
      || !find_inlined_call (block, pc_of (thread), &how->piece))
    return;
  how->how = LZ_RESUME_LEAVE;
  how->start = how->piece.range[0].start + 1;
  how->end = how->piece.range[0].end;
}

static bool
is_present_line (const thread_info *thread, const symtab_and_line &row)
{
  return row.line == thread->current_line
	 && row.symtab == thread->current_symtab;
}

/* Does a step go on when control comes to the beginning of ROW?  */

static bool
is_stepped_over (const thread_info *thread, const symtab_and_line &row)
{
  return row.line != 0 && (!row.is_stmt || is_present_line (thread, row));
}

/* Keep [FROM, TO) out of [*START, *END), which has PC in it.  */

static void
cut (CORE_ADDR from, CORE_ADDR to, CORE_ADDR pc, CORE_ADDR *start,
     CORE_ADDR *end)
{
  if (to <= pc)
    *start = std::max (*start, to);
  else if (from > pc)
    *end = std::min (*end, from);
}

/* [*START, *END): code around PC that is of the frame there and of no
   inlined call in it.  */

static bool
find_own_code (CORE_ADDR pc, CORE_ADDR *start, CORE_ADDR *end)
{
  const struct blockvector *all = blockvector_for_pc (pc, nullptr);
  const struct block *own = block_for_pc (pc);

  while (own != nullptr && own->function () == nullptr)
    own = own->superblock ();
  if (own == nullptr || all == nullptr)
    return false;

  *start = own->start ();
  *end = own->end ();
  for (const blockrange &range : own->ranges ())
    if (pc >= range.start () && pc < range.end ())
      {
	*start = range.start ();
	*end = range.end ();
      }

  /* Where an inlined call begins GDB hides it.  */
  if (own->inlined_p ())
    {
      cut (*start, *start + 1, pc, start, end);
      cut (own->entry_pc (), own->entry_pc () + 1, pc, start, end);
    }

  for (const struct block *block : all->blocks ())
    {
      if (block == own || !block->inlined_p ()
	  || block->start () >= *end || block->end () <= *start
	  || !own->contains (block, true))
	continue;
      if (block->ranges ().empty ())
	cut (block->start (), block->end (), pc, start, end);
      for (const blockrange &range : block->ranges ())
	cut (range.start (), range.end (), pc, start, end);
    }
  return true;
}

/* Add ROW to PIECE, if a step goes on in it and it touches PIECE.  */

static bool
add_row (const thread_info *thread, const symtab_and_line &row,
	 CORE_ADDR lowest, CORE_ADDR highest, struct lz_piece_of_code *piece)
{
  struct lz_part *range = &piece->range[0];

  /* Rows of one line that GDB 16 takes together lie in each other.  */
  if (row.end < range->start || row.pc > range->end || row.pc < lowest
      || row.end > highest || !is_stepped_over (thread, row))
    return false;
  if (!is_present_line (thread, row))
    {
      if (piece->n_parts == LZ_PARTS_MAX)
	return false;
      piece->part[piece->n_parts++] = { row.pc, row.end };
    }
  range->start = std::min<CORE_ADDR> (range->start, row.pc);
  range->end = std::max<CORE_ADDR> (range->end, row.end);
  return true;
}

/* The rows of the line table around PC's through which a step goes on
   whatever the way it takes; PIECE is filled in.  False: to run through
   them would save nothing.

   It must not come into the middle of a row of another line: that would be
   the step's line from then on.  */

static bool
find_rows (const thread_info *thread, CORE_ADDR pc,
	   struct lz_piece_of_code *piece)
{
  symtab_and_line row = find_pc_line (pc, 0);
  CORE_ADDR lowest, highest;

  /* GDB 16 takes rows of one line together.  */
  if (row.pc < thread->control.step_range_start
      || row.end > thread->control.step_range_end
      || ((pc != row.pc || row.pc != thread->control.step_range_start)
	  && !is_present_line (thread, row))
      || !find_own_code (pc, &lowest, &highest))
    return false;

  struct lz_part *range = &piece->range[0];

  range->start = range->end = row.pc;
  if (!add_row (thread, row, lowest, highest, piece))
    return false;
  while (add_row (thread, find_pc_line (range->end, 0), lowest, highest,
		  piece));
  while (add_row (thread, find_pc_line (range->start - 1, 0), lowest, highest,
		  piece));
  piece->n_ranges = 1;
  piece->lines = true;

  /* In a row alone only calls cost GDB stops.  */
  return (range->end - range->start > row.end - row.pc
	  || thread->control.step_over_calls == STEP_OVER_ALL);
}

/* The step's range, but for its start, where a reverse step stops; if PC
   is in that.  */

static bool
find_range_back (const thread_info *thread, CORE_ADDR pc,
		 struct lz_piece_of_code *piece)
{
  const thread_control_state &control = thread->control;
  CORE_ADDR lowest, highest;

  if (control.step_over_calls != STEP_OVER_ALL
      || !find_own_code (pc, &lowest, &highest)
      || control.step_range_start < lowest || control.step_range_end > highest)
    return false;

  piece->range[0] = { control.step_range_start, control.step_range_end };
  piece->n_ranges = 1;
  piece->hidden_starts = true;
  piece->lines = true;
  return lz_piece_has (piece, pc);
}

/* Has a step been through the range that begins at START just now?  */

bool
lizard_target::comes_again (CORE_ADDR start)
{
  bool seen = std::find (std::begin (m_ranges), std::end (m_ranges), start)
	      != std::end (m_ranges);

  m_ranges[m_n_ranges++ % ARRAY_SIZE (m_ranges)] = start;
  return seen;
}

/* A loop of several rows would cost GDB a stop for each in each round,
   one that calls some for each call.  */

void
lizard_target::leave_loop (thread_info *thread,
			   struct lz_front_resume *how)
{
  const thread_control_state &control = thread->control;

  auto *find = how->direction == LZ_FORWARD ? find_rows : find_range_back;

  if (!comes_again (how->start) || !steps_undisturbed (thread)
      || (get_frame_id (get_current_frame ()) != control.step_frame_id)
      || inline_skipped_frames (thread) != 0
      || !find (thread, pc_of (thread), &how->piece))
    return;
  how->piece.without_calls = control.step_over_calls != STEP_OVER_ALL;
  how->how = LZ_RESUME_LEAVE;
}

void
lizard_target::resume (ptid_t ptid, int step, gdb_signal sig)
{
  thread_info *thread = inferior_thread ();
  struct lz_front_resume how {};
  bool interrupted = ctrlc_is_fresh ();

  m_direction = ::execution_direction;
  how.direction = m_direction == EXEC_REVERSE ? LZ_BACKWARD : LZ_FORWARD;
  how.how = step ? LZ_RESUME_STEP : LZ_RESUME_CONTINUE;
  how.tid = thread->ptid.lwp ();
  how.alone = step && ptid.lwp_p ();
  if (step && thread->control.may_range_step)
    {
      how.how = LZ_RESUME_RANGE;
      how.start = thread->control.step_range_start;
      how.end = thread->control.step_range_end;
      if (!how.alone && sig == GDB_SIGNAL_0)
	leave_loop (thread, &how);
    }
  else if (step && !how.alone && sig == GDB_SIGNAL_0)
    leave_inlined_call (thread, &how);
  m_left = how.piece;
  m_left_tid = how.tid;

  begin (how, interrupted);
}

void
lizard_target::begin (const struct lz_front_resume &how, bool interrupted)
{
  m_ctrlc = false;
  m_threads.clear ();
  choose_heed ();
  m_state = RUNNING;
  ignore_child_stops (true);
  m_worker->start ([this, how, interrupted]
    {
      run (how, interrupted);
    });
}

void
lizard_target::end ()
{
  wait_for_stop ();
  m_event_pipe.flush ();
  m_worker->call ([this]
    {
      lz_front_stop (m_front, &m_stop);
    });
  m_state = ENDED;
  ignore_child_stops (false);
  show_program_output ();
}

/* May be called while nothing is being replayed: between two resumes
   of one command, for instance while GDB evaluates a breakpoint's
   condition.  Then the thread counts as running nevertheless.  */

void
lizard_target::interrupt ()
{
  for (thread_info *thread : all_non_exited_threads (this))
    if (thread->state == THREAD_RUNNING || thread->executing ())
      m_ctrlc = true;
  m_ctrlc_at = clock::now ();
  if (m_state == RUNNING)
    lz_session_interrupt (m_session);
}

void
lizard_target::handle_stop (int error, gdb_client_data data)
{
  inferior_event_handler (INF_REG_EVENT);
}

void
lizard_target::handle_output (int error, gdb_client_data data)
{
  ((lizard_target *) data)->show_program_output ();
}

void
lizard_target::async (bool enable)
{
  if (enable == m_async)
    return;

  m_async = enable;
  if (enable)
    {
      add_file_handler (m_event_pipe.event_fd (), handle_stop, nullptr,
			"lizard");
      if (m_output[0] != -1)
	add_file_handler (m_output[0], handle_output, this, "lizard-output");
      return;
    }

  delete_file_handler (m_event_pipe.event_fd ());
  if (m_output[0] != -1)
    delete_file_handler (m_output[0]);
}

void
lizard_target::show_program_output ()
{
  char text[4096];
  ssize_t n;

  if (m_output[0] == -1)
    return;
  while ((n = read (m_output[0], text, sizeof text)) > 0)
    gdb_stdtarg->write (text, n);
  gdb_flush (gdb_stdtarg);
}

void
lizard_target::show_note ()
{
  if (m_note == nullptr)
    return;
  gdb_stdtarg->puts (m_note.get ());
  gdb_flush (gdb_stdtarg);
  m_note.reset ();
}

/* While such an object lives, Ctrl-C wakes interruptible_select even if
   Python has called us.  */

class gdb_is_active
{
public:
  gdb_is_active ()
    : m_previous (set_active_ext_lang (&extension_language_gdb))
  {}

  ~gdb_is_active ()
  { restore_active_ext_lang (m_previous); }

  DISABLE_COPY_AND_ASSIGN (gdb_is_active);

private:
  active_ext_lang_state *m_previous;
};

/* Sleep until the worker has announced the end of the resume.  */

void
lizard_target::wait_for_stop ()
{
  int fd = m_event_pipe.event_fd ();
  int output = m_output[0];
  gdb_is_active active;

  while (true)
    {
      fd_set readable;

      FD_ZERO (&readable);
      FD_SET (fd, &readable);
      if (output != -1)
	FD_SET (output, &readable);

      int n = interruptible_select (std::max (fd, output) + 1, &readable,
				    nullptr, nullptr, nullptr);

      if (n < 0 && check_quit_flag ())
	interrupt ();
      if (n > 0 && output != -1 && FD_ISSET (output, &readable))
	show_program_output ();
      if (n > 0 && FD_ISSET (fd, &readable))
	return;
    }
}

/* Is the end of the resume announced?  */

static bool
readable (int fd)
{
  fd_set fds;
  timeval at_once {};

  FD_ZERO (&fds);
  FD_SET (fd, &fds);
  return gdb_select (fd + 1, &fds, nullptr, nullptr, &at_once) > 0;
}

/* After a stop within the rows that were run through, the step's range is
   the row there, as if it had come from row to row.  */

void
lizard_target::find_range (thread_info *thread)
{
  CORE_ADDR pc = pc_of (thread);

  if (lz_piece_has (&m_left, pc))
    {
      symtab_and_line row = find_pc_line (pc, 0);

      thread->control.step_range_start = row.pc;
      thread->control.step_range_end = row.end;
    }
}

ptid_t
lizard_target::report_stop (target_waitstatus *status)
{
  ptid_t ptid (m_pid, m_tid);

  switch (m_stop.why)
    {
    case LZ_SHOWN_BEGIN:
    case LZ_SHOWN_END:
      status->set_no_history ();
      break;
    case LZ_SHOWN_EXEC:
      status->set_execd (make_unique_xstrdup (lz_front_program (m_front)));
      break;
    case LZ_SHOWN_CALL_ENTRY:
      status->set_syscall_entry (m_stop.nr);
      break;
    case LZ_SHOWN_CALL_RETURN:
      status->set_syscall_return (m_stop.nr);
      break;
    default:
      status->set_stopped (m_stop.signo == 0 ? GDB_SIGNAL_0
			   : gdb_signal_from_host (m_stop.signo));
      break;
    }

  /* The Ctrl-C has been taken.  */
  if (m_stop.why == LZ_SHOWN_SIGNAL && m_stop.signo == SIGINT)
    m_ctrlc = false;
  thread_info *thread = find_thread (ptid);
  if (thread == nullptr)
    thread = add_thread (this, ptid);
  m_state = STOPPED;
  if (m_stop.ran && m_left.lines && m_left_tid == m_tid)
    find_range (thread);
  return ptid;
}

ptid_t
lizard_target::wait (ptid_t ptid, target_waitstatus *status,
		     target_wait_flags options)
{
  if (m_state == STOPPED)
    {
      status->set_ignore ();
      return minus_one_ptid;
    }

  if (m_state == RUNNING)
    {
      if ((options & TARGET_WNOHANG) != 0
	  && !readable (m_event_pipe.event_fd ()))
	{
	  status->set_ignore ();
	  return minus_one_ptid;
	}
      end ();
      show_note ();
    }
  return report_stop (status);
}

void
lizard_target::with_front (const std::function<int (lz_front *)> &job)
{
  std::string error_text;
  uint32_t tid = inferior_ptid.lwp ();

  call ([] {});
  {
    scoped_restore state = make_scoped_restore (&m_state, RUNNING);

    m_worker->start ([&]
      {
	if (lz_front_select (m_front, tid) < 0 || job (m_front) < 0)
	  error_text = lz_error ();
	m_event_pipe.mark ();
      });
    wait_for_stop ();
    m_event_pipe.flush ();
  }
  /* Did one come too late for the job?  */
  if (lz_session_take_interrupt (m_session) && error_text.empty ())
    set_quit_flag ();
  if (!error_text.empty ())
    error ("%s", error_text.c_str ());
}
