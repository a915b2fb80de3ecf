#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recipes of docs/howto/ci.md, each as it stands there, on a small project of which one test fails.
. "$(dirname "$0")/../lib/tap.sh"

doc=$LIZARD_SRC/docs/howto/ci.md
recipe() { # LANGUAGE HEADING: the first block of that language below it
	awk -v language="$1" -v heading="$2" '
		/^##/ { here = ($0 == "### " heading || $0 == "## " heading) }
		here && $0 == "```" language { inside = 1; next }
		inside && $0 == "```" { exit }
		inside { print }' "$doc"
}
step() { # HEADING KEY: the lines of `KEY: |` or `- |` behind the line that has NAME
	recipe yaml "$1" | awk -v name="$2" '
		index($0, name) { here = 1 }
		here && /\|$/ && !inside { inside = 1; next }
		inside { match($0, /^ */); if (!indent) indent = RLENGTH; if (RLENGTH < indent) exit; print substr($0, indent + 1) }'
}
project() { # NAME FILES...: each with two programs, one of which fails
	rm -rf "$LIZARD_TRACE_DIR" && mkdir "$T/$1" && cd "$T/$1" || exit 1
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >good.c
	printf '#include <stdio.h>\nstatic int half(int n, int by)\n{\n\treturn n / by;\n}\nint main(void)\n{\n\tputs("halving");\n\tfflush(stdout);\n\treturn half(7, 0);\n}\n' >bad.c
}
kept() {
	ls "$LIZARD_TRACE_DIR" 2>/dev/null | grep -v -e '-latest$' | tr '\n' ' '
}
run() { # HEADING: its recipe; the status
	recipe sh "$1" >recipe
	[ -s recipe ] || diag "no recipe for $1"
	timeout 300 sh -e recipe >out 2>&1
	echo $?
}
needs() { # NAME PROGRAM...: skips the case NAME without them
	for program in "${@:2}"; do
		command -v "$program" >/dev/null || { skip "$1" "no $program"; return 1; }
	done
}

if needs CTest cmake ctest make; then
	project cmake
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(small C)
enable_testing()
foreach(name good bad)
	add_executable(${name} ${name}.c)
	add_test(NAME ${name} COMMAND ${name})
endforeach()
END
	status=$(run CTest)
	is "$status $(grep -c '^50% tests passed, 1 tests failed' out) $(kept)" "8 1 bad-1 " "CTest: the failed test is kept, no other" || diag "$(tail -n 20 out)"
	is "$(lizard info bad-1 | sed -n 's/^instrumented  *//p')" yes "... with markers"
fi

if needs Meson meson ninja; then
	project meson
	cat >meson.build <<'END'
project('small', 'c')
foreach name : ['good', 'bad']
	test(name, executable(name, name + '.c'))
endforeach
END
	status=$(run Meson)
	is "$status $(grep -c '^Fail: *1' out) $(kept)" "1 1 bad-1 " "Meson: the failed test is kept, no other" || diag "$(tail -n 20 out)"
	is "$(lizard info bad-1 | sed -n 's/^instrumented  *//p')" yes "... with markers"
fi

if needs Automake automake autoconf make; then
	project automake
	printf 'AC_INIT([small], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' >configure.ac
	printf 'check_PROGRAMS = good bad\nTESTS = $(check_PROGRAMS)\n' >Makefile.am
	status=$(run Automake)
	is "$status $(grep -c '^# FAIL:  1$' out) $(kept)" "2 1 bad-1 " "Automake: the failed test is kept, no other" || diag "$(tail -n 20 out)"
	is "$(lizard info bad-1 | sed -n 's/^instrumented  *//p')" yes "... with markers"
fi

project python
lizard-cc -g good.c -o good && lizard-cc -g bad.c -o bad-7
{
	recipe python "Pytest, unittest and the like"
	cat <<'END'
import unittest

class Small(unittest.TestCase):
    def test_good(self):
        self.assertEqual(run("./good").returncode, 0)

    def test_bad(self):
        self.assertEqual(run("./bad-7").stdout, "halving\n")
        self.assertEqual(run("./bad-7").returncode, 0)
END
} >test_small.py
status=$(run "Pytest, unittest and the like")
is "$status $(grep -c '^FAILED (failures=1)' out) $(kept)" "1 1 bad-7-1 bad-7-2 " "unittest: the failed runs are kept, no others" || diag "$(tail -n 20 out)"

# ---- the jobs: beside the recordings there is a link, bad-7-latest ----
step "GitHub Actions" "- name: Report" >report
GITHUB_STEP_SUMMARY=$PWD/summary timeout 120 sh -e report >out 2>&1
is "$? $(grep -c '^## Recording by Lizard$' summary) $(grep -c '^#0  half (n=7, by=0) at bad.c:4$' summary) $(grep -c '^1| halving$' summary)" "0 2 2 2" \
	"GitHub: the report is in the summary" || diag "$(cat report out summary)"
is "$(lizard unpack failures.lizard | sed 's|.*/\(bad-7-[12]\)\.[0-9a-f]*$|\1|' | sort | tr '\n' ' ')" "bad-7-1 bad-7-2 " "... and a pack of all failures is there"
rm failures.lizard
step GitLab after_script >report
(LIZARD_TRACE_DIR=$T/only && mkdir "$T/only" && mv "$T/recordings"/bad-7-1 "$T/only" && export LIZARD_TRACE_DIR && timeout 120 sh -e report >out 2>&1)
is "$? $(grep -c '^  #0  half (n=7, by=0) at bad.c:4$' out) $(grep -c '^#0  half (n=7, by=0)' report.md) $(lizard unpack failures.lizard new)" "0 1 1 new" \
	"GitLab: the report is in the log and a file, the pack beside it" || diag "$(cat report out)"
rm -rf "$T/none" failures.lizard && mkdir "$T/none"
for job in "GitHub Actions:- name: Report" GitLab:after_script; do
	step "${job%%:*}" "${job#*:}" >report
	LIZARD_TRACE_DIR=$T/none GITHUB_STEP_SUMMARY=$PWD/empty sh -e report >out 2>&1
	is "$? $(cat out; ls failures.lizard empty 2>/dev/null)" "0 " "${job%%:*}: no recordings, no report"
done
if python3 -c 'import yaml' 2>/dev/null; then
	for job in "GitHub Actions" GitLab; do
		recipe yaml "$job" | python3 -c 'import sys, yaml; print(*next(iter(v.get("jobs", v) for v in [yaml.safe_load(sys.stdin)])))' >out 2>&1
		is "$(cat out)" recorded-tests "$job: it is YAML"
	done
else
	skip "GitHub Actions: it is YAML" "no yaml module for Python"
	skip "GitLab: it is YAML" "no yaml module for Python"
fi
cd /
done_testing
