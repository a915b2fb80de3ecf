/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Lizard's commands, which are in Python, ask of this GDB.

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

#ifndef LIZARD_PYTHON_H
#define LIZARD_PYTHON_H

/* Behind "python/python-internal.h".  */

struct cmd_list_element;

/* GDB's command TEXT, or null.  */

extern cmd_list_element *lizard_find_command (const char *text);

/* Have GDB's command TEXT call OURS on a recording, with its argument and
   from_tty; if that returns true, GDB's own goes on.  HELP may be null.  */

extern void lizard_redefine (const char *text, PyObject *ours,
			     const char *help);

#endif /* LIZARD_PYTHON_H */
