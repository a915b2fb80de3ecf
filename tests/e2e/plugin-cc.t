#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lizard-cc as a drop-in CC: every way a build system calls a compiler, and its refusals.
. "$(dirname "$0")/../lib/tap.sh"
cd "$T" || exit 1

cat >main.c <<'END'
#include <stdio.h>
int square(int);
int main(int argc, char **argv)
{
	printf("%d\n", square(argc + 6));
	return argc - 1;
}
END
printf 'int square(int x)\n{\n\treturn x > 3 ? x * x : 0;\n}\n' >square.c
instrumented() {
	readelf -SW "$1" | grep -q ' \.lizard '
}

lizard-cc -c main.c && lizard-cc -O2 -c square.c -o sq.o && lizard-cc main.o sq.o -o apart
is "$(./apart)" 49 "-c, then linking only"
instrumented apart
ok $? "the program carries its graphs"
lizard-cc main.c square.c -o at_once; is "$(./at_once)" 49 "compiled and linked at once"
lizard-cc -S main.c -o - | $PLAIN_CC -x assembler -c - -o main2.o && lizard-cc main2.o sq.o -o from_s
is "$(./from_s)" 49 "-S, then plain gcc's assembler"
is "$(lizard-cc -E main.c | tail -n 1)" "}" "-E"
is "$(lizard-cc -MM main.c)" "main.o: main.c" "-MM"
echo '-O1 main.c "square.c" -o resp' >args && lizard-cc @args; is "$(./resp)" 49 "response file"
echo '-c -O1 main.c -o resp.o' >args && lizard-cc @args && [ -e resp.o ]
ok $? "response file with -c"
lizard-cc -x c - -o stdin_prog <main.c square.c 2>/dev/null || lizard-cc -x c main.c square.c -o stdin_prog
is "$(./stdin_prog)" 49 "-x c does not spoil the runtime"
ar rcs libsq.a sq.o && lizard-cc main.c -L. -lsq -o with_archive; is "$(./with_archive)" 49 "an archive"
lizard-cc -r main.o sq.o -o both.o && lizard-cc both.o -o from_r; is "$(./from_r)" 49 "-r"
instrumented from_r
ok $? "-r keeps the graphs"

lizard-cc -nostdlib -no-pie -Wl,-r main.o sq.o -o both.o && lizard-cc both.o -o from_wl_r; is "$(./from_wl_r)" 49 "-Wl,-r"
printf -- '-flizard-check main.c square.c -o checked\n' >args && lizard-cc @args; is "$(./checked)" 49 "our option in a response file"
printf '#include <stdio.h>\nint square(int);\n' >head.h
lizard-cc -O1 head.h && lizard-cc -O1 -include head.h -H main.c square.c -o precompiled 2>log
is "$(./precompiled; grep -c '^! .*head.h.gch' log)" "49
2" "a precompiled header"
rm -f head.h.gch && lizard-cc -O1 -x c-header head.h -o head.h.gch && lizard-cc -O1 -x c head.h -c -o /dev/null
ok $? "-x c-header, and -x c for a header"

lizard-cc -O2 -fPIC -shared -Wl,-z,defs square.c -o libsquare.so
ok $? "-shared with -z defs"
lizard-cc -O2 -fPIC -Xlinker -shared square.c -o libsquare2.so
ok $? "the linker's -shared by -Xlinker"
lizard-cc main.c -L. -lsquare -Wl,-rpath,"$T" -o with_lib
is "$(./with_lib)" 49 "instrumented program and library"
$PLAIN_CC main.c -L. -lsquare -Wl,-rpath,"$T" -o plain_host
is "$(./plain_host)" 49 "plain program, instrumented library"
$PLAIN_CC -fPIC -shared square.c -o libsquare.so
is "$(./with_lib)" 49 "instrumented program, plain library"
lizard-cc -O2 -fPIC -shared square.c -o libplug.so
cat >dl.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	int (*f)(int) = (int (*)(int))dlsym(dlopen("./libplug.so", RTLD_NOW), "square");

	printf("%d\n", f(9));
	return 0;
}
END
lizard-cc dl.c -o dl; is "$(./dl)" 81 "dlopen from an instrumented program"
$PLAIN_CC dl.c -o dl; is "$(./dl)" 81 "dlopen from a plain program"
printf '{ local: *; };' >map
lizard-cc -fPIC -shared -Wl,--version-script=map square.c -o libhidden.so
ok $? "a version script that hides everything"

for flags in -static -static-pie -no-pie "-ffunction-sections -fdata-sections -Wl,--gc-sections" -s \
	"-fuse-ld=gold" "-pthread -fopenmp" "-fstack-protector-all -D_FORTIFY_SOURCE=2 -O2" "-pg" \
	"-fcf-protection=full" "-fsanitize=address,undefined" "--coverage" "-Wl,--as-needed" "-O2 -g3 -gdwarf-5" \
	"-fsplit-stack" "-Wl,-z,now -Wl,-z,relro" "-Wall -Wextra -Werror" "-std=c99 -pedantic-errors"; do
	lizard-cc $flags main.c square.c -o flags 2>log
	is "$(./flags 2>&1)" 49 "$flags" || diag "$(cat log)"
	instrumented flags
	ok $? "$flags: the graphs are there"
done
# Constructors that a sanitizer adds when the unit is done, among functions that were inlined and are gone.
cat >gone.c <<'END'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf there;
struct node { struct node *next; int value; };
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static struct node *add(struct node *list, int value)
{
	struct node *n = malloc(sizeof(*n));

	n->value = value;
	n->next = list;
	return n;
}
static int sum(struct node *list) { return list ? list->value + sum(list->next) : 0; }
static void deep(int n)
{
	if (n == 0)
		longjmp(there, 5);
	deep(n - 1);
}
int main(void)
{
	struct node *list = NULL, *next;
	int a[50];

	for (int i = 0; i < 50; i++) {
		a[i] = i * 37 % 101;
		list = add(list, a[i]);
	}
	qsort(a, 50, sizeof(*a), cmp);
	if (!setjmp(there))
		deep(7);
	printf("%d %d\n", a[49], sum(list));
	for (; list; list = next) {
		next = list->next;
		free(list);
	}
	return 0;
}
END
for flags in "-fsanitize=thread" "-fsanitize=address,undefined" "-fsanitize=address" "-fprofile-generate"; do
	lizard-cc -flizard-check -O2 $flags gone.c -o gone; is "$(./gone 2>&1)" "100 2501" "-O2 $flags: constructors"
done

cat >places.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int plain(int x) { return x > 3 ? x * 3 : 1; }
__attribute__((cold, noinline)) int seldom(int x) { return x > 3 ? x * 5 : 1; }
__attribute__((section(".init.text"), noinline)) int early(int x) { return x > 3 ? x * 7 : 1; }
__attribute__((constructor)) static void begin(void) { puts("begin"); }
int main(int argc, char **argv)
{
	if (argc > 8)
		abort();
	printf("%d\n", plain(argc) + seldom(argc) + early(argc));
	return 0;
}
END
printf 'int unused(int x) { return x > 3 ? x : 1; }\n__attribute__((cold)) int unused_cold(int x) { return x > 3 ? x : 2; }\n' >unused.c
lizard-cc -O2 -c places.c; is "$(readelf -SW places.o | grep -o ' \.rela[^ ]*' | sort | uniq -d)" "" \
	"no two relocation sections of one name: simple linkers read the object"
for flags in "" -ffunction-sections "-ffunction-sections -fuse-ld=lld"; do
	case $flags in *lld) command -v ld.lld >/dev/null || continue ;; esac
	lizard-cc -O2 $flags -Wl,--gc-sections -s places.c unused.c -o places &&
		is "$(lizard-trace -q ./places && lizard verify places-latest | grep -o clean)" "begin
3
clean" "--gc-sections $flags: the graphs of all that is left"
	strings -a places | grep unused
	is $? 1 "--gc-sections $flags: none of what is gone"
done
lizard-cc -O2 -ffunction-sections -fuse-ld=gold -Wl,-O1,--gc-sections places.c unused.c -o places 2>log
is "$(./places | tail -n 1)" 3 "gold's --gc-sections is left out"
like "$(cat log)" "warning: gold" "with a warning"
for flags in "-static" "" "-static-pie" "-static -no-pie"; do
	lizard-cc -flizard-check -O1 -nostdlib $flags "$LIZARD_SRC/tests/progs/constructs/lib/own_start.c" -o own
	is "$(./own; echo $?)" Y0 "-nostdlib $flags"
done

cat >neighbours.c <<'END'
int neighbours(const unsigned char *w, int width)
{
	int n = 0;

	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dy || dx)
				n += w[dy * width + dx];
	return n;
}
END
in_line() { # what adds follows its marker, without a jump, and no jump leads to it
	awk '/^\t(jmp|ret)/ { away = 1 } /^\tj[^m]/ { away = 0 } /^\t(j|ret)/ { marked = 0 }
		/lz\.edge/ { marked = !away } /movzbl/ { found = marked } END { exit !found }'
}
in_line_name="a marker on an edge that GCC thinks is taken in a fifth of the cases (it is in eight ninths) is in line"
few_bytes_name="where GCC's guesses of branches say little, markers are where they cost little whichever way is taken"
# GCC 14 and newer say "never" of that edge, which is no guess that says little.
$PLAIN_CC -O2 -S -o /dev/null -fdump-tree-optimized-blocks="$T/guesses" neighbours.c
never=$(grep -c 'goto.*\[0\.00%\]' guesses)
if grep -q 'goto.*\[50\.00%\]' guesses; then
	skip "$in_line_name" "this GCC thinks that it is taken in half of the cases"
elif [ "$never" = 0 ]; then
	lizard-cc -O2 -S -o - neighbours.c | in_line
	ok $? "$in_line_name"
else
	skip "$in_line_name" "this GCC thinks that it is never taken"
fi
sed 's/(dy || dx)/(__builtin_expect(dy || dx, 0))/' neighbours.c >rare.c
! lizard-cc -O2 -S -o - rare.c | in_line
ok $? "where the program says that it is rare it is not"
# Each call has nine rounds and writes 18 bytes; where GCC's guesses decide it is 21.
{ sed 's/^int/__attribute__((noipa)) int/' neighbours.c; echo 'static unsigned char w[64]; int main(void) { int n = 0; for (int i = 0; i < 1000; i++) n += neighbours(w + 20, 8); return n; }'; } >calls.c
lizard-cc -O2 calls.c -o calls && lizard-trace -q -o "$T/recordings/calls" ./calls
bytes=$(lizard info --json "$T/recordings/calls" | sed 's/.*"marker_bytes": \([0-9]*\).*/\1/')
if [ "$never" = 0 ]; then
	[ "$bytes" -le 20000 ]
	ok $? "$few_bytes_name" || diag "$bytes bytes"
else
	skip "$few_bytes_name" "this GCC thinks that an edge is never taken"
fi

version=$($PLAIN_CC -dumpversion | cut -d. -f1)
is "$(lizard-cc --version)" "$($PLAIN_CC --version)" "--version is GCC's"
is "$(lizard-cc -dumpversion; lizard-cc -dumpmachine; lizard-cc -print-file-name=libc.so)" \
	"$($PLAIN_CC -dumpversion; $PLAIN_CC -dumpmachine; $PLAIN_CC -print-file-name=libc.so)" "-dump..., -print..."
is "$(lizard-cc -v 2>&1 | grep -c "^gcc version $version\.")" 1 "-v alone"
like "$(lizard-cc --help)" "lizard-check" "--help tells of our option"
like "$(lizard-cc 2>&1)" "no input files" "no input files"
like "$(lizard-cc missing.c 2>&1)" "missing.c" "a missing file is named"
lizard-cc missing.c 2>/dev/null
is $? 1 "with status 1"

plugin=$(cd "$LIZARD_BIN/../lib/lizard/gcc-$version" && pwd)/lizard_plugin.so
like "$($PLAIN_CC -fplugin="$plugin" -fplugin-arg-lizard_plugin-chekc -c main.c 2>&1)" \
	"unknown plugin argument .chekc" "a wrong plugin argument is named"
like "$($PLAIN_CC -fplugin="$plugin" -fplugin-arg-lizard_plugin-check=yes -c main.c 2>&1)" \
	"takes no value, got .yes" "a value too many as well"
# Which GCC is taken: --gcc, then the name, then LIZARD_GCC, then the system's.
like "$(LIZARD_GCC=/nonexistent/gcc lizard-cc main.c 2>&1)" "cannot run /nonexistent/gcc.* --gcc=N or LIZARD_GCC=N: .*$version" "a missing GCC is named"
like "$(lizard-cc --gcc=5 main.c 2>&1)" "cannot run gcc-5: No such file" "one of which only the version is said as well"
printf '#!/bin/sh\necho 99.1.0\n' >gcc-other && chmod +x gcc-other && cp gcc-other g++-other
like "$(LIZARD_GCC=./gcc-other lizard-cc main.c 2>&1)" "no plugin for GCC 99 \(./gcc-other\): install the package gcc-99-plugin-dev.*: .*$version" \
	"where there is no plugin, the package is named"
LIZARD_GCC=./gcc-other lizard-cc main.c >log 2>&1; is $? 1 "with status 1"
like "$(lizard-c++ --gcc=./gcc-other main.c 2>&1)" "GCC 99 \(./g\+\+-other\)" "lizard-c++ takes the g++ beside it"
printf '#!/bin/sh\necho 9\n' >gcc-old && chmod +x gcc-old
like "$(lizard-cc --gcc=./gcc-old main.c 2>&1)" "gcc-old is GCC 9, and Lizard needs GCC 11 or newer" "one that is too old"
is "$(LIZARD_GCC=./gcc-other lizard-cc -dumpversion)" 99.1.0 "what compiles nothing needs no plugin"
path=$(command -v "$PLAIN_CC")
LIZARD_GCC=$path lizard-cc main.c square.c -o named_gcc; is "$(./named_gcc)" 49 "LIZARD_GCC"
ln -s "$(command -v lizard-cc)" "lizard-gcc-other"
like "$(PATH=$T:$PATH lizard-gcc-other main.c 2>&1)" "GCC 99 \($T/gcc-other\)" "lizard-NAME takes the GCC of that name"
like "$(PATH=$T:$PATH LIZARD_GCC=5 lizard-gcc-other main.c 2>&1)" "GCC 99" "also where LIZARD_GCC is set"
./lizard-gcc-other --gcc="$path" main.c square.c -o by_option; is "$(./by_option)" 49 "--gcc is stronger"
echo "--gcc=$path main.c square.c -o from_file" >args && LIZARD_GCC=5 lizard-cc @args; is "$(./from_file)" 49 "--gcc in a response file"
mkdir masked next && ln -s "$(command -v lizard-cc)" masked/gcc && ln -s "$path" next/gcc
PATH=$T/masked:$T/next:$PATH LIZARD_GCC= timeout 20 gcc main.c square.c -o masked/prog; is "$(masked/prog)" 49 "called gcc it takes the next gcc of PATH"
for driver in "$LIZARD_BIN"/lizard-gcc-*; do
	number=${driver##*-}
	"$driver" -flizard-check -O2 -c square.c -o each.o && "$driver" -flizard-check main.c each.o -o each
	like "$(./each) $(readelf -p .comment each.o | grep GCC:)" "^49 .*GCC: .* $number\." "$(basename "$driver") compiles"
	LIZARD_GCC=$number lizard-c++ -x c++ -c square.c -o each++.o
	like "$(readelf -p .comment each++.o)" "GCC: .* $number\." "LIZARD_GCC=$number with lizard-c++"
done
like "$($PLAIN_CC main.o sq.o -o plainly 2>&1)" "undefined reference to .__lizard_" "another compiler as linker says what is missing"
like "$(lizard-cc -m32 -c main.c -ffreestanding -o m32.o 2>&1)" "warning: only 64-bit" "-m32 is left out with a warning"
printf 'register long r __asm__("r15");\nint f(void)\n{\n\treturn (int)r;\n}\n' >global.c
like "$(lizard-cc -c global.c 2>&1)" "warning: .*r15 is a global register" "a global register variable r15: left out with a warning"

cat >Makefile <<'END'
app: main.o square.o
	$(CC) $(LDFLAGS) $^ -o $@
END
rm -f main.o && make -s CC=lizard-cc CFLAGS="-O2 -g" >log 2>&1; is "$(./app)" 49 "plain make"
if command -v cmake >/dev/null; then
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(app C)\nadd_library(sq SHARED square.c)\nadd_executable(capp main.c)\ntarget_link_libraries(capp sq)\n' >CMakeLists.txt
	cmake -B cm -DCMAKE_C_COMPILER=lizard-cc >log 2>&1 && cmake --build cm >>log 2>&1
	is "$(cm/capp)" 49 "CMake" || diag "$(tail -5 log)"
else
	skip "CMake" "it is not installed"
fi
printf 'extern "C" int square(int);\n#include <iostream>\nint main() { std::cout << square(5) << std::endl; }\n' >main.cc
lizard-c++ -O2 main.cc sq.o -o cxx; is "$(./cxx)" 25 "lizard-c++"
done_testing
