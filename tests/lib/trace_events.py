# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks trace events: trace_events.py FILE RECORDING. The schema is that of the Trace Event Format, as far as it is used;
calls are compared with `lizard calls` and `lizard tree`, events with `lizard dump`."""
import collections
import json
import subprocess
import sys


def lizard(*words):
    run = subprocess.run(("lizard",) + words, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def check_schema(rows):
    for row in rows:
        assert row["ph"] in "XMi" and len(row["ph"]) == 1, row
        assert all(isinstance(row[key], int) and row[key] >= 0 for key in ("pid", "tid", "ts")), row
        assert isinstance(row["name"], str) and row["name"] and isinstance(row["cat"], str), row
        assert row["ph"] != "X" or (isinstance(row["dur"], int) and row["dur"] >= 0), row
        assert row["ph"] != "i" or row["s"] == "t", row
    assert len({row["pid"] for row in rows}) == 1
    named = {row["tid"] for row in rows if row["ph"] == "M" and row["name"] == "thread_name"}
    assert {row["tid"] for row in rows} == named, named


def check_nesting(spans):
    """Each lies within another or beside it, on each track; how deep each is."""
    deepest = 0
    for tid in {row["tid"] for row in spans}:
        open_ends = []
        mine = [row for row in spans if row["tid"] == tid]
        for row in sorted(mine, key=lambda r: (r["ts"], -r["dur"])):
            while open_ends and open_ends[-1] <= row["ts"]:
                open_ends.pop()
            end = row["ts"] + row["dur"]
            assert not open_ends or end <= open_ends[-1], row
            open_ends.append(end)
            deepest = max(deepest, len(open_ends))
    return deepest


def main():
    with open(sys.argv[1]) as file:
        rows = json.load(file)["traceEvents"]
    recording = sys.argv[2]
    check_schema(rows)
    calls = [row for row in rows if row["cat"] == "call"]
    tree = lizard("tree", "--json", recording)
    key = lambda name, tid, at: (name, tid, at)
    ours = collections.Counter(key(r["name"], r["tid"], r["args"]["position"]) for r in calls)
    theirs = collections.Counter(key(r["function"], r["thread"], r["from"]) for r in tree)
    assert ours == theirs, (ours - theirs, theirs - ours)
    deepest = check_nesting(calls)
    assert deepest > 5, deepest
    for name in {row["name"] for row in calls}:
        spans = sorted((r["args"]["position"], r["dur"], r["args"]["ended"]) for r in calls if r["name"] == name)
        listed = sorted((r["from"], r["length"], r["ended"]) for r in lizard("calls", "--json", recording, name))
        assert spans == listed, name
    check_nesting([row for row in rows if row["cat"] == "turn"])
    events = lizard("dump", "--events", "--json", recording)
    kinds = collections.Counter(e["kind"] for e in events)
    shown = [row for row in rows if row["ph"] == "i"]
    assert sum(r["cat"].startswith("syscall") for r in shown) == kinds["syscall"]
    assert sum(r["cat"] == "signal" for r in shown) == kinds["signal"]
    by_number = {e["index"]: e for e in events}
    for row in shown:
        event = by_number[row["args"]["event"]]
        assert row["ts"] == event["marker"] and row["tid"] == event["tid"], row
    assert any("output" in r["cat"] for r in shown)


main()
