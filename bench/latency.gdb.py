# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb on a recording: times the moves. Lines that begin with BENCH are the result.
import gdb
import os
import random
import time


def timed(command):
    start = time.monotonic()
    gdb.execute(command, to_string=True)
    return (time.monotonic() - start) * 1000


def show(what, ms, first=None):
    ms = sorted(ms)
    text = f"{what:34} median {ms[len(ms) // 2]:8.1f} ms, worst {ms[-1]:8.1f} ms, {len(ms)} times"
    if first is not None:
        text += f"; the first one {first:.1f} ms"
    print("BENCH " + text, flush=True)


def steps(command, n, go):
    gdb.execute(go, to_string=True)
    first = timed(command)
    ms = []
    for _ in range(n):
        try:
            ms.append(timed(command))
        except gdb.error as e:
            print(f"BENCH {command}: stopped after {len(ms)}: {e}")
            break
    if ms:
        show(command, ms, first)


def attempt(what, function):
    try:
        function()
    except gdb.error as e:
        print(f"BENCH {what}: {e}", flush=True)


def jumps():
    random.seed(7)
    targets = [random.randrange(1, 1000) / 10 for _ in range(30)]
    ms, here = [], 0
    gdb.execute("jump_backward start", to_string=True)
    for t in targets:
        ms.append(timed(f"{'jump_forward' if t > here else 'jump_backward'} {t}%"))
        here = t
    show("jump to a random percentage", ms)


def restores():
    """Where a checkpoint was taken nothing is re-executed: what remains is the time to restore."""
    points = os.environ.get("BENCH_CHECKPOINTS", "").split()
    random.shuffle(points)
    ms = []
    for point in points:
        gdb.execute("jump_forward end", to_string=True)
        ms.append(timed("jump_backward " + point))
    if ms:
        show("jump to a checkpoint itself", ms)


def to_code(command, start):
    gdb.execute(start, to_string=True)
    first = timed(f"{command} BZ2_blockSort")
    show(f"{command} BZ2_blockSort", [first] + [timed(f"{command} BZ2_blockSort") for _ in range(2)], first)


gdb.execute("set pagination off")
gdb.execute("set confirm off")
for line in gdb.execute("info lizard", to_string=True).splitlines():
    print("BENCH   " + line)
attempt("fs", lambda: steps("fs", 200, "jump_forward 50%"))
attempt("fn", lambda: steps("fn", 200, "jump_forward 60%"))
attempt("bs", lambda: steps("bs", 200, "jump_forward 75%"))
attempt("prev", lambda: steps("prev", 200, "jump_forward 90%"))
attempt("jumps", jumps)
attempt("restores", restores)
attempt("jump_forward", lambda: to_code("jump_forward", "jump_backward start"))
attempt("jump_backward", lambda: to_code("jump_backward", "jump_forward end"))


def watch(member, times):
    """A member of the compressor's state, from the last block's sorting on backwards."""
    gdb.execute("jump_forward end", to_string=True)
    gdb.execute("jump_backward BZ2_blockSort", to_string=True)
    place = int(gdb.parse_and_eval("&s->" + member))
    show(f"reverse_watchpoint s->{member}", [timed(f"reverse_watchpoint *(int *) {place:#x}") for _ in range(times)])


attempt("reverse_watchpoint", lambda: watch("nblock", 5))
attempt("reverse_watchpoint", lambda: watch("blockNo", 3))
