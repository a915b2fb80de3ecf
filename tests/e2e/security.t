#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A recording from a stranger: its program was changed, in a well-formed recording, to make a file. Replay runs the
# changed code, and no file appears.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tools.sh"

damage=$(tool replay-damage)
ok $? "the tool builds" || { diag "$(cat "$T/replay-damage.log")"; done_testing; }

# What decides is hidden from the markers, which stay the same.
cat >"$T/prog.c" <<'C'
#include <string.h>
struct choice { char tag[16]; int way; };
const volatile struct choice choice __attribute__((section(".rodata.choice"))) = {"which-way-to-go", 0};
static char path[4096];
static long work(int way)
{
	long done;
	__asm__ volatile("mov $-1, %%rax\n"
	                 "cmp $1, %[way]\n jne 1f\n mov $85, %%eax\n syscall\n"
	                 "1: cmp $2, %[way]\n jne 2f\n mov $8, %%eax\n mov %%edi, %%ebx\n mov %%esi, %%ecx\n int $0x80\n"
	                 "2:\n"
	                 : "=&a"(done) : [way] "r"(way), "D"(path), "S"(0600) : "rbx", "rcx", "r11", "memory");
	return done;
}
int main(int argc, char **argv)
{
	strncpy(path, argv[1], sizeof path - 1);
	work(choice.way);
	return 0;
}
C
lizard-cc -D_GNU_SOURCE -O0 -g -no-pie -o "$T/prog" "$T/prog.c" && lizard-trace -q -o "$T/rec" "$T/prog" "$T/evil"
ok $? "a harmless program is recorded" || done_testing

for way in 1 2; do
	(cd "$T" && "$damage" rec "bad$way" file $way) >"$T/log"
	ok $? "way $way: a recording with another program in it" || diag "$(cat "$T/log")"
	cp "$T/bad$way/files/0-prog" "$T/changed" && chmod 755 "$T/changed" && "$T/changed" "$T/evil"
	[ -e "$T/evil" ]
	ok $? "way $way: run by itself that program makes the file"
	rm -f "$T/evil"
	timeout 60 lizard verify "$T/bad$way" >"$T/out" 2>&1
	is $? 1 "way $way: verify fails"
	like "$(cat "$T/out")" "the program called .*; recorded was exit_group" "way $way: by the very call"
	timeout 60 lizard-gdb --kept "$T/bad$way" -nx -batch -ex 'tbreak work' -ex continue -ex "print work($way)" -ex continue >"$T/out" 2>&1
	like "$(tr '\n' ' ' <"$T/out")" "reakpoint 1, .*work.*[$]1 = -?[0-9]+.*The replay went another way" "way $way: GDB calls it, and gets as far as it"
	[ ! -e "$T/evil" ]
	ok $? "way $way: no file was made"
done

# The program's name in `meta`: GDB takes no option from it, and a terminal no commands.
lie() { # NAME: what is there of the recording with that in it
	rm -rf "$T/lie"
	cp -r "$T/rec" "$T/lie"
	sed "s|^program .*|program $1|" "$T/rec/meta" >"$T/lie/meta"
}
lie "-iex=shell touch owned"
cp "$T/prog" "$T/lie/-iex=shell touch owned"
for front in --stock --patched; do
	[ $front = --stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	(cd "$T/lie" && timeout 60 lizard-gdb $front . -nx -batch -ex when) >"$T/out" 2>&1
	[ ! -e "$T/lie/owned" ]
	ok $? "$front: a program named like an option is none" || diag "$(cat "$T/out")"
done
escape=$(printf '\033]0;')
lie '/gone\\x1b]0;owned\\x07'
for command in "gdb" "gdb --kept" verify info ps; do
	timeout 60 lizard $command "$T/lie" </dev/null >"$T/out" 2>&1
	is "$(grep -c . "$T/out" | grep -c '[1-9]') $(grep -cF "$escape" "$T/out")" "1 0" "lizard $command: nothing steers the terminal"
done
timeout 60 lizard info "$T/lie" >"$T/out" 2>&1
is "$(grep -cF '/gone\x1b]0;owned\x07' "$T/out")" 1 "it is shown as text"
cp -r "$T/rec" "$T/args" && sed -i 's|^arg .*|arg x\\x1b]0;owned|' "$T/args/meta"
timeout 60 lizard-gdb "$T/args" -nx -batch -ex 'info lizard' >"$T/out" 2>&1
is "$(grep -c '^command  *x.x1b]0;owned' "$T/out") $(grep -cF "$escape" "$T/out")" "1 0" "by info lizard as well" || diag "$(cat -v "$T/out")"
mkdir "$T/pack" && (cd "$T/pack" && echo >"${escape}owned" && tar --zstd -cf "$T/odd.lizard" "${escape}owned")
lizard unpack "$T/odd.lizard" "$T/unpacked" >"$T/out" 2>&1
is "$? $(grep -cF "$escape" "$T/out")" "1 0" "nor a packed recording's entry" || diag "$(cat "$T/out")"
done_testing
