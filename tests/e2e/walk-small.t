#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Walks against the truth (tests/lib/walk.py) on small programs.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/walk.sh"

prog_build tour || skip_all "no program"
record tour
# What finds the answers is the same for both front ends: half of the places do for the second.
places=16
[ "${LIZARD_FRONT_END:-}" != stock ] || places=8
[ -z "$LIZARD_LONG" ] || places=25
WALK_POSITIONS=$places WALK_MODES="step next jump watch" WALK_WATCH="total; 'tour.c'::box.depth[0] + 'tour.c'::box.depth[1]; 'tour.c'::left" walk tour "$T/tour"

# Calls through .plt.got, in whose stubs GDB does not step but looks where they lead.
stubs=$LIZARD_SRC/tests/progs/gdb/stubs.c
(cd "$T" && lizard-cc -g -fPIC -shared -DLIBRARY -o libstubs.so "$stubs" &&
	lizard-cc -g -fPIE -pie -o stubs "$stubs" ./libstubs.so) &&
	objdump -d -j .plt.got "$T/stubs" | grep -q 'twice@plt'
ok $? "a program calls a library through .plt.got" || diag "$(objdump -d -j .plt.got "$T/stubs" 2>&1)"
(cd "$T" && lizard-trace -q -o "$T/recordings/stubs" ./stubs >/dev/null)
ok $? "it is recorded"
WALK_POSITIONS=10 WALK_MODES="step next" walk stubs "$T/recordings/stubs"

# Virtual functions that are called through thunks, in which GDB does not step but looks where they lead.
lizard-c++ -O0 -g -o "$T/thunks" "$LIZARD_SRC/tests/progs/gdb/thunks.cc" && lizard-trace -q -o "$T/recordings/thunks" "$T/thunks" >/dev/null &&
	nm "$T/thunks" | grep -q _ZTch
ok $? "thunks is recorded"
WALK_FROM="main ask" WALK_N=20 WALK_MODES="step next" walk thunks "$T/recordings/thunks"

# Inlined functions, of whose code two pieces touch, or pieces of the caller's lie in between; with rows of several files
# at one address; on lines whose numbers GDB cuts off; in lines of another file. `next` from inside of one leads where it leads from outside of it: so these walks begin in the caller.
for name in pieces vectors farlines from_header; do
	lizard-cc -O2 -g -mssse3 -o "$T/$name" "$LIZARD_SRC/tests/progs/gdb/$name.c" &&
		lizard-trace -q -o "$T/recordings/$name" "$T/$name" >/dev/null
	ok $? "$name is recorded"
	WALK_FROM=main WALK_N=100 WALK_MODES="step next" walk "$name" "$T/recordings/$name"
done

# Calls made in inlined functions: one whose result comes in a later piece of the inlined code (`prev` from there leads to the
# line of the call, not into what it called), and a tail call (`prev` leads from the callee to where the caller's line begins).
for walk in "calls_within 1 calls_within.c:42" "tail_within 20 set_mark"; do
	# shellcheck disable=SC2086
	set -- $walk
	lizard-cc -O2 -g -o "$T/$1" "$LIZARD_SRC/tests/progs/gdb/$1.c" && lizard-trace -q -o "$T/recordings/$1" "$T/$1" >/dev/null
	ok $? "$1 is recorded"
	WALK_FROM=$3 WALK_N=$2 WALK_MODES="step next" walk "$1" "$T/recordings/$1"
done

# The first lines, before any marker but main's: the walk begins in the loader, and goes through the start of libgcc, a piece of
# code without a name, lines or unwind rules.
printf '%s\n' '#include <stdio.h>' 'int main(void)' '{' '	volatile int a = 1;' '	a += 2;' '	a *= 3;' '	return printf("%d\n", a) < 0;' '}' >"$T/begins.c"
(cd "$T" && lizard-cc -g -o begins begins.c -Wl,--no-as-needed -lgcc_s && lizard-trace -q -o "$T/recordings/begins" ./begins >/dev/null)
ok $? "begins is recorded"
WALK_FROM=main WALK_N=3 WALK_MODES="step next" walk begins "$T/recordings/begins"

# The same, where the first line leads into a callee before anything else: of main, and of each thread.
printf '%s\n' '#include <pthread.h>' '#include <stdio.h>' 'static int n;' 'static int f(int by)' '{' '	n += by;' '	return n;' '}' \
	'static void *run(void *arg) { return (void *)(long)f(5); }' 'static void threads(void)' '{' '	pthread_t t[2];' \
	'	for (int i = 0; i < 2; i++)' '		pthread_create(&t[i], NULL, run, NULL);' '	for (int i = 0; i < 2; i++)' '		pthread_join(t[i], NULL);' '}' \
	'static int rest(void)' '{' '	threads();' '	return printf("%d\n", n) < 0;' '}' 'int main(void) { return rest(); }' >"$T/oneline.c"
# In the static one nothing is recorded in the functions of libc that call them, and these have no names: so it is with the libc.so
# of glibc 2.41.
for flags in -O0 -O2 "-O0 -static"; do
	level=$(echo "${flags#-}" | tr -d ' ')
	# shellcheck disable=SC2086
	(cd "$T" && lizard-cc $flags -fno-inline -g -pthread -o "oneline-$level" oneline.c &&
		objcopy -N __libc_start_call_main -N start_thread "oneline-$level" &&
		lizard-trace -q -o "$T/recordings/oneline-$level" "./oneline-$level" >/dev/null)
	ok $? "oneline $flags is recorded"
	WALK_FROM=main WALK_N=1 WALK_MODES=step walk "oneline $flags" "$T/recordings/oneline-$level"
	for way in bs prev; do
		lizard-gdb -nx -batch "$T/recordings/oneline-$level" -ex "break f" -ex continue -ex continue -ex $way >"$T/out" 2>&1
		like "$(grep -v ^.Inferior "$T/out" | tail -n 1)" '^9	static void \*run' "oneline $flags: $way leads from a thread's first callee to its first line" || diag "$(tail -n 3 "$T/out")"
		lizard-gdb -nx -batch "$T/recordings/oneline-$level" -ex "tbreak rest" -ex continue -ex $way >"$T/out" 2>&1
		like "$(grep -v ^.Inferior "$T/out" | tail -n 1)" '^23	int main' "oneline $flags: $way leads from main's first callee to its first line" || diag "$(tail -n 3 "$T/out")"
	done
done

# On the first instruction of a function, at which `step` does not stop: what comes before is what comes before its first line.
first_of="main plain fact fact,again compare run"
for level in O0 O2; do
	lizard-cc "-$level" -fno-inline -fno-optimize-sibling-calls -g -pthread -o "$T/entries-$level" "$LIZARD_SRC/tests/progs/gdb/entries.c" &&
		lizard-trace -q -o "$T/recordings/entries-$level" "$T/entries-$level" >/dev/null
	ok $? "entries -$level is recorded"
	out=$(for at in $first_of; do
		for way in bs prev; do
			for star in "*" ""; do
				printf '%s\n' "-- $star$at $way" "jump_backward start" "jump_forward -any $star${at%,*}"
				[ "$at" = "${at%,*}" ] || echo "jump_forward $star${at%,*}"
				printf '%s\n' "$way" when
			done
		done
	done | gdb_run "$T/recordings/entries-$level")
	for at in $first_of; do
		for way in bs prev; do
			line=$(section "$out" "$at $way" | grep '^position')
			like "$line" @ "entries -$level: $way from the first line of $at" || diag "$out"
			is "$(section "$out" "[*]$at $way" | grep '^position')" "$line" "entries -$level: the same from its first instruction"
		done
	done
done

# Behind a call that took long, in a function of one line: `prev` leads to that line. At a statement that begins right behind the
# call it leads into the callee, since GDB's `next` stops there only as it comes out of it. With GCC 16, GDB knows of no statement
# there: all is the middle of the line.
lizard-c++ -O0 -g -o "$T/far_callee" "$LIZARD_SRC/tests/progs/gdb/far_callee.cc" &&
	lizard-trace -q -o "$T/recordings/far_callee" "$T/far_callee" >/dev/null
ok $? "far_callee is recorded"
out=$(printf '%s\n' "tbreak fibonacci" continue "-- in the line" finish prev "-- behind" finish when "-- begins" \
	'python print(gdb.find_pc_line(gdb.selected_frame().pc()).pc == gdb.selected_frame().pc())' "-- before" prev "-- again" next when |
	gdb_run "$T/recordings/far_callee")
like "$(section "$out" "in the line" | tail -n 1)" '^12	.*auto all' "far_callee: prev behind a call in the middle of a line" || diag "$out"
if [ "$(section "$out" begins)" = True ]; then
	like "$(section "$out" before)" '^operator\(\).* n=12\)' "far_callee: prev at a statement behind a call" || diag "$out"
	is "$(section "$out" again | grep '^position')" "$(section "$out" behind | grep '^position')" "far_callee: next leads back to it" || diag "$out"
else
	like "$(section "$out" before | tail -n 1)" '^8	.* int ask' "far_callee: prev behind its outer call, in the middle of a line" || diag "$out"
fi

# Loops in one line that call, long enough to be run through at full speed; out of one a longjmp leads. Optimized, the markers of a
# round belong to another line: a walk that begins there stops at the loop's once more, and `next` leads from both stops to the same one.
for two_ways in O0 O2=1; do
	level=${two_ways%=*} two_ways=${two_ways#O[02]}
	lizard-cc "-$level" -g -o "$T/callloop-$level" "$LIZARD_SRC/tests/progs/gdb/callloop.c" &&
		lizard-trace -q -o "$T/recordings/callloop-$level" "$T/callloop-$level" 300 >/dev/null
	ok $? "callloop -$level is recorded"
	WALK_TWO_WAYS=${two_ways#=} WALK_FROM="main work leave" WALK_N=20 WALK_MODES=next walk "callloop-$level" "$T/recordings/callloop-$level"
done

# A longjmp of which a probe tells: a step stops where that leads, unless it stays within a call that was made. (A few words of its
# code have no lines.)
for level in O0 O2; do
	lizard-cc "-$level" -fno-inline -g -o "$T/probed-$level" "$LIZARD_SRC/tests/progs/gdb/probed.c" &&
		lizard-trace -q -o "$T/recordings/probed-$level" "$T/probed-$level" >/dev/null &&
		readelf -n "$T/probed-$level" | grep -q 'Name: longjmp'
	ok $? "probed -$level is recorded"
	WALK_FROM="main deep leave within" WALK_N=30 WALK_MODES="step next" walk "probed-$level" "$T/recordings/probed-$level"
done

# A library with markers and without lines: gone over, and from inside of it, where GDB stops on the way out of each call.
(cd "$T" && lizard-cc -c -DLIBRARY "$LIZARD_SRC/tests/progs/gdb/lineless.c" -o library.o &&
	lizard-cc -g "$LIZARD_SRC/tests/progs/gdb/lineless.c" library.o -o lineless && lizard-trace -q -o "$T/recordings/lineless" ./lineless >/dev/null)
ok $? "lineless is recorded"
WALK_FROM=main WALK_N=20 WALK_MODES="step next" walk lineless "$T/recordings/lineless"
WALK_TWO_WAYS=1 WALK_FROM="grow place" WALK_N=20 WALK_MODES="step next" walk lineless-inside "$T/recordings/lineless"
done_testing
