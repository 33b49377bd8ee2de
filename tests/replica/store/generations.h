/* SPDX-License-Identifier: MIT
 * Makes filters and publishes them as generations. */
#ifndef WEIR_TESTS_REPLICA_STORE_GENERATIONS_H
#define WEIR_TESTS_REPLICA_STORE_GENERATIONS_H

#include "group.h"

/* A filter with the keys [@from, @from + @n). */
static inline struct weir_filter *filter_of(uint64_t from, uint64_t n, uint64_t capacity)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.001);
	for (uint64_t i = from; i < from + n; i++)
		assert_true(weir_insert_u64(f, test_key(i)) >= 0);
	return f;
}

/* A manifest of @f. Its position is the end of the log, as node @n saw it last. */
static inline struct weir_manifest manifest_of(const struct node *n, const struct weir_filter *f,
                                               struct weir_version version)
{
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_manifest m = { .set = "test", .version = version, .position = n->head.last,
		                   .tag = n->head.tag, .publisher = n->id };
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	m.kind = s.shape.kind;
	m.hashing = s.seed_fingerprint;
	m.steps = s.steps;
	assert_ok(weir__draw(&m.id));
	return m;
}

/* upload() and fetch() have no time limit, except the test's. */
static inline int upload(struct node *n, const struct weir_filter *f, struct weir_manifest *m)
{
	int err;
	while ((err = n->store->upload(n->store->context, f, m)) == -EINPROGRESS)
		usleep(1000);
	return err;
}

static inline int fetch(struct node *n, const struct weir_manifest *m, struct weir_filter **out)
{
	int err;
	while ((err = n->store->image(n->store->context, m, out)) == -EINPROGRESS)
		usleep(1000);
	return err;
}

static inline int publish(struct node *n, struct weir_manifest *m)
{
	const struct weir_publication p = { n->head.mark, n->head.version, m };
	return n->store->publish(n->store->context, &p);
}

/* Publish a filter of the keys [@from, @from + @keys) as the next generation. */
static inline struct weir_manifest generation(struct node *n, uint64_t from, uint64_t keys,
                                              uint64_t capacity)
{
	struct weir_filter *f = filter_of(from, keys, capacity);
	struct weir_version version = { beat(n)->version.era, n->head.version.number + 1 };
	version.era += version.era == 0;
	struct weir_manifest m = manifest_of(n, f, version);
	assert_ok(upload(n, f, &m));
	assert_ok(publish(n, &m));
	weir_destroy(f);
	beat(n);
	return m;
}

static inline long long chunks_of(struct server *s, const struct weir_manifest *m)
{
	struct weir_key_names keys;
	char text[WEIR_KEY_TEXT];
	long long there = 0;
	weir__keys_make(&keys, "test");
	weir__key_of_image(text, &keys, m->image);
	for (uint64_t i = 0; i < m->chunks; i++)
		there += ask(s, NULL, "EXISTS %s%llu", text, (unsigned long long)i);
	return there;
}

/* Return: seconds until chunk @i expires; -1: it has no expiry; -2: it is missing. */
static inline long long left_of(struct server *s, const struct weir_manifest *m, unsigned i)
{
	struct weir_key_names keys;
	char text[WEIR_KEY_TEXT];
	weir__keys_make(&keys, "test");
	return ask(s, NULL, "TTL %s%u", weir__key_of_image(text, &keys, m->image), i);
}

#endif
