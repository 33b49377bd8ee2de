/* SPDX-License-Identifier: MIT
 * A variable's value as the image wants it: what is done to keys stands in the image. Addresses are
 * looked up as prefixes in a set of prefixes, else as text, and an IPv4 address that came over an
 * IPv6 socket (::ffff:192.0.2.1) is the IPv4 one in either. */
#include <arpa/inet.h>
#include "module.h"

static const u_char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* The keys of weir_normal_cidr(), without text between. @lengths: bit n: there are prefixes of n
 * bits. */
static bool has_ipv4(const struct weir_filter *f, uint64_t lengths, const u_char *address)
{
	u_char key[5];
	uint32_t whole, part;
	memcpy(&whole, address, sizeof whole);
	for (uint64_t left = lengths; left; left &= left - 1) {
		unsigned bits = (unsigned)__builtin_ctzll(left);
		part = whole & htonl((uint32_t)(UINT64_C(0xffffffff00000000) >> bits));
		key[0] = (u_char)bits;
		memcpy(key + 1, &part, sizeof part);
		if (weir_contains(f, key, sizeof key))
			return true;
	}
	return false;
}

static bool has_ipv6(const struct weir_filter *f, const uint64_t lengths[3], const u_char *address)
{
	enum { BYTES = 16 };
	u_char key[1 + BYTES];
	for (unsigned w = 0; w < 3; w++)
		for (uint64_t left = lengths[w]; left; left &= left - 1) {
			unsigned bits = 64 * w + (unsigned)__builtin_ctzll(left), whole = bits / 8;
			key[0] = (u_char)bits;
			memcpy(key + 1, address, BYTES);
			if (whole < BYTES) {
				key[1 + whole] &= (u_char)(0xff00 >> bits % 8);
				memset(key + 2 + whole, 0, BYTES - whole - 1);
			}
			if (weir_contains(f, key, sizeof key))
				return true;
		}
	return false;
}

static int ask_text(const struct weir_filter *f, const void *text, size_t len)
{
	return weir_normal_contains(f, text, len);
}

static int ask_binary(const struct weir_filter *f, const struct weir_normal *normal,
                      const u_char *address, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	if (len != 4 && len != 16)
		return -EINVAL; /* a UNIX socket's */
	if (len == 16 && memcmp(address, mapped, sizeof mapped) == 0) {
		address += sizeof mapped;
		len = 4;
	}
	if (normal->steps & WEIR_NORMAL_CIDR)
		return len == 4 ? has_ipv4(f, normal->ipv4, address) :
		                  has_ipv6(f, normal->ipv6, address);
	inet_ntop(len == 4 ? AF_INET : AF_INET6, address, text, sizeof text);
	return ask_text(f, text, strlen(text));
}

/* However it is spelled. What is no address is text: a UNIX socket's "unix:". */
static int ask_address(const struct weir_filter *f, const struct weir_normal *normal,
                       const u_char *text, size_t len)
{
	char copy[INET6_ADDRSTRLEN];
	u_char address[16];
	if (len < sizeof copy) {
		memcpy(copy, text, len);
		copy[len] = 0;
		if (inet_pton(AF_INET, copy, address) == 1)
			return ask_binary(f, normal, address, 4);
		if (inet_pton(AF_INET6, copy, address) == 1)
			return ask_binary(f, normal, address, sizeof address);
	}
	return ask_text(f, text, len);
}

enum ngx_weir_answer ngx_weir_ask(struct ngx_weir_zone *zone, enum ngx_weir_form form,
                                  const u_char *data, size_t len)
{
	const struct weir_filter *f = store_filter(zone->store);
	const struct weir_normal *normal = &zone->store->normal;
	int answer;
	if (!f)
		return NGX_WEIR_OFF;
	if (form != NGX_WEIR_FORM_CLIENT && !len)
		return NGX_WEIR_MISS; /* no value: even one that all clients without it share */
	if (form == NGX_WEIR_FORM_CLIENT)
		answer = ask_binary(f, normal, data, len);
	else if (form == NGX_WEIR_FORM_ADDRESS)
		answer = ask_address(f, normal, data, len);
	else
		answer = ask_text(f, data, len);
	if (answer >= 0)
		return answer ? NGX_WEIR_HIT : NGX_WEIR_MISS;
	return answer == -EINVAL ? NGX_WEIR_INVALID : NGX_WEIR_OFF; /* no memory */
}
