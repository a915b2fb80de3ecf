# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by lizard-gdb on a recording of bzip2, on each front end: times GDB's own reverse commands beside Lizard's.
# Lines that begin with BENCH are the result.
import gdb
import time


def timed(command):
    start = time.monotonic()
    gdb.execute(command, to_string=True)
    return (time.monotonic() - start) * 1000


def show(what, ms):
    ms = sorted(ms)
    print(f"BENCH {what:44} median {ms[len(ms) // 2]:8.2f} ms, worst {ms[-1]:8.1f} ms, {len(ms)} times", flush=True)


def attempt(what, function):
    try:
        function()
    except gdb.error as e:
        print(f"BENCH {what}: {e}", flush=True)


def steps(command, n, go):
    gdb.execute(go, to_string=True)
    show(command, [timed(command) for _ in range(n)])


def finishes(n):
    """Out of the innermost function, from n places of the run."""
    ms = []
    for i in range(n):
        gdb.execute(f"jump_forward {5 + 90 * i / n:.2f}%" if i else "jump_backward 5%", to_string=True)
        while gdb.selected_frame().name() in (None, "main") or not gdb.selected_frame().find_sal().symtab:
            gdb.execute("jump_forward BZ2_compressBlock", to_string=True)
        ms.append(timed("reverse-finish"))
    show("reverse-finish", ms)


def total_time():
    line = gdb.execute("when", to_string=True).splitlines()[0]
    return int(line.split(" of ")[2].split()[0].replace(",", ""))


def whole_run(place, what):
    """reverse-continue from the end of the run to the last arrival."""
    gdb.execute("jump_forward end", to_string=True)
    b = gdb.Breakpoint(place)
    first = timed("reverse-continue")
    gdb.execute("jump_forward end", to_string=True)
    second = timed("reverse-continue")
    where = gdb.selected_frame().name()
    b.delete()
    print(f"BENCH {'reverse-continue to ' + what:44} {first:8.1f} ms, again {second:.1f} ms ({where}); "
          f"the markers at 300 MB/s: {total_time() / 3e5:.0f} ms", flush=True)


def last_write(command, variable):
    gdb.execute("jump_forward end", to_string=True)
    first = timed(f"{command} {variable}")
    where = gdb.selected_frame().name()
    print(f"BENCH {f'{command} {variable}':44} {first:8.1f} ms ({where})", flush=True)


gdb.execute("set pagination off")
gdb.execute("set confirm off")
# First, while nothing is known of the stream yet.
attempt("reverse-continue", lambda: whole_run("compressStream", "a breakpoint hit once"))
attempt("reverse-continue", lambda: whole_run("add_pair_to_block", "one hit a million times"))
attempt("reverse-stepi", lambda: steps("reverse-stepi", 1000, "jump_forward 50%"))
attempt("reverse-step", lambda: steps("reverse-step", 200, "jump_forward 60%"))
attempt("reverse-next", lambda: steps("reverse-next", 200, "jump_forward 70%"))
attempt("bs", lambda: steps("bs", 200, "jump_forward 75%"))
attempt("prev", lambda: steps("prev", 200, "jump_forward 90%"))
attempt("reverse-finish", lambda: finishes(100))
attempt("reverse_watchpoint", lambda: last_write("reverse_watchpoint", "blockSize100k"))
attempt("last", lambda: last_write("last", "blockSize100k"))
