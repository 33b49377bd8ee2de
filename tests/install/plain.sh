#!/bin/sh
# SPDX-License-Identifier: MIT
# A plain "meson setup" where libraries that weir can do without are missing: it succeeds, names
# what it leaves out, has neither tests nor benchmarks, optimises, and installs where Debian looks.
# plain.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	cat "$work/log" >&2
	echo "$*" >&2
	exit 1
}

# A pkg-config that knows no jansson and no cmocka, and no dpkg-architecture to ask for libdir.
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
chmod +x "$work"/bin/*
REAL_PKG_CONFIG=$(command -v pkg-config)
export REAL_PKG_CONFIG PATH="$work/bin:$PATH"
unset DESTDIR

meson setup "$work/build" "$source" > "$work/log" 2>&1 || fail "a plain meson setup fails"
grep -q 'WARNING: the weir command is not built: it needs libjansson-dev$' "$work/log" ||
	fail "nothing is reported of the command that is not built"
for left_out in 'the weir command' 'tests (-Dtests=enabled)' 'benchmarks (-Dbench=enabled)'; do
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
echo "plain setup: $(wc -l < "$work/targets") targets"
