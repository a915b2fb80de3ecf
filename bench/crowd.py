# SPDX-License-Identifier: GPL-3.0-or-later
"""How recording slows a program down on a machine that others keep busy, beside what the program alone suffers there."""
import contextlib
import shutil
import statistics
import subprocess
import sys

BUSY = (0, 1, 2, 4, 8)
LOOP = "while True: pass"


@contextlib.contextmanager
def busy(number):
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure(run, name, native, lizard, tools, recording, rounds):
    """RUN gives wall seconds and CPU seconds of a command. Of each number of busy processes: native's slow-down against none
    of them, the recording's, and their ratio."""
    recorded = f"'{tools}/lizard-trace' -q -o '{recording}' -- {lizard}"
    walls = {number: {"native": [], "recorded": []} for number in BUSY}
    run(native)
    for _ in range(rounds):
        for number in BUSY:
            with busy(number):
                walls[number]["native"].append(run(native)[0])
                shutil.rmtree(recording, ignore_errors=True)
                walls[number]["recorded"].append(run(recorded)[0])
    shutil.rmtree(recording, ignore_errors=True)
    lines = []
    for number in BUSY:
        slower = {mode: statistics.median(walls[number][mode]) / statistics.median(walls[0][mode])
                  for mode in ("native", "recorded")}
        against = statistics.median(r / n for r, n in zip(walls[number]["recorded"], walls[number]["native"]))
        lines.append({"program": name, "busy": number, "recorded_by_native": against} |
                     {mode + "_slower": slower[mode] for mode in slower})
        print(f"{name:10} {number} busy: native {slower['native']:5.2f} times slower, recorded {slower['recorded']:5.2f}: "
              f"{slower['recorded'] / slower['native']:5.2f}; recorded by native {against:5.2f}", flush=True)
    return lines
