# SPDX-License-Identifier: MIT
# For the scripts of this repository: source this file. build_error LOG prints why a build failed,
# with the compiler's first error last, and names the Debian package to install if a part is
# missing. The table for needs_package lists these packages.

# Each row: a package; its names in meson, pkg-config and the linker; its headers.
packages_of_parts='
libbenchmark-dev      benchmark                      benchmark/*
bind9-dev             -                              isc/*,dns/*,ns/*,isccfg/*
libbloom-dev          bloom                          bloom.h
libbpf-dev            libbpf,bpf                     bpf/*
libbz2-dev            bz2                            bzlib.h
libc6-dev             m                              stdio.h,stdlib.h,stdint.h,string.h,errno.h
libcmocka-dev         cmocka                         cmocka.h
libcsv-dev            csv                            csv.h
libhiredis-dev        hiredis                        hiredis/*
libjansson-dev        jansson                        jansson.h
liblzma-dev           liblzma,lzma                   lzma.h
libpcre2-dev          libpcre2-8                     pcre2.h
libpq-dev             libpq,pq                       libpq-fe.h
libsodium-dev         libsodium,sodium               sodium.h,sodium/*
libsqlite3-dev        sqlite3                        sqlite3.h
libssl-dev            openssl,libssl,libcrypto       openssl/*
libxxhash-dev         libxxhash,xxhash               xxhash.h
libzstd-dev           libzstd,zstd                   zstd.h,zstd_errors.h
linux-libc-dev        -                              linux/*,asm/*
liburcu-dev           liburcu-*,urcu-*               urcu.h,urcu/*
nginx-dev             -                              ngx_*.h
zlib1g-dev            zlib,z                         zlib.h
g++                   cpp,g++,c++                    -
gcc                   c,cc,gcc                       -
meson                 meson                          -
ninja-build           ninja                          -
pkg-config            pkg-config,pkgconf             -
python3               python3                        -
'

# needs_package PART: print the package of a header or a name; nothing if the table lacks it.
needs_package() {
	local part=$1 package names headers pattern
	local -a patterns
	while read -r package names headers; do
		IFS=, read -ra patterns <<< "$names,$headers"
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # a pattern is meant
			[[ $part != $pattern ]] || { echo "$package"; return; }
		done
	done <<< "$packages_of_parts"
}

# first_error LOG: print the first error of the compiler, of the linker, of meson or of the shell,
# with the lines that belong to it. Later errors are often only consequences.
first_error() {
	awk '
		function error_in(line) {
			return line ~ /: (fatal |internal compiler )?error: / ||
				line ~ /undefined reference to|cannot find -l|: ERROR: / ||
				line ~ /^ninja: (error|fatal)|: (command )?not found$/
		}
		# The include path of the line, and the function that contains the line.
		function leads(line) {
			return line ~ /^(In file included| +) ?from |: (In function |At top level:)/
		}
		!found && leads($0) { before[leading++ % 20] = $0; next } # 20 suffice
		!found && error_in($0) {
			found = 1
			meson = /: ERROR: / # it quotes the compiler
			for (i = leading > 20 ? leading - 20 : 0; i < leading; i++)
				print before[i % 20]
			print
			next
		}
		!found { leading = 0; next }
		# The next message or command ends the error.
		!meson && (error_in($0) || leads($0) || /: warning: /) { exit }
		/^\[[0-9]+\/[0-9]+\]|^FAILED: |^ninja: |^A full log can be found/ { exit }
		NF && lines++ < 8 { print }
	' "$1"
}

# build_failed LOG: succeed if a build stopped in this log, which may have other output too.
build_failed() {
	grep -qE '^ninja: (build stopped|error|fatal)|meson\.build:[0-9:]+ ERROR: ' "$1"
}

# printable < TEXT: remove colours, and replace each control character by ?. A log quotes source
# that a stranger may have written, whose escapes could retitle the terminal or hide lines.
printable() {
	LC_ALL=C sed -E -e 's/\x1b\[[0-9;]*[mK]//g' -e 's/\xc2[\x80-\x9f]/?/g' |
		LC_ALL=C tr '\000-\010\013-\037\177' '?'
}

# missing_part < ERROR: print the missing header, library or program, if any.
missing_part() {
	sed -nE \
		-e 's/.*error: ([^ :]+): No such file or directory.*/\1/p' \
		-e "s/.*error: '([^']+)' file not found.*/\\1/p" \
		-e 's/.*cannot find -l([^ :]+).*/\1/p' \
		-e 's/.*ERROR: Dependency "([^"]+)" not found.*/\1/p' \
		-e "s/.*ERROR: .* library '([^']+)' not found.*/\\1/p" \
		-e "s/.*ERROR: Program '([^' ]+).*' not found.*/\\1/p" \
		-e 's/.*: ([^ :]+): (command )?not found$/\1/p' | head -n 1
}

# build_error LOG: print to stderr; if this script finds no error, print the last 20 lines.
build_error() {
	local error part= package
	error=$(first_error "$1" | printable)
	[ -z "$error" ] || part=$(missing_part <<< "$error")
	[ -n "$error" ] || error=$(tail -n 20 "$1" | printable)
	printf '%s\n' "$error" >&2
	[ -n "$part" ] || return 0
	package=$(needs_package "$part")
	if [ -n "$package" ]; then
		echo "$part is missing: install $package (apt-get install $package)" >&2
	else
		echo "$part is missing: install the package that has it" >&2
	fi
}
