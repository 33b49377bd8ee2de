#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the version of BIND's headers and the folder of its plugins as "VERSION FOLDER", with - for
# an unknown value. Both come from the file that the linker finds as libns.so. That file is a
# symbolic link to libns-9.18.49-1~deb12u3-Debian.so, beside the folder bind.
# find.sh COMPILER...
library=$("$@" -print-file-name=libns.so 2> /dev/null)
version=- folder=-
if [ -e "$library" ]; then
	version=$(basename "$(readlink -f "$library")" |
		sed -n 's/^libns-\([0-9]*\.[0-9]*\.[0-9]*\).*/\1/p')
	folder=$(readlink -f "$(dirname "$library")")/bind
	[ -d "$folder" ] || folder=-
fi
echo "${version:--} $folder"
