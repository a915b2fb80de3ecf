# SPDX-License-Identifier: GPL-3.0-or-later
"""GDB's stops: what they were about, and keeping them from being shown or from happening."""
import re

import gdb

from . import conditions, inlined
from .libraries import refresh_in_loader
from .replay import replay
from .shown import shown
from .text import printed, say
from .version import version


class LastStop:
    """What the last stop was about."""

    event = None
    hit = []  # breakpoints: GDB deletes temporary ones after the stop


def on_stop(event):
    if isinstance(event, gdb.BreakpointEvent):
        LastStop.hit = [
            (p.number, p.hit_count, "%s%d%s" % ("Temporary breakpoint " if p.temporary else "Breakpoint ", p.number, place_of(p)))
            for p in event.breakpoints
            if p.is_valid() and p.number > 0 and not p.silent
        ]
    LastStop.event = event
    conditions.end_move()
    inlined.over()
    refresh_in_loader()
    shown()


def run(command):
    """GDB's command, without what it prints. False if Ctrl-C ended it."""
    LastStop.event = None
    printed(command)
    return not interrupted()


def interrupted():
    """Did Ctrl-C end the last move, or come before it ran?"""
    return LastStop.event is None or by_ctrl_c(LastStop.event)


def by_ctrl_c(event):
    return isinstance(event, gdb.SignalEvent) and event.stop_signal == "SIGINT"


def place_of(point):
    """GDB's suffix for the place of a breakpoint that has several."""
    addresses = [place.address for place in getattr(point, "locations", [])]
    pc = gdb.newest_frame().pc()
    return ".%d" % (addresses.index(pc) + 1) if len(addresses) > 1 and pc in addresses else ""


def hits():
    """How often each breakpoint was hit."""
    return {p.number: p.hit_count for p in gdb.breakpoints() or ()}


def reason_of_stop(before):
    """What GDB says in front of the place if the last stop was about a breakpoint. BEFORE: hits() before it. One whose
    condition is false is among those of the event, but was not hit."""
    for number, count, text in LastStop.hit:
        if count <= before.get(number, 0):
            continue
        thread = gdb.selected_thread()
        if max(t.global_num for t in gdb.selected_inferior().threads()) > 1:
            text = 'Thread %d "%s" hit %s' % (thread.num, thread.name, text)
        return "\n%s, " % text
    return ""


def stopped_at(point):
    return isinstance(LastStop.event, gdb.BreakpointEvent) and any(
        p.is_valid() and p == point for p in LastStop.event.breakpoints
    )


class Silence:
    """Stops are not shown for a while (GDB 12 and newer; elsewhere they are)."""

    setting = "suppress-cli-notifications"

    def __enter__(self):
        self.works = version() >= 12
        if self.works:
            self.old = gdb.parameter(self.setting)
            gdb.execute("set %s on" % self.setting)
        return self

    def __exit__(self, *unused):
        if self.works and not self.old:
            gdb.execute("set %s off" % self.setting)


def enable_count(point):
    """What `enable count` left of POINT, if it is more than once. Enabling it otherwise ends that."""
    text = printed("info breakpoints %d" % point.number)
    m = re.search(r"disable after (?:next|additional) (\d+) hits", text)
    return int(m.group(1)) if m else 0


class Quiet:
    """No breakpoints and watchpoints of the user's for a while."""

    def __enter__(self):
        self.off = []
        for point in gdb.breakpoints() or ():
            if point.number > 0 and point.enabled:
                self.off.append((point, enable_count(point)))
                point.enabled = False
        return self

    def __exit__(self, *unused):
        for point, count in self.off:
            if point.is_valid():
                try:
                    if count:
                        gdb.execute("enable count %d %d" % (count, point.number))
                    else:
                        point.enabled = True
                except gdb.error as e:
                    say("%s\n" % e)


class Forward:
    """The program runs forward for a while, whatever `set exec-direction` says; `reverse-` commands are refused
    otherwise."""

    def __enter__(self):
        self.reverse = gdb.parameter("exec-direction") == "reverse"
        if self.reverse:
            gdb.execute("set exec-direction forward")

    def __exit__(self, *unused):
        if self.reverse:
            gdb.execute("set exec-direction reverse")


class SignalsPass:
    """No signal stops a run for a while."""

    def __enter__(self):
        replay().pass_all_signals(True)

    def __exit__(self, *unused):
        try:
            replay().pass_all_signals(False)
        except gdb.GdbError:
            pass  # the recording has been closed
