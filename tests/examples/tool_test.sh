# SPDX-License-Identifier: MIT
# For the tests of the weir command: source this file with the command's path as the first argument.
# It makes an empty folder, keys, and checks that print failures. finish ends the test.
set -u
export LC_ALL=C
weir=$(realpath "${1:?usage: $0 path/to/weir}")
work=$(mktemp -d "${TMPDIR:-/tmp}/weir-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

passed=0 failed=0
ok() { passed=$((passed + 1)); }
fail() {
	failed=$((failed + 1))
	printf 'FAILED: %s\n' "$1"
	[ $# -lt 2 ] || printf '    %s\n' "${@:2}"
}

# run STATUS WORDS...: the command must exit with STATUS. Its output is in ./out and ./err.
run() {
	local want=$1
	shift
	"$@" >out 2>err </dev/null
	local got=$?
	if [ "$got" = "$want" ]; then
		ok
	else
		fail "exit $got, not $want: $*" "$(head -c 300 err)"
	fi
}
# has PATTERN FILE: search like grep. A fixed string needs no process, because processes take half
# of the time of these tests.
has() {
	local text
	IFS= read -r -d '' text <"$2" # up to the first byte of 0, if any
	case $1 in
	*[][*^$\\]*) ;;
	*) [[ $text != *"$1"* ]] || return 0 ;;
	esac
	grep -q -- "$1" "$2"
}
# says PATTERN: the last run's stderr has it. prints PATTERN: its stdout has it.
says() {
	if has "$1" err; then ok; else fail "stderr lacks '$1'" "$(head -c 300 err)"; fi
}
prints() {
	if has "$1" out; then ok; else fail "stdout lacks '$1'" "$(head -c 300 out)"; fi
}
# same FILE FILE WHAT: the two have the same bytes. absent FILE WHAT: the file does not exist.
same() {
	if cmp -s "$1" "$2"; then ok; else fail "$1 and $2 differ: $3" "$(cmp "$1" "$2" 2>&1)"; fi
}
absent() { if [ -e "$1" ]; then fail "$1 exists: $2"; else ok; fi; }
# json FILE EXPRESSION...: a Python expression of the JSON value j is true. Several words are joined
# by blanks.
evaluate='import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))'
json() {
	local file=$1
	shift
	if python3 -c "$evaluate" "$file" "$*" 2>json_err; then
		ok
	else
		fail "JSON: not $*" "$(head -c 600 "$file")" "$(tail -n 1 json_err)"
	fi
}
# soon WORDS...: repeat the command until it succeeds, for a minute at most.
soon() {
	local tries
	for tries in $(seq 1200); do
		"$@" && return
		sleep 0.05
	done
	fail "not within a minute: $*"
	return 1
}
# For soon: a process adds to the image in place; a process has locked it.
is_live() { "$weir" info --json "$1" | grep -q '"live": true'; }
is_locked() { ! flock -n "$1" true; }
# shown PATTERN COMMAND: run it on a terminal, ./typed, until that shows the pattern, for a minute
# at most.
shown() {
	: >typed
	TERM=xterm timeout -k 60 60 script -qec "$2" /dev/null >typed 2>&1 </dev/null &
	soon grep -q -- "$1" typed
	kill $! 2>/dev/null
	wait $! 2>/dev/null
}
# has_terminal: does script get a pseudo-terminal here? Print a line if not.
has_terminal() {
	script -qec true /dev/null >typed 2>&1 </dev/null && return
	echo 'skipped: no pseudo-terminal'
	return 1
}

# The keys are the system's words, or made ones if there are none; most tests take every seventh.
# Absent keys begin with a blank, unlike any word.
for words in /usr/share/dict/american-english-insane /usr/share/dict/words none; do
	[ -s "$words" ] && break
done
if [ "$words" = none ]; then
	seq -f 'key number %.0f' 1 600000 >all_keys
else
	grep -v '^ ' "$words" | sort -u >all_keys
fi
awk 'NR % 7 == 0' all_keys >keys
sed 's/^/ /' keys >absent_keys
n=$(wc -l <keys)

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}
