#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetches a server that understands Redis's protocol from another Debian suite than the machine's:
# with apt, from the machine's mirror, into a folder, with all libraries that it needs. Nothing is
# installed. The module's tests run on it by WEIR_REDIS_SERVER=FOLDER/NAME.
# other-server.sh SUITE NAME FOLDER, such as: other-server.sh bookworm-backports valkey-server build
# The last line of the output is the server's version. Exit: 77: the mirror lacks the suite, or does
# not answer.
set -eu
suite=$1 name=$2 folder=$3
if [ ! -x "$folder/$name" ]; then
	rm -rf "$folder"
	mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial,empty}
	folder=$(cd "$folder" && pwd)
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME") # of this machine
	mirror=$(apt-get --print-uris update |
		sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p" | head -n 1)
	[ -n "$mirror" ] || { echo "apt has no source of Debian $codename here"; exit 77; }
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	for each in "${suite%-backports}" "$suite"; do
		echo "deb [signed-by=$keys] $mirror $each main"
	done | sort -u > "$folder/apt/sources"
	: > "$folder/apt/status"
	options="-q -o APT::Sandbox::User=root -o Dir::State=$folder/apt
		-o Dir::State::status=$folder/apt/status -o Dir::Cache=$folder/apt/cache
		-o Dir::Etc::sourcelist=$folder/apt/sources
		-o Dir::Etc::sourceparts=$folder/apt/empty"
	# With an empty list of installed packages, apt fetches the C library too.
	fetch() {
		apt-get $options --error-on=any update &&
			apt-get $options --yes --download-only --no-install-recommends \
				--target-release "$suite" install "$name"
	}
	fetch || { sleep 10; fetch; } || { echo "no $name of $suite at the mirror"; exit 77; }
	for package in "$folder"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$folder"
	done
	rm -rf "$folder/apt"
	loader=$(ls "$folder"/{usr/,}lib{64,}/ld-linux*.so* 2> /dev/null | head -n 1)
	libraries=$(find "$folder" -name 'libc.so.6' -printf '%h\n' | head -n 1)
	libraries=$libraries:$folder/usr/lib/${libraries##*/}
	printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" \
		"$folder/usr/bin/$name" > "$folder/starter"
	chmod +x "$folder/starter"
	mv "$folder/starter" "$folder/$name"
fi
"$folder/$name" --version
