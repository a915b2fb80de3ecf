/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread in which a recording is replayed.

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


#include "gdbsupport/block-signals.h"

#include "lizard-worker.h"

lizard_worker::lizard_worker ()
{
  /* The signals that GDB handles are for its main thread.  */
  gdb::block_signals blocker;

  m_thread = std::thread (&lizard_worker::loop, this);
}

lizard_worker::~lizard_worker ()
{
  start (nullptr);
  m_thread.join ();
}

void
lizard_worker::call (const std::function<void ()> &job)
{
  start (job);

  std::unique_lock<std::mutex> lock (m_mutex);
  m_change.wait (lock, [this] { return !m_busy; });
}

void
lizard_worker::start (std::function<void ()> job)
{
  std::unique_lock<std::mutex> lock (m_mutex);

  m_change.wait (lock, [this] { return !m_busy; });
  m_job = std::move (job);
  m_busy = true;
  m_change.notify_all ();
}

void
lizard_worker::loop ()
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
