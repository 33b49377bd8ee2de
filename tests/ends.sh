# SPDX-License-Identifier: MIT
# To be sourced by the scripts that start others: end_tree PID... ends processes with all that they
# have started, whatever process group or session that is in. A test of meson has its own.

# tree PID...: those of these that live, and all that descend from any, the ancestors first. The
# rest of a process group belongs to its first process, though that one may have ended.
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

# Each gets one SIGTERM, and later SIGKILL. One whose parent has ended is still known.
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
	done 2> /dev/null # bash names a job that SIGKILL has ended
}

# exit_on_signals: with 128 and the signal's number, by way of the trap of EXIT. That may begin with
# end_started, which ends what this shell has started in the background, and the processes that it
# is given. In the foreground nothing long may run: bash answers no signal meanwhile. A worker in
# the background needs both too: a signal to the whole group ends it before its parent can see
# what it has started.
exit_on_signals() {
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 131' QUIT
	trap 'exit 143' TERM
}

end_started() {
	trap '' HUP INT QUIT TERM # a second signal may not keep the rest from being removed
	# shellcheck disable=SC2046
	end_tree "$@" $(jobs -p)
	wait 2> /dev/null # bash names what a signal has ended
}
