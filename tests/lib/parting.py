# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of runs of random programs that part at a known branch, and what `lizard diff` says of them.

  parting.py PAIRS FOLDER [SEED]

A program's ways have a line each. Built by plain GCC with -DLOG it prints the line of each way that it takes. Where two such
logs part is where the recordings of the same two runs must: the branch's line, both ways' lines, the function. The runs differ
in a byte of input, in the seed of the program's random numbers, or in nothing. Some are recorded with random addresses, some
with threads whose turns are in another order, and of some the second run is of a rebuilt program with one more function.

Prints a line for each pair that is not right, then "RIGHT of ALL right"."""
import json
import os
import random
import subprocess
import sys

HEAD = """#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static __thread unsigned state, at, self;
static unsigned char input[1024];
#ifdef LOG
static void way(int line)
{
	printf("%u %d\\n", self, line);
}
#define W way(__LINE__)
#else
#define W (void)0
#endif
#ifdef MORE
static unsigned more(unsigned n)
{
	return n ? more(n / 2) + 1 : 0;
}
#endif
static unsigned chance(void)
{
	state = state * 1103515245 + 12345;
	return state >> 16;
}
static unsigned byte(void)
{
	return input[self * 256 + at++ % 256];
}
""".splitlines()
MAIN = """static void *worker(void *number)
{
	self = (unsigned)(size_t)number;
	state = atoi(seed) + self;
	for (int i = 0; i < 6; i++) {
		total[self] += f0();
		sched_yield();
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread[3];
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	seed = argv[1];
	int n = argc > 2 ? 3 : 0;
	if (read(0, input, sizeof(input)) < 0)
		return 2;
#ifdef MORE
	if (argc < 5)
		total[3] += more(argc);
#endif
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, worker, (void *)(size_t)(i + 1));
	worker(NULL);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return (total[0] + total[1] + total[2] + total[3]) == 4000000001u;
}
""".splitlines()
FUNCTIONS = 6


class Program:
    """Its source lines; for each way's line, the branch's line (None: a function begins) and the function."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = list(HEAD)
        self.branch, self.function = {}, {}
        self.loops = 0
        self.lines += ["static const char *seed;", "static unsigned total[4];"]
        for n in reversed(range(FUNCTIONS)):
            self.name = f"f{n}"
            self.lines += [f"static unsigned {self.name}(void)", "{", "\tunsigned acc = 0, n, i;"]
            self.way(1, None)
            self.block(1, n, 0)
            self.lines += ["\treturn acc;", "}"]
        self.lines += MAIN

    def add(self, depth, text):
        self.lines.append("\t" * depth + text)
        return len(self.lines)

    def way(self, depth, branch, before=""):
        line = self.add(depth, f"{before}W; acc += {self.rng.randrange(100)};")
        self.branch[line], self.function[line] = branch, self.name
        return line

    def value(self):
        return f"({self.rng.choice(['byte()', 'byte()', 'chance()'])} >> {self.rng.randrange(5)})"

    def block(self, depth, n, nested):
        for _ in range(self.rng.randrange(1, 4) + (0 if nested else 2)):
            kinds = ["plain"] + (["if", "if", "loop", "switch"] if nested < 3 else [])
            kinds += ["call", "pointer"] if n + 2 < FUNCTIONS and nested < 2 else []
            getattr(self, "put_" + self.rng.choice(kinds))(depth, n, nested)

    def put_plain(self, depth, n, nested):
        self.add(depth, f"acc = acc * 31 + {self.value()};")

    def put_if(self, depth, n, nested):
        branch = self.add(depth, f"if ({self.value()} & 1) {{")
        self.way(depth + 1, branch)
        self.block(depth + 1, n, nested + 1)
        self.add(depth, "} else {")
        self.way(depth + 1, branch)
        self.block(depth + 1, n, nested + 1)
        self.add(depth, "}")

    def put_loop(self, depth, n, nested):
        count = f"n{self.loops}"
        self.loops += 1
        self.add(depth, f"unsigned {count} = {self.value()} & 3;")
        branch = self.add(depth, f"for (unsigned i{count} = 0; i{count} < {count}; i{count}++) {{")
        self.way(depth + 1, branch)
        self.block(depth + 1, n, nested + 1)
        self.add(depth, "}")
        self.way(depth, branch)

    def put_switch(self, depth, n, nested):
        branch = self.add(depth, f"switch ({self.value()} & 3) {{")
        for label in ("case 0:", "case 1:", "case 2:", "default:"):
            self.way(depth, branch, label + " ")
            self.block(depth + 1, n, nested + 2)
            self.add(depth + 1, "break;")
        self.add(depth, "}")

    def put_call(self, depth, n, nested):
        self.add(depth, f"acc += f{self.rng.randrange(n + 1, FUNCTIONS)}();")

    def put_pointer(self, depth, n, nested):
        one, other = self.rng.sample(range(n + 1, FUNCTIONS), 2)
        self.add(depth,
                 f"acc += ((unsigned (*[2])(void)){{f{one}, f{other}}}[{self.value()} & 1])();")


def run(*command, **more):
    return subprocess.run(command, check=False, capture_output=True, **more)


def build(program, folder):
    """The rebuilt program is of a file with another name."""
    os.makedirs(folder)
    for name, file, command in (("log", "prog.c", ["gcc", "-DLOG"]), ("prog", "prog.c", ["lizard-cc"]),
                                ("more", "moved.c", ["lizard-cc", "-DMORE"])):
        source = os.path.join(folder, file)
        with open(source, "w") as f:
            f.write("\n".join(program.lines) + "\n")
        done = run(*command, "-g", "-O0", "-w", "-o", os.path.join(folder, name), source, "-lpthread")
        if done.returncode:
            sys.exit(done.stderr.decode())


def log_of(folder, start):
    """The lines of each thread's ways."""
    found = {}
    for line in run(os.path.join(folder, "log"), *start["arguments"], input=start["input"]).stdout.split(b"\n"):
        if line:
            thread, way = line.split()
            found.setdefault(int(thread), []).append(int(way))
    return found


def record(folder, name, program, start, options):
    where = os.path.join(folder, name)
    done = run("lizard-trace", "-q", *options, "-o", where, os.path.join(folder, program), *start["arguments"],
               input=start["input"])
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{where}: {done.stderr.decode()}")
    return where


def first_difference(one, other):
    for a, b in zip(one, other):
        if a != b:
            return a, b
    return None


def wanted(program, logs):
    """Of each thread that parts: the function, the branch's line, the ways."""
    found = {}
    for thread in logs[0]:
        ways = first_difference(logs[0][thread], logs[1][thread])
        if ways:
            branch = [program.branch[w] for w in ways]
            names = [program.function[w] for w in ways]
            if branch == [None, None]:
                found[thread] = ("call", names[0], names[1])
            else:
                assert branch[0] == branch[1] and names[0] == names[1], (ways, branch)
                found[thread] = (names[0], branch[0], *ways)
    return found


def answer_of(one):
    first, second = one["first"], one["second"]
    if first["way"] == "call" and second["way"] == "call":
        return ("call", first["function"], second["function"])
    return (one["stack"][-1], first["branch"].get("line"), first.get("line"), second.get("line"))


def answers(recordings):
    """Each thread's first difference, by the thread's number among the threads of the first run; other lines."""
    done = run("lizard", "diff", "--json", "--limit", "0", "--inputs", "50", *recordings)
    objects = [json.loads(line) for line in done.stdout.decode().splitlines()]
    threads = {int(t.split()[-1]) for t in run("lizard", "calls", "--by", "thread", recordings[0], "worker").stdout.decode()
               .splitlines()}
    number = {tid: i for i, tid in enumerate(sorted(threads))}
    found = {}
    for one in objects:
        if one["kind"] == "difference":
            found.setdefault(number[int(one["first"]["at"].split(":")[0])], one)
    return done, found, objects


def markers(recording):
    lines = run("lizard", "dump", "--markers", "--json", recording).stdout.decode().splitlines()
    return [json.loads(line) for line in lines]


def rest(recording, objects, run_name):
    """The markers outside of differences, without what depends on the place in the stream."""
    def offset(instant):
        return int(instant.split(":")[1].replace(",", ""))

    cut = [(offset(o[run_name]["at"]), offset(o[run_name].get("meets", f":{1 << 62}")))
           for o in objects if o["kind"] == "difference"]
    keep = []
    for m in markers(recording):
        at = m.pop("offset")
        del m["tid"]
        if not any(a <= at < b for a, b in cut):
            keep.append(m)
    return keep


def with_stacks(recording):
    """Each marker with the functions on the stack, and its offset: for one thread without longjmp."""
    stack, found = [], []
    for m in markers(recording):
        if m["kind"] == "exit":
            found.append((tuple(stack), "exit", m["offset"]))
            stack.pop()
        elif m["kind"] == "enter":
            found.append((tuple(stack), m["function"], m["offset"]))
            stack.append(m["function"])
        else:
            found.append((tuple(stack), m["id"], m["offset"]))
    return found


def meeting(recordings, same=16):
    """By brute force: the nearest place behind the first difference from which markers are the same. How many are skipped."""
    runs = [with_stacks(r) for r in recordings]
    plain = [[m[:2] for m in run] for run in runs]
    at = next(i for i, (a, b) in enumerate(zip(*plain)) if a != b)
    rest_of = [p[at:] + ["end"] * same for p in plain]
    first = {}
    for i in range(len(rest_of[0]) - same):
        first.setdefault(tuple(rest_of[0][i:i + same]), i)
    best = None
    for k in range(len(rest_of[1]) - same):
        i = first.get(tuple(rest_of[1][k:k + same]))
        if i is not None and (best is None or i + k < best[0]):
            best = (i + k, i, k)
    return best and tuple(runs[side][at + best[1 + side]][2] for side in (0, 1)), best and best[0]


def meets_nearest(recordings, one):
    """Does it say a nearest place? There may be several as near."""
    want, skipped = meeting(recordings)
    if want is None:
        return "meets" not in one["first"]
    got = []
    for side, name in enumerate(("first", "second")):
        offsets = [m[2] for m in with_stacks(recordings[side])]
        at, meet = (int(one[name][key].split(":")[1].replace(",", "")) for key in ("at", "meets"))
        got.append(offsets.index(meet) - offsets.index(at))
    return sum(got) == skipped


def change(start, kind, how, rng):
    """Another start that differs as KIND says."""
    arguments, data = list(start["arguments"]), bytearray(start["input"])
    if kind == "input":
        data[rng.randrange(60) + (256 * rng.randrange(4) if how == "threads" else 0)] ^= 1 << rng.randrange(8)
    elif kind == "seed":
        arguments[0] = str(int(arguments[0]) + 1 + rng.randrange(1000))
    return {"arguments": arguments, "input": bytes(data)}


def choose_starts(folder, kind, how, rng):
    """Two starts with their logs. What has changed is to make a difference, if it can."""
    first = {"arguments": [str(rng.randrange(1000))] + (["threads"] if how == "threads" else []),
             "input": bytes(rng.randrange(256) for _ in range(1024))}
    log = log_of(folder, first)
    for _ in range(20):
        second = change(first, kind, how, rng)
        logs = [log, log_of(folder, second)]
        if kind == "nothing" or logs[0] != logs[1]:
            break
    return [first, second], logs


def check(program, folder, number, rng):
    kind = rng.choice(["input", "input", "input", "seed", "nothing"])
    how = rng.choice(["plain", "plain", "addresses", "threads", "rebuilt"])
    starts, logs = choose_starts(folder, kind, how, rng)
    recordings = []
    for i, start in enumerate(starts):
        options = {"addresses": ["--aslr"], "threads": [f"--chaos={rng.randrange(1 << 30)}"]}.get(how, [])
        prog = "more" if how == "rebuilt" and i else "prog"
        recordings.append(record(folder, f"pair{number}-{i}", prog, start, options))
    want = wanted(program, logs)
    done, found, objects = answers(recordings)
    got = {thread: answer_of(one) for thread, one in found.items()}
    problems = []
    if got != want:
        problems.append(f"wanted {want}, got {got}")
    if done.returncode != bool(want) or done.stderr:
        problems.append(f"status {done.returncode}: {done.stderr.decode()}")
    if kind == "input" and want and not any("read(" in str(o.get("last_inputs")) for o in objects):
        problems.append("no read() among the inputs")
    if kind == "seed" and want and not any(o["kind"] == "argument" and o["name"] == "1" for o in objects):
        problems.append("the argument is not named")
    if how == "rebuilt" and {o["function"]: o["is"] for o in objects if o["kind"] == "function"} != {
            "main": "changed", "more": "alone"}:
        problems.append("the functions that have changed are not named")
    if how == "plain" and want and rest(recordings[0], objects, "first") != rest(recordings[1], objects, "second"):
        problems.append("outside of the differences the markers are not the same")
    if how == "plain" and want and not meets_nearest(recordings, found[0]):
        problems.append("they meet elsewhere")
    for problem in problems:
        print(f"{folder} pair {number} ({kind}, {how}): {problem}")
    return not problems


def main():
    pairs, folder = int(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    right = 0
    for number in range(pairs):
        if number % 10 == 0:
            program = Program(random.Random(seed * 1000 + number))
            home = os.path.join(folder, f"program{number // 10}")
            build(program, home)
        right += check(program, home, number, random.Random(seed * 100000 + number))
    print(f"{right} of {pairs} right")


if __name__ == "__main__":
    main()
