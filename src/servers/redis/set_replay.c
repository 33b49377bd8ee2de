/* SPDX-License-Identifier: MIT
 * What follows a generation in the stream, inserted as a node inserts it: hashes by the set's own
 * seed, and keys; what is nobody's is passed by (entry.h). */
#include <errno.h>
#include <inttypes.h>
#include "../../replica/format/entry.h"
#include "../../replica/format/scripts.h"
#include "set.h"

enum { STRINGS = 10 }; /* of an entry: five names and their values */
enum { AT_ONCE = 64 }; /* entries of one call: so many batches are in memory twice */

static int insert(const struct set *s, const struct weir_entry *e, struct weir_filter *f)
{
	struct iovec key;
	int answer = 0;
	if (e->kind == WEIR_ENTRY_HASHES && e->hashing != s->manifest.hashing)
		return 0; /* foreign: no node has it either */
	for (size_t i = 0; i < weir__entry_hashes(e) && answer >= 0; i++)
		answer = weir_insert_hash(f, weir__entry_hash(e, i));
	for (size_t at = 0; answer >= 0 && weir__entry_key(e, &at, &key);)
		answer = weir_insert(f, key.iov_base, key.iov_len);
	return answer < 0 ? answer : 0;
}

/* { id, { name, value, ... } } */
static int take_entry(const struct set *s, struct redis_reply *reply, struct weir_cursor *cursor,
                      struct weir_filter *f)
{
	struct iovec strings[STRINGS], name;
	struct weir_stream_id id;
	struct weir_entry e;
	if (redis.CallReplyType(reply) != REDIS_REPLY_ARRAY ||
	    !set_text(redis.CallReplyArrayElement(reply, 0), &name) ||
	    !weir__stream_id_parse(&id, name.iov_base, name.iov_len) ||
	    !weir__cursor_advance(cursor, id))
		return set_shape(s, "an entry of the stream");
	struct redis_reply *fields = redis.CallReplyArrayElement(reply, 1);
	size_t n = fields ? redis.CallReplyLength(fields) : 0;
	if (n > STRINGS)
		return 0; /* foreign */
	for (size_t i = 0; i < n; i++)
		if (!set_text(redis.CallReplyArrayElement(fields, i), &strings[i]))
			return set_shape(s, "an entry of the stream");
	int err = weir__entry_read(&e, strings, n);
	if (err == -EBADMSG)
		return 0;
	err = err ? err : insert(s, &e, f);
	return err ? weir_fail(err, "set %s: entry %.*s: %s", s->keys.set, (int)name.iov_len,
	                       (const char *)name.iov_base, weir_error_detail())
	           : 0;
}

/* Read on from @after. @entries: the answer's, for as long as @reply lives. */
static int read_on(const struct set *s, struct weir_stream_id after, uint64_t most,
                   struct weir_stream_counts *counts, struct redis_reply **reply,
                   struct redis_reply **entries)
{
	char id[WEIR_STREAM_ID_TEXT], number[WEIR_NUMBER_TEXT];
	const struct iovec args[] = { weir__text(s->epoch),
		                      weir__text(weir__stream_id_print(id, after)),
		                      weir__number(number, most) };
	int err = set_script(s, WEIR_SCRIPT_READ, args, 3, reply);
	if (err)
		return err;
	*entries = redis.CallReplyArrayElement(*reply, 3);
	struct redis_reply *added = redis.CallReplyArrayElement(*reply, 0),
	                   *length = redis.CallReplyArrayElement(*reply, 1);
	struct iovec last;
	if (!*entries || redis.CallReplyType(*entries) != REDIS_REPLY_ARRAY ||
	    redis.CallReplyType(added) != REDIS_REPLY_INTEGER ||
	    redis.CallReplyType(length) != REDIS_REPLY_INTEGER ||
	    !set_text(redis.CallReplyArrayElement(*reply, 5), &last) ||
	    !weir__stream_id_parse(&counts->last, last.iov_base, last.iov_len) ||
	    redis.CallReplyLength(*entries) > most) {
		redis.FreeCallReply(*reply);
		return set_shape(s, "a reading of the stream");
	}
	counts->added = (uint64_t)redis.CallReplyInteger(added);
	counts->length = (uint64_t)redis.CallReplyInteger(length);
	return 0;
}

int set_counts(const struct set *s, struct weir_stream_counts *counts)
{
	struct redis_reply *reply, *entries;
	int err = read_on(s, s->manifest.cursor.at, 1, counts, &reply, &entries);
	if (!err)
		redis.FreeCallReply(reply);
	return err;
}

/* L7. */
static int check_gap(const struct set *s)
{
	const struct weir_manifest *m = &s->manifest;
	struct weir_stream_counts counts;
	uint64_t missed = 0;
	int err = set_counts(s, &counts);
	if (err || weir__cursor_gap(&m->cursor, &counts, &missed) == WEIR_GAP_NONE)
		return err;
	return weir_fail(-ENOENT, "set %s: of what followed generation %" PRIu64 ", %" PRIu64
	                 " batches or more have gone from the stream: publish another from a node",
	                 s->keys.set, m->generation, missed);
}

int set_replay(const struct set *s, struct weir_filter *f, uint64_t *entries)
{
	struct weir_cursor cursor = s->manifest.cursor;
	int err = check_gap(s);
	size_t n = AT_ONCE;
	*entries = 0;
	while (!err && n == AT_ONCE) {
		struct weir_stream_counts counts;
		struct redis_reply *reply, *some;
		err = read_on(s, cursor.at, AT_ONCE, &counts, &reply, &some);
		if (err)
			return err;
		n = redis.CallReplyLength(some);
		for (size_t i = 0; i < n && !err; i++)
			err = take_entry(s, redis.CallReplyArrayElement(some, i), &cursor, f);
		*entries += n;
		redis.FreeCallReply(reply);
	}
	return err;
}
