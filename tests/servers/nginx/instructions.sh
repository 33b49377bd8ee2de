#!/bin/bash
# SPDX-License-Identifier: MIT
# Measure the instructions of one request with callgrind, for a location with a rule and for one
# without. Each figure is the difference of two runs, so it excludes nginx's start.
# instructions.sh WEIR MODULE
here=$(realpath "$(dirname "$0")")
module=$(realpath "${2:?usage: $0 path/to/weir path/to/ngx_http_weir_module.so}")
. "$here/../../examples/tool_test.sh"
. "$here/nginx.sh"
command -v valgrind > /dev/null || { echo 'skipped: no valgrind'; exit 77; }
level=error
python3 -c 'for i in range(2000000):
    print(f"{10 + (i >> 20)}.{i >> 12 & 255}.{i >> 4 & 255}.{i & 15}")' |
	"$weir" build -q --cidr -p 0.005 -o set.weir -
port=$(free_port)
configure "weir_zone bad $work/set.weir check=60s;" \
	'location = /binary { weir_deny bad $binary_remote_addr; empty_gif; }
	location = /text { weir_deny bad $realip_remote_addr; empty_gif; }
	location = /none { empty_gif; }'
sed -i 's/^worker_processes.*/master_process off; daemon off;/' nginx.conf

# Send requests over one connection.
ask='import http.client, sys
c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
for i in range(int(sys.argv[3])):
    c.request("GET", sys.argv[2]); r = c.getresponse(); r.read(); assert r.status == 200'

instructions_of() { # PATH REQUESTS
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$nginx" -p "$work" \
		-c "$work/nginx.conf" > valgrind.out 2>&1 &
	local server=$!
	soon answers
	python3 -c "$ask" "$port" "$1" "$2" || fail "$1"
	kill -QUIT "$(cat pid)"
	wait "$server"
	awk '/Collected/ { print $4 }' valgrind.out
}
each() { # PATH
	local few many
	few=$(instructions_of "$1" 1000)
	many=$(instructions_of "$1" 4000)
	echo $(((many - few) / 3000))
}
none=$(each /none) binary=$(each /binary) text=$(each /text)
for how in binary text; do
	more=$((${!how} - none))
	echo "$how: $more of $none instructions a request," \
		"$(awk -v a=$more -v b="$none" 'BEGIN { printf "%.1f", 100 * a / b }') %"
done
holds [ $((100 * (binary - none))) -le $((4 * none)) ]
finish
