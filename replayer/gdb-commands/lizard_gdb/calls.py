# SPDX-License-Identifier: GPL-3.0-or-later
"""What `import lizard` gives to Python in GDB: answers from the recorded control flow as objects. See also lizard-gdb(1)."""
import json

import gdb

from .arguments import argument_symbols
from .asked import option_words
from .functions import ask_functions, shown_name
from .hits import Hit, hits
from .moves import travel
from .replay import position
from .shown import OneMove
from .visits import Excursion, entry_position, visit_entry, visit_return

__all__ = ["Activation", "Hit", "calls", "excursion", "hits", "position"]


class Activation:
    """One call of a function."""

    __slots__ = ("number", "function", "thread", "caller", "depth", "position", "end", "length", "how", "linkage_name")

    def __init__(self, row):
        self.number = row["number"]
        self.linkage_name = row["function"]
        self.function = shown_name(row["function"])
        self.thread = row["thread"]
        self.caller = shown_name(row["caller"])
        self.depth = row["depth"]
        self.position = row["from"]
        self.end = row["to"]
        self.length = row["length"]
        self.how = row["ended"]

    def __repr__(self):
        return "<lizard.Activation %d of %s>" % (self.number, self.function)

    def __str__(self):
        return "%8d  %s  from %s  depth %d  %s to %s  length %d  %s" % (
            self.number, self.function, self.caller or "?", self.depth, self.position, self.end, self.length, self.how,
        )

    def goto(self, end=False):
        """Goes to its entry, or to its return, and shows the place."""
        with OneMove():
            travel("seek", self.end if end else entry_position(self.position))

    def args(self):
        """Its arguments by their names, as they are at its entry: gdb.Value."""
        with excursion():
            visit_entry(self.position)
            frame = gdb.newest_frame()
            return {symbol.print_name: fetched(frame.read_var(symbol)) for symbol in argument_symbols(frame)}

    def value(self):
        """What it returns, where GDB's finish tells, else None."""
        if self.how != "return":
            return None
        with excursion():
            value = visit_return(self.end)
            return value if value is None else fetched(value)


def fetched(value):
    """VALUE, which is then the same at other instants."""
    try:
        value.fetch_lazy()
    except gdb.error:
        pass  # memory that is not there: reading it says so
    return value


def excursion():
    """What is visited within `with lizard.excursion():` is left once, at its end, and not after each visit."""
    return Excursion()


def list_calls(functions, words):
    text = ask_functions("calls", ["--json", *words], functions)
    return [Activation(json.loads(line)) for line in text.splitlines()]


def calls(*functions, **options):
    """The activations of FUNCTIONS, in the order in which they began. OPTIONS: those of `lizard calls`, as thread=1234,
    start="25%", to="50%", limit=10, longest=3, at=lizard.position()."""
    return list_calls(functions, option_words(options))
