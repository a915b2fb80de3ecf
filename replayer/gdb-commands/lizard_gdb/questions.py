# SPDX-License-Identifier: GPL-3.0-or-later
"""info calls, info hits, info tree and call-goto."""
import gdb

from .asked import ask, split
from .calls import list_calls
from .command import OWN_COMPLETER, Command
from .functions import ask_functions, completions, shown_names
from .hits import ask_hits, list_hits
from .present import present_instant, present_instants, present_one, present_thread
from .replay import need_process
from .text import say

MOST = 1000  # lines, if not told otherwise


class Listed:
    """What the last list had, by its numbers: what has goto()."""

    rows = {}


def has(options, *names):
    return any(option.partition("=")[0] in names for option in options)


class InfoCalls(Command):
    """List the calls of a function, read from the recorded control flow.
Usage: info calls [OPTION]... FUNCTION...
Each has its number, caller, depth, the instants at which it begins and
ends, its length in bytes of markers, and how it ended.  An asterisk marks
the one in which the program is now.  "call-goto N" goes to number N.
Options are those of "lizard calls":
  --limit N             at most N (1000)
  --longest N           the N longest ones
  --from POS, --to POS  those that begin between two instants
  --thread TID          of one thread
  --count               their number only
  --by caller|thread    their number for each of these
FUNCTION is what "break" takes: a name, FILE:NAME, or a line in it."""

    name = "info calls"
    kind = gdb.COMMAND_STATUS
    completer = OWN_COMPLETER
    switches = ("--count",)
    values = ("--limit", "--longest", "--from", "--to", "--thread", "--by")

    def complete(self, text, word):
        return completions(text, word, self.switches + self.values)

    def act(self, arg, from_tty):
        options, functions = split(arg, self.switches, self.values)
        if not functions:
            raise gdb.GdbError("info calls: of which function?")
        if has(options, "--count", "--by"):
            say(shown_names(ask_functions("calls", options, functions)))
            return
        show_calls(options, functions)


def show_calls(options, functions):
    cut = not has(options, "--limit", "--longest")
    # one more tells whether there are more
    found = list_calls(functions, options + ["--limit=%d" % (MOST + 1)] if cut else options)
    shown = found[:MOST] if cut else found
    whole = len(shown) == len(found) and not options
    present = present_one(found if whole else running_calls(functions))
    Listed.rows = {one.number: one for one in shown}
    for one in shown:
        say(line_of(one, present))
    if len(found) > len(shown):
        say("These are the first %d. --limit N shows more, --count tells how many there are.\n" % MOST)
        if present is not None and present.number not in Listed.rows and not options:
            Listed.rows[present.number] = present
            say(line_of(present, present))


def running_calls(functions):
    """Those of the present thread that run now, as far as markers tell."""
    return [one for instant in present_instants() for one in list_calls(functions, ["--at=" + instant])]


def line_of(one, present):
    line = str(one) + "\n"
    return "*" + line[1:] if present is not None and one.position == present.position else line


class InfoHits(Command):
    """List when control was at a place, read from the recorded control flow.
Usage: info hits [OPTION]... LOCATION
LOCATION is what "break" takes: a line, FILE:LINE, a function, *ADDRESS.
Each time has its number, function, line and instant, and would be a hit of
a breakpoint there.  "call-goto N" goes to number N.  Options are those of
"lizard hits":
  --limit N             at most N (1000)
  --first, --last       the first one, the last one
  --nth N               number N
  --from POS, --to POS  those between two instants
  --thread TID          of one thread
  --count               their number only"""

    name = "info hits"
    kind = gdb.COMMAND_STATUS
    completer = OWN_COMPLETER
    switches = ("--count", "--first", "--last")
    values = ("--limit", "--nth", "--from", "--to", "--thread")

    def complete(self, text, word):
        return completions(text, word, self.switches + self.values)

    def act(self, arg, from_tty):
        options, places = split(arg, self.switches, self.values)
        if len(places) != 1:
            raise gdb.GdbError("info hits: of which place? Name one.")
        if has(options, "--count"):
            say(ask_hits(places[0], options))
            return
        cut = not has(options, "--limit", "--first", "--last", "--nth")
        found = list_hits(places[0], options + ["--limit=%d" % (MOST + 1)] if cut else options)
        shown = found[:MOST] if cut else found
        Listed.rows = {one.number: one for one in shown}
        for one in shown:
            say("%s\n" % one)
        if len(found) > len(shown):
            say("These are the first %d. --limit N shows more, --count tells how many there are.\n" % MOST)


class InfoTree(Command):
    """Show the tree of calls around the present instant.
Usage: info tree [--depth N] [--limit N]
The callers come first, then what the innermost of them called.  An
asterisk marks the call that runs now; N levels of what it calls are shown
(1), and N lines before and behind the present instant (10).  Each line
has the instant at which the call begins."""

    name = "info tree"
    kind = gdb.COMMAND_STATUS
    completer = OWN_COMPLETER
    values = ("--depth", "--limit")

    def complete(self, text, word):
        return completions(text, word, self.values) if text.endswith("-") or "--" in text else []

    def act(self, arg, from_tty):
        options, rest = split(arg, (), self.values)
        if rest:
            raise gdb.GdbError("Usage: info tree [--depth N] [--limit N]")
        need_process()
        where = ["--at=" + present_instant(), "--thread=%d" % present_thread()]
        say(shown_names(ask("tree", where + options)))


class CallGoto(Command):
    """Go to a call of the last list: of "info calls", or a hit of "info hits".
Usage: call-goto N [end]
Of a call, that is where a breakpoint on its function stops; with "end", its
return: "finish" from there shows what it returns."""

    name = "call-goto"
    completer = OWN_COMPLETER
    repeats = False

    def complete(self, text, word):
        number, space, rest = text.partition(" ")
        return ["end"] if space and "end".startswith(rest) else []

    def act(self, arg, from_tty):
        words = arg.split()
        if not words or words[1:] not in ([], ["end"]):
            raise gdb.GdbError("Usage: call-goto N [end]")
        number = int(gdb.parse_and_eval(words[0]))
        if not Listed.rows:
            raise gdb.GdbError("There is no list: \"info calls\" and \"info hits\" make one.")
        if number not in Listed.rows:
            raise gdb.GdbError("The last list has no number %d." % number)
        Listed.rows[number].goto(*words[1:])
