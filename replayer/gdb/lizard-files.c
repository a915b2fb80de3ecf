/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "target lizard": files of the recorded program.

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


#include "gdbsupport/fileio.h"
#include "target.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lizard-target.h"

/* They are made up from the recording, or its copies.  */

int
lizard_target::fileio_open (inferior *inf, const char *filename, int flags,
			    int mode, int warn_if_slow,
			    fileio_error *target_errno)
{
  int fd = -1;

  if (flags != FILEIO_O_RDONLY)
    {
      *target_errno = FILEIO_EROFS;
      return -1;
    }
  call ([&]
    {
      fd = lz_front_open (m_front, filename);
    });
  if (fd < 0)
    *target_errno = FILEIO_ENOENT;
  return fd;
}

int
lizard_target::fileio_pread (int fd, gdb_byte *buf, int len, ULONGEST offset,
			     fileio_error *target_errno)
{
  int n = pread (fd, buf, len, offset);

  if (n < 0)
    *target_errno = host_to_fileio_error (errno);
  return n;
}

int
lizard_target::fileio_fstat (int fd, struct stat *sb,
			     fileio_error *target_errno)
{
  int result = fstat (fd, sb);

  if (result < 0)
    *target_errno = host_to_fileio_error (errno);
  return result;
}

int
lizard_target::fileio_close (int fd, fileio_error *target_errno)
{
  return ::close (fd);
}

std::optional<std::string>
lizard_target::fileio_readlink (inferior *inf, const char *filename,
				fileio_error *target_errno)
{
  gdb::unique_xmalloc_ptr<char> target;

  call ([&]
    {
      target.reset (lz_front_readlink (m_front, filename));
    });
  if (target == nullptr)
    {
      *target_errno = FILEIO_ENOENT;
      return {};
    }
  return std::string (target.get ());
}
