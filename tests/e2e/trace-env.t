#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Variables that look secret: a recording lists them without their values.
. "$(dirname "$0")/../lib/tap.sh"

cat >"$T/env.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *token = getenv("MY_TOKEN");
	if (argc > 1 && strcmp(argv[1], "again") == 0) {
		if (fork() == 0)
			return execl(argv[0], argv[0], "child", (char *)NULL);
		wait(NULL);
		return execl(argv[0], argv[0], "became", (char *)NULL);
	}
	puts(token ? token : "none");
	return 0;
}
C
lizard-cc -g -O0 "$T/env.c" -o "$T/env" || skip_all "no program"
MY_TOKEN=verysecret PLAIN=value
export MY_TOKEN PLAIN

lizard-trace -o "$T/rec" "$T/env" >"$T/out" 2>"$T/err"
is "$? $(cat "$T/out")" "0 verysecret" "the program has it"
is "$(grep -c '^env MY_TOKEN=(left out)$' "$T/rec/meta") $(grep -c verysecret "$T/rec/meta")" "1 0" "the list has its name only"
is "$(grep -c '^env PLAIN=value$' "$T/rec/meta")" 1 "and others as they are"
is "$(grep -c 'variables that look secret .*--env=all.*memory.*: MY_TOKEN$' "$T/err") $(grep -c verysecret "$T/err")" "1 0" "it is said once" ||
	diag "$(cat "$T/err")"
is "$(lizard info --json "$T/rec" | grep -c '"MY_TOKEN=(left out)"')" 1 "info --json shows that"
timeout 60 lizard verify "$T/rec" >"$T/out" 2>&1
is $? 0 "it replays" || diag "$(cat "$T/out")"
for front in stock patched; do
	[ $front = stock ] || [ -x "$LIZARD_BIN/../lib/lizard/gdb/bin/gdb" ] || continue
	timeout 60 lizard-gdb --$front "$T/rec" -nx -batch -ex 'break puts' -ex continue -ex up -ex 'print token' -ex 'show environment PLAIN' >"$T/out" 2>&1
	like "$(cat "$T/out")" '^\$1 = 0x[0-9a-f]+ "verysecret"' "$front: the program's memory holds it, as is said" || diag "$(cat "$T/out")"
	is "$(grep -c '^PLAIN = value' "$T/out")" 1 "$front: show environment is GDB's own, as ever"
done

lizard-trace -q -o "$T/quiet" "$T/env" >/dev/null 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "-q: not said"
lizard-trace -q --follow all -o "$T/tree" "$T/env" again >/dev/null 2>"$T/err"
is "$? $(cat "$T/err")" "0 " "with children, and another program"
is "$(cat "$T/tree/meta" "$T"/tree/processes/*/meta | grep -c '^env MY_TOKEN=(left out)$')" 4 "all lists are without it"
is "$(cat "$T/tree/meta" "$T"/tree/processes/*/meta | grep -c verysecret)" 0 "none has it"
for option in --env=all "--env all"; do
	rm -rf "$T/all"
	lizard-trace $option -o "$T/all" "$T/env" >/dev/null 2>"$T/err"
	is "$? $(grep -c '^env MY_TOKEN=verysecret$' "$T/all/meta") $(grep -c MY_TOKEN "$T/err")" "0 1 0" "$option keeps it, and is silent"
done
lizard-trace --follow all --env=all -q -o "$T/alltree" "$T/env" again >/dev/null
is "$(cat "$T/alltree/meta" "$T"/alltree/processes/*/meta | grep -c '^env MY_TOKEN=verysecret$')" 4 "with children"
lizard-trace --env=some -o "$T/some" "$T/env" >/dev/null 2>"$T/err"
is "$? $(grep -c 'masked or all' "$T/err")" "125 1" "another word is refused"
done_testing
