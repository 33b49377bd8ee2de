# SPDX-License-Identifier: MIT
# For scripts that start processes: source this file. end_tree PID... ends processes and all their
# descendants, in any process group or session. Meson's tests have their own clean-up.

# tree PID...: print the living processes of these and their living descendants, ancestors first. A
# process group belongs to its first process, even if that process has ended.
tree() {
	sed -n 's/^\([0-9]*\) (.*) [^ZX] \([0-9]*\) \([0-9]*\) .*/\1 \2 \3/p' \
		/proc/[0-9]*/stat 2> /dev/null |
		awk -v roots="$*" '
			function found(pid) { if (!is_found[pid]++) queue[++n] = pid }
			function pids_of(at, pid) {
				for (pid in parent)
					if (parent[pid] == at || group[pid] == at) found(pid)
			}
			{ parent[$1] = $2; group[$1] = $3 }
			END {
				roots_n = split(roots, root)
				for (i = 1; i <= roots_n; i++) found(root[i])
				for (at = 1; at <= n; at++) {
					if (queue[at] in parent) print queue[at]
					pids_of(queue[at])
				}
			}'
}

patience=50 # tenths of a second from SIGTERM to SIGKILL

# Send each process SIGTERM once, then SIGKILL. A process whose parent has ended stays known.
end_tree() {
	local -A asked=()
	local tries pid alive
	for ((tries = 0; tries < 100; tries++)); do
		mapfile -t alive < <(tree "$@" "${!asked[@]}")
		[ ${#alive[@]} -gt 0 ] || return 0
		for pid in "${alive[@]}"; do
			[ "$tries" -lt "$patience" ] || kill -KILL "$pid"
			[ -n "${asked[$pid]-}" ] || kill -TERM "$pid"
			asked[$pid]=yes
		done
		sleep 0.1
	done 2> /dev/null # without the messages of bash about killed jobs
}

# exit_on_signals: on a signal, exit with 128 and the signal's number through the trap of EXIT. The
# trap may begin with end_started, which ends the background processes of this shell and the
# processes that are its arguments. A script must not run long commands in the foreground, because
# bash handles no signal during them. Background workers need both functions too: a signal to the
# whole group ends a worker before its parent can see what the worker has started.
exit_on_signals() {
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 131' QUIT
	trap 'exit 143' TERM
}

end_started() {
	trap '' HUP INT QUIT TERM # a second signal must not interrupt the clean-up
	# shellcheck disable=SC2046
	end_tree "$@" $(jobs -p)
	wait 2> /dev/null # without the messages of bash about killed jobs
}
