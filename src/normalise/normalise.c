/* SPDX-License-Identifier: MIT
 * Turns a text into the key that an insert stores, and into the keys that a lookup probes. These
 * rules make the keys match:
 *
 *  [SAME-STEPS]  For any steps, a lookup of a text probes the key that an insert of the same text
 *     stores, if the length or number of labels of that key is noted. So a lookup finds every
 *     inserted text.
 *  [NOTED-LENGTHS]  A lookup makes keys of noted lengths only. Inserts note the lengths of their
 *     keys.
 *  [LENGTH-FIRST]  A filter never loses a noted length, and an insert notes the length of its key
 *     before it sets a bit. So relaxed order suffices, as for bits ([BITS-ONLY-SET]). An insert
 *     that happens-before a lookup noted the length, or found it noted. The coherence of the word
 *     shows the length to the lookup. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include "ground/atomic.h"
#include "ground/error.h"
#include "normalise/normalise.h"

enum { MOST_LABELS = 127, LENGTHS_6 = 129 };

static bool bit(const uint64_t *words, unsigned i)
{
	return words[i / 64] >> i % 64 & 1;
}

/* ---- trim, lowercase, domain ---- */

static struct iovec trim(const void *text, size_t len)
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

struct iovec weir__text_bare(uint32_t steps, const void *text, size_t len)
{
	struct iovec bare = { (void *)(uintptr_t)text, len };
	if (steps & WEIR_TEXT_TRIM)
		bare = trim(text, len);
	return steps & WEIR_TEXT_SUFFIXES ? domain(bare) : bare;
}

/* Return: the bare text, in lowercase if the steps say so. Addresses stay as they are, since
 * parse() reads both cases. */
static struct iovec bare_lowercase(const struct weir_text *t, const void *text, size_t len,
                                   void *room)
{
	struct iovec bare = weir__text_bare(t->steps, text, len);
	return t->steps & WEIR_TEXT_LOWERCASE && !(t->steps & WEIR_TEXT_CIDR) ?
	               lowercase(bare, room) : bare;
}

int weir__text_covering(const struct weir_text *t, const unsigned char *key, size_t bytes,
                        unsigned char *room, struct iovec *keys)
{
	const uint64_t *noted = bytes == 5 ? &t->ipv4 : t->ipv6;
	unsigned char shorter[WEIR_TEXT_CIDR_BYTES];
	int made = 0;
	memcpy(shorter, key, bytes);
	for (unsigned length = key[0] + 1u; length-- > 0;) {
		if (length < key[0]) {
			shorter[0] = (unsigned char)length;
			shorter[1 + length / 8] &= (unsigned char)(0xff00u >> length % 8);
		}
		if (!bit(noted, length))
			continue;
		memcpy(room, shorter, bytes);
		keys[made++] = (struct iovec){ room, bytes };
		room += bytes;
	}
	return made;
}

/* List the keys that a lookup of a domain probes, shortest first. They are the domain and its
 * parents, without those whose number of labels is not noted. */
static int parents(const struct weir_text *n, struct iovec name, struct iovec *keys)
{
	const char *from = name.iov_base, *end = from + name.iov_len;
	unsigned count = 0;
	int made = 0;
	for (const char *at = end; count < MOST_LABELS; at--) {
		if (at > from && at[-1] != '.')
			continue;
		count++;
		if (bit(n->labels, count))
			keys[made++] = (struct iovec){ (void *)at, (size_t)(end - at) };
		if (at == from)
			break;
	}
	return made;
}

/* ---- noted lengths ---- */

/* Find the word and the bit that note the key's length. @mask: receives the bit, or 0 if the steps
 * note no lengths. */
static uint64_t *length_bit(struct weir_text *t, const struct iovec *key, uint64_t *mask)
{
	uint64_t *words = t->labels;
	size_t at = 0;
	if (t->steps & WEIR_TEXT_CIDR) {
		words = key->iov_len == 5 ? &t->ipv4 : t->ipv6;
		at = *(const unsigned char *)key->iov_base;
	} else if (t->steps & WEIR_TEXT_SUFFIXES) {
		at = labels(*key);
	}
	*mask = at || words != t->labels ? UINT64_C(1) << at % 64 : 0;
	return words + at / 64;
}

bool weir_text_note(struct weir_text *t, const struct iovec *key)
{
	uint64_t mask, *word = length_bit(t, key, &mask);
	const bool fresh = mask & ~*word;
	*word |= mask;
	return fresh;
}

bool weir__text_noted(const struct weir_text *shared, const struct iovec *key)
{
	uint64_t mask, *word = length_bit((struct weir_text *)(uintptr_t)shared, key, &mask);
	return !(mask & ~weir__length_load_relaxed(word));
}

void weir__text_note_shared(struct weir_text *shared, const struct iovec *key)
{
	uint64_t mask, *word = length_bit(shared, key, &mask);
	weir__length_or_relaxed(word, mask);
}

void weir__text_load(const struct weir_text *shared, struct weir_text *out)
{
	*out = (struct weir_text){ .steps = shared->steps,
	                           .ipv4 = weir__length_load_relaxed(&shared->ipv4) };
	for (unsigned i = 0; i < 3; i++)
		out->ipv6[i] = weir__length_load_relaxed(&shared->ipv6[i]);
	for (unsigned i = 0; i < 2; i++)
		out->labels[i] = weir__length_load_relaxed(&shared->labels[i]);
}

void weir__text_unite_shared(struct weir_text *shared, const struct weir_text *src)
{
	weir__length_or_relaxed(&shared->ipv4, src->ipv4);
	for (unsigned i = 0; i < 3; i++)
		weir__length_or_relaxed(&shared->ipv6[i], src->ipv6[i]);
	for (unsigned i = 0; i < 2; i++)
		weir__length_or_relaxed(&shared->labels[i], src->labels[i]);
}

int weir_text_unite(struct weir_text *dst, const struct weir_text *src)
{
	char ours[WEIR__TEXT_WORDS], theirs[WEIR__TEXT_WORDS];
	if (dst->steps != src->steps)
		return weir__fail(-EINVAL, "what is done to keys differs: %s here, %s there",
		                  weir__text_words(dst, ours), weir__text_words(src, theirs));
	dst->ipv4 |= src->ipv4;
	for (unsigned i = 0; i < 3; i++)
		dst->ipv6[i] |= src->ipv6[i];
	for (unsigned i = 0; i < 2; i++)
		dst->labels[i] |= src->labels[i];
	return 0;
}

const char *weir__text_wrong(const struct weir_text *t)
{
	const bool cidr = t->steps & WEIR_TEXT_CIDR, suffixes = t->steps & WEIR_TEXT_SUFFIXES;
	const uint64_t lengths = t->ipv4 | t->ipv6[0] | t->ipv6[1] | t->ipv6[2];
	if (t->steps & ~(uint32_t)WEIR__TEXT_STEPS)
		return "has unknown steps: 0x1f are all";
	if (t->reserved)
		return "has a reserved word that is not 0";
	if (cidr && suffixes)
		return "has cidr (4) and suffixes (8) together: one of them";
	if (!cidr && lengths)
		return "has lengths of prefixes without cidr (4)";
	if (t->ipv4 & ~WEIR__IPV4_LENGTHS || t->ipv6[2] > 1)
		return "has lengths above 32 of IPv4, or above 128 of IPv6";
	if ((!suffixes && (t->labels[0] | t->labels[1])) || t->labels[0] & 1)
		return "has numbers of labels without suffixes (8), or of 0 labels";
	return NULL;
}

const char *weir__text_words(const struct weir_text *n, char text[WEIR__TEXT_WORDS])
{
	static const char *const names[] = { "trim", "lowercase", "cidr", "suffixes", "closed" };
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

enum {
	MOST_TEXT = INET6_ADDRSTRLEN + 4, /* the longest text: an address and "/128" */
	MAPPED = 96                       /* bits before the IPv4 address in ::ffff:a.b.c.d */
};

struct prefix {
	unsigned char address[16];
	unsigned bits; /* 32 or 128 */
	unsigned length;
};

static const char *fault_of(const char *text, size_t len)
{
	if (!len)
		return "it is empty";
	if (text[len - 1] == '\r')
		return "it ends in a carriage return, which trim takes off";
	if (memchr(" \t", text[0], 2) || memchr(" \t", text[len - 1], 2))
		return "it has blanks around it, which trim takes off";
	if (memchr(text, '%', len))
		return "a zone does not belong to an address";
	return "such as 192.0.2.0/24 or 2001:db8::/32";
}

/* Read the number after the slash, without a sign or a leading zero. Return: false if invalid. */
static bool number(const char *digits, unsigned *out)
{
	unsigned value = 0, n = 0;
	for (; digits[n] >= '0' && digits[n] <= '9' && n < 4; n++)
		value = 10 * value + (unsigned)(digits[n] - '0');
	*out = value;
	return n >= 1 && n <= 3 && !digits[n] && !(n > 1 && digits[0] == '0');
}

/* Turn an IPv4-mapped ::ffff:a.b.c.d into a.b.c.d. */
static void fold_mapped(struct prefix *p)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	if (p->bits != 128 || p->length < MAPPED || memcmp(p->address, mapped, sizeof mapped))
		return;
	memmove(p->address, p->address + sizeof mapped, 4);
	p->bits = 32;
	p->length -= MAPPED;
}

/* Return: NULL, or the fault of the text. */
static const char *parse(struct prefix *p, const char *text, size_t len)
{
	char copy[MOST_TEXT + 1];
	if (!len || len > MOST_TEXT || memchr(text, 0, len))
		return fault_of(text, len);
	memcpy(copy, text, len);
	copy[len] = 0;
	char *slash = strchr(copy, '/');
	if (slash)
		*slash = 0;
	p->bits = strchr(copy, ':') ? 128 : 32;
	p->length = p->bits;
	if (inet_pton(p->bits == 128 ? AF_INET6 : AF_INET, copy, p->address) != 1)
		return fault_of(text, len);
	if (slash && (!number(slash + 1, &p->length) || p->length > p->bits))
		return p->bits == 32 ? "the length is 0 to 32" : "the length is 0 to 128";
	fold_mapped(p);
	return NULL;
}

static int prefix_key(unsigned char *key, const struct prefix *p)
{
	key[0] = (unsigned char)p->length;
	for (unsigned i = 0; i < p->bits / 8; i++) {
		unsigned left = p->length > 8 * i ? p->length - 8 * i : 0;
		unsigned mask = left >= 8 ? 0xff : 0xff00u >> left & 0xff;
		key[1 + i] = (unsigned char)(p->address[i] & mask);
	}
	return 1 + (int)(p->bits / 8);
}

int weir__text_address(unsigned char key[WEIR_TEXT_CIDR_BYTES], const void *address, size_t len)
{
	struct prefix p = { .bits = 8 * (unsigned)len, .length = 8 * (unsigned)len };
	if (len != 4 && len != 16)
		return 0;
	memcpy(p.address, address, len);
	fold_mapped(&p);
	return prefix_key(key, &p);
}

/* ---- keys of inserts and of lookups, which must match ([SAME-STEPS]) ---- */

/* @name: a result of weir__text_bare(). @why: receives NULL, or the fault of the text. */
static int key_of(const struct weir_text *t, struct iovec name, void *room, struct iovec *key,
                  const char **why)
{
	struct prefix p;
	*key = name;
	*why = NULL;
	if (t->steps & WEIR_TEXT_CIDR) {
		*why = parse(&p, name.iov_base, name.iov_len);
		if (!*why)
			*key = (struct iovec){ room, (size_t)prefix_key(room, &p) };
	} else if (t->steps & WEIR_TEXT_SUFFIXES && labels(name) > MOST_LABELS) {
		*why = "a domain has at most 127 labels";
	}
	return *why ? -EINVAL : 0;
}

static int keys_of(const struct weir_text *t, struct iovec name, unsigned char *room,
                   struct iovec *keys, const char **why)
{
	*why = NULL;
	if (t->steps & WEIR_TEXT_SUFFIXES)
		return parents(t, name, keys);
	int err = key_of(t, name, room, keys, why);
	if (err)
		return err;
	if (!(t->steps & WEIR_TEXT_CIDR))
		return 1;
	return weir__text_covering(t, room, keys[0].iov_len, room + WEIR_TEXT_CIDR_BYTES, keys);
}

static int cannot_read(const struct weir_text *t, struct iovec name, const char *why)
{
	int shown = name.iov_len > 60 ? 60 : (int)name.iov_len;
	return weir__fail(-EINVAL, "'%.*s': not %s: %s", shown, (const char *)name.iov_base,
	                  t->steps & WEIR_TEXT_CIDR ? "an IP address or prefix" : "a domain", why);
}

int weir_text_key(const struct weir_text *t, const void *text, size_t len, void *room,
                  struct iovec *key)
{
	const char *why;
	struct iovec name = bare_lowercase(t, text, len, room);
	return key_of(t, name, room, key, &why) ? cannot_read(t, name, why) : 0;
}

int weir_text_lookups(const struct weir_text *t, const void *text, size_t len, void *room,
                      struct iovec *keys)
{
	const char *why;
	struct iovec name = bare_lowercase(t, text, len, room);
	int n = keys_of(t, name, room, keys, &why);
	return n < 0 ? cannot_read(t, name, why) : n;
}

int weir__text_key_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                         struct iovec *key)
{
	const char *why;
	return key_of(t, weir__text_bare(t->steps, text, len), room, key, &why);
}

int weir__text_lookups_quiet(const struct weir_text *t, const void *text, size_t len, void *room,
                             struct iovec *keys)
{
	const char *why;
	return keys_of(t, weir__text_bare(t->steps, text, len), room, keys, &why);
}
