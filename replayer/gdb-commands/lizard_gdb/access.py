# SPDX-License-Identifier: GPL-3.0-or-later
"""last, next-access, info access and info intervals."""
import gdb

from .command import Command
from .libraries import refresh_libraries
from .memory import LOADED, STORED, TOUCHED, Memory
from .moves import quietly
from .places import location, show_place
from .replay import need_process, position, replay
from .server import monitor
from .stops import Forward, Quiet, SignalsPass
from .text import say

KINDS = {"-w": STORED, "-r": LOADED, "-a": TOUCHED}
VERBS = {STORED: "written", LOADED: "read", TOUCHED: "read or written"}
DONE = {"written": "written", "read": "read", "both": "read and written"}


def kind_and_expression(arg):
    first, _, rest = arg.strip().partition(" ")
    return (KINDS[first], rest.strip()) if first in KINDS else (STORED, arg.strip())


def what_did(found):
    """As words behind the name of what was accessed."""
    text = DONE[found["how"]]
    return "%s by %s, event %s" % (text, found["call"], found["event"]) if "call" in found else text + " here"


class Search(Command):
    completer = gdb.COMPLETE_EXPRESSION

    def act(self, arg, from_tty):
        need_process()
        kind, expression = kind_and_expression(arg)
        memory = Memory(self.name, expression)
        frame = gdb.selected_frame()
        with Quiet(), SignalsPass(), Forward():
            found = memory.search(self.direction, kind)
        if found and "how" in found:
            self.report(memory, kind, found)
        else:
            say(self.nothing(memory, kind, found))
        show_place()
        if frame.is_valid() and (not found or "how" not in found):
            frame.select()

    def nothing(self, memory, kind, found):
        if found is None:
            return "Interrupted before an access to %s was found.\n" % memory.name
        return "%s was not %s %s: nothing has moved.\n" % (memory.name, VERBS[kind], self.ends[found["none"]])


class Last(Search):
    """Go backward to the last access to the memory of EXPRESSION.
Usage: last [-w|-r|-a] EXPRESSION
-w: the last instant at which it was written, be it with the value that it
had already.  That is the default.  -r: read.  -a: either.
Stops right before the instruction or the system call that did it, and names
the call.  EXPRESSION means the memory that it refers to now.  A local
variable is followed up to where its function was called.
Breakpoints do not count.  "reverse_watchpoint" finds the last change."""

    name = "last"
    direction = "backward"
    ends = {"start": "before", "frame": "since its function was called"}

    def report(self, memory, kind, found):
        refresh_libraries()
        say("%s: %s.\n\n" % (memory.name, what_did(found)))
        if kind == STORED:
            say("Old value = %s\nNew value = %s\n" % (memory.value(), memory.text))
        else:
            say("Value = %s\n" % memory.value())


class NextAccess(Search):
    """Go forward to the next access to the memory of EXPRESSION.
Usage: next-access [-w|-r|-a] EXPRESSION
-w: the next instant at which it is written, be it with the value that it has
already.  That is the default.  -r: read.  -a: either.
Stops right before the instruction or the system call that does it, and names
the call.  What comes next at the present instant does not count.
EXPRESSION means the memory that it refers to now.  Breakpoints do not count."""

    name = "next-access"
    direction = "forward"
    ends = {"start": "up to the end of the recording"}

    def report(self, memory, kind, found):
        refresh_libraries()
        say("%s: %s.\n\nValue = %s\n" % (memory.name, what_did(found), memory.value()))


# ---- intervals ----


class Interval:
    """What lies between two checkpoints."""

    def __init__(self, line):
        self.position, event, marker, self.time, self.dirty = line.split()
        self.instant = int(event), int(marker)


def intervals():
    return [Interval(line) for line in monitor("intervals").splitlines()]


def present_instant():
    now = replay().now()
    return now["event"], now["marker"]


def around_now(all_of_them):
    """The number of the one in which the program is now."""
    now = present_instant()
    return max((i for i, one in enumerate(all_of_them) if one.instant <= now), default=0)


class InfoIntervals(Command):
    """List the intervals between checkpoints.
Usage: info intervals
Each has its number, the time and the position of the checkpoint at which it
begins, and how many pages were written in it.  An asterisk marks the one in
which the program is now.  "info access" tells what happened in an interval."""

    name = "info intervals"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        need_process()
        known = intervals()
        present = around_now(known)
        for i, one in enumerate(known):
            pages = "  %s pages written" % known[i + 1].dirty if i + 1 < len(known) else ""
            mark = "*" if i == present else " "
            say("%s%4d  %9.3f s  %s%s\n" % (mark, i, int(one.time) / 1e9, one.position, pages))


# ---- what happened to some memory ----


class Access:
    """The one that comes next at the present instant."""

    def __init__(self, found):
        refresh_libraries()
        self.instant, self.position = present_instant(), position()
        by = ", by %s, event %s" % (found["call"], found["event"]) if "call" in found else ""
        self.text = "%s, %s%s" % (self.position, location(), by)


class Stretch:
    """From one place of the run, as users write it, up to another one."""

    def __init__(self, memory, begin, end):
        self.memory, self.begin, self.end = memory, begin, end

    def go(self, where):
        if not quietly("seek", where):
            raise gdb.GdbError("Interrupted.")

    def check(self):
        self.go(self.begin)
        begin = present_instant()
        self.go(self.end)
        if begin > present_instant():
            raise gdb.GdbError("info access: %s lies behind the present instant." % self.begin)

    def search(self, where, direction, kind, *since):
        """The access that is found from WHERE on, or None."""
        self.go(where)
        found = self.memory.search(direction, kind, *since)
        if found is None:
            raise gdb.GdbError("Interrupted.")
        return Access(found) if "how" in found else None

    def first_and_last(self, kind):
        """None: there is none between."""
        self.go(self.begin)
        last = self.search(self.end, "backward", kind, position())
        first = self.search(self.begin, "here", kind) if last else None
        return (first, last) if first and self.in_order(first, last, kind) else None

    def in_order(self, first, last, kind):
        """Where nothing lies between the ends, the first access behind the one is behind the last before the other."""
        if first.position == last.position or first.instant != last.instant:
            return first.instant <= last.instant
        behind = self.search(last.position, "forward", kind)
        return behind is None or behind.position != first.position

    def summary(self, written, read):
        if not written or not read:
            return "written, not read" if written else "read, not written" if read else "not touched"
        if written[0].position == read[0].position:
            return "read and written first by the same"
        first = self.search(self.begin, "here", TOUCHED)
        return "written first, then read" if first.position == written[0].position else "read first, then written"


class InfoAccess(Command):
    """Say what was done to the memory of EXPRESSION in the present interval.
Usage: info access EXPRESSION [-since POSITION]
An interval lies between two checkpoints; "info intervals" lists them.  With
-since it is the stretch from POSITION until now.
Says whether the memory was read or written first, or not touched at all, and
when it was written and read first and last.  A system call that did it is
named."""

    name = "info access"
    kind = gdb.COMMAND_STATUS
    completer = gdb.COMPLETE_EXPRESSION

    def act(self, arg, from_tty):
        need_process()
        expression, _, since = arg.partition(" -since ")
        memory = Memory(self.name, expression.strip())
        memory.frame = None  # the stretch ends where it is said to
        here, frame = position(), gdb.selected_frame()
        stretch = Stretch(memory, *self.bounds(since.strip(), here))
        try:
            with Quiet(), SignalsPass(), Forward():
                stretch.check()
                written, read = stretch.first_and_last(STORED), stretch.first_and_last(LOADED)
                text = stretch.summary(written, read)
        finally:
            quietly("seek", here)
            if frame.is_valid():
                frame.select()
        say("%s: %s.\n" % (memory.name, text))
        for what, accesses in (("written", written), ("read", read)):
            for when, one in zip(("first", "last"), accesses or ()):
                say("%s %s: %s\n" % (when, what, one.text))

    def bounds(self, since, here):
        if since:
            return since, here
        known = intervals()
        i = around_now(known)
        return known[i].position, known[i + 1].position if i + 1 < len(known) else "end"
