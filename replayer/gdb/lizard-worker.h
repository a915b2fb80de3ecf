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


/* The replay library traces the re-executed program with ptrace, so all
   calls of it must come from one thread.  That is a worker, not GDB's
   main thread, since a resume takes as long as the program does.  */

#ifndef LIZARD_WORKER_H
#define LIZARD_WORKER_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

/* Does one job after the other.  */

class lizard_worker
{
public:
  lizard_worker ();
  ~lizard_worker ();

  DISABLE_COPY_AND_ASSIGN (lizard_worker);

  /* Have JOB done and wait for it.  */
  void call (const std::function<void ()> &job);

  /* Have JOB begun, after what is being done.  An empty one is the
     last.  */
  void start (std::function<void ()> job);

private:
  void loop ();

  std::thread m_thread;
  std::mutex m_mutex;
  std::condition_variable m_change;
  std::function<void ()> m_job;
  bool m_busy = false;
};

#endif /* LIZARD_WORKER_H */
