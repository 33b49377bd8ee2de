#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests that the jobs in the documents work in a crontab. Each job is one line, below a PATH that
# finds an installed weir, without a % that ends the command, and without a pipe into weir. The
# first document's job runs as cron runs it; if the export fails midway, the old set stays. Usage:
# test_jobs.sh path/to/weir DOCUMENT...
documents=()
for document in "${@:2}"; do
	documents+=("$(realpath "$document")")
done
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# Print a document's PATH lines and jobs, without the star of a C comment. A job is a line that
# begins with five fields of time, and the rest of its block.
field='[0-9*][0-9*/,-]*'
is_job="^($field +){5} *[a-z]"
for document in "${documents[@]}"; do
	name=$(basename "$document")
	sed 's/^ \* *\([0-9*P]\)/\1/' "$document" >lines
	grep -nE "$is_job" lines >jobs
	[ -s jobs ] && ok || fail "$name has no job"
	while IFS=: read -r number job; do
		path=$(sed "1,$((number - 1))!d" lines | grep '^PATH=' | tail -n 1)
		[[ $path == PATH=/usr/local/bin:* ]] && ok ||
			fail "$name:$number: no PATH above" "$job"
		[[ ! ${job//\\%/} =~ % ]] && ok || fail "$name:$number: a % ends the command" "$job"
		[[ $job != *\\ ]] && ok || fail "$name:$number: goes on in the next line" "$job"
		[[ ! $job =~ [^\|]\|[^\|] ]] && ok || fail "$name:$number: a pipe" "$job"
		[[ $job == *'weir build'* ]] && ok || fail "$name:$number: builds nothing" "$job"
	done <jobs
done
grep -E 'export-keys *\|[^|]' "${documents[@]}" && fail "a pipe from the export" || ok

# Run as cron does: /bin/sh, only PATH in the environment, the command up to a %.
sed 's/^ \* *\([0-9*P]\)/\1/' "${documents[0]}" | sed 's|/usr/local/bin|'"$work/bin|g
	s|/var/lib/app|$work/app|g" >lines
path=$(grep '^PATH=' lines | tail -n 1)
job=$(grep -E "$is_job" lines | head -n 1 | sed -E "s/$is_job/@&/; s/^@($field +){5} *//")
mkdir bin app
ln -s "$weir" bin/weir
as_cron() { (cd / && env -i HOME=/ SHELL=/bin/sh "$path" /bin/sh -c "${job%%%*}"); }
export_is() {
	printf '#!/bin/sh\n%s\n' "$1" >bin/export-keys
	chmod +x bin/export-keys
}
export_is 'seq 1 10000'
run 0 as_cron
[ ! -s err ] && ok || fail 'the job prints' "$(head err)"
seq 1 10000 >all
run 0 "$weir" query -c app/set.weir all; prints '^10000$'
cp app/set.weir before.weir
export_is 'seq 1 5000; exit 3'
run 3 as_cron
same app/set.weir before.weir 'half an export was published'
export_is 'seq 1 20000'
run 0 as_cron
seq 1 20000 >all
run 0 "$weir" query -c app/set.weir all; prints '^20000$'
finish
