#!/bin/sh
# SPDX-License-Identifier: MIT
# The house has floors: a file includes what stands on its own floor or below, a kind sees no other
# kind's files, and no files of the library call each other in a circle, function pointers aside.
# floors.sh SOURCE_ROOT LIBRARY.a
set -eu
root=$1 library=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root/src"

# The answers are variables: thousands of processes would take half a minute.
floor() { # of a path below src/, from the ground up
	case $1 in
	config.h) floor=0 ;;
	atomic.* | cancel.* | cidr.c | clock.* | cpu.* | error.* | escape.c | exposition.* | \
	hash.* | hash_*.c | keyfile.c | labels.* | memory.* | normalise.* | options.* | owner.* | \
	parallel.* | progress.* | random.* | siphash.*)
		floor=1 ;;
	apart.* | batch.* | kind.* | lines.* | sizing.*) floor=2 ;;
	kinds/*) floor=3 ;;
	compound/window_load.c | compound/window_save.c) floor=6 ;; # a type beside the filters
	build/* | bulk.* | compound/* | filter.* | many.c | members.c | normal.c | plan.* | \
	removal.* | stats.* | whole.*)
		floor=4 ;;
	image/* | parquet/*) floor=5 ;;
	set/rcu.h) floor=1 ;; # liburcu's, nothing of a set's own
	set/*) floor=6 ;;
	router/image.c) floor=6 ;; # another type beside the filters
	guard/* | router/handle.* | router/reload.c) floor=7 ;;
	router/*) floor=4 ;;
	*) echo "$1: stands on no floor: give it one in floors.sh" >&2; exit 1 ;;
	esac
}

wing() { # of a kind's file: the kind it belongs to
	case $1 in
	kinds/list.* | kinds/common/*) wing= ;;
	kinds/*) wing=${1#kinds/} wing=${wing%%[./]*} ;;
	*) wing= ;;
	esac
}

n=0
for file in $(find . \( -name tool -o -name servers -o -name replica \) -prune -o \
	-name '*.[ch]' -print | sed 's|^\./||'); do
	floor "$file"
	here=$floor
	wing "$file"
	own=$wing
	for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
		floor "$header"
		wing "$header"
		if [ "$floor" -gt "$here" ]; then
			echo "$file (floor $here) includes $header (floor $floor)" >&2
			n=1
		elif [ "$here" -eq 3 ] && [ "$wing" ] && [ "$wing" != "$own" ]; then
			echo "$file sees another kind's $header" >&2
			n=1
		fi
		# An include cycle would be a pair that orders itself both ways.
		case $file in *.h) echo "$file $header" ;; esac
	done
done > "$work/includes"
tsort "$work/includes" > /dev/null || { echo "headers include each other in a circle" >&2; n=1; }

# "caller callee", by name of object, from the functions that one defines and another calls.
nm -A "$library" | awk '
	{ sub(/^[^:]*:/, "", $1); object = $1; sub(/:.*/, "", object) }
	$(NF - 1) == "T" { home[$NF] = object }
	$(NF - 1) == "U" { calls[object " " $NF] }
	END {
		for (call in calls) {
			split(call, part, " ")
			if (part[2] in home && home[part[2]] != part[1])
				print part[1], home[part[2]]
		}
	}' | sort -u > "$work/calls"
# The module for Redis links this folder where hiredis is not installed.
grep -n '#include.*\(hiredis\|"\.\./\)' replica/format/*.[ch] && {
	echo "replica/format includes hiredis or another folder of the replica" >&2
	n=1
}
[ "$(wc -l < "$work/calls")" -ge 40 ] || { echo "$library: no calls found" >&2; n=1; }
tsort "$work/calls" > /dev/null || {
	echo "files of the library call each other in a circle" >&2
	n=1
}
[ "$n" -eq 0 ]
echo "$(wc -l < "$work/includes") includes, $(wc -l < "$work/calls") calls from file to file"
