/* SPDX-License-Identifier: MIT
 * Limit answers before hiredis allocates memory for them. The limit of an array is checked
 * when the server declares the array's length. The limit of all other data is checked when the data
 * arrives. */
#include "wire.h"
#include <errno.h>
#include <stdlib.h>
#include <weir/error.h>

enum { LENGTH = 32 }; /* bytes of the line that declares the length of a string */

static void *create_array(const redisReadTask *task, weir_reply_count elements)
{
	struct weir_reader *r = task->privdata;
	unsigned depth = 1;
	for (const redisReadTask *above = task; above->parent; above = above->parent)
		depth++;
	if (elements > 0)
		r->elements += depth > WEIR_REPLY_DEPTH ? UINT32_MAX : (uint64_t)elements;
	return r->elements > WEIR_REPLY_ELEMENTS ? NULL : r->create_array(task, elements);
}

int weir__reader_begin(struct weir_reader *r, size_t limit, const char *peer)
{
	*r = (struct weir_reader){ .reader = redisReaderCreate(), .limit = limit, .peer = peer };
	if (!r->reader)
		return weir_fail(-ENOMEM, "no memory to read answers of %s", peer);
	r->functions = *r->reader->fn;
	r->create_array = r->functions.createArray;
	r->functions.createArray = create_array;
	r->reader->fn = &r->functions;
	r->reader->privdata = r;
	return 0;
}

void weir__reader_end(struct weir_reader *r)
{
	if (r->reader)
		redisReaderFree(r->reader);
	r->reader = NULL;
}

static int too_long(const struct weir_reader *r)
{
	return weir_fail(-EMSGSIZE, "%s: an answer of more than %zu bytes", r->peer, r->limit);
}

int weir__reader_feed(struct weir_reader *r, const void *data, size_t len)
{
	r->bytes += len;
	if (r->bytes > r->limit)
		return too_long(r);
	return redisReaderFeed(r->reader, data, len) == REDIS_OK ?
		0 : weir_fail(-ENOMEM, "no memory for an answer of %s", r->peer);
}

/* Check the incomplete line at the end of the buffer. On each arrival of data hiredis searches for
 * the line's end from the line's start, so a line without end would cost the square of its
 * length. */
static int check_rest(const struct weir_reader *r)
{
	const redisReader *in = r->reader;
	const char *at = in->buf + in->pos;
	const size_t n = in->len - in->pos;
#if HIREDIS_MAJOR >= 1
	bool string = in->ridx >= 0 && in->task[in->ridx]->type == REDIS_REPLY_STRING;
#else
	bool string = in->ridx >= 0 && in->rstack[in->ridx].type == REDIS_REPLY_STRING;
#endif
	bool whole = at && n && memmem(at, n < LENGTH ? n : LENGTH, "\r\n", 2);
	if (string && whole && strtoull(at, NULL, 10) > r->limit)
		return too_long(r);
	if (n > (string ? LENGTH : WEIR_REPLY_LINE) && !(string && whole))
		return weir_fail(-EMSGSIZE, "%s: a line of more than %d bytes", r->peer,
		                 string ? LENGTH : WEIR_REPLY_LINE);
	return 0;
}

bool weir__reader_has_unread(const struct weir_reader *r)
{
	return r->reader->len != r->reader->pos;
}

int weir__reader_next(struct weir_reader *r, redisReply **out)
{
	void *any = NULL;
	*out = NULL;
	if (redisReaderGetReply(r->reader, &any) != REDIS_OK) {
		if (r->elements > WEIR_REPLY_ELEMENTS)
			return weir_fail(-EMSGSIZE, "%s: an answer of more than %d elements, or "
			                 "%d arrays in each other", r->peer, WEIR_REPLY_ELEMENTS,
			                 WEIR_REPLY_DEPTH);
		return weir_fail(r->reader->err == REDIS_ERR_OOM ? -ENOMEM : -EPROTO,
		                 "%s: the answer is not in redis's protocol: %s",
		r->peer, r->reader->errstr);
	}
	redisReply *reply = *out = any;
	if (!reply)
		return check_rest(r);
	r->bytes = r->reader->len - r->reader->pos; /* these bytes belong to the next answer */
	r->elements = 0;
	/* A terminal may show the error text, so replace its control characters. */
	for (size_t i = 0; reply->type == REDIS_REPLY_ERROR && i < (size_t)reply->len; i++)
		if ((unsigned char)reply->str[i] < ' ' || reply->str[i] == 0x7f)
			reply->str[i] = '?';
	return 0;
}
