#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints each line of more than 100 columns, where a tab reaches to the next multiple of 8. Tables
# in Markdown, recorded results, quoted code and test inputs may be wider. columns.sh SOURCE
set -eu
cd "$1"
# The files that git tracks; without git all files outside of build folders.
files() {
	if [ -e .git ] && git ls-files 2> /dev/null; then
		return
	fi
	find . -name '.?*' ! -name .ci -prune -o -type f ! -path '*/meson-private/*' -print |
		sed 's|^\./||'
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A folder that meson or ninja wrote to is a build folder.
find . -name build.ninja -exec dirname {} + | sed 's|^\./||; s|$|/|' > "$work/built"
files | awk -v built="$work/built" '
	BEGIN { while ((getline folder < built) > 0) folders[folder] }
	/^(build|bench\/results|tests\/golden|tests\/fuzz\/corpus)\// { next }
	/^tests\/servers\/redis\/recorded\// { next }
	/(^|\/)LICENSE$/ || /^tests\/coverage\/not-reached$/ { next }
	{ for (folder in folders) if (index($0, folder) == 1) next; print }
' > "$work/files"
# One xargs for all files: a process for each file takes most of a minute on a busy machine.
xargs -d '\n' sh -c 'for file; do [ ! -f "$file" ] || printf "%s\n" "$file"; done' sh \
	< "$work/files" | xargs -d '\n' grep -Il . > "$work/text"
LC_ALL=C xargs -d '\n' awk '
	FILENAME ~ /\.md$/ && /^ *\|/ { next }
	{
		text = $0
		gsub(/[\200-\277]/, "", text) # a character of UTF-8 is one column
		columns = 0
		for (n = split(text, part, "\t"); n > 1; n--) {
			columns += length(part[++i])
			columns += 8 - columns % 8
		}
		columns += length(part[++i])
		i = 0
		if (columns > 100)
			print FILENAME ":" FNR ": " columns " columns"
	}' < "$work/text" > "$work/long"
cat "$work/long"
n=$(wc -l < "$work/text")
echo "$n files, $(wc -l < "$work/long") lines of more than 100 columns"
[ "$n" -gt 100 ] && [ ! -s "$work/long" ]
