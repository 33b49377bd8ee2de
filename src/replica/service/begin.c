/* SPDX-License-Identifier: MIT
 * A node joins a set, or begins one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include <weir/filter.h>
#include <weir/kinds.h>
#include "../format/manifest.h"
#include "service.h"

/* An image is larger than its filter: the bits of each part begin at a huge page. Redis holds two
 * chunks in buffers while it is stored, and a manifest has a line for each node. */
void weir__service_reserve(struct weir_replica *r, uint64_t filter)
{
	r->redis.reserve = filter + filter / 16 + (6 << 20);
}

int weir__service_node(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	int err = weir_handle_measure(r->handle, &s, &current);
	if (!err && s.absent)
		err = weir_fail(-EINVAL, "set %s: the handle has no filter yet", o->set);
	if (!err)
		err = weir__replicable_check(current.shape.kind);
	if (err)
		return err;
	weir__node_make(&r->node, &r->redis.server, r->handle, o->set, r->node.id,
	                o->stream_keys ? WEIR_ENTRY_KEYS : WEIR_ENTRY_HASHES,
	                o->max_pending_bytes ? o->max_pending_bytes : UINT64_C(256) << 20);
	r->made_node = true;
	r->node.is_signed = r->redis.trust != NULL;
	weir__service_reserve(r, current.bytes);
	return 0;
}

static int make_handle(struct weir_replica *r, const struct weir_replica_options *o,
                       struct weir_filter *f)
{
	struct weir_handle_options h = WEIR_HANDLE_OPTIONS_INIT;
	h.flags = o->stream_keys ? WEIR_HANDLE_ANY_SEED : 0;
	int err = weir_handle_create(&r->handle, f, &h);
	if (err)
		weir_destroy(f);
	else
		r->own_handle = true;
	return err;
}

static int check(const struct weir_manifest *m, const struct weir_replica_options *o)
{
	if (strcmp(m->set, o->set) != 0)
		return weir_fail(-EBADMSG, "the manifest of set %s says that it is that of %s",
		                 o->set, m->set);
	if (o->stream_keys && !m->of_keys)
		return weir_fail(-EINVAL, "set %s: stream_keys, and its batches are of hashes: "
		                 "that is settled when a set is first published", o->set);
	return 0;
}

/* The set is what its first publisher chose: whoever asks for something else hears of it once. */
static void compare(struct weir_replica *r, const struct weir_replica_options *o,
                    const struct weir_filter *image)
{
	struct weir_stats is = WEIR_STATS_INIT;
	struct weir_plan asked = WEIR_PLAN_INIT;
	if (!o->params || weir_measure(image, WEIR_SAMPLED, &is) != 0 ||
	    weir_plan_make(o->params, &asked) != 0)
		return;
	/* of a growing one that has grown nobody asks for the size that it has */
	bool size = asked.capacity == is.capacity && asked.bytes == is.bytes;
	if (asked.shape.kind == is.shape.kind && (size || is.shape.kind == WEIR_GROWING))
		return;
	snprintf(r->notice, sizeof r->notice, "set %s: it is there and stays %s, for %" PRIu64
	         " keys in %" PRIu64 " bytes: params, which are for a set that is not there, ask "
	         "for %s, %" PRIu64 " keys in %" PRIu64 " bytes", o->set,
	         weir_kind_name(is.shape.kind), is.capacity, is.bytes,
	         weir_kind_name(asked.shape.kind), asked.capacity, asked.bytes);
}

/* The set as redis has it. */
static int begin_from(struct weir_replica *r, const struct weir_replica_options *o,
                      const char *epoch, const char *text, size_t len)
{
	struct weir_origins origins = { 0 };
	struct weir_filter *image;
	struct weir_manifest m;
	int err = weir__manifest_read(&m, &origins, text, len);
	if (err)
		err = weir_fail(err, "set %s: %s", o->set, weir_error_detail());
	else
		err = check(&m, o);
	struct weir_replica_options as = *o;
	as.stream_keys = !err && m.of_keys;
	if (!err)
		err = weir__redis_image_await(&r->redis, &m, &image);
	if (!err) {
		compare(r, o, image);
		err = make_handle(r, &as, image);
	}
	if (!err)
		err = weir__service_node(r, &as);
	if (!err && r->node.hashing != m.hashing)
		err = weir_fail(-EKEYREJECTED, "set %s: the image of generation %" PRIu64 " is by "
		                "another seed or key than its manifest says", o->set,
		                m.generation);
	if (!err)
		weir__node_start(&r->node, epoch, &m, &origins);
	weir__origins_free(&origins);
	return err;
}

/* L8. Of a set whose keys have gone others may still send what they have, and have gone since:
 * nobody waits for those. Who lives and has what is lacking here publishes it. */
static int heal(struct weir_replica *r)
{
	int err = weir__node_read(&r->node);
	return err || weir__node_complete(&r->node) ? err : weir__service_heal(r);
}

/* Nobody has published it yet: who is first decides on the seed.
 * @waited: for whoever lives to say so. */
static int begin_anew(struct weir_replica *r, const struct weir_replica_options *o, bool waited)
{
	struct weir_filter *f;
	if (!o->params)
		return weir_fail(-ENOENT, "set %s: there is no generation of it at %s: an image "
		                 "is to be published first, or params say what it is to be",
		                 o->set, weir__wire_peer(r->wire));
	int err = weir_create(&f, o->params);
	if (!err)
		err = make_handle(r, o, f);
	if (!err)
		err = weir__service_node(r, o);
	if (!err) /* -EINPROGRESS: another was first, by the same seed */
		err = weir__node_look(&r->node);
	if (!err && waited)
		err = heal(r);
	if (!err)
		err = weir__service_publish(r, NULL);
	if (err == -EKEYREJECTED)
		err = -EEXIST; /* another was first, by another seed: that is the set's */
	if (!err) /* which a name that is mistaken would be, too */
		snprintf(r->notice, sizeof r->notice, "set %s: redis had no generation of it: it "
		         "begins here, empty", o->set);
	return err;
}

void weir__service_unmake(struct weir_replica *r)
{
	if (r->made_node)
		weir__node_free(&r->node);
	r->made_node = false;
	if (r->own_handle)
		(void)weir_handle_destroy(r->handle);
	r->own_handle = false;
	r->handle = NULL;
}

/* Whoever asks this node once it is open misses nothing that was confirmed before. What redis
 * answers but cannot give now the thread gets. */
static int catch_up(struct weir_replica *r)
{
	int err = weir__node_read(&r->node);
	return err == -ESTALE || weir__wire_fd(r->wire) < 0 ? err : 0;
}

/* @anew: receives whether redis had no generation. */
static int begin(struct weir_replica *r, const struct weir_replica_options *o, bool waited,
                 bool *anew)
{
	char epoch[WEIR_REPLICA_EPOCH + 1], *text;
	size_t len;
	int err = weir__redis_manifest(&r->redis, epoch, &text, &len);
	*anew = !err && !text;
	if (err)
		return err;
	err = text ? begin_from(r, o, epoch, text, len) : begin_anew(r, o, waited);
	free(text);
	return err ? err : catch_up(r);
}

enum { TRIES = 8, SOON = 6 /* not long after it need not wait any more */ };

/* What another node is doing at this moment may be in the way, and for some turns what those sent
 * that do not live. */
int weir__service_begin(struct weir_replica *r, const struct weir_replica_options *o)
{
	const uint64_t until = weir__now_ms() + WEIR_SERVICE_TURNS * (uint64_t)r->idle_ms;
	for (unsigned tries = 1;; tries++) {
		const bool waited = weir__now_ms() >= until;
		bool anew;
		int err = begin(r, o, waited, &anew);
		bool passing = err == -EEXIST || err == -EPERM || err == -EAGAIN ||
			       err == -ESTALE || err == -EINPROGRESS;
		bool waits = err == -EAGAIN && anew && !waited;
		if (!passing || (tries >= TRIES && !waits))
			return err;
		char why[WEIR_SERVICE_SENTENCE];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		weir__service_unmake(r);
		unsigned failures = waits && tries > SOON ? SOON : tries;
		(void)weir__wire_wait(r->wire, NULL, 0, (int)weir__wire_backoff(failures));
		(void)weir_fail(err, "%s", why);
	}
}
