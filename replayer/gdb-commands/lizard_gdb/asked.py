# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions about the recorded control flow. `lizard` answers them: a child reads the recording, of which nothing runs."""
import json
import os
import select
import subprocess
import tempfile
import time

import gdb

from .places import MI
from .replay import need_process, replay
from .text import printable, say

TOOL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "bin", "lizard")
LOOK = 0.2  # seconds: so often it is seen whether Ctrl-C has come
PATIENCE = 1  # seconds, then the user is told what takes so long
# Lines have the places that they have in this GDB.
AS_HERE = {"LIZARD_GDB": os.path.realpath("/proc/self/exe"), "LIZARD_FRONT_END": "stock"}


def recording():
    """The folder of the recording at hand. What is shown of a name may differ from the name."""
    need_process()
    shown = replay().info()["recording"]
    opened = os.environ.get("LIZARD_GDB_RECORDING", "")
    return opened if printable(opened) == shown else shown


def read_all(child, doing):
    """What CHILD writes. Ctrl-C ends the waiting; a plain read would go on after it."""
    begun, pieces = time.monotonic(), []
    quiet = MI or not os.isatty(2)
    while True:
        if select.select([child.stdout], [], [], LOOK)[0]:
            piece = os.read(child.stdout.fileno(), 1 << 20)
            if not piece:
                return b"".join(pieces).decode(errors="backslashreplace")
            pieces.append(piece)
        if not quiet and time.monotonic() - begun > PATIENCE:
            quiet = True
            say(doing)
            gdb.flush()


def run(command, errors, doing):
    """What COMMAND prints, and its exit status."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **AS_HERE},
        )
    except OSError as why:
        raise gdb.GdbError("%s: %s" % (os.path.normpath(TOOL), why.strerror))
    try:
        return read_all(child, doing), child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        child.stdout.close()


def said(errors):
    """What the child had to say to the user."""
    errors.seek(0)
    lines = errors.read().decode(errors="backslashreplace").splitlines()
    return "\n".join(line[len("lizard: ") :] if line.startswith("lizard: ") else line for line in lines)


READING = "Reading the recorded control flow...\n"


def ask(command, options=(), names=(), doing=READING):
    """What `lizard COMMAND OPTIONS RECORDING NAMES` prints. Its errors are of type gdb.GdbError."""
    with tempfile.TemporaryFile() as errors:
        text, status = run([TOOL, command, *options, "--", recording(), *names], errors, doing)
        note = said(errors)
    if status:
        raise gdb.GdbError(note or "lizard %s failed." % command)
    if note:
        say(note + "\n", gdb.STDERR)
    return text


def rows(command, options=(), names=(), doing=READING):
    """The JSON objects that it prints, one a line."""
    return [json.loads(line) for line in ask(command, ["--json", *options], names, doing).splitlines()]


def option_words(options):
    """OPTIONS by their names in Python, which has its own use for `from`."""
    return ["--%s=%s" % ("from" if name == "start" else name, value) for name, value in options.items() if value is not None]


def split(arg, switches, values):
    """The words of ARG: options of a command that has SWITCHES, and VALUES, which take a word; all others."""
    options, names = [], []
    words = iter(gdb.string_to_argv(arg))
    for word in words:
        if word in values:
            options += [word, next(words, "")]
        elif word in switches or word.partition("=")[0] in values:
            options.append(word)
        elif word.startswith("-") and len(word) > 1:
            raise gdb.GdbError("There is no option %s. See \"help\" of this command." % word)
        else:
            names.append(word)
    return options, names
