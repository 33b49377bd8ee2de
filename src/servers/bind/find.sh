#!/bin/sh
# SPDX-License-Identifier: MIT
# Which BIND the headers are of, and where its plugins are, as "VERSION FOLDER", with - for what is
# not known. Both are read from where the linker finds libns.so, which is a link to
# libns-9.18.49-1~deb12u3-Debian.so, beside the folder bind.
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
