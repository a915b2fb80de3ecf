# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening a recording, and the place shown first."""
import contextlib
import os
import signal
import time

import gdb

from . import settings
from .handlers import ignore, listen
from .libraries import keep_libraries
from .places import show_place
from .replay import inside, replay, why_no_markers
from .server import monitor
from .start import to_main
from .shown import OneMove
from .status import ending
from .stops import Silence
from .text import execute, say
from .version import version


def made(info):
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(info["started"]))
    except (OverflowError, OSError, ValueError):
        return "at no time that there is"


def which(info):
    """Which recording this is, of what, and how that ended."""
    return "%s: %s, %s after %.2f s, recorded %s.\n" % (
        os.path.basename(info["recording"]),
        cut(info["args"], 200),
        ending(info),
        info["duration_ns"] / 1e9,
        made(info),
    )


def cut(text, most):
    return text if len(text) <= most else text[:most] + "..."


MOST_PROGRAMS = 20


def announce():
    info = replay().info()
    say(which(info))
    if "damage" in info:
        say("This recording is not whole: %s\n" % info["damage"])
    if "not_kept" in info:
        say(
            "This is the last part of the run: what came before its event %s was not kept.\n"
            % info["not_kept"]
        )
    if len(info["programs"]) > 1:
        say(several(info))
    if not info["instrumented"]:
        say(
            why_no_markers() + ", so there are no markers: bs and prev are GDB's "
            "reverse-step and reverse-next, jumps and reverse runs go from checkpoint to checkpoint, "
            "and all of them are slow.\n"
        )


def several(info):
    """The programs that the process executed, and which one is shown."""
    lines = ["The process executed several programs; this is number %d of them:\n" % info["n_program"]]
    for number, name in enumerate(info["programs"][:MOST_PROGRAMS], 1):
        lines.append("%s %d  %s\n" % ("*" if number == info["n_program"] else " ", number, name))
    if len(info["programs"]) > MOST_PROGRAMS:
        lines.append("  ... %d in all\n" % len(info["programs"]))
    return "".join(lines)


def signal_name(number):
    """As GDB shows it; real-time signals, and numbers that are none, have no name of their own in Python."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = "SIG%d" % number
    try:
        return "%s, %s" % (name, signal.strsignal(number))
    except ValueError:
        return name


def show_end():
    status = replay().info()["exit_status"]
    if status > 0 and status & 0x7F:
        say("\nProgram received signal %s.\n" % signal_name(status & 0x7F))
    show_place()


def on_write(event):
    say(
        "A recording cannot be changed: this happens in a copy, which is thrown away as soon as you "
        "move in time.\n"
    )


def connect(command, at_end, go=None):
    """GO: what shows the first place if the recording is not opened at its end."""
    with Silence():
        # The server answers when it has read the recording, which may take longer than GDB's two seconds. If
        # it dies, the pipe's end tells.
        watch_writes(False)
        gdb.execute("set remotetimeout 600")
        execute(command)
    if not inside():
        monitor("quiet")
        monitor("gdb %d" % version())
    settings.define()
    keep_libraries()  # for watchpoints of GDB's initialization files
    announce()
    if at_end:
        show_end()
    elif go is not None:
        go()
    elif replay().info()["inside"]:
        show_place()  # main began before its recording
    else:
        to_main()
    watch_writes(True)


class Writes:
    """Those of the user's. What GDB itself writes while it connects is nobody's doing."""

    watched = False


def watch_writes(on):
    if on == Writes.watched:
        return
    Writes.watched = on
    for event in (gdb.events.memory_changed, gdb.events.register_changed):
        (listen if on else ignore)(event, on_write)


def give_up(why):
    say("lizard-gdb: %s\n" % why, gdb.STDERR)
    gdb.execute("quit 1")


@contextlib.contextmanager
def environment_of_opening():
    """GDB's command that opens the recording, and whether that is at its end, as lizard-gdb says. GDB asks nothing
    meanwhile."""
    command = os.environ.pop("LIZARD_GDB_OPEN", None)
    at_end = os.environ.pop("LIZARD_GDB_END", None) is not None
    sysroot = os.environ.pop("LIZARD_GDB_SYSROOT", None)
    if sysroot is not None:
        gdb.execute("set sysroot " + sysroot)
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    try:
        yield command, at_end
    finally:
        gdb.execute("set confirm " + ("on" if confirm else "off"))


def open_recording():
    """Asked for by lizard-gdb through the environment."""
    with environment_of_opening() as (command, at_end):
        if not command:
            return
        try:
            with OneMove():
                connect(command, at_end)
        except (gdb.error, gdb.GdbError) as e:
            give_up(e)
        except KeyboardInterrupt:
            if gdb.selected_inferior().pid:
                raise
            give_up("interrupted while the recording was opened")
