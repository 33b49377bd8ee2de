/* SPDX-License-Identifier: MIT
 * Answers are read by hiredis, and limited before memory is taken for what they declare. */
#ifndef WEIR_REPLICA_REPLY_H
#define WEIR_REPLICA_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <hiredis/hiredis.h>

enum {
	WEIR_REPLY_ELEMENTS = 1 << 20, /* of all arrays of an answer together */
	WEIR_REPLY_LINE = 1 << 16,     /* bytes of what is no string of declared length */
};

#if HIREDIS_MAJOR >= 1
typedef size_t weir_reply_count; /* of the elements that an array declares */
#else
typedef int weir_reply_count;
#endif

struct weir_reply_reader {
	redisReader *reader;
	redisReplyObjectFunctions functions;
	void *(*create_array)(const redisReadTask *task, weir_reply_count n); /* hiredis' own */
	size_t limit;      /* bytes of one answer */
	size_t bytes;      /* of the one that is being read */
	uint64_t elements; /* declared in it */
	const char *peer;  /* for sentences */
};

/* @r must stay where it is. Return: 0 or -ENOMEM. */
int weir__reply_begin(struct weir_reply_reader *r, size_t limit, const char *peer);
void weir__reply_end(struct weir_reply_reader *r);
/* Bytes that have arrived. Return: 0; -EMSGSIZE, -ENOMEM. */
int weir__reply_feed(struct weir_reply_reader *r, const void *data, size_t len);
/* @out: receives an answer, or NULL: it is not whole yet.
 * Return: 0; -EPROTO it is none; -EMSGSIZE it declares too much; -ENOMEM. */
int weir__reply_next(struct weir_reply_reader *r, redisReply **out);
/* Has something arrived that no answer has taken? */
bool weir__reply_left(const struct weir_reply_reader *r);

#endif
