#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A server with threads, under load from redis-benchmark: 10,000 commands over loopback.
. "$(dirname "$0")/../lib/tap.sh"
[ -n "$LIZARD_LONG" ] || skip_all "takes minutes to build: with LIZARD_LONG"
walked=long two_ways="-O0 -O2" # its Lua is compiled without -g: docs/design/exceptions.md
WALK_PLACES="processCommand dictFind addReply zslInsert" WALK_WATCH="server.stat_numcommands; server.cronloops; server.stat_total_reads_processed"
. "$LIZARD_SRC/tests/lib/real-test.sh"

answers() { "$tools/redis-cli" -p "$port" ping; }

for level in -O0 -O2; do
	server=$(real_build redis lizard-cc "$level -g" "$T/build$level")
	ok $? "$level: builds with lizard-cc" || continue
	tools=$(dirname "$server")
	for i in 1 2 3 4 5; do
		rec=$T/recordings/redis$level-$i failed=$tap_failed
		port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
		lizard-trace -q -o "$rec" -- "$server" --port "$port" --bind 127.0.0.1 --dir "$T" --save '' >"$T/out" 2>"$T/err" &
		pid=$!
		wait_until answers
		timeout 300 "$tools/redis-benchmark" -p "$port" -n 1000 -c 10 -q -t set,get,incr,lpush,lpop,sadd,hset,spop,zadd,mset >"$T/load" 2>&1
		is "$? $(grep -o '[A-Z]*[^:]*: [0-9.]* requests per second' "$T/load" | wc -l)" "0 10" "$level, run $i: ten times 1,000 commands are answered" ||
			diag "$(tail -n 5 "$T/load")"
		"$tools/redis-cli" -p "$port" shutdown nosave >"$T/shutdown" 2>&1
		wait "$pid"
		is "$? $(cat "$T/err")" "0 " "$level, run $i: it ends as without Lizard"
		timeout 600 lizard verify "$rec" >"$T/verify" 2>&1
		ok $? "$level, run $i: verify is clean" || { diag "$(tail -n 5 "$T/verify")"; replay_hint "$rec"; continue; }
		[ "$i" != 1 ] || real_walk "redis$level" "$rec"
		[ "$tap_failed" != "$failed" ] || rm -rf "$rec"
	done
done
done_testing
