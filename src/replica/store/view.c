/* SPDX-License-Identifier: MIT
 * Read a set's state: kept generations, reports, status, replicas. Remove a set. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "parts.h"

/* Call each() with every field and value of a hash. */
static int each_of(const struct weir_redis *r, const char *key, void *context,
                   int (*each)(void *context, const struct redisReply *field,
                               const struct redisReply *value))
{
	struct redisReply *reply;
	int err = weir__redis_ask(r, &reply, "HGETALL", key, NULL);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY)
		err = weir__redis_bad_answer(r, "HGETALL");
	for (size_t i = 0; !err && i + 1 < reply->elements; i += 2)
		err = each(context, reply->element[i], reply->element[i + 1]);
	freeReplyObject(reply);
	return err;
}

struct caller {
	const struct weir_redis *r;
	weir_kept_fn *kept;
	weir_report_fn *report;
	void *context;
};

/* @value: SIGNATURE, a newline, the manifest. */
static int pass_kept(void *context, const struct redisReply *field, const struct redisReply *value)
{
	const struct caller *c = context;
	struct weir_version version;
	struct weir_manifest m;
	const char *end = weir__is_string(value) ? memchr(value->str, '\n', value->len) : NULL;
	const size_t line = end ? (size_t)(end - value->str) : 0;
	if (!end || !weir__reply_version(field, &version) ||
	    weir__manifest_read(&m, end + 1, value->len - line - 1) != 0 ||
	    weir__version_compare(m.version, version) != 0 || strcmp(m.set, c->r->o.set) != 0)
		return 0;
	return c->kept(c->context, &m, end + 1, value->len - line - 1, value->str, line);
}

int weir__redis_kept(struct weir_redis *r, weir_kept_fn *kept, void *context)
{
	struct caller c = { .r = r, .kept = kept, .context = context };
	return each_of(r, r->keys.kept, &c, pass_kept);
}

/* @value: MILLISECONDS, a blank, the report. */
static int pass_report(void *context, const struct redisReply *field,
                       const struct redisReply *value)
{
	const struct caller *c = context;
	uint64_t node, ms;
	const char *end = weir__is_string(value) ? memchr(value->str, ' ', value->len) : NULL;
	const size_t time = end ? (size_t)(end - value->str) : 0;
	if (!end || !weir__reply_hex(field, &node) || !weir__number_read(&ms, value->str, time))
		return 0;
	return c->report(c->context, node, ms, end + 1, value->len - time - 1);
}

int weir__redis_reports(struct weir_redis *r, weir_report_fn *report, void *context)
{
	struct caller c = { .r = r, .report = report, .context = context };
	return each_of(r, r->keys.nodes, &c, pass_report);
}

int weir__redis_remove_report(struct weir_redis *r, uint64_t node)
{
	char name[WEIR_HEX_TEXT];
	return weir__redis_ask(r, NULL, "HDEL", r->keys.nodes, weir__hex_write(name, node), NULL);
}

enum { ABSENT = 1000, SOME = 64, KEY = WEIR_KEY_TEXT + WEIR_NUMBER_TEXT };

/* Count the chunks [@from, @to), at most SOME, that redis has. @there: increased by the count. */
static int count_chunks(struct weir_redis *r, const struct weir_manifest *m, uint64_t from,
                        uint64_t to, uint64_t *there)
{
	struct iovec args[1 + SOME] = { weir__text("EXISTS") };
	char prefix[WEIR_KEY_TEXT], keys[SOME][KEY];
	struct redisReply *reply;
	uint64_t n;
	weir__key_of_image(prefix, &r->keys, m->image);
	for (uint64_t i = from; i < to; i++) {
		snprintf(keys[i - from], KEY, "%s%" PRIu64, prefix, i);
		args[1 + i - from] = weir__text(keys[i - from]);
	}
	int err = weir__redis_command(r, r->o.link, args, 1 + to - from, &reply);
	if (err)
		return err;
	if (!weir__reply_number(reply, &n) || n > to - from)
		err = weir__redis_bad_answer(r, "EXISTS");
	else
		*there += n;
	freeReplyObject(reply);
	return err;
}

int weir__redis_missing_chunks(struct weir_redis *r, const struct weir_manifest *m,
                               uint64_t *missing)
{
	uint64_t there = 0;
	int err = 0;
	/* A forged manifest may claim a million chunks, so stop after ABSENT missing chunks. */
	for (uint64_t i = 0; i < m->chunks && i - there <= ABSENT && !err; i += SOME)
		err = count_chunks(r, m, i, i + SOME < m->chunks ? i + SOME : m->chunks, &there);
	*missing = m->chunks - there;
	return err;
}

/* ---- status ---- */

enum { HEAD, LOG, KEPT, NODES, LEASE, TIME, MEMORY, PARTS, HEAD_FIELDS = 11 };

/* Return: the bytes copied; 0 if @a is not a string, or too long. */
static size_t copy(char *to, size_t room, const struct redisReply *a)
{
	if (!weir__is_string(a) || a->len > room)
		return 0;
	memcpy(to, a->str, a->len);
	return a->len;
}

static void read_memory(struct weir_redis_status *s, const char *text)
{
	const char *used = strstr(text, "\nused_memory:"), *most = strstr(text, "\nmaxmemory:");
	const char *policy = strstr(text, "\nmaxmemory_policy:");
	(void)(used && sscanf(used, "\nused_memory:%" SCNu64, &s->used));
	(void)(most && sscanf(most, "\nmaxmemory:%" SCNu64, &s->max_memory));
	(void)(policy && sscanf(policy, "\nmaxmemory_policy:%23[a-z-]", s->policy));
}

static bool read_status(struct weir_redis_status *s, struct redisReply *const e[PARTS])
{
	uint64_t seconds, micros;
	*s = (struct weir_redis_status){ .len = 0 };
	if (!weir__is_array(e[HEAD], HEAD_FIELDS) || !weir__reply_number(e[LOG], &s->entries) ||
	    !weir__reply_number(e[KEPT], &s->kept) || !weir__reply_number(e[NODES], &s->nodes) ||
	    !weir__is_array(e[TIME], 2) || !weir__reply_number(e[TIME]->element[0], &seconds) ||
	    !weir__reply_number(e[TIME]->element[1], &micros) || !weir__is_string(e[MEMORY]))
		return false;
	(void)weir__reply_hex(e[LEASE], &s->lease);
	(void)weir__reply_head(e[HEAD]->element, &s->head);
	s->len = copy(s->text, sizeof s->text, e[HEAD]->element[9]);
	s->signature_len = copy(s->signature, sizeof s->signature, e[HEAD]->element[10]);
	s->head.now_ms = seconds * 1000 + micros / 1000;
	read_memory(s, e[MEMORY]->str);
	return true;
}

/* Read each part with a command of its own, since a server above maxmemory refuses MULTI. In a
 * Cluster the first command finds the server of the keys. This command is EXISTS, since
 * redis answers NOAUTH before a login only to a command with few arguments. */
int weir__redis_status(struct weir_redis *r, struct weir_redis_status *out)
{
	const struct weir_key_names *k = &r->keys;
	const char *const of[PARTS][2] = { [LOG] = { "XLEN", k->log }, [KEPT] = { "HLEN", k->kept },
		[NODES] = { "HLEN", k->nodes }, [LEASE] = { "GET", k->lease }, [TIME] = { "TIME" },
		[MEMORY] = { "INFO", "memory" } };
	struct redisReply *parts[PARTS] = { NULL };
	int err = weir__redis_ask(r, NULL, "EXISTS", k->head, NULL);
	if (!err)
		err = weir__redis_ask(r, &parts[HEAD], "HMGET", k->head, "mark", "prev", "base",
		                      "lost", "last", "tag", "version", "generation", "replicas",
		                      "manifest", "signature", NULL);
	for (unsigned i = LOG; i < PARTS && !err; i++)
		err = weir__redis_ask(r, &parts[i], of[i][0], of[i][1], NULL);
	if (!err && !read_status(out, parts))
		err = weir__redis_bad_answer(r, "HMGET to INFO");
	for (unsigned i = 0; i < PARTS; i++)
		freeReplyObject(parts[i]);
	return err;
}

/* ---- replicas, and the removal of a set ---- */

int weir__redis_wait(struct weir_redis *r, uint32_t replicas, uint32_t ms)
{
	char n[WEIR_NUMBER_TEXT], time[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	if (!replicas)
		return 0;
	int err = weir__redis_ask(r, &reply, "WAIT", weir__number(n, replicas),
	                          weir__number(time, ms), NULL);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_INTEGER)
		err = weir__redis_bad_answer(r, "WAIT");
	else if (reply->integer < (long long)replicas)
		err = weir_fail(-EAGAIN, "set %s: %lld of %s replicas had everything after %s ms",
		                r->o.set, reply->integer, n, time);
	freeReplyObject(reply);
	return err;
}

/* Unlink the keys that SCAN found. @cursor: receives the cursor for the next SCAN; "0" if this was
 * the last SCAN. */
static int unlink_some(const struct weir_redis *r, const struct redisReply *a,
                       char cursor[WEIR_NUMBER_TEXT], uint64_t *n)
{
	if (!weir__is_array(a, 2) || !weir__is_string(a->element[0]) ||
	    a->element[0]->len >= WEIR_NUMBER_TEXT || a->element[1]->type != REDIS_REPLY_ARRAY)
		return weir__redis_bad_answer(r, "SCAN");
	int err = 0;
	memcpy(cursor, a->element[0]->str, a->element[0]->len + 1);
	for (size_t i = 0; i < a->element[1]->elements && !err; i++) {
		const struct redisReply *key = a->element[1]->element[i];
		if (!weir__is_string(key))
			return weir__redis_bad_answer(r, "SCAN");
		err = weir__redis_ask(r, NULL, "UNLINK", key->str, NULL);
		*n += !err;
	}
	return err;
}

int weir__redis_unlink(struct weir_redis *r, uint64_t *n)
{
	char cursor[WEIR_NUMBER_TEXT] = "0", pattern[WEIR_KEY_TEXT + 1];
	struct redisReply *reply;
	*n = 0;
	snprintf(pattern, sizeof pattern, "%s*", r->keys.prefix);
	/* In a Cluster this command leads to the server of the keys. SCAN names no key. */
	int err = weir__redis_ask(r, NULL, "UNLINK", r->keys.log, NULL);
	do {
		if (!err)
			err = weir__redis_ask(r, &reply, "SCAN", cursor, "MATCH", pattern, "COUNT",
			                      "1000", NULL);
		if (err)
			return err;
		err = unlink_some(r, reply, cursor, n);
		freeReplyObject(reply);
	} while (err || strcmp(cursor, "0") != 0);
	return 0;
}
