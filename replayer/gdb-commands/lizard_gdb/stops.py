"""GDB's stops: what they were about, and keeping them from being shown or from happening."""
import re

import gdb

from .server import monitor


def version():
    m = re.match(r"\D*(\d+)", gdb.VERSION)
    return int(m.group(1)) if m else 0


class LastStop:
    """What the last stop was about."""

    event = None


def on_stop(event):
    LastStop.event = event


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


class Quiet:
    """No breakpoints and watchpoints of the user's for a while."""

    def __enter__(self):
        self.off = []
        for point in gdb.breakpoints() or ():
            if point.number > 0 and point.enabled:
                point.enabled = False
                self.off.append(point)
        return self

    def __exit__(self, *unused):
        for point in self.off:
            if point.is_valid():
                try:
                    point.enabled = True
                except gdb.error as e:
                    gdb.write("%s\n" % e)


class SignalsPass:
    """No signal stops a run for a while."""

    def __enter__(self):
        monitor("signals pass")

    def __exit__(self, *unused):
        try:
            monitor("signals stop")
        except gdb.GdbError:
            pass  # the recording has been closed
