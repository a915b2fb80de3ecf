# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the files hold text only, which steers no terminal? Names the lines that do; status 1."""
import sys
import unicodedata

TURNS = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
MARKS = "\u061c\u200e\u200f"


def steers(c):
    odd = unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c != "\t"
    return odd or unicodedata.bidirectional(c) in TURNS or c in MARKS


found = 0
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        lines = file.read().decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        if any(map(steers, line)):
            print("%s:%d: %s" % (ascii(name), number, ascii(line)))
            found = 1
sys.exit(found)
