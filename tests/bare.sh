#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a command in a clean clone, within a minimal Debian that this script makes. A script that
# uses a package without installing it fails there, but may succeed on this machine. See --help.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tests/install-packages.sh"

usage() {
	cat <<-END
	usage: tests/bare.sh [--keep] [--base=FOLDER] [--release=NAME] [COMMAND...]

	Makes a minimal Debian in a folder (half a minute), clones the last commit into it and
	runs COMMAND there as root, such as: tests/bare.sh tests/run.sh asan
	Without COMMAND: tests/run.sh. The exit status is COMMAND's.
	--keep          leaves the system there and prints where; else it is deleted
	--base=FOLDER   copies the system from FOLDER, where the first such run puts it; what is
	                compiled there is kept in FOLDER.ccache for the next run
	--release=NAME  bookworm (Debian 12), unless another is given, such as trixie (13)
	--help          this

	The system has debootstrap's minbase, git, and this machine's sources of packages. It is
	made in \$TMPDIR or /var/tmp, takes 0.3 GB and what COMMAND adds. This script needs root and
	the right to mount and to chroot.
	END
}

codename=$(. /etc/os-release && echo "$VERSION_CODENAME") # of this machine

# Print the URL of this machine's Debian mirror. Sources may have either of apt's formats.
mirror() {
	apt-get --print-uris update | sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p" |
		head -n 1
}

# sources FOLDER: copy this machine's package sources, changed to the release of the system.
sources() {
	rm -rf "$1/etc/apt"
	cp -a /etc/apt "$1/etc"
	find "$1"/etc/apt/sources.list* -type f -exec \
		sed -E -i "s/(^| )$codename(-[a-z]+)?\>/\1$release\2/g" {} +
	cp -a /usr/share/keyrings "$1/usr/share"
	cp -L /etc/resolv.conf /etc/hosts "$1/etc"
}

# bootstrap FOLDER URL PACKAGES: make the system; try a mirror that fails three times.
bootstrap() {
	for attempt in 1 2 3; do
		rm -rf --one-file-system "$1"
		! debootstrap --variant=minbase --include="$3" "$release" "$1" "$2" \
			> "$1.log" 2>&1 || return 0
		sleep $((attempt * 5))
	done
	tail -n 20 "$1.log" >&2
	echo "bare.sh: debootstrap failed three times (its last lines are above): it needs the" \
		"right to chroot and to make device files, and a mirror that answers" >&2
	return 1
}

# make_system FOLDER: make a system that has nothing of this machine but its package sources.
make_system() {
	local from include=git
	from=$(mirror)
	[ -n "$from" ] || {
		echo "bare.sh: apt has no source of Debian here: add one to /etc/apt" >&2
		return 1
	}
	[[ $from != https:* ]] || include+=,ca-certificates
	eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
	export http_proxy https_proxy # for wget, which debootstrap calls
	echo "making a minimal Debian ($release) in $1" >&2
	bootstrap "$1" "$from" "$include" || return
	sources "$1"
	echo force-unsafe-io > "$1/etc/dpkg/dpkg.cfg.d/unsafe-io" # dpkg does not wait for the disk
	printf '#!/bin/sh\nexit 101\n' > "$1/usr/sbin/policy-rc.d" # no package starts a service
	chmod +x "$1/usr/sbin/policy-rc.d"
}

# give_ccache FOLDER: unpack a compiler cache without installing its packages. The cache cannot hide
# a missing header, because it finds an object by the contents of all headers.
give_ccache() {
	cat > "$1/usr/local/bin/ccache" <<-'END'
	#!/bin/sh
	export CCACHE_DIR=/opt/ccache/cache CCACHE_NOHASHDIR=yes CCACHE_UMASK=000
	export LD_LIBRARY_PATH=$(echo /opt/ccache/usr/lib/*-linux-gnu*)
	exec /opt/ccache/usr/bin/ccache "$@"
	END
	chmod +x "$1/usr/local/bin/ccache"
	mkdir -p "$1/opt/ccache/cache"
	chroot "$1" sh -c '
		for attempt in 1 2 3; do # up to three tries
			apt-get -q update && apt-get -q -y --no-install-recommends \
				--download-only install ccache && break
			sleep $((attempt * 5))
		done
		for deb in /var/cache/apt/archives/*.deb; do dpkg -x "$deb" /opt/ccache; done
		apt-get clean && rm -rf /var/lib/apt/lists/*
		[ -x /opt/ccache/usr/bin/ccache ]' > "$1.log" 2>&1 < /dev/null ||
		{ tail -n 20 "$1.log" >&2; return 1; }
}

# run_within FOLDER BASE COMMAND...: the first process of its namespaces. When this process ends,
# for any reason, the kernel removes all processes and mounts of the namespaces.
run_within() {
	local folder=$1 base=$2 system=$1/system cache=$2.ccache
	[ ! -d /opt/ccache/cache ] || cache=/opt/ccache/cache # within such a system
	[ -z "$base" ] || mkdir -p -m 777 "$cache"
	local known=(HOME=/root TERM="${TERM-dumb}")
	known+=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
	shift 2
	if [ -n "$base" ] && [ -e "$base" ]; then
		cp -a "$base" "$system"
	else
		make_system "$system"
		[ -z "$base" ] || {
			give_ccache "$system"
			cp -a "$system" "$base.new"
			mv "$base.new" "$base"
		}
	fi
	[ -z "$base" ] || mount --bind "$cache" "$system/opt/ccache/cache"
	mount -t proc proc "$system/proc"
	mount -t sysfs -o ro sysfs "$system/sys"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$system/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
	mv "$folder/weir.bundle" "$system/root"
	chroot "$system" git -c advice.detachedHead=false clone --quiet /root/weir.bundle /root/weir
	[ -z "${http_proxy-}" ] || known+=(http_proxy="$http_proxy")
	[ -z "${https_proxy-}" ] || known+=(https_proxy="$https_proxy")
	chroot "$system" env -i -C /root/weir "${known[@]}" "$@"
}

# Clean up when this script ends, for any reason.
undo() {
	local status=$?
	trap '' INT TERM HUP
	if [ -n "$space" ]; then
		kill -KILL $(cat "/proc/$space/task/$space/children") || kill -KILL "$space" || true
		wait "$space" || true
	fi 2> /dev/null
	if [ -n "$keep" ] && [ -e "$work/system/root/weir" ]; then
		echo "kept: $work/system, in it the clone /root/weir" >&2
	else
		rm -rf --one-file-system "$work"
	fi
	[ -z "$base" ] || rm -rf --one-file-system "$base.new"
	exit "$status"
}

keep='' base='' release=${WEIR_BARE_RELEASE-bookworm}
if [ "${1-}" = --within ]; then
	shift
	exec 2>&3 3>&-
	run_within "$@"
	exit
fi

while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--keep) keep=yes ;;
	--base=?*) base=$(realpath -m "${1#--base=}") ;;
	--release=?*) release=${1#--release=} ;;
	-*) echo "tests/bare.sh: unknown option $1: see --help" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
export WEIR_BARE_RELEASE=$release
[ $# -gt 0 ] || set -- tests/run.sh
[ "$(id -u)" -eq 0 ] || {
	echo "bare.sh: only root can make a system: run it as root" >&2
	exit 2
}
apart=(--pid --fork)
# Within such a system / is not a mount, so its propagation cannot be changed.
unshare --mount "${apart[@]}" true 2> /dev/null || apart+=(--propagation unchanged)
unshare --mount "${apart[@]}" true || {
	echo "bare.sh: may not mount anything here: run it as root outside of a container, or in" \
		"one that has CAP_SYS_ADMIN" >&2
	exit 2
}
need_packages debootstrap

umask 022
work=$(mktemp -d "${TMPDIR:-/var/tmp}/weir-bare.XXXXXX")
space='' # the process outside of the namespaces, which ends after all within them
trap undo EXIT
trap 'exit 130' INT TERM HUP
git -C "$root" bundle create --quiet "$work/weir.bundle" HEAD
# In the background, because otherwise a signal would wait for it. The only message of unshare, that
# its child was killed, is dropped.
unshare --mount-proc "${apart[@]}" --kill-child "$root/tests/bare.sh" --within "$work" "$base" \
	"$@" <&0 3>&2 2> /dev/null &
space=$!
status=0
wait "$space" || status=$?
space=''
exit "$status"
