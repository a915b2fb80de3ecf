#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# README's picture: a flame graph of the demo's recording, on stdout. Usage: demo/flames.sh RECORDING
# flamegraph.pl is that of Debian's libdevel-nytprof-perl. Its script and all that needs one are left out, and so is the
# bar below main. Its bars come in any order: they are sorted, so that the same recording gives the same picture.
set -eu
flamegraph=${FLAMEGRAPH:-/usr/share/perl5/Devel/NYTProf/flamegraph.pl}

lizard profile --folded - "${1:?usage: demo/flames.sh RECORDING}" |
	perl "$flamegraph" --hash --width 900 --height 17 --minwidth 2 --fonttype 'Verdana, sans-serif' \
		--countname 'bytes of markers' --title 'bc until it crashes: who called whom' |
	perl -0777 -pe 's{<(script|style).*?</\1>\s*}{}gs;
		s{<text[^>]*( id="|></text>).*\n}{}g;
		s{ (on\w+|class)="[^"]*"}{}g;
		s{(<g>.*</g>\n)}{join "", sort grep !/<title>all /, split /(?<=<\/g>\n)/, $1}se'
