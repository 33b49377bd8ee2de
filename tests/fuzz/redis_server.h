/* SPDX-License-Identifier: MIT
 * A stand-in for the part of redis-server that the module weir-redis.so calls: four keys, "a" to
 * "d", commands, and values as streams of 8-byte numbers and of strings with their lengths. With
 * this stand-in the module runs under sanitizers, thousands of times a second. */
#ifndef WEIR_TESTS_REDIS_SERVER_H
#define WEIR_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include "../../src/servers/redis/abi.h"

struct redis_string {
	const void *at;
	size_t bytes;
};
enum { SERVER_KEYS = 4, SERVER_WORDS = 128, SERVER_VERSION = 64 /* of BF.* and CF.* */ };

struct redis_type {
	struct redis_methods is;
};

struct redis_key {
	struct redis_type *type;
	void *value;
};
extern struct redis_key server_keys[SERVER_KEYS];
extern struct redis_type server_types[3]; /* for BF.*, CF.*, WEIR.WINDOW.* */

struct redis_io {
	unsigned char *at; /* in a load: the next byte to read; in a save: the first byte written */
	size_t bytes, /* the number of bytes left to read in a load, or written in a save */
	       room;  /* in a save: the size of the memory at @at */
	bool failed;
};

/* The reply to the last command. */
struct server_reply {
	long long numbers[SERVER_WORDS]; /* numbers and booleans in the reply */
	size_t count,                    /* length of numbers */
	       errors,                   /* number of errors */
	       replies;                  /* number of calls of Reply functions of any sort */
	unsigned char *string;           /* the last string */
	size_t bytes;                    /* length of the string */
};
extern struct server_reply server_reply;

#define FAKE(result, name, arguments) result fake_##name arguments;
REDIS_FUNCTIONS(FAKE)
#undef FAKE
extern long long server_clock; /* that Milliseconds() returns */
extern int server_flags; /* flags that GetContextFlags() returns */

/* Load the module with max-bytes @most. */
void server_start(const char *most);
/* Run a command of @n words: its name and arguments. The program aborts if the command does not
 * reply. */
void server_call(const struct redis_string *words, int n);
/* Delete a key. */
void server_delete(int key);
/* Return: the saved value of a key. The caller frees its bytes. */
struct redis_io server_save(int key);
/* Rewrite key @from as an append-only file, whose commands create key "d". */
void server_rewrite(int from);

#endif
