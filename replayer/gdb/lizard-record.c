/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GDB's record commands on a recording made by lizard-trace.

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

/* "record goto" and its kin ask for a target of the record stratum, so
   this one stands above "target lizard" and leaves all else to it.  */

#include "inferior.h"
#include "record.h"
#include "target.h"

#include "lizard-target.h"

static const target_info lizard_record_target_info = {
  "lizard-record",
  N_("Recording made by lizard-trace"),
  N_("GDB's record commands on a recording made by lizard-trace.")
};

class lizard_record_target final : public target_ops
{
public:
  const target_info &info () const override
  { return lizard_record_target_info; }

  strata stratum () const override
  { return record_stratum; }

  void info_record () override;

  void stop_recording () override
  { error (_("The recording was finished before; there is nothing to stop.")); }

  void goto_record_begin () override
  { lizard_go (lizard_move_to ("start")); }

  void goto_record_end () override
  { lizard_go (lizard_move_to ("end")); }

  /* Numbers are of the global time, as "info record" shows it.  */
  void goto_record (ULONGEST time) override
  {
    lz_front_move move {};

    move.kind = LZ_MOVE_TIME;
    move.n = time;
    lizard_go (move);
  }

  void save_record (const char *filename) override
  { lizard_save_recording (filename); }

  void call_history (int size, record_print_flags flags) override
  { lizard_print_calls (size, flags); }

  void call_history_from (ULONGEST time, int size,
			  record_print_flags flags) override
  { lizard_print_calls_from (time, size, flags); }

  void call_history_range (ULONGEST from, ULONGEST to,
			   record_print_flags flags) override
  { lizard_print_calls_between (from, to, flags); }

  void insn_history (int size, gdb_disassembly_flags flags) override
  { lizard_print_instructions (size, flags); }

  void insn_history_from (ULONGEST from, int size,
			  gdb_disassembly_flags flags) override
  { lizard_print_instructions_from (from, size, flags); }

  void insn_history_range (ULONGEST from, ULONGEST to,
			   gdb_disassembly_flags flags) override
  { lizard_print_instructions_between (from, to, flags); }
};

static lizard_record_target the_lizard_record_target;

void
push_lizard_record_target ()
{
  current_inferior ()->push_target (&the_lizard_record_target);
}

void
lizard_record_target::info_record ()
{
  lizard_target *target = current_lizard_target ();
  lizard_info info = target->recording ();
  lz_front_instant now = target->now ();
  gdb_printf (_("Recording: %s\n"), info->recording);
  gdb_printf (_("Recorded program: %s\n"), info->program);
  gdb_printf (_("Checkpoints: %u\n"), info->n_checkpoints);
  gdb_printf (_("Current time: %s of %s\n"), pulongest (now.time),
	      pulongest (now.total));
  gdb_printf (_("Current event: %s of %s\n"), pulongest (now.pos.event),
	      pulongest (now.events));
  gdb_printf (_("Current position: %s\n"), target->position ().c_str ());
}
