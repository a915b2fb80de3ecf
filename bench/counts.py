# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a recording's control flow is counted: cold, without what earlier questions have kept in the recording, and warm; and what
a breakpoint's count takes in GDB."""
import json
import os
import shutil
import statistics
import subprocess
import time

# A function that is called often, one that is called seldom, one that is never called; the breakpoint is on the second one.
FUNCTIONS = {"bzip2": ("mainGtU", "mainQSort3", "uncompressStream"),
             "sqlite3": ("sqlite3VdbeExec", "sqlite3Prepare", "sqlite3_backup_init")}
FLOWS = {"bzip2": ("full", "hash"), "sqlite3": ("full",)}


def counted(tools, *argv):
    """Wall and CPU seconds."""
    start = time.monotonic()
    child = subprocess.Popen([tools + "/lizard", *argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime


def breakpoint_count(run, program, line, function):
    """Seconds of a run in GDB whose breakpoint is hit each time and never stops."""
    gdb = (f"gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break {function}' -ex 'ignore 1 2000000000' "
           f"-ex 'run {line.split(' ', 1)[1]} >/dev/null' '{program}'")
    return run(gdb)[0]


def questions(functions):
    often, seldom, never = functions
    return {"calls, often": ("calls", "-c", often), "calls, seldom": ("calls", "-c", seldom), "calls, never": ("calls", "-c", never),
            "hits, often": ("hits", "-c", often), "hits, seldom": ("hits", "-c", seldom), "hits, never": ("hits", "-c", never),
            "coverage": ("coverage",)}


def ask(tools, recording, question, rounds):
    command, *words = question
    options, places = [w for w in words if w.startswith("-")], [w for w in words if not w.startswith("-")]
    argv = [command, *options, recording, *places]
    cold = []
    for _ in range(rounds):
        shutil.rmtree(recording + "/index", ignore_errors=True)
        cold.append(counted(tools, *argv))
    warm = [counted(tools, *argv) for _ in range(rounds)]
    return [[statistics.median(t[i] for t in times) for i in (0, 1)] for times in (cold, warm)]


def markers_of(tools, recording):
    out = subprocess.run([tools + "/lizard", "info", "--json", recording], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)["marker_bytes"]


def measure(programs, run, tools, recording, rounds):
    """PROGRAMS: name, program, shell command."""
    print("\ncounting                            |  MB of |      cold                  |      warm\n"
          "                                    | markers |  wall s   CPU s  MB/s/CPU |  wall s   CPU s", flush=True)
    lines = []
    for name, program, line in programs:
        for flow in FLOWS[name]:
            shutil.rmtree(recording, ignore_errors=True)
            run(f"'{tools}/lizard-trace' -q --flow={flow} -o '{recording}' -- {line}")
            mb = markers_of(tools, recording) / 1e6
            for what, question in questions(FUNCTIONS[name]).items():
                cold, warm = ask(tools, recording, question, rounds)
                lines.append({"program": name, "flow": flow, "what": what, "mb": mb, "cold": cold, "warm": warm})
                print(f"{name:8} {flow:5} {what:20} | {mb:7.0f} | {cold[0]:7.3f} {cold[1]:7.3f} {mb / cold[1]:9.0f} | "
                      f"{warm[0]:7.3f} {warm[1]:7.3f}", flush=True)
        seconds = breakpoint_count(run, program, line, FUNCTIONS[name][1])
        lines.append({"program": name, "what": "breakpoint", "seconds": seconds})
        print(f"{name:8}       a breakpoint's count of {FUNCTIONS[name][1]} in GDB: {seconds:.1f} s", flush=True)
    shutil.rmtree(recording, ignore_errors=True)
    return lines
