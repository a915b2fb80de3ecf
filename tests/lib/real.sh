# SPDX-License-Identifier: GPL-3.0-or-later
# Real programs for tests, demo and bench: built from Debian source packages, run on generated inputs that
# are the same everywhere. Sourced; needs LIZARD_SRC.
#
#   real_build NAME CC CFLAGS DIR [PATCH]   builds into DIR (a copy of the source), prints the program's path
#   real_input NAME DIR [SCALE]             writes the inputs into DIR; SCALE multiplies the work (default 1)
#   real_command NAME PROGRAM DIR           prints the shell command that runs it; stdout is the result

REAL_PROGRAMS="bzip2 gzip bc lua"
REAL_LONG="xz" # where LIZARD_LONG is set

real_package() {
	case $1 in
	lua) echo lua5.4 ;;
	make) echo make-dfsg ;;
	ninja) echo ninja-build ;;
	xz) echo xz-utils ;;
	*) echo "$1" ;;
	esac
}

# Configures the source in the present directory.
real_configure() {
	case $1 in
	make)
		# Debian has taken configure out. What gettext's own files would be, m4/ has.
		AUTOPOINT=true autoreconf -f -i && ./configure -q --disable-dependency-tracking --disable-nls --without-guile ;;
	cadical)
		touch config.status ;; # what its configure finds out is given to the compiler
	jq)
		# What its configure finds out is given to the compiler; without libtool, and without regular expressions.
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' src/builtin.jq >src/builtin.inc &&
			echo '#define JQ_VERSION "1.6"' >src/version.h &&
			# Hashes that are the same in each run.
			sed -i -e 's|open("/dev/urandom", O_RDONLY)|-1|' -e 's/(uint32_t)getpid() ^ (uint32_t)time(NULL)/77/' src/jv.c &&
			touch config.status ;;
	nginx)
		./configure --with-cc=gcc --prefix=. --without-http_rewrite_module && touch config.status ;;
	sqlite3)
		./configure -q --disable-tcl --disable-readline && make sqlite3.c shell.c ;;
	xz)
		./configure -q --disable-dependency-tracking --disable-nls --disable-shared ;;
	tcc)
		./configure --cc=gcc --triplet=x86_64-linux-gnu && touch config.status ;;
	*)
		# Patched inputs must not ask for the automake of their day.
		for f in aclocal.m4 configure config.h.in */config.hin Makefile.in */Makefile.in; do
			[ -e "$f" ] && touch "$f"
		done
		./configure -q --disable-dependency-tracking ;;
	esac
}

# A configured copy of a source: configure runs once per machine and version of this file, each build then names its compiler.
real_configured() (
	source=$("$LIZARD_SRC/tests/lib/fetch-source" "$(real_package "$1")") || exit 1
	[ -e "$source/configure" ] || [ -e "$source/configure.ac" ] || { echo "$source"; exit 0; }
	done=$(dirname "$source").configured-$(cksum <"$LIZARD_SRC/tests/lib/real.sh" | cut -d' ' -f1)
	exec 9>"$done.lock"
	flock 9
	if [ ! -e "$done/config.status" ]; then
		rm -rf "$done.part" && cp -a "$source" "$done.part" && cd "$done.part" || exit 1
		real_configure "$1" >configure.log 2>&1 </dev/null 9>&- || { tail -n 20 configure.log >&2; exit 1; }
		rm -rf "$done" && mv "$done.part" "$done" || exit 1
	fi
	echo "$done"
)

# GCC 14 takes for errors, and GCC 15 for other code, what C programs of earlier days have.
real_dialect() {
	[ "$("$1" -dumpversion | cut -d. -f1)" -lt 14 ] || echo "-std=gnu17 -fpermissive "
}

# The C++ compiler that belongs to a C compiler.
real_cxx() {
	echo "${1%cc}$(case $1 in *lizard-cc) echo c++ ;; *) echo ++ ;; esac)"
}

# C++ headers take longer to read than a file's own code: makes N files of all FILES.
real_units() { # N FILE...
	units=$1
	shift
	printf '#include "%s"\n' "$@" | awk -v n="$units" '{ print >"unit" NR % n ".cc" }'
}

# Builds PROGRAM of these, for real_build.
real_join() { # PROGRAM OPTION...
	program=$1
	shift
	printf '%s: $(patsubst %%.cc,%%.o,$(wildcard unit*.cc))\n\t$(CXX) $^ -o $@\n' "$program" >units.mk &&
		make -j2 -f units.mk CXX="$(real_cxx "$cc")" CXXFLAGS="$cflags -w $*"
}

real_build() (
	name=$1 cc=$2 cflags=$(real_dialect "$2")$3 dir=$4 patch=${5:-}
	source=$(real_configured "$name") || exit 1
	rm -rf "$dir" && mkdir -p "$(dirname "$dir")" && cp -a "$source" "$dir" && cd "$dir" || exit 1
	[ -z "$patch" ] || patch -s -p1 <"$patch" || exit 1
	case $name in
	cadical)
		# mobical is a program of its own. Some files have names in common, but not every fifth.
		rm -f src/mobical.cpp && real_units 5 src/*.cpp && real_join cadical -DNBUILD -DNDEBUG ;;
	ninja)
		# Its own build files want Python.
		rm -f src/*test.cc src/*win32*.cc src/*.in.cc src/browse.cc src/hash_collision_bench.cc &&
			real_units 2 src/*.cc && real_join ninja -std=c++11 -DUSE_PPOLL=1 ;;
	bzip2)
		# Debian's makefile links the shared library, which would be the installed one when run.
		printf 'OBJS = %s\nbzip2: $(OBJS)\n\t$(CC) $^ -o $@\n' "blocksort.o huffman.o crctable.o \
			randtable.o compress.o decompress.o bzlib.o bzip2.o" >bzip2.mk &&
			make -f bzip2.mk CC="$cc" CFLAGS="$cflags -D_FILE_OFFSET_BITS=64" && program=bzip2 ;;
	gzip)
		make CC="$cc" CFLAGS="$cflags" MAKEINFO=true && program=gzip ;;
	bc)
		make CC="$cc" CFLAGS="$cflags" MAKEINFO=true && program=bc/bc ;;
	gperf)
		for part in lib src; do
			make -C $part CC="$cc" CXX="$(real_cxx "$cc")" CFLAGS="$cflags" CXXFLAGS="$cflags -std=c++14 -w" || exit 1
		done && program=src/gperf ;;
	dash)
		# Debian's priv.c is known to its Makefile.am only.
		make -C src CC="$cc" CFLAGS="$cflags" priv.o && make CC="$cc" CFLAGS="$cflags" LIBS=priv.o && program=src/dash ;;
	redis)
		make -C src MALLOC=libc USE_SYSTEMD=no CC="$cc" OPTIMIZATION="${cflags% -g}" redis-server redis-benchmark redis-cli &&
			program=src/redis-server ;;
	pbzip2)
		# With bzip2's library in it, so that what the threads compute has markers.
		cp "$(real_configured bzip2)"/*.[ch] . && rm -f bzip2.c bzip2recover.c mk251.c spewG.c unzcrash.c dlltest.c &&
			printf 'OBJS = $(patsubst %%.c,%%.o,$(wildcard *.c)) $(patsubst %%.cpp,%%.o,$(wildcard *.cpp))\npbzip2: $(OBJS)\n\t$(CXX) -pthread $^ -o $@\n' >pbzip2.mk &&
			make -f pbzip2.mk CC="$cc" CXX="$(real_cxx "$cc")" CFLAGS="$cflags -D_FILE_OFFSET_BITS=64" \
				CXXFLAGS="$cflags -I. -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -pthread -DUSE_STACKSIZE_CUSTOMIZATION" &&
			program=pbzip2 ;;
	lua)
		# Debian's makefile wants libtool; the program alone needs no more than this.
		cd src && sources=$(ls l*.c | grep -v luac.c) &&
			printf 'lua: %s\n\t$(CC) -Wl,-E $^ -lm -ldl -o $@\n' "$(echo $sources | sed 's/\.c/.o/g')" >lua.mk &&
			echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >lua5.4-deb-multiarch.h &&
			make -f lua.mk CC="$cc" CFLAGS="-std=gnu99 $cflags -DLUA_COMPAT_5_3 -DLUA_USE_LINUX" &&
			program=src/lua ;;
	jq)
		cd src && printf 'jq: %s\n\t$(CC) $^ -lm -lpthread -o $@\n' \
			"$(ls *.c | grep -v inject_errors | sed 's/\.c/.o/' | tr '\n' ' ')" >jq.mk &&
			make -f jq.mk CC="$cc" CFLAGS="-std=gnu99 $cflags -I.. -D_GNU_SOURCE -DIEEE_8087=1 -DHAVE_ISATTY=1 -DHAVE_MEMMEM=1" &&
			program=src/jq ;;
	make)
		make CC="$cc" CFLAGS="$cflags" -C lib && make CC="$cc" CFLAGS="$cflags" make && program=make ;;
	nginx)
		make -f objs/Makefile CC="$cc" CFLAGS="$cflags" objs/nginx && program=objs/nginx ;;
	sqlite3)
		$cc $cflags -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_EXPLAIN_COMMENTS -o sqlite3 shell.c sqlite3.c -lpthread -ldl -lm &&
			program=sqlite3 ;;
	xz)
		make -C src/liblzma CC="$cc" CFLAGS="$cflags" && make -C src/xz CC="$cc" CFLAGS="$cflags" && program=src/xz/xz ;;
	tcc)
		make CC="$cc" CFLAGS="$cflags -fno-strict-aliasing -I." LDFLAGS= tcc libtcc1.a && program=tcc ;;
	esac >"$dir/lizard-build.log" 2>&1 </dev/null ||
		{ tail -n 20 "$dir/lizard-build.log" >&2; exit 1; }
	echo "$dir/$program"
)

# Text that compresses like text does: words drawn by a fixed generator.
real_text() {
	perl -e '
		my ($lines, $x) = (shift, 12345);
		sub rnd { $x = ($x * 1103515245 + 12345) & 0x7fffffff; return ($x >> 8) % $_[0]; }
		my @w = map { join "", map { chr(97 + rnd(26)) } 1 .. 2 + rnd(8) } 1 .. 2000;
		print join(" ", map { $w[rnd(1 + rnd(2000))] } 1 .. 5 + rnd(12)), "\n" for 1 .. $lines' "$1"
}

# Inserts in one transaction, an index, queries by it and without.
real_sql() {
	cat <<END
.open --new $2
CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL);
CREATE TABLE log(n INTEGER, what TEXT);
CREATE TRIGGER gone AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.id, old.b); END;
BEGIN;
END
	perl -e 'my $x = 4711; for (1 .. shift) {
		$x = ($x * 1103515245 + 12345) & 0x7fffffff;
		printf "INSERT INTO t VALUES(%d,%d,\x27%s\x27,%d.5);\n", $_, ($x >> 8) % 1000, "x" x (($x >> 4) % 30) . $x, $x % 777; }' "$1"
	cat <<END
COMMIT;
CREATE INDEX by_a ON t(a, b);
ANALYZE;
SELECT count(*), sum(a), total(c), max(b) FROM t;
SELECT a, count(*) AS n, max(b) FROM t WHERE a BETWEEN 100 AND 120 GROUP BY a ORDER BY n DESC, a;
EXPLAIN QUERY PLAN SELECT b FROM t WHERE a = 5;
UPDATE t SET c = c * 2 WHERE a % 7 = 3;
DELETE FROM t WHERE a < 20;
SELECT count(*), max(what) FROM log;
WITH RECURSIVE f(n, x, y) AS (SELECT 0, 0, 1 UNION ALL SELECT n + 1, y, x + y FROM f WHERE n < 60) SELECT max(x) FROM f;
SELECT x.id, y.id FROM t x JOIN t y ON x.a = y.a AND x.b < y.b ORDER BY x.c DESC, x.id, y.id LIMIT 5;
PRAGMA integrity_check;
END
}

# Sources for make: a program of three files, one of them with a generated header, and a library in a subdirectory.
real_project() {
	mkdir -p "$1/lib"
	cat >"$1/Makefile" <<'END'
OBJS := $(addsuffix .o,main show count)
CFLAGS = -O1 -g
prog: $(OBJS) lib/libwords.a
	$(CC) -o $@ $^
%.o: %.c config.h
	$(CC) $(CFLAGS) -c -o $@ $<
config.h: Makefile
	printf '\043define WORDS %d\n' $(words $(foreach i,1 2 3 4 5 6 7,a b c d e $(i))) >$@
lib/libwords.a: FORCE
	+$(MAKE) -C lib CFLAGS='$(CFLAGS)'
FORCE: ;
clean:
	rm -f *.o lib/*.o lib/*.a prog config.h
.PHONY: FORCE clean
END
	printf 'libwords.a: words.o hash.o\n\t$(AR) rcs $@ $^\n' >"$1/lib/Makefile"
	printf '%s\n' '#include "config.h"' 'int show(int);' 'int count(int n);' 'int main(void) { return show(count(WORDS)); }' >"$1/main.c"
	printf '%s\n' '#include <stdio.h>' 'int show(int n) { return printf("%d words\n", n) < 0; }' >"$1/show.c"
	printf '%s\n' 'int words(int);' 'int count(int n) { int k = 0; for (int i = 0; i < n; i++) k += words(i); return k; }' >"$1/count.c"
	printf '%s\n' 'unsigned hash(unsigned);' 'int words(int i) { return hash(i) != 7; }' >"$1/lib/words.c"
	printf '%s\n' 'unsigned hash(unsigned x) { return x * 2654435761u >> 3 | 8; }' >"$1/lib/hash.c"
}

# Layers of targets that never come to be, so that each run has the same to do; a third of them with a list of what they need.
real_targets() {
	cat <<'END'
rule say
  command = echo $out of $in
  description = SAY $out
rule list
  command = echo "$out: $in" >$out.d && echo $out listed
  depfile = $out.d
  deps = gcc
  restat = 1
END
	perl -e '
		my ($n, $x) = (shift, 99);
		sub rnd { $x = ($x * 1103515245 + 12345) & 0x7fffffff; return ($x >> 8) % $_[0]; }
		for my $i (1 .. $n) {
			my @in = map { "t" . (1 + rnd($i - 1)) } $i > 8 ? (1 .. 1 + rnd(4)) : ();
			my $rule = $i % 20 ? "phony" : $i % 3 ? "say" : "list";
			print "build t$i: $rule @in", $i % 7 ? "" : " | build.ninja", "\n", $i % 5 ? "" : "  mine = \$\$ \$out\n";
		}' "$1"
}

# Clauses of three literals each, near the ratio at which half of such formulas can be satisfied.
real_clauses() {
	perl -e '
		my ($n, $x) = (shift, 2024);
		sub rnd { $x = ($x * 1103515245 + 12345) & 0x7fffffff; return ($x >> 8) % $_[0]; }
		printf "p cnf %d %d\n", $n, $n * 4.4;
		for (1 .. $n * 4.4) {
			my %of;
			$of{1 + rnd($n)} = 1 while keys %of < 3;
			print map({ (rnd(2) ? $_ : -$_) . " " } sort { $a <=> $b } keys %of), "0\n";
		}' "$1"
}

# Keywords, as an assembler has them.
real_keywords() {
	perl -e '
		my ($n, $x) = (shift, 7);
		sub rnd { $x = ($x * 1103515245 + 12345) & 0x7fffffff; return ($x >> 8) % $_[0]; }
		my %of;
		while (keys %of < $n) {
			my $stem = join "", map { chr(97 + rnd(26)) } 1 .. 2 + rnd(3);
			$of{"$stem$_"} = 1 for ("", ("b", "w", "l", "q", "ss", "sd", "ps", "pd")[map { rnd(8) } 1 .. 2]);
		}
		print "struct op { const char *name; int code; };\n%%\n";
		print "$_, ", length, "\n" for sort keys %of;' "$1"
}

real_input() {
	mkdir -p "$2"
	case $1 in
	bzip2 | pbzip2) real_text $((180000 * ${3:-1})) >"$2/text" ;;
	gzip) real_text $((500000 * ${3:-1})) >"$2/text" ;;
	xz) real_text $((30000 * ${3:-1})) >"$2/text" ;;
	bc)
		cat >"$2/pi.bc" <<END
scale = 300
define f(n) { if (n < 2) return (n); return (f(n - 1) + f(n - 2)) }
p = 4 * a(1)
p
e(1)
f(18 + ${3:-1})
for (i = 1; i < 700; i++) s += sqrt(i) / (i + 1)
s
END
		;;
	lua)
		cat >"$2/work.lua" <<END
local scale = ${3:-1}
local function queens(n)
	local count, cols, d1, d2 = 0, {}, {}, {}
	local function place(r)
		if r > n then count = count + 1 return end
		for c = 1, n do
			if not cols[c] and not d1[r + c] and not d2[r - c + n] then
				cols[c], d1[r + c], d2[r - c + n] = true, true, true
				place(r + 1)
				cols[c], d1[r + c], d2[r - c + n] = nil, nil, nil
			end
		end
	end
	place(1)
	return count
end
print("queens", queens(9 + (scale > 1 and 1 or 0)))
local t, x = {}, 42
for i = 1, 180000 * scale do
	x = (x * 1103515245 + 12345) % 2147483648
	t[i] = string.format("%08x", x)
end
table.sort(t)
print("sorted", t[1], t[#t // 2], t[#t])
local words = {}
for i = 1, 120000 * scale do
	local w = t[i]:sub(1, 3)
	words[w] = (words[w] or 0) + 1
end
local n = 0
for w, c in pairs(words) do n = n + c * #w end
print("words", n)
local s = {}
for i = 1, 60000 * scale do s[#s + 1] = t[i]:reverse():upper() end
print("joined", #table.concat(s, ","))
END
		;;
	cadical) real_clauses $((120 + 20 * ${3:-1})) >"$2/clauses" ;;
	sqlite3) real_sql $((200000 * ${3:-1} / ${REAL_PART:-1})) "$2/db" >"$2/work.sql" ;;
	gperf) real_keywords $((400 * ${3:-1})) >"$2/words" ;;
	ninja) real_targets $((1500 * ${3:-1})) >"$2/build.ninja" ;;
	tcc) real_build tcc gcc -O1 "$2/tcc" >/dev/null ;;
	make) real_project "$2" ;;
	jq) real_records $((2000 * ${3:-1})) >"$2/records.json" ;;
	esac
}

# Records with numbers, strings, lists and gaps.
real_records() {
	perl -e '
		my ($n, $x) = (shift, 31);
		sub rnd { $x = ($x * 1103515245 + 12345) & 0x7fffffff; return ($x >> 8) % $_[0]; }
		for my $i (1 .. $n) {
			my @tags = map { "\"t" . rnd(40) . "\"" } 1 .. rnd(5);
			printf "{\"id\":%d,\"name\":\"n\\u00e9%x\",\"size\":%d.%d,\"tags\":[%s],\"next\":%s}\n",
				$i, rnd(65536), rnd(900), rnd(100), join(",", @tags), rnd(3) ? "{\"id\":" . rnd($n) . "}" : "null";
		}' "$1"
}

# The compiler $1 with all that it needs for its own source, which is in $2; "": these arguments only.
real_tcc() {
	echo "${1:+'$1'} -B'$2/tcc' -I'$2/tcc/include' -I'$2/tcc' -DONE_SOURCE=1 -DTCC_TARGET_X86_64" \
		"'-DCONFIG_TRIPLET=\"x86_64-linux-gnu\"' -lm -ldl -lpthread"
}

real_command() {
	case $1 in
	bzip2) echo "'$2' -9 -c '$3/text'" ;;
	dash) echo "'$2' '$LIZARD_SRC/tests/progs/follow/pipes.sh' '$3/out'" ;;
	pbzip2) echo "'$2' -p4 -b2 -k -c '$3/text'" ;;
	gzip) echo "'$2' -9 -n -c '$3/text'" ;;
	xz) echo "'$2' -T1 -6 -c '$3/text'" ;;
	bc) echo "'$2' -lq '$3/pi.bc' </dev/null" ;;
	cadical) echo "'$2' -q --no-binary '$3/clauses' -" ;; # what it has learned, then the answer
	gperf) echo "'$2' -t -D -m 3 --output-file='$3/table.c' '$3/words' && grep -v Command-line '$3/table.c'" ;;
	jq) echo "'$2' -c -s 'map(select(.size > 100)) | group_by(.tags | length) | map({n: length, sum: (map(.size) | add),
		names: (map(.name | ascii_upcase) | sort | .[:3]), best: (max_by(.size) | {id, next: .next.id?}),
		tags: (map(.tags[]?) | unique | length)}), (try error(\"x\") catch .)' '$3/records.json'" ;;
	lua) echo "'$2' '$3/work.lua'" ;;
	ninja) echo "'$2' -C '$3' -j1 -v" ;;
	sqlite3) echo "'$2' <'$3/work.sql'" ;;
	tcc) echo "$(real_tcc "$2" "$3") '$3/tcc/tcc.c' -o '$3/tcc2' && cat '$3/tcc2'" ;;
	esac
}
