# SPDX-License-Identifier: GPL-3.0-or-later
"""Goes back from the end of a failing recording to the accesses that race. RACING is the program's source; tests/progs/chaos/bugs.h
says what its comments mean. Prints a line that begins with `races:`, or with `no race:`."""
import os
import re

import gdb

MOST = 6000
DONE = {"written": {"writes"}, "read": {"reads"}, "read and written": {"reads", "writes"}}
SOURCE = os.environ["RACING"]


def marked():
    """The line at which the failure is seen, or None for the end, the variable, and for each role what is done at which lines."""
    seen, variable, roles = None, None, {1: set(), 2: set(), 3: set()}
    with open(SOURCE) as file:
        for number, text in enumerate(file, 1):
            by = re.search(r"/\* seen( at the end)? by: (.*) \*/", text)
            if by:
                seen, variable = None if by.group(1) else number, by.group(2)
            for role, does in re.findall(r"([123]) (reads|writes)\b", "".join(re.findall(r"/\* race: (.*) \*/", text))):
                roles[int(role)].add((number, does))
    return seen, variable, roles


class Access:
    """One access: who (a thread, or a handler in it), at which lines, and what is done."""

    def __init__(self, done):
        frame, handlers, line = gdb.newest_frame(), 0, None
        while frame:
            at = frame.find_sal()
            if not line and at.symtab and os.path.basename(at.symtab.filename) == os.path.basename(SOURCE):
                line = at.line
            handlers += frame.type() == gdb.SIGTRAMP_FRAME
            frame = frame.older()
        self.who, self.line, self.done = (gdb.selected_thread().num, handlers), line, done

    def has(self, role):
        return any((self.line, does) in role for does in self.done)

    def __str__(self):
        who = "a handler in thread %d" % self.who[0] if self.who[1] else "thread %d" % self.who[0]
        return "%s %s at line %s" % (who, " and ".join(sorted(self.done)), self.line)


def until(first, later, role):
    """What others do behind `first`, and the end of it: the same one's next access that has the role, or that ends the wait."""
    others = []
    for access in later:
        if access.who != first.who:
            others.append(access)
        elif not role or access.has(role):
            return others, access
        elif access.has(roles[1]):
            break
    return others, None


def race(first, later):
    """`first` and what of the accesses behind it races with it, if something does."""
    if roles[3]:
        others, last = until(first, later, roles[3])
        between = [access for access in others if access.has(roles[2])]
        return [first, between[0], last] if first.has(roles[1]) and last and between else None
    others, _ = until(first, later, None)
    for one, other in ((1, 2), (2, 1)):
        between = [access for access in others if access.has(roles[other])]
        if first.has(roles[one]) and between:
            return [first, between[0]]
    return None


def backwards(place, only_writes):
    """All accesses, the last one first."""
    while True:
        text = gdb.execute("last %s %s" % ("-w" if only_writes else "-a", place), to_string=True)
        done = re.search(r": (written|read and written|read) (here|by .*)\.$", text, re.M)
        if not done:
            return
        yield Access(DONE[done.group(1)])


def find():
    if seen:
        gdb.execute("jump_backward -any %s:%d" % (os.path.basename(SOURCE), seen), to_string=True)
    value = gdb.parse_and_eval(variable)
    place = "*(char (*)[%d]) %d" % (value.type.sizeof, int(value.address))
    later = []
    for access in backwards(place, all(does == "writes" for role in roles.values() for _, does in role)):
        racing = race(access, later)
        if racing:
            return "races: %s: %s" % (variable, "; ".join(map(str, racing)))
        later.insert(0, access)
        if os.environ.get("RACING_TOLD"):
            print(access)
        if len(later) == MOST:
            break
    return "no race: %d accesses to %s" % (len(later), variable)


seen, variable, roles = marked()
print(find())
