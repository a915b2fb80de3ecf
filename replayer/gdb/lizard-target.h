/* What the files of "target lizard" share.

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

#ifndef LIZARD_TARGET_H
#define LIZARD_TARGET_H

#include <string>

/* Carry out a move of the current inferior's replay, given as for
   "monitor", and show the new place.  Throws an error if that fails.  */

extern void lizard_go (const char *move);

/* The answer to a "monitor" command.  */

extern std::string lizard_ask (const char *command);

/* Have the current inferior's target answer "info record", "record
   goto" and bookmarks, too.  */

extern void push_lizard_record_target ();

#endif /* LIZARD_TARGET_H */
