# SPDX-License-Identifier: MIT
# For the scripts of this repository: source this file. need_packages PACKAGE... installs missing
# Debian packages.

package_is_here() {
	dpkg-query -W -f='${Status}' "$1" 2> /dev/null | grep -q ' installed$'
}

# If no package is missing: print nothing, and need neither network nor root. If packages cannot be
# installed: fail, and print the command to type.
need_packages() {
	missing=
	command -v dpkg-query > /dev/null || return 0 # not Debian: the build will fail
	for package in "$@"; do
		package_is_here "$package" || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "not installed:$missing" >&2
		echo "run this as root, or first:" >&2
		echo "apt-get install --no-install-recommends$missing" >&2
		return 1
	fi
	echo "installing$missing" >&2
	packages_log=$(mktemp)
	for attempt in 1 2 3; do
		if {
			apt-get -q update && DEBIAN_FRONTEND=noninteractive \
				apt-get -q -y --no-install-recommends install $missing
		} > "$packages_log" 2>&1 < /dev/null; then
			rm -f "$packages_log"
			return 0
		fi
		sleep $((attempt * 5)) # a mirror updates, or another apt has the lock
	done
	tail -n 20 "$packages_log" >&2
	echo "apt-get could not install:$missing (the whole of it: $packages_log)" >&2
	return 1
}
