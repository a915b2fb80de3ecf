#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording that could not be finished: it says so and what was flushed can be replayed.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/busy.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned state = 1;
static unsigned step(unsigned x)
{
	return x & 1 ? x * 3 + 1 : x / 2;
}
int main(int argc, char **argv)
{
	char buf[512];
	FILE *random = fopen("/dev/urandom", "r");
	for (long i = 0; i < atol(argv[1]); i++) {
		for (int k = 0; k < 20000; k++)
			state = step(state) + (unsigned)k;
		if (random && fread(buf, 1, sizeof buf, random) == sizeof buf)
			state += (unsigned char)buf[i % 512];
	}
	printf("%u\n", state);
	return argc > 2 ? 0 : 3;
}
END
lizard-cc -g -O1 -o "$T/busy" "$T/busy.c" 2>"$T/cc.log"
ok $? "builds" || { diag "$(cat "$T/cc.log")"; done_testing; }

# consistent DIR NAME: readable, not empty, and replays.
consistent() {
	local events
	events=$(lizard dump --events "$1" 2>/dev/null | wc -l)
	[ "$events" -gt 50 ]
	ok $? "$2: events are there ($events)"
	lizard dump --markers --limit 10 "$1" 2>/dev/null | grep -q 'enter  main'
	ok $? "$2: markers are there"
	timeout 120 lizard verify "$1" >"$T/verify" 2>&1
	like "$(cat "$T/verify")" "clean" "$2: what is there replays" || replay_hint "$1"
}

# The tracer is killed in the middle.
lizard-trace -q --checkpoint-interval 50 -o "$T/killed" "$T/busy" 1000000 >/dev/null 2>&1 &
tracer=$!
has_checkpoints() {
	[ "$(lizard dump --checkpoints "$T/killed" | wc -l)" -ge 4 ]
}
wait_until has_checkpoints
like "$(lizard info "$T/killed" 2>&1)" "still at work" "info says that it is being written"
lizard rm "$T/killed" 2>"$T/err"
is "$?" 1 "a recording that is being written is not removed"
kill -KILL $tracer
wait $tracer 2>/dev/null
like "$(lizard info "$T/killed" 2>&1)" "^damage +incomplete: lizard-trace was killed" "info says that it was not finished"
consistent "$T/killed" "tracer killed"
reads=$(grep -n 'fread(' "$T/busy.c" | cut -d: -f1)
for front_end in --stock ""; do
	out=$(timeout 120 lizard-gdb $front_end -nx -batch -e -ex "jump_backward busy.c:$reads" -ex frame "$T/killed" 2>&1)
	like "$out" "^#0 .* main \(.*busy.c:$reads" "${front_end:-the default} GDB goes back in it by its markers" || diag "$out"
	is "$(echo "$out" | grep -c 'not built with lizard-cc')" 0 "... and knows that it has some"
done
is_gone() {
	! pgrep -f "$T/busy 1000000"
}
wait_until is_gone
ok $? "the program does not outlive its tracer"

# The disk is full: here, no file may grow beyond 32 MiB, which takes several checkpoints' time.
cp "$T/busy" "$T/full-busy"
(
	ulimit -f 32768
	timeout -k 5 120 lizard-trace -q --flow=full --checkpoint-interval 50 -o "$T/full" "$T/full-busy" 20000 x >"$T/out" 2>"$T/err"
)
status=$?
[ -s "$T/err" ]
ok $? "disk full: lizard-trace says so (status $status)" || diag "$(cat "$T/out")"
like "$(lizard info "$T/full" 2>&1)" "^cut short +incomplete: recording ended early: .*File too large; the program went on, exit status 0" "disk full: info says so"
consistent "$T/full" "disk full"

# It is full before main: there are no markers yet, but the program was built for them.
echo 'int main(void) { return 0; }' >"$T/early.c"
lizard-cc -g "$T/early.c" -o "$T/early" && gcc -g "$T/early.c" -o "$T/early-gcc"
for how in early early-gcc; do
	(
		ulimit -f 1000 # the C library is larger, and no other recording has a copy
		export LIZARD_TRACE_DIR=$T/first-$how
		lizard-trace -o "$T/$how.rec" "$T/$how" >"$T/out" 2>"$T/err"
	)
	is "$(tail -n 1 "$T/err")" "lizard: next: lizard-gdb $T/$how.rec" "full before main: what to type next ($how)"
	out=$(timeout 60 lizard-gdb -nx -batch -ex bs "$T/$how.rec" 2>&1)
	is "$(echo "$out" | grep -c 'is not whole') $(echo "$out" | grep -c 'not built with lizard-cc')" \
		"1 $([ $how = early ] && echo 0 || echo 2)" "... and whether it was built with lizard-cc" || diag "$out"
done

# The program dies by SIGKILL: that is an end like any other.
lizard-trace -q -o "$T/dead" sh -c 'kill -KILL $$' 2>"$T/err"
is "$?" 137 "program killed: the status is passed on"
like "$(lizard info "$T/dead")" "^ended +signal 9 \(KILL\)" "program killed: info says so"
timeout 60 lizard verify "$T/dead" >"$T/verify" 2>&1
ok $? "program killed: verifies" || diag "$(cat "$T/verify")"
done_testing
