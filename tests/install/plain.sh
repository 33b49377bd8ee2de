#!/bin/sh
# SPDX-License-Identifier: MIT
# A plain "meson setup" without libraries that are optional: it succeeds, names what it leaves out,
# has neither tests nor benchmarks, optimises, and installs where Debian looks. plain.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	cat "$work/log" >&2
	echo "$*" >&2
	exit 1
}

# A pkg-config without jansson and cmocka, and no dpkg-architecture to ask for libdir. For the
# second setup, a compiler without libcsv and libbz2.
mkdir "$work/bin"
cat > "$work/bin/pkg-config" << 'END'
#!/bin/sh
for word; do
	case $word in jansson | cmocka | benchmark) exit 1 ;; esac
done
exec "$REAL_PKG_CONFIG" "$@"
END
printf '#!/bin/sh\nexit 1\n' > "$work/bin/dpkg-architecture"
printf '#!/bin/sh\nexit 1\n' > "$work/bin/cmake" # meson asks it next
cat > "$work/bin/cc" << 'END'
#!/bin/sh
for word; do
	case $word in -lcsv | -lbz2) exit 1 ;; esac
	[ ! -f "$word" ] || ! grep -q 'csv\.h\|bzlib\.h' "$word" || exit 1
done
exec "$REAL_CC" "$@"
END
chmod +x "$work"/bin/*
# This machine's programs without cmark-gfm, which no entry before PATH could hide.
mkdir "$work/others"
while cmark=$(command -v cmark-gfm); do
	folder=$(dirname "$cmark")
	ln -sf "$folder"/* "$work/others"
	rm "$work/others/cmark-gfm"
	PATH=$(echo ":$PATH:" | sed "s|:$folder:|:$work/others:|g; s/^://; s/:$//")
done
REAL_PKG_CONFIG=$(command -v pkg-config) REAL_CC=$(command -v cc)
export REAL_PKG_CONFIG REAL_CC PATH="$work/bin:$PATH"
unset DESTDIR

meson setup "$work/build" "$source" > "$work/log" 2>&1 || fail "a plain meson setup fails"
grep -q 'WARNING: the weir command is not built: it needs libjansson-dev$' "$work/log" ||
	fail "nothing is reported of the command that is not built"
grep -q 'WARNING: the guides are installed as Markdown only: HTML needs cmark-gfm$' "$work/log" ||
	fail "nothing is reported of the guides that are not HTML"
for left_out in 'the weir command' 'the guides as HTML (cmark-gfm)' 'tests (-Dtests=enabled)' \
	'benchmarks (-Dbench=enabled)'; do
	grep -q "^ *$left_out *: .*NO" "$work/log" || fail "the summary has no \"$left_out: NO\""
done
option() {
	meson introspect --buildoptions "$work/build" |
		tr '}' '\n' | sed -n "s/.*\"name\": \"$1\", \"value\": \"\([^\"]*\)\".*/\1/p"
}
[ "$(option libdir)" = lib ] || fail "libdir is \"$(option libdir)\": Debian looks in lib"
[ "$(option optimization)" = 2 ] || fail "the library is not optimised"
meson introspect --targets "$work/build" | tr ',' '\n' | grep '"name"' > "$work/targets"
! grep -E 'test_|bench' "$work/targets" || fail "a plain build has tests or benchmarks"

# The guides are installed as Markdown, and the index links to them.
made=src/packaging/reference
ninja -C "$work/build" $made/weir $made/html > "$work/log" 2>&1 || fail "the guides are not made"
[ -s "$work/build/$made/weir/README.md" ] || fail "README.md is not installed as Markdown"
grep -q '<a href="../README.md">' "$work/build/$made/html/index.html" ||
	fail "the index does not lead to the guides"
! meson setup -Dguides=enabled "$work/guides" "$source" > "$work/log" 2>&1 ||
	fail "HTML was asked for, and nothing is reported"
grep -q "ERROR: Program 'cmark-gfm' not found" "$work/log" || fail "another report than wanted"

# Input formats that the command lacks are named too.
sed -i 's/jansson |/liblzma |/' "$work/bin/pkg-config"
CC=$work/bin/cc meson setup "$work/less" "$source" > "$work/log" 2>&1 ||
	fail "a meson setup without liblzma, libbz2 and libcsv fails"
for what in '.xz files/liblzma-dev' '.bz2 files/libbz2-dev' 'quotes in CSV files/libcsv-dev'; do
	grep -qF "WARNING: the weir command reads no ${what%/*}: it lacks ${what#*/}" "$work/log" ||
		fail "no warning of $what"
	grep -q "^ *${what%/*} (${what#*/}) *: .*NO" "$work/log" ||
		fail "the summary has no \"${what%/*}: NO\""
done
grep -q '^ *the weir command *: .*YES' "$work/log" || fail "the command needs them"
echo "plain setup: $(wc -l < "$work/targets") targets"
