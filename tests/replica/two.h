/* SPDX-License-Identifier: MIT
 * Two nodes (there is room for more) and a toy of a server, for tests that go step by step. */
#ifndef WEIR_TESTS_REPLICA_TWO_H
#define WEIR_TESTS_REPLICA_TWO_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/handle.h>
#include "../test.h"
#include "node.h"
#include "toy.h"

enum { A, B, C, D, PLACES }; /* make_two() takes two of them */

static struct toy toy;
static struct weir_handle *handle[PLACES];
static struct weir_node node[PLACES];

/* @f: the handle's first filter. */
static inline void be_born_with(unsigned i, uint64_t id, struct weir_filter *f,
                                enum weir_entry_kind stream)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	o.flags = stream == WEIR_ENTRY_KEYS ? WEIR_HANDLE_ANY_SEED : 0;
	assert_ok(weir_handle_create(&handle[i], f, &o));
	weir__node_make(&node[i], &toy.server, handle[i], "set", id, stream, 1 << 20);
}

static inline void be_born(unsigned i, uint64_t id)
{
	be_born_with(i, id, test_filter(WEIR_BLOCKED, 1000, 1e-6), WEIR_ENTRY_HASHES);
	assert_ok(weir__node_look(&node[i]));
}

static inline void die(unsigned i)
{
	weir__node_free(&node[i]);
	assert_ok(weir_handle_destroy(handle[i]));
}

static inline int make_two(void **state)
{
	(void)state;
	toy_make(&toy, 1);
	be_born(A, 0xa);
	be_born(B, 0xb);
	return 0;
}

static inline int release_two(void **state)
{
	(void)state;
	die(A);
	die(B);
	toy_free(&toy);
	return 0;
}

static inline bool has(unsigned i, unsigned key)
{
	return weir_handle_contains_hash(handle[i], test_key(key));
}

static inline void insert_and_send(unsigned i, unsigned key)
{
	int kept;
	assert_ok(weir__node_insert_hash(&node[i], test_key(key), &kept));
	assert_int_equal(kept, 0);
	assert_ok(weir__node_send(&node[i]));
}

/* It reads to the end, then publishes what it has. */
static inline void publish(unsigned i)
{
	assert_ok(weir__node_read(&node[i]));
	assert_ok(weir__node_publish(&node[i], NULL));
}

/* A key that no batch has, since there was no room for it. */
static inline void insert_kept(unsigned i, unsigned key)
{
	const size_t limit = node[i].pending.limit;
	int kept;
	node[i].pending.limit = 0;
	assert_ok(weir__node_insert_hash(&node[i], test_key(key), &kept));
	assert_int_equal(kept, -ENOBUFS);
	node[i].pending.limit = limit;
}

/* It publishes its set with one key more, and joins that. */
static inline void publish_more(unsigned i, unsigned key)
{
	struct weir_filter *more = test_filter(WEIR_BLOCKED, 1000, 1e-6);
	assert_ok(weir_insert_hash(more, test_key(key)));
	assert_ok(weir__node_read(&node[i]));
	assert_ok(weir__node_publish(&node[i], more));
	weir_destroy(more);
	assert_ok(weir__node_look(&node[i]));
}

/* Somebody puts a manifest there, or takes it away. @text: is freed by the toy; or NULL. */
static inline void put_manifest(char *text)
{
	free(toy.now.manifest);
	toy.now.manifest = text;
	toy.now.manifest_len = text ? strlen(text) : 0;
}

#endif
