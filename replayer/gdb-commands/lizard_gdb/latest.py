# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens a recording in a GDB that runs: an editor starts it without a program, names that, and says "run"."""
import json
import os
import shlex
import subprocess

import gdb

from .opening import connect, environment_of_opening
from .shown import OneMove
from .text import say

TELL = shlex.split(os.environ.pop("LIZARD_GDB_TELL", ""))  # lizard-gdb's command, if that started this GDB


def word(text):
    """TEXT as one word of a command of GDB's."""
    return "".join("\\" + c if c in " \t\v\f\r'\"\\" else c for c in text)


def recording():
    """That which was open, else the newest of the program that GDB knows."""
    known = os.environ.get("LIZARD_GDB_RECORDING")
    program = gdb.current_progspace().filename
    if not known and not program:
        raise gdb.GdbError('No program is named whose recording could be opened: "file PROGRAM" names it.')
    return known or program


def how_to_open(what, options=(), cwd=None):
    """lizard-gdb's answer: what to do for it."""
    if not TELL:
        raise gdb.GdbError("The program is not being replayed.")
    done = subprocess.run(
        TELL + list(options) + [what], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    text = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise gdb.GdbError(text.rstrip("\n").removeprefix("lizard-gdb: "))
    say(text, gdb.STDERR)
    return json.loads(done.stdout)


def stop_at_once():
    """A recording is replayed with all threads stopped at each stop, which GDB must know before."""
    if gdb.parameter("non-stop"):
        gdb.execute("set non-stop off")
        say("A recording is replayed in all-stop mode.\n")


def open_so(how, show, errors=""):
    """As how_to_open() says. ERRORS: the shell's words that say where the server's go. True: it is at its end."""
    stop_at_once()
    os.environ.update(how["environment"])
    for command in how["commands"]:
        gdb.execute(command)
    gdb.execute("file " + word(how["program"]))
    with environment_of_opening() as (command, at_end), OneMove():
        if command.startswith("target remote |"):
            command += " " + errors
        connect(command, at_end, show)
    return at_end


def open_latest(show, go):
    """Opens it at its start, or at its end where lizard-gdb was told so. At the start it calls SHOW, and GO when all is open:
    that may leave the program running."""
    if not open_so(how_to_open(recording()), show):
        go()


def open_recording_of(what, cwd, process, at_end, errors):
    """Opens the recording that WHAT means in the folder CWD, and stays at its start or end."""
    options = ["--end"] * at_end + (["--process", str(process)] if process is not None else [])
    open_so(how_to_open(what, options, cwd), lambda: None, errors)
