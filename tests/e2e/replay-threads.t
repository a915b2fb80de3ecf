#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings with threads in replay: whichever way leads to a position, all threads are the same; what is watched or
# broken at is found in whichever thread, forwards and backwards; switches that tell a lie are noticed.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

walk=$(tool replay-walk) && watch=$(tool replay-watch) && runback=$(tool replay-runback) && damage=$(tool replay-damage)
ok $? "the tools build" || { diag "$(cat "$T"/replay-*.log)"; done_testing; }
rounds=3 seeds=1 programs="queue:O0 queue:O2 cancel:O2 pi:O0 exec:O0 detached:O2 racy:plain racy:O2 spin:O2 kill:O2"
[ -z "$LIZARD_LONG" ] || {
	rounds=10 seeds="1 2"
	programs=$(for f in "$LIZARD_SRC"/tests/progs/threads/*.c; do
		name=$(basename "$f" .c)
		[ "$name" = ends ] || echo "$name:O0 $name:O2 $name:plain"
	done)
}

record() { # NAME HOW [OPTION...]: prints the recording
	local flags="-w -D_GNU_SOURCE -pthread -g" name=$1 how=$2
	shift 2
	case $how in
	plain) gcc $flags -O1 -o "$T/$name-$how" "$LIZARD_SRC/tests/progs/threads/$name.c" ;;
	*) lizard-cc $flags "-$how" -o "$T/$name-$how" "$LIZARD_SRC/tests/progs/threads/$name.c" ;;
	esac 2>"$T/cc.log" && timeout -k 5 60 lizard-trace -q "$@" -o "$T/recordings/$name-$how" "$T/$name-$how" >"$T/out" 2>&1 </dev/null
	timeout 120 lizard verify "$T/recordings/$name-$how" >"$T/verify" && echo "$T/recordings/$name-$how"
}

mkdir -p "$T/recordings"
for case in $programs; do
	name=${case%:*} how=${case#*:}
	rec=$(record "$name" "$how" --checkpoint-interval 2)
	ok $? "$name $how: recorded and clean" || { diag "$(tail -n 3 "$T/verify" "$T/cc.log")"; continue; }
	# What verify does not run again takes a walk minutes for each pass (docs/limits.md, "Debug").
	[ "$how" = plain ] && grep -q 'long spins' "$T/verify" && { skip "$name $how: a walk" "it spins long in code without markers"; continue; }
	for seed in $seeds; do
		timeout 300 "$walk" "$rec" "$seed" "$rounds" >"$T/log" 2>&1
		ok $? "$name $how: a walk with seed $seed" || { diag "$(tail -n 3 "$T/log")"; replay_hint "$rec"; }
	done
done

# Where a variable or a function is, in a recording made without address randomization.
address() { # PROGRAM NAME
	printf '0x%x' $((0x555555554000 + 0x$(nm "$1" | grep " $2\$" | cut -d' ' -f1)))
}

for case in racy:O2:counter queue:O2:in; do
	IFS=: read -r name how what <<<"$case"
	rec=$T/recordings/$name-$how
	timeout 300 "$watch" "$rec" "$(address "$T/$name-$how" "$what")" 4 >"$T/log" 2>&1
	like "$(cat "$T/log")" '^[1-9][0-9]* stops: the same' "$name $how: $what is watched" || replay_hint "$rec"
done
rec=$T/recordings/queue-O0 prog=$T/queue-O0
timeout 300 "$runback" "$rec" 1 10 0x555555554000 "$(address "$prog" put)" "$(address "$prog" get)" \
	"$(address "$prog" producer)" "$(address "$prog" consumer)" "$(address "$prog" main)" >"$T/log" 2>&1
like "$(cat "$T/log")" '^[1-9][0-9]* arrivals, 10 rounds: all found$' "queue O0: runs backwards" || replay_hint "$rec"

# What the commands say.
like "$(lizard info "$rec")" '^threads  *6, which took turns [1-9][0-9]* times' "info counts threads"
is "$(lizard info --json "$rec" | perl -MJSON::PP -e '$o = decode_json(join "", <>);
	$n += $_->{turns} for @{$o->{threads}}; print scalar @{$o->{threads}}, " ", $n - $o->{switches}')" "6 1" \
	"info --json: six threads, one turn more than switches"
lizard dump --events "$rec" >"$T/events"
like "$(grep -m 1 'switch to' "$T/events")" 'switch to thread [0-9]*, inside futex(.*) in-call -> ip 0x' "dump shows a switch"
is "$(grep -c 'exit(0).* thread-end' "$T/events")" 5 "dump shows where threads end"
is "$(lizard dump --events --json "$rec" | perl -MJSON::PP -ne '$o = decode_json($_);
	$n++ if $o->{kind} eq "switch" && $o->{next}; END { print $n == '"$(grep -c 'switch to' "$T/events")"' ? "all" : $n }')" \
	all "dump --json names the next thread of each switch"
# Whose function is running is right for each thread only if its markers are taken for its own.
lizard dump --markers --json "$rec" | perl -MJSON::PP -ne '$o = decode_json($_); $t{$o->{tid}}++;
	$f{$o->{tid}}{$o->{function}}++ if $o->{kind} eq "enter"; END { print scalar keys %t, " ",
	join ",", sort map { join "+", sort keys %$_ } values %f }' >"$T/who"
is "$(cat "$T/who")" "6 consumer+get,consumer+get,join+main+put+start,producer+put,producer+put,producer+put" \
	"dump names the thread of each marker"

# ---- lies ----

"$damage" "$rec" "$T/honest" none >"$T/log"
ok $? "an honest copy is made" || diag "$(cat "$T/log")"
lizard verify "$T/honest" >"$T/verify" 2>&1
ok $? "the honest copy is clean" || diag "$(cat "$T/verify")"

lie() { # PATTERN WHAT WHERE
	rm -rf "$T/lie"
	"$damage" "$rec" "$T/lie" "$2" "$3" >"$T/log" || diag "$(cat "$T/log")"
	timeout 60 lizard verify "$T/lie" >"$T/verify" 2>&1
	is $? 1 "$2 at $3: verify fails"
	grep -q "$1" "$T/verify"
	ok $? "$2 at $3: said in words ($1)" || diag "$(head -n 3 "$T/verify")"
	timeout 120 "$walk" "$T/lie" 1 3 >"$T/log" 2>&1
	ok "$([ $? -le 1 ]; echo $?)" "$2 at $3: a walk ends" || diag "$(tail -n 3 "$T/log")"
}

number() { sed -n 's/^event \([0-9]*\) .*/\1/p'; }
first=$(grep -m 1 'switch to' "$T/events" | number)
middle=$(grep 'switch to.*in-call' "$T/events" | number | sed -n 100p)
plain=$(grep 'switch to' "$T/events" | grep -v in-call | number | head -n 1)
end=$(grep -m 1 'thread-end' "$T/events" | number)
checkpoint=$(lizard dump --checkpoints "$rec" | sed -n 's/^checkpoint \([0-9]*\) .* [2-9] threads.*/\1/p' | head -n 3 | tail -n 1)
ok "$([ -n "$first" ] && [ -n "$middle" ] && [ -n "$plain" ] && [ -n "$end" ] && [ -n "$checkpoint" ]; echo $?)" \
	"there are things to lie about"
for at in "$first" "$middle" "$plain"; do
	lie 'diverged: .*which does not exist' next "$at"
	lie 'diverged: .*which runs already' self "$at"
	lie 'diverged: .*registers of thread [0-9]* are not recorded' bare "$at"
	lie 'diverged: .*thread [0-9]* runs\|is thread [0-9]*.s, but thread' tid "$at"
done
lie 'diverged: .*other registers than it had: register rbx' goes "$middle"
lie 'diverged: .*argument 1' arg "$middle"
lie 'diverged: .*recorded was' nr "$middle"
lie 'diverged: ' alive "$end"
lie 'diverged: .*thread [0-9]*: register rbx' waits "$checkpoint"
lie 'diverged: .*threads are there' alone "$checkpoint"
lie 'diverged: .*checkpoint .*: .*thread' twice "$checkpoint"
done_testing
