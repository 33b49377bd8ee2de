#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks in the built files that the library and the command are linked and hardened as meson.build
# asks. hardening.sh LIBRARY.so LIBRARY.a COMMAND|none WORD...
# Words: relro, nodelete, -fstack-protector-strong, -fcf-protection, -D_FORTIFY_SOURCE
set -eu
shared=$1 static=$2 command=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
wrong() {
	echo "$*" >&2
	n=$((n + 1))
}
linked=$shared
[ "$command" = none ] || linked="$shared $command"

# All relocations are done before the program begins, and are then read-only.
relro() {
	for file in $linked; do
		readelf -lW "$file" | grep -q GNU_RELRO || wrong "$file: not linked with -z relro"
		readelf -dW "$file" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' ||
			wrong "$file: not linked with -z now"
	done
}

# dlclose() keeps the library's code, which a thread that ends may still call.
nodelete() {
	readelf -dW "$shared" | grep -q 'FLAGS_1.*NODELETE' ||
		wrong "$shared: not linked with -z nodelete"
}

# calls PATTERN FLAG: the linked files call such a function of libc.
calls() {
	for file in $linked; do
		nm -D --undefined-only "$file" | sed 's/.* //; s/@.*//' | grep -Eq "^$1\$" ||
			wrong "$file: not compiled with $2: it calls no $1"
	done
	nm --undefined-only "$static" 2> "$work/empty" | sed 's/.* //' | grep -Eq "^$1\$" ||
		wrong "$static: not compiled with $2: it calls no $1"
}

# Each object carries the mark, and each function that other objects can call begins with a landing
# pad. A linked file also has the mark only if libc's start files have it.
branches() {
	objects=$(ar t "$static" | wc -l)
	marked=$(readelf -nW "$static" 2> "$work/empty" | grep -c 'IBT, SHSTK' || true)
	[ "$marked" -eq "$objects" ] ||
		wrong "$static: $marked of $objects objects are compiled with -fcf-protection"
	nm -D --defined-only "$shared" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
		sort > "$work/functions"
	objdump -d --no-show-raw-insn "$shared" | awk '
		/^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); next }
		name { if ($2 == "endbr64") print name; name = "" }' | sort > "$work/landing"
	comm -23 "$work/functions" "$work/landing" > "$work/bare"
	[ -s "$work/functions" ] || wrong "$shared: exports no functions"
	[ ! -s "$work/bare" ] || wrong "$shared: without endbr64: $(tr '\n' ' ' < "$work/bare")"
}

for word; do
	case $word in
	relro) relro ;;
	nodelete) nodelete ;;
	-fstack-protector-strong) calls __stack_chk_fail "$word" ;;
	-D_FORTIFY_SOURCE) calls '__[a-z]+_chk' "$word" ;;
	-fcf-protection) branches ;;
	*) wrong "$word: no such check" ;;
	esac
done
[ "$n" -eq 0 ]
echo "$linked: $*"
