#!/bin/bash
# SPDX-License-Identifier: MIT
# The ways into weir that README.md shows, typed as it has them. To be run as root in a clone of
# weir, in a bare Debian:
#     tests/bare.sh tests/install/bare-ways.sh WAY...
# Prints each command with its wall and CPU time. WAY is one of
#   user     the packages, then the block for a user who is not root, as such a user
#   install  the block for root, its program and the installed command
#   bench    bench/run.sh, which measures for seconds only
#   tests    tests/run.sh, with the suite headers only
#   nested   the first of them once more, in a bare system within this one
set -eu
fail() {
	echo "$*" >&2
	exit 1
}
root=$PWD
TIMEFORMAT='%R %U %S'

# block PATTERN: print README's shell block that contains such a line.
block() {
	awk -v pattern="$1" '/^```sh$/ { text = ""; on = 1; next }
		/^```$/ { if (on && text ~ pattern) printf "%s", text; on = 0 }
		on { text = text $0 "\n" }' "$root/README.md"
}

# run LINE: run a command; retry twice, because a mirror may fail.
run() {
	local attempt status=0 wall user system
	echo "# $1" | tr -s ' \t' ' '
	for attempt in 1 2 3; do
		status=0
		{ time eval "$1" > log 2>&1 < /dev/null; } 2> took || status=$?
		[ "$status" -ne 0 ] && [[ $1 == *apt-get* ]] || break
		sleep $((attempt * 5))
	done
	[ "$status" -eq 0 ] || { tail -n 30 log; fail "fails: $1"; }
	read -r wall user system < took
	echo "    $wall s, of CPU $user + $system s"
	[[ $1 != *meson\ setup* && $1 != *meson\ install* ]] ||
		cpu=$(awk -v c="$cpu" -v u="$user" -v s="$system" 'BEGIN { print c + u + s }')
}

# type_block FILE [PATTERN]: run FILE's lines, or those with PATTERN; a line may have several lines.
type_block() {
	local line whole=
	cpu=0
	while IFS= read -r line; do
		whole+=$line
		case $line in *\\) whole=${whole%\\}; continue ;; esac
		[[ $whole != *${2-}* ]] || run "$whole"
		whole=
	done < "$1"
}

first_example() {
	awk '/^```c$/ { if (getline > 0 && /example: first \*\//) on = 1 }
		/^```$/ { on = 0 } on' "$root/README.md" > server.c
	[ -s server.c ] || fail "README.md has no example first"
}

# The installed command works with nothing but PATH.
use_command() {
	local version
	version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
	[ "$(weir --version | cut -d ' ' -f 1-2)" = "weir $version" ] || fail "$(weir --version)"
	seq 100000 > keys
	weir build -q -p 1% -o keys.weir keys
	[ "$(weir query -c keys.weir keys)" = 100000 ] || fail "the installed weir loses keys"
}

way_install() {
	first_example
	block 'meson setup build\n' > commands
	[ -s commands ] || fail "README.md has no block with meson install"
	type_block commands
	echo "# ./server"
	./server || fail "the server of README.md fails"
	use_command
	local page
	for page in man/man1/weir.1 man/man1/weir-build.1 man/man7/weir-keys.7 man/man3/weir.3 \
		man/man3/weir_create.3 weir/alerts.yml; do
		[ -s "/usr/local/share/$page" ] || fail "$page is not installed"
	done
	python3 -c 'import bz2, sys
sys.stdout.buffer.write(bz2.compress(open("keys", "rb").read()))' > keys.bz2
	[ "$(weir query -c keys.weir keys.bz2)" = 100000 ] || fail "keys.bz2 is not read"
	readelf -S /usr/local/lib/libweir.so | grep -q '\.debug_info' ||
		fail "libweir.so is stripped"
	echo "setup and install took $cpu s of CPU"
}

# A clone of a user who may write only there; the packages are installed already.
as_user() {
	cd "$HOME/weir"
	root=$PWD
	first_example
	block 'prefix="?[$]HOME/[.]local' > commands
	[ -s commands ] || fail "README.md has no block with --prefix=\$HOME/.local"
	type_block commands
	echo "# ./server"
	./server || fail "the server of README.md fails for a user"
	[ "$(command -v weir)" = "$HOME/.local/bin/weir" ] || fail "weir is $(command -v weir)"
	use_command
	[ -s "$HOME/.local/share/man/man3/weir_create.3" ] || fail "no manual page is installed"
}

way_user() {
	block 'meson setup build\n' > packages
	type_block packages apt-get
	useradd --create-home --shell /bin/bash visitor
	runuser -u visitor -- git -c advice.detachedHead=false clone --quiet \
		/root/weir.bundle /home/visitor/weir
	runuser -l visitor -c 'exec bash "$HOME/weir/tests/install/bare-ways.sh" as_user'
	[ -z "$(find /usr/local -name '*weir*')" ] || fail "a user's install wrote to /usr/local"
}

way_bench() {
	block 'bench/run[.]sh --quick' | grep -q . || fail "README.md has no bench/run.sh --quick"
	run "bench/run.sh --smoke --json=$PWD/figures"
	cat log
	local file
	for file in run.json report.html; do
		[ -s "figures/$file" ] || fail "bench/run.sh makes no $file"
	done
}

way_tests() {
	block 'tests/run[.]sh' | grep -q . || fail "README.md has no tests/run.sh"
	run "tests/run.sh --smoke"
	tail -n 3 log
	tail -n 1 log | grep -Eq '^[1-9][0-9]* passed, 0 failed$' ||
		fail "its last line counts nothing"
}

way_nested() {
	run "WEIR_BARE_NESTED=yes tests/run.sh bare"
	tail -n 1 log | grep -q '^[1-9][0-9]* passed, 0 failed$' || fail "it checked nothing"
}

[ $# -gt 0 ] || fail "usage: bare-ways.sh WAY..."
if [ "$1" = as_user ]; then
	as_user
	exit
fi
[ ! -e /usr/bin/gcc ] && [ ! -e /usr/bin/meson ] || fail "this system is not bare"
echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/90assume-yes # as a person answers
chmod a+rx /root && chmod a+r /root/weir.bundle # where the user clones from
for way; do
	echo "== $way"
	"way_$way"
done
