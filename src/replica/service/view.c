/* SPDX-License-Identifier: MIT
 * What redis has of a set, for an operator. */
#include "service.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include "../format/number.h"
#include "../trust/sign.h"

/* What the script answers (scripts.c), in its order. */
enum {
	EPOCH, NOW, TEXT, SIGNATURE, OWNER, LEASE, ADDED, LENGTH, LAST, USED, MAXMEMORY, POLICY,
	NODES, KEPT, ABSENT, KEPT_ABSENT, NO_WRITES, ELEMENTS
};

static bool has_shape(const redisReply *a)
{
	static const int types[ELEMENTS] = {
		[EPOCH] = REDIS_REPLY_STRING,     [NOW] = REDIS_REPLY_INTEGER,
		[LEASE] = REDIS_REPLY_INTEGER,    [ADDED] = REDIS_REPLY_INTEGER,
		[LENGTH] = REDIS_REPLY_INTEGER,   [LAST] = REDIS_REPLY_STRING,
		[USED] = REDIS_REPLY_INTEGER,     [MAXMEMORY] = REDIS_REPLY_INTEGER,
		[POLICY] = REDIS_REPLY_STRING,    [NODES] = REDIS_REPLY_ARRAY,
		[KEPT] = REDIS_REPLY_ARRAY,       [ABSENT] = REDIS_REPLY_INTEGER,
		[KEPT_ABSENT] = REDIS_REPLY_ARRAY, [NO_WRITES] = REDIS_REPLY_STRING,
	};
	if (a->type != REDIS_REPLY_ARRAY || a->elements != ELEMENTS)
		return false;
	for (size_t i = 0; i < ELEMENTS; i++)
		if (types[i] && a->element[i]->type != types[i])
			return false;
	return true;
}

static void read_generation(struct weir_replica_generation *g, const char *text, size_t len,
                            bool is_signed)
{
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	*g = (struct weir_replica_generation){ .is_signed = is_signed };
	g->damaged = weir__manifest_read(&m, &origins, text, len) != 0;
	weir__origins_free(&origins);
	if (g->damaged)
		return;
	g->generation = m.generation;
	g->base = m.base;
	g->image_bytes = m.bytes;
	g->published_ms = m.published_ms;
	g->publisher = m.publisher;
	g->kind = weir_kind_name(m.kind);
	g->stream_keys = m.of_keys;
	snprintf(g->checksum, sizeof g->checksum, "%016" PRIx64 "%016" PRIx64, m.checksum[0],
	         m.checksum[1]);
	weir__stream_id_print(g->position, m.cursor.at);
}

static uint64_t count(const redisReply *r)
{
	return r->integer > 0 ? (uint64_t)r->integer : 0;
}

/* { generation, signature newline text, ... }, { chunks that have gone, ... } */
static size_t read_kept(struct weir_replica_generation *out, const redisReply *flat,
                        const redisReply *absent)
{
	size_t n = 0;
	for (size_t i = 0; i + 1 < flat->elements; i += 2) {
		const redisReply *of = flat->element[i + 1];
		const char *end = of->type == REDIS_REPLY_STRING ? memchr(of->str, '\n', of->len) :
		                                                   NULL;
		if (!end)
			continue;
		read_generation(&out[n], end + 1, of->len - (size_t)(end + 1 - of->str),
		                end != of->str);
		if (!out[n].damaged && i / 2 < absent->elements)
			out[n].chunks_absent = count(absent->element[i / 2]);
		n++;
	}
	return n;
}

static int newest_first(const void *a, const void *b)
{
	const struct weir_replica_generation *x = a, *y = b;
	return x->generation > y->generation ? -1 : x->generation < y->generation;
}

static void copy(char *to, size_t room, const redisReply *from)
{
	snprintf(to, room, "%.*s", (int)(from->len < room ? from->len : room - 1), from->str);
}

static void take(struct weir_replica_view *v, const redisReply *a)
{
	redisReply *const *e = a->element;
	copy(v->epoch, sizeof v->epoch, e[EPOCH]);
	copy(v->stream_last, sizeof v->stream_last, e[LAST]);
	copy(v->policy, sizeof v->policy, e[POLICY]);
	copy(v->no_writes, sizeof v->no_writes, e[NO_WRITES]);
	v->now_ms = count(e[NOW]);
	v->stream_added = count(e[ADDED]) % WEIR_STREAM_LEAP; /* that of a deleted stream */
	v->stream_length = count(e[LENGTH]);
	v->used_memory = count(e[USED]);
	v->maxmemory = count(e[MAXMEMORY]);
	if (e[TEXT]->type == REDIS_REPLY_STRING)
		read_generation(&v->current, e[TEXT]->str, e[TEXT]->len,
		                e[SIGNATURE]->type == REDIS_REPLY_STRING && e[SIGNATURE]->len);
	v->current.chunks_absent = v->current.damaged ? 0 : count(e[ABSENT]);
	if (e[OWNER]->type == REDIS_REPLY_STRING &&
	    weir__hex_parse(&v->lease_owner, e[OWNER]->str, e[OWNER]->len, WEIR_REPLICA_NODE))
		v->lease_ms = e[LEASE]->integer;
	v->node_count = weir__view_nodes(v->nodes, e[NODES], v->now_ms);
	v->kept_count = read_kept(v->kept, e[KEPT], e[KEPT_ABSENT]);
	qsort(v->kept, v->kept_count, sizeof *v->kept, newest_first);
}

/* Reports are what anybody can make more of. */
static int too_much(const struct weir_redis *x)
{
	char why[WEIR_SERVICE_SENTENCE];
	snprintf(why, sizeof why, "%s", weir_error_detail());
	return weir_fail(-EMSGSIZE, "%s: if somebody makes up what nodes report, redis-cli DEL "
	                 "'%s' helps: who runs reports again", why, x->keys.of[WEIR_KEY_NODES]);
}

static int read_view(struct weir_replica_view *v, struct weir_redis *x)
{
	redisReply *reply;
	int err = weir__redis_call(x, WEIR_SCRIPT_STATUS, NULL, 0, &reply);
	if (err)
		return err == -EMSGSIZE ? too_much(x) : err;
	if (!has_shape(reply)) {
		err = weir__redis_shape(x, "a question for the status");
	} else {
		v->nodes = calloc(reply->element[NODES]->elements / 2 + 1, sizeof *v->nodes);
		v->kept = calloc(reply->element[KEPT]->elements / 2 + 1, sizeof *v->kept);
		if (v->nodes && v->kept)
			take(v, reply);
		else
			err = weir_fail(-ENOMEM, "no memory for the status of a set");
	}
	freeReplyObject(reply);
	return err;
}

int weir_replica_view(struct weir_replica_view **out, const struct weir_replica_options *options)
{
	struct weir_wire *wire;
	struct weir_redis x;
	if (!out || !options)
		return weir_fail(-EINVAL, "the %s is NULL", out ? "options" : "result");
	int err = weir__service_check(options);
	if (!err)
		err = weir__service_wire(&wire, options);
	if (err)
		return err;
	weir__redis_make(&x, wire, options->set, 0);
	struct weir_replica_view *v = calloc(1, sizeof *v);
	err = v ? read_view(v, &x) : weir_fail(-ENOMEM, "no memory for the status of a set");
	weir__wire_close(wire);
	if (err)
		weir_replica_view_free(v);
	else
		*out = v;
	return err;
}

void weir_replica_view_free(struct weir_replica_view *view)
{
	if (!view)
		return;
	free(view->nodes);
	free(view->kept);
	free(view);
}

int weir_replica_key_make(const char *secret_file, const char *public_file)
{
	if (!secret_file || !public_file)
		return weir_fail(-EINVAL, "the name of the %s file is NULL",
		                 secret_file ? "public" : "secret");
	return weir__key_make(secret_file, public_file);
}
