/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": threads, which come and go as the position moves.

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

#include "gdbthread.h"
#include "inferior.h"
#include "target.h"

#include "lizard-target.h"

/* Make m_threads those of the present position.  */

void
lizard_target::list_threads ()
{
  lz_front_thread *threads = nullptr;
  uint32_t n = 0;

  if (m_state == RUNNING || !m_threads.empty ())
    return;
  call ([&]
    {
      if (lz_front_threads (m_front, &threads, &n) < 0)
	threads = nullptr;
    });
  if (threads == nullptr)
    return;
  m_threads.assign (threads, threads + n);
  free (threads);
}

const lz_front_thread *
lizard_target::recorded_thread (ptid_t ptid)
{
  list_threads ();
  for (const lz_front_thread &thread : m_threads)
    if (thread.tid == (uint32_t) ptid.lwp ())
      return &thread;
  return nullptr;
}

/* While the recording runs, nobody knows.  */

bool
lizard_target::thread_alive (ptid_t ptid)
{
  return ptid.pid () == m_pid
	 && (m_state == RUNNING || recorded_thread (ptid) != nullptr);
}

void
lizard_target::update_thread_list ()
{
  if (m_state == RUNNING)
    return;
  list_threads ();
  for (const lz_front_thread &thread : m_threads)
    if (find_thread (ptid_t (m_pid, thread.tid)) == nullptr)
      add_thread (this, ptid_t (m_pid, thread.tid));
  for (thread_info *tp : all_threads_safe ())
    if (tp->inf->process_target () == this && !thread_alive (tp->ptid))
      delete_thread (tp);
}

const char *
lizard_target::thread_name (thread_info *thread)
{
  const lz_front_thread *found = recorded_thread (thread->ptid);

  return found == nullptr ? nullptr : found->name;
}

const char *
lizard_target::extra_thread_info (thread_info *thread)
{
  const lz_front_thread *found = recorded_thread (thread->ptid);

  return found != nullptr && found->fresh ? "has not run yet" : nullptr;
}

CORE_ADDR
lizard_target::get_thread_local_address (ptid_t ptid, CORE_ADDR load_module,
					 CORE_ADDR offset)
{
  std::string error_text;
  uint64_t addr = 0;

  call ([&]
    {
      if (lz_front_tls (m_front, ptid.lwp (), load_module, offset, &addr) < 0)
	error_text = lz_error ();
    });
  if (!error_text.empty ())
    error ("%s", error_text.c_str ());
  return addr;
}

/* Make the thread that runs at the present position GDB's current
   one.  */

void
lizard_target::follow_thread ()
{
  ptid_t ptid (m_pid, m_tid);

  if (find_thread (ptid) == nullptr)
    add_thread (this, ptid);
  switch_to_thread (find_thread (ptid));
}
