/* SPDX-License-Identifier: MIT
 * Make, fill and compare chains. */
#ifndef WEIR_TESTS_CHAINS_H
#define WEIR_TESTS_CHAINS_H

#include "../../test.h"
#include "chain.h"
#include "counted_memory.h"

enum { SEED = 17 };

static inline struct chain *make(double error, uint64_t capacity, uint64_t expansion)
{
	struct chain_settings s = { error, capacity, SEED, expansion, CHAIN_OWN, 0 };
	struct chain *c = NULL;
	assert_ok(chain_create(&c, &s, 0, &memory));
	return c;
}

static inline int add(struct chain *c, uint64_t i)
{
	uint64_t item = test_key(i);
	return chain_add(c, &item, sizeof item, 0);
}

static inline bool has(const struct chain *c, uint64_t i)
{
	uint64_t item = test_key(i);
	return chain_has(c, &item, sizeof item);
}

/* Add new items until the chain has @links links, all full. Return: the number of items tried. */
static inline uint64_t fill(struct chain *c, unsigned links)
{
	uint64_t i = 0;
	while (c->links < links || c->newest->items < c->newest->capacity)
		assert_true(i < 1 << 24 && add(c, i++) >= 0);
	return i;
}

static inline void assert_same(const struct chain *a, const struct chain *b)
{
	struct chain_link *of_a[CHAIN_LINKS], *of_b[CHAIN_LINKS];
	struct chain_settings s = chain_settings_of(a), t = chain_settings_of(b);
	unsigned n = chain_list(a, of_a);
	assert_int_equal(chain_list(b, of_b), n);
	assert_true(s.error == t.error && s.capacity == t.capacity && s.seed == t.seed &&
	            s.expansion == t.expansion && s.layout == t.layout && s.options == t.options);
	for (unsigned i = 0; i < n; i++) {
		struct chain_form f = chain_form_of(of_a[i]), g = chain_form_of(of_b[i]);
		assert_true(f.capacity == g.capacity && f.bytes == g.bytes &&
		            f.probes == g.probes && f.words_per_key == g.words_per_key &&
		            f.bits_per_word == g.bits_per_word && f.error == g.error &&
		            f.n2 == g.n2);
		assert_int_equal(of_a[i]->items, of_b[i]->items);
		assert_memory_equal(of_a[i]->bits, of_b[i]->bits, f.bytes);
	}
}

#endif
