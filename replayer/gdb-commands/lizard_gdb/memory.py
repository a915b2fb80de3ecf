# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of an expression, and searches for accesses to it."""
import gdb

from .expressions import assigns, evaluate, known, place_of, unreadable
from .locations import frame_around, frame_words
from .moves import quietly
from .server import monitor

MOST = 1 << 20  # bytes, as in replayer/origin/access.h
STORED, LOADED, TOUCHED = "s", "l", "t"


def found():
    """What the last search has found."""
    return dict(line.split("=", 1) for line in monitor("found").splitlines())


class Memory:
    """What an expression refers to now."""

    def __init__(self, command, expression):
        if not expression:
            raise gdb.GdbError("%s: which expression?" % command)
        if assigns(expression):
            raise gdb.GdbError('%s: "%s" changes what it looks at; "==" compares.' % (command, expression))
        value, (text, _) = gdb.parse_and_eval(expression), evaluate(expression)
        if not known(text):
            raise gdb.GdbError("%s is optimized out here." % expression)
        if value.address is None:
            raise gdb.GdbError("%s is not in memory." % expression)
        if unreadable(text):
            raise gdb.GdbError("%s: %s" % (expression, text.strip("<>")))
        self.name, self.place, self.text = expression, place_of(expression), text
        self.address, self.size = int(value.address) & (2**64 - 1), value.type.sizeof
        if not 0 < self.size <= MOST:
            raise gdb.GdbError("%s has %d bytes: at most %d can be looked for." % (expression, self.size, MOST))
        self.frame = frame_around(self.address)

    def value(self):
        return evaluate(self.place)[0]

    def search(self, direction, kind, since=None):
        """Goes to right before an access, and returns what is known of it; None: Ctrl-C ended it."""
        words = ["access", direction, kind, "%x" % self.address, str(self.size)]
        if since:
            words += ["from", since]
        if direction == "backward" and not since:
            words += frame_words(self.frame, self.address, self.size)
        return found() if quietly(*words) else None

