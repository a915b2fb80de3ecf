# SPDX-License-Identifier: GPL-3.0-or-later
"""when and info lizard."""
import signal

import gdb

from .command import Command
from .replay import position, replay, why_no_markers
from .text import say


def commas(number):
    return "{:,}".format(number)


def percent(w):
    if w["total"]:
        return 100.0 * w["time"] / w["total"]
    return 100.0 if w["end"] else 100.0 * w["event"] / max(1, w["events"])


class When(Command):
    """Show the present instant.
Usage: when
That is the number of the event, the global time, the part of the run in
percent, the position, of several threads the present one, and the last mark
that the program has made before.  The position can be given to jump_forward
and jump_backward."""

    name = "when"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        w = replay().now()
        say(
            "event %s of %s, time %s of %s (%.2f%%)\nposition %s\n"
            % (
                commas(w["event"]),
                commas(w["events"]),
                commas(w["time"]),
                commas(w["total"]),
                percent(w),
                position(),
            )
        )
        if w["threads"] != 1:
            say('thread %s "%s", one of %s\n' % (w["tid"], w["name"], w["threads"]))
        if w["n_mark"]:
            say("behind mark %d: %s\n" % (w["n_mark"], w["mark"]))


class InfoLizard(Command):
    """Describe the recording and the present instant.
Usage: info lizard"""

    name = "info lizard"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        i = replay().info()
        say("recording    %s\n" % i["recording"])
        say("program      %s%s\n" % (i["program"], one_of(i)))
        say("command      %s\n" % i["args"])
        say("directory    %s\n" % i["cwd"])
        say("ran for      %.3f s, %s\n" % (i["duration_ns"] / 1e9, ending(i)))
        say("checkpoints  %s\n" % i["checkpoints"])
        say("front end    GDB %s with %s\n" % (gdb.VERSION, i["front_end"]))
        if not i["instrumented"]:
            say("%s.\n" % why_no_markers())
        if "damage" in i:
            say("The recording is not whole: %s\n" % i["damage"])
        gdb.execute("when")


def short_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals, and numbers that are none
        return "signal %d" % number


def one_of(info):
    """Of several programs, which one it is."""
    count = len(info["programs"])
    return " (%d of %d that the process executed)" % (info["n_program"], count) if count > 1 else ""


def ending(info):
    status = info["exit_status"]
    if status < 0:
        return "its end is not in the recording"
    if status & 0x7F:
        return "killed by " + short_name(status & 0x7F)
    return "exit status %d" % (status >> 8 & 0xFF)
