#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Coverage of real programs at -O0: lines, branches and functions are those of gcov, number by number. Of two programs, or
# with LIZARD_LONG of six. COVERAGE_OF="jq lua": of these.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/real.sh"

mkdir "$T/bin"
printf '#!/bin/sh\nexec %s --coverage "$@"\n' "$PLAIN_CC" >"$T/bin/gcov-cc"
chmod +x "$T/bin/gcov-cc"

# Inputs for less than a second.
input() { # NAME
	case $1 in
	bzip2 | gzip) mkdir "$T/$1/input" && real_text 5000 >"$T/$1/input/text" ;;
	bc)
		real_input bc "$T/bc/input" &&
			sed -i -e 's/scale = 300/scale = 90/' -e 's/f(1[0-9]/f(12/' -e 's/< 700/< 90/' "$T/bc/input/pi.bc" ;;
	*) REAL_PART=200 real_input "$1" "$T/$1/input" ;;
	esac
}

# What gcov counts is found beside the objects, so the program may run elsewhere: its name is the same for both.
run() { # NAME PROGRAM OUT [COMMAND...]
	mkdir -p "$T/$1/run" && cp "$2" "$T/$1/run/program" || return
	command=$(real_command "$1" "$T/$1/run/program" "$T/$1/input") out=$3
	shift 3
	eval "env -i $* $command" >"$out" 2>"$out.err"
	echo "exit status $?" >>"$out"
}

compare() { # NAME
	patch=
	[ "$1" != lua ] || patch=$LIZARD_SRC/tests/lib/lua-same-hashes.patch
	theirs=$(real_build "$1" "$T/bin/gcov-cc" "-O0 -g" "$T/$1/gcov" ${patch:-}) &&
		ours=$(real_build "$1" lizard-cc "-O0 -g" "$T/$1/lizard" ${patch:-})
	ok $? "$1 builds" || return
	find "$T/$1/gcov" -name '*.gcda' -delete
	run "$1" "$theirs" "$T/$1/out"
	run "$1" "$ours" "$T/$1/out.rec" "'$LIZARD_BIN/lizard-trace' -q -o '$T/$1/rec'"
	cmp -s "$T/$1/out" "$T/$1/out.rec"
	ok $? "$1: both runs have the same output" || diag "$(tail -n 5 "$T/$1/out.rec.err")"
	for what in lines branches functions; do
		python3 "$LIZARD_SRC/tests/lib/answers.py" $what "$T/$1/rec" "$T/$1/gcov" >"$T/differ" 2>&1
		[ "$(wc -l <"$T/differ")" = 1 ] && grep -Eq '^([1-9][0-9]*) of \1 equal$' "$T/differ"
		ok $? "$1: $what are counted as gcov counts them: $(tail -n 1 "$T/differ")" || diag "$(head -n 20 "$T/differ")"
	done
}

# gcov takes each round of a computed goto for a call of the function.
export COMPUTED_GOTOS=luaV_execute
for name in ${COVERAGE_OF:-gzip bc ${LIZARD_LONG:+bzip2 lua jq sqlite3}}; do
	mkdir "$T/$name"
	input $name
	compare $name
	[ "$tap_failed" != 0 ] || rm -rf "${T:?}/$name"
done
done_testing
