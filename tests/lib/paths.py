# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares `lizard grep` with a search through `lizard tree` that tries every choice: paths.py RECORDING [PATH...]."""
import itertools
import json
import subprocess
import sys


def lizard(*words):
    run = subprocess.run(("lizard",) + words, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def stacks(recording):
    """For each call: its thread, and (function, instant) of each call that is active."""
    active = {}
    for line in lizard("tree", "--json", recording):
        stack = active.setdefault(line["thread"], [])
        del stack[line["level"]:]
        stack.append((line["function"], int(line["from"].split(":")[1].replace(",", ""))))
        yield line["thread"], list(stack)


def parse(path):
    chains = []
    for text in path.split(" then "):
        chain, _, without = text.partition(" without ")
        chains.append((chain.split(), set(without.split())))
    return chains


def begins(chain, stack):
    """Where the first function of the chain may be, if its last one is the innermost."""
    words, without = chain
    names, signs = words[0::2], words[1::2]
    last = len(stack) - 1
    if stack[last][0] != names[-1]:
        return
    for places in itertools.combinations(range(last), len(names) - 1):
        places += (last,)
        if any(stack[i][0] != name for i, name in zip(places, names)):
            continue
        if any(sign == ">>" and j != i + 1 for sign, i, j in zip(signs, places, places[1:])):
            continue
        if not any(stack[i][0] in without for i in range(places[0] + 1, last)):
            yield stack[places[0]][1]


def search(path, calls):
    """(instant, latest beginning) of each call that the path describes."""
    chains, found = parse(path), {}
    for thread, stack in calls:
        at = stack[-1][1]
        heard = found.setdefault(thread, [[] for _ in chains])
        new = []
        for i, chain in enumerate(chains):
            starts = list(begins(chain, stack))
            if i and starts:
                starts = [start for _, start in heard[i - 1]]
            new.append([(at, start) for start in starts])
        for i, pairs in enumerate(new):
            heard[i] += pairs
            heard[i] = [max(heard[i], key=lambda pair: pair[1])] if heard[i] else []
        if new[-1]:
            yield thread, at, max(start for _, start in new[-1])


def main():
    recording, bad, all_found = sys.argv[1], 0, 0
    calls = list(stacks(recording))
    for path in sys.argv[2:]:
        number = lambda text: int(text.split(":")[1].replace(",", ""))
        ours = [(r["thread"], number(r["position"]), number(r["from"])) for r in lizard("grep", "--json", recording, path)]
        theirs = list(search(path, calls))
        all_found += len(ours)
        if ours != theirs:
            bad += 1
            print("%s: %d and %d calls; %s" % (path, len(ours), len(theirs), sorted(set(ours) ^ set(theirs))[:3]))
        if any(r["length"] > 100 for r in lizard("grep", "--json", "--within", "100", recording, path)):
            bad += 1
            print("%s: not within" % path)
        within = [c for c in theirs if c[1] - c[2] <= 100]
        if len(lizard("grep", "--json", "--within", "100", recording, path)) != len(within):
            bad += 1
            print("%s: within 100: %d wanted" % (path, len(within)))
    print("%d calls, %d wrong" % (all_found, bad))


main()
