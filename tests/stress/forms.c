/* SPDX-License-Identifier: MIT
 * Keys in each form: see forms.h. */
#include "forms.h"

enum { BYTES = sizeof(uint64_t) };

void keys_add(struct keys *k, uint64_t number, uint64_t hash)
{
	check(k->n < MOST_KEYS, "more than %d keys", MOST_KEYS);
	k->numbers[k->n] = number;
	k->hashes[k->n] = hash;
	k->vectors[k->n] = (struct iovec){ &k->numbers[k->n], BYTES };
	k->n++;
}

static int64_t insert_each(struct weir_handle *h, const struct keys *k, enum form form)
{
	int64_t fresh = 0;
	for (unsigned i = 0; i < k->n; i++) {
		int answer = form == EACH_KEY ? weir_handle_insert(h, &k->numbers[i], BYTES) :
		                                weir_handle_insert_hash(h, k->hashes[i]);
		if (answer < 0)
			return answer;
		fresh += answer;
	}
	return fresh;
}

static struct weir_keys batch(const struct keys *k, enum form form)
{
	return form == HASHES ? weir_keys_hashes(k->hashes, k->n) :
	       form == KEYS   ? weir_keys_iov(k->vectors, k->n) :
	                        weir_keys_fixed(k->numbers, BYTES, k->n);
}

void keys_insert(struct weir_handle *h, const struct keys *k, enum form form)
{
	uint64_t bitmap = 0;
	int64_t answer = form < HASHES ? insert_each(h, k, form) :
	                                 weir_handle_insert_keys(h, batch(k, form), &bitmap);
	check(answer >= 0, "%s", weir_error_detail());
	check(form < HASHES || answer == __builtin_popcountll(bitmap), "%lld new, bitmap %#llx",
	      (long long)answer, (unsigned long long)bitmap);
}

static unsigned found_each(const struct weir_handle *h, const struct keys *k, enum form form)
{
	unsigned found = 0;
	for (unsigned i = 0; i < k->n; i++)
		found += form == EACH_KEY ? weir_handle_contains(h, &k->numbers[i], BYTES) :
		                            weir_handle_contains_hash(h, k->hashes[i]);
	return found;
}

unsigned keys_found(const struct weir_handle *h, const struct keys *k, enum form form)
{
	return form < HASHES ? found_each(h, k, form) :
	                       (unsigned)weir_handle_contains_keys(h, batch(k, form), NULL);
}
