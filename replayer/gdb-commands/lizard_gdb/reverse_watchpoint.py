# SPDX-License-Identifier: GPL-3.0-or-later
"""reverse_watchpoint."""
import re

import gdb

from .activations import activation_start, entry_of
from .called import search_calls, value_of_call
from .change import search_change, search_in_frame
from .command import Command
from .expressions import assigns, calls, evaluate, evaluate_in, known, of_frame, of_thread, place_of, unreadable, uses_locals
from .libraries import refresh_libraries
from .moves import quietly
from .places import show_place
from .replay import instrumented, need_process, why_no_markers
from .stops import Forward, Quiet, SignalsPass
from .text import say
from .version import version


class ReverseWatchpoint(Command):
    """Go backward to the last instant at which the value of EXPRESSION changed.
Usage: reverse_watchpoint [-l|-location] EXPRESSION
With -l, as for "watch": the memory that EXPRESSION refers to now, whatever
becomes of the variables in it.
Stops right before the instruction (or system call) that changed it, and
shows the values before and after.  Further uses go to earlier changes.
If there is none, it stays where it was.
Breakpoints do not count.
Where EXPRESSION calls a function, it is evaluated from line to line on the
way back.  A line that changes it and changes it back is passed by."""

    name = "reverse_watchpoint"
    completer = gdb.COMPLETE_EXPRESSION

    def act(self, arg, from_tty):
        expression = arg.strip()
        if not expression:
            raise gdb.GdbError("reverse_watchpoint: which expression?")
        if assigns(expression):
            raise gdb.GdbError('reverse_watchpoint: "%s" changes what it is to watch; "==" compares.' % expression)
        need_process()
        location = re.match(r"-l(?:ocation)?\s+(.+)", expression)
        if location:
            expression = place_of(location.group(1))
        frame = gdb.selected_frame()
        expression = of_frame(expression, frame)
        if uses_locals(expression) and frame.pc() == entry_of(frame):
            raise gdb.GdbError("%s: this is the start of the activation." % expression)
        called = calls(expression)
        if called and not instrumented():
            raise gdb.GdbError("%s calls a function. %s, so that cannot be searched for." % (expression, why_no_markers()))
        new = (value_of_call if called else evaluate)(expression)
        if not known(new[0]):
            raise gdb.GdbError("%s is optimized out here." % expression)
        if new[1] is None and not unreadable(new[0]):
            raise gdb.GdbError("%s: %s" % (expression, new[0].strip("<>")))
        with Quiet(), SignalsPass(), Forward():
            try:
                search = search_calls if called else self.search
                met, old, new = search(expression, new[0])
            except KeyboardInterrupt:  # Ctrl-C while nothing ran
                met, old, new = "interrupted", None, None
        if met and met != "interrupted":
            quietly("undo", 0)
        self.report(expression, met, old, new)
        if met and frame.is_valid():
            frame.select()

    def search(self, expression, new):
        frame = gdb.selected_frame()
        # GDB 17 and newer delete a watchpoint where the thread does not have the variable yet.
        if version() > 16 and of_thread(expression):
            expression = place_of(expression)
        local = uses_locals(expression)
        watch = gdb.Breakpoint(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        watch.silent = True
        if watch.type == gdb.BP_WATCHPOINT and local and frame.level() == 0 and instrumented():
            watch.delete()
            return search_in_frame(expression)
        start = activation_start(frame) if local else None
        try:
            if watch.type == gdb.BP_WATCHPOINT:
                say("%s is not in memory: this goes by single steps.\n" % expression)
            met = search_change(expression, watch, start)
            return met, evaluate_in(frame, expression) if local else evaluate(expression)[0], new
        finally:
            for point in (watch, start):
                if point is not None and point.is_valid():
                    point.delete()

    def report(self, expression, met, old, new):
        refresh_libraries()
        if met == "interrupted":
            say("Interrupted before a change of %s was found.\n" % expression)
        elif met:
            say("%s did not change since the %s: nothing has moved.\n" % (expression, met))
        else:
            say("%s\n\nOld value = %s\nNew value = %s\n" % (expression, old, new))
        show_place()
