# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the lines of strace with those of `lizard strace` for the same program: strace.py THEIRS OURS [MAIN CALLS].

Numbers that differ from run to run (addresses, processes, times, inodes) become words. Lines count from the first
getppid() on. Prints a line for each difference, then "EQUAL of ALL equal"."""
import difflib
import re
import sys

WORDS = [
    # as strace 6.13 and newer have them
    (r"data=\{u32=(\d+), u64=\1\}", lambda found: "data=%#x" % int(found[1])),
    (r"\[(\d+)\] => \[(\d+)\]", r"[\1 => \2]"),
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r"tgkill\(\d+, \d+", "tgkill(PID, PID"),
    (r"(si_pid=|\bkill\(|rt_sigqueueinfo\()\d+", r"\1PID"),
    (r"^(get[tp]*p?id\(\) += )\d+", r"\1PID"),
    (r"(tv_u?n?sec=)\d+", r"\1N"),
    (r"^rt_sigreturn\([^)]*\)", "rt_sigreturn(...)"),  # the mask lies on the stack, no argument says where
    (r'^getrandom\("[^"]*"', "getrandom(BYTES"),
    (r"/\* \d+ vars \*/", "/* N vars */"),
    (r" {2,}= ", " = "),
]


def lines(path):
    found = []
    with open(path, errors="replace") as text:
        for line in text:
            if found or line.startswith("getppid"):
                for pattern, word in WORDS:
                    line = re.sub(pattern, word, line)
                found.append(line.rstrip("\n"))
    return found


def main():
    theirs, ours = lines(sys.argv[1]), lines(sys.argv[2])
    equal = 0
    for tag, i, j, k, m in difflib.SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if tag == "equal":
            equal += j - i
            continue
        for line in theirs[i:j]:
            print("theirs: " + line)
        for line in ours[k:m]:
            print("ours:   " + line)
    print("%d of %d equal" % (equal, max(len(theirs), len(ours))))


main()
