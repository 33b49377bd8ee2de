/* SPDX-License-Identifier: MIT
 * The part of redis-server that its module weir-redis.so calls: four keys, "a" to "d", commands,
 * and values as streams of numbers of 8 bytes and of strings after their lengths. Here the module
 * can run with sanitizers, thousands of times a second. */
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
	unsigned char *at; /* the next byte to read; or all bytes written */
	size_t bytes, room; /* bytes left to read, or written; memory for writes */
	bool failed;
};

/* The last command's reply: its numbers and booleans, the count of errors, the last string. */
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

/* Load the module, with max-bytes. */
void server_start(const char *most);
/* @n: the number of words; the first is the command's name. Aborts if there is no reply. */
void server_call(const struct redis_string *words, int n);
/* Delete a key. */
void server_delete(int key);
/* The saved value of a key; the caller frees it. */
struct redis_io server_save(int key);
/* Key "d" becomes the contents of key @from in an append-only file. */
void server_rewrite(int from);

#endif
