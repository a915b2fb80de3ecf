/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of "target lizard" share.

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


#ifndef LIZARD_TARGET_H
#define LIZARD_TARGET_H

#include "command.h"
#include "gdbsupport/event-loop.h"
#include "gdbsupport/event-pipe.h"
#include "process-stratum-target.h"
#include "record.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

extern "C"
{
#include <lizard/error.h>
#include <lizard/front.h>
}

class lizard_worker;

/* The move to a place as users write it: start, end, N%, or a position.
   Throws an error if it is none.  */

extern lz_front_move lizard_move_to (const char *where);

/* Carry out a move of the current inferior's replay, and show the new
   place.  Throws an error if that fails.  */

extern void lizard_go (const lz_front_move &move);

/* The same, without a word.  Returns what there is to say.  */

extern std::string lizard_move (const lz_front_move &move);

/* Have GDB look what libraries there are.  A move may pass an instant at
   which the program loaded one, but unloads none, so GDB need not say what
   it does about breakpoints in one that was not there yet.  True if GDB
   had not read the symbols of one.  */

extern bool lizard_refresh_libraries ();

/* What there is to say about a move, and why it could not be made; both
   may be empty.  */

struct lizard_outcome
{
  std::string note, failure;
  std::string program; /* the move led into this other one */
};

/* What a user is told of the recording.  */

struct lizard_info_deleter
{
  void operator() (lz_front_recording *info) const
  {
    lz_front_recording_free (info);
    delete info;
  }
};

using lizard_info = std::unique_ptr<lz_front_recording, lizard_info_deleter>;

/* Put OURS in front of what GDB's command TEXT does.  Returns the
   command, or null if there is none; GDB's own goes to GDBS.  */

extern cmd_list_element *lizard_take_over (const char *text,
					   cmd_func_ftype *ours,
					   cmd_func_ftype **gdbs);

/* Has lizard-gdb started this GDB?  Then there is nothing else than
   recordings.  */

extern bool lizard_recordings_only ();

/* Source Lizard's commands, which are in Python, if nobody has yet.  */

extern void lizard_load_commands ();

/* "record save FILENAME".  */

extern void lizard_save_recording (const char *filename);

/* What "record function-call-history" and "record instruction-history"
   show: see target.h.  */

extern void lizard_print_calls (int size, record_print_flags flags);
extern void lizard_print_calls_from (ULONGEST time, int size,
				     record_print_flags flags);
extern void lizard_print_calls_between (ULONGEST from, ULONGEST to,
					record_print_flags flags);
extern void lizard_print_instructions (int size, gdb_disassembly_flags flags);
extern void lizard_print_instructions_from (LONGEST from, int size,
					    gdb_disassembly_flags flags);
extern void lizard_print_instructions_between (LONGEST from, LONGEST to,
					       gdb_disassembly_flags flags);

/* Have the current inferior's target answer "info record" and "record
   goto", too.  */

extern void push_lizard_record_target ();

/* How a recording is to be opened.  */

struct lizard_open_options
{
  bool at_end = false;
  bool echo = false;
  std::string what;
};

class lizard_target final : public process_stratum_target
{
public:
  lizard_target () = default;
  ~lizard_target () override;

  /* Open the recording, or throw an error.  */
  void open (const lizard_open_options &options);

  /* Add the recorded process to the current inferior.  */
  void appear ();

  /* The present instant.  */
  lz_front_instant now ();

  /* The same as text.  */
  std::string position ();

  lizard_info recording ();

  /* Have the next reverse resume carry out MOVE.  */
  void arm (const lz_front_move &move);

  /* What there is to say about the last move.  */
  lizard_outcome outcome ();

  /* Carry out a move of which GDB knows nothing.  */
  lizard_outcome move (const lz_front_move &move);

  /* Has Ctrl-C ended the last resume or move?  */
  bool is_interrupted () const
  { return stopped_at (LZ_SHOWN_SIGNAL) && m_stop.signo == SIGINT; }

  /* Does GDB have the present list of libraries?  */
  bool is_list_of_libraries_known ();

  /* The user is shown this instant, where a move of his ends.  True if a
     continue backwards has found nothing.  */
  bool here ();

  /* No signal stops a run, if PASS.  */
  void pass_all_signals (bool pass);

  /* Is this where the last resume or move came to the recording's
     begin?  */
  bool is_at_begin () const
  { return stopped_at (LZ_SHOWN_BEGIN); }

  /* After a move of which GDB knows nothing: have it look at the thread
     that runs there.  */
  void follow_thread ();

  /* The position at which "record" was given, or empty.  */
  std::string record_begin;

  /* Have the worker call JOB, which may take long and can be interrupted,
     for the selected thread.  It returns -1 on failure; then throw the
     library's error.  */
  void with_front (const std::function<int (lz_front *)> &job);

  const target_info &info () const override;

  const char *connection_string () override
  { return m_dir.c_str (); }

  void close () override;
  void detach (inferior *inf, int from_tty) override;
  void disconnect (const char *args, int from_tty) override;
  void kill () override;
  void mourn_inferior () override;

  void resume (ptid_t ptid, int step, gdb_signal sig) override;
  ptid_t wait (ptid_t ptid, target_waitstatus *status,
	       target_wait_flags options) override;
  void interrupt () override;
  void stop (ptid_t ptid) override
  { interrupt (); }

  /* As through the server: a locked scheduler moves one thread as far as
     the recording lets it.  */
  thread_control_capabilities get_thread_control_capabilities () override
  { return tc_schedlock; }

  bool can_async_p () override
  { return target_async_permitted; }

  bool is_async_p () override
  { return m_async; }

  void async (bool enable) override;

  int async_wait_fd () override
  { return m_event_pipe.event_fd (); }

  bool can_execute_reverse () override
  { return true; }

  exec_direction_kind execution_direction () override
  { return m_direction; }

  void fetch_registers (regcache *regs, int regnum) override;
  void store_registers (regcache *regs, int regnum) override;
  void prepare_to_store (regcache *regs) override
  {}

  target_xfer_status xfer_partial (target_object object, const char *annex,
				   gdb_byte *readbuf,
				   const gdb_byte *writebuf, ULONGEST offset,
				   ULONGEST len,
				   ULONGEST *xfered_len) override;

  bool supports_evaluation_of_breakpoint_conditions () override
  { return true; }
  int insert_breakpoint (gdbarch *arch, bp_target_info *info) override;
  int remove_breakpoint (gdbarch *arch, bp_target_info *info,
			 remove_bp_reason reason) override;
  int can_use_hw_breakpoint (bptype type, int count, int other) override
  { return 1; }
  int insert_hw_breakpoint (gdbarch *arch, bp_target_info *info) override;
  int remove_hw_breakpoint (gdbarch *arch, bp_target_info *info) override;
  int insert_watchpoint (CORE_ADDR addr, int len, target_hw_bp_type type,
			 expression *condition) override;
  int remove_watchpoint (CORE_ADDR addr, int len, target_hw_bp_type type,
			 expression *condition) override;
  int region_ok_for_hw_watchpoint (CORE_ADDR addr, int len) override
  { return 1; }

  bool supports_stopped_by_sw_breakpoint () override
  { return true; }
  bool stopped_by_sw_breakpoint () override
  { return stopped_at (LZ_SHOWN_BREAK) && m_stop.kind == LZ_BREAK_SOFT; }
  bool supports_stopped_by_hw_breakpoint () override
  { return true; }
  bool stopped_by_hw_breakpoint () override
  { return stopped_at (LZ_SHOWN_BREAK) && m_stop.kind == LZ_BREAK_HARD; }
  bool stopped_by_watchpoint () override
  { return stopped_at (LZ_SHOWN_WATCH); }
  bool stopped_data_address (CORE_ADDR *addr) override;

  int set_syscall_catchpoint (int pid, bool needed, int any_count,
			      gdb::array_view<const int> counts) override;
  void pass_signals (gdb::array_view<const unsigned char> pass) override;

  bool thread_alive (ptid_t ptid) override;
  void update_thread_list () override;
  std::string pid_to_str (ptid_t ptid) override;
  const char *thread_name (thread_info *thread) override;
  const char *extra_thread_info (thread_info *thread) override;
  CORE_ADDR get_thread_local_address (ptid_t ptid, CORE_ADDR load_module,
				      CORE_ADDR offset) override;
  const char *pid_to_exec_file (int pid) override
  { return lz_front_program (m_front); }

  void rcmd (const char *command, ui_file *output) override;

  /* Files are the recorded program's: made up from the recording, or
     its copies.  */
  bool filesystem_is_local () override
  { return false; }
  int fileio_open (inferior *inf, const char *filename, int flags, int mode,
		   int warn_if_slow, fileio_error *target_errno) override;
  int fileio_pread (int fd, gdb_byte *buf, int len, ULONGEST offset,
		    fileio_error *target_errno) override;
  int fileio_fstat (int fd, struct stat *sb,
		    fileio_error *target_errno) override;
  int fileio_close (int fd, fileio_error *target_errno) override;
  std::optional<std::string> fileio_readlink (inferior *inf,
					      const char *filename,
					      fileio_error *target_errno)
    override;

private:
  using clock = std::chrono::steady_clock;

  void check_stopped () const;
  void call (const std::function<void ()> &job);
  void open_in_worker (const lizard_open_options &options, int echo_fd,
		       std::string *error);
  void run (const struct lz_front_resume &how, bool interrupted);
  void begin (const struct lz_front_resume &how, bool interrupted);
  void end ();
  void wait_for_stop ();
  void show_program_output ();
  void show_note ();
  void ignore_child_stops (bool ignore);
  bool ctrlc_is_fresh () const;
  bool comes_again (CORE_ADDR start);
  void leave_loop (thread_info *thread, struct lz_front_resume *how);
  void find_range (thread_info *thread);
  ptid_t report_stop (target_waitstatus *status);
  int insert (lz_front_kind kind, CORE_ADDR addr, int len);
  int insert (lz_front_kind kind, bp_target_info *info);
  void choose_heed ();
  int remove (lz_front_kind kind, CORE_ADDR addr, int len);
  bool stopped_at (lz_front_why why) const
  { return m_state != RUNNING && m_stop.why == why; }
  target_xfer_status xfer_memory (gdb_byte *readbuf,
				  const gdb_byte *writebuf, CORE_ADDR addr,
				  ULONGEST len, ULONGEST *xfered_len);

  std::string list_libraries ();
  void list_threads ();
  const lz_front_thread *recorded_thread (ptid_t ptid);

  static void handle_stop (int error, gdb_client_data data);
  static void handle_output (int error, gdb_client_data data);

  /* Owned by the worker while the state is RUNNING, by GDB's main
     thread otherwise.  */
  std::unique_ptr<lizard_worker> m_worker;
  lz_session *m_session = nullptr;
  lz_front *m_front = nullptr;
  struct lz_front_stop m_stop {};
  gdb::unique_xmalloc_ptr<char> m_note;
  int m_tid = 0;

  std::string m_dir;
  int m_pid = 0;

  /* The list of libraries that GDB has read last.  */
  std::string m_libraries;

  /* Those of the present position, or empty if nobody has asked.  */
  std::vector<lz_front_thread> m_threads;

  /* ENDED: there is a stop that GDB has not heard of.  */
  enum { STOPPED, RUNNING, ENDED } m_state = STOPPED;
  exec_direction_kind m_direction = EXEC_FORWARD;
  uint64_t m_passed_signals = 0;
  /* Whether the next run heeds conditions.  */
  lz_front_heed m_heed = LZ_HEED_NEVER;

  /* Marked by the worker at the end of a resume.  */
  event_pipe m_event_pipe;
  bool m_async = false;

  /* The program's output, or -1.  */
  int m_output[2] = { -1, -1 };

  /* Where the last ranges began that steps went through.  */
  CORE_ADDR m_ranges[8] {};
  unsigned m_n_ranges = 0;

  /* What the last resume may have run through, in which thread.  */
  struct lz_piece_of_code m_left {};
  int m_left_tid = 0;

  /* A Ctrl-C that no resume has taken.  */
  clock::time_point m_ctrlc_at;
  bool m_ctrlc = false;
};

/* The target that replays the current inferior, or throw an error.  */

extern lizard_target *current_lizard_target ();

#endif /* LIZARD_TARGET_H */
