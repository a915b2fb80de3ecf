# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants bugs, and compares `lizard coverage --diff` with the same formulas over gcov's counts.

  suspects.py SOURCE FOLDER [SEED]

For each bug of SOURCE, runs with random arguments are sorted into those that print what the program without it prints, and the
others. Of some of both, recordings are made, and runs of a build with --coverage. Prints a line for each bug: the rank of its
line by Ochiai and by Tarantula, then "same" or what differs."""
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

FAILING, PASSING = 2, 4


def run(*command, **more):
    return subprocess.run(command, check=False, capture_output=True, **more)


def build(source, folder, name, *command):
    home = os.path.join(folder, name)
    os.makedirs(home, exist_ok=True)
    done = run(*command, "-g", "-O0", "-o", os.path.join(home, "prog"), source, cwd=home)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return home


def arguments(rng):
    numbers = [str(rng.randrange(1, 6)) for _ in range(3)]
    return numbers + ["".join(rng.choice("abcdefghijklmnoprstuvwxy") for _ in range(4))]


def output(home, args):
    return run(os.path.join(home, "prog"), *args).stdout


def sort_runs(right, wrong, rng):
    failing, passing = [], []
    while len(failing) < FAILING or len(passing) < PASSING:
        args = arguments(rng)
        kind, most = (passing, PASSING) if output(right, args) == output(wrong, args) else (failing, FAILING)
        if len(kind) < most:
            kind.append(args)
    return failing, passing


def covered(home, args):
    """The lines that gcov says ran."""
    for name in os.listdir(home):
        if name.endswith(".gcda"):
            os.unlink(os.path.join(home, name))
    run(os.path.join(home, "prog"), *args, cwd=home)
    data = [n for n in os.listdir(home) if n.endswith(".gcda")]
    lines, ways = set(), {}
    for document in run("gcov", "-b", "-t", "--json-format", *data, cwd=home).stdout.decode().splitlines():
        for file in json.loads(document)["files"]:
            lines |= {line["line_number"] for line in file["lines"] if line["count"]}
            for line in file["lines"]:
                for i, branch in enumerate(line["branches"]):
                    if branch["count"]:
                        ways[line["line_number"], i] = branch["count"]
    return lines, ways


def ochiai(f, p, all_f, _):
    return f / math.sqrt(all_f * (f + p))


def tarantula(f, p, all_f, all_p):
    return f / all_f / (f / all_f + p / all_p)


def expected(failing, passing, formula):
    """Of each line: score, failing, passing."""
    found = {}
    for line in set().union(*failing):
        f, p = (sum(line in run for run in runs) for runs in (failing, passing))
        found[line] = (round(formula(f, p, len(failing), len(passing)), 9), f, p)
    return found


def told(rank, failing, passing, *more):
    options = [x for name in failing for x in ("--diff", name)]
    done = run("lizard", "coverage", "--json", "--top", "0", "--rank", rank, *more, *options, *passing)
    if done.returncode or done.stderr:
        sys.exit(done.stderr.decode())
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def compare_branches(failing, passing, recordings):
    """Of each line, the ways that failing runs took: in how many runs, and how often. Ways have no order that both know."""
    want, got = {}, {}
    for key in set().union(*failing):
        of = [[key in run for run in runs] for runs in (failing, passing)]
        times = [sum(run.get(key, 0) for run in runs) for runs in (failing, passing)]
        want.setdefault(key[0], []).append((*map(sum, of), *times))
    for row in told("ochiai", *recordings, "--branches"):
        got.setdefault(row["line"], []).append((row["failing"], row["passing"], row["times_failing"], row["times_passing"]))
    return [f"branches of {n}: gcov {want.get(n)}, lizard {got.get(n)}" for n in sorted(set(want) | set(got))
            if sorted(want.get(n, [])) != sorted(got.get(n, []))]


def compare(rank, formula, counts, recordings, bug_line):
    want = expected(*counts, formula)
    rows = told(rank, *recordings)
    got = {row["line"]: (round(row["score"], 9), row["failing"], row["passing"]) for row in rows}
    problems = [f"line {n}: gcov {want.get(n)}, lizard {got.get(n)}" for n in sorted(set(want) | set(got)) if want.get(n) != got.get(n)]
    scores = [row["score"] for row in rows]
    if scores != sorted(scores, reverse=True):
        problems.append("not in order")
    for row in rows:
        if row["rank"] != 1 + sum(s > row["score"] for s in scores):
            problems.append(f"line {row['line']} has rank {row['rank']}")
    at = [row["rank"] for row in rows if row["line"] == bug_line]
    return at[0] if at else 0, problems


def check(source, folder, bug, rng):
    with open(source) as f:
        bug_line = next(i for i, text in enumerate(f, 1) if f"/* plant {bug} */" in text)
    right = build(source, folder, "right", "gcc")
    wrong = build(source, folder, f"wrong{bug}", "lizard-cc", f"-DBUG={bug}")
    counted = build(source, folder, f"counted{bug}", "gcc", f"-DBUG={bug}", "--coverage")
    runs = sort_runs(right, wrong, rng)
    both = [[covered(counted, args) for args in kind] for kind in runs]
    counts, ways = ([[run[i] for run in kind] for kind in both] for i in (0, 1))
    recordings = []
    for kind, name in zip(runs, ("failing", "passing")):
        where = [os.path.join(wrong, f"{name}{i}") for i in range(len(kind))]
        for path, args in zip(where, kind):
            shutil.rmtree(path, ignore_errors=True)
            run("lizard-trace", "-q", "-o", path, os.path.join(wrong, "prog"), *args)
        recordings.append(where)
    ranks, problems = [], []
    for name, formula in (("ochiai", ochiai), ("tarantula", tarantula)):
        rank, more = compare(name, formula, counts, recordings, bug_line)
        ranks.append(rank)
        problems += more
    problems += compare_branches(*ways, recordings)
    print(f"bug {bug}: rank {ranks[0]} {ranks[1]} {'; '.join(problems) or 'same'}")


def main():
    source, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with open(source) as f:
        bugs = sorted(set(map(int, re.findall(r"/\* plant (\d+) \*/", f.read()))))
    for bug in bugs:
        check(source, folder, bug, rng)


if __name__ == "__main__":
    main()
