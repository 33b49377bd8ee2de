/* SPDX-License-Identifier: MIT
 * A generation from the set as it is (L6, L9, L10). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include <weir/text.h>
#include "format/number.h"
#include "node.h"

static int check(const struct weir_node *n)
{
	if (weir__node_complete(n))
		return 0;
	return weir_fail(-EAGAIN, "set %s: this node lacks inserts of others (%s): it publishes "
	                 "nothing before it has them, or an image that has: a node that has them "
	                 "can publish", n->set,
	                 !n->epoch[0]   ? "it has not met the server" :
	                 n->gap         ? "entries have gone from the stream" :
	                                  "a batch is lacking");
}

/* After the last number that was seen, since that generation may have been lost; one that is far
 * beyond what is there somebody has made up. */
static uint64_t next_number(const struct weir_node *n)
{
	const uint64_t there = n->seen.generation;
	return (n->newest > there && n->newest - there <= UINT32_MAX ? n->newest : there) + 1;
}

/* L6: before the set is copied, or the record is read. */
static struct weir_manifest begin(const struct weir_node *n, const struct weir_manifest *base,
                                  const struct weir_cursor *cursor)
{
	struct weir_manifest m = { .generation = next_number(n),
	                           .base = base->generation,
	                           .lineage = base->lineage,
	                           .cursor = *cursor,
	                           .kind = n->kind,
	                           .of_keys = weir__node_of_keys(n),
	                           .hashing = n->hashing,
	                           .publisher = n->id };
	memcpy(m.set, n->set, sizeof m.set);
	memcpy(m.epoch, n->epoch, sizeof m.epoch);
	return m;
}

/* L3. @safe: the generation that is replaced will not be lost. If ids were set back since, its
 * position means others. */
static struct weir_stream_id covered(const struct weir_manifest *m,
                                     const struct weir_manifest *base, bool safe)
{
	const struct weir_stream_id none = { 0, 0 }, at = safe ? base->cursor.at : base->covered;
	if (!base->generation || strcmp(base->epoch, m->epoch) != 0)
		return none;
	return weir__stream_id_compare(at, m->cursor.at) > 0 ? none : at;
}

/* @origins: up to which of each node's batches the image has all. */
static int store_and_publish(const struct weir_node *n, const struct weir_filter *f,
                             const struct weir_manifest *base, struct weir_manifest *m,
                             const struct weir_origins *origins)
{
	char *text;
	size_t len;
	bool safe;
	int err = n->server->store(n->server->context, f, m, &safe);
	m->covered = err ? m->covered : covered(m, base, safe);
	if (!err)
		err = weir__manifest_write(&text, &len, m, origins);
	if (err)
		return err;
	err = weir__node_fail(n, weir__manifest_check(text, len));
	if (!err)
		err = n->server->publish(n->server->context, m, text, len);
	free(text);
	return err;
}

/* Can it follow what the set has, which need not be what this node has? */
static int check_fits(const struct weir_node *n, const struct weir_manifest *m)
{
	bool known = n->seen.generation;
	uint32_t kind = known ? n->seen.kind : n->kind;
	uint64_t hashing = known ? n->seen.hashing : n->hashing;
	if (weir__replicable(m->kind) != weir__replicable(kind))
		return weir_fail(-ENOTSUP, "set %s: the filter to publish is %s, and the set's is "
		                 "%s: of those one takes inserts and one does not", n->set,
		                 weir_kind_name(m->kind), weir_kind_name(kind));
	if (m->hashing == hashing || m->of_keys)
		return 0;
	return weir_fail(-EKEYREJECTED, "set %s: the filter to publish is hashed by another seed "
	                 "or key: %08" PRIx64 ", the set's is %08" PRIx64 ": make it like the "
	                 "set's (weir_replica_params(), weir build --like), or publish it as "
	                 "another set; one whose batches are of keys (stream_keys) takes any seed",
	                 n->set, m->hashing, hashing);
}

/* Nodes refuse what is asked for otherwise than their own set. */
static int check_steps(const struct weir_node *n, const struct weir_filter *f)
{
	struct weir_text ours, its;
	weir_text_of(f, &its);
	weir_text_of(weir_handle_get(n->handle), &ours);
	if (!n->joined.generation || its.steps == ours.steps)
		return 0;
	return weir_fail(-EKEYREJECTED, "set %s: what is done to the keys of the filter to publish "
	                 "(weir build --lowercase and its like) is not what is done to the set's, "
	                 "so nodes would refuse it: make it like the set's (weir build --like), or "
	                 "publish it as another set", n->set);
}

/* As what may follow. @m: receives what the filter is. */
static int check_filter(const struct weir_node *n, const struct weir_filter *f,
                        struct weir_manifest *m)
{
	struct weir_stats s = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_SAMPLED, &s);
	if (!err)
		err = weir__replicable_check(s.shape.kind);
	if (err)
		return err;
	m->kind = s.shape.kind;
	m->hashing = s.seed_fingerprint;
	err = check_fits(n, m);
	return err ? err : check_steps(n, f);
}

/* No section: this thread alone swaps the filters of the handle. */
static int unite(struct weir_filter **out, const struct weir_node *n,
                 const struct weir_filter *more)
{
	int err = weir_clone(out, weir_handle_get(n->handle));
	if (err)
		return err;
	err = weir_merge(*out, more);
	if (!err)
		return 0;
	weir_destroy(*out);
	*out = NULL;
	if (err != -EINVAL)
		return weir__node_fail(n, err);
	char why[512];
	struct weir_manifest m = { .of_keys = weir__node_of_keys(n) };
	snprintf(why, sizeof why, "%s", weir_error_detail());
	err = check_filter(n, more, &m);
	return err ? err : weir_fail(-EKEYREJECTED, "set %s: it cannot be united with this filter, "
	                             "which could replace it: %s", n->set, why);
}

static int publish_set(struct weir_node *n, const struct weir_manifest *base,
                       struct weir_manifest *m, const struct weir_filter *more)
{
	struct weir_filter *both = NULL;
	int err = more ? unite(&both, n, more) : 0;
	if (!err)
		err = store_and_publish(n, more ? both : weir_handle_get(n->handle), base, m,
		                        &n->origins);
	weir_destroy(both);
	return err;
}

int weir__node_publish(struct weir_node *n, const struct weir_filter *more)
{
	int err = check(n);
	if (err)
		return err;
	/* L10; or of none, after a flush */
	const struct weir_manifest base = n->seen.generation ? n->joined : n->seen;
	bool sent = weir__node_send(n) == 0; /* L11: what is in no batch is in the image alone */
	struct weir_manifest m = begin(n, &base, &n->cursor); /* before the copy */
	bool has_more = atomic_exchange(&n->has_more, false); /* likewise */
	m.source = WEIR_SOURCE_SET;
	m.follows = base.generation && !more && !has_more && !n->ahead && sent;
	memcpy(m.followed, base.checksum, sizeof m.followed);
	if (!base.generation || n->healed) /* L12: what others have stays beside it */
		err = weir__random(&m.lineage);
	if (!err)
		err = publish_set(n, &base, &m, more);
	if (has_more && (err || more))
		n->has_more = true;
	if (err)
		return err;
	n->newest = m.generation;
	if (more)
		return 0; /* it is joined as by all others */
	weir__node_covered(n, &m, &n->origins);
	const bool gave = n->united;
	weir__node_joined(n, &m);
	n->gave = gave;
	n->seen = m;
	return 0;
}

int weir__node_mark(struct weir_node *n, struct weir_mark *mark)
{
	*mark = (struct weir_mark){ .epoch = "" };
	int err = weir__node_read(n);
	memcpy(mark->epoch, n->epoch, sizeof mark->epoch);
	mark->cursor = n->cursor;
	/* also of those who lack a batch: the record has it */
	for (size_t i = 0; i < n->origins.n && !err; i++)
		err = weir__origins_cover(&mark->origins, n->origins.of[i].node,
		                          n->origins.of[i].seen);
	if (err)
		weir__mark_free(mark);
	return err;
}

void weir__mark_free(struct weir_mark *mark)
{
	weir__origins_free(&mark->origins);
}

static int check_from(const struct weir_node *n, const struct weir_filter *f,
                      const struct weir_mark *mark, struct weir_manifest *m)
{
	if (strcmp(mark->epoch, n->epoch) != 0)
		return weir_fail(-ESTALE, "set %s: the server began anew while the record was "
		                 "read: read it again", n->set);
	return check_filter(n, f, m);
}

static int pass_over(void *arg, struct weir_stream_id id, const struct weir_entry *e)
{
	(void)arg, (void)id, (void)e;
	return 0;
}

/* From where the stream is now: all that followed the image is in it, and more does no harm. An
 * epoch may lie between, in which the position of then means nothing. */
static int begin_again(struct weir_node *n, struct weir_manifest *m)
{
	struct weir_stream_counts counts;
	size_t some;
	int err = n->server->read(n->server->context, n->epoch, n->cursor.at, 1, &counts, pass_over,
	                          NULL, &some);
	if (err)
		return err;
	uint64_t gone = counts.added - counts.length;
	if (gone > m->cursor.consumed)
		return weir_fail(-ENOENT, "set %s: of what followed generation %" PRIu64 ", %"
		                 PRIu64 " batches have gone from the stream: it cannot be returned "
		                 "to",
		                 n->set, m->generation, gone - m->cursor.consumed);
	m->covered = (struct weir_stream_id){ 0, 0 };
	m->cursor = (struct weir_cursor){ .consumed = gone };
	m->generation = next_number(n);
	m->base = n->seen.generation;
	m->lineage = n->seen.lineage;
	m->source = WEIR_SOURCE_AGAIN;
	m->follows = false;
	m->publisher = n->id;
	memcpy(m->epoch, n->epoch, sizeof m->epoch);
	err = m->base ? 0 : weir__random(&m->lineage);
	return err ? err : n->server->now(n->server->context, &m->published_ms);
}

int weir__node_publish_again(struct weir_node *n, const char *text, size_t len)
{
	struct weir_origins origins = { 0 };
	struct weir_manifest m;
	char *again = NULL;
	int err = weir__node_fail(n, weir__manifest_read(&m, &origins, text, len));
	if (!err)
		err = weir__node_check(n, &m);
	if (!err)
		err = check_fits(n, &m);
	if (!err)
		err = begin_again(n, &m);
	if (!err)
		err = weir__manifest_write(&again, &len, &m, &origins);
	if (!err)
		err = weir__node_fail(n, weir__manifest_check(again, len));
	if (!err)
		err = n->server->publish(n->server->context, &m, again, len);
	n->newest = err ? n->newest : m.generation;
	weir__origins_free(&origins);
	free(again);
	return err;
}

int weir__node_publish_from(struct weir_node *n, const struct weir_filter *f,
                            const struct weir_mark *mark)
{
	struct weir_manifest m = begin(n, &n->seen, &mark->cursor);
	int err = check_from(n, f, mark, &m);
	m.source = WEIR_SOURCE_RECORD;
	if (!err && !m.base)
		err = weir__random(&m.lineage);
	if (err)
		return err;
	err = store_and_publish(n, f, &n->seen, &m, &mark->origins);
	n->newest = err ? n->newest : m.generation;
	return err;
}
