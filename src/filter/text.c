/* SPDX-License-Identifier: MIT
 * The functions of a set with normalisation (<weir/text.h>), which replace the kernel's. They
 * normalise a key, hash it, and pass the hash to the functions without normalisation (f->raw).
 *
 *     weir_insert(f, " Example.ORG ", 13);                trim, lowercase
 *     assert_true(weir_contains(f, "example.org", 11));
 *
 * With the steps cidr and suffixes a lookup probes several keys, so a single hash decides nothing.
 * So lookups of hashes answer that the key may be present, and other functions refuse hashes. */
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"

enum { TOGETHER = 64 }; /* keys looked up at a time, one for each bit of a bitmap word */

static bool probes_several(const struct weir_filter *f)
{
	return weir__text_several(&f->text);
}

int weir__text_refuse_hash(const struct weir_text *t)
{
	char steps[WEIR__TEXT_WORDS];
	return weir__fail(-EINVAL, "a hash, for a set with %s: a lookup probes several keys, which "
	                  "no hash stands for: hand over the text",
	                  weir__text_words(t, steps));
}

/* ---- hashes of texts ---- */

/* The input of a function: a text, or an address in binary form. In a set with cidr, keys of a
 * fixed width are binary addresses. */
struct input {
	const void *text;
	size_t len;
	bool address;
};

struct weir_text_hashes weir__text_hashes_of(const struct weir_filter *f)
{
	return (struct weir_text_hashes){ .text = (struct weir_text *)(uintptr_t)&f->text,
		                          .hashing = &f->hashing,
		                          .shared = f->memory.shared };
}

static uint64_t hash_key(const struct weir_text_hashes *h, const struct iovec *key)
{
	const bool lower = (h->text->steps & (WEIR_TEXT_LOWERCASE | WEIR_TEXT_CIDR)) ==
	                   WEIR_TEXT_LOWERCASE;
	return lower ? h->hashing->by->of_lowercase(h->hashing, key->iov_base, key->iov_len) :
	               weir__hash_by(h->hashing, key->iov_base, key->iov_len);
}

/* Make the key that an insert stores. Return: 0, or -EINVAL without an error sentence. */
static int key_of(const struct weir_text_hashes *h, const struct input *g, void *room,
                  struct iovec *key)
{
	if (!g->address)
		return weir__text_key_quiet(h->text, g->text, g->len, room, key);
	*key = (struct iovec){ room, (size_t)weir__text_address(room, g->text, g->len) };
	return key->iov_len ? 0 : -EINVAL;
}

/* Set the error sentence for an input from which key_of() made no key. Return: always -EINVAL. */
static int fail_no_key(const struct weir_text_hashes *h, const struct input *g)
{
	unsigned char room[WEIR_TEXT_CIDR_BYTES];
	const struct weir_text shape = { .steps = h->text->steps & ~WEIR_TEXT_LOWERCASE };
	struct iovec key;
	if (g->address)
		return weir__fail(-EINVAL, "a fixed key of %zu bytes, for a set with cidr: it "
		                  "takes addresses of 4 or 16 bytes", g->len);
	return weir_text_key(&shape, g->text, g->len, room, &key);
}

/* Hash the keys that a lookup probes. Return: the number of hashes; 0 if no key can match. */
static int lookup_hashes(const struct weir_text_hashes *h, const struct input *g,
                         uint64_t hashes[WEIR_TEXT_LOOKUPS])
{
	unsigned char room[WEIR_TEXT_ROOM(0)], key[WEIR_TEXT_CIDR_BYTES];
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	struct weir_text now;
	int n;
	weir__text_load(h->text, &now);
	if (g->address) {
		n = weir__text_address(key, g->text, g->len);
		n = n ? weir__text_covering(&now, key, (size_t)n, room, keys) : 0;
	} else {
		n = weir__text_lookups_quiet(&now, g->text, g->len, room, keys);
	}
	for (int i = 0; i < n; i++)
		hashes[i] = hash_key(h, &keys[i]);
	return n > 0 ? n : 0;
}

static bool contains_any(const struct weir_filter *f, const struct input *g)
{
	uint64_t hashes[WEIR_TEXT_LOOKUPS];
	const struct weir_text_hashes h = weir__text_hashes_of(f);
	const int n = lookup_hashes(&h, g, hashes);
	if (n > 1 && f->outgrows_cache)
		for (int i = 0; i < n; i++)
			__builtin_prefetch(weir__line(&f->array, hashes[i]));
	for (int i = 0; i < n; i++)
		if (f->raw.contains_hash(f, hashes[i]))
			return true;
	return g->address && g->len != 4 && g->len != 16; /* not an address: answer true */
}

/* Note the key's length before the key is inserted ([LENGTH-FIRST]). In a shared image a new length
 * is refused, since other processes would not see it. */
static int note_length(const struct weir_text_hashes *h, const struct input *g,
                       const struct iovec *key)
{
	const bool closed = h->text->steps & WEIR_TEXT_CLOSED;
	if (weir__text_noted(h->text, key))
		return 0;
	if (!closed && !h->shared) {
		weir__text_note_shared(h->text, key);
		return 0;
	}
	return weir__fail(-EINVAL, "'%.*s': %s that the set has none of, and %s: build it anew "
	                  "with such keys", g->address ? 0 : g->len > 60 ? 60 : (int)g->len,
	                  (const char *)g->text,
	                  h->text->steps & WEIR_TEXT_CIDR ? "a prefix length" :
	                                                   "a number of labels",
	                  closed ? "it is closed (WEIR_TEXT_CLOSED)" :
	                           "other processes map its image live");
}

/* Return: 0, or -EINVAL with an error sentence. */
static int insert_hash_of(const struct weir_text_hashes *h, const struct input *g, uint64_t *hash)
{
	unsigned char room[WEIR_TEXT_CIDR_BYTES];
	struct iovec key;
	int err = key_of(h, g, room, &key) ? fail_no_key(h, g) : note_length(h, g, &key);
	if (!err)
		*hash = hash_key(h, &key);
	return err;
}

int weir__insert_hash_of(struct weir_filter *f, const void *text, size_t len, uint64_t *hash)
{
	const struct weir_text_hashes h = weir__text_hashes_of(f);
	return insert_hash_of(&h, &(struct input){ text, len, false }, hash);
}

int weir__key_hash_of(const struct weir_filter *f, const void *text, size_t len, uint64_t *hash)
{
	unsigned char room[WEIR_TEXT_CIDR_BYTES];
	const struct weir_text_hashes h = weir__text_hashes_of(f);
	const struct input g = { text, len, false };
	struct iovec key;
	if (key_of(&h, &g, room, &key))
		return fail_no_key(&h, &g);
	*hash = hash_key(&h, &key);
	return 0;
}

/* Return: key @at of a batch, as a text or an address. */
static struct input input(const struct weir_text *t, struct weir_keys keys, size_t at)
{
	const struct iovec *vector = keys.at;
	if (keys.form == WEIR_KEYS_IOV)
		return (struct input){ vector[at].iov_base, vector[at].iov_len, false };
	return (struct input){ (const char *)keys.at + at * keys.width, keys.width,
		               t->steps & WEIR_TEXT_CIDR };
}

size_t weir__text_insert_hashes(const struct weir_text_hashes *h, struct weir_keys keys,
                                uint64_t *out)
{
	size_t n = 0;
	for (; n < keys.n; n++) {
		const struct input g = input(h->text, keys, n);
		if (insert_hash_of(h, &g, &out[n]))
			break;
	}
	return n;
}

int weir__text_lookup_hashes(const struct weir_text_hashes *h, struct weir_keys keys, size_t at,
                             uint64_t out[WEIR_TEXT_LOOKUPS])
{
	const struct input g = input(h->text, keys, at);
	unsigned char room[WEIR_TEXT_CIDR_BYTES];
	struct iovec key;
	return key_of(h, &g, room, &key) ? fail_no_key(h, &g) : lookup_hashes(h, &g, out);
}

/* ---- functions for one key ---- */

static bool contains_text(const struct weir_filter *f, const void *text, size_t len)
{
	return f->raw.contains_hash(f, weir__text_hash(f, text, len));
}

static int insert_text(struct weir_filter *f, const void *text, size_t len)
{
	return f->raw.insert_hash(f, weir__text_hash(f, text, len));
}

static bool contains_several(const struct weir_filter *f, const void *text, size_t len)
{
	return contains_any(f, &(struct input){ text, len, false });
}

static int insert_several(struct weir_filter *f, const void *text, size_t len)
{
	uint64_t hash;
	int err = weir__insert_hash_of(f, text, len, &hash);
	return err ? err : f->raw.insert_hash(f, hash);
}

static bool contains_hash(const struct weir_filter *f, uint64_t hash)
{
	(void)f, (void)hash;
	return true;
}

static int insert_hash(struct weir_filter *f, uint64_t hash)
{
	(void)hash;
	return weir__text_refuse_hash(&f->text);
}

static bool contains_u64(const struct weir_filter *f, uint64_t key)
{
	return f->raw.contains_hash(f, weir__hash_by(&f->hashing, &key, sizeof key));
}

static int insert_u64(struct weir_filter *f, uint64_t key)
{
	return f->raw.insert_hash(f, weir__hash_by(&f->hashing, &key, sizeof key));
}

void weir__text_wrap(struct weir_filter *f)
{
	f->raw = f->verbs;
	if (!f->text.steps)
		return;
	f->few = 0;
	f->verbs.contains = contains_text;
	f->verbs.insert = insert_text;
	f->verbs.contains_u64 = contains_u64;
	f->verbs.insert_u64 = insert_u64;
	if (!probes_several(f))
		return;
	f->verbs.contains = contains_several;
	f->verbs.insert = insert_several;
	f->verbs.contains_hash = contains_hash;
	f->verbs.insert_hash = insert_hash;
}

/* ---- batches of a set whose lookups probe several keys ---- */

int64_t weir__several_contains_keys(const struct weir_filter *f, struct weir_keys keys,
                                    uint64_t *bitmap)
{
	int64_t found = 0;
	if (keys.form == WEIR_KEYS_HASHES)
		return weir__answer_all(true, keys.n, bitmap);
	for (size_t at = 0; at < keys.n; at += TOGETHER) {
		uint64_t answers = 0;
		for (size_t i = at; i < keys.n && i < at + TOGETHER; i++) {
			const struct input g = input(&f->text, keys, i);
			answers |= (uint64_t)contains_any(f, &g) << (i - at);
		}
		found += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[at / 64] = answers;
	}
	return found;
}

uint64_t weir__several_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out)
{
	const struct weir_text_hashes h = weir__text_hashes_of(f);
	uint64_t known = 0;
	for (size_t i = 0; i < keys.n; i++) {
		unsigned char room[WEIR_TEXT_CIDR_BYTES];
		const struct input g = input(&f->text, keys, i);
		struct iovec key;
		if (key_of(&h, &g, room, &key)) /* an invalid key, so its hash has no meaning */
			key = (struct iovec){ (void *)(uintptr_t)g.text, g.len };
		else if (i < 64)
			known |= UINT64_C(1) << i;
		out[i] = hash_key(&h, &key);
	}
	return known;
}

/* ---- the normalisation steps of a set, and the lengths of its keys ---- */

void weir_text_of(const struct weir_filter *f, struct weir_text *out)
{
	weir__text_load(&f->text, out);
}

int weir_text_matches(const struct weir_filter *f, const void *text, size_t len, void *room,
                      struct iovec *keys)
{
	struct weir_text now;
	int kept = 0;
	weir_text_of(f, &now);
	int n = weir_text_lookups(&now, text, len, room, keys);
	for (int i = 0; i < n; i++)
		if (f->raw.contains_hash(f, weir__hash_by(&f->hashing, keys[i].iov_base,
		                                          keys[i].iov_len)))
			keys[kept++] = keys[i];
	return n < 0 ? n : kept;
}
