/* SPDX-License-Identifier: MIT
 * The forms in which scenarios pass keys to the library (forms.h). For a batch of one key, the
 * count and the bitmap must both equal the answer for a single key. */
#include <sys/uio.h>
#include "forms.h"

enum form form;
const char *const form_names[FORMS] = {
	[HASH] = "hash",   [KEY] = "key",     [HASHES] = "hashes",
	[KEYS] = "keys",   [FIXED] = "fixed", [NUMBER] = "u64",
	[KEY_RESEEDED] = "key_reseeded", [KEYS_RESEEDED] = "keys_reseeded"
};

/* Return: the form that chooses the functions to call: HASH, KEY, or the form of a batch. */
static enum form verbs(void)
{
	return form == KEY_RESEEDED || form == NUMBER ? KEY : form == KEYS_RESEEDED ? KEYS : form;
}

/* A batch of keys as numbers, and as vectors of these numbers. */
struct batch {
	uint64_t keys[FORM_MOST];
	struct iovec vectors[FORM_MOST];
};

static void write_batch(struct batch *b, const uint64_t *hashes, size_t n)
{
	det_assert(n <= FORM_MOST);
	for (size_t i = 0; i < n; i++) {
		b->keys[i] = subject_key(subject, hashes[i]);
		b->vectors[i] = (struct iovec){ &b->keys[i], sizeof b->keys[i] };
	}
}

/* Return: @n hashes as a batch of the current form. */
static struct weir_keys by_form(struct batch *b, const uint64_t *hashes, size_t n)
{
	if (verbs() != KEYS && verbs() != FIXED)
		return weir_keys_hashes(hashes, n);
	write_batch(b, hashes, n);
	return verbs() == KEYS ? weir_keys_iov(b->vectors, n) : weir_keys_u64(b->keys, n);
}

int64_t form_insert_all(struct weir_filter *f, const uint64_t *hashes, size_t n, uint64_t *bitmap)
{
	struct batch b;
	return weir_insert_keys(f, by_form(&b, hashes, n), bitmap);
}

int64_t form_contains_all(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                          uint64_t *bitmap)
{
	struct batch b;
	return weir_contains_keys(f, by_form(&b, hashes, n), bitmap);
}

int64_t form_reload_insert_all(struct weir_reload *r, const uint64_t *hashes, size_t n)
{
	struct batch b;
	return weir_reload_insert_keys(r, by_form(&b, hashes, n), NULL);
}

int64_t form_handle_insert_all(struct weir_handle *h, const uint64_t *hashes, size_t n,
                               uint64_t *bitmap)
{
	struct batch b;
	return weir_handle_insert_keys(h, by_form(&b, hashes, n), bitmap);
}

int64_t form_handle_contains_all(const struct weir_handle *h, const uint64_t *hashes, size_t n,
                                 uint64_t *bitmap)
{
	struct batch b;
	return weir_handle_contains_keys(h, by_form(&b, hashes, n), bitmap);
}

static int one(int64_t count, const uint64_t *bitmap)
{
	det_assert(count < 0 || (uint64_t)count == *bitmap);
	return (int)count;
}

/* Passes a single key to the function name_hash() in form HASH, to name() in the forms of a key,
 * and to the batch function @all in the forms of batches. */
#define ONE(name, all, on, hash) \
	uint64_t key, bitmap = ~UINT64_C(0); \
	if (form == HASH) \
		return name##_hash(on, hash); \
	if (verbs() == KEY) { \
		key = subject_key(subject, hash); \
		return name(on, &key, sizeof key); \
	} \
	return one(all(on, &hash, 1, &bitmap), &bitmap)

int form_insert(struct weir_filter *f, uint64_t hash)
{
	ONE(weir_insert, form_insert_all, f, hash);
}

bool form_contains(const struct weir_filter *f, uint64_t hash)
{
	ONE(weir_contains, form_contains_all, f, hash);
}

int form_handle_insert(struct weir_handle *h, uint64_t hash)
{
	uint64_t number = subject_key(subject, hash);
	if (form == NUMBER)
		return weir_handle_insert_u64(h, number);
	ONE(weir_handle_insert, form_handle_insert_all, h, hash);
}

bool form_handle_contains(const struct weir_handle *h, uint64_t hash)
{
	uint64_t number = subject_key(subject, hash);
	if (form == NUMBER)
		return weir_handle_contains_u64(h, number);
	ONE(weir_handle_contains, form_handle_contains_all, h, hash);
}

static int64_t remove_batch(struct weir_handle *h, const uint64_t *hashes, size_t n,
                            uint64_t *bitmap)
{
	struct batch b;
	return weir_handle_remove_keys(h, by_form(&b, hashes, n), bitmap);
}

int form_handle_remove(struct weir_handle *h, uint64_t hash)
{
	uint64_t key = subject_key(subject, hash), bitmap = ~UINT64_C(0);
	if (form == HASH)
		return weir_handle_remove_hash(h, hash);
	if (verbs() == KEY)
		return weir_handle_remove(h, &key, sizeof key);
	return one(remove_batch(h, &hash, 1, &bitmap), &bitmap);
}

int form_reload_insert(struct weir_reload *r, uint64_t hash)
{
	uint64_t key;
	if (form == HASH)
		return weir_reload_insert_hash(r, hash);
	if (verbs() != KEY)
		return (int)form_reload_insert_all(r, &hash, 1);
	key = subject_key(subject, hash);
	return weir_reload_insert(r, &key, sizeof key);
}
