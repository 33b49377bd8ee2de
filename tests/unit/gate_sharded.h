/* SPDX-License-Identifier: MIT
 * Shared by the tests of a sharded set's gate: the set, reloads that the gate checks, and
 * lookups. */
#ifndef WEIR_TESTS_UNIT_GATE_ROLLING_H
#define WEIR_TESTS_UNIT_GATE_ROLLING_H

#include <errno.h>
#include "../test.h"
#include "../handles.h"
#include "../sharded.h"

enum { KEYS = 10000, SHARDS = 8 };

static struct weir_handle *set;
static struct weir_gate gate;
static struct weir_reload_options options;

static inline void make(uint64_t capacity, uint32_t shards)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = capacity;
	p.fp_rate = 0.01;
	p.seed = 7;
	assert_ok(sharded_create(&set, &p, shards, NULL));
}

static inline int setup(void **state)
{
	(void)state;
	make(KEYS, SHARDS);
	gate = (struct weir_gate)WEIR_GATE_INIT;
	options = (struct weir_reload_options)WEIR_RELOAD_OPTIONS_INIT;
	options.gate = &gate;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	assert_ok(weir_handle_destroy(set));
	return 0;
}

/* Input of the loader fill(): the keys number @from to @to - 1, and up to four strings. A NULL ends
 * the strings. */
struct source {
	uint64_t from, to;
	const char *words[5];
};

static inline int fill(struct weir_reload *r, uint32_t shard, void *context)
{
	const struct source *s = context;
	(void)shard;
	for (uint64_t i = s->from; i < s->to; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(i)));
	for (size_t i = 0; s->words[i]; i++)
		assert_ok(weir_reload_insert(r, s->words[i], strlen(s->words[i])));
	return 0;
}

static inline int reload(struct source source)
{
	return weir_reload_all(set, &options, fill, &source);
}

static inline int replace(uint32_t shard, struct source source)
{
	struct weir_reload *r;
	assert_ok(shard_begin(&r, set, shard, &options));
	assert_ok(fill(r, shard, &source));
	return weir_reload_commit(r);
}

static inline void insert(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_handle_insert_hash(set, test_key(i)));
}

static inline uint64_t missing(uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += !weir_handle_contains_hash(set, test_key(i));
	return n;
}

static inline struct weir_handle_stats stats(void)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	assert_ok(weir_handle_measure(set, &s, NULL));
	return s;
}

static inline struct weir_stats figures(void)
{
	return figures_of(set);
}

#endif
