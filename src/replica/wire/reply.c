/* SPDX-License-Identifier: MIT
 * hiredis allocates an array as soon as its length is declared; everything else when it has
 * arrived. */
#include "reply.h"
#include <errno.h>
#include <string.h>
#include <weir/error.h>

enum { LINE = 65536 };

/* hiredis' own way to make objects. */
static const redisReplyObjectFunctions *theirs;

static void *create_array(const redisReadTask *task, int elements)
{
	struct weir_reply_reader *r = task->privdata;
	if (elements > 0)
		r->elements += (uint64_t)elements;
	return r->elements > WEIR_REPLY_ELEMENTS ? NULL : theirs->createArray(task, elements);
}

int weir__reply_begin(struct weir_reply_reader *r, size_t limit, const char *peer)
{
	*r = (struct weir_reply_reader){ .reader = redisReaderCreate(), .limit = limit,
		                         .peer = peer };
	if (!r->reader)
		return weir_fail(-ENOMEM, "no memory to read answers of %s", peer);
	theirs = r->reader->fn; /* the same for all */
	r->functions = *theirs;
	r->functions.createArray = create_array;
	r->reader->fn = &r->functions;
	r->reader->privdata = r;
	return 0;
}

void weir__reply_end(struct weir_reply_reader *r)
{
	if (r->reader)
		redisReaderFree(r->reader);
	r->reader = NULL;
}

int weir__reply_feed(struct weir_reply_reader *r, const void *data, size_t len)
{
	r->bytes += len;
	if (r->bytes > r->limit)
		return weir_fail(-EMSGSIZE, "%s: an answer of more than %zu bytes", r->peer,
		                 r->limit);
	return redisReaderFeed(r->reader, data, len) == REDIS_OK ?
		0 : weir_fail(-ENOMEM, "no memory for an answer of %s", r->peer);
}

/* What is no line within so many bytes is none at all; hiredis would look for its end from the
 * beginning each time a piece arrives. Strings follow a short line of their own. */
static bool long_line(const redisReader *r)
{
	size_t there = r->len - r->pos;
	return there >= LINE && !memchr(r->buf + r->pos, '\n', LINE);
}

int weir__reply_next(struct weir_reply_reader *r, redisReply **out)
{
	void *reply = NULL;
	*out = NULL;
	if (redisReaderGetReply(r->reader, &reply) != REDIS_OK) {
		if (r->elements > WEIR_REPLY_ELEMENTS)
			return weir_fail(-EMSGSIZE, "%s: an answer of more than %d elements",
			                 r->peer, WEIR_REPLY_ELEMENTS);
		bool memory = r->reader->err == REDIS_ERR_OOM;
		return weir_fail(memory ? -ENOMEM : -EPROTO, "%s: that is no answer of redis: %s",
		                 r->peer, r->reader->errstr);
	}
	if (!reply && long_line(r->reader))
		return weir_fail(-EPROTO, "%s: a line of more than %d bytes", r->peer, LINE);
	if (reply)
		r->bytes = r->elements = 0;
	*out = reply;
	return 0;
}
