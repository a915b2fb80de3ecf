# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands for recordings in LLDB 19 and newer, which is connected to `lizard-gdb -s PORT`:
command script import .../lizard_lldb.py

The server makes the moves. A move is armed by a monitor command, and the next resume carries it
out, whatever LLDB means by that. So nothing depends on what a version of LLDB knows of reverse
execution."""
import re

import lldb

# From here on LLDB itself runs backwards, with conditions and commands of breakpoints.
FIRST_WITH_REVERSE = 21

INSTANT = re.compile(r"^(here|start|end|\d+(\.\d*)?%|(time|event) [\d,]+|\d[\d,]*:\d[\d,]*\.\d[\d,]*@(0x)?[0-9a-fA-F]+#\d+)$")


# The server's word for a stop there that is no end of a run forwards.
AT_BREAKPOINT = "at a breakpoint"

RESUMING = re.compile(r"^Process \d+ resuming\n", re.M)


class Failed(Exception):
    pass


def version():
    found = re.search(r"version (\d+)", lldb.SBDebugger.GetVersionString())
    return int(found.group(1)) if found else 0


def run(debugger, command):
    """What LLDB prints for COMMAND."""
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, result)
    if not result.Succeeded():
        raise Failed((result.GetError() or "%s failed" % command).strip())
    return result.GetOutput() or ""


def packet(debugger, kind, text):
    """The server's answer; LLDB prints what it sent and got behind it."""
    return run(debugger, "process plugin packet %s %s" % (kind, text)).partition("  packet: ")[0]


def monitor(debugger, text):
    return packet(debugger, "monitor", text)


def process_of(debugger):
    process = debugger.GetSelectedTarget().GetProcess()
    if not process.IsValid() or process.GetState() != lldb.eStateStopped:
        raise Failed("No recording is open: gdb-remote PORT")
    return process


def suppress_signals(process):
    signals = process.GetUnixSignals()
    for i in range(signals.GetNumSignals()):
        signals.SetShouldSuppress(signals.GetSignalAtIndex(i), True)


def resume(debugger, command):
    """COMMAND, to its end. No signal is delivered: the recording has its own."""
    was = debugger.GetAsync()
    debugger.SetAsync(False)
    try:
        suppress_signals(process_of(debugger))
        return RESUMING.sub("", run(debugger, command))
    finally:
        debugger.SetAsync(was)


def move(debugger, what):
    """Makes the server's move WHAT, in the selected thread."""
    thread = process_of(debugger).GetSelectedThread()
    why = monitor(debugger, what)
    if why:
        raise Failed(why.strip())
    packet(debugger, "send", "T%x" % thread.GetThreadID())  # the one that is meant
    return backward(debugger)


def backward(debugger):
    monitor(debugger, "backward")
    forward = " --forward" if version() >= FIRST_WITH_REVERSE else ""
    return resume(debugger, "process continue" + forward)


def meets(frame, place):
    condition = place.GetCondition()
    if not condition:
        return True
    value = frame.EvaluateExpression(condition)
    return value.GetError().Fail() or value.GetValueAsUnsigned() != 0


def is_wanted(process):
    """Not at breakpoints whose conditions do not hold, nor at LLDB's own, in the loader."""
    thread = process.GetSelectedThread()
    frame = thread.GetFrameAtIndex(0)
    if thread.GetStopDescription(100) != AT_BREAKPOINT:
        return True
    places = [
        place
        for point in process.GetTarget().breakpoint_iter()
        if point.IsEnabled()
        for place in point
        if place.IsEnabled() and place.GetLoadAddress() == frame.GetPC()
    ]
    return any(meets(frame, place) for place in places)


def times(text):
    text = text.strip()
    if text and not text.isdigit():
        raise Failed("'%s' is not a number" % text)
    return " " + text if text else ""


def bs(debugger, args):
    """Go back to where `step` would have led here from: bs [N]"""
    return move(debugger, "back-step" + times(args))


def prev(debugger, args):
    """Go back to where `next` would have led here from: prev [N]"""
    return move(debugger, "back-next" + times(args))


def reverse_continue(debugger, args):
    """Run backwards to a breakpoint, a watchpoint, a signal or the beginning."""
    process = process_of(debugger)
    if version() >= FIRST_WITH_REVERSE:
        shown = resume(debugger, "process continue --reverse")
        move(debugger, "seek here")  # else LLDB's `continue` and `finish` go backwards from now on
        return shown
    shown = backward(debugger)
    while not is_wanted(process):
        shown = backward(debugger)
    return shown


def when(debugger, args):
    """Show the present instant. `jump_backward` and `jump_forward` take the position."""
    process_of(debugger)
    w = dict(line.partition("=")[::2] for line in monitor(debugger, "when").splitlines())
    if "position" not in w:
        raise Failed("the server is not Lizard's")
    lines = ["event %s of %s, time %s of %s" % (w["event"], w["events"], w["time"], w["total"])]
    lines.append("position %s" % w["position"])
    if w["threads"] != "1":
        lines.append('thread %s "%s", one of %s' % (w["tid"], w["name"], w["threads"]))
    return "\n".join(lines) + "\n"


def breakpoint_at(target, place):
    """A breakpoint as LLDB would set it for PLACE: a line, FILE:LINE, *ADDRESS or a function."""
    if place.startswith("*"):
        return target.BreakpointCreateByAddress(int(place[1:], 0))
    name, colon, line = place.rpartition(":")
    if not line.isdigit():
        return target.BreakpointCreateByName(place)
    if not colon:
        frame = target.GetProcess().GetSelectedThread().GetSelectedFrame()
        name = frame.GetLineEntry().GetFileSpec().GetFilename() or ""
    return target.BreakpointCreateByLocation(name, int(line))


def addresses(target, place):
    try:
        point = breakpoint_at(target, place)
    except ValueError:
        raise Failed("'%s' is no address" % place)
    found = {l.GetLoadAddress() for l in point} - {lldb.LLDB_INVALID_ADDRESS}
    target.BreakpointDelete(point.GetID())
    if not found:
        raise Failed("There is no code at %s." % place)
    return sorted(found)


def jump(debugger, direction, args):
    args = args.strip()
    target = process_of(debugger).GetTarget()
    if args.split(None, 1)[:1] == ["-any"]:
        args = args[len("-any") :].strip()
        direction += " any"
    if not args:
        raise Failed("Where to?")
    if INSTANT.match(args):
        return move(debugger, "seek " + args)
    return move(debugger, "jump %s %s" % (direction, " ".join("%x" % a for a in addresses(target, args))))


def jump_backward(debugger, args):
    """Go to the previous instant at a place: jump_backward [-any] LINE|FILE:LINE|FUNCTION|*ADDRESS

-any looks at all threads. The instant may be named instead: start, end, N%, event N, time N, or a position as `when` prints it."""
    return jump(debugger, "backward", args)


def jump_forward(debugger, args):
    """Go to the next instant at a place: jump_forward [-any] LINE|FILE:LINE|FUNCTION|*ADDRESS

-any looks at all threads. The instant may be named instead: start, end, N%, event N, time N, or a position as `when` prints it."""
    return jump(debugger, "forward", args)


COMMANDS = {
    "bs": bs,
    "prev": prev,
    "reverse-continue": reverse_continue,
    "when": when,
    "jump_backward": jump_backward,
    "jump_forward": jump_forward,
}


class Command:
    """One of COMMANDS for LLDB, which makes an instance for each name."""

    act = None

    def __init__(self, debugger, internal):
        pass

    def __call__(self, debugger, args, context, result):
        try:
            result.AppendMessage(type(self).act(debugger, args).rstrip("\n"))
        except Failed as e:
            result.SetError(str(e))

    def get_short_help(self):
        return type(self).act.__doc__.partition("\n")[0]

    def get_long_help(self):
        return type(self).act.__doc__


def __lldb_init_module(debugger, internal):
    for number, (name, act) in enumerate(COMMANDS.items()):
        made = "Command%d" % number
        globals()[made] = type(made, (Command,), {"act": staticmethod(act)})
        debugger.HandleCommand("command script add -o -c %s.%s %s" % (__name__, made, name))
