# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of ten minutes: time against native, size of the recording while it grows, memory of the recorder, then
verify and opening it anywhere."""
import random
import resource
import subprocess
import time

SAMPLES = 10


def peak_memory(pid):
    """VmHWM of a process, in bytes: all threads of the recorder share it."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(l.split()[1]) * 1024 for l in f if l.startswith("VmHWM:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(argv, recording, every, size_of):
    """Seconds, CPU seconds, the recorder's peak, and [seconds, size, peak] at regular intervals."""
    start, cpu, peak, samples = time.monotonic(), children_cpu(), 0, []
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    while True:
        try:
            child.wait(0.5)
            break
        except subprocess.TimeoutExpired:
            peak = max(peak, peak_memory(child.pid))
        if time.monotonic() - start > every * (len(samples) + 1):
            samples.append([round(time.monotonic() - start), size_of(recording), peak])
            print("    after {:4.0f} s {:8.1f} MB, memory {:6.1f} MB".format(samples[-1][0], *(n / 1e6 for n in samples[-1][1:])), flush=True)
    if child.returncode:
        raise SystemExit(f"bench: {argv}: status {child.returncode}")
    return time.monotonic() - start, children_cpu() - cpu, peak, samples


def opened(lizard_gdb, recording, places):
    """Seconds to start GDB on the recording and go to each place, given in percent."""
    seconds = []
    for place in places:
        start = time.monotonic()
        done = subprocess.run([lizard_gdb, "-batch", recording, "-ex", f"jump_forward {place}%", "-ex", "when"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds.append(time.monotonic() - start)
        said = [l for l in done.stdout.splitlines() if l.startswith("event ")]
        print(f"    {place}%: {seconds[-1]:.2f} s, {said[-1] if said else done.stdout.strip()[-200:]}", flush=True)
    return seconds


def measure(name, native, argv, tools, recording, size_of):
    """One run; native: the seconds and CPU seconds that it takes natively."""
    native_s, native_cpu_s = native
    print(f"{name}: {native_s:.0f} s natively, recorded with default options", flush=True)
    wall, cpu, peak, samples = record([tools + "/lizard-trace", "-q", "-o", recording, "--"] + argv, recording, native_s / SAMPLES, size_of)
    line = {"program": name, "native_s": native_s, "native_cpu_s": native_cpu_s, "recorded_s": wall, "recorded_cpu_s": cpu,
            "bytes": size_of(recording), "peak_bytes": peak, "samples": samples}
    print(f"  recorded {wall:.1f} s, {wall / native_s:.2f}x; {cpu:.1f} s of CPU time, {cpu / native_cpu_s:.2f}x; "
          f"{line['bytes'] / 1e6:.1f} MB; the recorder's memory {peak / 1e6:.1f} MB at most", flush=True)
    random.seed(11)
    line["opened_s"] = opened(tools + "/lizard-gdb", recording, [random.randrange(1, 1000) / 10 for _ in range(5)])
    start = time.monotonic()
    done = subprocess.run([tools + "/lizard", "verify", recording], stdout=subprocess.DEVNULL)
    line["verified_s"] = time.monotonic() - start
    line["clean"] = done.returncode == 0
    print(f"  opened at 5 places, the slowest {max(line['opened_s']):.2f} s; verified in {line['verified_s']:.1f} s, "
          f"{line['verified_s'] / wall:.2f}x the recording" + ("" if line["clean"] else ": NOT CLEAN"), flush=True)
    return line
