/* SPDX-License-Identifier: MIT
 * As much of redis-server as its module weir-redis.so calls: four keys, "a" to "d", commands, and
 * values as streams of numbers of 8 bytes and of strings with their lengths before them. In it the
 * module can be run with sanitizers, thousands of times a second. */
#ifndef WEIR_TESTS_REDIS_SERVER_H
#define WEIR_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include "../../src/servers/redis/abi.h"

struct redis_string {
	const void *at;
	size_t bytes;
};
enum { SERVER_KEYS = 4, SERVER_WORDS = 128 };

struct redis_type {
	struct redis_methods is;
};

struct redis_key {
	struct redis_type *type;
	void *value;
};
extern struct redis_key server_keys[SERVER_KEYS];
extern struct redis_type server_types[2]; /* of BF.* and of CF.* */

struct redis_io {
	unsigned char *at; /* what is read, or was written */
	size_t bytes, room; /* from there on; of memory for what is written */
	bool failed;
};

/* What the last command replied: its numbers and booleans, how many errors, the last string. */
struct server_reply {
	long long numbers[SERVER_WORDS];
	size_t count, errors, replies;
	unsigned char *string;
	size_t bytes;
};
extern struct server_reply server_reply;

#define FAKE(result, name, arguments) result fake_##name arguments;
REDIS_FUNCTIONS(FAKE)
#undef FAKE
extern int server_flags; /* of a context */

/* Loads the module, with max-bytes. */
void server_start(const char *most);
/* @n: words, of which the first is the name. It aborts where there is no reply. */
void server_call(const struct redis_string *words, int n);
/* A key becomes none. */
void server_delete(int key);
/* The value of a key as it is saved; to be freed by the caller. */
struct redis_io server_save(int key);
/* Key "d" becomes what key @from is in an append-only file. */
void server_rewrite(int from);

#endif
