#!/bin/sh
# SPDX-License-Identifier: MIT
# build-deb.sh gives a complete tree to dpkg-buildpackage, silently. If the tree cannot be copied,
# it makes no packages. tests/run.sh install tests the packages themselves. build_deb.sh SOURCE
set -eu
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	cat "$work/log" >&2
	echo "$*" >&2
	exit 1
}

mkdir "$work/bin"
printf '#!/bin/sh\necho 1.2.3\n' > "$work/bin/dpkg-parsechangelog"
cat > "$work/bin/dpkg-buildpackage" << 'END'
#!/bin/sh
find . ! -type d | sort > ../weir.files
END
chmod +x "$work"/bin/*
PATH="$work/bin:$PATH" "$source/src/packaging/build-deb.sh" "$work/out" > "$work/log" 2>&1 ||
	fail "build-deb.sh fails"
[ "$(cat "$work/log")" = "packages of weir 1.2.3: $work/out" ] || fail "build-deb.sh has words"
for file in README.md debian/rules debian/control include/weir/weir.h src/tool/man/weir.1 \
	tests/install/build_deb.sh; do
	grep -qx "./$file" "$work/out/weir.files" || fail "the tree has no $file"
done
! grep '^\./build/\|^\./\.git/' "$work/out/weir.files" || fail "the tree has what was built"

# A tar that fails halfway.
printf '#!/bin/sh\n%s "$@"\nexit 2\n' "$(command -v tar)" > "$work/bin/tar"
chmod +x "$work/bin/tar"
rm -r "$work/out"
! PATH="$work/bin:$PATH" "$source/src/packaging/build-deb.sh" "$work/out" > "$work/log" 2>&1 ||
	fail "half a tree was packaged"
! grep -q 'packages of' "$work/log" || fail "half a tree was packaged"

# README.md names the first command.
for file in README.md src/packaging/build-deb.sh; do
	grep -q 'apt-get build-dep ./src/packaging' "$source/$file" ||
		fail "$file has not what build-deb.sh needs"
done
"$source/src/packaging/build-deb.sh" --help > "$work/help"
for package in debhelper libcmocka-dev libhiredis-dev libsodium-dev \
		libssl-dev meson zstd; do
	grep -qw -- "$package" "$work/help" || fail "build-deb.sh --help lacks $package"
done
echo "the tree is whole"
