# SPDX-License-Identifier: MIT
# Source this file after nginx.sh. It has the tests' sets and a server with all kinds of rules.
addresses() { # addresses NET N: N addresses of 10.NET.x.y
	seq 0 $(($2 - 1)) | awk -v net="$1" '{ print "10." net "." int($1 / 256) "." $1 % 256 }'
}
bad_set() { # bad_set NET OPTION...: a list with a network of its own each time, beside what stays
	local net=$1
	shift
	{ addresses "$net" 300; echo 192.0.2.0/24; echo 2001:db8::/32; echo 198.51.100.7
		echo 172.16.0.0/12; echo 2001:db9:8000::/33; echo 2001:dba::77; } |
		set_of bad.weir --cidr -p 1e-7 "$@"
}
# exact_set NET: a set with exact answers for the listed addresses and the innocents. Without the
# list of innocents, half of the innocents would be false positives.
exact_set() {
	{ addresses "$1" 300; addresses 192 256; echo 198.18.0.0/15; } |
		set_of exact.weir --cidr --kind layered -p 50% --exclude innocents
}

addresses 200 2000 > innocents
addresses 192 256 > always
bad_set 1
exact_set 1
printf '203.0.113.5\n2001:db8:1::5\n' | set_of plain.weir
printf 'Alice\nbob\n\n' | set_of users.weir --lowercase
echo 127.0.0.1 | set_of loopback.weir --cidr

# start_rules: start the server.
start_rules() {
	port6=$(free_port)
	listen="listen [::ffff:127.0.0.1]:$port6 ipv6only=off;"
	proxy_port=$(free_port)
	listen+=" listen 127.0.0.1:$proxy_port proxy_protocol;"
	socket="listen unix:$work/socket;"
	port=$(free_port)
	configure '' ''
	call_nginx -t > /dev/null 2>&1 || listen=
	places='
	location = /binary { weir_deny bad $binary_remote_addr; empty_gif; }
	location = /text { weir_deny bad $remote_addr; empty_gif; }
	location = /plain { weir_deny plain $binary_remote_addr; empty_gif; }
	location = /plain_text { weir_deny plain $remote_addr; empty_gif; }
	location = /dropping { weir_deny dropping $binary_remote_addr; empty_gif; }
	location = /proxy { weir_deny plain $proxy_protocol_addr; empty_gif; }
	location = /exact { weir_deny exact $binary_remote_addr; empty_gif; }
	location = /status { weir_deny bad $binary_remote_addr 429; empty_gif; }
	location /off { weir_deny off; empty_gif;
		location /off/on { weir_deny bad $binary_remote_addr; empty_gif; } }
	location /above { weir_deny bad $binary_remote_addr; empty_gif;
		location /above/heir { empty_gif; }
		location /above/off { weir_deny off; empty_gif; } }
	location = /users { weir_allow users $arg_u; empty_gif; }
	location = /both { weir_deny bad $binary_remote_addr;
		weir_allow users $arg_u 401; empty_gif; }
	location = /word { return 200 "$weir_users $weir_bad $weir_none mapped-$how\n"; }
	location = /header { weir_deny bad $binary_remote_addr; empty_gif;
		add_header X-Weir $weir_bad always; }
	location = /said { weir_deny users $arg_v; empty_gif;
		add_header X-Weir $weir_users always; }
	location = /no_address { weir_deny bad $arg_u; empty_gif; }
	location = /none { weir_deny none $binary_remote_addr; empty_gif; }
	location = /loopback { weir_deny loopback $binary_remote_addr; empty_gif; }'
	start_nginx "weir_zone bad $work/bad.weir check=50ms max=4m;
	weir_zone plain $work/plain.weir check=50ms max=4m;
	weir_zone dropping $work/plain.weir check=50ms max=4m on_error=pass;
	weir_zone users $work/users.weir check=50ms max=4m key=\$arg_u;
	weir_zone exact $work/exact.weir check=50ms max=4m;
	weir_zone none '$work/no\"ne.weir' check=50ms max=4m;
	weir_zone loopback $work/loopback.weir max=4m;
	map \$weir_bad \$how { default \$weir_bad; }" "$places"
}
