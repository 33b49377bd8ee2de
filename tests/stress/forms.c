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

void keys_insert(struct weir_handle *h, const struct keys *k, enum form form)
{
	uint64_t bitmap = 0;
	int64_t answer = form == HASHES ? weir_handle_insert_hashes(h, k->hashes, k->n, &bitmap) :
	                 form == KEYS   ? weir_handle_insert_keys(h, k->vectors, k->n, &bitmap) :
	                 form == FIXED  ? weir_handle_insert_fixed(h, k->numbers, BYTES, k->n,
	                                                           &bitmap) :
	                                  insert_each(h, k, form);
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
	return form == HASHES ? (unsigned)weir_handle_contains_hashes(h, k->hashes, k->n, NULL) :
	       form == KEYS   ? (unsigned)weir_handle_contains_keys(h, k->vectors, k->n, NULL) :
	       form == FIXED  ? (unsigned)weir_handle_contains_fixed(h, k->numbers, BYTES, k->n,
	                                                             NULL) :
	                        found_each(h, k, form);
}
