# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks: instants that the program itself has noted, by lizard_mark() of <lizard.h>. `lizard marks` finds them."""
import re

import gdb

from .asked import rows
from .command import Command
from .moves import travel
from .replay import need_process, replay
from .text import printable, say

# "mark" alone may be a function
MARK = re.compile(r"mark\s+(?=\S)")


def is_mark(arg):
    return MARK.match(arg) is not None


def matching(pattern, *options):
    return rows("marks", ["--grep=" + pattern, *options])


def stands_behind(row):
    return replay().now()["event"] == row["event"] + 1 and replay().position() == row["position"]


def next_one(found, event):
    return next((row for row in found if row["event"] >= event), None)


def last_one(found, event):
    before = [row for row in found if row["event"] < event]
    if before and stands_behind(before[-1]):
        before.pop()
    return before[-1] if before else None


def jump_to_mark(direction, arg):
    need_process()
    pattern = arg[MARK.match(arg).end() :]
    event = replay().now()["event"]
    found = matching(pattern)
    row = next_one(found, event) if direction == "forward" else last_one(found, event)
    if row is None:
        made = "is made later" if direction == "forward" else "was made before"
        raise gdb.GdbError('No mark that matches "%s" %s.' % (pattern, made))
    say(listed(row))
    travel("seek", row["position"])


def listed(row):
    return "Mark %d: %s\n" % (row["number"], printable(row["text"]))


class InfoMarks(Command):
    """List the marks: instants that the program has noted by lizard_mark().
Usage: info marks [RE]
Only those that match the regular expression RE, as of grep -E.
"jump_forward mark RE" and "jump_backward mark RE" go to one."""

    name = "info marks"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        found = matching(arg.strip())
        say("".join("%6d  %s  %s\n" % (row["number"], row["position"], printable(row["text"])) for row in found) or "No marks.\n")
