/* SPDX-License-Identifier: MIT
 * What is seen of a set: reports, status, replicas; and its end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "parts.h"

/* All fields of a hash, which each() is given two by two. */
static int each_of(const struct weir_redis *r, const char *key, void *context,
                   int (*each)(void *context, const struct redisReply *field,
                               const struct redisReply *value))
{
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("HGETALL"), weir__text(key) };
	int err = weir__redis_command(r, r->o.link, args, 2, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY)
		err = weir__redis_shape(r, "HGETALL");
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

/* SIGNATURE, a newline, the manifest. */
static int give_kept(void *context, const struct redisReply *field, const struct redisReply *value)
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
	return each_of(r, r->keys.kept, &c, give_kept);
}

/* MILLISECONDS, a blank, the report. */
static int give_report(void *context, const struct redisReply *field,
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
	return each_of(r, r->keys.nodes, &c, give_report);
}

/* ---- status ---- */

enum { HEAD, LOG, KEPT, NODES, LEASE, TIME, MEMORY, PARTS, HEAD_FIELDS = 11 };

static uint64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* What is not a text of that length is none. */
static size_t copy(char *to, size_t room, const struct redisReply *a)
{
	if (!weir__is_string(a) || a->len > room)
		return 0;
	memcpy(to, a->str, a->len);
	return a->len;
}

static void read_memory(struct weir_redis_status *s, const char *text)
{
	const char *policy = strstr(text, "\nmaxmemory_policy:");
	s->used = number_after(text, "\nused_memory:");
	s->max_memory = number_after(text, "\nmaxmemory:");
	if (policy)
		(void)sscanf(policy, "\nmaxmemory_policy:%23[a-z-]", s->policy);
}

static bool read_status(struct weir_redis_status *s, const struct redisReply *a)
{
	uint64_t seconds, us;
	struct redisReply *const *e = a->element;
	*s = (struct weir_redis_status){ .len = 0 };
	if (!weir__is_array(a, PARTS) || !weir__is_array(e[HEAD], HEAD_FIELDS) ||
	    !weir__reply_number(e[LOG], &s->entries) || !weir__reply_number(e[KEPT], &s->kept) ||
	    !weir__reply_number(e[NODES], &s->nodes) || !weir__is_array(e[TIME], 2) ||
	    !weir__reply_number(e[TIME]->element[0], &seconds) ||
	    !weir__reply_number(e[TIME]->element[1], &us) || !weir__is_string(e[MEMORY]))
		return false;
	(void)weir__reply_hex(e[LEASE], &s->lease);
	(void)weir__reply_head(e[HEAD]->element, &s->head);
	s->len = copy(s->text, sizeof s->text, e[HEAD]->element[9]);
	s->signature_len = copy(s->signature, sizeof s->signature, e[HEAD]->element[10]);
	s->head.now_ms = seconds * 1000 + us / 1000;
	read_memory(s, e[MEMORY]->str);
	return true;
}

static int plain(const struct weir_redis *r, const struct iovec *args, size_t n)
{
	struct redisReply *reply;
	int err = weir__redis_command(r, r->o.link, args, n, &reply);
	if (!err)
		freeReplyObject(reply);
	return err;
}

static int queue(const struct weir_redis *r)
{
	const struct iovec head[] = { weir__text("HMGET"), weir__text(r->keys.head),
		weir__text("mark"), weir__text("prev"), weir__text("base"), weir__text("lost"),
		weir__text("last"), weir__text("tag"), weir__text("version"),
		weir__text("generation"), weir__text("replicas"), weir__text("manifest"),
		weir__text("signature") };
	const struct iovec rest[][2] = {
		{ weir__text("XLEN"), weir__text(r->keys.log) },
		{ weir__text("HLEN"), weir__text(r->keys.kept) },
		{ weir__text("HLEN"), weir__text(r->keys.nodes) },
		{ weir__text("GET"), weir__text(r->keys.lease) },
		{ weir__text("TIME"), weir__text("") },
		{ weir__text("INFO"), weir__text("memory") } };
	int err = plain(r, head, sizeof head / sizeof *head);
	for (unsigned i = 0; i < sizeof rest / sizeof *rest && !err; i++)
		err = plain(r, rest[i], rest[i][1].iov_len ? 2 : 1);
	return err;
}

int weir__redis_status(struct weir_redis *r, struct weir_redis_status *out)
{
	const struct iovec exists[] = { weir__text("EXISTS"), weir__text(r->keys.head) };
	const struct iovec multi = weir__text("MULTI"), exec = weir__text("EXEC");
	const struct iovec discard = weir__text("DISCARD");
	struct redisReply *reply;
	int err = plain(r, exists, 2); /* in a Cluster it leads to the server of the keys */
	if (!err)
		err = plain(r, &multi, 1);
	if (!err)
		err = queue(r);
	if (err) {
		char why[WEIR_SENTENCE_BYTES];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		(void)plain(r, &discard, 1);
		return weir_fail(err, "%s", why);
	}
	err = weir__redis_command(r, r->o.link, &exec, 1, &reply);
	if (err)
		return err;
	if (!read_status(out, reply))
		err = weir__redis_shape(r, "EXEC");
	freeReplyObject(reply);
	return err;
}

/* ---- replicas, the end ---- */

int weir__redis_wait(struct weir_redis *r, uint32_t replicas, uint32_t ms)
{
	char n[WEIR_NUMBER_TEXT], time[WEIR_NUMBER_TEXT];
	uint64_t have;
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("WAIT"), weir__number(n, replicas),
		                      weir__number(time, ms) };
	if (!replicas)
		return 0;
	int err = weir__redis_command(r, r->o.link, args, 3, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_INTEGER || !weir__reply_number(reply, &have))
		err = weir__redis_shape(r, "WAIT");
	else if (have < replicas)
		err = weir_fail(-EAGAIN, "set %s: %" PRIu64 " of %u replicas had everything after "
		                "%u ms", r->o.set, have, (unsigned)replicas, (unsigned)ms);
	freeReplyObject(reply);
	return err;
}

/* Unlink what a SCAN has found. @cursor: of the next one; "0": there is none. */
static int unlink_some(const struct weir_redis *r, const struct redisReply *a,
                       char cursor[WEIR_NUMBER_TEXT], uint64_t *n)
{
	if (!weir__is_array(a, 2) || !weir__is_string(a->element[0]) ||
	    a->element[0]->len >= WEIR_NUMBER_TEXT || a->element[1]->type != REDIS_REPLY_ARRAY)
		return weir__redis_shape(r, "SCAN");
	memcpy(cursor, a->element[0]->str, a->element[0]->len + 1);
	for (size_t i = 0; i < a->element[1]->elements; i++) {
		const struct redisReply *key = a->element[1]->element[i];
		if (!weir__is_string(key) || key->len < strlen(r->keys.prefix) ||
		    memcmp(key->str, r->keys.prefix, strlen(r->keys.prefix)) != 0)
			return weir__redis_shape(r, "SCAN");
		const struct iovec args[] = { weir__text("UNLINK"),
			                      weir__bytes(key->str, key->len) };
		int err = plain(r, args, 2);
		if (err)
			return err;
		++*n;
	}
	return 0;
}

int weir__redis_unlink(struct weir_redis *r, uint64_t *n)
{
	char cursor[WEIR_NUMBER_TEXT] = "0", pattern[WEIR_KEY_TEXT + 1];
	const struct iovec log[] = { weir__text("UNLINK"), weir__text(r->keys.log) };
	struct redisReply *reply;
	*n = 0;
	snprintf(pattern, sizeof pattern, "%s*", r->keys.prefix);
	int err = plain(r, log, 2); /* in a Cluster it leads to the server of the keys */
	do {
		const struct iovec args[] = { weir__text("SCAN"), weir__text(cursor),
			weir__text("MATCH"), weir__text(pattern), weir__text("COUNT"),
			weir__text("1000") };
		if (!err)
			err = weir__redis_command(r, r->o.link, args, 6, &reply);
		if (err)
			return err;
		err = unlink_some(r, reply, cursor, n);
		freeReplyObject(reply);
	} while (err || strcmp(cursor, "0") != 0);
	return 0;
}
