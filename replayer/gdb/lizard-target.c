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
   since a resume takes as long as the program does.  It does one job
   after the other: GDB waits for the short ones; the end of a resume
   is announced through a pipe.  */

#include "defs.h"
#include "arch-utils.h"
#include "breakpoint.h"
#include "cli/cli-utils.h"
#include "completer.h"
#include "exec.h"
#include "gdbcmd.h"
#include "gdbcore.h"
#include "gdbsupport/block-signals.h"
#include "gdbsupport/buildargv.h"
#include "gdbsupport/event-loop.h"
#include "gdbsupport/event-pipe.h"
#include "gdbsupport/filestuff.h"
#include "gdbsupport/gdb-sigmask.h"
#include "gdbsupport/gdb_select.h"
#include "gdbsupport/gdb_tilde_expand.h"
#include "gdbthread.h"
#include "inf-loop.h"
#include "inferior.h"
#include "infrun.h"
#include "process-stratum-target.h"
#include "progspace-and-thread.h"
#include "regcache.h"
#include "solib.h"
#include "stack.h"
#include "target-dcache.h"
#include "symfile.h"
#include "target.h"
#include "target-descriptions.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

extern "C"
{
#include <lizard/error.h>
#include <lizard/front.h>
}

#include "lizard-target.h"

/* The thread that owns the session.  */

class lizard_worker
{
public:
  lizard_worker ()
  {
    /* The signals that GDB handles are for its main thread.  */
    gdb::block_signals blocker;

    m_thread = std::thread (&lizard_worker::loop, this);
  }

  ~lizard_worker ()
  {
    start (nullptr);
    m_thread.join ();
  }

  DISABLE_COPY_AND_ASSIGN (lizard_worker);

  /* Have JOB done and wait for it.  */
  void call (const std::function<void ()> &job)
  {
    start (job);

    std::unique_lock<std::mutex> lock (m_mutex);
    m_change.wait (lock, [this] { return !m_busy; });
  }

  /* Have JOB begun, after what is being done.  An empty one is the
     last.  */
  void start (std::function<void ()> job)
  {
    std::unique_lock<std::mutex> lock (m_mutex);

    m_change.wait (lock, [this] { return !m_busy; });
    m_job = std::move (job);
    m_busy = true;
    m_change.notify_all ();
  }

private:
  void loop ()
  {
    std::unique_lock<std::mutex> lock (m_mutex);

    while (true)
      {
	m_change.wait (lock, [this] { return m_busy; });
	if (!m_job)
	  return;

	lock.unlock ();
	m_job ();
	lock.lock ();

	m_busy = false;
	m_change.notify_all ();
      }
  }

  std::thread m_thread;
  std::mutex m_mutex;
  std::condition_variable m_change;
  std::function<void ()> m_job;
  bool m_busy = false;
};

static const target_info lizard_target_info = {
  "lizard",
  N_("Recording made by lizard-trace"),
  N_("Replay a recording made by lizard-trace.\n\
Usage: target lizard [-end] [-echo] RECORDING|PROGRAM\n\
Begins at the start of the recording, or at its end with -end.\n\
With -echo, what the program writes is shown.")
};

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

  /* Carry out a move given as text, and return what there is to say
     about it.  */
  std::string move (const char *text);

  /* The answer to a monitor command.  */
  std::string ask (const char *command);

  const target_info &info () const override
  { return lizard_target_info; }

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

  bool thread_alive (ptid_t ptid) override
  { return ptid.pid () == m_pid; }
  std::string pid_to_str (ptid_t ptid) override;
  const char *thread_name (thread_info *thread) override
  { return m_comm.c_str (); }
  const char *pid_to_exec_file (int pid) override
  { return m_program.c_str (); }

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
  gdb::optional<std::string> fileio_readlink (inferior *inf,
					      const char *filename,
					      fileio_error *target_errno)
    override;

private:
  using clock = std::chrono::steady_clock;

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
  ptid_t report_stop (target_waitstatus *status);
  int insert (lz_front_kind kind, CORE_ADDR addr, int len);
  int remove (lz_front_kind kind, CORE_ADDR addr, int len);
  bool stopped_at (lz_front_why why) const
  { return m_state != RUNNING && m_stop.why == why; }
  target_xfer_status xfer_memory (gdb_byte *readbuf,
				  const gdb_byte *writebuf, CORE_ADDR addr,
				  ULONGEST len, ULONGEST *xfered_len);

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

  std::string m_dir, m_program, m_comm;
  int m_pid = 0;

  /* ENDED: there is a stop that GDB has not heard of.  */
  enum { STOPPED, RUNNING, ENDED } m_state = STOPPED;
  exec_direction_kind m_direction = EXEC_FORWARD;
  uint64_t m_passed_signals = 0;

  /* Marked by the worker at the end of a resume.  */
  event_pipe m_event_pipe;
  bool m_async = false;

  /* The program's output, or -1.  */
  int m_output[2] = { -1, -1 };

  /* When the present resume began; a Ctrl-C that it did not take.  */
  clock::time_point m_begun;
  clock::time_point m_ctrlc_at;
  bool m_ctrlc = false;
};

/* A run forgets the interrupts that came before it began in the
   worker, which is this much later at most.  */
static const std::chrono::milliseconds settle_time {10};

/* A Ctrl-C between two resumes of one command stops the next one.  */
static const std::chrono::milliseconds ctrlc_lifetime {1000};

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

  m_pid = lz_front_pid (m_front);
  m_tid = lz_front_tid (m_front);
  m_program = lz_front_program (m_front);
  m_comm = lz_front_comm (m_front);
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
  if (get_exec_file (0) == nullptr)
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

/* Have JOB done by the worker, which must have nothing else to do.  */

void
lizard_target::call (const std::function<void ()> &job)
{
  if (m_state == RUNNING)
    error (_("Cannot do this while the recording is being replayed.\n\
Try the `interrupt' command first."));
  m_worker->call (job);
}

/* In the worker: carry out a resume.  */

void
lizard_target::run (const struct lz_front_resume &how, bool interrupted)
{
  lz_front_pass_signals (m_front, m_passed_signals);
  if (interrupted)
    lz_front_not_resumed (m_front);
  else
    lz_front_resume (m_front, &how);
  lz_front_stop (m_front, &m_stop);
  m_note.reset (lz_front_note (m_front));
  m_tid = lz_front_tid (m_front);
  m_event_pipe.mark ();
}

/* Resuming and waiting.  */

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

void
lizard_target::resume (ptid_t ptid, int step, gdb_signal sig)
{
  thread_info *thread = inferior_thread ();
  struct lz_front_resume how {};
  bool interrupted = ctrlc_is_fresh ();

  m_direction = ::execution_direction;
  how.direction = m_direction == EXEC_REVERSE ? LZ_BACKWARD : LZ_FORWARD;
  how.how = step ? LZ_RESUME_STEP : LZ_RESUME_CONTINUE;
  if (step && m_direction == EXEC_FORWARD && thread->control.may_range_step)
    {
      how.how = LZ_RESUME_RANGE;
      how.start = thread->control.step_range_start;
      how.end = thread->control.step_range_end;
    }

  begin (how, interrupted);
}

void
lizard_target::begin (const struct lz_front_resume &how, bool interrupted)
{
  m_ctrlc = false;
  m_begun = clock::now ();
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
  if (m_state != RUNNING)
    return;

  /* Interrupts that come before the run has begun are forgotten by
     it.  */
  std::this_thread::sleep_until (m_begun + settle_time);
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

/* Sleep until the worker has announced the end of the resume.  */

void
lizard_target::wait_for_stop ()
{
  int fd = m_event_pipe.event_fd ();
  int output = m_output[0];

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
  if (find_thread_ptid (this, ptid) == nullptr)
    add_thread (this, ptid);
  m_state = STOPPED;
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

/* Registers.  The target description, and with it the numbers, are
   Lizard's.  */

void
lizard_target::fetch_registers (regcache *regs, int regnum)
{
  gdbarch *arch = regs->arch ();
  int first = regnum == -1 ? 0 : regnum;
  int last = regnum == -1 ? gdbarch_num_regs (arch) - 1 : regnum;

  call ([&]
    {
      for (int i = first; i <= last; i++)
	{
	  gdb_byte bytes[LZ_REG_MAX];
	  int nr = gdbarch_remote_register_number (arch, i);
	  size_t n = nr < 0 ? 0 : lz_front_register (m_front, nr, bytes);
	  bool fits = n != 0 && n == register_size (arch, i);

	  regs->raw_supply (i, fits ? bytes : nullptr);
	}
    });
}

void
lizard_target::store_registers (regcache *regs, int regnum)
{
  gdbarch *arch = regs->arch ();
  int first = regnum == -1 ? 0 : regnum;
  int last = regnum == -1 ? gdbarch_num_regs (arch) - 1 : regnum;
  std::vector<size_t> nrs;
  gdb::byte_vector bytes;
  std::string error_text;

  for (int i = first; i <= last; i++)
    {
      int nr = gdbarch_remote_register_number (arch, i);
      size_t at = bytes.size ();

      if (nr < 0 || (size_t) nr >= lz_front_n_registers (m_front)
	  || regs->get_register_status (i) != REG_VALID)
	continue;
      nrs.push_back (nr);
      bytes.resize (at + register_size (arch, i));
      regs->raw_collect (i, &bytes[at]);
    }

  call ([&]
    {
      if (lz_front_set_registers (m_front, nrs.data (), nrs.size (),
				  bytes.data ()) < 0)
	error_text = lz_error ();
    });
  if (!error_text.empty ())
    error ("%s", error_text.c_str ());
}

/* Memory and other objects.  */

target_xfer_status
lizard_target::xfer_memory (gdb_byte *readbuf, const gdb_byte *writebuf,
			    CORE_ADDR addr, ULONGEST len,
			    ULONGEST *xfered_len)
{
  ULONGEST done = 0;

  if (m_state == RUNNING)
    return TARGET_XFER_E_IO;
  call ([&]
    {
      if (readbuf != nullptr)
	done = lz_front_read (m_front, addr, readbuf, len);
      else if (lz_front_write (m_front, addr, writebuf, len) == 0)
	done = len;
    });
  *xfered_len = done;
  return done == 0 ? TARGET_XFER_E_IO : TARGET_XFER_OK;
}

/* The part of an object of SIZE bytes that a transfer asks for.  */

static target_xfer_status
xfer_part (const void *object, size_t size, gdb_byte *readbuf,
	   ULONGEST offset, ULONGEST len, ULONGEST *xfered_len)
{
  if (object == nullptr || readbuf == nullptr)
    return TARGET_XFER_E_IO;
  if (offset >= size)
    return TARGET_XFER_EOF;
  *xfered_len = std::min<ULONGEST> (len, size - offset);
  memcpy (readbuf, (const gdb_byte *) object + offset, *xfered_len);
  return TARGET_XFER_OK;
}

target_xfer_status
lizard_target::xfer_partial (target_object object, const char *annex,
			     gdb_byte *readbuf, const gdb_byte *writebuf,
			     ULONGEST offset, ULONGEST len,
			     ULONGEST *xfered_len)
{
  const void *found = nullptr;
  size_t size = 0;

  switch (object)
    {
    case TARGET_OBJECT_MEMORY:
    case TARGET_OBJECT_RAW_MEMORY:
      return xfer_memory (readbuf, writebuf, offset, len, xfered_len);
    case TARGET_OBJECT_AVAILABLE_FEATURES:
      if (strcmp (annex, "target.xml") == 0)
	{
	  found = lz_front_features (m_front);
	  size = strlen ((const char *) found);
	}
      break;
    case TARGET_OBJECT_AUXV:
      found = lz_front_auxv (m_front, &size);
      break;
    case TARGET_OBJECT_SIGNAL_INFO:
      call ([&]
	{
	  found = lz_front_siginfo (m_front, &size);
	});
      break;
    default:
      break;
    }
  return xfer_part (found, size, readbuf, offset, len, xfered_len);
}

/* Breakpoints, watchpoints and catchpoints.  */

int
lizard_target::insert (lz_front_kind kind, CORE_ADDR addr, int len)
{
  int result = -1;

  call ([&]
    {
      result = lz_front_insert (m_front, kind, addr, len);
    });
  return result;
}

int
lizard_target::remove (lz_front_kind kind, CORE_ADDR addr, int len)
{
  call ([&]
    {
      lz_front_remove (m_front, kind, addr, len);
    });
  return 0;
}

int
lizard_target::insert_breakpoint (gdbarch *arch, bp_target_info *info)
{
  info->placed_address = info->reqstd_address;
  return insert (LZ_BREAK_SOFT, info->placed_address, 1);
}

int
lizard_target::remove_breakpoint (gdbarch *arch, bp_target_info *info,
				  remove_bp_reason reason)
{
  return remove (LZ_BREAK_SOFT, info->placed_address, 1);
}

int
lizard_target::insert_hw_breakpoint (gdbarch *arch, bp_target_info *info)
{
  info->placed_address = info->reqstd_address;
  return insert (LZ_BREAK_HARD, info->placed_address, 1);
}

int
lizard_target::remove_hw_breakpoint (gdbarch *arch, bp_target_info *info)
{
  return remove (LZ_BREAK_HARD, info->placed_address, 1);
}

static lz_front_kind
watch_kind (target_hw_bp_type type)
{
  switch (type)
    {
    case hw_read:
      return LZ_WATCH_READ;
    case hw_access:
      return LZ_WATCH_ACCESS;
    default:
      return LZ_WATCH_WRITE;
    }
}

int
lizard_target::insert_watchpoint (CORE_ADDR addr, int len,
				  target_hw_bp_type type,
				  expression *condition)
{
  return insert (watch_kind (type), addr, len);
}

int
lizard_target::remove_watchpoint (CORE_ADDR addr, int len,
				  target_hw_bp_type type,
				  expression *condition)
{
  return remove (watch_kind (type), addr, len);
}

bool
lizard_target::stopped_data_address (CORE_ADDR *addr)
{
  if (!stopped_by_watchpoint ())
    return false;
  *addr = m_stop.addr;
  return true;
}

int
lizard_target::set_syscall_catchpoint (int pid, bool needed, int any_count,
				       gdb::array_view<const int> counts)
{
  std::vector<uint32_t> nrs;

  for (size_t i = 0; any_count == 0 && i < counts.size (); i++)
    if (counts[i] != 0)
      nrs.push_back (i);

  call ([&]
    {
      if (needed)
	lz_front_catch (m_front, nrs.data (), nrs.size ());
      else
	lz_front_catch_none (m_front);
    });
  return 0;
}

void
lizard_target::pass_signals (gdb::array_view<const unsigned char> pass)
{
  uint64_t mask = 0;

  for (size_t i = 0; i < pass.size (); i++)
    if (pass[i] && gdb_signal_to_host_p ((gdb_signal) i))
      {
	int signo = gdb_signal_to_host ((gdb_signal) i);

	if (signo > 0 && signo < 64)
	  mask |= (uint64_t) 1 << signo;
      }
  m_passed_signals = mask;
}

/* Names and commands.  */

std::string
lizard_target::pid_to_str (ptid_t ptid)
{
  if (ptid.lwp () == 0)
    return normal_pid_to_str (ptid);
  return string_printf ("Thread %d.%ld", ptid.pid (), ptid.lwp ());
}

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
  begin (how, false);
  end ();
  m_state = STOPPED;

  std::string note = m_note == nullptr ? ask ("note") : m_note.get ();

  m_note.reset ();
  return note;
}

static lizard_target *
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

/* GDB has resumed nothing, so it must be told that all has changed.  */

void
lizard_go (const char *move)
{
  static const char failed[] = "error: ";
  std::string note = current_lizard_target ()->move (move);

  registers_changed ();
  target_dcache_invalidate ();
  reinit_frame_cache ();
  solib_add (nullptr, 0, auto_solib_add);
  inferior_thread ()->set_stop_pc
    (regcache_read_pc (get_current_regcache ()));

  if (startswith (note.c_str (), failed))
    {
      note.pop_back ();
      error ("%s", note.c_str () + strlen (failed));
    }
  if (note != "history\n")
    gdb_puts (note.c_str ());
  print_stack_frame (get_selected_frame (nullptr), 1, SRC_AND_LOC, 1);
}

/* Files.  */

int
lizard_target::fileio_open (inferior *inf, const char *filename, int flags,
			    int mode, int warn_if_slow,
			    fileio_error *target_errno)
{
  int fd = -1;

  if (flags != FILEIO_O_RDONLY)
    {
      *target_errno = FILEIO_EROFS;
      return -1;
    }
  call ([&]
    {
      fd = lz_front_open (m_front, filename);
    });
  if (fd < 0)
    *target_errno = FILEIO_ENOENT;
  return fd;
}

int
lizard_target::fileio_pread (int fd, gdb_byte *buf, int len, ULONGEST offset,
			     fileio_error *target_errno)
{
  int n = pread (fd, buf, len, offset);

  if (n < 0)
    *target_errno = host_to_fileio_error (errno);
  return n;
}

int
lizard_target::fileio_fstat (int fd, struct stat *sb,
			     fileio_error *target_errno)
{
  int result = fstat (fd, sb);

  if (result < 0)
    *target_errno = host_to_fileio_error (errno);
  return result;
}

int
lizard_target::fileio_close (int fd, fileio_error *target_errno)
{
  return ::close (fd);
}

gdb::optional<std::string>
lizard_target::fileio_readlink (inferior *inf, const char *filename,
				fileio_error *target_errno)
{
  gdb::unique_xmalloc_ptr<char> target;

  call ([&]
    {
      target.reset (lz_front_readlink (m_front, filename));
    });
  if (target == nullptr)
    {
      *target_errno = FILEIO_ENOENT;
      return {};
    }
  return std::string (target.get ());
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

  target_preopen (from_tty);

  lizard_target *target = new lizard_target ();
  target_ops_up holder (target);

  target->open (options);
  no_shared_libraries (nullptr, 0);
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
  add_target (lizard_target_info, lizard_target_open, filename_completer);
}
