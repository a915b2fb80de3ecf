#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `lizard serve -s PORT` is for whoever has started it: other users of the machine get nothing.
. "$(dirname "$0")/../lib/tap.sh"

printf 'int main(void) { return 0; }\n' >"$T/prog.c"
lizard-cc -g -o "$T/prog" "$T/prog.c" && lizard-trace -q -o "$T/rec" "$T/prog"
ok $? "a program is recorded" || done_testing

cat >"$T/ask.py" <<'END'
import os
import socket
import sys

family = socket.AF_INET6 if sys.argv[3] == "6" else socket.AF_INET
if sys.argv[2] != "0":
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
s = socket.socket(family)
s.settimeout(20)
s.connect(("::ffff:127.0.0.1" if family == socket.AF_INET6 else "127.0.0.1", int(sys.argv[1])))
got, more = b"", b"+"
try:
    s.sendall(b"$qC#b4")
    while more and b"#" not in got:
        more = s.recv(100)
        got += more
    s.sendall(b"$D#44")
except OSError:
    pass
print(got)
END
lizard serve -s 0 "$T/rec" 2>"$T/err" &
server=$!
wait_until grep -q listening "$T/err"
port=$(sed -n 's/.*127.0.0.1:\([0-9]*\);.*/\1/p' "$T/err")
for family in 4 6; do
	like "$(python3 "$T/ask.py" "$port" 0 $family)" '[$]QC' "IPv$family: the user himself is answered"
	if [ "$(id -u)" = 0 ]; then
		is "$(python3 "$T/ask.py" "$port" 65534 $family)" "b''" "IPv$family: another user is not"
	else
		skip "IPv$family: another user is not" "only root can become another user"
	fi
done
like "$(python3 "$T/ask.py" "$port" 0 4)" '[$]QC' "and then the user again"
is "$(cat /proc/$server/oom_score_adj)" 800 "when memory runs out, the server goes before others"
replayed=$(pgrep -P $server | head -n 1)
is "$(cat "/proc/${replayed:-none}/oom_score_adj")" 1000 "the process that it replays goes before it"
kill $server
wait $server 2>/dev/null
done_testing
