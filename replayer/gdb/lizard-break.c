/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": breakpoints, watchpoints and catchpoints.

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
#include "target.h"

#include "lizard-target.h"

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

/* GDB 13 has a buffer and its length, newer ones have a vector.  */

template<typename E>
static auto
code_of (const E &e, int) -> decltype (e.buf.data (), lz_front_condition {})
{
  return { e.buf.data (), e.buf.size () };
}

template<typename E>
static lz_front_condition
code_of (const E &e, long)
{
  return { e.buf, (size_t) e.len };
}

int
lizard_target::insert (lz_front_kind kind, bp_target_info *info)
{
  std::vector<lz_front_condition> conditions;
  int result = -1;

  info->placed_address = info->reqstd_address;
  for (const agent_expr *condition : info->conditions)
    conditions.push_back (code_of (*condition, 0));
  call ([&]
    {
      result = lz_front_insert_if (m_front, kind, info->placed_address,
				   conditions.data (), conditions.size ());
    });
  return result;
}

static bool
is_users (const bp_location *loc)
{
  bptype type = loc->owner->type;

  return (type == bp_breakpoint || type == bp_hardware_breakpoint
	  || type == bp_dprintf);
}

/* GDB hands over the condition of a breakpoint for one of its own at the
   same address, with which it steps or finishes, as well.  Is there such
   a pair?  The locations are in the order of their addresses.  */

static bool
own_one_has_condition ()
{
  const std::vector<bp_location *> &all = all_bp_locations ();
  size_t end;

  for (size_t i = 0; i < all.size (); i = end)
    {
      bool own = false, condition = false;

      for (end = i; end < all.size () && all[end]->address == all[i]->address;
	   end++)
	{
	  own |= !is_users (all[end]);
	  condition |= is_users (all[end]) && all[end]->cond != nullptr;
	}
      if (own && condition)
	return true;
    }
  return false;
}

void
lizard_target::choose_heed ()
{
  m_heed = own_one_has_condition () ? LZ_HEED_NEVER : LZ_HEED_ALL;
}

int
lizard_target::insert_breakpoint (gdbarch *arch, bp_target_info *info)
{
  return insert (LZ_BREAK_SOFT, info);
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
  return insert (LZ_BREAK_HARD, info);
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

	/* SIGPOLL is SIGIO's other name; what counts is the one that is
	   reported.  */
	if (signo > 0 && signo < 64
	    && gdb_signal_from_host (signo) == (gdb_signal) i)
	  mask |= (uint64_t) 1 << signo;
      }
  m_passed_signals = mask;
}
