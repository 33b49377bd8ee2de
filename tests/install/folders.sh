#!/bin/bash
# SPDX-License-Identifier: MIT
# Each optional folder can be deleted. Without it, the rest can be set up with its tests, and the
# installed files are built. One build folder serves all cases, so that a case compiles only what
# differs.
#     tests/install/folders.sh SOURCE WORK [FOLDER...]
# WORK: a folder for the copy of the tree and the build, created and deleted by this script.
set -u
source=$(realpath "$1") work=$(realpath -m "$2")
shift 2
servers=$(cd "$source" && ls -d src/servers/*/ | sed 's|/$||')
[ $# -gt 0 ] || set -- $servers src/servers \
	src/replica src/tool src/packaging/completions src/packaging/cmake \
	src/packaging/reference src/packaging tests bench

# Print the beginnings of those lines of meson's summary that are then NO.
absent_without() {
	case $1 in
	src/servers/nginx) echo 'the module for nginx' ;;
	src/servers/bind) echo 'the plugin for BIND' ;;
	src/servers/redis) echo 'the module for Redis' ;;
	src/servers)
		printf '%s\n' 'the module for nginx' 'the plugin for BIND' 'the module for Redis' ;;
	src/replica) printf '%s\n' 'one set on many machines' 'the module for Redis' ;;
	src/tool) echo 'the weir command' ;;
	src/packaging/reference | src/packaging) echo 'the guides as HTML' ;;
	tests) echo tests ;;
	bench) echo benchmarks ;;
	esac
}

failed=0
wrong() {
	echo "    $*" >&2
	failed=1
}

# setup OPTION...: set up the present tree.
setup() {
	local how=
	[ ! -e "$work/build/build.ninja" ] || how=--reconfigure
	meson setup $how "$work/build" "$work/tree" -Dbench=auto -Ddebug=false \
		"$@" > "$work/log" 2>&1
}

# Print the targets of src, in meson's order.
products() {
	ninja -C "$work/build" -t targets all |
		sed -n 's/^\(src\/[^:]*\): \(.*_LINKER\|CUSTOM_COMMAND\).*/\1/p'
}

# built NAME: all inputs exist, also of the tests, and the installed files can be built.
built() {
	ninja -C "$work/build" -n > "$work/log" 2>&1 &&
		ninja -C "$work/build" $(products) > "$work/log" 2>&1 && return
	grep -m 5 -E "error|undefined|missing|ninja:" "$work/log" >&2
	wrong "$1: the build fails"
}

without() {
	local part folder=$1 tests=-Dtests=enabled
	[ "$folder" != tests ] || tests=-Dtests=auto
	mv "$work/tree/$folder" "$work/aside"
	if setup "$tests"; then
		absent_without "$folder" | while read -r part; do
			grep -Eq "^ *$part.*: .*NO" "$work/log" || echo "$part"
		done > "$work/unsaid"
		[ ! -s "$work/unsaid" ] ||
			wrong "without $folder the summary has not as NO: $(cat "$work/unsaid")"
		built "without $folder"
	else
		tail -n 3 "$work/log" >&2
		wrong "meson setup fails without $folder"
	fi
	mv "$work/aside" "$work/tree/$folder"
}

rm -rf "$work"
mkdir -p "$work/tree"
trap 'rm -rf "$work"' EXIT
(cd "$source" && git ls-files -z | xargs -0 cp -t "$work/tree" --parents) || exit 2
setup -Dtests=enabled || { tail -n 3 "$work/log" >&2; wrong "meson setup fails with everything"; }
built 'with everything'
printf '%-26s %4d s\n' everything "$SECONDS"
for folder; do
	begin=$SECONDS
	without "$folder"
	printf '%-26s %4d s\n' "$folder" $((SECONDS - begin))
done
exit $failed
