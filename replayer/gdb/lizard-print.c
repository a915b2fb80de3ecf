/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GDB prints is text.

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


/* A recording may be a stranger's, and with it the names of functions,
   files and threads.  GDB prints names as they are; here, between it
   and the terminal, they become text.  */

#include "annotate.h"
#include "observable.h"
#include "readline/readline.h"
#include "top.h"
#include "ui-file.h"

extern "C"
{
#include <lizard/text.h>
}

/* Passes on what is printed.  Colours that GDB itself sets do not come
   this way, those in the text of sources and disassembly do.  */

class lizard_text_file final : public wrapped_file
{
public:
  explicit lizard_text_file (ui_file *stream)
    : wrapped_file (stream)
  {
  }

  ~lizard_text_file () override
  { delete m_stream; }

  DISABLE_COPY_AND_ASSIGN (lizard_text_file);

  void write (const char *text, long length) override
  { m_stream->puts (printable (text, length).get ()); }

  void puts (const char *text) override
  { write (text, strlen (text)); }

  void puts_unfiltered (const char *text) override
  {
    m_stream->puts_unfiltered (printable (text, strlen (text)).get ());
  }

private:
  gdb::unique_xmalloc_ptr<char> printable (const char *text, size_t length)
  {
    /* An editor's, which asks for it.  */
    if (annotation_level > 0)
      return make_unique_xstrndup (text, length);

    char *shown = lz_text_stream (&m_text, text, length,
				  m_stream->can_emit_style_escape ());

    return gdb::unique_xmalloc_ptr<char> (shown == nullptr ? xstrdup ("")
					  : shown);
  }

  struct lz_text_stream m_text {};
};

/* Readline shows what it completes itself, and C1 characters as they are.
   It is offered text only.  */

static rl_completion_func_t *gdbs_completion;

static bool
is_text (const char *name)
{
  struct lz_text_stream stream {};
  gdb::unique_xmalloc_ptr<char> shown
    (lz_text_stream (&stream, name, strlen (name), false));

  return (shown != nullptr && stream.n == 0
	  && strcmp (shown.get (), name) == 0);
}

/* Of several matches the first is what the others begin with.  */

static char **
complete_text (const char *text, int start, int end)
{
  char **matches = gdbs_completion (text, start, end);

  if (matches == nullptr)
    return nullptr;

  bool several = matches[1] != nullptr;
  char **kept = matches + several;

  for (char **match = kept; *match != nullptr; match++)
    if (is_text (*match))
      *kept++ = *match;
    else
      xfree (*match);
  *kept = nullptr;
  if (several && kept <= matches + 2)
    {
      xfree (matches[0]);
      matches[0] = matches[1];
      matches[1] = nullptr;
    }
  if (matches[0] != nullptr)
    return matches;
  xfree (matches);
  return nullptr;
}

/* GDB gives readline its own function after all files are initialized.  */

static void
take_completion (const char *prompt)
{
  if (rl_attempted_completion_function == complete_text)
    return;
  gdbs_completion = rl_attempted_completion_function;
  rl_attempted_completion_function = complete_text;
}

void _initialize_lizard_print ();
void
_initialize_lizard_print ()
{
  gdb_stdout = new lizard_text_file (gdb_stdout);
  gdb_stderr = new lizard_text_file (gdb_stderr);
  gdb_stdlog = new timestamped_file (gdb_stderr);
  gdb_stdtarg = gdb_stderr;
  gdb::observers::before_prompt.attach (take_completion, "lizard-print");
}
