# SPDX-License-Identifier: GPL-3.0-or-later
"""What GDB's `skip` names is gone over by bs, too: the server is told of the list before."""
import re

import gdb

from .server import monitor
from .text import printed

ROW = re.compile(r"\d+ +([yn]) +([yn]) (.+?) +([yn]) (.*)$")
NONE = {"<none>", ""}


class Told:
    """Has the server been told of any?"""

    any = False


def pattern(text):
    return "" if text in NONE else text.encode().hex()


def entries():
    """Those that are on, as the server takes them."""
    found = []
    for line in printed("info skip").splitlines():
        row = ROW.match(line)
        if row and row.group(1) == "y":
            glob, file, regexp, function = row.groups()[1:]
            kinds = "glob" if glob == "y" else "file", "regexp" if regexp == "y" else "function"
            found.append("%s:%s:%s:%s" % (kinds[0], pattern(file.strip()), kinds[1], pattern(function.strip())))
    return " ".join(found)


def tell():
    """Tells the server. Are there any?"""
    now = entries()
    if now or Told.any:
        refused = monitor(("skip " + now).rstrip())
        if refused:
            raise gdb.GdbError("skip: " + refused.rstrip("\n"))
        Told.any = bool(now)
    return bool(now)


def skipped_here():
    """How many of the inlined calls that begin here `step` does not enter."""
    return int(monitor("skipped"))
