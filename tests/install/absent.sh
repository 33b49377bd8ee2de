#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds everything with one Debian package not installed, for one package after the other, and with
# options that leave something out. Run this as root in a clone of weir, in a bare Debian:
#     tests/bare.sh tests/install/absent.sh all|CASE...
# CASE is a package, or a word of the table below. A package is purged for its case: without its .pc
# alone, its headers would still be found by a file that should not include them.
set -eu
root=$PWD
. "$root/tests/install-packages.sh"

# Packages for a case besides gcc: all that weir can use.
packages='gcc g++ libc6-dev meson pkg-config libxxhash-dev liburcu-dev libzstd-dev zlib1g-dev
	libjansson-dev liblzma-dev libbz2-dev libcsv-dev libhiredis-dev libssl-dev libsodium-dev
	bind9-dev nginx-dev libpcre2-dev libbenchmark-dev libbloom-dev
	libcmocka-dev cmark-gfm'

every_part='the weir command,compressed images,the plugin for BIND,the module for nginx'
every_part+=',the module for Redis,one set on many machines,the guides as HTML,benchmarks,tests'

# CASE|what meson's summary reports as not built|options. Several parts are separated by commas.
# "required" is a package without which setup must fail and name it.
table='static||-Ddefault_library=static
shared||-Ddefault_library=shared
libhiredis-dev|one set on many machines,the module for Redis|
libzstd-dev|the weir command,compressed images|
zlib1g-dev|the weir command,the module for nginx|
libjansson-dev|the weir command|
liblzma-dev|.xz files|
libbz2-dev|.bz2 files|
libcsv-dev|quotes in CSV files|
libssl-dev|TLS to Redis,the module for nginx|
libsodium-dev|one set on many machines,the module for Redis|
bind9-dev|the plugin for BIND|
nginx-dev|the module for nginx|
libpcre2-dev|the module for nginx|
libbenchmark-dev|benchmarks|
libbloom-dev|benchmarks|
g++|benchmarks|
cmark-gfm|the guides as HTML|
libcmocka-dev|tests|-Dtests=auto
libxxhash-dev|required|
liburcu-dev|required|
none|every part|-Dauto_features=disabled -Dbench=disabled
lto||-Db_lto=true
unity|required|-Dunity=on'

failed=0
wrong() {
	echo "    $*" >&2
	failed=1
}

# begin CASE: purge the package and keep its file, to install it again.
begin() {
	[[ $1 == *-dev || $1 == g++ || $1 == cmark-gfm ]] || return 0
	local purged=$1
	[ "$1" != g++ ] || purged='g++ g++-12 g++-14'
	mkdir -p "$root/build/debs"
	for package in $purged; do
		package_is_here "$package" || continue
		(cd "$root/build/debs" && apt-get -q download "$package") > log 2>&1
		dpkg --purge --force-depends "$package" > log 2>&1
		put_back+=("$package")
	done
	[ ${#put_back[@]} -gt 0 ] || wrong "$1 was not installed, so nothing is shown"
}

end() {
	[ ${#put_back[@]} -eq 0 ] || dpkg -i "$root"/build/debs/*.deb > log 2>&1
	rm -rf "$root/build/debs"
	put_back=()
}

# summary FILE WORD: print YES or NO, from the first line of meson's summary that begins with WORD.
summary() {
	awk -v word="$2" '{ line = $0; gsub(/\033\[[0-9;]*m/, "", line); sub(/^ +/, "", line) }
		index(line, word) == 1 && match(line, /: *(YES|NO)$/) {
			sub(/.*: */, "", line); print line; exit }' "$1"
}

# build CASE LACKS OPTION...: build always in one folder, because ccache distinguishes folders, and
# without debug information, as bench/run.sh builds, so that ccache has most files.
build() {
	local name=$1 lacks=$2 part folder=$root/build/absent
	shift 2
	set -- -Dbench=auto -Ddebug=false "$@"
	if ! meson setup "$folder" "$root" "$@" > "$name.setup" 2>&1; then
		[ "$lacks" = required ] && explained "$name" && return
		tail -n 5 "$name.setup" >&2
		wrong "meson setup fails without $name"
		return
	fi
	[ "$lacks" != required ] || { wrong "meson setup goes on without $name"; return; }
	[ "$lacks" != 'every part' ] || lacks=$every_part
	IFS=,
	for part in $lacks; do
		[ "$(summary "$name.setup" "$part")" = NO ] ||
			wrong "the summary does not say that \"$part\" is not built"
	done
	unset IFS
	ninja -C "$folder" > "$name.ninja" 2>&1 || {
		grep -m 5 -E 'error|undefined' "$name.ninja" >&2
		wrong "the build fails"
		return
	}
	DESTDIR="$folder/installed" meson install -C "$folder" --no-rebuild > log 2>&1 ||
		wrong "meson install fails"
	rm -rf "$folder"
}

# Setup failed, and its message must name the missing package.
explained() {
	local what
	case $1 in
	libxxhash-dev) what=libxxhash ;;
	liburcu-dev) what=liburcu ;;
	unity) what='not supported' ;;
	esac
	grep -q "ERROR.*$what" "$1.setup" || wrong "setup fails and does not name $what"
}

main() {
	local name lacks options begin_s
	need_packages $packages
	mkdir -p build absent
	cd absent
	put_back=()
	while IFS='|' read -r name lacks options; do
		[ "${cases[*]}" = all ] || [[ " ${cases[*]} " == *" $name "* ]] || continue
		begin_s=$SECONDS
		n=$((n + 1))
		begin "$name"
		build "$name" "$lacks" $options
		end
		printf '%-22s %4d s\n' "$name" $((SECONDS - begin_s))
	done <<< "$table"
}

[ $# -gt 0 ] || { echo "usage: absent.sh all|CASE..." >&2; exit 2; }
cases=("$@") n=0
main
[ "${cases[*]}" = all ] || [ "$n" -eq ${#cases[@]} ] || wrong "unknown case among: ${cases[*]}"
echo "$n cases"
exit $failed
