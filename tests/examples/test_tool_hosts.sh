#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests which lines of a list of domains are errors. A set of lines that are not domains matches
# nothing, and nothing reports that. Usage: test_tool_hosts.sh path/to/weir
. "$(dirname "${BASH_SOURCE[0]}")/tool_test.sh"

# refused LINE PATTERN: LINE, as the second line, is refused with this message.
refused() {
	printf 'good.test\n%s\n' "$1" >list
	run 2 "$weir" build -q --hosts -o none.weir list
	says "^weir build: list:2: '.*$2"
	run 0 "$weir" build --json --hosts --skip-bad -o one.weir list
	json out 'j["keys"] == 1 and j["passed_over"] == 1'
	rm one.weir
}

# An Adblock list once became a set that finds nothing, with exit status 0.
test_an_adblock_list() {
	local line
	for line in '||adblock.com^' '@@||good.com^$document' '! Title: a list' \
			'[Adblock Plus 2.0]' 'example.com##.ad' \
			'example.com#@#.ad' 'example.com##.ad > b' 'a.com^'; do
		refused "$line" 'looks like a rule of an Adblock list'
	done
	absent none.weir 'a list of rules'
}

test_no_domains() {
	local line label
	for line in http://x.example/path x.example/path 'a.com#b' 'cache-size=10' 'a,b' 'a:80' \
			'address=/a b.com/1.2.3.4' '0.0.0.0 a.com b/c' 'a\b' 'x|y'; do
		refused "$line" 'not a domain: a domain has letters, digits, - and _ between dots'
	done
	for line in example..com ..example.com '0.0.0.0 a..b' 'example.com..' '*..com'; do
		refused "$line" 'a label of it is empty'
	done
	for line in - . '*.' '0.0.0.0 -' 'address=/-/'; do
		refused "$line" 'not a domain$\|not a domain (--skip-bad'
	done
	refused 'address=/#/1.2.3.4' '# is every domain, and no key finds all of them'
	label=$(printf 'a%.0s' {1..63})
	refused "$label.$label.$label.${label}" 'more than 253 bytes'
}

# Unusual lines that are allowed.
test_domains() {
	local label
	label=$(printf 'a%.0s' {1..63})
	cat >list <<-END
		*.wild.test
		.dot.test
		end.test.
		_dmarc.x-1.test
		münchen.test
		MiXed.test   # why
		$label.$label.$label.${label%aa}.
		0.0.0.0 0.0.0.0
		127.0.0.1 localhost localhost.localdomain # the usual ones ||^
		::1 ip6-localhost
		0.0.0.0 after.test#comment
		forty-six-bytes.as-many-as-an-address-has.test
		# ||comment^
		   # ##
		server=//192.0.2.1
		server=/port.test/192.0.2.1#53
	END
	run 0 "$weir" build --json --hosts --keep-local --lowercase -o list.weir list
	json out 'j["keys"] == 14 and j["passed_over"] == 0 and j["local_names"] == 0'
	says 'hint: .*beyond ASCII'
	[ "$(wc -l <err)" = 1 ] && ok || fail 'more than that hint' "$(cat err)"
	run 0 "$weir" query -c list.weir <(printf '%s\n' '*.wild.test' mixed.test after.test \
		localhost 0.0.0.0 münchen.test port.test); prints '^7$'
	run 2 "$weir" query --hosts list.weir <(echo '||a.com^'); says ':1: .*Adblock'
}

# A comment or a word with =/ once made a line a dnsmasq line, and its domains were lost.
test_a_line_of_an_address_is_no_other() {
	printf '0.0.0.0 one.test#see http://x?u=/x/\n0.0.0.0 two.test # a=/b/\n' >list
	run 0 "$weir" build --json --hosts -o one.weir list
	json out 'j["keys"] == 2 and j["local_names"] == 0'
	run 0 "$weir" query -c one.weir <(printf '%s\n' one.test two.test); prints '^2$'
	refused '0.0.0.0 three.test b=/y/' 'not a domain: a domain has letters'
}

# From the head of a usual hosts file, local, localhost and 0.0.0.0 once became domains, so that
# printer.local matched.
test_local_names() {
	cat >hosts <<-END
		127.0.0.1 localhost
		127.0.0.1 localhost.localdomain local
		255.255.255.255 broadcasthost
		::1 localhost ip6-localhost ip6-loopback
		fe80::1%lo0 localhost
		ff02::1 ip6-allnodes
		0.0.0.0 0.0.0.0
		0.0.0.0 ads.test tracker
		server=/lan/192.0.2.1
		Localhost.Localdomain.
	END
	run 0 "$weir" build --json --hosts --suffixes -o hosts.weir hosts
	json out 'j["keys"] == 1 and j["passed_over"] == 0 and j["local_names"] == 13'
	says '^weir build: local names left out: 13, such as localhost (--keep-local keeps them)$'
	printf "%s\n" printer.local localhost tracker 0.0.0.0 >others
	run 1 "$weir" query -q hosts.weir others
	run 0 "$weir" query -q hosts.weir <(echo x.ads.test)
	run 0 "$weir" add --json --hosts hosts.weir hosts
	json out 'j["keys"] == 1 and j["local_names"] == 13'
	run 0 "$weir" build -q -k counting --hosts -o count.weir hosts
	run 0 "$weir" remove --json --allow-shrink --hosts count.weir hosts
	json out 'j["keys"] == 1 and j["local_names"] == 13'
	run 0 "$weir" build --json --hosts --suffixes --keep-local -o kept.weir hosts
	json out 'j["keys"] == 14 and j["local_names"] == 0'
	run 0 "$weir" query -q kept.weir <(echo printer.local)
	run 1 "$weir" build --hosts -o none.weir <(head -7 hosts)
	says 'local names left out: 10'
	absent none.weir 'a list of local names alone'
	run 2 "$weir" build --keep-local -o none.weir hosts; says '--keep-local without --hosts'
}

for part in an_adblock_list no_domains domains a_line_of_an_address_is_no_other local_names; do
	test_$part
done
finish
