# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows all accesses to the variables of tests/progs/gdb/accesses.c, back from the end and on from the begin, and
compares them with what the program itself told. ACCESSES_TOLD is the file with its output."""
import os
import re

import gdb

KINDS = {"-w": ("written", "both"), "-r": ("read", "both"), "-a": ("written", "read", "both")}
DONE = {"written": "written", "read": "read", "read and written": "both"}
VARIABLES = ("v0", "v1", "v2", "text")


def told(variable, kind):
    with open(os.environ["ACCESSES_TOLD"]) as file:
        rows = (line.split() for line in file)
        return [(int(step), how) for step, how, name in rows if name == variable and how in KINDS[kind]]


def without_repeats(rows):
    """One step may make an access in several instructions."""
    return [row for i, row in enumerate(rows) if not i or row != rows[i - 1]]


def found(command, kind, variable):
    """One after the other, until there is none."""
    rows = []
    while True:
        text = gdb.execute("%s %s %s" % (command, kind, variable), to_string=True)
        how = re.search(r"^%s: (written|read and written|read) (?:here|by (.*), event \d+)\.$" % variable, text, re.M)
        if not how:
            if "nothing has moved" not in text:
                raise gdb.GdbError("%s %s %s: %s" % (command, kind, variable, text))
            return rows
        if how.group(2) and not re.match(r"(read|write)\(\d, .*\) = 4", how.group(2)):
            raise gdb.GdbError("named as " + how.group(2))
        step = int(gdb.parse_and_eval("step"))
        if step:  # before main the loader clears them
            rows.append((step, DONE[how.group(1)]))


def compare(command, start, order):
    for variable in VARIABLES:
        for kind in KINDS:
            gdb.execute("jump_backward start" if start == "main" else "jump_forward end", to_string=True)
            if start == "main":
                gdb.execute("jump_forward main", to_string=True)
            got = without_repeats(found(command, kind, variable)[::order])
            want = without_repeats(told(variable, kind))
            result = "ok" if got == want and len(want) > 3 else "differs:\n  got  %s\n  want %s" % (got, want)
            print("%s %s %s: %s" % (command, kind, variable, result))


compare("last", "end", -1)
compare("next-access", "main", 1)
