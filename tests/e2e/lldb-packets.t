#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The packets that LLDB sends, without one: what is kept, and what is refused.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour

cat >"$T/ask.py" <<'END'
import json
import subprocess
import sys

server = subprocess.Popen(["lizard", "serve", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
number = 0


def ask(body):
    body = body.encode()
    server.stdin.write(b"$" + body + b"#%02x" % (sum(body) & 255))
    server.stdin.flush()
    while True:
        c = server.stdout.read(1)
        if c == b"":
            return "(gone)"
        if c != b"$":
            continue
        got = b""
        while (c := server.stdout.read(1)) != b"#":
            got += bytes([server.stdout.read(1)[0] ^ 0x20]) if c == b"}" else c
        server.stdout.read(2)
        if not got.startswith(b"O") or got == b"OK":
            return got.decode("latin-1")


def check(good, name, got):
    global number
    number += 1
    print("%s %d - %s" % ("ok" if good else "not ok", number, name))
    if not good:
        print("# got: %r" % (got,))


def same(got, wanted, name):
    check(got == wanted, name, got)


def refused(body, name=None):
    got = ask(body)
    check(got.startswith("E01"), "refused: " + (name or body), got)


def fields(text):
    return dict(f.partition(":")[::2] for f in text.split(";") if f)


def text(hexed):
    return bytes.fromhex(hexed).decode()


ask("QStartNoAckMode")
ask("qSupported:multiprocess+")
first = ask("?")
check("reason" not in first and "threads:" not in first, "GDB is told nothing that it does not ask for", first)
for body in "QThreadSuffixSupported", "QListThreadsInStopReply", "QEnableErrorStrings":
    same(ask(body), "OK", body)
host = fields(ask("qHostInfo"))
same(text(host["triple"]), "x86_64-pc-linux-gnu", "the machine")
process = fields(ask("qProcessInfo"))
program = fields(ask("qProcessInfoPID:%d" % int(process["pid"], 16)))
same(text(program["name"]), sys.argv[2], "the program")
refused("qProcessInfoPID:4294967295")
same(ask("qEcho:7"), "qEcho:7", "an echo")

# the debugger's own memory
area = ask("_M1000,rwx")
check(int(area, 16) % 4096 == 0, "memory is allocated", area)
other = ask("_M1001,rw")
check(abs(int(other, 16) - int(area, 16)) > 4096, "and more, apart from it", other)
same(ask("M%s,4:01020304" % area), "OK", "it is written")
same(ask("m%s,5" % area), "0102030400", "and read")
same(ask("x%s,3" % area), "b\x01\x02\x03", "as bytes, too")
region = fields(ask("qMemoryRegionInfo:" + area))
same((region["start"], region["size"], region["permissions"]), (area, "1000", "rwx"), "it is a region")
pid = process["pid"]
stack = fields(ask("?"))["07"]
sp = int.from_bytes(bytes.fromhex(stack), "little")
same(ask("M%x,8:1122334455667788" % (sp - 256)), "OK", "the program's memory is written: a copy begins")
same(ask("m%s,4" % area), "01020304", "which has that memory")
same(ask("M%s,2:0909" % area), "OK", "it is written there")
third = ask("_M2000,rw")
same(ask("M%s,2:0505" % third), "OK", "more is had in the copy")
stop = ask("vCont;s:p%s.%s" % (pid, pid))
check(stop.startswith("T05") and "thread-pcs:" in stop, "a step ends the copy", stop)
check(ask("m%x,8" % (sp - 256)) != "1122334455667788", "the program's memory is the recorded one again", "")
same(ask("m%s,4" % area), "09090304", "that memory keeps what the copy stored")
same(ask("m%s,2" % third), "0505", "and so does the part that the copy was given")
same(ask("_m" + other), "OK", "it is given back")
refused("m%s,1" % other, "a read of it then")
refused("_m" + other, "giving it back twice")
refused("_m%x" % (int(area, 16) + 8), "giving a part of it back")
for body in "_M", "_M1000", "_M0,r", "_M1000,q", "_Mffffffffffffffff,rw", "_M7fffffffffffffff,rw", "_M10000001,rw", "_m", "_mzz":
    refused(body)
big = ask("_Mc000000,rw")
check(int(big, 16) > int(third, 16), "192 MiB can be had", big)
refused("_M8000000,rw", "128 MiB more")
refused("M%x,4:01020304" % (int(area, 16) + 0xffe), "a write across its end")

# registers of a thread
rip = ask("p10;thread:%s;" % pid)
same(rip, fields(stop)["10"], "a register of a thread that is named")
refused("p10;thread:7777777;")
kept = ask("QSaveRegisterState;thread:%s;" % pid)
same(ask("P0=efbeadde00000000;thread:%s;" % pid), "OK", "a register is set")
same(ask("p0;thread:%s;" % pid), "efbeadde00000000", "in the copy")
same(ask("QRestoreRegisterState:%s;thread:%s;" % (kept, pid)), "OK", "registers are put back")
check(ask("p0;thread:%s;" % pid) != "efbeadde00000000", "and are what they were", "")
refused("QRestoreRegisterState:%s" % kept, "putting back twice")
refused("QRestoreRegisterState:")
refused("QSaveRegisterState;thread:7777777;")

# threads
threads = json.loads(ask("jThreadsInfo"))
same([t["tid"] for t in threads], [int(pid, 16)], "all threads")
same(threads[0]["registers"]["16"], rip, "and where they stand")
check(ask("qThreadStopInfo%s" % pid).startswith("T05"), "why one stopped", "")
refused("qThreadStopInfo7777777")
refused("qThreadStopInfo")
for body in "qMemoryRegionInfo:", "qMemoryRegionInfo:zz", "x", "x10", "xzz,zz":
    refused(body)
end = fields(ask("qMemoryRegionInfo:ffffffffffffffff"))
check("permissions" not in end, "the end of all addresses is no region", end)

# backwards
here = fields(ask("qMemoryRegionInfo:" + "%x" % int.from_bytes(bytes.fromhex(rip), "little")))
check(text(here.get("name", "")).startswith("/"), "code has a file", here)
same(ask("qRcmd," + b"backward".hex()), "OK", "the next resume goes backwards")
stop = ask("vCont;c")
check("reason:exception" in stop and "replaylog" not in stop, "to the beginning", stop)
same(fields(stop)["10"], fields(first)["10"], "which is where it began")
check("reason:exception" in ask("vCont;c"), "the one after that forwards, to the end", "")
server.stdin.close()
server.wait()
print("1..%d" % number)
END
python3 "$T/ask.py" "$T/tour" "$T/tour" >"$T/checks"
cat "$T/checks"
! grep -q '^not ok' "$T/checks" && grep -q '^1\.\.' "$T/checks" && rm -rf "$T"
