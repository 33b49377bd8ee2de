/* SPDX-License-Identifier: MIT
 * What is due now and then: words of an idle node, a call for batches that are lacking, a report, a
 * generation. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "service.h"

/* L8. If everything is there, the others are told the last number; if a batch is lacking, its node
 * is asked for it. */
static int speak(struct weir_replica *r, uint64_t now)
{
	const struct weir_origins *o = &r->node.origins;
	if (o->waiting && weir__is_due(&r->want, now)) {
		weir__due_after(&r->want, now, WEIR_SERVICE_IDLE_MS);
		for (size_t i = 0; i < o->n; i++)
			if (o->of[i].seen > o->of[i].sequence)
				return weir__node_want(&r->node, o->of[i].node,
				                       o->of[i].sequence + 1);
	}
	if (!weir__is_due(&r->idle, now))
		return 0;
	weir__due_after(&r->idle, now, WEIR_SERVICE_IDLE_MS);
	return weir__node_idle(&r->node);
}

/* Words and values, each after a blank; the error, which is last, to the end. */
static int send_report(struct weir_replica *r)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	char text[1024], host[65] = "", position[WEIR_STREAM_ID_TEXT];
	int err = weir_replica_stats(r, &s);
	if (err)
		return err;
	gethostname(host, sizeof host - 1);
	int n = snprintf(text, sizeof text, "host %s pid %ld generation %" PRIu64
	                 " checksum %016" PRIx64 "%016" PRIx64 " position %s complete %d retained %"
	                 PRIu64 " lost %" PRIu64 " refused %" PRIu64 " publisher %d error %s",
	                 host[0] ? host : "-", (long)getpid(), s.generation,
	                 r->node.joined.checksum[0], r->node.joined.checksum[1],
	                 weir__stream_id_print(position, r->node.cursor.at), s.complete,
	                 s.retained_bytes, s.not_replicated, s.refused, r->publish_ms != 0,
	                 s.error);
	return weir__redis_report(&r->redis, text, (size_t)n < sizeof text ? (size_t)n :
	                          sizeof text - 1);
}

static int report(struct weir_replica *r, uint64_t now)
{
	if (!weir__is_due(&r->status, now))
		return 0;
	weir__due_after(&r->status, now, WEIR_SERVICE_REPORT_MS);
	int err = send_report(r);
	return err == -ENOSPC ? 0 : err; /* it is said elsewhere */
}

static int publish(struct weir_replica *r, uint64_t now)
{
	if (!r->publish_ms || !weir__is_due(&r->publish, now) || !weir__node_complete(&r->node))
		return 0;
	weir__due_after(&r->publish, now, r->publish_ms);
	int err = weir__service_duty(r);
	/* another node does it */
	return err == -EPERM || err == -EEXIST ? 0 : err;
}

int weir__service_due(struct weir_replica *r)
{
	uint64_t now = weir__now_ms();
	int err = speak(r, now);
	if (!err)
		err = report(r, now);
	return err ? err : publish(r, now);
}
