#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# jump_forward output and jump_backward output. The truth is what the program wrote, and the calls at which a forward run in GDB
# is caught.
. "$(dirname "$0")/../lib/tap.sh"
. "$LIZARD_SRC/tests/lib/gdb.sh"

prog_build output -O0 -lpthread && record output "$T/log"
is $? 0 "recorded" || done_testing
rec=$T/output

out=$(SEEN=$T/seen gdb_run "$rec" -x "$LIZARD_SRC/tests/lib/output_jumps.py" </dev/null)
for seen in 1:output.out 2:output.err 7:log; do
	cmp -s "$T/seen.${seen%%:*}" "$T/${seen#*:}"
	ok $? "the forward run has seen all of ${seen#*:}"
done
is "$(printf '%s\n' "$out" | grep -c '^RESULT right .*: [1-9]')" 11 "each jump leads where a forward run was caught" || diag "$(printf '%s\n' "$out" | tail -n 20)"
is "$(printf '%s\n' "$out" | grep -c '^RESULT right ')" 12 "or nowhere"

# What fails does not end it.
set --
while read -r command; do
	set -- "$@" -ex "$command"
done <<'END'
echo -- one\n
jump_forward output m 1 by
when
echo -- none\n
jump_forward output no such
when
echo -- bad\n
jump_forward output (
echo -- file\n
jump_forward output -fd 7 ^last
echo -- undo\n
undo-move
when
echo -- complete\n
complete jump_backward outp
echo -- done\n
END
out=$(gdb_run "$rec" "$@" </dev/null)
like "$(section "$out" one)" '^Output to descriptor 1: item 1 by$' "what matched is shown, as far as it is written"
# In glibc 2.41 write() makes its call in another function.
like "$(section "$out" one)" 'by_bytes|write|__internal_syscall_cancel' "and the place"
like "$(section "$out" none)" '^Nothing that matches "no such" is written later to descriptor 1 or 2 \(-fd N: to descriptor N\)\.$' "nothing: it is said"
here=$(section "$out" one | grep '^position')
is "$(section "$out" none | grep '^position')" "$here" "... and nothing moves"
like "$(section "$out" bad)" '^`\(` is no regular expression: ' "what is no regular expression"
like "$(section "$out" file)" '^Output to descriptor 7: last of$' "another descriptor"
is "$(section "$out" undo | grep '^position')" "$here" "undo-move takes one back"
like "$(section "$out" complete)" '^jump_backward output$' "the word is completed"

done_testing
