#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a recording is called and what is called in it is shown as text: nothing steers the terminal.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"
. "$LIZARD_SRC/tests/lib/tools.sh"

# A title, a C1 character as UTF-8 has it and alone, turned text.
title=$(printf '\033]0;owned\007') turned=$(printf '\033]0;owned\007\342\200\256') odd=$(printf '\033]0;owned\007\302\2331m\2333m\342\200\256')
shown_dir='\x1b]0;owned\x07\xe2\x80\xae' shown='\x1b]0;owned\x07\xc2\x9b1m\x9b3m\xe2\x80\xae'

text_only() { # NAME FILE...
	found=$(python3 "$LIZARD_SRC/tests/lib/text-only.py" "${@:2}")
	ok $? "$1: text only" || diag "$found"
}
has() { # FILE TEXT NAME
	grep -qF -e "$2" "$1"
	ok $? "$3" || diag "$(cat -v "$1")"
}

cat >"$T/plain.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
struct choice { char tag[16]; int way; };
const volatile struct choice choice __attribute__((section(".rodata.choice"))) = {"which-way-to-go", 0};
int XXXXXXXXX(int x)
{
	if (choice.way)
		x += 2;
	return x + 1;
}
static void *second(void *name)
{
	prctl(PR_SET_NAME, name);
	return XXXXXXXXX(1) ? name : 0;
}
int main(int argc, char **argv)
{
	int (*f)(int) = (int (*)(int))dlsym(dlopen(argv[2], RTLD_NOW), "in_library");
	pthread_t t;

	prctl(PR_SET_NAME, argv[1]);
	pthread_create(&t, 0, second, "\033]0;own\007\233\302\233");
	pthread_join(t, 0);
	write(1, "\033]0;owned\007out \033[31mred\033[0m\n", 27);
	return XXXXXXXXX(f(argc));
}
int YYYYYYYYY(void)
{
	return 0;
}
int YYYYYYYYZ(void)
{
	return 0;
}
C
printf 'int in_library(int x)\n{\n\treturn x;\n}\n' >"$T/lib.c"
cp "$T/plain.c" "$T/source$odd.c"
cd "$T" || exit 1
lizard-cc -g -O0 plain.c -o plain && lizard-cc -g -O0 "source$odd.c" -o "prog$odd" && lizard-cc -g -shared -fPIC lib.c -o "lib$odd.so"
ok $? "the programs build" || done_testing
perl -pi -e 's/XXXXXXXXX/\e]0;ownd\a/g; s/YYYYYYYYY/Yy\xc2\x9b1mzzz/g' "prog$odd"
rec=$LIZARD_TRACE_DIR/rec$turned-1
lizard-trace -o "$rec" "./prog$odd" "$title" "./lib$odd.so" "arg$odd" >out 2>trace
is $? 5 "a program with such names is recorded" || { diag "$(cat -v trace)"; done_testing; }
text_only "lizard-trace" trace
lizard-trace -q -o plain.rec ./plain "$title" "./lib$odd.so" "arg$odd" >out

# ---- commands ----
run() { # COMMAND...: its status, output in out
	timeout 60 lizard "$@" >out 2>&1
	printf '%d' $?
}
said() { # STATUS TEXT COMMAND...
	want=$1 text=$2
	shift 2
	called=$(printf %s "$*" | tr -dc ' a-z.=-' | cut -c1-40)
	is "$(run "$@")" "$want" "lizard $called: status" || diag "$(cat -v out)"
	text_only "lizard $called" out
	has out "$text" "lizard $called: it is shown"
}
said 0 "rec$shown_dir-1" ls
said 0 '"name": "rec\u001B]0;owned\u0007\u202E-1"' ls --json
said 0 "arg$shown" ps "$rec"
said 0 'arg\u001B]0;owned\u0007' ps --json "$rec"
said 0 "prog$shown" info "$rec"
said 0 '"path"' info --json "$rec"
said 0 "rec$shown_dir-1: clean" verify "$rec"
said 0 "rec$shown_dir-1: clean" verify -a "$rec"
said 0 'enter  \x1b]0;ownd\x07  source'"$shown.c:8" dump --markers "$rec"
said 0 '"function": "\u001B]0;ownd\u0007"' dump --markers --json "$rec"
said 0 '"\x1b]0;owned\x07\x00./li' dump --events --bytes "$rec"
said 0 '"part": "event"' dump --events --bytes --json "$rec"
said 0 "rec$shown_dir-1" prune --keep 0 --dry-run
said 1 "nothing$shown: not verified" verify "nothing$odd"
said 1 "nothing$shown" rm "nothing$odd"
said 1 "nothing$shown" pack "nothing$odd"
said 1 "nothing$shown" unpack "$T/nothing$odd"
said 2 "x$shown" serve -s "x$odd" "$rec"
said 2 "x$shown" "x$odd"
said 2 "unrecognized option '--x$shown'" verify "--x$odd"
said 2 "option '--all=x$shown' takes no argument" verify "--all=x$odd"
said 125 "x$shown" trace --slice "x$odd" ./plain
said 125 "x$shown" trace -o "/nowhere/x$odd" ./plain
said 1 "x$shown" gdb "x$odd"
lizard-trace -q -o "$LIZARD_TRACE_DIR/o$title-1" ./plain "$title" "./lib$odd.so" >out
said 0 'packed o\x1b]0;owned\x07-1.lizard' pack "$LIZARD_TRACE_DIR/o$title-1"
said 0 '/o\x1b]0;owned\x07-1.' unpack "o$title-1.lizard"

# Columns, where a character has several bytes.
cp -r plain.rec "$LIZARD_TRACE_DIR/$(printf '\303\251\303\251')-1"
lizard ls | python3 -c '
import sys
print(len({max(line.find(" 20"), line.find(" DATE")) for line in sys.stdin.buffer.read().decode().splitlines()}))' >out
is "$(cat out)" 1 "lizard ls: columns are straight" || diag "$(lizard ls | cat -v)"

# A letter beyond ASCII is one.
lizard ls >out
has out "$(printf '\303\251\303\251')-1" "letters stay"

# A divergence names functions and files.
damage=$(tool replay-damage)
ok $? "the tool builds" || diag "$(cat replay-damage.log)"
"$damage" "$rec" "bad$odd" file 1 >log && said 1 "bad$shown: diverged: event" verify "bad$odd"
has out 'in \x1b]0;ownd\x07: expected source'"$shown.c:" "lizard verify: the function and the file"

# Whatever `meta` says.
lie=$LIZARD_TRACE_DIR/lie-1
for field in program build-id cwd arg env host kernel cpu features became flow hashed-from stopped outside; do
	rm -rf "$lie"
	cp -r plain.rec "$lie"
	{ sed "/^$field /d" plain.rec/meta; printf '%s x\\x1b]0;owned\\x07\\x9b\\xe2\\x80\\xae\\x0aline\n' "$field"; } >"$lie/meta"
	for command in ls "ls --json" "ps lie-1" "ps --json lie-1" "info lie-1" "info --json lie-1" "info --check lie-1" "verify lie-1" \
		"dump lie-1" "gdb --kept -nx -batch -ex continue lie-1"; do
		timeout 60 lizard $command </dev/null
	done >"lie.$field" 2>&1
	for form in "" --markdown --json; do
		LIZARD_FRONT_END=stock LIZARD_GDB=false timeout 60 lizard report $form lie-1 </dev/null
	done >>"lie.$field" 2>&1
	text_only "meta: $field" "lie.$field"
done
rm -rf "$lie"

# ---- in GDB ----
cat >commands <<'GDB'
set pagination off
set width 0
info lizard
info threads
break second
continue
info threads
thread find own
when
bt
next
when
info threads
break 12
continue
up
down
info sharedlibrary
info breakpoints
info inferiors
info connections
info proc all
record function-call-history /cil
record instruction-history
info record
info source
info symbol $pc
finish
jump_forward main
jump_backward second
checkpoint
info checkpoints
reverse_watchpoint choice.way
prev
bs
monitor info
monitor when
complete jump_forward 
complete break 
info functions own
info line second
list
jump_forward nowhere
continue
GDB
sed -i 's/^/-ex\n/' commands
mapfile -t steps <commands
in_gdb() { # NAME OPTIONS...
	name=$1
	shift
	timeout 200 lizard-gdb "$@" -nx -batch "${steps[@]}" >"gdb.$name" 2>&1
	text_only "lizard-gdb $name" "gdb.$name"
	has "gdb.$name" '"\x1b]0;own\x07\x9b\xc2\x9b"' "$name: the thread's name"
	has "gdb.$name" "arg$shown" "$name: an argument"
	has "gdb.$name" "lib$shown.so" "$name: the library"
	grep -q "Yes  .*/lib.x1b.*so" "gdb.$name"
	ok $? "$name: its symbols are read" || diag "$(cat -v "gdb.$name")"
}
in_gdb stock --stock plain.rec
for command in "--stock" "--stock --kept"; do
	timeout 60 lizard-gdb $command "$rec" -nx -batch -ex when >out 2>&1
	is "$? $(grep -c 'a stock GDB would print' out)" "1 1" "lizard-gdb $command: a path that is no text is refused"
	text_only "lizard-gdb $command" out
done
fronts=--stock
cp -r plain.rec "no$odd"
timeout 60 lizard-gdb "no$odd" -nx -batch >out 2>&1
is "$? $(grep -c 'no way to name a path that is no UTF-8' out)" "1 1" "lizard-gdb: nor is one that is no UTF-8"
text_only "lizard-gdb" out
if patched_gdb; then
	fronts="--stock --patched"
	in_gdb patched --patched plain.rec
	in_gdb odd --patched "$rec"
	has gdb.odd 'hit Breakpoint 2, \x1b]0;ownd\x07 (x=1) at source'"$shown.c" "odd: a function and its file"
	has gdb.odd '-- frame 0" is no UTF-8)' "odd: nor does Python fail"
	has gdb.odd "section .text of $T/prog$shown" "odd: the program"
fi
for front in $fronts; do
	timeout 60 lizard-gdb $front --echo -nx -batch -ex continue plain.rec >out 2>&1
	has out '\x1b]0;owned\x07out ' "$front --echo: what the program writes is text"
	[ $front = --stock ] || text_only "$front --echo, where there is no terminal" out
done
if patched_gdb; then
	python3 - "$LIZARD_SRC/tests/lib" "$rec" >out 2>&1 <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from terminal import Terminal
gdb = Terminal(["env", "TERM=xterm", "LC_ALL=C.UTF-8", "lizard-gdb", "--patched", "--echo", sys.argv[2], "-nx", "-ex", "set width 0", "-ex", "set pagination off"])
gdb.until(r"\(gdb\) ")
text = ""
for command in ("info functions ownd", "break second", "continue", "info threads", "delete 1", "continue"):
    gdb.type(command + "\n")
    text += gdb.until(r"\(gdb\) ", 60)
gdb.type("break Yy\t\t")
text += gdb.until("x^", 5)
gdb.type("\x15break Y\t\n")
text += gdb.until(r"\(gdb\) ", 60)
print(*[part in text for part in ("\033]0", "\x9b", "\ufffd")], "break YYYYYYYYZ" in text, *[part in text for part in ("\033[33msecond\033[m", r"\x1b]0;ownd\x07", "\\x1b]0;owned\\x07out \033[31mred\033[0m")])
PY
	is "$(tail -n 1 out)" "False False False True True True True" "on a terminal: GDB's colours and the program's, and nothing else" || diag "$(cat -v out)"
fi

# ---- the lint ----
cd "$LIZARD_SRC" || exit 1
out=$(scripts/check-printing)
ok $? "nothing prints past lz_print()" || diag "$out"
mkdir -p "$T/lint/gdb" && cd "$T/lint" || exit 1
cat >bad.c <<'C'
static const char own[] = "%d\n";
void f(FILE *to, const char *name, int n, const struct fns *fns)
{
	printf("%-*s\n", n, name);
	fprintf(to, "a, %d (%5.2f): %.*s", n, 0.1, n, name);
	printf(n ? "%d" : "%s", name);
	fprintf(to,
	        "x" "%" PRIu64 "%c", n, n);
	printf(name);
	vfprintf(to, name, ap);
	fputs(name, to);
	puts(name);
	putchar(*name);
	fwrite(name, 1, n, to);
	perror(name), write(fd, name, n);
	write(STDOUT_FILENO, name, n);
	/* printf("%s", name); */
	printf("%d %% %5s of \"%s\")\n", n); // printf("%s", name)
	printf("%d %%s\n" "%" PRIx64, n);
	fputs(n ? "%s," : ")", to), fputc('\n', to), puts("%s"), putchar(n ? ',' : ';');
	fprintf(to, own, n);
	fns->printf(name), lz_printf(name), snprintf(name, n, "%s", name), lz_print(to, "%s" NAME, name);
	lz_print(to, name);
}
C
cat >gdb/bad.c <<'C'
void f (const char *name)
{
  gdb_printf ("%s", name);
  printf ("%s", name);
  std::cout << name;
}
C
printf 'import gdb\ngdb.write(name)\nsay(name)\nprint(name)\nself.print(name)\n' >bad.py
is "$("$LIZARD_SRC/scripts/check-printing" bad.c | grep -o '^bad.c:[0-9]*' | tr '\n' ' ')" \
	"bad.c:4 bad.c:5 bad.c:6 bad.c:7 bad.c:9 bad.c:10 bad.c:11 bad.c:12 bad.c:13 bad.c:14 bad.c:15 bad.c:16 bad.c:18 bad.c:23 " "the lint finds strings that are printed"
is "$("$LIZARD_SRC/scripts/check-printing" gdb/bad.c | grep -o '^gdb/bad.c:[0-9]*' | tr '\n' ' ')" "gdb/bad.c:4 gdb/bad.c:5 " "in GDB"
is "$("$LIZARD_SRC/scripts/check-printing" bad.py | grep -o '^bad.py:[0-9]*' | tr '\n' ' ')" "bad.py:2 bad.py:4 " "in Python"
mkdir -p all/common/recording && (cd all && echo 'int x;' >common/recording/meta.c && "$LIZARD_SRC/scripts/check-printing") >out
is "$? $(grep -c 'common/recording/meta.c needs no leave' out)" "1 1" "and leave that is not needed"
done_testing
