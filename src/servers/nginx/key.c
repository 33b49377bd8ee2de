/* SPDX-License-Identifier: MIT
 * Look up a variable's value in the set, which normalises the value. An address is looked up as a
 * prefix in a set of prefixes, else as text. In both kinds of set, an IPv4 address from an IPv6
 * socket (::ffff:192.0.2.1) counts as the IPv4 address. A list is read from the right, where the
 * trusted proxies append to it. */
#include <arpa/inet.h>
#include "module.h"

static const u_char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* Return: true if the set can parse this text. Sets of prefixes or domains refuse some texts. */
static bool readable(const struct weir_text *normal, const void *text, size_t len)
{
	const struct weir_text shape = { .steps = normal->steps & ~(uint32_t)WEIR_TEXT_LOWERCASE };
	u_char room[WEIR_TEXT_ROOM(0)]; /* without lowercase only addresses need a buffer */
	struct iovec key;
	return weir_text_key(&shape, text, len, room, &key) == 0;
}

static int lookup_text(const struct weir_filter *f, const struct weir_text *normal,
                       const void *text, size_t len)
{
	if (weir_contains(f, text, len))
		return 1;
	return readable(normal, text, len) ? 0 : -EINVAL;
}

static int lookup_binary(const struct weir_filter *f, const struct weir_text *normal,
                         const u_char *address, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	if (len != 4 && len != 16)
		return -EINVAL; /* from a UNIX socket */
	if (normal->steps & WEIR_TEXT_CIDR)
		return weir_contains_keys(f, weir_keys_fixed(address, len, 1), NULL) == 1;
	if (len == 16 && memcmp(address, mapped, sizeof mapped) == 0) {
		address += sizeof mapped;
		len = 4;
	}
	inet_ntop(len == 4 ? AF_INET : AF_INET6, address, text, sizeof text);
	return lookup_text(f, normal, text, strlen(text));
}

/* Return: the bytes of the address, 4 or 16; 0: the text is not an address. */
static size_t parse(const u_char *text, size_t len, u_char address[16])
{
	char copy[INET6_ADDRSTRLEN];
	if (len >= sizeof copy || memchr(text, 0, len))
		return 0;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (inet_pton(AF_INET, copy, address) == 1)
		return 4;
	return inet_pton(AF_INET6, copy, address) == 1 ? 16 : 0;
}

/* Look up an address in any spelling. Other values count as text, such as "unix:" of a socket. */
static int lookup_address(const struct weir_filter *f, const struct weir_text *normal,
                          const u_char *text, size_t len)
{
	u_char address[16];
	size_t bytes = parse(text, len, address);
	return bytes ? lookup_binary(f, normal, address, bytes) : lookup_text(f, normal, text, len);
}

/* Return: true if the text is empty, or a colon and a port. */
static bool is_port(const u_char *text, size_t len)
{
	if (!len)
		return true;
	if (text[0] != ':' || (len > 2 && text[1] == '0'))
		return false;
	ngx_int_t port = ngx_atoi((u_char *)text + 1, len - 1);
	return port >= 0 && port <= 65535;
}

/* Parse ADDRESS, IPV4:PORT, [IPV6] or [IPV6]:PORT. Return: as parse(). */
static size_t parse_element(const u_char *text, size_t len, u_char address[16])
{
	for (; len && (text[0] == ' ' || text[0] == '\t'); len--)
		text++;
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	const u_char *end = text + len, *stop;
	if (len && text[0] == '[') {
		stop = memchr(text, ']', len);
		if (!stop || !is_port(stop + 1, (size_t)(end - stop - 1)))
			return 0;
		return parse(text + 1, (size_t)(stop - text - 1), address) == 16 ? 16 : 0;
	}
	stop = memchr(text, ':', len);
	if (!stop || memchr(stop + 1, ':', (size_t)(end - stop - 1)))
		return parse(text, len, address);
	return is_port(stop, (size_t)(end - stop)) ?
	       parse(text, (size_t)(stop - text), address) : 0;
}

static bool is_excess(const u_char *list, size_t len)
{
	unsigned elements = 1;
	if (len > NGX_WEIR_LIST_BYTES)
		return true;
	for (size_t i = 0; i < len; i++)
		elements += list[i] == ',';
	return elements > NGX_WEIR_LIST_MOST;
}

/* @from: look up only this element, counted from the right; 0: look up all elements
 * Return: -E2BIG the list exceeds its limits; 1 the set has one of the elements looked up; -EINVAL
 *   the set has none of them, and one of them is not an address; 0 in all other cases, also if the
 *   list is shorter than @from. */
static int lookup_list(const struct weir_filter *f, const struct weir_text *normal, ngx_uint_t from,
                       const u_char *list, size_t len)
{
	int answer = 0;
	if (is_excess(list, len))
		return -E2BIG;
	for (ngx_uint_t n = 1; ; n++) {
		size_t begin = len;
		while (begin && list[begin - 1] != ',')
			begin--;
		if (!from || n == from) {
			u_char address[16];
			size_t bytes = parse_element(list + begin, len - begin, address);
			int found = bytes ? lookup_binary(f, normal, address, bytes) : -EINVAL;
			if (found > 0)
				return 1;
			if (found)
				answer = found;
		}
		if (!begin || n == from)
			return answer;
		len = begin - 1;
	}
}

enum ngx_weir_answer ngx_weir_lookup(struct ngx_weir_zone *zone, const struct ngx_weir_key *key,
                                     const u_char *data, size_t len)
{
	const struct weir_filter *f = store_filter(zone->store);
	const struct weir_text *normal = &zone->store->normal;
	const enum ngx_weir_form form = key->form;
	int answer;
	if (!f)
		return NGX_WEIR_OFF;
	if (form != NGX_WEIR_FORM_CLIENT && !len)
		return NGX_WEIR_MISS; /* otherwise all clients without a value would share a key */
	if (form == NGX_WEIR_FORM_CLIENT)
		answer = lookup_binary(f, normal, data, len);
	else if (form == NGX_WEIR_FORM_LIST)
		answer = lookup_list(f, normal, key->from, data, len);
	else if (form == NGX_WEIR_FORM_ADDRESS)
		answer = lookup_address(f, normal, data, len);
	else
		answer = lookup_text(f, normal, data, len);
	if (answer == -E2BIG)
		return NGX_WEIR_EXCESS;
	return answer < 0 ? NGX_WEIR_INVALID : answer ? NGX_WEIR_HIT : NGX_WEIR_MISS;
}
