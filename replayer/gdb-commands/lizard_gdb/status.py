"""when and info lizard."""
import gdb

from .command import Command
from .replay import replay


def commas(number):
    return "{:,}".format(number)


def percent(w):
    if w["total"]:
        return 100.0 * w["time"] / w["total"]
    return 100.0 * w["event"] / max(1, w["events"])


class When(Command):
    """Show the present instant.
Usage: when
That is the number of the event, the global time, the part of the run in
percent, the position, and of several threads the present one.  The
position can be given to jump_forward and jump_backward."""

    name = "when"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        w = replay().now()
        gdb.write(
            "event %s of %s, time %s of %s (%.2f%%)\nposition %s\n"
            % (
                commas(w["event"]),
                commas(w["events"]),
                commas(w["time"]),
                commas(w["total"]),
                percent(w),
                w["position"],
            )
        )
        if w["threads"] != 1:
            gdb.write('thread %s "%s", one of %s\n' % (w["tid"], w["name"], w["threads"]))


class InfoLizard(Command):
    """Describe the recording and the present instant.
Usage: info lizard"""

    name = "info lizard"
    kind = gdb.COMMAND_STATUS

    def act(self, arg, from_tty):
        i = replay().info()
        gdb.write("recording    %s\n" % i["recording"])
        gdb.write("program      %s\n" % i["program"])
        gdb.write("command      %s\n" % i["args"])
        gdb.write("directory    %s\n" % i["cwd"])
        gdb.write("ran for      %.3f s, %s\n" % (i["duration_ns"] / 1e9, ending(i)))
        gdb.write("checkpoints  %s\n" % i["checkpoints"])
        gdb.write("front end    GDB %s with %s\n" % (gdb.VERSION, i["front_end"]))
        if not i["instrumented"]:
            gdb.write("The program was not built with lizard-cc.\n")
        if "damage" in i:
            gdb.write("The recording was cut: %s\n" % i["damage"])
        gdb.execute("when")


def ending(info):
    status = info["exit_status"]
    if status < 0:
        return "its end is not in the recording"
    if status & 0x7F:
        return "ended by signal %d" % (status & 0x7F)
    return "exit status %d" % (status >> 8 & 0xFF)
