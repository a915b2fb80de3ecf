#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What continuous integration needs of lizard-trace: a summary for programs, packs of what is kept.
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
cd /
done_testing
