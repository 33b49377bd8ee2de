#!/bin/sh
# SPDX-License-Identifier: MIT
# After an installation by root, so that programs find the library at once: without its cache ld.so
# knows no library that is new in /usr/local/lib. Not for a folder that is packed (DESTDIR), and not
# by other users, whose prefix ld.so does not look in.
set -eu
[ -z "${DESTDIR-}" ] && [ "$(id -u)" -eq 0 ] || exit 0
PATH=$PATH:/usr/sbin:/sbin
! command -v ldconfig > /dev/null || ldconfig
