# SPDX-License-Identifier: GPL-3.0-or-later
"""When control was at a place, read from the recorded control flow."""
import json
import os
import re

import gdb

from .asked import ask, option_words
from .functions import is_strange, recorded_names, shown_name
from .moves import travel
from .shown import OneMove
from .visits import go, instant, position, try_place

LINE = re.compile(r"(.*:)?\d+")


class Hit:
    """Control came to a line, a function or an instruction."""

    __slots__ = ("number", "function", "thread", "file", "line", "address", "position", "exact")

    def __init__(self, row):
        self.number = row["number"]
        self.function = shown_name(row["function"])
        self.thread = row["thread"]
        self.file = row["file"]
        self.line = row["line"]
        self.address = int(row["address"], 16)
        self.position = row["position"]
        self.exact = row["exact"]

    def __repr__(self):
        return "<lizard.Hit %d of %s at %s>" % (self.number, self.function, self.where())

    def __str__(self):
        return "%8d  %s at %s  %s" % (self.number, self.function, self.where(), self.position)

    def where(self):
        return "%s:%d" % (os.path.basename(self.file), self.line) if self.file else "%#x" % self.address

    def goto(self, end=False):
        """Goes there, and shows the place."""
        if end:
            raise gdb.GdbError("Number %d of the list is a hit: only calls have an end." % self.number)
        with OneMove():
            travel("seek", self.place())

    def place(self):
        """Its position, or where control first comes to its address behind the marker, if nothing more is known."""
        if self.exact:
            return self.position
        here = position()
        thread, marker = instant(self.position)
        go("seek", self.position)
        try:
            return position() if try_place(thread, marker, self.address) else self.position
        finally:
            go("seek", here)


def recorded_place(location):
    """LOCATION, as `break` takes it, for `lizard hits`."""
    location = location.strip()
    if location.startswith("*") and not is_strange(location):
        return "*%#x" % (int(gdb.parse_and_eval(location[1:])) & (2**64 - 1))
    if LINE.fullmatch(location):
        return location if ":" in location else line_here(location)
    names = recorded_names(location)
    if len(names) > 1:
        raise gdb.GdbError("%s is more than one function: %s" % (location, ", ".join(map(shown_name, names))))
    return names[0]


def line_here(number):
    """Line NUMBER of the file that GDB shows."""
    lines = gdb.decode_line(number)[1] or ()
    files = {line.symtab.filename for line in lines if line.symtab is not None}
    if not files:
        raise gdb.GdbError("There is no line %s in the present file." % number)
    return "%s:%s" % (files.pop(), number)


def ask_hits(location, words):
    """What `lizard hits` prints of LOCATION."""
    return ask("hits", words, [recorded_place(location)])


def list_hits(location, words):
    return [Hit(json.loads(line)) for line in ask_hits(location, ["--json", *words]).splitlines()]


def hits(location, **options):
    """Each time that control came to LOCATION. OPTIONS: those of `lizard hits`, as thread=1234, start="25%", limit=10, nth=3."""
    return list_hits(location, option_words(options))
