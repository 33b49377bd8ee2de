#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs, uses and removes the Debian packages in a bare Debian. Standard input is a tar file of
# the packages. Run this as root in a clone of weir:
#     tar -C build/deb -c . | tests/bare.sh tests/install/bare-packages.sh
set -eu
fail() {
	echo "$*" >&2
	exit 1
}
apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@" > log 2>&1 \
		< /dev/null || { tail -n 30 log >&2; fail "apt-get $* fails"; }
}

mkdir debs
tar -xf - -C debs
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
arch=$(dpkg --print-architecture)
deb() {
	echo "./debs/$1_${version}_$arch.deb"
}
apt update

# The command, with only the packages that it depends on.
apt install "$(deb weir)" "$(deb libweir0)" "$(deb libweir-redis0)"
[ "$(weir --version | cut -d " " -f 1-2)" = "weir $version" ] ||
	fail "weir --version: $(weir --version)"
seq 100000 > keys
weir build -q -p 1% -o keys.weir keys
[ "$(weir query -c keys.weir keys)" = 100000 ] || fail "the installed weir loses keys"
# A line "1" in each compressed form, without bzip2 and xz installed, and a field in quotes.
echo QlpoOTFBWSZTWTIpIb0AAADIAAAQIAAgACEAgrF3JFOFCQMikhvQ |
	base64 -d > one.bz2
echo /Td6WFoAAAFpIt42AgAhARYAAAB0L+WjAQABMQoAAABT/FFnAAEWAtBhENKQQpkNAQAAAAABWVo= |
	base64 -d > one.xz
for file in one.bz2 one.xz; do
	[ "$(weir query -c keys.weir "$file")" = 1 ] || fail "the packaged weir reads no $file"
done
printf 'x,"1"\n' > one.csv
[ "$(weir query -c --field=2 keys.weir one.csv)" = 1 ] || fail "the packaged weir reads no quotes"
weir replicate status --set=x --url=unix:///nowhere > log 2>&1 && fail "no redis is there"
grep -q /nowhere log || fail "weir replicate: $(cat log)"
weir replicate status --set=x > log 2>&1 && fail "no redis is named"
grep -q -e --url=redis://127.0.0.1 log || fail "weir replicate: $(cat log)"
[ -s /usr/share/weir/alerts.yml ] || fail "weir brings no alerts.yml"
for page in man1/weir.1 man1/weir-build.1 man1/weir-replicate-status.1 man7/weir-keys.7; do
	[ -s "/usr/share/man/$page.gz" ] || fail "weir has no manual page $page"
done
[ ! -e /usr/include/weir ] || fail "weir brings the headers"
echo "weir: installed and used"

# A user's project, in every way that the documents name.
apt install gcc libc6-dev g++ make cmake pkg-config "$(deb libweir-dev)" "$(deb libweir0-dbgsym)"
strict='-Wall -Wextra -Werror -O2'
gcc -std=c11 $strict tests/install/outside.c -o c_shared $(pkg-config --cflags --libs weir)
g++ -std=c++17 $strict tests/install/outside.cc -o cc_shared $(pkg-config --cflags --libs weir)
apt install "$(deb libweir-redis-dev)"
printf '%s\n' '#include <weir/replica.h>' \
	'int main(void) { return weir_replica_close(0); }' > replica.c
gcc -std=c11 $strict replica.c -o replica $(pkg-config --cflags --libs weir-redis)
./replica || fail "a program with libweir-redis ends with $?"
gcc -std=c11 $strict -static tests/install/outside.c -o c_static \
	$(pkg-config --cflags --static --libs weir)
for program in c_shared cc_shared c_static; do
	[ "$(./$program)" = "weir $version" ] || fail "$program: \"$(./$program)\""
done
tests/install/cmake.sh none . /
for page in weir weir_create weir_load weir_params; do
	[ -e "/usr/share/man/man3/$page.3.gz" ] || fail "libweir-dev has no $page(3)"
done
for page in README.md html/index.html html/guides/readme.html; do
	[ -s "/usr/share/doc/libweir-dev/$page" ] || fail "libweir-dev has no $page"
done
library=$(ls /usr/lib/*/libweir.so.0.3)
id=$(readelf -n "$library" | sed -n 's/.*Build ID: //p')
[ -s "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] ||
	fail "libweir0-dbgsym has not the symbols of $library"
echo "libweir-dev, libweir0-dbgsym: installed and used"

# The removal leaves no file.
apt install "$(deb weir-redis)"
[ -s "$(ls /usr/lib/*/redis/modules/weir-redis.so)" ] || fail "weir-redis brings no module"
printf REDIS0010'\377\0\0\0\0\0\0\0\0' | weir-redis-check - || fail "weir-redis-check ends with $?"
apt purge weir weir-redis libweir0 libweir-redis0 libweir-redis-dev libweir-dev \
	libweir0-dbgsym
left=$(find / -xdev \( -path /root -o -path /proc -o -path /sys -o -path /var/log \) -prune -o \
	-name '*weir*' -print)
[ -z "$left" ] || fail "left behind: $left"
echo "removed, and nothing is left"
