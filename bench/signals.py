# SPDX-License-Identifier: GPL-3.0-or-later
"""What a signal costs: a loop with a timer of 1 kHz against the same loop without, natively and recorded."""
import os
import shutil
import statistics
import subprocess
import time

MILLIONS = 1000  # of rounds
EVERY_US = 1000


def timed(argv):
    """Wall seconds, CPU seconds of all, and how many signals came."""
    start = time.monotonic()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    came = int(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        raise SystemExit(f"bench: {' '.join(argv)}: ended with status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, came


def measure(programs, tools, recording, rounds):
    """PROGRAMS: label and path. Medians of what is formed within a round."""
    print(f"\nsignals at {1000000 // EVERY_US} Hz    us a signal: wall, CPU   signals   with the timer / without, wall")
    lines = []
    for label, program in programs:
        for mode, before in (("native", []), ("recorded", [f"{tools}/lizard-trace", "-q", "-o", recording, "--"])):
            rows = []
            for _ in range(rounds):
                pair = []
                for us in (0, EVERY_US):
                    shutil.rmtree(recording, ignore_errors=True)
                    pair.append(timed([*before, program, str(MILLIONS), str(us)]))
                without, with_timer = pair
                wall, cpu = (1e6 * (with_timer[i] - without[i]) / with_timer[2] for i in (0, 1))
                rows.append({"wall_us": wall, "cpu_us": cpu, "signals": with_timer[2], "ratio": with_timer[0] / without[0]})
            line = {"code": label, "mode": mode} | {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            lines.append(line)
            print(f"  {label:9}{mode:10}{line['wall_us']:12.0f}{line['cpu_us']:10.0f}{line['signals']:10.0f}{line['ratio']:14.3f}",
                  flush=True)
    shutil.rmtree(recording, ignore_errors=True)
    return lines
