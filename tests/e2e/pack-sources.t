#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which source files go into a pack: debug information may name any file, and any directory as that of the compilation.
. "$(dirname "$0")/../lib/tap.sh"
umask 022

W=$T/work
mkdir -p "$W/proj/sub" "$W/proj/.hidden" "$W/other" "$T/home/.ssh" "$T/home/src"
HOME=$T/home
export HOME

packed=0
record() { # NAME DIR [FLAGS]: compiles DIR/NAME.c there, and records it
	name=$1 at=$2
	shift 2
	(cd "$at" && lizard-cc -g -O0 "$@" "$name.c" -o "$W/$name") && lizard-trace -q --sources=no -o "$T/rec-$name" "$W/$name" >/dev/null
	[ -e "$T/rec-$name/meta" ] || diag "$name is not recorded"
}
pack() { # NAME [OPTIONS]: what went in is in $T/in, what --list says in $T/list, stderr in $T/err
	name=$1
	shift
	packed=$((packed + 1))
	timeout 60 lizard pack "$@" -o "$T/$packed.lizard" "$T/rec-$name" >"$T/list" 2>"$T/err"
	status=$?
	tar --zstd -tf "$T/$packed.lizard" 2>/dev/null | sed -n 's|^sources||p' >"$T/in"
}
has() { # FILE NAME
	grep -qxF "$1" "$T/in"
	ok $? "$2" || diag "in: $(tr '\n' ' ' <"$T/in")" "$(cat "$T/err")"
}
lacks() { # FILE NAME
	! grep -qxF "$1" "$T/in"
	ok $? "$2"
}
left_out() { # FILE REASON NAME
	lacks "$1" "$3: left out"
	grep -qxF -e "- $1  ($2)" "$T/list"
	ok $? "$3: and why" || diag "$(grep -F "$1" "$T/list")"
}

# A program with files of all kinds: below its directory, outside, private, hidden, behind links, no files.
echo 'int h;' >"$W/proj/sub/inside.h"
echo 'int o;' >"$W/other/outside.h"
echo 'int p;' >"$W/proj/private.h" && chmod 640 "$W/proj/private.h"
echo 'int d;' >"$W/proj/.hidden/x.h"
echo 'int n;' >"$W/proj/.netrc"
echo 'int s;' >"$W/other/target.h"
ln -s ../other/target.h "$W/proj/link.h"
ln -s ../../other "$W/proj/sub/dir"
ln -s sub/inside.h "$W/proj/inner.h"
mkfifo "$W/proj/pipe.h"
{
	for f in sub/inside.h ../other/outside.h private.h .hidden/x.h .netrc link.h sub/dir/target.h inner.h pipe.h sub /etc/shadow /etc/passwd missing.h; do
		n=$((n + 1))
		printf '#line 1 "%s"\nint f%d(void) { return %d; }\n' "$f" "$n" "$n"
	done
	printf '#line 1 "main.c"\nint main(void) { return 0; }\n'
} >"$W/proj/main.c"
record main "$W/proj"
pack main --list
is $status 0 "packed"
has "$W/proj/main.c" "a file of the compilation directory goes in"
has "$W/proj/sub/inside.h" "one below it"
has "$W/proj/inner.h" "a link that stays in it"
outside="outside the compilation directory"
left_out "$W/other/outside.h" "$outside" "a file outside"
left_out "$W/proj/link.h" "$outside" "a link that leads out"
left_out "$W/proj/sub/dir/target.h" "$outside" "a directory that leads out"
left_out /etc/passwd "$outside" "/etc/passwd"
left_out /etc/shadow "$outside" "/etc/shadow"
left_out "$W/proj/private.h" "others may not read it" "a private file"
left_out "$W/proj/.hidden/x.h" hidden "a file in a hidden directory"
left_out "$W/proj/.netrc" hidden "a hidden file"
left_out "$W/proj/pipe.h" "no regular file" "a FIFO"
left_out "$W/proj/sub" "no regular file" "a directory"
is "$(grep -c missing "$T/list")" 0 "what is not there is not spoken of"
is "$(sed -n 's/^+ //p' "$T/list")" "$(sort "$T/in")" "--list names what went in"
is "$(grep -c '^  ' "$T/err")" 0 "then stderr names none"
pack main
is "$(wc -c <"$T/list") $(grep -cxF "  $W/proj/main.c" "$T/err")" "0 1" "without it stderr names what went in"
like "$(cat "$T/err")" "^lizard: left out [0-9]+ source files: outside the compilation directory; --source-dir DIR takes those below DIR" "and how many did not"
is "$(grep -cxF "  $W/other/outside.h" "$T/err")" 1 "by name"
pack main --source-dir "$W/other" --list
has "$W/other/outside.h" "--source-dir takes more"
has "$W/proj/link.h" "by links, too"
has "$W/proj/main.c" "as well as what is below the compilation directory"
left_out /etc/passwd "$outside" "--source-dir: other files"
pack main --source-dir "$W" --source-dir /etc --list
has /etc/passwd "it can be given twice"
left_out /etc/shadow "others may not read it" "--source-dir: what is private"
left_out "$W/proj/.hidden/x.h" hidden "--source-dir: what is hidden"
pack main --source-dir "$W/proj/.hidden"
has "$W/proj/.hidden/x.h" "unless the hidden directory is the one that is named"
lacks "$W/proj/.netrc" "and no other"
pack main --source-dir "$W/nowhere"
is "$status $(ls "$T/$packed.lizard" 2>/dev/null)" "1 " "one that does not exist is refused"
like "$(cat "$T/err")" "nowhere: No such file" "by name"
pack main --source-dir "$W/proj/main.c"
is "$status $(grep -c 'is no directory' "$T/err")" "1 1" "so is a file"
pack main --no-sources --source-dir "$W"
is "$(wc -l <"$T/in")" 0 "--no-sources: none"

# Names that steer a terminal.
escape=$(printf '\033]0;')
printf '#line 1 "../other/%sx.h"\nint main(void) { return 0; }\n' "$escape" >"$W/proj/escape.c"
echo >"$W/other/${escape}x.h"
record escape "$W/proj"
pack escape --list
is "$(cat "$T/list" "$T/err" | grep -cF "$escape") $(grep -c '^- .*x1b' "$T/list")" "0 1" "--list: names are text"
pack escape
is "$(grep -cF "$escape" "$T/err") $(grep -c '^  .*x1b' "$T/err")" "0 1" "on stderr as well"

# Compilation directories that are none. The files are there, and everybody may read them.
echo 'int main(void) { return 0; }' >"$W/proj/forged.c"
echo key >"$T/home/.ssh/known.c" && echo note >"$T/home/notes.c" && echo code >"$T/home/src/code.c"
forged() { # DIRECTORY FILE: FILE is named by a unit that claims to be compiled in DIRECTORY
	printf '#line 1 "%s"\nint main(void) { return 0; }\n' "$2" >"$W/proj/forged.c"
	rm -rf "$T/rec-forged"
	record forged "$W/proj" "-fdebug-prefix-map=$W/proj=$1"
	pack forged --list
}
wide="the compilation directory is none for sources alone"
for dir in / /etc /etc/ssl /usr /proc /proc/self/root/etc /home /tmp "$T" "$T/home" "$T/home/.ssh" . ""; do
	case $dir in
	"$T") continue ;; # sources might well be there
	"$T/home" | "$T/home/.ssh") file=$dir/known.c && [ -e "$file" ] || file=$dir/notes.c ;;
	*) file=/etc/passwd ;;
	esac
	forged "$dir" "$file"
	left_out "$file" "$wide" "compiled in '$dir'"
done
forged "$T/home/src" code.c
has "$T/home/src/code.c" "a directory in the home is one"
ln -s "$T/home/.ssh" "$W/innocent"
forged "$W/innocent" known.c
left_out "$W/innocent/known.c" "$wide" "a link to a hidden one"

# The program is another one than here, or gone: then its debug information is a stranger's.
foreign="the program is not here as it was recorded"
cp "$W/main" "$W/main.was" && echo >>"$W/main"
pack main --list
left_out "$W/proj/main.c" "$foreign" "of a program that has changed"
rm "$W/main"
pack main --list
left_out "$W/proj/main.c" "$foreign" "of a program that is gone"
pack main --source-dir "$W/proj"
has "$W/proj/main.c" "--source-dir takes them"
cp "$W/main.was" "$W/main"
pack main
has "$W/proj/main.c" "of the very program: they are taken again"

# --env: packs without what looks secret.
A_TOKEN=verysecret NAME=value lizard-trace -q --sources=no --env=all -o "$T/rec-env" "$W/main"
pack env
is "$(tar --zstd -xOf "$T/$packed.lizard" meta | grep -c '^env A_TOKEN=(left out)$\|^env NAME=value$')" 2 "values that look secret are left out of meta"
is "$(tar --zstd -xOf "$T/$packed.lizard" meta | grep -v '^env ')" "$(grep -v '^env ' "$T/rec-env/meta")" "all else is as it was"
like "$(cat "$T/err")" "left out the values of these variables, .*--env=all.*: .*A_TOKEN" "it says so"
is "$(grep -c verysecret "$T/err")" 0 "without the value"
lizard unpack "$T/$packed.lizard" "$T/env" >/dev/null && timeout 60 lizard verify "$T/env" >"$T/out" 2>&1
is $? 0 "it replays" || diag "$(cat "$T/out")"
pack env --env=all
is "$(tar --zstd -xOf "$T/$packed.lizard" meta | grep -c '^env A_TOKEN=verysecret$') $(grep -c A_TOKEN "$T/err")" "1 0" "--env=all keeps them"
pack env --env=some
is "$status" 2 "--env: all or masked"
done_testing
