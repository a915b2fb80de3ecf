# SPDX-License-Identifier: GPL-3.0-or-later
"""System calls a second, by kind: natively, recorded, verified."""
import os
import shutil
import statistics

MODES = ("native", "recorded", "verified")
# Those that cost more than their stops, or are no system call natively.
CALLS = {"native": {"fork-wait": 2000, "clock_gettime": 3000000}, "recorded": {"fork-wait": 2000, "clock_gettime": 300000}}
USUAL = {"native": 200000, "recorded": 20000}
LEAST = 0.005  # s: what takes less cannot be told from the start of a process


def seconds(run, program, tools, recording, kind, calls):
    """Of each mode, for so many calls natively and recorded."""
    shutil.rmtree(recording, ignore_errors=True)
    native, recorded = calls
    return {"native": run(f"'{program}' {kind} {native}")[0],
            "recorded": run(f"'{tools}/lizard-trace' -q -o '{recording}' -- '{program}' {kind} {recorded}")[0],
            "verified": run(f"'{tools}/lizard' verify '{recording}'")[0]}


def measure(run, program, tools, recording, rounds):
    """The medians of the rounds; what a run without calls takes is subtracted. RUN gives wall and CPU seconds of a command."""
    print("\nsystem calls a second  natively    recorded    verified")
    lines = []
    for kind in os.popen(f"'{program}'").read().split():
        calls = [CALLS[mode].get(kind, USUAL[mode]) for mode in ("native", "recorded")]
        rates = {mode: [] for mode in MODES}
        for _ in range(rounds):
            none = seconds(run, program, tools, recording, kind, (0, 0))
            some = seconds(run, program, tools, recording, kind, calls)
            for mode in MODES:
                rates[mode].append(calls[mode != "native"] / max(some[mode] - none[mode], LEAST))
        lines.append({"call": kind} | {mode: statistics.median(rates[mode]) for mode in MODES})
        print(f"  {kind:16}" + "".join(f"{lines[-1][mode]:12,.0f}" for mode in MODES), flush=True)
    shutil.rmtree(recording, ignore_errors=True)
    return lines
