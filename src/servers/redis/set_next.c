/* SPDX-License-Identifier: MIT
 * The next generation of a set, from a filter that has all of the generation before. It keeps what
 * the manifest before said of the stream: position, entries, origins, and what it covers. So it
 * claims nothing of the stream that its image lacks (L6), lets no node forget a batch (L3), and
 * need wait for no replica.
 *
 * A command is atomic, so the lease, which keeps two publishers from doing the same work, is left
 * to whoever has it: a node that is about to publish finds another base (L10), and joins it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <weir/replica.h>
#include "../../replica/format/number.h"
#include "set.h"

/* What a position meant in another epoch it does not mean in this one: the whole stream follows,
 * as after weir__node_publish_again(). */
static int begin_again(const struct set *s, struct weir_manifest *m)
{
	struct weir_stream_counts counts;
	int err = set_counts(s, &counts);
	if (err)
		return err;
	uint64_t gone = counts.added - counts.length;
	if (counts.added < counts.length || gone > m->cursor.consumed)
		return weir_fail(-ENOENT, "set %s: the server began anew, and of what followed "
		                 "generation %" PRIu64 " batches have gone from the stream: "
		                 "publish from a node", s->keys.set, m->generation);
	m->cursor = (struct weir_cursor){ .consumed = gone };
	m->covered = (struct weir_stream_id){ 0, 0 };
	return 0;
}

/* Its image aside. */
static int describe(const struct set *s, const struct weir_filter *f, struct weir_manifest *m)
{
	struct weir_stats st = WEIR_STATS_INIT;
	*m = s->manifest;
	int err = weir_measure(f, WEIR_SAMPLED, &st);
	if (!err)
		err = weir__random(&m->publisher);
	if (!err)
		err = weir__random(&m->stored);
	if (!err && m->generation && strcmp(m->epoch, s->epoch) != 0)
		err = begin_again(s, m);
	if (err)
		return err;
	if (!m->generation)
		m->lineage = m->publisher;
	m->base = m->generation++;
	m->source = WEIR_SOURCE_SET;
	m->follows = false; /* it has the key's, which came by no stream */
	memcpy(m->set, s->keys.set, sizeof m->set);
	memcpy(m->epoch, s->epoch, sizeof m->epoch);
	m->kind = st.shape.kind;
	m->hashing = st.seed_fingerprint;
	m->published_ms = (uint64_t)redis.Milliseconds();
	return 0;
}

/* As many generations as are kept now: somebody asked for them. */
static int keep(const struct set *s, uint32_t *out)
{
	struct redis_reply *reply;
	const struct iovec args[] = { weir__text(s->keys.of[WEIR_KEY_KEPT]) };
	int err = set_command(s, "HLEN", args, 1, &reply);
	if (err)
		return err;
	long long n = redis.CallReplyInteger(reply);
	*out = n < WEIR_SET_KEEP          ? WEIR_SET_KEEP :
	       n > WEIR_REPLICA_KEEP_MOST ? WEIR_REPLICA_KEEP_MOST :
	                                    (uint32_t)n;
	redis.FreeCallReply(reply);
	return 0;
}

/* As whoever has the lease. */
static int switch_to(const struct set *s, const struct weir_manifest *m, const char *text,
                     size_t len)
{
	struct weir_publishing p = { &s->keys, weir__text(""), "", "", 0,
	                             WEIR_SET_SUPERSEDED_S };
	struct weir_publish_texts room;
	struct iovec args[WEIR_PUBLISH_ARGUMENTS];
	struct redis_reply *reply;
	int err = keep(s, &p.keep);
	if (err)
		return err;
	weir__publish_arguments(args, &room, &p, m, text, len);
	err = set_script(s, WEIR_SCRIPT_PUBLISH, args, WEIR_PUBLISH_ARGUMENTS, &reply);
	if (!err)
		redis.FreeCallReply(reply);
	return err;
}

int set_publish(struct set *s, const struct weir_filter *f)
{
	struct weir_manifest m;
	char *text = NULL;
	size_t len = 0;
	int err = describe(s, f, &m);
	if (!err)
		err = set_store(s, f, &m);
	if (err)
		return err;
	err = weir__manifest_write(&text, &len, &m, &s->origins);
	if (!err)
		err = weir__manifest_check(text, len); /* of what the server says of itself, too */
	if (err) {
		err = weir_fail(err, "set %s: %s", s->keys.set, weir_error_detail());
		set_unstore(s, &m, err);
	} else { /* after an error too the manifest may be there: a script ends where it fails */
		err = switch_to(s, &m, text, len);
	}
	free(text);
	if (!err)
		s->manifest = m;
	return err;
}
