/* SPDX-License-Identifier: MIT
 * From a text to the key that is inserted and to those that are looked up. The two must meet:
 *
 *  N1 whatever the steps, the keys of a lookup of a text have the key that its insert would have,
 *     if its length or number of labels is noted: a text that was inserted is found.
 *  N2 a key that a lookup makes has a noted length, and no other: who inserts notes them. */
#include <arpa/inet.h>
#include <string.h>
#include "ground/error.h"
#include "normalise/normalise.h"

enum { MOST_LABELS = 127, LENGTHS_6 = 129 };

static bool bit(const uint64_t *words, unsigned i)
{
	return words[i / 64] >> i % 64 & 1;
}

static uint32_t count(const uint64_t *words, unsigned n)
{
	uint32_t bits = 0;
	for (unsigned i = 0; i < n; i++)
		bits += bit(words, i);
	return bits;
}

struct iovec weir_normal_trim(const void *text, size_t len)
{
	const char *from = text, *end = from + len;
	if (from < end && end[-1] == '\r')
		end--;
	while (from < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	return (struct iovec){ (void *)from, (size_t)(end - from) };
}

static struct iovec lowercase(struct iovec key, char *room)
{
	const char *from = key.iov_base;
	for (size_t i = 0; i < key.iov_len; i++) {
		char c = from[i];
		room[i] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
	}
	return (struct iovec){ room, key.iov_len };
}

static struct iovec domain(struct iovec key)
{
	const char *from = key.iov_base;
	size_t len = key.iov_len, skip = 0;
	if (len > 2 && from[0] == '*' && from[1] == '.')
		skip = 2;
	else if (len > 1 && from[0] == '.')
		skip = 1;
	from += skip;
	len -= skip;
	if (len > 1 && from[len - 1] == '.')
		len--;
	return (struct iovec){ (void *)from, len };
}

static size_t labels(struct iovec key)
{
	const char *from = key.iov_base;
	size_t n = 1;
	for (size_t i = 0; i < key.iov_len; i++)
		n += from[i] == '.';
	return n;
}

/* The steps that make one text of one, in their order. */
static struct iovec text_steps(uint32_t steps, const void *text, size_t len, char *room)
{
	struct iovec key = { (void *)text, len };
	if (steps & WEIR_NORMAL_TRIM)
		key = weir_normal_trim(text, len);
	if (steps & WEIR_NORMAL_LOWERCASE && !(steps & WEIR_NORMAL_CIDR))
		key = lowercase(key, room); /* an address is the same in either case */
	return steps & WEIR_NORMAL_SUFFIXES ? domain(key) : key;
}

size_t weir_normal_room(const struct weir_normal *n, size_t len)
{
	if (n->steps & WEIR_NORMAL_CIDR)
		return (LENGTHS_6 + 1) * WEIR_CIDR_KEY;
	return n->steps & WEIR_NORMAL_LOWERCASE ? len : 0;
}

int weir_normal_key(const struct weir_normal *n, const void *text, size_t len, void *room,
                    struct iovec *key)
{
	*key = text_steps(n->steps, text, len, room);
	if (n->steps & WEIR_NORMAL_CIDR) {
		int bytes = weir_normal_cidr(room, key->iov_base, key->iov_len);
		if (bytes < 0)
			return bytes;
		*key = (struct iovec){ room, (size_t)bytes };
	}
	size_t many = n->steps & WEIR_NORMAL_SUFFIXES ? labels(*key) : 0;
	if (many > MOST_LABELS)
		return weir__fail(-EINVAL, "'%.*s'...: is no domain: %zu labels; at most %d", 60,
		                  (const char *)key->iov_base, many, MOST_LABELS);
	return 0;
}

/* Every noted length that covers the prefix, longest first. @first: its own key, then room. */
static int covering(const struct weir_normal *n, unsigned char *first, size_t bytes,
                    struct iovec *keys)
{
	const uint64_t *noted = bytes == 5 ? &n->ipv4 : n->ipv6;
	unsigned char *to = first + bytes;
	unsigned char shorter[WEIR_CIDR_KEY];
	int made = 0;
	memcpy(shorter, first, bytes);
	for (unsigned length = first[0] + 1u; length-- > 0;) {
		if (length < first[0]) {
			shorter[0] = (unsigned char)length;
			shorter[1 + length / 8] &= (unsigned char)(0xff00u >> length % 8);
		}
		if (!bit(noted, length))
			continue;
		memcpy(to, shorter, bytes);
		keys[made++] = (struct iovec){ to, bytes };
		to += bytes;
	}
	return made;
}

/* The domain and its parents, of noted numbers of labels, from the end: the shortest first. */
static int parents(const struct weir_normal *n, struct iovec name, struct iovec *keys)
{
	const char *from = name.iov_base, *end = from + name.iov_len;
	unsigned have = 0;
	int made = 0;
	for (const char *at = end; have < MOST_LABELS; at--) {
		if (at > from && at[-1] != '.')
			continue;
		have++;
		if (bit(n->labels, have))
			keys[made++] = (struct iovec){ (void *)at, (size_t)(end - at) };
		if (at == from)
			break;
	}
	return made;
}

int weir_normal_lookups(const struct weir_normal *n, const void *text, size_t len, void *room,
                        struct iovec *keys)
{
	keys[0] = text_steps(n->steps, text, len, room);
	if (n->steps & WEIR_NORMAL_SUFFIXES)
		return parents(n, keys[0], keys);
	if (!(n->steps & WEIR_NORMAL_CIDR))
		return 1;
	int bytes = weir_normal_cidr(room, keys[0].iov_base, keys[0].iov_len);
	return bytes < 0 ? bytes : covering(n, room, (size_t)bytes, keys);
}

uint32_t weir_normal_most(const struct weir_normal *n)
{
	uint32_t four = count(&n->ipv4, 33), six = count(n->ipv6, LENGTHS_6);
	uint32_t most = four > six ? four : six, names = count(n->labels, MOST_LABELS + 1);
	most = names > most ? names : most;
	return most ? most : 1;
}

bool weir_normal_note(struct weir_normal *n, const struct iovec *key)
{
	uint64_t *words = n->labels;
	size_t at;
	if (n->steps & WEIR_NORMAL_CIDR) {
		words = key->iov_len == 5 ? &n->ipv4 : n->ipv6;
		at = *(const unsigned char *)key->iov_base;
	} else if (n->steps & WEIR_NORMAL_SUFFIXES) {
		at = labels(*key);
	} else {
		return false;
	}
	bool fresh = !bit(words, (unsigned)at);
	words[at / 64] |= UINT64_C(1) << at % 64;
	return fresh;
}

int weir_normal_unite(struct weir_normal *dst, const struct weir_normal *src)
{
	char ours[WEIR__NORMAL_TEXT], theirs[WEIR__NORMAL_TEXT];
	if (dst->steps != src->steps)
		return weir__fail(-EINVAL, "what is done to keys differs: %s here, %s there",
		                  weir__normal_text(dst, ours), weir__normal_text(src, theirs));
	dst->ipv4 |= src->ipv4;
	for (unsigned i = 0; i < 3; i++)
		dst->ipv6[i] |= src->ipv6[i];
	for (unsigned i = 0; i < 2; i++)
		dst->labels[i] |= src->labels[i];
	return 0;
}

bool weir__normal_covers(const struct weir_normal *a, const struct weir_normal *b)
{
	uint64_t lacks = b->ipv4 & ~a->ipv4;
	for (unsigned i = 0; i < 3; i++)
		lacks |= b->ipv6[i] & ~a->ipv6[i];
	for (unsigned i = 0; i < 2; i++)
		lacks |= b->labels[i] & ~a->labels[i];
	return a->steps == b->steps && !lacks;
}

const char *weir__normal_text(const struct weir_normal *n, char text[WEIR__NORMAL_TEXT])
{
	static const char *const names[] = { "trim", "lowercase", "cidr", "suffixes" };
	size_t at = 0;
	text[0] = 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(n->steps >> i & 1))
			continue;
		const char *parts[] = { at ? ", " : "", names[i] };
		for (unsigned part = 0; part < 2; part++)
			for (const char *c = parts[part]; *c; c++)
				text[at++] = *c;
		text[at] = 0;
	}
	return at ? text : strcpy(text, "none");
}

/* ---- the key of an IP prefix ---- */

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
