/* SPDX-License-Identifier: MIT
 * An operator's view of a set in redis. The server is untrusted. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <weir/kinds.h>
#include "service.h"

enum { FEW = 16 }; /* elements of a list's first allocation */

struct viewing {
	struct weir_replica *r;
	struct weir_replica_view *v;
	size_t node_room, kept_room;
};

static struct weir_replica_version version(struct weir_version v)
{
	return (struct weir_replica_version){ v.era, v.number };
}

/* Append an element to a list. Return: the element, all zero; or NULL. */
static void *one_more(void **list, size_t *room, size_t n, size_t bytes)
{
	if (n == *room) {
		const size_t more = *room ? 2 * *room : FEW;
		void *larger = realloc(*list, more * bytes);
		if (!larger)
			return NULL;
		*list = larger;
		*room = more;
	}
	return memset((char *)*list + n * bytes, 0, bytes);
}

/* ---- generations ---- */

static const char *source_name(enum weir_source source)
{
	return source == WEIR_SOURCE_SET    ? "set" :
	       source == WEIR_SOURCE_RECORD ? "record" :
	                                      "rollback";
}

static int judge(const struct weir_replica *r, const struct weir_manifest *m, const char *text,
                 size_t len, const char *signature, size_t signature_len)
{
	int err = r->trust ? weir__trust_signed(r->trust, m, text, len, signature, signature_len) :
	                     0;
	const bool expired = m->expires_ms && m->expires_ms <= weir__service_clocks().wall_ms;
	return err ? -EKEYREJECTED : r->trust && expired ? -EKEYEXPIRED : 0;
}

static int fill(const struct weir_replica *r, struct weir_replica_generation *g,
                const struct weir_manifest *m, const char *text, size_t len, const char *signature,
                size_t signature_len)
{
	g->version = version(m->version);
	g->parent = version(m->parent);
	g->id = m->id;
	g->image_bytes = m->bytes;
	g->signed_ms = m->signed_ms;
	g->expires_ms = m->expires_ms;
	g->publisher = m->publisher;
	for (size_t i = 0; i < sizeof m->image; i++)
		snprintf(g->image + 2 * i, 3, "%02x", m->image[i]);
	weir__log_id_write(g->position, m->position);
	g->kind = weir_kind_name(m->kind);
	g->source = source_name(m->source);
	g->is_signed = signature_len != 0;
	g->trusted = judge(r, m, text, len, signature, signature_len);
	return weir__redis_missing_chunks(r->redis, m, &g->chunks_absent);
}

static int add_kept(void *context, const struct weir_manifest *m, const char *text, size_t len,
                    const char *signature, size_t signature_len)
{
	struct viewing *x = context;
	if (x->v->kept_count == WEIR_REPLICA_KEEP_MOST) /* the largest value of o.keep */
		return 0;
	struct weir_replica_generation *g = one_more((void **)&x->v->kept, &x->kept_room,
	                                             x->v->kept_count, sizeof *g);
	if (!g)
		return weir_fail(-ENOMEM, "no memory for generations");
	x->v->kept_count++;
	return fill(x->r, g, m, text, len, signature, signature_len);
}

/* ---- reports ---- */

/* Find a word and copy the value that follows, up to the next blank. */
static bool value(const char *report, const char *word, char *out, size_t room)
{
	const size_t n = strlen(word);
	for (const char *at = report; at && *at; at = strchr(at, ' '), at = at ? at + 1 : NULL) {
		if (strncmp(at, "error ", 6) == 0)
			return false; /* free text follows the word */
		if (strncmp(at, word, n) != 0 || at[n] != ' ')
			continue;
		const size_t len = strcspn(at + n + 1, " ");
		snprintf(out, room, "%.*s", (int)(len < room ? len : room - 1), at + n + 1);
		return true;
	}
	return false;
}

static uint64_t number(const char *report, const char *word)
{
	char text[WEIR_ID_TEXT];
	uint64_t n = 0;
	if (value(report, word, text, sizeof text))
		(void)weir__number_read(&n, text, strlen(text));
	return n;
}

static struct weir_replica_version version_of(const char *report, const char *word)
{
	char text[WEIR_ID_TEXT];
	struct weir_version v = { 0, 0 };
	if (value(report, word, text, sizeof text))
		(void)weir__version_read(&v, text, strlen(text));
	return version(v);
}

/* Read words and values, which stats.c writes; a missing value is 0. */
static void read_report(struct weir_replica_node *n, const char *report)
{
	(void)value(report, "host", n->host, sizeof n->host);
	(void)value(report, "position", n->position, sizeof n->position);
	const uint64_t state = number(report, "state");
	n->state = state <= WEIR_REPLICA_PUBLISHING ? (uint32_t)state : WEIR_REPLICA_OFFLINE;
	n->pid = (int64_t)number(report, "pid");
	n->joined = version_of(report, "joined");
	n->refused = version_of(report, "refused");
	n->complete = number(report, "complete") == 1;
	n->owes = number(report, "owes") == 1;
	n->publisher = number(report, "publisher") == 1;
	n->lacking = (double)number(report, "lacking") / 1000;
	n->pending_bytes = number(report, "pending");
	n->given_up = number(report, "given_up");
	n->image_here = number(report, "here");
	n->image_bytes = number(report, "image");
	n->keys = number(report, "keys");
	n->capacity = number(report, "capacity");
	n->saturated = number(report, "saturated") == 1;
	n->nearly_full = number(report, "nearly_full") == 1;
	const char *error = strstr(report, " error ");
	snprintf(n->error, sizeof n->error, "%s", error ? error + 7 : "");
}

static int by_age(const void *a, const void *b)
{
	const struct weir_replica_node *x = a, *y = b;
	return x->age < y->age ? -1 : x->age > y->age;
}

/* A client can forge any number of reports, so keep only the newest reports. */
static void leave_out(struct weir_replica_view *v)
{
	if (v->node_count)
		qsort(v->nodes, v->node_count, sizeof *v->nodes, by_age);
	if (v->node_count <= WEIR_REPLICA_NODES_MOST)
		return;
	v->nodes_left_out += v->node_count - WEIR_REPLICA_NODES_MOST;
	v->node_count = WEIR_REPLICA_NODES_MOST;
}

static int add_node(void *context, uint64_t node, uint64_t ms, const char *report, size_t len)
{
	struct viewing *x = context;
	char text[2 * WEIR_SENTENCE_BYTES];
	if (x->v->node_count == 2 * WEIR_REPLICA_NODES_MOST)
		leave_out(x->v);
	struct weir_replica_node *n = one_more((void **)&x->v->nodes, &x->node_room,
	                                       x->v->node_count, sizeof *n);
	if (!n)
		return weir_fail(-ENOMEM, "no memory for the reports of nodes");
	x->v->node_count++;
	snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1),
	         report);
	const uint64_t now = x->v->now_ms;
	n->node = node;
	n->age = (double)(now > ms ? now - ms : ms - now) / 1000;
	read_report(n, text);
	return 0;
}

/* If all reports together exceed the limit of an answer, show the set without them. */
static int read_nodes(struct viewing *x, uint64_t nodes)
{
	int err = weir__redis_reports(x->r->redis, add_node, x);
	if (err == -EMSGSIZE) {
		x->v->nodes_left_out = nodes;
		err = 0;
	}
	leave_out(x->v);
	return err;
}

/* ---- the view, and new key files ---- */

static int newest_first(const void *a, const void *b)
{
	const struct weir_replica_generation *x = a, *y = b;
	if (x->version.era != y->version.era)
		return x->version.era > y->version.era ? -1 : 1;
	return x->version.number > y->version.number ? -1 : x->version.number < y->version.number;
}

static int fill_current(struct viewing *x, const struct weir_redis_status *s)
{
	struct weir_replica_generation *g = &x->v->current;
	struct weir_manifest m;
	if (!s->head.generation && !s->len)
		return 0;
	g->damaged = !s->len || weir__manifest_read(&m, s->text, s->len) != 0 ||
	             strcmp(m.set, x->r->o.set) != 0 || m.id != s->head.generation ||
	             weir__version_compare(m.version, s->head.version) != 0;
	return g->damaged ? 0 : fill(x->r, g, &m, s->text, s->len, s->signature, s->signature_len);
}

static int look(struct viewing *x)
{
	struct weir_redis_status s;
	struct weir_replica_view *v = x->v;
	int err = weir__redis_status(x->r->redis, &s);
	if (err)
		return err;
	v->now_ms = s.head.now_ms;
	v->lease = s.lease;
	v->log_length = s.entries;
	weir__log_id_write(v->log_last, s.head.last);
	v->replicas = s.head.replicas;
	v->used_memory = s.used;
	v->maxmemory = s.max_memory;
	snprintf(v->policy, sizeof v->policy, "%s", s.policy);
	err = fill_current(x, &s);
	if (!err)
		err = weir__redis_kept(x->r->redis, add_kept, x);
	if (!err)
		err = read_nodes(x, s.nodes);
	if (v->kept_count)
		qsort(v->kept, v->kept_count, sizeof *v->kept, newest_first);
	return err;
}

int weir_replica_view(struct weir_replica_view **out, const struct weir_replica_options *options)
{
	struct weir_failure f;
	if (!out || !options)
		return weir_fail(-EINVAL, "the %s is NULL", out ? "options" : "result");
	struct weir_replica_options o = *options;
	o.secret_key = NULL; /* the view writes nothing */
	struct viewing x = { .r = NULL };
	int err = weir__service_check(&o);
	if (err)
		return err;
	x.r = calloc(1, sizeof *x.r);
	x.v = calloc(1, sizeof *x.v);
	err = x.r && x.v ? 0 : weir_fail(-ENOMEM, "no memory for the view of a set");
	if (!err)
		err = weir__service_make(x.r, &o);
	if (!err)
		err = look(&x);
	weir__failure_save(&f, err);
	if (x.r)
		weir__service_free(x.r);
	free(x.r);
	if (err)
		weir_replica_view_free(x.v);
	else
		*out = x.v;
	return weir__failure_return(&f);
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
