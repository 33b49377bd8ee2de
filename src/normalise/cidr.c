/* SPDX-License-Identifier: MIT
 * The key of an IP prefix. */
#include <arpa/inet.h>
#include <string.h>
#include "ground/error.h"
#include "normalise/normalise.h"

enum { MOST_TEXT = INET6_ADDRSTRLEN + 4, MAPPED = 96 }; /* an address and "/128" */

struct prefix {
	unsigned char address[16];
	unsigned bits; /* 32, 128 */
	unsigned length;
};

/* @why: what is wrong, or NULL for any other reason. */
static int no_prefix(const char *text, size_t len, const char *why)
{
	int shown = len > 60 ? 60 : (int)len;
	return weir__fail(-EINVAL, "'%.*s': is no IP address or prefix: %s", shown, text,
	                  why ? why : "such as 192.0.2.0/24 or 2001:db8::/32");
}

static int wrong(const char *text, size_t len)
{
	const char *why = NULL;
	if (!len)
		why = "it is empty";
	else if (text[len - 1] == '\r')
		why = "it ends in a carriage return, which trim takes off";
	else if (memchr(" \t", text[0], 2) || memchr(" \t", text[len - 1], 2))
		why = "it has blanks around it, which trim takes off";
	else if (memchr(text, '%', len))
		why = "a zone is no part of an address";
	return no_prefix(text, len, why);
}

/* The number after the slash: no sign, no leading zero. Return: whether it is one. */
static bool number(const char *digits, unsigned *out)
{
	unsigned value = 0, n = 0;
	for (; digits[n] >= '0' && digits[n] <= '9' && n < 4; n++)
		value = 10 * value + (unsigned)(digits[n] - '0');
	*out = value;
	return n >= 1 && n <= 3 && !digits[n] && !(n > 1 && digits[0] == '0');
}

/* ::ffff:a.b.c.d is a.b.c.d. */
static void fold_mapped(struct prefix *p)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	if (p->bits != 128 || p->length < MAPPED || memcmp(p->address, mapped, sizeof mapped))
		return;
	memmove(p->address, p->address + sizeof mapped, 4);
	p->bits = 32;
	p->length -= MAPPED;
}

static int parse(struct prefix *p, const char *text, size_t len)
{
	char copy[MOST_TEXT + 1];
	if (len > MOST_TEXT || memchr(text, 0, len))
		return wrong(text, len);
	memcpy(copy, text, len);
	copy[len] = 0;
	char *slash = strchr(copy, '/');
	if (slash)
		*slash = 0;
	p->bits = strchr(copy, ':') ? 128 : 32;
	p->length = p->bits;
	if (inet_pton(p->bits == 128 ? AF_INET6 : AF_INET, copy, p->address) != 1)
		return wrong(text, len);
	if (slash && (!number(slash + 1, &p->length) || p->length > p->bits))
		return no_prefix(text, len, p->bits == 32 ? "the length is 0 to 32" :
		                                            "the length is 0 to 128");
	fold_mapped(p);
	return 0;
}

int weir_normal_cidr(unsigned char *key, const void *text, size_t len)
{
	struct prefix p;
	int err = len ? parse(&p, text, len) : wrong("", 0);
	if (err)
		return err;
	key[0] = (unsigned char)p.length;
	for (unsigned i = 0; i < p.bits / 8; i++) {
		unsigned left = p.length > 8 * i ? p.length - 8 * i : 0;
		unsigned mask = left >= 8 ? 0xff : 0xff00u >> left & 0xff;
		key[1 + i] = (unsigned char)(p.address[i] & mask);
	}
	return 1 + (int)(p.bits / 8);
}
