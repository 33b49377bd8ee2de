/* SPDX-License-Identifier: MIT
 * liburcu's lock-free hash table, with the flavor that needs no registration of threads. All nodes
 * are in one array. This favours the table, since a malloc per node would be slower and larger. */
#define _LGPL_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>
#include <urcu/rculfhash.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "baseline_lfht.h"

struct node {
	struct cds_lfht_node link;
	uint64_t key;
};

struct lfht {
	struct cds_lfht *table;
	struct node *nodes;
	size_t n;
	size_t buckets;
	atomic_size_t used;
};

static int same(struct cds_lfht_node *link, const void *key)
{
	return ((const struct node *)(const void *)link)->key == *(const uint64_t *)key;
}

struct lfht *lfht_create(size_t n)
{
	struct lfht *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->n = n;
	for (t->buckets = 1; t->buckets < n;)
		t->buckets *= 2;
	t->nodes = calloc(n, sizeof(*t->nodes));
	t->table = cds_lfht_new_flavor(t->buckets, t->buckets, t->buckets, 0, &urcu_bp_flavor,
	                               NULL);
	if (t->nodes && t->table)
		return t;
	lfht_destroy(t);
	return NULL;
}

void lfht_destroy(struct lfht *t)
{
	if (t->table) {
		/* Only an empty table may be destroyed. No reader is active, so nodes need no grace
		 * period. */
		for (size_t i = 0; i < atomic_load(&t->used); i++) {
			urcu_bp_read_lock();
			cds_lfht_del(t->table, &t->nodes[i].link);
			urcu_bp_read_unlock();
		}
		cds_lfht_destroy(t->table, NULL);
	}
	free(t->nodes);
	free(t);
}

uint64_t lfht_bytes(const struct lfht *t)
{
	return t->n * sizeof(struct node) + t->buckets * sizeof(struct cds_lfht_node);
}

bool lfht_contains(struct lfht *t, uint64_t key)
{
	struct cds_lfht_iter iter;
	urcu_bp_read_lock();
	cds_lfht_lookup(t->table, XXH3_64bits(&key, sizeof(key)), same, &key, &iter);
	bool found = cds_lfht_iter_get_node(&iter) != NULL;
	urcu_bp_read_unlock();
	return found;
}

void lfht_insert(struct lfht *t, uint64_t key)
{
	size_t i = atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed);
	if (i >= t->n)
		abort();
	struct node *node = &t->nodes[i];
	node->key = key;
	cds_lfht_node_init(&node->link);
	urcu_bp_read_lock();
	cds_lfht_add_unique(t->table, XXH3_64bits(&key, sizeof(key)), same, &key, &node->link);
	urcu_bp_read_unlock();
}
