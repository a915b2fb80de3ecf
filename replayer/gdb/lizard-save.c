/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "record", "record save" and "record restore" on a recording made by
   lizard-trace.

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

/* A saved recording is a core file of the instant at which the saved
   part begins, with a section that says so, and beside it a second name
   for the recording, which "lizard-gdb" takes as well.

   "record" and "record restore" are commands of record-full.c.  What
   they do is decided there unless the program is a replayed one, or the
   file a saved recording.  */

#include "command.h"
#include "gcore.h"
#include "gdbcore.h"
#include "gdb_bfd.h"
#include "gdbsupport/gdb_tilde_expand.h"
#include "gdbsupport/gdb_unlinker.h"
#include "inferior.h"
#include "observable.h"
#include "stack.h"
#include "target.h"
#include "top.h"

extern "C"
{
#include <lizard/error.h>
#include <lizard/recording.h>
}

#include "lizard-target.h"

/* What a core file says in a section of its own: this, and the position
   at which the saved part begins.  BFD names sections of core files by
   their kind when it reads them.  */
static const char magic[] = "lizard recording at ";
static const char section_name[] = "lizard", section_read[] = "null0";

/* The saved recording itself, beside its core file.  */

static std::string
saved_recording (const std::string &core_file)
{
  return core_file + ".lizard";
}

/* Go to POSITION without a word.  */

static void
go_quietly (const std::string &position)
{
  lizard_move (lizard_move_to (position.c_str ()));
}

static void
write_core_file (const char *filename, const std::string &position)
{
  std::string text = magic + position;
  gdb_bfd_ref_ptr obfd (create_gcore_bfd (filename));
  gdb::unlinker unlink_file (filename);
  asection *section
    = bfd_make_section_anyway_with_flags (obfd.get (), section_name,
					  SEC_HAS_CONTENTS | SEC_READONLY);

  if (section == nullptr)
    error (_("Failed to create section '%s' of core file %s: %s"),
	   section_name, filename, bfd_errmsg (bfd_get_error ()));
  bfd_set_section_size (section, text.size ());
  write_gcore_file (obfd.get ());
  if (!bfd_set_section_contents (obfd.get (), section, text.data (), 0,
				 text.size ()))
    error (_("Failed to write to core file %s: %s"), filename,
	   bfd_errmsg (bfd_get_error ()));
  unlink_file.keep ();
}

/* The saved part begins where "record" was given, else at the start.  */

void
lizard_save_recording (const char *args)
{
  lizard_target *target = current_lizard_target ();
  std::string filename = gdb_tilde_expand (args);
  std::string present = target->position ();

  if (lz_recording_copy (target->connection_string (),
			 saved_recording (filename).c_str ()) < 0)
    error ("%s", lz_error ());

  go_quietly (target->record_begin.empty () ? "start"
	      : target->record_begin);
  std::string begin = target->position ();

  try
    {
      write_core_file (filename.c_str (), begin);
    }
  catch (const gdb_exception &)
    {
      go_quietly (present);
      throw;
    }
  go_quietly (present);
  gdb_printf (_("Saved core file %s with execution log.\n"), args);
}

/* The position in core file FILENAME; none if it is not one of ours.  */

static std::string
saved_position (const char *filename)
{
  gdb_bfd_ref_ptr abfd (gdb_bfd_open (filename, gnutarget, -1));
  gdb_byte *contents;

  if (abfd == nullptr || !bfd_check_format (abfd.get (), bfd_core))
    return "";
  asection *section = bfd_get_section_by_name (abfd.get (), section_read);

  if (section == nullptr || bfd_section_size (section) > 4096
      || !bfd_malloc_and_get_section (abfd.get (), section, &contents))
    return "";
  std::string text ((char *) contents, bfd_section_size (section));

  xfree (contents);
  if (!startswith (text, magic))
    return "";
  return text.substr (strlen (magic));
}

static void
restore_recording (const char *args, const std::string &filename,
		   const std::string &position)
{
  std::string recording = saved_recording (filename);

  execute_command (("target lizard " + recording).c_str (), 0);
  go_quietly (position);
  current_lizard_target ()->record_begin = position;
  print_stack_frame (get_selected_frame (nullptr), 1, SRC_AND_LOC, 1);
  gdb_printf (_("Restored records from core file %s.\n"), args);
}

/* What GDB's own commands do.  */
static cmd_func_ftype *gdb_record, *gdb_restore;

/* All of a replayed program's run is recorded; this only names the
   beginning of what "record save" saves.  */

static void
record_command (const char *args, int from_tty, cmd_list_element *c)
{
  lizard_target *target
    = dynamic_cast<lizard_target *> (current_inferior ()->process_target ());

  if (target == nullptr)
    {
      gdb_record (args, from_tty, c);
      return;
    }
  target->record_begin = target->position ();
}

static void
restore_command (const char *args, int from_tty, cmd_list_element *c)
{
  if (args == nullptr || *args == '\0')
    {
      gdb_restore (args, from_tty, c);
      return;
    }
  std::string filename = gdb_tilde_expand (args);
  std::string position = saved_position (filename.c_str ());

  if (position.empty ())
    gdb_restore (args, from_tty, c);
  else
    restore_recording (args, filename, position);
}

/* Once all commands are there, which they are when the first inferior
   is.  "record" and "record full" come down to the same one.  */

static void
take_over_commands (inferior *)
{
  if (gdb_record != nullptr)
    return;
  lizard_take_over ("target record-full", record_command, &gdb_record);
  lizard_take_over ("record full restore", restore_command, &gdb_restore);
}

void _initialize_lizard_save ();
void
_initialize_lizard_save ()
{
  gdb::observers::inferior_added.attach (take_over_commands, "lizard-save");
}
