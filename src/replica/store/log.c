/* SPDX-License-Identifier: MIT
 * Touch the head, and read the log. */
#include <errno.h>
#include <stdlib.h>
#include "parts.h"

enum {
	EACH = 3,
	READ = 16,          /* limit of the entries in an answer, about 1 MiB in all */
	FIELDS = 8,         /* limit of the strings to read of an entry; valid entries have fewer */
	ANSWER = 12,
};

/* @a: { nine fields of the head, now, full, connected } */
static bool read_head(const struct redisReply *a, struct weir_head *out)
{
	struct weir_head h;
	uint64_t full, connected;
	if (!weir__is_array(a, ANSWER) || !weir__reply_head(a->element, &h) ||
	    !weir__reply_number(a->element[9], &h.now_ms) ||
	    !weir__reply_number(a->element[10], &full) ||
	    !weir__reply_number(a->element[11], &connected))
		return false;
	h.full = full != 0;
	h.connected = connected < h.replicas ? (uint32_t)connected : h.replicas;
	*out = h;
	return true;
}

/* Write the arguments for the entries. @text: receives their tags and values. */
static void put_entries(struct iovec *args, unsigned char *text, const struct weir_touch *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct weir_entry *e = &t->entries[i];
		weir__hex_write((char *)text, e->tag);
		args[0] = weir__text((char *)text);
		text += WEIR_HEX_TEXT;
		args[1] = weir__text(e->kind == WEIR_ENTRY_BATCH ? "b" : "c");
		args[2] = weir__bytes(text, weir__entry_write(text, e));
		text += args[2].iov_len;
		args += EACH;
	}
}

static size_t entries_bytes(const struct weir_touch *t)
{
	size_t bytes = 0;
	for (size_t i = 0; i < t->n; i++)
		bytes += WEIR_HEX_TEXT + 8 * t->entries[i].n + WEIR_HEX_TEXT + WEIR_ID_TEXT;
	return bytes;
}

static int call(struct weir_redis *r, const struct iovec *entries, const struct weir_touch *t,
                struct weir_head *head)
{
	char node[WEIR_HEX_TEXT], old[WEIR_HEX_TEXT], new[WEIR_HEX_TEXT];
	char reserve[WEIR_NUMBER_TEXT], grace[WEIR_NUMBER_TEXT], epoch[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	struct weir_head is;
	uint64_t mark;
	int err = weir__draw(&mark);
	if (!err)
		err = weir__redis_script(r, &r->touch, entries, EACH * t->n, &reply, r->keys.head,
			r->keys.log, r->keys.nodes, weir__hex_write(node, t->node),
			t->report ? t->report : "",
			t->give_up ? weir__hex_write(old, t->mark) : "",
			weir__hex_write(new, mark), weir__number(reserve, r->o.reserve),
			weir__number(grace, r->o.grace_ms), weir__number(epoch, t->epoch), NULL);
	if (err)
		return err;
	if (!read_head(reply, &is))
		err = weir__redis_bad_answer(r, "touch");
	else if (!weir__log_id_in_range(is.last) || !weir__log_id_in_range(is.base) ||
	         !weir__log_id_in_range(is.lost))
		err = weir__redis_ids_used_up(r);
	else
		*head = is;
	freeReplyObject(reply);
	return err;
}

int weir__redis_touch(void *context, const struct weir_touch *t, struct weir_head *head)
{
	struct weir_redis *r = context;
	struct iovec *entries = malloc(EACH * t->n * sizeof *entries + entries_bytes(t) + 1);
	if (!entries)
		return weir_fail(-ENOMEM, "set %s: no memory to send %zu entries", r->o.set, t->n);
	put_entries(entries, (unsigned char *)(entries + EACH * t->n), t);
	int err = call(r, entries, t, head);
	free(entries);
	return err;
}

/* Pass one entry to @entry. @a: { id, { name, value, ... } }, with an id above @after. */
static int pass_entry(const struct weir_redis *r, const struct redisReply *a,
                      struct weir_log_id *after, weir_entry_fn *entry, void *arg)
{
	struct weir_log_id id;
	struct iovec strings[FIELDS];
	struct weir_entry e;
	if (!weir__is_array(a, 2) || !weir__reply_log_id(a->element[0], &id))
		return weir__redis_bad_answer(r, "XRANGE");
	if (!weir__log_id_in_range(id))
		return weir__redis_ids_used_up(r);
	if (weir__log_id_compare(id, *after) <= 0 || a->element[1]->type != REDIS_REPLY_ARRAY)
		return weir__redis_bad_answer(r, "XRANGE");
	const struct redisReply *fields = a->element[1];
	size_t n = fields->elements < FIELDS ? fields->elements : FIELDS;
	for (size_t i = 0; i < n; i++) {
		if (!weir__is_string(fields->element[i]))
			return weir__redis_bad_answer(r, "XRANGE");
		strings[i] = weir__bytes(fields->element[i]->str, fields->element[i]->len);
	}
	int err = weir__entry_read(&e, id, strings, n);
	if (err == -EBADMSG || err == -ENOTSUP) {
		(void)weir_fail(err, "set %s: %s", r->o.set, weir_error_detail());
		e = (struct weir_entry){ .kind = WEIR_ENTRY_UNREAD, .id = id };
		err = 0;
	}
	*after = id;
	return err ? err : entry(arg, &e);
}

int weir__redis_read(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
                     void *arg, size_t *n)
{
	struct weir_redis *r = context;
	struct redisReply *reply;
	char from[WEIR_ID_TEXT + 1] = "(", count[WEIR_NUMBER_TEXT];
	*n = 0;
	most = most < READ ? most : READ;
	weir__log_id_write(from + 1, after);
	int err = weir__redis_ask(r, &reply, "XRANGE", r->keys.log, from, "+", "COUNT",
	                          weir__number(count, most), NULL);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > most)
		err = weir__redis_bad_answer(r, "XRANGE");
	for (size_t i = 0; !err && i < reply->elements; i++) {
		err = pass_entry(r, reply->element[i], &after, entry, arg);
		*n += !err;
	}
	freeReplyObject(reply);
	return err;
}
