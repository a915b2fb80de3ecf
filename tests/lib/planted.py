# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares chains of flowback with what tests/progs/gdb/planted.c says of its origins.

Usage: planted.py names SOURCE              the names of the origins, one a line
       planted.py ends SOURCE OUTPUT        ok NAME, or not ok NAME and its chain: the last links
       planted.py chains SOURCE OUTPUT      the whole chains in short, as tests/progs/gdb/planted.chains has them

OUTPUT: for each origin a line `-- NAME`, then what flowback said."""
import re
import sys

# Values that are others in each run.
UNSTEADY = {"random", "process", "clock", "peer", "environment", "argument", "unset", "local", "address", "function", "string"}


def origins(source):
    with open(source) as file:
        return dict(re.findall(r"^ORIGIN\([^,]*, ?(\w+)\).*/\* (.*) \*/$", file.read(), re.M))


def chains(output):
    with open(output) as file:
        parts = re.split(r"^-- (\w+)\n", file.read(), flags=re.M)
    return {name: re.findall(r"^ *\d+  (.*)$", text, re.M) for name, text in zip(parts[1::2], parts[2::2])}


def ends(source, output):
    found = chains(output)
    for name, wanted in origins(source).items():
        chain = found.get(name, [])
        last = re.sub(r"^[^:]*(?::\d+)?: ", "", chain[-1]) if chain else ""
        good = re.match(wanted, last)
        print("%s %s: %s" % ("ok" if good else "not ok", name, wanted))
        if not good:
            print("\n".join("# " + link for link in chain))


def in_short(name, link):
    """Without lines, addresses, and what another C library does otherwise."""
    place, text = re.match(r"([^:]*(?::\d+)?): (.*)", link).groups()
    function = place.split(",")[0] if ", planted.c:" in place else "library"
    text = re.sub(r" ?(?:in|by) `[^`]*`", "", text)
    text = re.sub(r"\*0x[0-9a-f]+", "*ADDRESS", text)
    text = re.sub(r"^(from|written by) (\w+)\(.*?\) = \S+, event \d+", r"\1 \2()", text)
    text = re.sub(r" is of (\w+)\(.*", r" is of \1()", text)
    text = re.sub(r"block of \d+ bytes at 0x\w+$", "block", text)
    text = re.sub(r"block of \d+ bytes at 0x\w+; its memory is from \w+\(.*", "block", text)
    text = re.sub(r"descriptor \d+", "descriptor N", text)
    if name in UNSTEADY:
        text = re.sub(r"( = | address ).*", r"\1...", text)
    return "%s: %s" % (function, text)


def whole(source, output):
    found = chains(output)
    for name in origins(source):
        print("-- " + name)
        for link in found.get(name, []):
            text = in_short(name, link)
            # how many copies a library makes is its own matter
            if not text.startswith("library: copied from"):
                print(text)


def main(what, source, *output):
    if what == "names":
        print("\n".join(origins(source)))
    elif what == "ends":
        ends(source, *output)
    else:
        whole(source, *output)


main(*sys.argv[1:])
