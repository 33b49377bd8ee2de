#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty folder, builds a user's C and C++ programs with only the compiler and
# pkg-config, against the shared and the static library, and runs them. outside.sh BUILD SOURCE
# html|markdown: the form in which the guides are installed
set -eu
build=$1 source=$2 guides=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "$*" >&2
	exit 1
}

DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet > "$work/log" 2>&1 || {
	cat "$work/log" >&2
	fail "meson install failed"
}
pc=$(find "$work/root" -name weir.pc)
[ -n "$pc" ] || fail "no weir.pc is installed"
libraries=$(dirname "$(dirname "$pc")")
prefix=$(sed -n 's/^prefix=//p' "$pc")
weir() {
	PKG_CONFIG_PATH=$(dirname "$pc") pkg-config \
		--define-variable=prefix="$work/root$prefix" "$@" weir
}
export LD_LIBRARY_PATH="$libraries"

# Exactly weir's headers are installed, with the right version, and there is a soname.
diff -r "$source/include/weir" "$work/root$prefix/include/weir" ||
	fail "the installed headers differ from include/weir"
version=$(sed -n 's/^#define WEIR_VERSION_STRING "\(.*\)"/\1/p' "$source/include/weir/version.h")
[ "$(weir --modversion)" = "$version" ] ||
	fail "weir.pc has version $(weir --modversion), the headers $version"
readelf -d "$libraries/libweir.so" | grep -q 'SONAME.*libweir\.so\.0\.3\]' ||
	fail "libweir.so has no soname libweir.so.0.3"

# The unquoted lists below need paths without spaces and quotes; mktemp makes such paths.
strict='-Wall -Wextra -Werror'
for optimise in -O0 -O2; do
	shared=$(weir --cflags --libs) static=$(weir --cflags --static --libs)
	c="cc -std=c11 $strict $optimise" cc="c++ -std=c++17 $strict $optimise"
	$c "$here/outside.c" -o "$work/c_shared" $shared
	$cc "$here/outside.cc" -o "$work/cc_shared" $shared
	$c -static "$here/outside.c" -o "$work/c_static" $static
	$cc -static "$here/outside.cc" -o "$work/cc_static" $static
	for program in c_shared cc_shared c_static cc_static; do
		answer=$("$work/$program") || fail "$program $optimise fails: exit status $?"
		[ "$answer" = "weir $version" ] || fail "$program $optimise prints \"$answer\""
	done
done
readelf -d "$work/c_shared" | grep -q 'NEEDED.*libweir\.so\.0\.3' ||
	fail "the program does not ask for libweir.so.0.3"
readelf -d "$work/c_static" | grep -q NEEDED && fail "the static program asks for a shared library"

# In a prefix that ld.so does not search, the command and the other library find libweir.so. The
# Redis module does not need libweir.so.
for file in "$work/root$prefix/bin/weir" "$libraries/libweir-redis.so"; do
	[ -e "$file" ] && [ "$prefix" != /usr ] || continue
	found=$(env -u LD_LIBRARY_PATH ldd "$file" | awk '$1 == "libweir.so.0.3" { print $3 }')
	[ "$(realpath -m "$found")" = "$(realpath "$libraries/libweir.so.0.3")" ] ||
		fail "$file finds libweir.so.0.3 at: $found"
done
module=$libraries/redis/modules/weir-redis.so
if [ -e "$module" ]; then
	! env -u LD_LIBRARY_PATH ldd "$module" | grep -E 'libweir|not found' ||
		fail "$module needs what stands above"
fi

# The example servers, compiled as a user would.
for flags in -Wall '-Wall -Wextra -Werror' '-Wall -Werror -std=c11'; do
	for server in epoll prefork; do
		cc $flags -o "$work/$server" "$source/tests/examples/servers/$server.c" \
			$(weir --cflags --libs) 2> "$work/log" && [ ! -s "$work/log" ] || {
			cat "$work/log" >&2
			fail "$server.c is not clean with cc $flags"
		}
	done
done
c++ -std=c++17 $strict -o "$work/distinct" "$source/tests/examples/servers/distinct.cc" \
	$(weir --cflags --libs)

# The guides, and the reference as manual pages and as HTML.
for page in man/man3/weir.3 man/man3/weir_create.3 doc/weir/html/index.html; do
	[ -s "$work/root$prefix/share/$page" ] || fail "share/$page is not installed"
done
docs=$work/root$prefix/share/doc/weir
[ -s "$docs/README.md" ] || fail "README.md is not installed"
if [ "$guides" = html ]; then
	for part in '<h1 id="weir">weir</h1>' '<table>' '<code class="language-c">'; do
		grep -q "$part" "$docs/html/guides/readme.html" ||
			fail "README.md as HTML has no $part"
	done
else
	[ ! -e "$docs/html/guides" ] || fail "there are guides as HTML without cmark-gfm"
fi

# The command and its manual, if they were built.
if [ -e "$build/src/tool/weir" ]; then
	"$work/root$prefix/bin/weir" --help > /dev/null || fail "the installed weir --help fails"
	for page in man1/weir.1 man1/weir-build.1 man7/weir-keys.7; do
		[ -s "$work/root$prefix/share/man/$page" ] ||
			fail "the manual $page is not installed"
	done
fi

# The prefix has the completions. The command's guide says how to tell fish about the prefix.
if [ -e "$build/src/tool/weir" ]; then
	[ -s "$work/root$prefix/share/fish/vendor_completions.d/weir.fish" ] ||
		fail "no completions for fish are installed"
	grep -q 'XDG_DATA_DIRS names `/usr/local/share`' "$source/src/tool/README.md" ||
		fail "src/tool/README.md does not say where fish looks"
fi

# The uninstall removes all files.
grep -q 'ninja -C build uninstall' "$source/README.md" || fail "README.md has no uninstall"
ninja -C "$build" uninstall > "$work/log" 2>&1 || {
	cat "$work/log" >&2
	fail "ninja uninstall fails"
}
left=$(find "$work" -path "$work/root/*" ! -type d)
[ -z "$left" ] || fail "not uninstalled: $left"
echo "shared and static, C and C++: weir $version"
