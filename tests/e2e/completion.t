#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion for bash, zsh and fish: every command, every option that --help names, and values.
. "$(dirname "$0")/../lib/tap.sh"

share=$LIZARD_BUILD/share
bash_file=$share/bash-completion/completions/lizard
zsh_file=$share/zsh/site-functions/_lizard
fish_file=$share/fish/vendor_completions.d/lizard.fish
commands=$(lizard help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
mkdir -p "$LIZARD_TRACE_DIR/prog-1" "$T/here/folder" && : >"$LIZARD_TRACE_DIR/prog-1/meta" && : >"$T/here/file"
cd "$T/here" || exit 1

for command in $commands; do
	# What stands at the beginning of a line, and in the usage; of the source, what getopt takes.
	lizard "$command" --help | perl -0777 -ne '($usage) = /\A(.*?)\n\n/s;
		print "$_\n" for /^ {2,6}(?:-\w, )?(--[\w-]+)/mg, $usage =~ /\[(--[\w-]+)/g' | sort -u >"$T/$command.help"
	sed -n 's/.*{"\([a-z-]*\)", [a-z]*_argument, .*/--\1/p' "$LIZARD_SRC/cmds/$command.c" "$LIZARD_SRC/cmds/ask/$command.c" 2>/dev/null |
		grep -vx -e --help | sort -u >"$T/$command.taken"
done
is "$(for command in $commands; do [ ! -s "$T/$command.taken" ] || comm -23 "$T/$command.taken" "$T/$command.help"; done)" \
	"$(sed -n 's/.*{"\([a-z-]*\)", [a-z]*_argument, .*/--\1/p' "$LIZARD_SRC/cmds/pack.c" | grep -x -e --max-size)" \
	"--help names each option that a command takes" # unpack is in pack.c
[ "$(cat "$T"/*.help | wc -l)" -gt 60 ]
ok $? "... and there are some"

missing() { # COMMAND: of its options, those that standard input does not have
	tr ' ' '\n' | sed 's/=$//; s/^\(--[a-z-]*\)\t.*/\1/' | sort -u | comm -13 - "$T/$1.help" | tr '\n' ' '
}

# ---- bash ----
bash --norc --noprofile -c '. "$1" && complete -p lizard lizard-trace lizard-gdb' - "$bash_file" >"$T/out" 2>&1
is "$? $(grep -c -- '-F _lizard ' "$T/out")" "0 3" "bash can source it" || diag "$(cat "$T/out")"
in_bash() { # WORDS...: how the last one can go on, sorted
	bash --norc --noprofile -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lizard 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		"$bash_file" "$@" | sort | tr '\n' ' '
}
is "$(for command in $commands; do in_bash lizard "$command" -- | missing "$command"; done)" "" "bash: each option of each command"
is "$(in_bash lizard-trace --flow)" "--flow-limit= --flow= " "bash: of lizard-trace"
is "$(in_bash lizard hu)" "hunt " "bash: commands"
is "$(in_bash lizard-trace --keep '') / $(in_bash lizard-trace --keep = f) / $(in_bash lizard-trace --keep =)" \
	"always failure signal  / failure  / always failure signal " "bash: the words that an option takes"
is "$(in_bash lizard-trace -o '') / $(in_bash lizard-trace --summary '')" "folder  / file folder " "bash: a directory, a file"
is "$(in_bash lizard info pr) / $(in_bash lizard-gdb -e pr)" "prog-1  / prog-1 " "bash: recordings"
is "$(in_bash lizard hunt -n 3 --chaos uptim | tr ' ' '\n' | sort -u | grep -x uptime)" uptime "bash: a program"
is "$(in_bash lizard-trace -q ls --ke) / $(in_bash lizard-trace -o folder --ke)" "  / --keep-part= --keep= " "bash: the program's options are its own"

# ---- zsh ----
if command -v zsh >/dev/null; then
	zsh -fc 'fpath=("$1" $fpath); autoload -U compinit; compinit -D -u; autoload +X _lizard && print $_comps[lizard] $_comps[lizard-trace] $_comps[lizard-gdb]' \
		- "${zsh_file%/*}" >"$T/out" 2>&1
	is "$? $(cat "$T/out")" "0 _lizard _lizard _lizard" "zsh finds and loads it"
	in_zsh() { # COMMAND: its words for _arguments, as zsh sees them
		zsh -fc '_arguments() { print -l -- "$@"; }; . "$1"; _lizard_command $2' - "$zsh_file" "$1" 2>&1
	}
	is "$(for command in $commands; do in_zsh "$command" | sed 's/^([^)]*)//; s/[=[].*//' | missing "$command"; done)" "" "zsh: each option of each command"
else
	skip "zsh finds and loads it" "no zsh"
	skip "zsh: each option of each command" "no zsh"
fi

# ---- fish ----
if command -v fish >/dev/null; then
	in_fish() { # LINE: how it can go on
		HOME=$T fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$fish_file" "$1" 2>&1
	}
	is "$(for command in $commands; do in_fish "lizard $command --" | missing "$command"; done)" "" "fish: each option of each command"
	is "$(in_fish 'lizard-trace --keep ' | cut -f 1 | tr '\n' ' ')" "always failure signal " "fish: the words that an option takes"
	is "$(in_fish 'lizard info pr' | cut -f 1)" prog-1 "fish: recordings"
	is "$(in_fish 'lizard hu' | cut -f 1)" hunt "fish: commands"
	is "$(in_fish 'lizard trace uptim' | cut -f 1)" uptime "fish: a program"
else
	skip "fish: each option of each command" "no fish"
	skip "fish: the words that an option takes" "no fish"
	skip "fish: recordings" "no fish"
	skip "fish: commands" "no fish"
	skip "fish: a program" "no fish"
fi
cd /
done_testing
