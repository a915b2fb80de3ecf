# SPDX-License-Identifier: GPL-3.0-or-later
"""unfold.py FILE: prints what `lizard tree --fold --json` has folded, with each call on its line."""
import json
import sys


def subtree(lines, at):
    """The index behind the subtree at AT, and all of its lines."""
    top, end, below = lines[at], at + 1, []
    while end < len(lines) and lines[end]["level"] > top["level"]:
        end, some = subtree(lines, end)
        below += some
    return end, (["  " * top["level"] + top["function"]] + below) * top.get("times", 1)


with open(sys.argv[1]) as file:
    folded = [json.loads(line) for line in file]
index = 0
while index < len(folded):
    index, unfolded = subtree(folded, index)
    print("\n".join(unfolded))
