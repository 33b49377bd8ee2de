# SPDX-License-Identifier: MIT
# To be sourced by run.sh: the main job on real keys. real_keys WEIR FOLDER makes filters of words
# and of paths with the command WEIR, saves them, has them mapped and asked for their own keys and
# for others, and prints a table. It answers non-zero if a key was lost or a measured rate is beyond
# the one asked for.

seconds_now() {
	local now=$EPOCHREALTIME
	echo "${now/[.,]/.}"
}

# per_second COUNT SECONDS, in millions
per_second() {
	awk -v n="$1" -v s="$2" 'BEGIN { printf "%.1f", n / (s > 0 ? s : 1e-9) / 1e6 }'
}

elapsed() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b - a }'
}

words_into() {
	LC_ALL=C sort -u /usr/share/dict/american-english-insane > "$1"
}

# Every file path known to dpkg; where there is no dpkg, every one under /usr.
paths_into() {
	if ls /var/lib/dpkg/info/*.list > /dev/null 2>&1; then
		cat /var/lib/dpkg/info/*.list
	else
		find /usr
	fi | LC_ALL=C sort -u > "$1"
}

# absent_into OUT KEYS OTHERS: lines that are not among KEYS: OTHERS, and KEYS with something
# appended, at least a million.
absent_into() {
	local keys
	keys=$(wc -l < "$2")
	awk -v copies=$((1000000 / keys + 1)) '
		{ for (i = 0; i < copies; i++) print $0 "~" i }
	' "$2" | LC_ALL=C sort -u - "$3" | LC_ALL=C comm -23 - "$2" > "$1"
}

# count_found WEIR IMAGE FILE: how many of the lines the filter answers "there". No such line is no
# error.
count_found() {
	"$1" query -c "$2" "$3" || [ $? -eq 1 ]
}

# one_filter WEIR FOLDER NAME RATE: a row of the table.
one_filter() {
	local weir=$1 folder=$2 name=$3 rate=$4 image=$2/$3.weir keys=$2/$3 absent=$2/$3.absent
	local n absent_n begin built asked found wrong
	n=$(wc -l < "$keys")
	absent_n=$(wc -l < "$absent")
	begin=$(seconds_now)
	"$weir" build -q -p "$rate" -o "$image" "$keys"
	built=$(elapsed "$begin" "$(seconds_now)")
	begin=$(seconds_now)
	found=$(count_found "$weir" "$image" "$keys")
	asked=$(elapsed "$begin" "$(seconds_now)")
	wrong=$(count_found "$weir" "$image" "$absent")
	printf '%-6s %9d %6s' "$name" "$n" "$rate"
	awk -v n="$n" -v bytes="$(stat -c %s "$image")" -v wrong="$wrong" -v absent="$absent_n" \
		-v rate="${rate%\%}" -v lost=$((n - found)) '
		BEGIN {
			measured = 100 * wrong / absent
			noise = 100 * 3 * sqrt(rate / 100 / absent) # three standard deviations
			printf " %8.3f%% of %-8d %9d %10d", measured, absent, lost, bytes
			exit !(lost == 0 && measured <= rate * 1.03 + noise)
		}' || {
		echo "$name at $rate: lost keys or a rate beyond the one asked for"
	} >> "$folder/failures"
	printf ' %8.1f %8.1f\n' "$(per_second "$n" "$built")" "$(per_second "$n" "$asked")"
}

real_keys() {
	local weir=$1 folder=$2 name rate
	words_into "$folder/words"
	paths_into "$folder/paths"
	absent_into "$folder/words.absent" "$folder/words" "$folder/paths"
	absent_into "$folder/paths.absent" "$folder/paths" "$folder/words"
	printf '%-6s %9s %6s %-21s %9s %10s %8s %8s\n' \
		'set' 'keys' 'asked' ' measured over others' 'lost keys' 'image' 'build' 'query' \
		'' '' '' '' '' 'bytes' 'M keys/s' 'M keys/s'
	for name in words paths; do
		for rate in 1% 0.1%; do
			one_filter "$weir" "$folder" "$name" "$rate"
		done
	done
	[ ! -s "$folder/failures" ] || {
		cat "$folder/failures" >&2
		return 1
	}
}
