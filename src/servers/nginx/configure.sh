#!/bin/bash
# SPDX-License-Identifier: MIT
# The two headers of nginx's configuration, by the configure script that Debian's nginx-dev has of
# the nginx that is installed, with its options: nginx loads only a module that has the same ones.
# configure.sh SOURCE FOLDER: writes ngx_auto_config.h and ngx_auto_headers.h in FOLDER.
set -eu
folder=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
. ./conf_flags
./configure "${NGX_CONF_FLAGS[@]}" --builddir="$work" > "$work/log" 2>&1 || {
	tail -n 20 "$work/log"
	exit 1
}
cp "$work/ngx_auto_config.h" "$work/ngx_auto_headers.h" "$folder"
