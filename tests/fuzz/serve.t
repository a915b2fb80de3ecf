#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The server against packets that no debugger sends: 30 seeds, each ends by itself, none crashes.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build tour || skip_all "no program"
record tour

cat >"$T/packets.py" <<'END'
import random
import sys

BASE = [
    b"?", b"g", b"G00", b"p10", b"pffffffff", b"P10=zz", b"P7=0000000000000000", b"m", b"m0,ffffffffffffffff",
    b"mffffffffffffffff,10", b"M0,2:zzzz", b"M7fffffffe000,1:00", b"X0,ffff:abc", b"Z0,zz", b"Z9,1,1",
    b"Z2,0,ffffffffffffffff", b"z2,0,ffffffffffffffff", b"Z4,7fffffffe001,3", b"Z0,555555555000,1", b"c", b"s",
    b"vCont;r", b"vCont;r1,", b"vCont;r0,ffffffffffffffff", b"vCont;s", b"vCont;C0b", b"vCont?", b"bs", b"bc",
    b"qXfer:auxv:read::0,ffffffffffffffff", b"qXfer:features:read:target.xml:ffffffff,10", b"qXfer:x",
    b"qXfer:threads:read::0,10", b"qXfer:siginfo:read::0,100", b"vFile:setfs:0", b"vFile:open:zz",
    b"vFile:open:2f70726f632f,0,0", b"vFile:pread:3,1,1", b"vFile:pread:ffffffffffffffff,1,1", b"vFile:close:7",
    b"vFile:readlink:2f", b"vFile:fstat:3", b"qRcmd,7365656b20" + b"39" * 300, b"qRcmd,7365656b20353025",
    b"qRcmd,6a756d7020666f7277617264207a7a", b"qRcmd,6261636b2d73746570", b"qRcmd,6261636b2d6e657874",
    b"qRcmd,6261636b2d7374657020" + b"39" * 30, b"QPassSignals:e;ffffffff;;", b"QCatchSyscalls:1;" + b"1;" * 3000,
    b"QCatchSyscalls:1", b"T", b"H", b"qC", b"vRun", b"QStartNoAckMode", b"qSupported:multiprocess+", b"",
]
LLDB = [
    b"QThreadSuffixSupported", b"QListThreadsInStopReply", b"QEnableErrorStrings", b"qHostInfo", b"qProcessInfo",
    b"qProcessInfoPID:1", b"qProcessInfoPID:zz", b"qShlibInfoAddr", b"qEcho:12", b"qGDBServerVersion",
    b"_M1000,rwx", b"_M", b"_M,", b"_M0,r", b"_Mffffffffffffffff,rw", b"_M10000001,rw", b"_M8000000,rw", b"_M1000,q",
    b"_m3e0000000000", b"_m3e0000000001", b"_m", b"_z", b"M3e0000000000,4:01020304", b"M3e0000000ffe,4:01020304",
    b"m3e0000000000,1000", b"m3e0000000ff0,ffffffffffff", b"x3e0000000000,10", b"x0,0", b"x7fffffffe000,ffffffffffffffff", b"x",
    b"Z0,3e0000000000,1", b"qMemoryRegionInfo:0", b"qMemoryRegionInfo:ffffffffffffffff", b"qMemoryRegionInfo:3e0000000000",
    b"qMemoryRegionInfo:zz", b"qMemoryRegionInfo:", b"jThreadsInfo", b"jThreadExtendedInfo:", b"qThreadStopInfo0",
    b"qThreadStopInfop1.1", b"qThreadStopInfoffffffffffffffff", b"QSaveRegisterState", b"QSaveRegisterState;thread:1;",
    b"QSaveRegisterState;thread:", b"QRestoreRegisterState:1", b"QRestoreRegisterState:0", b"QRestoreRegisterState:-1;thread:p-1.-1;",
    b"p10;thread:1;", b"P7=0000000000000000;thread:0;", b"g;thread:zz;", b"G00;thread:;", b"P10=0000003e00000000", b"vCont;c:p1.-1",
    b"qRcmd,6261636b77617264", b"qXfer:libraries-svr4:read::0,1ffff", b"qXfer:libraries-svr4:read::10,5",
    b"qXfer:libraries-svr4:read::ffffffffffffffff,ffffffffffffffff", b"vCont;c", b"vCont;s", b"z0,3e0000000000,1", b"?",
]


def frame(body):
    return b"$" + body + b"#" + (b"%02x" % (sum(body) & 255))


rng = random.Random(int(sys.argv[1]))
# of half of the seeds the debugger is LLDB
words = BASE + LLDB if rng.random() < 0.5 else BASE
if words is not BASE:
    sys.stdout.buffer.write(frame(b"QThreadSuffixSupported"))
for _ in range(150):
    body = bytearray(rng.choice(words))
    if rng.random() < 0.3 and body:
        body[rng.randrange(len(body))] = rng.randrange(256)
    body = bytes(b for b in body if b not in b"#$}")
    sys.stdout.buffer.write(frame(body))
    if rng.random() < 0.05:
        sys.stdout.buffer.write(rng.choice([b"\x03", b"-", b"+", b"$junk", b"#", b"}", b"$#"]))
END
bad=0
for seed in $(seq 1 30); do
	python3 "$T/packets.py" "$seed" >"$T/in"
	timeout 60 lizard serve "$T/tour" <"$T/in" >"$T/out" 2>"$T/err"
	status=$?
	if [ $status -gt 1 ] || grep -q 'Sanitizer\|runtime error' "$T/err"; then
		bad=$((bad + 1))
		diag "seed $seed: status $status: $(head -c 300 "$T/err")"
	fi
done
is $bad 0 "damaged packets"
bad=0
for seed in $(seq 1 5); do
	python3 -c "import random, sys; sys.stdout.buffer.write(random.Random($seed).randbytes(200000))" >"$T/in"
	timeout 60 lizard serve "$T/tour" <"$T/in" >"$T/out" 2>"$T/err"
	[ $? -le 1 ] || bad=$((bad + 1))
done
is $bad 0 "noise"
done_testing
