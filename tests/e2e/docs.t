#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# No link of the documents is dangling, and no line of theirs is too long.
. "$(dirname "$0")/../lib/tap.sh"
cd "$LIZARD_SRC" || exit 1
out=$(scripts/check-links)
ok $? "every link of the documents leads somewhere, and no line is too long" || diag "$out"

# The check itself must be able to fail.
mkdir -p "$T/docs"
cd "$T" || exit 1
long=$(printf '%0101d' 0)
cat >docs/good.md <<END
# \`bs\` and [prev](#twice-1), and more_of it

See [a link of
two lines](good.md#bs-and-prev-and-more_of-it), [a folder](../docs),
[the web](https://example.org/x#y), \`[code](nowhere.md)\`.

    [code](nowhere.md) $long

\`\`\`
# code
[code](nowhere.md) $long
\`\`\`

| $long |

1. An item

   | $long |

## Twice
## Twice
END
is "$("$LIZARD_SRC/scripts/check-links" docs/good.md)" "" "links, code and tables that are as they must be are passed"

bad() { # TEXT PATTERN NAME
	printf '# Top\n\n%s\n' "$1" >docs/bad.md
	out=$("$LIZARD_SRC/scripts/check-links" docs/bad.md)
	is $? 1 "$3: the check fails"
	like "$out" "$2" "$3: it says where"
}
bad 'See [x](none.md).' '^docs/bad.md:3: none.md leads to no file$' "a file that is not there"
bad 'See [x](/etc/passwd).' '^docs/bad.md:3: /etc/passwd leads to no file$' "a path that is not relative"
bad 'See [x](good.md#thrice).' '^docs/bad.md:3: good.md#thrice: there is no such heading$' "an anchor of another file"
bad 'See [x](good.md#twice-2).' 'good.md#twice-2: there is no such heading$' "a heading's number that is too high"
bad 'See [x](#bottom).' '^docs/bad.md:3: #bottom: there is no such heading$' "an anchor of the same file"
bad 'See [x](good.md#code).' 'good.md#code: there is no such heading$' "a heading in code"
bad "$long" '^docs/bad.md:3: it has more than 100 columns$' "a long line"
done_testing
