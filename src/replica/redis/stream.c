/* SPDX-License-Identifier: MIT
 * The stream of batches, as commands and answers. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include "../format/number.h"
#include "../format/scripts.h"
#include "redis.h"

enum { STRINGS = 10 }; /* of an entry: five names and their values */

int weir__redis_append(void *context, const struct weir_sending *s, struct weir_stream_id *id)
{
	static const char *const values[] = { "h", "k", "w", "i" };
	struct weir_redis *r = context;
	char reserve[WEIR_NUMBER_TEXT], sequence[WEIR_NUMBER_TEXT];
	char node[WEIR_REPLICA_NODE + 1], hashing[17];
	struct redisReply *reply;
	snprintf(node, sizeof node, "%016" PRIx64, s->node);
	snprintf(hashing, sizeof hashing, "%016" PRIx64, s->hashing);
	const struct iovec args[] = {
		weir__text(s->epoch), weir__number(reserve, r->reserve),
		weir__text("v"), weir__text("1"),
		weir__text("n"), weir__text(node),
		weir__text("q"), weir__number(sequence, s->sequence),
		weir__text("s"), weir__text(hashing),
		weir__text(values[s->kind]), weir__bytes(s->data, s->bytes),
	};
	int err = weir__redis_call(r, WEIR_SCRIPT_APPEND, args, sizeof args / sizeof *args, &reply);
	r->full = err == -ENOSPC;
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_STRING ||
	    !weir__stream_id_parse(id, reply->str, reply->len))
		err = weir__redis_shape(r, "XADD");
	freeReplyObject(reply);
	return err;
}

/* { id, { name, value, ... } } */
static int entry_of(const struct weir_redis *r, const struct redisReply *e,
                    struct weir_stream_id *id, struct weir_entry *out)
{
	struct iovec strings[STRINGS];
	if (e->type != REDIS_REPLY_ARRAY || e->elements != 2 ||
	    e->element[0]->type != REDIS_REPLY_STRING ||
	    e->element[1]->type != REDIS_REPLY_ARRAY)
		return weir__redis_shape(r, "XRANGE");
	const struct redisReply *name = e->element[0], *fields = e->element[1];
	if (!weir__stream_id_parse(id, name->str, name->len))
		return weir__redis_shape(r, "XRANGE");
	if (fields->elements > STRINGS)
		return weir_fail(-EBADMSG, "set %s: entry %.*s of the stream has %llu strings "
		                 "instead of %d", r->keys.set, (int)name->len, name->str,
		                 (unsigned long long)fields->elements, STRINGS);
	for (size_t i = 0; i < fields->elements; i++) {
		if (fields->element[i]->type != REDIS_REPLY_STRING)
			return weir__redis_shape(r, "XRANGE");
		strings[i] = weir__bytes(fields->element[i]->str, fields->element[i]->len);
	}
	return weir__entry_read(out, strings, fields->elements);
}

static int give(const struct weir_redis *r, const struct redisReply *entries, weir_entry_fn *entry,
                void *arg)
{
	int err = 0;
	for (size_t i = 0; i < entries->elements && !err; i++) {
		struct weir_stream_id id;
		struct weir_entry e;
		err = entry_of(r, entries->element[i], &id, &e);
		if (err == -EBADMSG) { /* somebody else's: it must not stop every node for ever */
			e = (struct weir_entry){ .kind = WEIR_ENTRY_FOREIGN };
			err = 0;
		}
		if (!err)
			err = entry(arg, id, &e);
	}
	return err;
}

/* { added, length, generation, entries, stored, last id } */
static bool has_shape(const struct redisReply *a, size_t most)
{
	return a->type == REDIS_REPLY_ARRAY && a->elements == 6 &&
	       a->element[0]->type == REDIS_REPLY_INTEGER && a->element[0]->integer >= 0 &&
	       a->element[1]->type == REDIS_REPLY_INTEGER && a->element[1]->integer >= 0 &&
	       a->element[2]->type == REDIS_REPLY_STRING &&
	       a->element[3]->type == REDIS_REPLY_ARRAY && a->element[3]->elements <= most &&
	       a->element[4]->type == REDIS_REPLY_STRING &&
	       a->element[5]->type == REDIS_REPLY_STRING;
}

static bool take_counts(struct weir_stream_counts *counts, const struct redisReply *a)
{
	counts->added = (uint64_t)a->element[0]->integer;
	counts->length = (uint64_t)a->element[1]->integer;
	return weir__stream_id_parse(&counts->last, a->element[5]->str, a->element[5]->len);
}

/* Somebody may have written anything beside the manifest. */
static void note_manifest(struct weir_redis *r, const struct redisReply *generation,
                          const struct redisReply *stored)
{
	uint64_t number, drawn;
	if (!weir__number_parse(&number, generation->str, generation->len))
		return;
	r->there.generation = number;
	r->there.stored = weir__hex_parse(&drawn, stored->str, stored->len, 16) ? drawn : 0;
}

int weir__redis_read(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                     struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg, size_t *n)
{
	struct weir_redis *r = context;
	char id[WEIR_STREAM_ID_TEXT], count[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text(epoch),
		                      weir__text(weir__stream_id_print(id, after)),
		                      weir__number(count, most) };
	int err = weir__redis_call(r, WEIR_SCRIPT_READ, args, 3, &reply);
	if (err)
		return err;
	if (!has_shape(reply, most) || !take_counts(counts, reply)) {
		err = weir__redis_shape(r, "a reading of the stream");
	} else {
		*n = reply->element[3]->elements;
		note_manifest(r, reply->element[2], reply->element[4]);
		err = give(r, reply->element[3], entry, arg);
	}
	freeReplyObject(reply);
	return err;
}
