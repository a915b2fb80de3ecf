# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server of a recording is asked through monitor packets. The patched GDB has a module with the same functions,
`_lizard`, for its own target: see replay.py."""
import itertools
import signal

import gdb

from .text import unquoted

TEXTS = {"position", "name", "recording", "program", "cwd", "args", "damage", "front_end", "crosses", "mark"}


def uninterrupted(function):
    """Ctrl-C waits until FUNCTION is done."""

    def call(*args):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            return function(*args)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    return call


@uninterrupted  # GDB would go away from the answer, and take it for that to its next packet
def monitor(text):
    """The server's answer to a monitor command."""
    try:
        return unquoted(gdb.execute("monitor " + text, to_string=True))
    except gdb.error as e:
        raise gdb.GdbError("No recording is open. (%s)" % e)


def table(text):
    """Lines key=value as a dict."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key: value if key in TEXTS or key[-1].isdigit() else int(value) for key, value in pairs}


def now():
    """The present instant; its position is not counted where that may take long."""
    return table(monitor("now"))


def position():
    """The present position, counted in any case."""
    return table(monitor("when"))["position"]


def info():
    """The recording."""
    answer = table(monitor("info"))
    for name in ("program", "begin", "end"):
        found = (answer.pop("%s_%d" % (name, i), None) for i in itertools.count(1))
        answer[name + "s"] = list(itertools.takewhile(lambda text: text is not None, found))
    return answer


def arm(kind, *rest):
    """The next reverse resume carries out a move: ("seek", PLACE), ("jump", DIRECTION, ANY_THREAD, ADDRESSES),
    (KIND, N) with "back-step", "back-next", "undo" or "redo"."""
    if kind == "jump":
        direction, any_thread, addresses = rest
        rest = [direction] + ["any"] * any_thread + ["%x" % a for a in addresses]
    refused = monitor(" ".join([kind] + [str(word) for word in rest]))
    if refused:
        raise gdb.GdbError(refused.rstrip("\n"))


def outcome():
    """What there is to say about the last move, and why it could not be made, or None."""
    lines = monitor("note").splitlines()
    errors = [line[7:] for line in lines if line.startswith("error: ")]
    note = "".join(line + "\n" for line in lines if line and not line.startswith("error: "))
    return note, "\n".join(errors) or None


def here():
    """The user is shown this instant; has a continue backwards found nothing?"""
    return monitor("here") != ""


def pass_all_signals(on):
    monitor("signals pass" if on else "signals stop")
