# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server writes to its stderr. GDB lets it inherit nothing that could be read here, so it goes through a file."""
import contextlib
import os
import shlex
import tempfile


class File:
    now = None  # that of the server, which is nobody else's


@contextlib.contextmanager
def to_file():
    """Gives the shell's words for a server that is started meanwhile."""
    number, path = tempfile.mkstemp(prefix="lizard-dap-")
    if File.now is not None:
        File.now.close()
    File.now = os.fdopen(number, errors="backslashreplace")
    try:
        yield "2>" + shlex.quote(path)
    finally:
        os.unlink(path)


def more():
    """What is new."""
    return File.now.read() if File.now is not None else ""
