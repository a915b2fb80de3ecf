# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose time goes into system calls: recorded against native, verified against both. Of servers it is the client's time, and
the server's CPU time. Recorded and native also run on one CPU, client and recorder with them."""
import contextlib
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

COMPILATIONS, INSERTS, FILES, READS, REQUESTS = 30, 200000, 100000, 100000, 50000
MODULES = ("argparse, asyncio, base64, collections, csv, datetime, decimal, email, fractions, http.client, json, logging, "
           "pickle, random, sqlite3, ssl, subprocess, tempfile, unittest, xml.dom")


def write(path, lines):
    if not os.path.exists(path):
        with open(path, "w") as f:
            f.writelines(lines)
    return path


def tree(folder):
    """A hundred files in each folder."""
    for i in range(FILES):
        if i % 100 == 0:
            os.makedirs(f"{folder}/{i // 10000}/{i // 100}", exist_ok=True)
        write(f"{folder}/{i // 10000}/{i // 100}/{i}", ["x" * (i % 50)])
    return folder


def inserts(path):
    def lines():
        yield "pragma synchronous = off; create table t(a integer primary key, b text, c integer);\n"
        for i in range(INSERTS):
            begin, end = "begin; " * (i % 100 == 0), " commit;" * (i % 100 == 99)
            yield f"{begin}insert into t(b, c) values('number {i * 7919 % INSERTS}', {i});{end}\n"
    return write(path, lines())


def sources(folder):
    os.makedirs(folder, exist_ok=True)
    for i in range(COMPILATIONS):
        write(f"{folder}/f{i}.c", [f"#include <stdio.h>\n#include <stdlib.h>\nint f{i}(int n) {{ return printf(\"%d\", n * {i}); }}\n"])
    objects = " ".join(f"f{i}.o" for i in range(COMPILATIONS))
    write(f"{folder}/Makefile", [f"all: {objects}\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n"])
    return folder


def commands(folder, src):
    """Name, program, command, how to record it, what it aims at, what makes it new."""
    db, made = f"{folder}/db", f"{folder}/make"
    yield ("sqlite3", "sqlite3", lambda: ["sh", "-c", f"exec sqlite3 '{db}' < '{inserts(folder + '/sql')}'"], (), 1.5,
           lambda: os.path.exists(db) and os.remove(db))
    yield "find", "find", lambda: ["find", tree(f"{folder}/tree"), "-size", "+1M"], (), 1.5, None
    yield "git log --stat", "git", lambda: ["git", "-C", src, "--no-pager", "log", "--stat", "-n", "300"], (), 1.5, None
    yield "tar", "tar", lambda: ["tar", "cf", f"{folder}/out.tar", "/usr/include"], (), 1.5, None
    yield "python3", "/usr/bin/python3", lambda: ["/usr/bin/python3", "-c", f"import {MODULES}"], (), 1.5, None
    yield ("perl", "perl", lambda: ["perl", "-e", f"open F, '<', shift; sysread F, $b, 16 for 1 .. {READS}",
                                    write(f"{folder}/reads", ["0123456789abcdef"] * READS)], (), 1.5, None)
    yield ("make", "make", lambda: ["make", "-s", "-C", sources(made)], ("--follow", "all"), 2.0,
           lambda: subprocess.run(["sh", "-c", f"rm -f '{made}'/*.o"], check=True))


def timed(argv):
    """Wall and CPU seconds of a command and all its descendants."""
    start = time.monotonic()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ended(child, argv, start)


def ended(child, argv, start):
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"bench: {argv} ended with status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime


def one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@contextlib.contextmanager
def all_on_one_cpu():
    """This process and all that it starts meanwhile."""
    before = os.sched_getaffinity(0)
    one_cpu()
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# As users do: into the directory that all recordings live in, where copies of files are shared. Each round has a new folder.
# To remove the old one right before would cost the next one time: an ext4 without a journal uses no inode that was freed in the
# last minutes, and looks at all of them for each new one.
def record(tools, options=()):
    return [f"{tools}/lizard-trace", "-q", *options, "--"]


def verify(tools, recordings, argv):
    return timed([f"{tools}/lizard", "verify", "-a", f"{recordings}/{os.path.basename(argv[0])}-latest"])


def remove(recordings):
    """All but what they share."""
    for entry in os.scandir(recordings):
        if entry.is_symlink():
            os.remove(entry.path)
        elif not entry.name.startswith("."):
            shutil.rmtree(entry.path)


def native_and_recorded(row, suffix, run, before):
    """Both, one after the other. BEFORE: what makes a command one that is recorded."""
    row["native" + suffix] = run([])
    row["recorded" + suffix] = run(before)


def modes(tools, recordings, argv, run, before):
    """A round: each mode's wall and CPU seconds."""
    row = {}
    with all_on_one_cpu():
        native_and_recorded(row, "_one", run, before)
    native_and_recorded(row, "", run, before)
    row["verified"] = verify(tools, recordings, argv)
    return row


def command_round(tools, recordings, argv, options, anew):
    def run(before):
        if anew:
            anew()
        return timed(before + argv)
    return modes(tools, recordings, argv, run, record(tools, options))


# ---- servers ----

def redis_server(path):
    return ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"]


def redis_client(path):
    timed(["redis-benchmark", "-s", path, "-c", "50", "-n", str(REQUESTS), "-t", "set,get", "-q"])


def memcached_server(path):
    return ["memcached", "-s", path, "-t", "1", *(["-u", "root"] if os.getuid() == 0 else [])]


def memcached_client(path):
    """One request after the other: a value is set and asked for."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        for i in range(REQUESTS // 2):
            value = b"%d" % i
            for request in (b"set key%d 0 0 %d\r\n%s\r\n" % (i % 1000, len(value), value), b"get key%d\r\n" % (i % 1000)):
                s.sendall(request)
                answer = s.recv(4096)
        if value not in answer:
            sys.exit(f"bench: memcached answers {answer}")


SERVERS = (("redis-server", redis_server, redis_client), ("memcached", memcached_server, memcached_client))


def reachable(path):
    with socket.socket(socket.AF_UNIX) as s:
        try:
            return s.connect(path) is None
        except OSError:
            return False


def program_of(child):
    """The server: lizard-trace's child, or the child itself."""
    with open(f"/proc/{child.pid}/task/{child.pid}/children") as f:
        return int((f.read().split() or [child.pid])[0])


def serve(argv, client, path):
    """Seconds of the client, and CPU seconds of the server, which is on one CPU."""
    if os.path.exists(path):
        os.remove(path)
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=one_cpu)
    while not reachable(path):
        if child.poll() is not None:
            sys.exit(f"bench: {argv} does not serve")
        time.sleep(0.01)
    start = time.monotonic()
    client(path)
    seconds = time.monotonic() - start
    os.kill(program_of(child), signal.SIGTERM)
    return seconds, ended(child, argv, start)[1]


def server_round(tools, recordings, server, client, path):
    return modes(tools, recordings, server(path), lambda before: serve(before + server(path), client, path), record(tools))


# ---- the table ----

def report(name, rows, aim):
    line = {"work": name, "native_s": statistics.median(r["native"][0] for r in rows)}
    cells = ""

    def ratio(mode, base, kind, i):
        nonlocal cells
        value = statistics.median(r[mode][i] / r[base][i] for r in rows)
        line[f"{mode}_by_{base}_{kind}"] = value
        cells += f"{value:7.2f}"

    for mode, base in (("recorded", "native"), ("verified", "native"), ("verified", "recorded")):
        cells += " |"
        ratio(mode, base, "wall", 0)
        ratio(mode, base, "cpu", 1)
        if mode == "recorded":
            ratio("recorded_one", "native_one", "wall", 0)
    print(f"  {name:16}{line['native_s']:7.2f} s{cells} |{aim:8.2f}", flush=True)
    return line


def measure(tools, folder, recordings, src, rounds, chosen):
    """The medians of the rounds' ratios. RECORDINGS: where lizard-trace puts them. CHOSEN: names, none for all."""
    os.makedirs(folder, exist_ok=True)
    print("\nwork with many calls      | recorded             | verified      | ver/rec       | to reach\n"
          "                   native |   wall    cpu  1-cpu |   wall    cpu |   wall    cpu |    wall")
    lines = []

    def wanted(name, program):
        if chosen and name.split()[0] not in chosen:
            return False
        if not shutil.which(program):
            print(f"  {name:16}skipped: {program} is not installed")
        return shutil.which(program)

    for name, program, argv, options, aim, anew in commands(folder, src):
        if wanted(name, program):
            line = argv()
            command_round(tools, recordings, line, options, anew)  # what it reads is in memory then
            rows = [command_round(tools, recordings, line, options, anew) for _ in range(rounds)]
            lines.append(report(name, rows, aim))
            remove(recordings)
    for name, server, client in SERVERS:
        if wanted(name, name):
            rows = [server_round(tools, recordings, server, client, f"{folder}/socket") for _ in range(rounds)]
            lines.append(report(name, rows, 1.67))
            remove(recordings)
    return lines
