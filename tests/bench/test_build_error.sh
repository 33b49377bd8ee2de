#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests a build that fails under bench/run.sh: the compiler's first error comes last, with the
# package of a missing header, and no folder of results stays. An interruption also leaves no
# folder, ends all processes, and is not called a failure. A build reports its progress. The table
# of packages has each header that weir includes. test_build_error.sh SOURCE
set -eu
source=$1
cd "$source"
fail() {
	echo "test_build_error.sh: $*" >&2
	exit 1
}
. tests/build-error.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# stub NAME < SCRIPT: replace a program by a script.
mkdir "$work/bin"
stub() {
	{ echo '#!/bin/bash'; cat; } > "$work/bin/$1"
	chmod +x "$work/bin/$1"
}
stub dpkg-query <<< 'echo "install ok installed"' # this test installs nothing
stub gnuplot < /dev/null
stub meson <<< 'mkdir -p "$WEIR_BUILD/bench"'
export PATH=$work/bin:$PATH WEIR_BUILD=$work/build

# run WAIT: call bench/run.sh with a ninja that compiles an unknown header after WAIT seconds.
run() {
	stub ninja <<-END
		echo '[1/3] Compiling C object one.c.o'
		sleep $1
		echo 'one.c:7:1: warning: "error: " in a warning is no error [-Wcpp]'
		echo 'FAILED: two.c.o'
		echo 'cc -o two.c.o -c ../two.c'
		echo '#include <hiredis/no_such_header.h>' | ${CC:-cc} -c -x c -o /dev/null - 2>&1
		echo '[3/3] Compiling C object three.c.o'
		for i in {1..60}; do echo "three.c:\$i:1: error: a consequence"; done
		echo 'ninja: build stopped: subcommand failed.'
		exit 1
	END
	status=0
	timeout -s "${2-KILL}" "${3-60}" bench/run.sh --smoke --json="$work/new/results" \
		> "$work/out" 2>&1 || status=$?
}

check_error() {
	[ "$status" -eq 1 ] || fail "status $status: $(cat "$work/out")"
	[ "$(tail -n 1 "$work/out")" = "hiredis/no_such_header.h is missing: install\
 libhiredis-dev (apt-get install libhiredis-dev)" ] || fail "no package: $(cat "$work/out")"
	tail -n 6 "$work/out" | grep -q 'hiredis/no_such_header.h.*\(No such\|not found\)' ||
		fail "the compiler's error is not last: $(cat "$work/out")"
	! grep -q consequence "$work/out" || fail "not the first error: $(cat "$work/out")"
	[ "$(wc -l < "$work/out")" -le 12 ] || fail "too much: $(cat "$work/out")"
	grep -q consequence "$work/build/bench/build.log" || fail "the log is not kept"
}

run 3
check_error
grep -q 'step 1 of 8: building' "$work/out" || fail "no step: $(cat "$work/out")"
grep -Eq '\] compiling: 1 of 3, about [0-9]+ s left$' "$work/out" ||
	fail "nothing says how far it has come: $(cat "$work/out")"
[ ! -e "$work/new" ] || fail "left after a failure: $(find "$work/new")"
run 30 INT 3
[ "$status" -ne 0 ] || fail "not interrupted"
[ ! -e "$work/new" ] || fail "left after an interruption: $(find "$work/new")"

# Each signal ends all started processes, in any session, and is not a failure of the build. A
# terminal's Ctrl-C reaches the whole group; other signals reach only the process that measures,
# whose group ninja is in. The environment of all processes has MARKED.
stub ninja <<-END
	trap 'exit 2' INT
	cut -d ' ' -f 5 /proc/\$\$/stat > "$work/measures"
	setsid sleep 600 &
	touch "$work/runs"
	sleep 600
END
mkdir "$work/tmp"
left() { grep -lsz "^MARKED=$work\$" /proc/[0-9]*/environ || true; }
for signal in HUP=129 INT=130 QUIT=131 TERM=143 TERM=143=alone; do
	set -m
	env --default-signal MARKED="$work" TMPDIR="$work/tmp" bench/run.sh --smoke \
		--json="$work/new/results" > "$work/out" 2>&1 &
	set +m
	for _ in {1..1200}; do # a minute
		[ ! -e "$work/runs" ] || break
		sleep 0.05
	done
	to=-$!
	[ "${signal%alone}" = "$signal" ] || to=$(cat "$work/measures")
	number=${signal#*=}
	kill "-${signal%%=*}" -- "$to"
	status=0
	wait $! || status=$?
	[ "$status" -eq "${number%%=*}" ] || fail "ended by $signal: status $status"
	[ -z "$(left)" ] || fail "$signal: left running: $(left)"
	! grep -q 'failed\|line [0-9]' "$work/out" || fail "$signal: $(cat "$work/out")"
	[ ! -e "$work/new" ] || fail "left after $signal: $(find "$work/new")"
	[ -z "$(ls "$work/tmp")" ] || fail "left after $signal: $(find "$work/tmp")"
	rm "$work/runs"
done
mkdir -p "$work/new/results"
run 0
[ -d "$work/new/results" ] || fail "a folder of the user's was removed"

# Other kinds of failure.
expect() { # expect LAST-LINE < LOG
	cat > "$work/log"
	build_error "$work/log" 2> "$work/out"
	[ "$(tail -n 1 "$work/out")" = "$1" ] || fail "not $1: $(cat "$work/out")"
}
expect 'bloom is missing: install libbloom-dev (apt-get install libbloom-dev)' <<-END
	Library m found: YES
	bench/meson.build:3:11: ERROR: C shared or static library 'bloom' not found

	A full log can be found at build/bench/meson-logs/meson-log.txt
END
expect 'liburcu-bp is missing: install liburcu-dev (apt-get install liburcu-dev)' <<-END
	meson.build:45:0: ERROR: Dependency "liburcu-bp" not found, tried pkgconfig and cmake
END
expect 'xxhash.h is missing: install libxxhash-dev (apt-get install libxxhash-dev)' <<-END
	meson.build:2:0: ERROR: Unable to detect GNU compiler type:
	Compiler stderr:
	cc1: fatal error: xxhash.h: No such file or directory
	compilation terminated.
END
expect 'zstd is missing: install libzstd-dev (apt-get install libzstd-dev)' <<-END
	FAILED: src/libweir.so.0.2.0
	/usr/bin/ld: cannot find -lzstd: No such file or directory
	collect2: error: ld returned 1 exit status
END
expect 'ninja is missing: install ninja-build (apt-get install ninja-build)' <<-END
	bench/run.sh: line 90: ninja: command not found
END
expect 'a line' < <(for i in {1..30}; do echo "line $i"; done; echo 'a line')
[ "$(wc -l < "$work/out")" -eq 20 ] || fail "of an unknown error: $(cat "$work/out")"

# Print at most eight lines that belong to the error, and no lines of other messages.
printf '%s\n' 'In file included from old.c:1:' 'old.h:1:1: warning: another' \
	'In file included from two.c:1:' 'two.h:7:1: error: the first' '    7 | quoted' \
	> "$work/belongs"
expect '    7 | quoted' < <(cat "$work/belongs"; echo 'three.c:1:1: warning: another')
diff <(tail -n 3 "$work/belongs") "$work/out" || fail "lines of other messages"
expect '    8 | quoted' < <(echo 'two.c:7:1: error: long'; printf '    %d | quoted\n' {1..30})
[ "$(wc -l < "$work/out")" -eq 9 ] || fail "a long error: $(cat "$work/out")"

# Recognise a stopped build in a log that also has tests.
for line in 'ninja: build stopped: subcommand failed.' 'ninja: error: loading build.ninja' \
		'ninja: fatal: pipe' '../meson.build:45:0: ERROR: Dependency "x" not found'; do
	build_failed <(echo "$line") || fail "no build that stopped: $line"
done
! build_failed <(echo '3/9 weir:tool / a test FAIL 1.00s') || fail "a test is no build"

# A hostile log: escapes in the first error, in the last lines and in the missing part.
escapes=$'\e]0;title\a\e[2J\b\r\177\xc2\x9b2J\e[31m'
expect 'x?]0;title??[2J????2J.h is missing: install the package that has it' <<-END
	one.c:1:10: fatal error: x$escapes.h: No such file or directory
END
expect '	é ?]0;title??[2J????2J end' <<< "	é $escapes end"
expect '-e' <<< '-e'
# Of the many lines that lead to an error, print the last 20, in linear time.
{
	yes 'In file included from a.h:1,' | head -n 300000
	printf '                 from b.h:%d:\n' {1..19}
	echo 'one.c:1:1: error: deep'
} > "$work/deep"
(ulimit -t 10; expect 'one.c:1:1: error: deep' < "$work/deep") || fail "a deep log takes too long"
{ echo 'In file included from a.h:1,'; tail -n 20 "$work/deep"; } | cmp -s - "$work/out" ||
	fail "not the last 20 lines: $(head -n 30 "$work/out")"

export PATH=${PATH#"$work/bin:"}

# The table has each header that weir includes, with the package that has it on this machine. The
# compiler brings the headers of C and C++, and the build makes the headers of scripts.
own=$(${CC:-cc} -print-file-name=include)
while read -r header; do
	[[ $header = *.h && $header != arm_neon.h && $header != *.lua.h ]] || continue
	[ ! -e "$own/$header" ] || continue
	table=$(needs_package "$header") here=
	for file in /usr/include/{,*-linux-gnu/}"$header"; do
		[ ! -e "$file" ] || here=$(dpkg -S "$file" 2> /dev/null | sed 's/:.*//')
	done
	[ "$here" != libc6-dev ] || continue
	[ -n "$table" ] || fail "tests/build-error.sh has no package for $header ($here)"
	[ -z "$here" ] || [ "$here" = "$table" ] || fail "$header is in $here, not $table"
	checked=$((${checked-0} + 1))
done < <(grep -rhoE '^ *# *include <[^>]+>' src include bench tests --include=*.[ch] \
	--include=*.cc | sed 's/.*<\(.*\)>/\1/' | grep -v '^weir/' | sort -u)
[ "${checked-0}" -gt 30 ] || fail "only ${checked-0} headers were checked"
