# SPDX-License-Identifier: MIT
# Source this file after tool_test.sh. It runs nginx with the module $module in the test's folder,
# on free ports of the loopback address.
nginx=$(PATH=$PATH:/usr/sbin command -v nginx)
for tool in "$nginx" curl wrk python3; do
	command -v "$tool" > /dev/null || { echo "skipped: no ${tool:-nginx}"; exit 77; }
done
chmod 755 "$work" # the workers are another user, where the test is root
trap 'stop_nginx; rm -rf "$work" ${other:+"$other"}' EXIT
trap 'exit 143' TERM INT HUP

# free_port: print a port on which no process listens.
free_port() {
	python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# configure ZONES LOCATIONS: write a configuration. $listen and $socket add addresses to listen on,
# and $main adds directives outside all blocks. X-Real-IP sets a request's client address. $as is a
# command that starts nginx.
listen= socket= main= as=
configure() {
	cat > nginx.conf <<-END
	load_module $module;
	$([ "$(id -u)" != 0 ] || echo 'user nobody nogroup;')
	worker_processes ${workers:-2};
	worker_shutdown_timeout 60s;
	$main
	thread_pool default threads=2;
	pid $work/pid;
	error_log $work/error.log ${level:-notice};
	events { worker_connections 512; }
	http {
	    access_log off;
	    keepalive_requests 10000; # realip allocates from a connection
	    client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3;
	    uwsgi_temp_path $work/t4; scgi_temp_path $work/t5;
	    $1
	    server {
	        listen 127.0.0.1:$port;
	        $listen
	        $socket
	        set_real_ip_from 127.0.0.1;
	        real_ip_header X-Real-IP;
	        location = /json { weir_status; }
	        location = /metrics { weir_status prometheus; }
	        $2
	    }
	}
	END
}

call_nginx() { $as "$nginx" -p "$work" -c "$work/nginx.conf" "$@"; }

# start_nginx ZONES LOCATIONS: if another process takes the port, try another port.
start_nginx() {
	local try
	for try in 1 2 3 4 5; do
		port=$(free_port)
		configure "$1" "$2"
		: > error.log
		call_nginx > start.out 2>&1 && soon answers && return
		stop_nginx
	done
	fail 'nginx does not start' "$(tail -n 5 start.out error.log)"
	exit 1
}
answers() { curl -s -m 5 -o /dev/null "http://127.0.0.1:$port/json"; }

is_gone() { ! kill -0 "$1" 2> /dev/null; }
stop_nginx() {
	local pid tries
	pid=$(cat "$work/pid" 2> /dev/null) || return 0
	kill -TERM "$pid" 2> /dev/null
	for tries in $(seq 200); do
		is_gone "$pid" && return 0
		sleep 0.05
	done
	echo "nginx $pid does not end"
	pkill -KILL -P "$pid"
	kill -KILL "$pid"
}

# workers_of: print the pids of the workers.
workers_of() { pgrep -P "$(cat pid)" | sort; }

# status_of PATH OPTION...: print the status of a request that curl makes with the options.
status_of() {
	local path=$1
	shift
	curl -s -m 20 -o body -w '%{http_code}' "$@" "http://127.0.0.1:$port$path"
}
# gives STATUS PATH OPTION...: a request has that status.
gives() {
	local want=$1 got words
	shift
	got=$(status_of "$@") words="$*"
	if [ "$got" = "$want" ]; then ok; else fail "$got, not $want: ${words:0:300}"; fi
}
# from STATUS PATH ADDRESS...: a request from each address has that status.
from() {
	local want=$1 path=$2 address
	shift 2
	for address; do
		gives "$want" "$path" -H "X-Real-IP: $address"
	done
}
is_refused_from() { [ "$(status_of "$1" -H "X-Real-IP: $2")" = 403 ]; }
passes_from() { [ "$(status_of "$1" -H "X-Real-IP: $2")" = 200 ]; }

# metric NAME SET
metric() {
	curl -s -m 20 "http://127.0.0.1:$port/metrics" | sed -n "s/^weir_$1{set=\"$2\"} //p"
}
# metric_is NAME SET TEST NUMBER: example: metric_is keys bad -gt 5
metric_is() {
	local n
	n=$(metric "$1" "$2")
	[ "${n%.*}" "$3" "$4" ]
}
leader_of() {
	curl -s -m 20 "http://127.0.0.1:$port/json" | python3 -c 'import json, sys
print([s["leader"] for s in json.load(sys.stdin)["sets"] if s["name"] == sys.argv[1]][0])' "$1"
}
has_leader() { [ "$(leader_of "$1")" -gt 0 ]; }

# logged N PATTERN: N lines of the log match the pattern.
logged() {
	local n
	n=$(grep -c -- "$2" error.log)
	if [ "$n" = "$1" ]; then ok; else fail "the log has '$2' $n times, not $1" \
		"$(tail -n 5 error.log)"; fi
}
# holds COMMAND...: the command succeeds.
holds() { if "$@"; then ok; else fail "not so: $*"; fi; }

# set_of FILE OPTION...: build an image of the lines of standard input, and rename it to FILE.
set_of() {
	local file=$1
	shift
	"$weir" build -q -p 0.001 "$@" -o "$file.made" - || { fail "weir build: $file"; kill $$; }
	mv "$file.made" "$file"
}
