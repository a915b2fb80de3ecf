# SPDX-License-Identifier: GPL-3.0-or-later
"""What functions are called with and what they return, a line each: NAME NUMBER (ARGUMENTS) [return VALUE].

  activations.py told              as tests/progs/gdb/activations.c prints it: from its output on stdin
  activations.py answered          as `lizard calls --args --json` does, on stdin
  gdb -x activations.py PROGRAM    as a forward run with breakpoints in GDB has it
  lizard-gdb -x activations.py     as the module lizard has it

In GDB the functions' names are words of $ACTIVATIONS."""
import collections
import json
import os
import sys


def show(lines):
    """LINES: (name, number, arguments, value or None)."""
    for name, number, arguments, value in sorted(lines, key=lambda line: line[:2]):
        print("%s %d %s%s" % (name, number, arguments, "" if value is None else " return " + value))


def listed(arguments):
    return "(%s)" % ", ".join("%s=%s" % pair for pair in arguments)


def numbered(names):
    seen = collections.Counter()
    for name in names:
        seen[name] += 1
        yield seen[name]


def told():
    arguments, values = {}, {}
    for line in sys.stdin:
        name, number, rest = line.rstrip("\n").split(" ", 2)
        if rest.startswith("("):
            arguments[name, int(number)] = rest
        else:
            values[name, int(number)] = rest.removeprefix("return ")
    show([(*key, text, values.get(key)) for key, text in arguments.items()])


def answered():
    rows = [json.loads(line) for line in sys.stdin]
    numbers = numbered(row["function"] for row in rows)
    show([(row["function"], number, listed((a["name"], a["value"]) for a in row["args"]), row["value"]) for row, number in zip(rows, numbers)])


def by_module(names):
    import lizard

    with lizard.excursion():
        rows = [(one, one.args(), one.value()) for one in lizard.calls(*names)]
    numbers = numbered(one.function for one, _, _ in rows)
    show([(one.function, number, listed(arguments.items()), None if value is None else str(value)) for (one, arguments, value), number in zip(rows, numbers)])


def by_breakpoints(names):
    import gdb

    class Return(gdb.FinishBreakpoint):
        def __init__(self, line):
            super().__init__(gdb.newest_frame(), internal=True)
            self.line = line

        def stop(self):
            if self.return_value is not None:
                self.line[3] = str(self.return_value)
            return False

    lines, counts = [], collections.Counter()
    for name in names:
        gdb.Breakpoint(name)
    gdb.execute("run > /dev/null", to_string=True)
    while gdb.selected_inferior().pid:
        name = gdb.newest_frame().name()
        counts[name] += 1
        found = [symbol for symbol in gdb.newest_frame().block() if symbol.is_argument]
        lines.append([name, counts[name], listed((s.name, gdb.newest_frame().read_var(s)) for s in found), None])
        Return(lines[-1])
        gdb.execute("continue", to_string=True)
    show(map(tuple, lines))


if "ACTIVATIONS" in os.environ:
    functions = os.environ["ACTIVATIONS"].split()
    (by_module if "lizard" in sys.modules else by_breakpoints)(functions)
else:
    {"told": told, "answered": answered}[sys.argv[1]]()
