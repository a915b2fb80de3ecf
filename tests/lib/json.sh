# SPDX-License-Identifier: GPL-3.0-or-later
# Looking into JSON in tests. Sourced after tap.sh.

# json EXPRESSION: Perl's, of the value $o on standard input
json() {
	perl -MJSON::PP -0777 -e '$o = JSON::PP->new->allow_nonref->decode(<STDIN>); print eval $ARGV[0]; die $@ if $@' "$1"
}
