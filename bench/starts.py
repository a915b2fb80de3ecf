# SPDX-License-Identifier: GPL-3.0-or-later
"""What the start of a short program costs: /bin/true by itself, each further process of a run, disk for each recording."""
import os
import shutil
import statistics
import time

RUNS = 50  # of /bin/true, one after the other
PROCESSES = 20  # further ones in a run
SCRIPT = ("/bin/sh", "-c", "/bin/true; " * PROCESSES + "exit 0")
NOTHING = ("/bin/sh", "-c", "exit 0")


def disk(folder):
    """Blocks of all that is there, in bytes: what is shared is counted once."""
    seen = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            st = os.lstat(os.path.join(where, name))
            seen[st.st_ino] = st.st_blocks * 512
    return sum(seen.values())


def timed(argv, env):
    """Wall and CPU seconds of a command and all its descendants."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    start = time.monotonic()
    usage = os.wait4(os.posix_spawn(argv[0], argv, env, file_actions=quiet), 0)[2]
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime


def measure(tools, folder, rounds):
    """Medians; natively and recorded, in turn."""
    env = os.environ | {"LIZARD_TRACE_DIR": folder}

    def native(*argv):
        return timed(argv, env)

    def recorded(*argv, options=()):
        return timed((f"{tools}/lizard-trace", "-q", *options, "--", *argv), env)

    def empty():
        shutil.rmtree(folder, ignore_errors=True)

    empty()
    recorded("/bin/true")
    first = disk(folder)
    pairs = [(native("/bin/true"), recorded("/bin/true")) for _ in range(RUNS)]
    line = {"disk": (disk(folder) - first) / RUNS}
    follow = ("--follow", "all")
    runs = [(native(*SCRIPT), native(*NOTHING), recorded(*SCRIPT, options=follow), recorded(*NOTHING, options=follow))
            for _ in range(rounds)]
    empty()
    for i, kind in enumerate(("wall", "cpu")):
        for k, mode in enumerate(("native", "recorded")):
            line[f"{mode}_{kind}"] = statistics.median(p[k][i] for p in pairs)
            line[f"further_{mode}_{kind}"] = statistics.median((r[2 * k][i] - r[2 * k + 1][i]) / PROCESSES for r in runs)
    print("\nstarts, ms             native wall  cpu   recorded wall  cpu")
    for name, key in (("/bin/true", ""), ("each further process", "further_")):
        print(f"  {name:20} {line[key + 'native_wall'] * 1e3:11.2f} {line[key + 'native_cpu'] * 1e3:5.2f} "
              f"{line[key + 'recorded_wall'] * 1e3:14.2f} {line[key + 'recorded_cpu'] * 1e3:5.2f}")
    print(f"  each further recording of /bin/true takes {line['disk'] / 1024:.0f} KiB on disk", flush=True)
    return line
