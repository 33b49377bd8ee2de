#!/bin/bash
# SPDX-License-Identifier: MIT
# What README.md has a new user type, typed: the block that installs weir and compiles the
# guard, then that server and the command. To be run as root in a clone of weir, in a bare Debian:
#     tests/bare.sh tests/install/bare-readme.sh
# Prints each command with its wall and CPU time.
set -eu
fail() {
	echo "$*" >&2
	exit 1
}

export PATH=/usr/local/bin:$PATH # as a login has it
[ ! -e /usr/bin/gcc ] && [ ! -e /usr/bin/meson ] || fail "this system is not bare"
echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/90assume-yes # nobody is there to answer
awk '/^```c$/ { if (getline > 0 && /example: guard \*\//) on = 1 }
	/^```$/ { on = 0 } on' README.md > server.c
awk '/^```sh$/ { block = ""; on = 1; next }
	/^```$/ { if (on && block ~ /meson install/) printf "%s", block; on = 0 }
	on { block = block $0 "\n" }' README.md > commands
[ -s server.c ] || fail "README.md has no example guard"
[ -s commands ] || fail "README.md has no block with meson install"

TIMEFORMAT='%R %U %S'
cpu=0 whole=
while IFS= read -r line; do
	whole+=$line
	case $line in *\\) whole=${whole%\\}; continue ;; esac
	echo "# $whole" | tr -s ' \t' ' '
	{ time eval "$whole" > log 2>&1 < /dev/null; } 2> took || {
		tail -n 30 log
		fail "fails: $whole"
	}
	read -r wall user system < took
	echo "    $wall s, of CPU $user + $system s"
	[[ $whole != *meson\ setup* && $whole != *meson\ install* ]] ||
		cpu=$(awk -v c="$cpu" -v u="$user" -v s="$system" 'BEGIN { print c + u + s }')
	whole=
done < commands

echo "# ./server"
./server || fail "the server of README.md fails"
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
[ "$(weir --version | cut -d ' ' -f 1-2)" = "weir $version" ] || fail "$(weir --version)"
seq 100000 > keys
weir build -q -p 1% -o keys.weir keys
[ "$(weir query -c keys.weir keys)" = 100000 ] || fail "the installed weir loses keys"
for page in man1/weir.1 man3/weir.3 man3/weir_create.3; do
	[ -s "/usr/local/share/man/$page" ] || fail "$page is not installed"
done
[ -s /usr/local/share/weir/alerts.yml ] || fail "alerts.yml is not installed"
python3 -c 'import bz2; open("keys.bz2", "wb").write(bz2.compress(open("keys", "rb").read()))'
[ "$(weir query -c keys.weir keys.bz2)" = 100000 ] || fail "keys.bz2 is not read"
readelf -S /usr/local/lib/libweir.so | grep -q '\.debug_info' || fail "libweir.so is stripped"
echo "setup and install took $cpu s of CPU"
# On the machine this is measured on it is under 30; others, and busy ones, take longer.
awk -v cpu="$cpu" 'BEGIN { exit cpu > 90 }' || fail "that is more than 90 s"
