# The body of tests/e2e/real-NAME.t: one real program, built with lizard-cc at -O0 -g and -O2 -g, recorded
# and verified, each time with the output and the exit status of the native build. Five times with LIZARD_LONG.
. "$LIZARD_SRC/tests/lib/real.sh"

# Options of lizard-trace and lizard verify, if the test sets them.
trace_options=${trace_options:-} verify_options=${verify_options:-}
repeats=1
[ -z "$LIZARD_LONG" ] || repeats=5

# run COMMAND OUT: output and exit status of a command into files.
real_run() {
	status=0
	(cd "$T" && eval "$1") >"$2.out" 2>"$2.err" || status=$?
	echo "$status" >"$2.status"
}

# Compares with the native run.
real_same() {
	cmp -s "$T/native.out" "$1.out" && cmp -s "$T/native.status" "$1.status"
}

real_record_and_verify() { # NAME COMMAND LABEL DIR
	real_run "lizard-trace -q $trace_options -o '$4' -- $2" "$T/recorded"
	real_same "$T/recorded"
	ok $? "$3: recorded, output and exit status are native's" || {
		diag "exit status $(cat "$T/recorded.status")"
		diag "$(tail -n 5 "$T/recorded.err")"
	}
	timeout 300 lizard verify $verify_options "$4" >"$T/verify.log" 2>&1
	ok $? "$3: verify is clean" || {
		diag "$(grep -v ': clean:' "$T/verify.log" | tail -n 10)"
		diag "replay it with: $LIZARD_BIN/lizard-gdb $4"
		return
	}
	rm -rf "$4"
}

real_test() {
	name=$1
	native=$(real_build "$name" gcc "-O2 -g" "$T/native-build") || { ok 1 "native build"; done_testing; }
	real_input "$name" "$T/input"
	real_run "$(real_command "$name" "$native" "$T/input")" "$T/native"
	for level in -O0 -O2; do
		program=$(real_build "$name" lizard-cc "$level -g" "$T/build$level")
		ok $? "$level: builds with lizard-cc" || continue
		command=$(real_command "$name" "$program" "$T/input")
		real_run "$command" "$T/untraced"
		real_same "$T/untraced"
		ok $? "$level: untraced, output and exit status are native's"
		for i in $(seq $repeats); do
			real_record_and_verify "$name" "$command" "$level, run $i" "$T/recordings/$name$level-$i"
		done
	done
	done_testing
}
