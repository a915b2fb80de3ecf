/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": registers, memory and other objects, names.

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


#include "arch-utils.h"
#include "breakpoint.h"
#include "inferior.h"
#include "parser-defs.h"
#include "progspace.h"
#include "regcache.h"
#include "solist.h"
#include "target.h"

#include "lizard-target.h"

/* Registers.  The target description, and with it the numbers, are
   Lizard's.  */

void
lizard_target::fetch_registers (regcache *regs, int regnum)
{
  gdbarch *arch = regs->arch ();
  int first = regnum == -1 ? 0 : regnum;
  int last = regnum == -1 ? gdbarch_num_regs (arch) - 1 : regnum;
  uint32_t tid = regs->ptid ().lwp ();

  call ([&]
    {
      if (lz_front_select (m_front, tid) < 0)
	return;
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
  uint32_t tid = regs->ptid ().lwp ();
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
      if (lz_front_select (m_front, tid) < 0
	  || lz_front_set_registers (m_front, nrs.data (), nrs.size (),
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
  /* No need to wake up the worker, which takes longer.  */
  if (readbuf != nullptr)
    done = lz_front_read (m_front, addr, readbuf, len);
  else
    call ([&]
      {
	if (lz_front_write (m_front, addr, writebuf, len) == 0)
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

/* Does EXP refer to symbols of a library?  */

static bool
uses_library (expression *exp)
{
  for (const solib &so : current_program_space->solibs ())
    if (so.objfile != nullptr && exp->uses_objfile (so.objfile))
      return true;
  return false;
}

/* GDB evaluates what is watched at each resume.  Where it loads a library
   it looks afresh what that is, so libraries are not kept for the program's
   own variables.  */

static bool
is_library_watched ()
{
  for (breakpoint &b : all_breakpoints ())
    if (is_watchpoint (&b))
      {
	const watchpoint *w = (const watchpoint *) &b;

	if (w->exp != nullptr && uses_library (w->exp.get ()))
	  return true;
      }
  return false;
}

/* Empty: the program has no list of libraries.  */

std::string
lizard_target::list_libraries ()
{
  gdb::unique_xmalloc_ptr<char> list;

  call ([&]
    {
      lz_front_keep_libraries (m_front, is_library_watched ());
      list.reset (lz_front_libraries (m_front));
    });
  return list == nullptr ? "" : list.get ();
}

/* To read the list is a good part of what a step backwards costs.  */

bool
lizard_target::is_list_of_libraries_known ()
{
  return !current_program_space->solibs ().empty ()
	 && list_libraries () == m_libraries;
}

target_xfer_status
lizard_target::xfer_partial (target_object object, const char *annex,
			     gdb_byte *readbuf, const gdb_byte *writebuf,
			     ULONGEST offset, ULONGEST len,
			     ULONGEST *xfered_len)
{
  const void *found = nullptr;
  uint32_t tid = inferior_ptid.lwp ();
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
	  if (lz_front_select (m_front, tid) == 0)
	    found = lz_front_siginfo (m_front, &size);
	});
      break;
    case TARGET_OBJECT_LIBRARIES_SVR4:
      if (m_state == RUNNING)
	return TARGET_XFER_E_IO;
      if (offset == 0)
	m_libraries = list_libraries ();
      size = m_libraries.size ();
      found = size == 0 ? nullptr : m_libraries.c_str ();
      break;
    default:
      break;
    }
  return xfer_part (found, size, readbuf, offset, len, xfered_len);
}

/* Names.  */

std::string
lizard_target::pid_to_str (ptid_t ptid)
{
  if (ptid.lwp () == 0)
    return normal_pid_to_str (ptid);
  return string_printf ("Thread %d.%ld", ptid.pid (), ptid.lwp ());
}
