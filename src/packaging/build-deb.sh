#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian packages from the working tree. See --help.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)

# Prints the packages that debian/control needs, without versions and profiles.
needs() {
	sed -n '/^Build-Depends:/,/^$/p' "$root/src/packaging/debian/control" |
		sed 's/^Build-Depends://; s/([^)]*)//; s/<[^>]*>//; s/:any//; s/-compat//' |
		tr -d ' \n' | tr ',' ' ' | fold -s -w 80 | sed 's/ $//'
}

usage() {
	cat <<-END
	usage: src/packaging/build-deb.sh [FOLDER]

	Builds libweir0, libweir-dev, libweir-redis0, libweir-redis-dev, weir, weir-redis and
	their debug symbols from this checkout, with what is not committed, and puts packages
	and source package into FOLDER (build/deb).
	DEB_BUILD_OPTIONS=nocheck leaves the tests out; they need libcmocka-dev, zstd.

	Needs: apt-get install git, and apt-get build-dep ./src/packaging: build-essential and
	$(needs)
	END
}

case ${1-} in
--help | -h) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }
out=${1:-$root/build/deb}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(dpkg-parsechangelog -l "$root/src/packaging/debian/changelog" -S Version)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Copy the files that git tracks or would add; from an unpacked archive, all but the built ones.
mkdir "$work/weir-$version"
cd "$root"
if [ -e .git ]; then
	git ls-files -z --cached --others --exclude-standard > "$work/files"
else
	find . -path './build*' -prune -o ! -type d -print0 > "$work/files"
fi
tar --null -T "$work/files" --ignore-failed-read -cf "$work/tree.tar"
tar -xf "$work/tree.tar" -C "$work/weir-$version"
rm "$work/tree.tar"
cp -R src/packaging/debian "$work/weir-$version/"
cd "$work/weir-$version"
dpkg-buildpackage -us -uc
cd ..
for file in *; do
	[ -d "$file" ] || [ "$file" = files ] || mv "$file" "$out/"
done
echo "packages of weir $version: $out"
