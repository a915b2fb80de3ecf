#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every construct, recorded: output and exit status as with plain gcc, and verify is clean. At -O0 and -O2,
# at all levels with LIZARD_LONG.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/constructs.sh"

usual="-O0 -O2"
[ -z "$LIZARD_LONG" ] || usual="-O0 -Og -O1 -O2 -O3 -Os"

check_recording() { # NAME PROGRAM LABEL
	rec=$T/recordings/$1
	rm -rf "$rec"
	timeout -k 5 120 lizard-trace -q -o "$rec" "$2" >"$T/out" 2>"$T/err" </dev/null
	echo "status $?" >>"$T/out"
	cmp -s "$T/wanted" "$T/out"
	ok $? "$3: recorded as native" || {
		diag "$(diff "$T/wanted" "$T/out" | head -n 5)"
		diag "$(head -n 5 "$T/err")"
	}
	timeout 120 lizard verify "$rec" >"$T/verify" 2>&1
	ok $? "$3: verify is clean" || {
		diag "$(tail -n 5 "$T/verify")"
		mv "$rec" "$rec$level" && diag "replay it with: $LIZARD_BIN/lizard-gdb $rec$level"
	}
}

for file in "$constructs"/*.c "$constructs"/*.cc; do
	about "$file"
	for level in $usual; do
		case " ${levels:-$usual} " in *" $level "*) ;; *) continue ;; esac
		# shellcheck disable=SC2086
		(cd "$constructs" && $plain -w "$level" -g "$name" $build -o "$T/plain" &&
			$ours -w "$level" -g "$name" $build -o "$T/program") >"$T/log" 2>&1
		ok $? "$name $level: builds" || { diag "$(tail -n 5 "$T/log")"; continue; }
		timeout 60 "$T/plain" >"$T/wanted" 2>/dev/null </dev/null
		echo "status $?" >>"$T/wanted"
		check_recording "$name" "$T/program" "$name $level"
	done
done
done_testing
