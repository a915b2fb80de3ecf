# SPDX-License-Identifier: GPL-3.0-or-later
"""Points: noted instants, which stay in the recording. `lizard points` reads and writes them."""
import gdb

from .asked import ask, rows
from .command import OWN_COMPLETER, Command
from .moves import travel
from .places import location
from .replay import need_process, position
from .text import say


ENDS = {"start": "start", "begin": "start", "end": "end"}


def points():
    return rows("points")


def listed(point):
    note = "  " + point["note"] if point["note"] else ""
    return "%d  %s%s\n" % (point["number"], point["position"], note)


def point_of(arg):
    """The one that ARG names: by its number, or by a piece of its note, of which the last one counts."""
    if not arg:
        raise gdb.GdbError("Which point? \"info points\" lists them.")
    known = points()
    for point in reversed(known):
        if arg == str(point["number"]):
            return point
    for point in reversed(known):
        if arg in point["note"]:
            return point
    raise gdb.GdbError("There is no point '%s'; \"info points\" lists them." % arg)


class Point(Command):
    """Keep the present instant in the recording, with a note.
Usage: point [NOTE]
"goto-point" comes back to it, also in other sessions.  "info points" lists all,
and "delete-point" forgets one."""

    name = "point"
    repeats = False
    kept = "Point"

    def act(self, arg, from_tty):
        need_process()
        made = rows("points", ["--add=" + position(), "--note=" + arg.strip()])[0]
        say("%s %d: %s.\n" % (self.kept, made["number"], location()))


class InfoPoints(Command):
    """List the points: instants that were kept by "point", with their notes.
Usage: info points"""

    name = "info points"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        known = points()
        say("".join(map(listed, known)) or "No points.\n")


class OfPoint(Command):
    completer = OWN_COMPLETER
    repeats = False

    def complete(self, text, word):
        return [str(point["number"]) for point in points() if str(point["number"]).startswith(text)]


class GotoPoint(OfPoint):
    """Go to a point.
Usage: goto-point N|NOTE
NOTE may be a piece of the point's note; the last such point counts."""

    name = "goto-point"

    def act(self, arg, from_tty):
        travel("seek", point_of(arg.strip())["position"])


class DeletePoint(OfPoint):
    """Forget a point. Those behind it get other numbers.
Usage: delete-point N|NOTE"""

    name = "delete-point"

    def act(self, arg, from_tty):
        point = point_of(arg.strip())
        ask("points", ["--delete=%d" % point["number"]])
        say("Deleted point " + listed(point))


# ---- the same by the names that GDB has for it ----


class Bookmark(Point):
    """Keep the present instant as a point, which has a number.
Usage: bookmark [NOTE]
"goto-bookmark" comes back to it, also in other sessions."""

    name = "bookmark"
    redefines = True
    kept = "Saved bookmark"


class InfoBookmarks(InfoPoints):
    """List the points, as "info points" does.
Usage: info bookmarks"""

    name = "info bookmarks"
    redefines = True


class GotoBookmark(GotoPoint):
    """Go to a point, to an end of the run, or to a position.
Usage: goto-bookmark N|NOTE|start|begin|end|"POSITION\""""

    name = "goto-bookmark"
    redefines = True

    def act(self, arg, from_tty):
        where = arg.strip()
        if where in ENDS or where[:1] in ("'", '"'):
            travel("seek", ENDS.get(where, where.strip("'\"")))
        else:
            travel("seek", point_of(where)["position"])


class DeleteBookmark(DeletePoint):
    """Forget a point, or all of them.
Usage: delete bookmark [N|NOTE]"""

    name = "delete bookmark"
    redefines = True

    def act(self, arg, from_tty):
        if arg.strip():
            super().act(arg, from_tty)
            return
        for point in reversed(points()):
            ask("points", ["--delete=%d" % point["number"]])
