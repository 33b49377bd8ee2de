#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty folder, moves that folder, and builds a user's CMake project with it, in C
# and C++, with the shared and the static library. Other versions are refused. cmake.sh BUILD SOURCE
# [ROOT]: with ROOT, test what is installed there already (/ for this system)
set -eu
build=$1 source=$2 root=${3-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	[ ! -e "$work/log" ] || cat "$work/log" >&2
	echo "$*" >&2
	exit 1
}

if [ -z "$root" ]; then
	DESTDIR=$work/first meson install -C "$build" --no-rebuild --quiet > "$work/log" 2>&1 ||
		fail "meson install failed"
	root=$work/moved
	mv "$work/first" "$root"
	config=$(find "$root" -name weirConfig.cmake)
	[ -n "$config" ] || fail "no weirConfig.cmake is installed"
	find=-Dweir_DIR=$(dirname "$config")
else
	find=-DCMAKE_FIND_ROOT_PATH=/ # CMake finds it by itself
fi
version=$(sed -n 's/^#define WEIR_VERSION_STRING "\(.*\)"/\1/p' "$source/include/weir/version.h")

configure() {
	cmake -S "$here/cmake" -B "$work/$1" "$find" "-DVERSION=$1" -DCMAKE_BUILD_TYPE=Release \
		> "$work/log" 2>&1
}
configure "$version" || fail "find_package(weir $version) fails"
cmake --build "$work/$version" > "$work/log" 2>&1 || fail "the project does not build"
for program in outside_c_weir outside_cc_weir outside_c_weir_static outside_cc_weir_static; do
	answer=$("$work/$version/$program") || fail "$program fails: exit status $?"
	[ "$answer" = "weir $version" ] || fail "$program prints \"$answer\""
done
readelf -d "$work/$version/outside_c_weir" | grep -q 'NEEDED.*libweir\.so\.0\.3' ||
	fail "the program does not ask for libweir.so.0.3"
readelf -d "$work/$version/outside_c_weir_static" | grep 'NEEDED.*libweir' &&
	fail "the program with weir_static asks for the shared library"
minor=${version%.*}
for other in 0.0.1 "$minor.999" "${minor%.*}.$((${minor#*.} + 1)).0" 1.0; do
	! configure "$other" || fail "find_package(weir $other) takes version $version"
done
configure "$minor" || fail "find_package(weir $minor) does not take version $version"
configure "$minor...<${minor%.*}.$((${minor#*.} + 1))" || fail "a range of versions is refused"
! configure "0.0.1...<$minor" || fail "a range below $version takes it"
! configure "${minor%.*}.$((${minor#*.} + 1))...9" || fail "a range above $version takes it"
echo "CMake, shared and static, C and C++: weir $version"
