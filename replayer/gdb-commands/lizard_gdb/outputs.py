# SPDX-License-Identifier: GPL-3.0-or-later
"""jump_forward and jump_backward to what the program wrote. `lizard output` finds it: a child replays the run for the text."""
import re

import gdb

from .asked import rows
from .moves import travel
from .replay import need_process, replay
from .text import say

# "output" alone may be a function
OUTPUT = re.compile(r"output\s+(?=\S)")
DESCRIPTOR = re.compile(r"-fd\s+(\d+)\s+")
MOST = 200  # characters of a line


def is_output(arg):
    return OUTPUT.match(arg) is not None


def parts(arg):
    """The options for descriptors, and the pattern."""
    rest = arg[OUTPUT.match(arg).end() :]
    options = []
    while True:
        found = DESCRIPTOR.match(rest)
        if not found:
            return options, rest
        options.append("--fd=" + found.group(1))
        rest = rest[found.end() :]


def behind(event):
    """The instant at which EVENT events are applied, as far as events are asked about."""
    now = replay().now()
    return "%d:%d.%d@0x0#1" % (now["tid"], now["marker"], event)


def find(direction, options):
    """The row of the call. None: there is none."""
    event = replay().now()["event"]
    if direction == "forward":
        found = ask(options + ["--limit=1", "--from=" + behind(event)])
    else:
        found = ask(options + ["--last=1", "--to=" + behind(event)])
        if found and stands_behind(found[0]):
            found = ask(options + ["--last=1", "--to=" + behind(found[0]["event"])])
    return found[0] if found else None


def ask(options):
    return rows("output", ["--no-stacks", *options], doing="Replaying the run for its output...\n")


def stands_behind(row):
    """Is this the instant right behind the call of ROW?"""
    now = replay().now()
    return now["event"] == row["event"] + 1 and replay().position() == row["position"]


def line_of(row):
    line = row["line"]
    return line if len(line) <= MOST else line[:MOST] + "..."


def jump_to_output(direction, arg):
    need_process()
    options, pattern = parts(arg)
    row = find(direction, options + ["--grep=" + pattern])
    if row is None:
        written = "is written later" if direction == "forward" else "was written before"
        where = " or ".join(option[len("--fd=") :] for option in options) or "1 or 2 (-fd N: to descriptor N)"
        raise gdb.GdbError("Nothing that matches \"%s\" %s to descriptor %s." % (pattern, written, where))
    say("Output to descriptor %d: %s\n" % (row["fd"], line_of(row)))
    travel("seek", row["position"])
