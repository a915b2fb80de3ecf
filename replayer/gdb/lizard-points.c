/* "target lizard": breakpoints that commands set and put aside.

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
#include "arch-utils.h"
#include "breakpoint.h"
#include "gdbthread.h"
#include "inferior.h"
#include "location.h"

#include "lizard-cmds.h"

lizard_quiet::lizard_quiet ()
{
  for (breakpoint *b : all_breakpoints ())
    if (user_breakpoint_p (b) && b->enable_state == bp_enabled)
      m_off.emplace_back (b->number, b->enable_count);
  for (const auto &off : m_off)
    disable_breakpoint (get_breakpoint (off.first));
}

lizard_quiet::~lizard_quiet ()
{
  for (const auto &off : m_off)
    try
      {
	breakpoint *b = get_breakpoint (off.first);

	if (b == nullptr)
	  continue;
	enable_breakpoint (b);
	/* That of "enable count", which this ends.  */
	b->enable_count = off.second;
      }
    catch (const gdb_exception &ex)
      {
	lizard_say ("%s\n", ex.what ());
      }
}

lizard_point::~lizard_point ()
{
  try
    {
      remove ();
    }
  catch (const gdb_exception &ex)
    {
      lizard_say ("%s\n", ex.what ());
    }
}

void
lizard_point::remove ()
{
  breakpoint *b = get ();

  m_number = 0;
  if (b != nullptr)
    delete_breakpoint (b);
}

breakpoint *
lizard_point::get () const
{
  return m_number == 0 ? nullptr : get_breakpoint (m_number);
}

/* Numbers of internal breakpoints count downwards.  */

void
lizard_point::adopt_last ()
{
  for (breakpoint *b : all_breakpoints ())
    m_number = std::min (m_number, b->number);
  breakpoint_set_silent (get (), 1);
}

void
lizard_point::set_break (location_spec *spec, const char *condition)
{
  create_breakpoint (get_current_arch (), spec, condition, -1, nullptr,
		     false, 0, 0, bp_breakpoint, 0, AUTO_BOOLEAN_FALSE,
		     &code_breakpoint_ops, 0, 1, 1, 0);
  adopt_last ();
}

void
lizard_point::set_watch (const std::string &expression)
{
  watch_command_wrapper (expression.c_str (), 0, true);
  adopt_last ();
}

bool
lizard_point::stopped () const
{
  thread_info *thread = inferior_thread ();
  const breakpoint *b = get ();

  if (b == nullptr || (thread->stop_signal () != GDB_SIGNAL_0
		       && thread->stop_signal () != GDB_SIGNAL_TRAP))
    return false;
  for (const bpstat *bs = thread->control.stop_bpstat; bs != nullptr;
       bs = bs->next)
    if (bs->breakpoint_at == b)
      return true;
  return false;
}
