#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed of Lizard, measured side by side: native, built with lizard-cc but untraced, recorded, verified.

Every round runs all modes of a program one after the other, so that a machine that gets slower or faster
meanwhile does so for all; a ratio is formed within its round, and the medians of the rounds' ratios are
printed. Usage: bench.py [--rounds N] [--only NAME,...] [--json FILE] [--no-latency | --latency-only | --flow-only |
--later-only | --work-only | --rates-only | --signals-only | --crowd-only | --conditions-only | --origins-only |
--starts-only | --counts-only | --long [MINUTES]]
Environment: LIZARD_BIN, LIZARD_SRC, LIZARD_BENCH_DIR (scratch, needs some GB).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from itertools import zip_longest
import counts
import crowd
import later
import long
import rates
import signals
import starts
import work

SRC = os.environ.get("LIZARD_SRC", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("LIZARD_BIN", SRC + "/build/bin")
DIR = os.environ.get("LIZARD_BENCH_DIR", "/tmp/lizard-bench")
# Here lies what recordings share, so that it is on their file system, as it is for users who name no directory.
RECORDINGS = os.environ["LIZARD_TRACE_DIR"] = f"{DIR}/recordings"
REAL = ["bzip2", "gzip", "lua"]
FETCHED = REAL + ["sqlite3"]
# The work of the first try; it is doubled until the program computes for LEAST seconds natively.
OWN = {"mesh": {"-O0": "120", "-O2": "700"}, "life": {"-O0": "80", "-O2": "200"},
       "branchy": {"-O0": "40", "-O2": "80"},
       "reads": {"-O0": "300000", "-O2": "300000"},
       # Four threads, of which one runs at a time while recorded: to be compared on one CPU.
       "threads": {"-O0": "10000", "-O2": "60000"}}
LEAST = 1.0
inputs = set()  # made by this run
FIXED = ("reads", "threads")
LIMITS = {"recorded": {"lua": 2.0, "reads": None, "threads": None}, "untraced": {"lua": 1.6, "threads": None}}


def sh(command):
    return subprocess.run(["sh", "-c", f'LIZARD_SRC="{SRC}"; . "$LIZARD_SRC/tests/lib/real.sh"; {command}'],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build(name, level, compiler, label):
    """Returns the program's path."""
    where = f"{DIR}/{name}{level}-{label}"
    if name in FETCHED:
        return sh(f"real_build {name} '{compiler}' '{level} -g' '{where}'")
    os.makedirs(where, exist_ok=True)
    subprocess.run([compiler, level, "-g", f"{SRC}/bench/progs/{name}.c", "-o", f"{where}/{name}"], check=True)
    return f"{where}/{name}"


def command(name, level, program, scale=1):
    """The shell command that runs the program, on SCALE times the work."""
    if name not in FETCHED:
        return f"'{program}' {int(OWN[name][level]) * scale}"
    work = f"{DIR}/input-{name}-{scale}"
    if work not in inputs:
        sh(f"real_input {name} '{work}' {scale}")
        inputs.add(work)
    return sh(f"real_command {name} '{program}' '{work}'")


def long_enough(name, level, native):
    """How much work makes the program run for LEAST seconds."""
    scale = 1
    while name not in FIXED and run(command(name, level, native, scale))[1] < LEAST:
        scale *= 2
    return scale


def run(line, cpus=None):
    """Wall and CPU seconds of a shell command and all its descendants."""
    def pin():
        if cpus is not None:
            os.sched_setaffinity(0, cpus)
    start = time.monotonic()
    child = subprocess.Popen(["sh", "-c", "exec " + line], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, preexec_fn=pin)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"bench: {line}\nended with status {status}\n{errors.decode(errors='replace')}")
    return wall, usage.ru_utime + usage.ru_stime


def size_of(path):
    # What the recording itself takes; files/ holds copies of the program and its libraries.
    total = 0
    for folder, _, names in os.walk(path):
        if not folder.endswith("/files"):
            total += sum(os.lstat(os.path.join(folder, n)).st_size for n in names)
    return total


def measure(name, level, rounds):
    native, lizard = (build(name, level, compiler, label)
                      for compiler, label in (("gcc", "native"), (BIN + "/lizard-cc", "lizard")))
    scale = long_enough(name, level, native)
    native, lizard = (command(name, level, program, scale) for program in (native, lizard))
    recording = f"{DIR}/recording"
    modes = {"native": native, "untraced": lizard,
             "recorded": f"'{BIN}/lizard-trace' -q -o '{recording}' -- {lizard}",
             "verified": f"'{BIN}/lizard' verify '{recording}'"}
    rows = {m: {"wall": [], "cpu": [], "one": []} for m in modes}
    size = 0
    one = {min(os.sched_getaffinity(0))}
    run(native)
    for _ in range(rounds):
        for cpus in (None, one):
            for mode, line in modes.items():
                if mode == "recorded":
                    shutil.rmtree(recording, ignore_errors=True)
                wall, cpu = run(line, cpus)
                rows[mode]["wall" if cpus is None else "one"].append(wall)
                if cpus is None:
                    rows[mode]["cpu"].append(cpu)
                if mode == "recorded":
                    size = size_of(recording)
    shutil.rmtree(recording, ignore_errors=True)
    return rows, size


def ratios(rows, mode, base, column):
    return statistics.median(a / b for a, b in zip(rows[mode][column], rows[base][column]))


def report(name, level, rows, size, results):
    native = statistics.median(rows["native"]["wall"])
    line = {"program": name, "level": level, "native_s": native, "bytes_per_native_s": size / native}
    for mode in ("untraced", "recorded", "verified"):
        for column in ("wall", "cpu", "one"):
            line[f"{mode}_{column}"] = ratios(rows, mode, "native", column)
    line["verified_by_recorded"] = ratios(rows, "verified", "recorded", "wall")
    results.append(line)
    cells = [f"{line[f'{m}_{c}']:5.2f}" for m in ("untraced", "recorded", "verified") for c in ("wall", "cpu", "one")]
    print(f"{name:6} {level} {native:6.2f} s | " + " | ".join(" ".join(cells[i:i + 3]) for i in (0, 3, 6)) +
          f" | {line['verified_by_recorded']:5.2f} | {size / native / 1e6:7.1f} MB/s", flush=True)


def limits_missed(results):
    missed = []
    for r in results:
        for mode, usual in (("untraced", 1.25), ("recorded", 1.35)):
            limit = LIMITS[mode].get(r["program"], usual)
            if limit and r[f"{mode}_wall"] > limit:
                missed.append(f"{r['program']} {r['level']}: {mode} {r[f'{mode}_wall']:.2f}x, wanted {limit}x")
        if r["verified_by_recorded"] > 1.5:
            missed.append(f"{r['program']} {r['level']}: verify {r['verified_by_recorded']:.2f}x the recording, wanted 1.5x")
    return missed


def latency(level):
    """Latency of the debugger's moves across one recording of bzip2; printed by latency.gdb.py inside GDB."""
    recording = f"{DIR}/recording"
    shutil.rmtree(recording, ignore_errors=True)
    lizard = command("bzip2", level, build("bzip2", level, BIN + "/lizard-cc", "lizard"))
    run(f"'{BIN}/lizard-trace' -q -o '{recording}' -- {lizard}")
    print(f"\nlatency on the recording of bzip2 {level}", flush=True)
    dump = subprocess.run([BIN + "/lizard", "dump", "--checkpoints", "--json", recording], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    points = [json.loads(line) for line in dump.splitlines()]
    times = [p["time_ns"] / 1e6 for p in points] or [0]
    gaps = [b - a for a, b in zip(times, times[1:])] or [0]
    print(f"  {len(points)} checkpoints, {statistics.median(gaps):.0f} ms apart in the median, {max(gaps):.0f} ms at most")
    os.environ["BENCH_CHECKPOINTS"] = " ".join(p["position"] for p in points[1::max(1, len(points) // 20)])
    done = subprocess.run([BIN + "/lizard-gdb", "-batch", recording, "-ex", f"source {SRC}/bench/latency.gdb.py"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [l[6:] for l in done.stdout.splitlines() if l.startswith("BENCH ")]
    print("\n".join(lines) if lines else done.stdout)
    lines += front_ends(f"GDB's reverse commands on bzip2 {level}", recording, "reverse.gdb.py")
    shutil.rmtree(recording, ignore_errors=True)
    return lines


def front_ends(title, recording, script):
    """What SCRIPT measures, on both front ends line by line."""
    table = {}
    for front_end in ("patched", "stock"):
        done = subprocess.run([BIN + "/lizard-gdb", "--" + front_end, "-batch", recording, "-ex", f"source {SRC}/bench/{script}"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        table[front_end] = [l[6:] for l in done.stdout.splitlines() if l.startswith("BENCH ")]
        if not table[front_end]:
            print(f"  --{front_end}: " + (done.stdout.strip().splitlines() or ["nothing"])[-1])
    lines = [f"{front_end:8}{line}" for pair in zip_longest(table["patched"], table["stock"])
             for front_end, line in zip(("patched", "stock"), pair) if line]
    if lines:
        print(f"{title}, both front ends\n" + "\n".join(lines), flush=True)
    return lines


def conditions():
    """A breakpoint whose condition does not hold."""
    recording = f"{DIR}/recording"
    shutil.rmtree(recording, ignore_errors=True)
    os.environ["BENCH_HITS"] = hits = "20000"
    run(f"'{BIN}/lizard-trace' -q -o '{recording}' -- '{build('visits', '-O0', BIN + '/lizard-cc', 'lizard')}' {hits}")
    lines = front_ends("conditional breakpoints", recording, "conditions.gdb.py")
    shutil.rmtree(recording, ignore_errors=True)
    return lines


def origins():
    """Variables whose last store lies far back."""
    recording = f"{DIR}/recording"
    shutil.rmtree(recording, ignore_errors=True)
    with open(f"{SRC}/bench/progs/far.c") as f:
        os.environ["BENCH_HERE"] = "far.c:" + next(str(i) for i, line in enumerate(f, 1) if "/* HERE */" in line)
    run(f"'{BIN}/lizard-trace' -q -o '{recording}' -- '{build('far', '-O0', BIN + '/lizard-cc', 'lizard')}' 400000")
    lines = front_ends(f"far back, {size_of(recording) / 1e6:.1f} MB", recording, "origins.gdb.py")
    shutil.rmtree(recording, ignore_errors=True)
    return lines


def system_calls(rounds):
    return rates.measure(run, build("rates", "-O2", BIN + "/lizard-cc", "lizard"), BIN, f"{DIR}/recording", rounds)


def timer_signals(rounds):
    programs = [(label, build("signals", "-O2", compiler, label))
                for label, compiler in (("marked", BIN + "/lizard-cc"), ("unmarked", "gcc"))]
    return signals.measure(programs, BIN, f"{DIR}/recording", rounds)


def flow(rounds):
    """All of the control flow against checksums of it: size of the recording, time to record and to verify."""
    lines = []
    for name, level in (("life", "-O2"), ("mesh", "-O2")):
        program = command(name, level, build(name, level, BIN + "/lizard-cc", "lizard"))
        recording = f"{DIR}/recording"
        rows = {kind: {"recorded": [], "verified": [], "bytes": []} for kind in ("full", "hash")}
        for _ in range(rounds):
            for kind, row in rows.items():
                shutil.rmtree(recording, ignore_errors=True)
                row["recorded"].append(run(f"'{BIN}/lizard-trace' -q --flow={kind} -o '{recording}' -- {program}")[0])
                row["bytes"].append(size_of(recording))
                row["verified"].append(run(f"'{BIN}/lizard' verify '{recording}'")[0])
        shutil.rmtree(recording, ignore_errors=True)
        line = {"program": name, "level": level}
        for kind, row in rows.items():
            line.update({f"{kind}_{k}": statistics.median(v) for k, v in row.items()})
        lines.append(line)
        print(f"{name:6} {level} --flow=full {line['full_recorded']:5.2f} s {line['full_bytes'] / 1e6:8.2f} MB, verified "
              f"{line['full_verified']:5.2f} s; --flow=hash {line['hash_recorded']:5.2f} s {line['hash_bytes'] / 1e6:8.2f} MB, "
              f"verified {line['hash_verified']:5.2f} s", flush=True)
    return lines


def paid_later(rounds, names, levels):
    programs = []
    for name in names:
        for level in levels:
            native, lizard = (build(name, level, compiler, label)
                              for compiler, label in (("gcc", "native"), (BIN + "/lizard-cc", "lizard")))
            scale = long_enough(name, level, native)
            programs.append((f"{name} {level}", command(name, level, native, scale), command(name, level, lizard, scale)))
    return later.measure(programs, run, BIN, f"{DIR}/recording", size_of, f"{SRC}/bench/first.gdb.py", rounds)


def counted(rounds, names):
    programs = []
    for name in names:
        program = build(name, "-O0", BIN + "/lizard-cc", "lizard")
        programs.append((name, program, command(name, "-O0", program)))
    return counts.measure(programs, run, BIN, f"{DIR}/recording", rounds)


def crowded(rounds):
    lines = []
    for name, level in (("gzip", "-O2"), ("life", "-O2"), ("reads", "-O2")):
        native, lizard = (build(name, level, compiler, label)
                          for compiler, label in (("gcc", "native"), (BIN + "/lizard-cc", "lizard")))
        scale = long_enough(name, level, native)
        native, lizard = (command(name, level, program, scale) for program in (native, lizard))
        lines += crowd.measure(run, f"{name} {level}", native, lizard, BIN, f"{DIR}/recording", rounds)
    return lines


def long_runs(minutes):
    """A program at full speed, and a million system calls a minute, each for so many minutes."""
    runs = []
    # Who computes is measured by CPU time, so that on a busy machine it has as much to do; who sleeps by the clock.
    for name, level, trial, clock in (("life", "-O2", 1000, 1), ("calls", "-O2", 6, 0)):
        native, lizard = (build(name, level, compiler, label)
                          for compiler, label in (("gcc", "native"), (BIN + "/lizard-cc", "lizard")))
        # How fast the machine is now, from a tenth of the work right before.
        work = int(minutes * 6 / run(f"'{native}' {trial}")[clock] * trial)
        seconds = [10 * t for t in run(f"'{native}' {work}")]
        recording = f"{DIR}/recording"
        shutil.rmtree(recording, ignore_errors=True)
        runs.append(long.measure(f"{name} {level}", seconds, [lizard, str(10 * work)], BIN, recording, size_of))
    shutil.rmtree(recording, ignore_errors=True)
    return runs


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--only", default="")
    args.add_argument("--levels", default="-O0,-O2")
    args.add_argument("--json")
    args.add_argument("--no-latency", action="store_true")
    args.add_argument("--latency-only", action="store_true")
    args.add_argument("--flow-only", action="store_true")
    args.add_argument("--later-only", action="store_true")
    args.add_argument("--rates-only", action="store_true")
    args.add_argument("--signals-only", action="store_true")
    args.add_argument("--work-only", action="store_true")
    args.add_argument("--crowd-only", action="store_true")
    args.add_argument("--conditions-only", action="store_true")
    args.add_argument("--origins-only", action="store_true")
    args.add_argument("--starts-only", action="store_true")
    args.add_argument("--counts-only", action="store_true")
    args.add_argument("--long", type=float, nargs="?", const=10, metavar="MINUTES")
    args = args.parse_args()
    os.makedirs(DIR, exist_ok=True)
    nothing_else = (args.latency_only or args.flow_only or args.later_only or args.rates_only or args.signals_only or
                    args.crowd_only or args.work_only or args.conditions_only or args.origins_only or args.starts_only or
                    args.counts_only or args.long)
    chosen = args.only.split(",") if args.only else []
    wanted = [] if nothing_else else chosen or REAL + list(OWN)
    with open("/proc/cpuinfo") as f:
        model = next((l.split(":")[1].strip() for l in f if l.startswith("model name")), "?")
    print(f"{model}, {len(os.sched_getaffinity(0))} CPUs, Linux {os.uname().release}; load {os.getloadavg()[0]:.1f}; "
          f"{args.rounds} rounds, medians of ratios to native")
    print("program  native     | untraced          | recorded          | verified          | ver/rec | recording\n"
          "                    |  wall   cpu 1-cpu |  wall   cpu 1-cpu |  wall   cpu 1-cpu |")
    results = []
    for name in wanted:
        for level in args.levels.split(","):
            report(name, level, *measure(name, level, args.rounds), results)
    for text in limits_missed(results):
        print("missed:", text)
    calls = system_calls(args.rounds) if args.rates_only or not nothing_else and not args.only else []
    ticks = timer_signals(args.rounds) if args.signals_only or not nothing_else and not args.only else []
    works = []
    if args.work_only or not nothing_else and not args.only:
        works = work.measure(BIN, f"{DIR}/work", RECORDINGS, SRC, args.rounds, chosen)
    flows = flow(args.rounds) if args.flow_only or not nothing_else else []
    paid = []
    if args.later_only or not nothing_else and not args.only:
        paid = paid_later(args.rounds, chosen or later.PROGRAMS, args.levels.split(","))
    crowds = crowded(args.rounds) if args.crowd_only or not nothing_else else []
    stops = conditions() if args.conditions_only or not nothing_else and not args.no_latency else []
    far = origins() if args.origins_only or not nothing_else and not args.no_latency else []
    begun = starts.measure(BIN, f"{DIR}/starts", args.rounds) if args.starts_only or not nothing_else else {}
    sums = []
    if args.counts_only or not nothing_else and not args.only:
        sums = counted(args.rounds, chosen or list(counts.FUNCTIONS))
    moves = []
    if args.latency_only or not nothing_else and not args.no_latency:
        moves = [line for level in args.levels.split(",") for line in latency(level)]
    long_lines = long_runs(args.long) if args.long else []
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"rows": results, "rates": calls, "signals": ticks, "work": works, "flow": flows, "later": paid,
                       "crowd": crowds, "conditions": stops, "origins": far, "starts": begun, "counts": sums, "latency": moves,
                       "long": long_lines}, f, indent=1)


if __name__ == "__main__":
    main()
