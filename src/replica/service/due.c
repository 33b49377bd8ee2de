/* SPDX-License-Identifier: MIT
 * What is due now and then: words of an idle node, a call for batches that are lacking, a report, a
 * generation. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "service.h"

enum { NOT_DUE = 1 };

/* One of those of which a batch is lacking and that have not gone, each in its turn. */
static int want(struct weir_replica *r)
{
	const struct weir_origins *o = &r->node.origins;
	for (size_t i = 0; i < o->n; i++) {
		const struct weir_origin *of = &o->of[r->wanted++ % o->n];
		if (of->seen > of->sequence && !of->abandoned)
			return weir__node_want(&r->node, of->node, of->sequence + 1);
	}
	return 0;
}

/* L8. If everything is there, the others are told the last number; if a batch is lacking, its node
 * is asked for it. */
static int speak(struct weir_replica *r, uint64_t now)
{
	if (r->node.origins.waiting && weir__is_due(&r->want, now)) {
		weir__due_after(&r->want, now, r->idle_ms);
		return want(r);
	}
	if (!weir__is_due(&r->idle, now))
		return NOT_DUE;
	weir__due_after(&r->idle, now, r->idle_ms);
	return weir__node_idle(&r->node);
}

/* How full the set is; and how large, which it need not have been when it began. */
static bool take_fill(struct weir_replica *r, struct weir_handle_stats *s,
                      struct weir_stats *filter)
{
	if (weir_handle_measure(r->node.handle, s, filter) != 0)
		return false;
	weir__service_reserve(r, filter->bytes);
	return true;
}

/* For the report. */
static void print_fill(struct weir_replica *r, char *out, size_t room)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	if (!take_fill(r, &s, &filter))
		return;
	double keys = filter.keys_estimated; /* infinite if every bit is set */
	snprintf(out, room, " keys %" PRIu64 " capacity %" PRIu64 " saturated %d nearly_full %d",
	         keys < 1e18 ? (uint64_t)(keys + 0.5) : (uint64_t)1e18, filter.max_capacity,
	         filter.saturated, s.nearly_full);
}

/* Words and values, each after a blank; the error, which is last, to the end. */
static int send_report(struct weir_replica *r)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	char text[1024 + WEIR_SENTENCE_BYTES], host[65] = "", fill[128] = "";
	char position[WEIR_STREAM_ID_TEXT];
	int err = weir_replica_measure(r, &s);
	if (err)
		return err;
	gethostname(host, sizeof host - 1);
	print_fill(r, fill, sizeof fill);
	int n = snprintf(text, sizeof text, "host %s pid %ld generation %" PRIu64
	                 " checksum %016" PRIx64 "%016" PRIx64 " position %s complete %d lacking %"
	                 PRIu64 " retained %" PRIu64 " lost %" PRIu64 " refused %" PRIu64
	                 " publisher %d passing %d opened %016" PRIx64 " here %" PRIu64 " image %"
	                 PRIu64 "%s error %s",
	                 host[0] ? host : "-", (long)getpid(), s.generation,
	                 r->node.joined.checksum[0], r->node.joined.checksum[1],
	                 weir__stream_id_print(position, r->node.cursor.at), s.complete,
	                 s.lacking_ms, s.retained_bytes, s.not_replicated, s.refused,
	                 r->publish_ms != 0, r->passing, r->opened, s.image_here, s.image_bytes,
	                 fill, s.error);
	return weir__redis_report(&r->redis, text, (size_t)n < sizeof text ? (size_t)n :
	                          sizeof text - 1);
}

static int report(struct weir_replica *r, uint64_t now)
{
	if (!weir__is_due(&r->status, now))
		return NOT_DUE;
	weir__due_after(&r->status, now, r->idle_ms);
	weir__redis_lapse(&r->redis);
	int err = send_report(r);
	return err == -ENOSPC ? 0 : err; /* it is said elsewhere */
}

int weir__service_heal(struct weir_replica *r)
{
	uint64_t *alive;
	size_t n;
	int err = weir__redis_alive(&r->redis, WEIR_SERVICE_TURNS * (uint64_t)r->idle_ms, &alive,
	                            &n);
	if (!err)
		(void)weir__node_heal(&r->node, alive, n);
	free(alive);
	return err;
}

/* L8. When everybody who lives has had time to say so, and to send again what is lacking. */
static int heal(struct weir_replica *r, uint64_t now)
{
	if (weir__node_complete(&r->node)) {
		r->incomplete_ms = 0;
		return 0;
	}
	if (!r->incomplete_ms)
		r->incomplete_ms = now;
	if (now - r->incomplete_ms < WEIR_SERVICE_TURNS * (uint64_t)r->idle_ms ||
	    !weir__is_due(&r->heal, now))
		return NOT_DUE;
	weir__due_after(&r->heal, now, r->idle_ms);
	bool healed = r->node.healed;
	int err = weir__service_heal(r);
	if (r->node.healed && !healed)
		weir__service_tell_healed(r);
	return err;
}

/* Of those who have reported nothing for days, if they have had time to in this epoch. */
static void forget_gone(struct weir_replica *r, uint64_t now)
{
	uint64_t *alive;
	size_t n;
	if (now - r->epoch_ms < WEIR_SERVICE_FORGET_MS ||
	    weir__redis_prune(&r->redis, WEIR_SERVICE_GONE_MS) != 0 ||
	    weir__redis_alive(&r->redis, WEIR_SERVICE_GONE_MS, &alive, &n) != 0)
		return; /* next time */
	weir__node_forget(&r->node, alive, n);
	free(alive);
}

/* Was nothing published since this epoch began? */
static bool has_none_yet(const struct weir_node *n)
{
	return strcmp(n->joined.epoch, n->epoch) != 0;
}

/* Somebody has published in this epoch, a record say, which all are to have time to join. */
static bool is_not_owed(struct weir_replica *r, uint64_t now)
{
	if (!r->owed || has_none_yet(&r->node) || r->node.united)
		return false;
	r->owed = false;
	r->publish_error[0] = '\0'; /* of an attempt before that, which nobody repeats */
	weir__due_after(&r->publish, now, r->publish_ms);
	return true;
}

/* Another generation is there: it is seen now, or is one that cannot be, and says why. */
static int see(struct weir_replica *r)
{
	int err = weir__node_look(&r->node);
	weir__redis_unsee(&r->redis);
	return err == -EINPROGRESS ? 0 : err;
}

static int publish(struct weir_replica *r, uint64_t now)
{
	if (!r->publish_ms || !weir__is_due(&r->publish, now) || !weir__node_complete(&r->node) ||
	    weir__node_lacks_image(&r->node) || is_not_owed(r, now))
		return 0;
	weir__due_after(&r->publish, now, r->publish_ms);
	forget_gone(r, now);
	int err = weir__service_duty(r);
	r->owed &= err != 0;
	if (err == -EPERM)
		err = 0; /* another node does it, unless it dies first */
	if (err == -EEXIST)
		err = see(r);
	if ((err || has_none_yet(&r->node)) && r->publish_ms > WEIR_SERVICE_RETRY_MS)
		weir__due_after(&r->publish, now, WEIR_SERVICE_RETRY_MS);
	/* it stays until it succeeds, or another node does it */
	snprintf(r->publish_error, sizeof r->publish_error, "%s", err ? weir_error_detail() : "");
	return err;
}

/* It may be many times as large when the next report is due. */
static void watch(struct weir_replica *r, uint64_t now)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	if (r->node.kind != WEIR_GROWING || !weir__is_due(&r->grows, now))
		return;
	weir__due_after(&r->grows, now, WEIR_SERVICE_GROWS_MS);
	(void)take_fill(r, &s, &filter);
}

/* An image may have been spoiled for a moment alone, and nobody may publish another. */
static void forgive(struct weir_replica *r, uint64_t now)
{
	struct weir_refused *refused = &r->node.refused;
	if (refused->generation && !weir__is_due(&r->refused, now))
		return;
	weir__due_after(&r->refused, now, WEIR_SERVICE_REFUSED_MS);
	if (!refused->generation)
		return;
	*refused = (struct weir_refused){ .generation = 0 };
	weir__redis_unsee(&r->redis);
}

/* L1. Whoever looked for it: a generation is due, of whoever's duty it is, since the stream may
 * have lost its end. */
static void notice_epoch(struct weir_replica *r, uint64_t now)
{
	if (strcmp(r->last_epoch, r->node.epoch) == 0)
		return;
	memcpy(r->last_epoch, r->node.epoch, sizeof r->last_epoch);
	r->epoch_ms = now;
	r->owed = true;
	weir__due_now(&r->publish);
}

/* It fails until it is tried again, whatever goes well meanwhile. Of a connection that broke, and
 * of another epoch, the next round says more. Return: whether it is over. */
static bool note(const struct weir_replica *r, struct weir_failure *t, int err)
{
	if (err == -ESTALE || weir__wire_fd(r->wire) < 0)
		return false;
	bool over = t->err && !err;
	weir__failure_take(t, err);
	return over;
}

/* What began to fail before is said once, and not in turn with what fails beside it. */
static int said(const struct weir_replica *r, const struct weir_failure *now)
{
	const struct weir_failure *t = weir__service_failing(r);
	bool before = t && now->err != -ESTALE && weir__wire_fd(r->wire) >= 0;
	return weir__failure_answer(before ? t : now);
}

/* Whoever has no room for a word has a report all the more, and a generation makes room. */
int weir__service_due(struct weir_replica *r)
{
	static int (*const all[])(struct weir_replica *, uint64_t) = { speak, report, heal,
		                                                       publish };
	_Static_assert(sizeof all / sizeof *all == WEIR_SERVICE_DUE + 1, "and publish");
	struct weir_failure first = { .err = 0 };
	uint64_t now = weir__now_ms();
	bool over = false;
	watch(r, now);
	forgive(r, now);
	notice_epoch(r, now);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int err = all[i](r, now);
		if (err == NOT_DUE)
			continue;
		if (i < WEIR_SERVICE_DUE)
			over |= note(r, &r->tried[i], err);
		if (err && !first.err)
			weir__failure_take(&first, err);
		if (weir__wire_fd(r->wire) < 0)
			break;
	}
	if (over)
		weir__due_now(&r->status); /* who reads reports hears of it */
	return first.err ? said(r, &first) : 0;
}
