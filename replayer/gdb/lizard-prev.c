/* "target lizard": prev.

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


/* The library finds the place.  What remains is GDB's own: whether it
   shows the inlined functions that begin there as entered, and what it
   says of a stop behind "next".  */

#include "defs.h"
#include "block.h"
#include "breakpoint.h"
#include "frame.h"
#include "gdbcmd.h"
#include "gdbthread.h"
#include "inferior.h"
#include "inline-frame.h"
#include "observable.h"
#include "regcache.h"
#include "source.h"
#include "stack.h"
#include "symtab.h"

#include <algorithm>

#include "lizard-cmds.h"
#include "lizard-target.h"

/* GDB's rule for an inlined function that begins where control is: the
   byte before is not of it.  */

static bool
begins (frame_info_ptr frame)
{
  const block *mine = get_frame_block (frame, nullptr);
  const block *before = block_for_pc (get_frame_pc (frame) - 1);

  while (mine != nullptr && mine->function () == nullptr)
    mine = mine->superblock ();
  return before == nullptr || mine == nullptr
	 || !(before == mine || contained_in (before, mine));
}

/* The newest frame and those around it, as far as they are of inlined
   calls; only those that began before, if BEGUN.  */

static std::vector<frame_id>
inlined_frames (bool begun)
{
  std::vector<frame_id> frames;

  for (frame_info_ptr frame = get_current_frame ();
       frame != nullptr && get_frame_type (frame) == INLINE_FRAME;
       frame = get_prev_frame (frame))
    if (!begun || !begins (frame))
      frames.push_back (get_frame_id (frame));
  return frames;
}

static bool
is_in (const std::vector<frame_id> &frames, const frame_id &id)
{
  return std::find (frames.begin (), frames.end (), id) != frames.end ();
}

/* Hide the inlined functions that begin here, except those in WITHIN.
   GDB does so with all, but for the end of a stepi and for breakpoints of
   the user's; "step" then goes down into one without moving.  */

static void
hide_inlined (const std::vector<frame_id> &within)
{
  std::vector<frame_id> shown = inlined_frames (false);

  if (shown.empty () || is_in (within, shown[0]))
    return;

  thread_info *thread = inferior_thread ();
  target_waitstatus ws;
  bpstat *chain;

  regcache *regs = get_thread_regcache (thread);

  ws.set_stopped (GDB_SIGNAL_TRAP);
  chain = build_bpstat_chain (regs->aspace (), regcache_read_pc (regs), ws);
  clear_inline_frame_state (thread);
  skip_inline_frames (thread, chain);
  bpstat_clear (&chain);

  size_t hidden = shown.size () - inlined_frames (false).size ();

  for (size_t i = 0; i < hidden; i++)
    if (is_in (within, shown[i]))
      step_into_inline_frame (thread);
}

/* Where to put what GDB says of the next stop in front of the place, if
   anybody wants it.  It must be asked at once, since temporary
   breakpoints are deleted then.  */
static std::string *wanted_reason;

static void
note_reason (bpstat *bs, int print_frame)
{
  if (wanted_reason != nullptr)
    execute_fn_to_string (*wanted_reason, [&]
      {
	bpstat_print (bs, TARGET_WAITKIND_STOPPED);
      }, false);
}

/* What GDB shows after a step that began in frame OLD and stopped for
   REASON.  */

static void
print_as_after_step (const frame_id &old, const std::string &reason)
{
  frame_info_ptr frame = get_current_frame ();
  print_what what = SRC_AND_LOC;

  gdb_puts (reason.c_str ());
  if (reason.empty () && get_frame_id (frame) == old
      && find_frame_sal (frame).symtab != nullptr)
    what = SRC_LINE;
  select_frame (frame);
  print_stack_frame (frame, 0, what, 1);
  do_displays ();
}

/* Where inlined functions begin that control was not in, GDB shows the
   place as outside of them, as "next" does.  */

static void
back_next (const std::string &text)
{
  frame_id old = get_frame_id (get_current_frame ());
  std::vector<frame_id> within = inlined_frames (true);

  std::string reason;
  {
    scoped_restore wanted = make_scoped_restore (&wanted_reason, &reason);

    lizard_move_silently (text);
  }
  lizard_settle (false);
  hide_inlined (within);
  print_as_after_step (old, reason);
}

static void
prev_command (const char *args, int from_tty)
{
  LONGEST count = lizard_count (args);

  if (count <= 0)
    return;
  lizard_need_process ();
  if (!lizard_is_instrumented ())
    {
      lizard_say (_("The program was not built with lizard-cc: "
		    "this is GDB's reverse-next.\n"));
      lizard_run_command (string_printf ("reverse-next %s", plongest (count)),
			  from_tty);
      return;
    }

  std::string text = string_printf ("back-next %s", plongest (count));

  if (!lizard_machine_interface)
    {
      back_next (text);
      return;
    }
  lizard_carry_out (text);
  lizard_settle (true);
}

void _initialize_lizard_prev ();
void
_initialize_lizard_prev ()
{
  gdb::observers::normal_stop.attach (note_reason, "lizard-prev");
  add_cmd ("prev", class_lizard, prev_command, _("\
Step backward, over functions: the exact reverse of \"next\".\n\
Usage: prev [N]\n\
Breakpoints inside functions stepped over do not count."), &cmdlist);
}
