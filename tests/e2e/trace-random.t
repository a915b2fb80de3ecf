#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# rdrand and rdseed: recorded where all of a program's own are known, hidden elsewhere. cpuid: each is an event.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

src=$LIZARD_SRC/tests/progs/trace
grep -q '\<rdrand\>.*\<rdseed\>' /proc/cpuinfo || skip_all "this processor has neither"
for level in O0 O2; do
	lizard-cc -g -$level -DCALL "$src/random.c" "$src/random-other.c" -o "$T/random-$level" ||
		skip_all "no program"
	LIZARD_TRACE_CHECK=1 lizard-trace -q --checkpoint-interval 0 --full-every 3 -o "$T/rec-$level" \
		"$T/random-$level" >"$T/out.$level" 2>"$T/err"
	is "$?$(cat "$T/err")" 0 "$level: recorded"
	is "$(sed -n '1p;$p' "$T/out.$level" | tr '\n' ' ')" "2 7 1 " "$level: the program knows, and a child draws its own"
	timeout 60 lizard verify "$T/rec-$level" >"$T/verify" 2>&1
	ok $? "$level: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	is "$(lizard dump "$T/rec-$level" --events | grep -c 'rdrand\|rdseed')" 10 "$level: each is an event"
done

out=$(gdb_run "$T/rec-O0" <<END
-- code
disassemble draw
-- call
print draw() != draw()
-- walk
break draw
continue
finish
reverse-stepi
reverse-continue
finish
END
)
is "$(section "$out" code | grep -c '	rd\(rand\|seed\) ')" 3 "a debugger is shown the program's code"
like "$(section "$out" call)" '= 1$' "a call of the program's draws anew"
values=$(section "$out" walk | sed -n 's/^Value returned is .* = //p')
is "$(echo "$values" | wc -l) $(echo "$values" | sort -u)" "2 $(printf %u "0x$(sed -n 2p "$T/out.O0")")" \
	"drawn twice the same as recorded"

# Which CPU cpuid names does not depend on that of the replay.
cat >"$T/cpu.c" <<'END'
#include <cpuid.h>
#include <stdio.h>
int main(void)
{
	unsigned a, b, c, d;

	__cpuid(1, a, b, c, d);
	printf("%u\n", b >> 24);
	return 0;
}
END
for how in gcc lizard-cc; do
	$how -g -O0 "$T/cpu.c" -o "$T/cpu-$how" && lizard-trace -q -o "$T/rec-cpu-$how" "$T/cpu-$how" >"$T/out"
	for cpu in $(seq 0 $(($(nproc) < 4 ? $(nproc) - 1 : 3))); do
		sed -i "s/^cpu-number .*/cpu-number $cpu/" "$T/rec-cpu-$how/meta"
		timeout 60 lizard verify "$T/rec-cpu-$how" >"$T/verify" 2>&1
		ok $? "$how: cpuid is recorded, replay on CPU $cpu" || diag "$(tail -n 5 "$T/verify")"
	done
	out=$(gdb_run -ex 'disassemble main' -ex 'print (int)main()' "$T/rec-cpu-$how" </dev/null)
	is "$(echo "$out" | grep -c '	cpuid')" 1 "$how: a debugger is shown the program's code"
	like "$out" '= 0$' "... in which a call makes it anew"
done

# By their unwind rules they are known where nothing is instrumented.
gcc -g -O0 -DCALL -c "$src/random-other.c" -o "$T/other.o" && lizard-cc -g -O0 "$src/random.c" "$T/other.o" -o "$T/mixed" &&
	gcc -g -O2 -DCALL "$src/random.c" "$src/random-other.c" -o "$T/plain"
ok $? "programs with parts that are not instrumented"
for name in mixed plain; do
	lizard-trace -q -o "$T/rec-$name" "$T/$name" >"$T/out" 2>"$T/err"
	is "$(sed -n '1p;$p' "$T/out" | tr '\n' ' ')$(cat "$T/err")" "2 7 1 " "$name: knows, and a child draws its own"
	timeout 60 lizard verify "$T/rec-$name" >"$T/verify" 2>&1
	ok $? "$name: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	is "$(lizard dump "$T/rec-$name" --events | grep -c 'rdrand\|rdseed')" 10 "$name: each is an event"
done

# Without those they are hidden: cpuid is trapped, or armed.
gcc -g -O0 -DBARE "$src/random.c" "$src/random-other.c" -o "$T/bare"
ok $? "a program with some without rules"
lizard-trace -q -o "$T/rec-bare" "$T/bare" >"$T/out" 2>"$T/err"
is "$(head -n 1 "$T/out")$(cat "$T/err")" 0 "is told that there are none"
timeout 60 lizard verify "$T/rec-bare" >"$T/verify" 2>&1
ok $? "and replays" || diag "$(tail -n 5 "$T/verify")"

printf '#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return syscall(SYS_arch_prctl, 0x1012, 0) != 0; }' >"$T/trap.c"
gcc -o "$T/trap" "$T/trap.c"
if "$T/trap"; then
	skip "cpuid without rules, a library's" "cpuid can be trapped"
	done_testing
fi
gcc -g -O0 -DBARE -DBARE_CPUID "$src/random.c" "$src/random-other.c" -o "$T/bare"
lizard-trace -q -o "$T/rec-told" "$T/bare" >"$T/out" 2>"$T/err"
like "$(cat "$T/err")" "rdrand or rdseed in code without unwind rules, .* cannot hide them" \
	"with a cpuid without rules it is said that they cannot be hidden"

# Where it cannot be trapped, libraries' are recorded as well: in each mapping that comes, and in children.
gcc -g -O1 -DLIBRARY -fPIC -shared "$src/random-lib.c" -o "$T/librandom.so" && lizard-cc -g -O0 "$src/random-lib.c" -o "$T/loads"
ok $? "a library and a program that loads it"
for follow in parent all; do
	rec=$T/rec-lib-$follow
	LIZARD_TRACE_CHECK=1 lizard-trace -q --follow $follow --checkpoint-interval 0 --full-every 3 -o "$rec" "$T/loads" "$T/librandom.so" >"$T/out" 2>"$T/err"
	is "$?$(cat "$T/err") $(grep -c "^[a-z]* [0-9a-f]\{5,\} [0-9a-f]\{5,\}" "$T/out")" "0 2" "$follow: recorded"
	timeout 60 lizard verify -a "$rec" >"$T/verify" 2>&1
	ok $? "$follow: verify is clean" || diag "$(tail -n 5 "$T/verify")"
	is "$(gdb_run -ex 'break done' -ex continue -ex 'printf "parent %llx %llx\n", drawn[0], drawn[1]' "$rec" </dev/null | grep '^parent')" \
		"$(grep parent "$T/out")" "$follow: drawn the same as recorded"
done
child=$(lizard ps "$rec" | awk '$1 ~ /^[0-9]+$/ { pid = $1 } END { print pid }')
is "$(gdb_run -e -ex 'printf "child %llx %llx\n", drawn[0], drawn[1]' -p "$child" "$rec" </dev/null | grep '^child')" \
	"$(grep child "$T/out")" "in the child, too"
done_testing
