# SPDX-License-Identifier: GPL-3.0-or-later
"""jump_forward and jump_backward."""
import re

import gdb

from .command import OWN_COMPLETER, Command
from .marks import is_mark, jump_to_mark
from .moves import quietly, travel
from .outputs import is_output, jump_to_output
from .replay import need_process, position, replay
from .text import printed

EXPLICIT = re.compile(r"-[a-oq-z]")  # -function and its like; -p is for probes
QUALIFIED = re.compile(r"^(-q[a-z]*(\s+|$))+")
PROBE = re.compile(r"-p(robe)?(-?(stap|dtrace))?(\s|$)")
JUNK = re.compile(r"""(?<!\S)((if|thread|task)\b|-[ls]\w*\s+("[^"]*"|'[^']*'|\S+)\s+[^-])""")
POSITION = re.compile(r"^\d[\d,]*:\d[\d,]*(\.\d[\d,]*@(0x)?[0-9a-fA-F]+#\d+)?$")
# A function's name, as a recording may have it: no *EXPRESSION, which GDB would evaluate, no option, no further command.
HARMLESS = re.compile(r"[\w(~][^\x00-\x1f\x7f]*")
PERCENT = re.compile(r"^\d+(\.\d*)?%$")

LOCATION = """
If there is none, it stays where it was.
Other threads do not count, but for -any.
With "output", it goes to the instant behind the system call that wrote a
match of the regular expression RE, as of grep -E, to standard output or
error, or to descriptor N.  A match may have begun in earlier calls: it is
sought in the lines that each descriptor gets.  All threads count.
With "mark", it goes to the instant behind a mark that the program has made,
by lizard_mark(), with a text that matches RE.
LOCATION is as for "break" (a line, a function, *ADDRESS), or an instant:
start, end, a percentage of the run such as 12.5%, or a position as
"when" prints it.
Where the process has executed several programs, all are searched."""


def rest_of(location):
    """What stands behind LOCATION; raises GDB's own sentence about an unknown place. decode_line() knows no explicit ones."""
    if not EXPLICIT.match(location):
        return gdb.decode_line(location)[0]
    printed("info scope " + location)
    return JUNK.search(location)


def is_harmless(name):
    return bool(HARMLESS.fullmatch(name))


def addresses(location):
    """Where GDB would put breakpoints for LOCATION."""
    if location.startswith("*"):
        return [int(gdb.parse_and_eval(location[1:]).cast(gdb.lookup_type("unsigned long")))]
    name = QUALIFIED.sub("", location)
    if not name or PROBE.match(name):  # GDB would abort
        raise gdb.GdbError("There is no code at %s." % location)
    if rest_of(name):
        raise gdb.GdbError("Junk at end of arguments.")
    found = places_of(gdb.Breakpoint(location, internal=True))
    if not found:
        raise gdb.GdbError("There is no code at %s." % location)
    return found


def function_addresses(name):
    """The same for a function whose NAME may be anything: as a location, `*EXPRESSION` would be evaluated."""
    return places_of(gdb.Breakpoint(function=name, internal=True))


def places_of(point):
    """The addresses of breakpoint POINT, which is deleted."""
    try:
        if hasattr(point, "locations"):
            return [place.address for place in point.locations]
        return listed_addresses(point.number)
    finally:
        point.delete()


def listed_addresses(number):
    """For a GDB that does not show locations to Python (before 13)."""
    text = printed("maintenance info breakpoints %d" % number)
    return [int(a, 16) for a in re.findall(r"^-?\d+(?:\.\d+)?\s.*?\s(0x[0-9a-f]+) ", text, re.M)]


def jump(direction, arg):
    arg = arg.strip()
    any_thread = arg.split(None, 1)[:1] == ["-any"]
    if any_thread:
        arg = arg[len("-any") :].strip()
    if not arg:
        raise gdb.GdbError("jump_%s: where to?" % direction)
    if is_output(arg):
        jump_to_output(direction, arg)
        return
    if is_mark(arg):
        jump_to_mark(direction, arg)
        return
    if arg in ("start", "end") or PERCENT.match(arg) or POSITION.match(arg):
        travel("seek", arg)
        return
    need_process()
    if len(replay().info()["programs"]) > 1:
        jump_through_programs(direction, any_thread, arg)
    else:
        travel("jump", direction, any_thread, sorted(set(addresses(arg))))


def jump_through_programs(direction, any_thread, location):
    """Each program that the process executed has the location elsewhere, or not at all."""
    origin, failure = position(), None
    while True:
        try:
            travel("jump", direction, any_thread, sorted(set(addresses(location))))
            return
        except (gdb.error, gdb.GdbError) as why:
            failure = failure or why
        there = beyond(direction)
        if there is None:
            if position() != origin:
                quietly("seek", origin)
            raise failure
        quietly("seek", there)


def beyond(direction):
    """Where the next program begins, or the one before ends; None: there is none."""
    info = replay().info()
    number = info["n_program"]
    if direction == "forward":
        return info["begins"][number] if number < len(info["begins"]) else None
    return info["ends"][number - 2] if number > 1 else None


def locations(text):
    """How GDB would complete TEXT as a location. gdb.execute() would cut white space off its end, `eval` does not."""
    quoted = re.sub(r'([\\"])', r"\\\1", text).replace("%", "%%")
    lines = printed('eval "complete break %s"' % quoted).splitlines()
    found = [line[len("break ") :] for line in lines if "max-completions reached" not in line]
    return [location for location in found if location.startswith(text)]


def completions(text, word):
    """-any, an instant's name, a location. WORD is what GDB takes for the end of TEXT that is to be completed."""
    option = re.match(r"(-any\s+)?", text).group()
    rest = text[len(option) :]
    own = [name for name in ("start", "end") + (() if option else ("output", "mark")) if name.startswith(rest)]
    if not option and "-any".startswith(rest):
        own.append("-any")
    if not option and not own:
        return gdb.COMPLETE_LOCATION
    done = len(text) - len(option) - len(word or "")
    return [whole[done:] for whole in own + locations(rest)]


class JumpForward(Command):
    __doc__ = """Go forward to the next instant at which control is at LOCATION.
Usage: jump_forward [-any] LOCATION
       jump_forward output [-fd N]... RE
       jump_forward mark RE""" + LOCATION

    name = "jump_forward"
    completer = OWN_COMPLETER

    def complete(self, text, word):
        return completions(text, word)

    def act(self, arg, from_tty):
        jump("forward", arg)


class JumpBackward(Command):
    __doc__ = """Go backward to the last instant at which control was at LOCATION.
Usage: jump_backward [-any] LOCATION
       jump_backward output [-fd N]... RE
       jump_backward mark RE""" + LOCATION

    name = "jump_backward"
    completer = OWN_COMPLETER

    def complete(self, text, word):
        return completions(text, word)

    def act(self, arg, from_tty):
        jump("backward", arg)
