# SPDX-License-Identifier: GPL-3.0-or-later
"""In lizard-gdb: where jump_forward output and jump_backward output lead, against the calls at which a forward run is caught,
of which each has its bytes in memory. Each pattern is sought here by Python, in what the calls have written."""
import os
import re

import gdb

PATTERNS = ["item", "item [0-9]+ .", "^item", "item [0-9]+ in pieces", "m 1 b", "^error.*even", "next line", "of a thread", "line$", "nowhere"]

SYSCALL = b"\x0f\x05"


def value(text):
    return int(gdb.parse_and_eval(text))


def memory(address, length):
    return bytes(gdb.selected_inferior().read_memory(address, length))


def written(number):
    """By the system call that has just returned: write or writev."""
    if number == 1:
        return memory(value("$rsi"), value("$rax"))
    pairs = memory(value("$rsi"), 16 * value("$rdx"))
    words = [int.from_bytes(pairs[i : i + 8], "little") for i in range(0, len(pairs), 8)]
    return b"".join(memory(address, length) for address, length in zip(words[::2], words[1::2]))


def place():
    return next(line for line in gdb.execute("when", to_string=True).splitlines() if line.startswith("position")).split()[1]


def run():
    """The calls of a forward run: descriptor, bytes, instant."""
    calls = []
    gdb.execute("jump_forward start", to_string=True)
    gdb.execute("catch syscall write writev", to_string=True)
    number = None
    while True:
        gdb.execute("continue", to_string=True)
        if memory(value("$pc"), 2) == SYSCALL and number is None and value("$rax") in (1, 20):
            number = value("$rax")
        elif number is not None and memory(value("$pc") - 2, 2) == SYSCALL:
            calls.append((value("$rdi"), written(number), place()))
            number = None
        else:
            break
    gdb.execute("delete", to_string=True)
    return calls


def matching(calls, pattern, descriptors):
    """Descriptor and instant of those that have written an end of a match."""
    seek, lines, found = re.compile(pattern.encode(), re.M), {}, []
    for fd, text, instant in calls:
        if fd not in descriptors:
            continue
        old = lines.get(fd, b"")
        line = old + text
        matches = (seek.match(line, at) for at in range(len(line)))
        if any(m and m.end() > len(old) for m in matches):
            found.append((fd, instant))
        lines[fd] = line.rpartition(b"\n")[2]
    return found


def jumps(direction, start, options, pattern):
    found = []
    gdb.execute("jump_forward " + start, to_string=True)
    while True:
        before = place()
        try:
            said = gdb.execute("jump_%s output %s%s" % (direction, options, pattern), to_string=True)
        except gdb.error as why:
            assert str(why).startswith("Nothing that matches \"%s\" " % pattern), why
            assert place() == before
            return found
        found.append((int(re.search(r"^Output to descriptor (\d+): ", said, re.M).group(1)), place()))


gdb.execute("set pagination off")
calls = run()
native = {1: b"", 2: b"", 7: b""}
for fd, text, _ in calls:
    native[fd] += text
for fd, text in native.items():
    with open("%s.%d" % (os.environ["SEEN"], fd), "wb") as out:
        out.write(text)
for descriptors, options, patterns in (((1, 2), "", PATTERNS), ((7, 2), "-fd 7 -fd 2 ", ["^error", "last"])):
    for pattern in patterns:
        truth = matching(calls, pattern, descriptors)
        there = jumps("forward", "start", options, pattern)
        back = jumps("backward", "end", options, pattern)
        right = there == truth and back == truth[::-1]
        print("RESULT %s %s%s: %d" % ("right" if right else "wrong", options, pattern, len(truth)))
        if not right:
            print("# forward", there, "\n# backward", back, "\n# truth", truth)
