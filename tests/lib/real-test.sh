# SPDX-License-Identifier: GPL-3.0-or-later
# The body of tests/e2e/real-NAME.t: one real program, built with lizard-cc at -O0 -g and -O2 -g, recorded
# and verified, each time with the output and the exit status of the native build. Five times with LIZARD_LONG.
#
#   real_test NAME          all of it, and the end of the test
#   real_levels NAME        all of it
#
# What a test may set before: trace_options, verify_options; levels, native_flags; walked=always|long|never, and for walks
# WALK_PLACES and WALK_WATCH (tests/lib/walk.py); two_ways: the levels that need WALK_TWO_WAYS.
. "$LIZARD_SRC/tests/lib/real.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

trace_options=${trace_options:-} verify_options=${verify_options:-}
levels=${levels:--O0 -O2} native_flags=${native_flags:--O2 -g} walked=${walked:-never}
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

real_record() { # COMMAND LABEL DIR
	real_run "lizard-trace -q $trace_options -o '$3' -- $1" "$T/recorded"
	real_same "$T/recorded"
	ok $? "$2: recorded, output and exit status are native's" || {
		diag "exit status $(cat "$T/recorded.status")"
		diag "$(tail -n 5 "$T/recorded.err")"
	}
}

real_verify() { # LABEL DIR
	timeout 1800 lizard verify $verify_options "$2" >"$T/verify.log" 2>&1
	ok $? "$1: verify is clean" || {
		diag "$(grep -v ': clean:' "$T/verify.log" | tail -n 10)"
		diag "replay it with: $LIZARD_BIN/lizard-gdb $2"
		return 1
	}
}

# Walks on a recording: a few positions on the default front end, or 50 on each one. They take hours: REAL_POSITIONS=N and
# REAL_FRONT_ENDS=patched or stock do a part.
real_walk() { # LABEL DIR [LIZARD-GDB OPTIONS]
	walk_label=$1 walk_dir=$2
	shift 2
	case $walked$LIZARD_LONG in
	never* | long) return ;;
	esac
	WALK_TWO_WAYS=
	case " ${two_ways:-} " in *" $level "*) WALK_TWO_WAYS=1 ;; esac
	WALK_POSITIONS=2 WALK_N=10 WALK_MODES="step next jump${WALK_WATCH:+ watch}"
	export WALK_POSITIONS WALK_N WALK_MODES WALK_PLACES WALK_WATCH WALK_TWO_WAYS
	if [ -z "$LIZARD_LONG" ]; then
		walk "$walk_label" "$@" "$walk_dir"
		return
	fi
	for walk_front in ${REAL_FRONT_ENDS:-patched stock}; do
		walk_long $walk_front
		WALK_POSITIONS=${REAL_POSITIONS:-50}
		if [ $walk_front = patched ] && [ ! -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ]; then
			skip "$walk_label on the patched GDB" "it is not built"
		else
			walk "$walk_label-$walk_front" --$walk_front "$@" "$walk_dir"
		fi
	done
}

real_levels() {
	name=$1
	native=$(real_build "$name" gcc "$native_flags" "$T/native-build") || { ok 1 "native build"; return; }
	real_input "$name" "$T/input"
	real_run "$(real_command "$name" "$native" "$T/input")" "$T/native"
	for level in $levels; do
		program=$(real_build "$name" lizard-cc "$level -g" "$T/build$level")
		ok $? "$level: builds with lizard-cc" || continue
		command=$(real_command "$name" "$program" "$T/input")
		real_run "$command" "$T/untraced"
		real_same "$T/untraced"
		ok $? "$level: untraced, output and exit status are native's"
		for i in $(seq $repeats); do
			rec=$T/recordings/$name$level-$i failed=$tap_failed
			real_record "$command" "$level, run $i" "$rec"
			real_verify "$level, run $i" "$rec" || continue
			[ "$i" != 1 ] || real_walk "$name$level" "$rec"
			[ "$tap_failed" != "$failed" ] || rm -rf "$rec"
		done
	done
}

real_test() {
	real_levels "$1"
	done_testing
}
