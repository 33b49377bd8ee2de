#!/bin/sh
# SPDX-License-Identifier: MIT
# Updates the cache of ld.so after an installation by root. Without an update ld.so does not find a
# new library in /usr/local/lib. No update is needed for a folder that will be packed (DESTDIR), nor
# for other users, since ld.so does not search their prefix.
set -eu
[ -z "${DESTDIR-}" ] && [ "$(id -u)" -eq 0 ] || exit 0
PATH=$PATH:/usr/sbin:/sbin
! command -v ldconfig > /dev/null || ldconfig
