#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests guides.sh: a good guide, a page of commands and a README pass, and each planted fault is
# reported with its place. test_guides.sh INCLUDE LIBRARY
set -eu
include=$(realpath "$1") library=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
faults=0 planted=0
wrong() {
	echo "$*" >&2
	cat log >&2
	faults=$((faults + 1))
}
check() {
	"$here/guides.sh" "$1" "$2" "$include" "$library" > log 2>&1
}
# plant NAME MODE FILE SENTENCE SCRIPT: change FILE by sed; guides.sh must refuse it with SENTENCE.
plant() {
	planted=$((planted + 1))
	sed "$5" "$3" > changed.md
	! cmp -s "$3" changed.md || wrong "$1: the fault is not planted"
	! check "$2" changed.md || wrong "$1: not found"
	grep -qF -- "$4" log || wrong "$1: the report lacks \"$4\""
}

cat > guide.md << 'END'
# A guide

A filter answers whether a key may be there. This text
goes on in a second line.

```c
/* example: planted-first */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *filter;
	params.capacity = 100;
	params.fp_rate = 0.01;
	if (weir_create(&filter, &params) < 0)
		return 1;
	printf("%d\n", weir_insert(filter, "a", 1) == WEIR_NEW);
	weir_destroy(filter);
	return 0;
}
```

```output
1
```

## More

| a table |
|---|
| a row |

```c
/* example: planted-second */
int main(void)
{
	return 0;
}
```

```sh
weir build -o set.weir keys # a comment
```
END
printf '# Commands\n\nDo this.\n\n```sh\nls\n```\n' > commands.md
{ printf '# weir\n\n| it |\n|---|\n\n'; sed -n '/^```c/,$p' guide.md; } > readme.md
check guide guide.md || wrong "a good guide is refused"
grep -q '^2 programs, 1 blocks of sh$' log || wrong "not all of its blocks were checked"
{ cat guide.md; yes x | head -n $((300 - $(wc -l < guide.md))); } > long.md
check guide long.md || wrong "a guide of 300 lines is refused"
check commands commands.md || wrong "a good page of commands is refused"
check readme readme.md || wrong "a good README is refused"

plant 'wrong output' guide guide.md 'planted-first prints something else' 's/^1$/2/'
plant 'a line more' guide guide.md 'planted-first prints something else' 's/^1$/1\n/'
plant '31 lines' guide guide.md ':6: the first program has 31 lines, at most 30' \
	"s/^	params.capacity.*/&$(printf '\\n%.0s' {1..15})/"
plant 'no name' guide guide.md ':35: a program without a name' '/planted-second/d'
plant 'no program' guide guide.md ':6: the first paragraph is not followed by a block of c' \
	'/^```c/,/^```output/d'
plant 'text before it' guide guide.md ':6: the first paragraph is not followed' \
	's/^goes.*/&\n\nMore./'
plant 'no paragraph' guide guide.md ':4: no paragraph behind the title' '/^A filter/,/^goes/d'
plant 'no title' guide guide.md ':1: the first line is not "# TITLE"' '1s/# //'
plant 'no output' guide guide.md ':6: no output follows the first program' 's/^```output/```/'
plant 'output elsewhere' guide guide.md 'does not directly follow its program' \
	's/^```output/Between.\n\n&/'
plant 'output of none' guide commands.md ':5: an output that does not directly follow' \
	's/^```sh/```output/'
plant 'two of a name' guide guide.md ':35: the name planted-first is taken' 's/-second/-first/'
plant 'no end' guide guide.md ':43: this block does not end' '$d'
plant 'a warning' guide guide.md 'planted-second does not compile' '35,$s/return 0;$/int i; &/'
plant 'a failure' guide guide.md 'planted-second ends with status 7' '35,$s/return 0/return 7/'
plant 'a crash' guide guide.md 'planted-first ends with status' 's/return 0;/__builtin_trap();/'
plant 'a shell error' guide guide.md 'cannot parse the block of line 43' \
	"s/^weir build/& 'keys/"
plant '301 lines' guide guide.md ' lines, at most 300' "s/^## More/&$(printf '\\nx%.0s' {1..300})/"
plant '121 columns' guide guide.md ':33: 121 columns, at most 120' \
	"s/^| a row |/|$(printf '%.0sä' {1..119})|/"
plant 'columns of a tab' guide guide.md ':33: 121 columns, at most 120' \
	"s/^| a row |/|	$(printf '%.0sx' {1..112})|/"
plant 'no shell' commands commands.md 'not followed by a block of sh' 's/```sh/```/'
plant 'a long README' readme readme.md ' bytes, at most 12288' \
	"s/^## More/&$(printf '\\n%099d' {1..130})/"
plant 'README of 251 lines' readme readme.md ' lines, at most 250' \
	"s/^## More/&$(printf '\\nx%.0s' {1..230})/"
plant 'README without C' readme readme.md 'no program' 's/^```c/```/; s/^```output/```/'
plant 'README prints otherwise' readme readme.md 'planted-first prints something else' 's/^1$/2/'

check page readme.md || wrong "a good page is refused"
plant 'a page prints otherwise' page readme.md 'planted-first prints something else' 's/^1$/2/'
status=0
check guide none.md || status=$?
[ "$status" -eq 1 ] || wrong "a guide that is missing ends with $status"
grep -q 'none.md: there is no such guide' log || wrong "the missing guide is not named"
sed 's/planted-second/another/' guide.md > other.md
python3 -B "$here/blocks.py" names guide.md commands.md > log 2>&1 || wrong "names are refused"
! python3 -B "$here/blocks.py" names guide.md other.md > log 2>&1 || wrong "one name twice passes"
grep -q 'other.md:6: the name planted-first is taken by guide.md:6' log || wrong "which is not said"
[ "$faults" -eq 0 ]
echo "$planted planted faults found"
