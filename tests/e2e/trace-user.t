#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that change their user, or become undumpable, recorded without the right to look into other users' processes,
# as root in a container and ordinary users are: they and their children do as ever, and what is not recorded is said.
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "needs root"
chmod 755 "$T"
gcc -g -O1 "$LIZARD_SRC/tests/progs/trace/drop.c" -o "$T/drop-plain" &&
	lizard-cc -g -O1 "$LIZARD_SRC/tests/progs/trace/drop.c" -o "$T/drop-lizard" || exit 1
caps=-sys_ptrace,-sys_admin,-perfmon,-checkpoint_restore
few() { setpriv --bounding-set=$caps --inh-caps=$caps -- "$@"; }
few test -x "$T/drop-plain" && setpriv --reuid=54321 --clear-groups test -x "$T/drop-plain" || skip_all "the build is out of reach"

for how in plain lizard; do
	for what in fork exec hide; do
		few "$T/drop-$how" $what >"$T/native" 2>&1
		want="$? $(cat "$T/native")"
		for follow in parent all nothing-like-it; do
			name="$how, $what, --follow $follow"
			few timeout -k 5 60 lizard-trace -q --follow $follow -o "$T/$how-$what-$follow" -- "$T/drop-$how" $what >"$T/out" 2>"$T/err"
			is "$? $(cat "$T/out")" "$want" "$name: as natively" || diag "$(cat "$T/err")"
			lizard verify -a "$T/$how-$what-$follow" >"$T/verify" 2>&1
			ok $? "$name: what is recorded verifies" || diag "$(tail -n 5 "$T/verify")"
			case $what-$follow in
			exec-* | fork-all) like "$(cat "$T/err")" "CAP_SYS_PTRACE" "$name: it is said what is not" ;;
			*) is "$(cat "$T/err")" "" "$name: nothing on stderr" ;;
			esac
		done
	done
done
is "$(lizard ps "$T/lizard-hide-all" | grep -c drop)" 2 "an undumpable process's child is recorded"
done_testing
