# SPDX-License-Identifier: MIT
# To be sourced by run.sh: say which step of how many runs and how long it takes, and how far a
# build has come. The caller sets $mode, which names the array with each step's seconds on a quiet
# machine, and the array $steps, in their order. Nothing is known of the seconds of --full.

# A machine whose CPUs others use too takes up to this many times as long. run.sh holds the
# questions to it with --within.
busy=2

say() {
	printf '[%3d s] %s\n' "$SECONDS" "$*" >&2
}

# seconds_of STEP: on a quiet machine; 0 if nothing is known.
seconds_of() {
	local -n known=$mode 2> /dev/null
	echo "${known[$1]:-0}"
}

# range SECONDS: '40 to 80 s'.
range() {
	echo "$1 to $(($1 * busy)) s"
}

# announce STEP WORDS: 'step 3 of 8: WORDS (40 to 80 s, then 60 to 120 s for the rest)'
announce() {
	local name=$1 words=$2 at=0 left=0 i seconds
	for i in "${!steps[@]}"; do
		[ "${steps[i]}" != "$name" ] || at=$((i + 1))
		[ "$at" -eq 0 ] || [ "${steps[i]}" = "$name" ] ||
			left=$((left + $(seconds_of "${steps[i]}")))
	done
	seconds=$(seconds_of "$name")
	words="step $at of ${#steps[@]}: $words"
	[ "$seconds" -eq 0 ] || words+=" ($(range "$seconds")"
	[ "$seconds" -eq 0 ] || [ "$left" -eq 0 ] || words+=", then $(range "$left") for the rest"
	[ "$seconds" -eq 0 ] || words+=')'
	say "$words"
}

# step NAME WORDS COMMAND...: announces it and runs it, in this shell, with its status.
step() {
	announce "$1" "$2"
	shift 2
	"$@"
}

# built LOG: 'DONE ALL', by the last "[DONE/ALL]" of ninja; nothing before the first.
built() {
	tail -c 4096 "$1" 2> /dev/null | sed -nE 's/^\[([0-9]+)\/([0-9]+)\].*/\1 \2/p' | tail -n 1
}

# how_far LOG SECONDS: 'compiling: 120 of 384, about 60 s left', after so many seconds of that. The
# first few files say nothing about the rest.
how_far() {
	local finished all left
	read -r finished all <<< "$(built "$1")"
	if [ -z "$all" ]; then
		echo "configuring"
	elif [ $((finished * 10)) -lt "$all" ]; then
		echo "compiling: $finished of $all"
	else
		left=$(($2 * (all - finished) / finished))
		echo "compiling: $finished of $all, about $left s left"
	fi
}

# follow_build LOG: says how far the build has come, until its own input ends: on a terminal in one
# line, each second; else after 2 seconds, then four times a minute.
follow_build() {
	local began=$SECONDS pause=2 status words
	[ ! -t 2 ] || pause=1
	while status=0; read -r -t "$pause" || status=$?; [ "$status" -gt 128 ]; do
		[ -n "$(built "$1")" ] || began=$SECONDS
		words=$(how_far "$1" $((SECONDS - began)))
		if [ -t 2 ]; then
			printf '\r[%3d s] %s\033[K' "$SECONDS" "$words" >&2
		else
			say "$words"
			pause=15
		fi
	done
	[ ! -t 2 ] || printf '\r\033[K' >&2
}

# followed LOG COMMAND...: runs a build that writes LOG and says how far it has come.
followed() {
	local log=$1 status=0 running
	shift
	# The watcher ends with its input. A kill could make it run the script's own trap.
	exec {running}> >(follow_build "$log" > /dev/null)
	local watcher=$!
	"$@" || status=$?
	exec {running}>&-
	wait "$watcher"
	return $status
}
