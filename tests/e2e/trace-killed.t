#!/bin/sh
# The recorder is killed at random instants of a fixed seed, 200 of them with LIZARD_LONG: the recording replays up to
# its end and says that it is cut, or says that there is nothing in it yet; the program is gone.
. "$(dirname "$0")/../lib/tap.sh"

n=12
[ -z "$LIZARD_LONG" ] || n=200

lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/work.c" -o "$T/work"
ok $? "builds" || done_testing

gone() {
	[ -z "$program" ] && return
	case $(ps -o stat= -p "$program") in '' | Z*) ;; *) return 1 ;; esac
}

replayed=0 empty=0
for delay in $(awk -v n=$n 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%.3f\n", 1.2 * rand() * rand() }'); do
	rec=$T/recordings/killed
	rm -rf "$rec"
	lizard-trace -q --checkpoint-interval 20 -o "$rec" "$T/work" 100 >"$T/out" 2>"$T/err" &
	tracer=$!
	sleep "$delay"
	program=$(ps -o pid= --ppid $tracer | tr -d ' ')
	kill -9 $tracer
	wait $tracer 2>/dev/null
	wait_until gone
	ok $? "after $delay s: the program is gone" || kill -9 "$program"
	timeout 300 lizard verify "$rec" >"$T/verify" 2>&1
	status=$?
	if [ $status = 0 ]; then
		replayed=$((replayed + 1))
		like "$(lizard info "$rec" 2>&1)" "incomplete|cut|ends early" "after $delay s: it replays, and says that it is cut" || keep=1
	else
		empty=$((empty + 1))
		like "$status $(cat "$T/verify")" "^1 .*(no recording|no checkpoint|cannot open)" "after $delay s: it says that there is nothing yet" || keep=1
	fi
	[ -z "$keep" ] || replay_hint "$rec"
done
ok "$([ $replayed -gt $((n / 2)) ]; echo $?)" "most of them replay ($replayed, $empty hold nothing yet)"
done_testing
