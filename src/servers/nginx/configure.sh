#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the two configuration headers of nginx, with the configure script of Debian's nginx-dev and
# the options of the installed nginx: nginx loads only a module with the same options.
# configure.sh SOURCE FOLDER: writes ngx_auto_config.h and ngx_auto_headers.h to FOLDER.
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
