/* SPDX-License-Identifier: MIT
 * A variable's value as the set takes it, which normalises it. Addresses are looked up as prefixes
 * in a set of prefixes, else as text, and an IPv4 address that came over an IPv6 socket
 * (::ffff:192.0.2.1) is the IPv4 one in either. */
#include <arpa/inet.h>
#include "module.h"

static const u_char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

/* Of a set of prefixes or domains, which cannot read every text. */
static bool readable(const struct weir_text *normal, const void *text, size_t len)
{
	const struct weir_text shape = { .steps = normal->steps & ~(uint32_t)WEIR_TEXT_LOWERCASE };
	u_char room[WEIR_TEXT_ROOM(0)]; /* without lowercase all but an address is in the text */
	struct iovec key;
	return weir_text_key(&shape, text, len, room, &key) == 0;
}

static int ask_text(const struct weir_filter *f, const struct weir_text *normal, const void *text,
                    size_t len)
{
	if (weir_contains(f, text, len))
		return 1;
	return readable(normal, text, len) ? 0 : -EINVAL;
}

static int ask_binary(const struct weir_filter *f, const struct weir_text *normal,
                      const u_char *address, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	if (len != 4 && len != 16)
		return -EINVAL; /* a UNIX socket's */
	if (normal->steps & WEIR_TEXT_CIDR)
		return weir_contains_keys(f, weir_keys_fixed(address, len, 1), NULL) == 1;
	if (len == 16 && memcmp(address, mapped, sizeof mapped) == 0) {
		address += sizeof mapped;
		len = 4;
	}
	inet_ntop(len == 4 ? AF_INET : AF_INET6, address, text, sizeof text);
	return ask_text(f, normal, text, strlen(text));
}

/* However it is spelled. What is no address is text: a UNIX socket's "unix:". */
static int ask_address(const struct weir_filter *f, const struct weir_text *normal,
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
	return ask_text(f, normal, text, len);
}

enum ngx_weir_answer ngx_weir_ask(struct ngx_weir_zone *zone, enum ngx_weir_form form,
                                  const u_char *data, size_t len)
{
	const struct weir_filter *f = store_filter(zone->store);
	const struct weir_text *normal = &zone->store->normal;
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
		answer = ask_text(f, normal, data, len);
	return answer < 0 ? NGX_WEIR_INVALID : answer ? NGX_WEIR_HIT : NGX_WEIR_MISS;
}
