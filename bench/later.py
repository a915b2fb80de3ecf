# SPDX-License-Identifier: GPL-3.0-or-later
"""What recording the control flow costs at once, and what it costs later to whoever looks at it: on the default settings,
with a CPU free, on one CPU, and beside two busy processes."""
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
import crowd

PROGRAMS = ["bzip2", "gzip", "mesh", "life", "branchy", "lua"]
# Wanted of the geometric mean; lua stands apart. The last two are ratios to the recorded time.
GOALS = {"untraced": 1.05, "free": 1.15, "one": 1.35, "dump": 0.7, "verify": 1.2}
GOALS_LUA = {"untraced": 1.25, "free": 1.4, "one": 1.8, "dump": 0.7, "verify": 1.2}
MOST_MB = 20
MOST_BS = 0.3
COLUMNS = ("untraced", "free", "one", "busy", "mb_s", "bs", "dump", "index", "verify")


def first_line(command):
    """Seconds until COMMAND prints its first line; it is ended then."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line = child.stdout.readline()
    seconds = time.monotonic() - start
    child.kill()
    child.wait()
    if not line:
        sys.exit(f"bench: {command} prints nothing")
    return seconds


def first_bs(tools, script, recording):
    done = subprocess.run([tools + "/lizard-gdb", "-batch", "-e", recording, "-ex", f"source {script}"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [l.split()[1] for l in done.stdout.splitlines() if l.startswith("BENCH ")]
    if not lines:
        sys.exit(f"bench: no bs: {done.stdout}")
    return float(lines[0])


def forget(recording):
    shutil.rmtree(recording + "/index", ignore_errors=True)


def one_round(run, native, lizard, tools, recording, size_of, script):
    one = {min(os.sched_getaffinity(0))}

    def record(cpus=None, flow="auto"):
        shutil.rmtree(recording, ignore_errors=True)
        return run(f"'{tools}/lizard-trace' -q --flow={flow} -o '{recording}' -- {lizard}", cpus)[0]

    base = run(native)[0]
    row = {"untraced": run(lizard)[0] / base, "one": record(one) / run(native, one)[0]}
    with crowd.busy(2):
        alone = run(native)[0]
        row["busy"] = record() / alone
    recorded = record()
    row["free"] = recorded / base
    row["mb_s"] = size_of(recording) / base / 1e6
    row["bs"] = first_bs(tools, script, recording)
    row["verify"] = run(f"'{tools}/lizard' verify '{recording}'")[0] / recorded
    # All of it has to be computed before the first line.
    record(flow="hash")
    row["dump"] = first_line([tools + "/lizard", "dump", "--markers", recording]) / recorded
    forget(recording)
    row["index"] = run(f"'{tools}/lizard' index -q '{recording}'")[0] / recorded
    shutil.rmtree(recording, ignore_errors=True)
    return row


def show(name, row):
    print(f"{name:12} | {row['untraced']:8.2f} | {row['free']:5.2f} {row['one']:5.2f} {row['busy']:5.2f} | {row['mb_s']:7.1f} | "
          f"{row['bs'] * 1000:6.0f} ms | {row['dump']:5.2f} {row['index']:5.2f} | {row['verify']:5.2f}", flush=True)


def geometric(rows, column):
    return math.exp(statistics.mean(math.log(max(r[column], 1e-6)) for r in rows))


def say_missed(what, row, goals):
    for column, goal in goals.items():
        if row[column] > goal:
            print(f"missed: {what}: {column} {row[column]:.2f}, wanted {goal}")


def measure(programs, run, tools, recording, size_of, script, rounds):
    """PROGRAMS: name, native command, command of what lizard-cc made."""
    print("\nthe control flow, recorded now and computed later\n"
          "             | untraced | recorded          | on disk | first     | computed/rec | verify\n"
          "             |          |  free   one  busy |    MB/s |        bs |  dump  index | /rec", flush=True)
    lines = []
    for name, native, lizard in programs:
        rows = [one_round(run, native, lizard, tools, recording, size_of, script) for _ in range(rounds)]
        line = {c: statistics.median(r[c] for r in rows) for c in COLUMNS}
        show(name, line)
        lines.append({"program": name} | line)
    for what, goals, those in (("mean", GOALS, [l for l in lines if not l["program"].startswith("lua")]),
                               ("lua", GOALS_LUA, [l for l in lines if l["program"].startswith("lua")])):
        if those:
            mean = {c: geometric(those, c) for c in COLUMNS}
            show(what, mean)
            say_missed(what, mean, goals | {"mb_s": MOST_MB, "bs": MOST_BS})
    return lines
