#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# last, info access and flowback on real programs: random positions and variables, of a fixed seed, against forward watchpoints.
# A few on bc here; with LIZARD_LONG 500 pairs and 200 chains on each of four programs. PAIRS_PROGRAMS, PAIRS_LEVELS,
# PAIRS_LAST, PAIRS_FLOWBACK and PAIRS_SEED do a part.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

last=12 flowback=8 programs=bc levels=-O0 seconds=300
if [ -n "$LIZARD_LONG" ]; then
	last=500 flowback=200 programs="bzip2 bc lua redis" levels="-O0 -O2" seconds=14400
fi
export PAIRS_LAST="${PAIRS_LAST:-$last}" PAIRS_FLOWBACK="${PAIRS_FLOWBACK:-$flowback}"

# Little work: a proof runs forward over all that lies between an answer and the position.
input() {
	real_input "$1" "$T/input-$1"
	case $1 in
	bzip2) real_text 2000 >"$T/input-$1/text" ;;
	bc)
		cat >"$T/input-$1/pi.bc" <<-END
			scale = 30
			define f(n) { if (n < 2) return (n); return (f(n - 1) + f(n - 2)) }
			4 * a(1)
			e(1)
			f(9)
			for (i = 1; i < 40; i++) s += sqrt(i) / (i + 1)
			s
		END
		;;
	lua)
		cat >"$T/input-$1/work.lua" <<-END
			local t, x = {}, 42
			for i = 1, 1200 do
				x = (x * 1103515245 + 12345) % 2147483648
				t[i] = string.format("%08x", x)
			end
			table.sort(t)
			local words = {}
			for i = 1, #t do
				local w = t[i]:sub(1, 3)
				words[w] = (words[w] or 0) + 1
			end
			local s = {}
			for w, c in pairs(words) do s[#s + 1] = w:reverse():upper() .. c end
			print(#table.concat(s, ","))
		END
		;;
	esac
}

# A server under some load.
record_redis() { # PROGRAM RECORDING
	tools=$(dirname "$1")
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	lizard-trace -q -o "$2" -- "$1" --port "$port" --bind 127.0.0.1 --dir "$T" --save '' >"$T/out" 2>"$T/err" &
	pid=$!
	wait_until "$tools/redis-cli" -p "$port" ping
	timeout 300 "$tools/redis-benchmark" -p "$port" -n 100 -c 4 -q -t set,get,incr,lpush,lpop,sadd,hset,spop,zadd,mset >"$T/load" 2>&1
	"$tools/redis-cli" -p "$port" shutdown nosave >"$T/shutdown" 2>&1
	wait "$pid"
}

record_program() { # NAME PROGRAM RECORDING
	case $1 in
	redis) record_redis "$2" "$3" ;;
	*) (cd "$T" && eval "timeout -k 5 300 lizard-trace -q -o '$3' -- $(real_command "$1" "$2" "$T/input-$1")") >/dev/null 2>"$T/err" ;;
	esac
}

pairs() { # LABEL RECORDING
	PAIRS_OUT=$T/$1.pairs timeout $seconds "$LIZARD_BIN/lizard-gdb" -nx -batch \
		-x "$LIZARD_SRC/tests/lib/access_pairs.py" "$2" >"$T/$1.log" 2>&1
	grep -q '^done$' "$T/$1.pairs"
	ok $? "$1: all pairs" || diag "$(tail -n 5 "$T/$1.log")"
	while read -r verdict text; do
		case $verdict in
		ok) ok 0 "$1: $text" ;;
		not) ok 1 "$1: ${text#ok }" ;;
		done) ;;
		*) diag "$text" ;;
		esac
	done <"$T/$1.pairs"
}

for name in ${PAIRS_PROGRAMS:-$programs}; do
	[ "$name" = redis ] || input "$name"
	for level in ${PAIRS_LEVELS:-$levels}; do
		program=$(real_build "$name" lizard-cc "$level -g" "$T/build-$name$level") || { ok 1 "$name $level: builds"; continue; }
		record_program "$name" "$program" "$T/recordings/$name$level"
		ok $? "$name $level: recorded" || { diag "$(cat "$T/err")"; continue; }
		pairs "$name$level" "$T/recordings/$name$level"
	done
done
done_testing
