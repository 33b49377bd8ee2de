#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries of another architecture, fetched with apt from the machine's own Debian sources and
# unpacked into a folder: nothing is installed and dpkg's list of architectures stays as it is.
# sysroot.sh ARCHITECTURE FOLDER
set -eu
architecture=$1 folder=$2
packages='libcmocka0 libcmocka-dev libxxhash-dev libxxhash0 libzstd1 libzstd-dev liburcu8
	liburcu-dev'
[ ! -e "$folder/complete" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/deb"
folder=$(cd "$folder" && pwd)
: > "$folder/apt/status"
options="-q -o APT::Architecture=$architecture -o APT::Architectures::=$architecture
	-o APT::Sandbox::User=root -o Dir::State=$folder/apt
	-o Dir::State::status=$folder/apt/status -o Dir::Cache=$folder/apt/cache"
fetch() {
	apt-get $options update || return 1
	(cd "$folder/deb" && apt-get $options download $packages)
}
fetch || { sleep 10; fetch; }
for package in "$folder"/deb/*.deb; do
	dpkg-deb -x "$package" "$folder"
done
rm -rf "$folder/apt" "$folder/deb"
: > "$folder/complete"
