# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what `lizard` answers about a recording with what gcov and callgrind say of the same program and input.

  answers.py lines|branches|functions RECORDING FOLDER     FOLDER: of a build with --coverage that has run
  answers.py calls RECORDING FILE                          FILE: of callgrind

Prints a line for each difference, then "EQUAL of ALL equal"."""
import collections
import glob
import json
import os
import re
import subprocess
import sys


# of the same version as the compiler
GCOV = "gcov" + ("-" + os.environ["LIZARD_GCC"] if os.environ.get("LIZARD_GCC") else "")


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def gcov_files(folder):
    for data in sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.gcda"), recursive=True)):
        for document in run(GCOV, "-b", "-t", "--json-format", data, cwd=os.path.dirname(data)).splitlines():
            yield from json.loads(document)["files"]


def name(path):
    return os.path.basename(path)


def lcov(recording):
    """Each record of a tracefile with the file that it is of."""
    file = None
    for line in run("lizard", "coverage", "--lcov", "-", recording).splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            file = name(rest)
        yield file, kind, rest


def gcov_lines(folder):
    found = collections.Counter()
    for file in gcov_files(folder):
        for line in file["lines"]:
            found[name(file["file"]), line["line_number"]] += line["count"]
    return found


def our_lines(recording):
    found = collections.Counter()
    for file, kind, rest in lcov(recording):
        if kind == "DA":
            line, count = map(int, rest.split(","))
            found[file, line] += count
    return found


def gcov_branches(folder):
    """The ways out of each line, which have no order that both would know. A function of a header is added up."""
    found = {}
    for file in gcov_files(folder):
        for line in file["lines"]:
            ways = [b["count"] for b in line["branches"] if not b["throw"]]
            key = name(file["file"]), line["line_number"]
            if key in found and len(found[key]) == len(ways):
                found[key] = [a + b for a, b in zip(found[key], ways)]
            elif ways:
                found[key] = found.get(key, []) + ways
    return {key: sorted(ways) for key, ways in found.items()}


def our_branches(recording):
    found = collections.defaultdict(list)
    for file, kind, rest in lcov(recording):
        if kind == "BRDA":
            line, _, _, taken = rest.split(",")
            found[file, int(line)].append(0 if taken == "-" else int(taken))
    return {key: sorted(ways) for key, ways in found.items()}


def gcov_functions(folder):
    found = collections.Counter()
    for file in gcov_files(folder):
        for function in file["functions"]:
            found[function["name"]] += function["execution_count"]
    return found


def our_functions(recording):
    found = collections.Counter()
    for _, kind, rest in lcov(recording):
        if kind == "FNDA":
            count, function = rest.split(",", 1)
            found[function] += int(count)
    return found


def callgrind(path):
    """Calls by caller and callee; a name in parentheses stands for what it was given with."""
    names, found = {}, collections.Counter()

    def full(text):
        number, _, rest = text.partition(" ")
        names.setdefault(number, rest)
        # callgrind numbers the levels of a recursion
        return re.sub(r"'\d+$", "", names[number])

    caller = callee = None
    with open(path) as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "fn":
                caller = full(value)
            elif key == "cfn":
                callee = full(value)
            elif key == "calls":
                found[caller, callee] += int(value.split()[0])
    return found


def tagged(path):
    """Lines at which gcov is known to count otherwise: a comment says why."""
    with open(path) as source:
        return {(name(path), number) for number, line in enumerate(source, 1) if "/* gcov: " in line}


def compare(ours, theirs, tell=lambda key: key):
    equal = 0
    for key in sorted(set(ours) | set(theirs)):
        if ours.get(key) == theirs.get(key):
            equal += 1
        else:
            print("%s: theirs %s, ours %s" % (tell(key), theirs.get(key), ours.get(key)))
    print("%d of %d equal" % (equal, len(set(ours) | set(theirs))))


def main():
    what, recording, truth = sys.argv[1:]
    if what == "calls":
        profile = os.path.join(os.environ["T"], "profile.out")
        run("lizard", "profile", "--callgrind", profile, recording)
        ours, theirs = callgrind(profile), callgrind(truth)
        # both know the callers only where they are functions of the program
        known = {f for edge in ours for f in edge}
        foreign = collections.Counter()
        for (caller, callee), n in theirs.items():
            if caller not in known:
                foreign[callee] += n
        theirs = {edge: n for edge, n in theirs.items() if edge[0] in known and edge[1] in known}
        # a callback is called by the library, below the function that called that
        callbacks = {edge: n for edge, n in ours.items() if edge not in theirs and foreign[edge[1]] == n}
        theirs = {**theirs, **callbacks}
        # callgrind loses its way where stacks are switched
        coroutines = os.environ.get("COROUTINES", "").split()
        ours, theirs = ({e: n for e, n in found.items() if e[1] not in coroutines} for found in (ours, theirs))
        return compare(ours, theirs)
    ours, theirs = globals()["our_" + what](recording), globals()["gcov_" + what](truth)
    if what != "functions":
        source = tagged(os.environ.get("SOURCE", os.devnull))
        ours, theirs = ({k: n for k, n in found.items() if k not in source} for found in (ours, theirs))
    else:
        for function in os.environ.get("COMPUTED_GOTOS", "").split():
            if 0 < ours.get(function, 0) < theirs.get(function, 0):
                theirs[function] = ours[function]
    return compare(ours, theirs)


main()
