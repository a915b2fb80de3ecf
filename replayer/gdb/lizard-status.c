/* "target lizard": when and info lizard.

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

#include "defs.h"
#include "gdbcmd.h"
#include "gdbsupport/version.h"
#include "inferior.h"

#include "lizard-cmds.h"
#include "lizard-target.h"

static std::string
with_commas (const std::string &number)
{
  std::string text;

  for (size_t i = 0; i < number.size (); i++)
    {
      if (i != 0 && (number.size () - i) % 3 == 0)
	text += ',';
      text += number[i];
    }
  return text;
}

static double
percent (const std::string &part, const std::string &whole)
{
  return 100.0 * strtod (part.c_str (), nullptr)
	 / std::max (1.0, strtod (whole.c_str (), nullptr));
}

static void
when_command (const char *args, int from_tty)
{
  std::string text = lizard_ask_recording ("when");
  auto field = [&] (const char *key) { return lizard_value_of (text, key); };
  bool timed = field ("total") != "0";

  lizard_say (_("event %s of %s, time %s of %s (%.2f%%)\nposition %s\n"),
	      with_commas (field ("event")).c_str (),
	      with_commas (field ("events")).c_str (),
	      with_commas (field ("time")).c_str (),
	      with_commas (field ("total")).c_str (),
	      timed ? percent (field ("time"), field ("total"))
	      : percent (field ("event"), field ("events")),
	      field ("position").c_str ());
  if (field ("threads") != "1")
    lizard_say (_("thread %s \"%s\", one of %s\n"), field ("tid").c_str (),
		field ("name").c_str (), field ("threads").c_str ());
}

/* info lizard.  */

static std::string
ending (int status)
{
  if (status < 0)
    return _("its end is not in the recording");
  if ((status & 0x7f) != 0)
    return string_printf (_("ended by signal %d"), status & 0x7f);
  return string_printf (_("exit status %d"), status >> 8 & 0xff);
}

static void
info_lizard_command (const char *args, int from_tty)
{
  std::string text = lizard_ask_recording ("info");
  auto field = [&] (const char *key) { return lizard_value_of (text, key); };
  double seconds = strtod (field ("duration_ns").c_str (), nullptr) / 1e9;
  int status = atoi (field ("exit_status").c_str ());
  std::string damage = field ("damage");

  lizard_say (_("recording    %s\n"), field ("recording").c_str ());
  lizard_say (_("program      %s\n"), field ("program").c_str ());
  lizard_say (_("command      %s\n"), field ("args").c_str ());
  lizard_say (_("directory    %s\n"), field ("cwd").c_str ());
  lizard_say (_("ran for      %.3f s, %s\n"), seconds,
	      ending (status).c_str ());
  lizard_say (_("checkpoints  %s\n"), field ("checkpoints").c_str ());
  lizard_say (_("front end    GDB %s with %s\n"), version,
	      field ("front_end").c_str ());
  if (field ("instrumented") != "1")
    lizard_say (_("The program was not built with lizard-cc.\n"));
  if (!damage.empty ())
    lizard_say (_("The recording was cut: %s\n"), damage.c_str ());
  when_command (nullptr, from_tty);
}

void _initialize_lizard_status ();
void
_initialize_lizard_status ()
{
  add_cmd ("when", class_lizard, when_command, _("\
Show the present instant.\n\
Usage: when\n\
That is the number of the event, the global time, the part of the run in\n\
percent, the position, and of several threads the present one.  The\n\
position can be given to jump_forward and jump_backward."), &cmdlist);
  add_cmd ("lizard", class_info, info_lizard_command, _("\
Describe the recording and the present instant.\n\
Usage: info lizard"), &infolist);
}
