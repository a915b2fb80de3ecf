/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": calling functions while the recording runs backwards.

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


#include "infcall.h"
#include "inferior.h"
#include "infrun.h"

#include "lizard-target.h"

/* The linker has calls of call_function_by_hand come here (--wrap in
   scripts/build-gdb), and calls from here go to GDB's own.  */

#define CALL_BY_HAND "_Z21call_function_by_handP5valueP4typeN3gdb10array_viewIS0_EE"

extern value *gdbs_call (value *, type *, gdb::array_view<value *>)
  __asm__ ("__real_" CALL_BY_HAND);
extern value *lizards_call (value *, type *, gdb::array_view<value *>)
  __asm__ ("__wrap_" CALL_BY_HAND);

/* GDB refuses to call a function while it goes backwards, as it does
   when it tests a condition at a stop on the way.  A recording's
   functions run in a copy of the process, which goes forwards.  */

value *
lizards_call (value *function, type *default_return_type,
	      gdb::array_view<value *> args)
{
  auto *target = current_inferior ()->process_target ();
  scoped_restore restore = make_scoped_restore (&execution_direction);

  if (dynamic_cast<lizard_target *> (target) != nullptr)
    execution_direction = EXEC_FORWARD;
  return gdbs_call (function, default_return_type, args);
}
