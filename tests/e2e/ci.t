#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What continuous integration needs: lizard-trace's summary for programs, packs of what is kept, and
# lizard hunt.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/json.sh"

lizard-cc -g -O0 -pthread -o "$T/fails" "$LIZARD_SRC/tests/progs/report/fails.c" 2>"$T/err"
ok $? "builds" || { diag "$(cat "$T/err")"; done_testing; }
cd "$T" || exit 1
summary() { # EXPRESSION OPTIONS...
	expression=$1
	shift
	lizard-trace -q --summary summary "$@" >out 2>err
	echo "$? $(json "$expression" <summary)"
}
how='join " ", map { $_ // "null" } @$o{qw(exit_status signal recording pack seed error)}, $o->{complete} ? "complete" : "cut"'

is "$(summary "$how" ./fails exit 3)" "3 3 null $LIZARD_TRACE_DIR/fails-1 null null null complete" "--summary: an exit status"
is "$(json 'join " ", @{$o->{command}}, $o->{bytes} > 10000, $o->{events} > 20, $o->{marker_bytes} > 0, $o->{checkpoints}, $o->{duration_ns} > 0' <summary)" \
	"./fails exit 3 1 1 1 1 1" "... the command and sizes"
is "$(summary "$how" --keep=failure ./fails exit 0)" "0 0 null null null null null complete" "--summary: nothing was kept"
is "$(summary "$how" --chaos=7 --pack packs ./fails $'\377')" "139 null 11 $LIZARD_TRACE_DIR/fails-2 packs/fails-2.lizard 7 null complete" "--summary: a signal, the seed, a pack"
is "$(json '$o->{command}[1]' <summary)" '\xff' "... an argument that is no UTF-8"
is "$(summary 'join " ", map { "$_->{signal} $_->{state} " . @{$_->{command}} } @{$o->{children}}' --follow all ./fails child)" "0 11 signal 11 (SEGV) 2" "--summary: children"
is "$(summary '$o->{children_not_recorded}' ./fails child)" "0 1" "... and one that was not recorded"
is "$(summary "$how" ./nonexistent)" "127 null null null null null cannot run ./nonexistent: No such file or directory cut" "--summary: what cannot be run"
lizard-trace -q --summary "$T/none/summary" ./fails exit 0 2>err
is "$? $(grep -c "cannot create $T/none/summary" err)" "125 1" "a summary that cannot be written: the program is not run"

rm -r packs
lizard-trace -q --keep=failure --pack packs/new ./fails exit 0
[ ! -e packs ]
ok $? "--pack: nothing is kept, nothing packed"
mkdir here && lizard-trace --keep=failure --pack packs/new -o here/fails ./fails exit 1 >out 2>err
is "$? $(ls packs/new) $(grep -c '^lizard: packed packs/new/fails.lizard$' err)" "1 fails.lizard 1" "--pack: a failure"
rm -r here/fails && lizard-trace -q --keep=failure --pack packs/new -o here/fails ./fails exit 1
is "$? $(echo packs/new/*)" "1 packs/new/fails.2.lizard packs/new/fails.lizard" "... of the same name"
is "$(lizard info --json packs/new/fails.2.lizard | json '$o->{exit_status}')" 1 "... and each can be opened"
: >file && lizard-trace -q --pack file/below ./fails exit 1 2>err
is "$? $(grep -c 'the recording is not packed' err)" "1 1" "--pack: where nothing can be written the recording stays"

# ---- hunting ----
gcc -g -o flaky "$LIZARD_SRC/tests/progs/report/flaky.c"
ok $? "a program that fails at times builds"
hunt() { # ARGS...: of a program that has not run yet
	rm -rf count "$LIZARD_TRACE_DIR"
	timeout 120 lizard hunt "$@" >out 2>err </dev/zero
}
hunt ./flaky count 3 abort
is "$? $(cat count) $(ls "$LIZARD_TRACE_DIR")" "0 4 $(printf 'flaky-1\nflaky-latest')" "hunt: the run that fails is kept, the others are removed"
is "$(cat out err)" "lizard: run 4 failed: killed by SIGABRT; recorded $LIZARD_TRACE_DIR/flaky-1
lizard: next: lizard-gdb -e flaky-1" "... and it says so, not what the program says"
is "$(lizard info --json flaky-1 | json '$o->{signal}')" 6 "... it is the right one"
hunt -n 3 --json ./flaky count 3 abort
is "$? $(cat count) $(ls "$LIZARD_TRACE_DIR") $(json '"$o->{runs} " . ($o->{failed} ? "failed" : "fine") . defined $o->{run}' <out)" "1 3  3 fine" "-n: none of so many fails"
is "$(cat err)" "lizard: none of 3 runs failed" "... which it says"
gcc -g -pthread -o threaded "$LIZARD_SRC/tests/progs/report/threaded.c"
ok $? "a program with threads builds"
hunt -n 1 ./threaded
is "$(cat err)" "lizard: none of 1 runs failed; with --chaos its threads take turns by chance" "... what may help with threads"
hunt -n 1 --chaos ./threaded
is "$(cat err)" "lizard: none of 1 runs failed; more runs (-n) try more ways in which the threads take turns" "... with --chaos"
hunt -q --json --chaos=5 --pack packs/hunt -o here/hunted -- ./flaky count 2 7
is "$? $(cat err) $(json 'join " ", @{$o->{run}}{qw(exit_status seed recording pack)}, $o->{runs}' <out)" \
	"0  7 7 here/hunted packs/hunt/hunted.lizard 3" "--chaos=SEED, --json, -o, --pack"
hunt -n 2 --keep signal ./flaky count 0 7
is "$?" 1 "--keep signal: another exit status is no failure"
hunt -n 1 --echo ./flaky count 5 7
is "$? $(cat out) $(sort err)" "1  $(printf 'err\nlizard: none of 1 runs failed\nout')" "--echo: what the program writes"
hunt ./nonexistent
is "$? $(cat err)" "125 lizard: cannot run ./nonexistent: No such file or directory" "what cannot be recorded ends the hunt"
hunt ./flaky count 1 wait &
wait_until grep -q 2 count
pid=$(pgrep -P $! -x lizard || pgrep -P "$(pgrep -P $! -x timeout)" -x lizard)
kill -TERM "$pid"
wait $!
is "$? $(grep -c 'ended by a signal; 1 runs did not fail' err) $(ls "$LIZARD_TRACE_DIR")" "143 1 " "a signal ends the hunt, and its run is not kept"
rm -f count
script -qec "lizard hunt -n 2 ./flaky count 9 1" /dev/null </dev/null >out
is "$? $(grep -c 'hunting: run 1 of 2 .*hunting: run 2 of 2 ' out)" "1 1" "on a terminal it says how far it is"

# ---- the same by lizard-trace ----
runs() { # ARGS...: of a program that has not run yet
	rm -rf count "$LIZARD_TRACE_DIR"
	timeout 120 lizard-trace "$@" >out 2>said <"${input:-/dev/null}"
	status=$?
	grep -v '^err$' said >err # the program's
	return $status
}
runs --chaos=5 --chaos-runs 9 --summary facts ./flaky count 3 abort
is "$? $(cat count) $(ls "$LIZARD_TRACE_DIR")" "134 4 $(printf 'flaky-1\nflaky-latest')" "--chaos-runs: the run that fails is kept, the others are removed"
is "$(sed -n '1p;s/.*come again with //p;$p' err)" "$(printf 'lizard: run 4 of 9 failed\n--chaos=8\nlizard: next: lizard-gdb -e flaky-1')" "... by the fourth seed, and it says so"
is "$(cat out)" "$(printf 'out\nout\nout')" "... what the program writes is shown (abort loses the last one)"
is "$(json '"$o->{signal} $o->{seed} " . join " ", sort keys %{$o->{turns}}' <facts)" \
	"6 8 at_marker_or_call behind_function_call behind_lock instructions_behind" "--summary is that of the last run, and says how turns ended"
runs --chaos-runs 3 --summary facts ./flaky count 3 abort
is "$? $(cat count) $(ls "$LIZARD_TRACE_DIR") $(cat err)" "0 3  lizard: none of 3 runs failed" "... none of so many fails"
is "$(json '"$o->{exit_status} " . ($o->{seed} > 0) . defined $o->{recording}' <facts)" "0 1" "... --chaos is implied, nothing is kept"
runs -q --chaos-runs 2 --keep signal ./flaky count 0 7
is "$? $(cat count err)" "0 2" "... --keep signal: another exit status is no failure"
echo line >in
input=in runs --chaos-runs 2 cat
is "$? $(cat out)" "0 $(printf 'line\nline')" "... each run reads the whole input"
runs --chaos-runs 2 ./nonexistent
is "$? $(cat err)" "127 lizard-trace: cannot run ./nonexistent: No such file or directory" "... what cannot be run ends them"
for bad in "--chaos-runs 0" "--chaos-runs 2 --keep always" "--chaos=18446744073709551615 --chaos-runs 2"; do
	# shellcheck disable=SC2086
	lizard-trace $bad true >out 2>err
	is "$? $(grep -c chaos-runs err)" "125 1" "usage: lizard-trace $bad"
done

for bad in "" "-n 0 true" "-n x true" "--chaos=x true" "--keep maybe true" "--frob true"; do
	# shellcheck disable=SC2086
	lizard hunt $bad >out 2>err
	is "$? $(wc -c <out)" "2 0" "usage: lizard hunt $bad"
done
cd /
done_testing
