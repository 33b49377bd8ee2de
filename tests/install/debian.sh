#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages declare the library's version, soname and symbols as they are. tests/run.sh
# install builds, installs, uses and removes the packages. debian.sh SOURCE LIBRARY.so
set -eu
source=$1 library=$2
debian=$source/src/packaging/debian
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
wrong() {
	echo "$*" >&2
	n=$((n + 1))
}

version=$(sed -n 's/^#define WEIR_VERSION_STRING "\(.*\)"/\1/p' "$source/include/weir/version.h")
changelog=$(sed -n '1s/^weir (\([^)]*\)) .*/\1/p' "$debian/changelog")
[ "$changelog" = "$version" ] || wrong "version.h has $version, debian/changelog $changelog"

soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
next=0.$((${soname##*.} + 1))
head=$(sed -n 1p "$debian/libweir0.symbols")
[ "$head" = "$soname libweir0 #MINVER#, libweir0 (<< $next~)" ] ||
	wrong "libweir0.symbols begins with \"$head\": the soname is $soname, the next $next"

nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | grep '^weir_' | sort -u > "$work/has"
sed -n 's/^ \(weir_[^@]*\)@WEIR_0 [0-9.]*$/\1/p' "$debian/libweir0.symbols" |
	sort > "$work/listed"
comm -23 "$work/has" "$work/listed" > "$work/new"
comm -13 "$work/has" "$work/listed" > "$work/gone"
if [ -s "$work/new" ]; then
	wrong "add to src/packaging/debian/libweir0.symbols:"
	sed "s/.*/ &@WEIR_0 $version/" "$work/new" >&2
fi
[ ! -s "$work/gone" ] || wrong "the library has no $(tr '\n' ' ' < "$work/gone")any more"

# The packages have every optional part, and a build that lacks one fails. The exceptions are
# listed: plugins, which must be built again for each release of their server.
for option in $(sed -n "s/^option('\([a-z0-9]*\)', type: 'feature', value: 'auto'.*/\1/p" \
	"$source/meson_options.txt"); do
	grep -q -- "-D$option=\(en\|dis\)abled" "$debian/rules" ||
		wrong "debian/rules has no -D$option=enabled, and no -D$option=disabled"
done
for package in $(grep -ho "'[a-z0-9]*-dev'" "$source/meson.build" \
	"$source/src/tool/input/meson.build" | tr -d "'"); do
	grep -q "^ $package,\$" "$debian/control" || wrong "no Build-Depends on $package"
done

# The guides: cmark-gfm makes the HTML, libweir-dev has all of share/doc/weir, and no page is
# compressed, which would break the links to it.
grep -q '^ cmark-gfm,$' "$debian/control" || wrong "no Build-Depends on cmark-gfm"
grep -q -- '-Dguides=enabled' "$debian/rules" || wrong "debian/rules makes no guides as HTML"
grep -q 'dh_compress.* -X\.md' "$debian/rules" || wrong "debian/rules compresses the guides"
grep -qx 'usr/share/doc/weir/\* usr/share/doc/libweir-dev' "$debian/libweir-dev.install" ||
	wrong "libweir-dev.install has not all of share/doc/weir"
grep -q '/html/guides/\*\.html$' "$debian/libweir-dev.doc-base" ||
	wrong "libweir-dev.doc-base does not list the guides"
[ "$n" -eq 0 ]
echo "$version, $soname, $(wc -l < "$work/listed") symbols"
