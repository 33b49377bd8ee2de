# SPDX-License-Identifier: MIT
# To be sourced by run.sh: how long a step takes is announced, and reported again where that does
# not hold. The caller has $mode, which names the array of each step's seconds (full: nothing is
# known), and the array steps, all in their order.

say() {
	printf '[%3d s] %s\n' "$SECONDS" "$*" >&2
}

# late NAME SECONDS: says, until its input ends, that NAME takes longer than was announced.
late() {
	local began=$SECONDS pause=2 status
	while status=0; read -r -t "$pause" || status=$?; [ "$status" -gt 128 ]; do
		[ $((SECONDS - began)) -gt $(($2 * 5 / 4 + 1)) ] || continue
		say "$1 takes longer than the $2 s announced: $((SECONDS - began)) s so far"
		pause=20
	done
}

# watched NAME SECONDS COMMAND: runs it, and reports that it is late. SECONDS: 0 if nobody knows.
watched() {
	local name=$1 expected=$2 status=0 running
	shift 2
	if [ "$expected" -eq 0 ]; then
		"$@"
		return
	fi
	# Not killed, which could run the script's own trap: it ends with its input.
	exec {running}> >(late "$name" "$expected" > /dev/null)
	local watcher=$!
	"$@" || status=$?
	exec {running}>&-
	wait "$watcher"
	return $status
}

# step NAME WORDS COMMAND: runs it, and reports how long it takes, and what comes after it.
step() {
	local name=$1 words=$2 left=0 met='' other
	shift 2
	if [ "$mode" = full ]; then
		say "$words"
		watched "$name" 0 "$@"
		return
	fi
	declare -n seconds=$mode
	for other in "${steps[@]}"; do
		[ "$other" != "$name" ] || met=yes
		[ -z "$met" ] || left=$((left + seconds[$other]))
	done
	say "$words (about ${seconds[$name]} s, then $((left - seconds[$name])) s more)"
	watched "$name" "${seconds[$name]}" "$@"
}
