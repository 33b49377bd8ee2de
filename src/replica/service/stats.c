/* SPDX-License-Identifier: MIT
 * How the node stands, and what the application hears of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include "service.h"

/* Whether inserts or an image are still to come, and for how long. */
static void note_complete(struct weir_replica *r, struct weir_replica_stats *s)
{
	uint64_t now = weir__now_ms();
	s->complete = weir__node_complete(&r->node) && !weir__node_lacks_image(&r->node);
	if (s->complete || !r->lacking_ms)
		r->lacking_ms = now;
	s->lacking_ms = now - r->lacking_ms;
	if (!r->node.alone)
		r->alone_ms = now;
}

/* L12. Whoever publishes does so at once, and then it is over. */
static bool is_left_alone(const struct weir_replica *r)
{
	return r->node.alone && weir__now_ms() - r->alone_ms >=
	                        WEIR_SERVICE_TURNS * (uint64_t)r->idle_ms;
}

/* Nothing failed, and all is not well: redis has not what this node has.
 * Return: 0, or a negative errno. */
static int lacks_ours(const struct weir_replica *r)
{
	const struct weir_node *n = &r->node;
	if (n->epoch[0] && !n->seen.generation)
		return weir_fail(-ENOENT, "set %s: redis has no generation of it (any more): "
		                 "publish one from a node that runs (weir_replica_publish(), "
		                 "publish_seconds), or a file that was saved from one, or followed "
		                 "(weir replicate publish FILE)", n->set);
	if (!is_left_alone(r))
		return 0;
	return weir_fail(-ENODATA, "set %s: redis has a generation of before, or another's: what "
	                 "this node has beside it, nobody else gets until it is published "
	                 "(weir_replica_publish(), or a file saved from it)", n->set);
}

/* Somebody wrote what is nobody's; and has done so lately. */
static bool passes_by(struct weir_replica *r)
{
	if (r->passed_by != r->node.foreign)
		r->passed_ms = weir__now_ms();
	r->passed_by = r->node.foreign;
	return r->passed_by && weir__now_ms() - r->passed_ms < WEIR_SERVICE_PASSED_MS;
}

void weir__service_note(struct weir_replica *r, int err)
{
	const struct weir_node *n = &r->node;
	pthread_mutex_lock(&r->lock);
	struct weir_replica_stats *s = &r->stats;
	s->connected = weir__wire_fd(r->wire) >= 0;
	note_complete(r, s);
	weir__redis_image_bytes(&r->redis, &s->image_here, &s->image_bytes);
	s->generation = n->joined.generation;
	s->newest = n->newest > n->seen.generation ? n->newest : n->seen.generation;
	s->refused = n->refused.generation > n->joined.generation ? n->refused.generation : 0;
	s->batches_read = n->applied;
	s->retained_bytes = n->retained.bytes;
	s->failures = r->all_failures;
	s->node = n->id;
	bool passes = passes_by(r);
	const struct weir_failure *failing = weir__service_failing(r);
	const char *error = err                 ? weir_error_detail() :
	                    failing             ? failing->why :
	                    r->publish_error[0] ? r->publish_error :
	                                          r->save_error;
	if (!*error && lacks_ours(r) != 0)
		error = weir_error_detail();
	if (!*error && passes)
		snprintf(s->error, sizeof s->error, "set %s: %" PRIu64 " entries of the stream are "
		         "by another seed or key, or nobody's: they were passed by", n->set,
		         n->foreign);
	else
		snprintf(s->error, sizeof s->error, "%s", error);
	pthread_mutex_unlock(&r->lock);
}

int weir_replica_measure(const struct weir_replica *r, struct weir_replica_stats *out)
{
	struct weir_replica *own = (struct weir_replica *)(uintptr_t)r; /* its lock */
	if (!r || !out)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "result" : "replica");
	if (out->struct_size != sizeof *out)
		return weir_fail(-EINVAL, "struct_size is %zu, this library's is %zu: start from "
		                 "WEIR_REPLICA_STATS_INIT", out->struct_size, sizeof *out);
	pthread_mutex_lock(&own->lock);
	*out = r->stats;
	pthread_mutex_unlock(&own->lock);
	out->not_replicated = atomic_load_explicit(&r->not_replicated, memory_order_relaxed);
	return 0;
}

/* The names are those that weir replicate status gives to the figures of nodes: the same alerts
 * serve. */
#define GAUGE(name, help, value) { "weir_replica_node_" name, help, (double)(value), 0, 0 }
#define COUNTER(name, help, value) { "weir_replica_node_" name, help, (double)(value), 1, 0 }

int weir_replica_metric(const void *replica, uint32_t i, struct weir_metric *out)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	if (weir_replica_measure(replica, &s) != 0)
		return 0;
	const struct weir_metric of[] = {
		GAUGE("connected", "Whether the last exchange with redis succeeded.", s.connected),
		GAUGE("complete", "Whether it has all that it knows of.", s.complete),
		GAUGE("lacking_seconds", "For how long it has not.", (double)s.lacking_ms / 1000),
		GAUGE("generation", "That the node serves.", s.generation),
		GAUGE("newest_generation", "That redis was seen to have.", s.newest),
		GAUGE("refused", "A generation that it will not take; 0: none.", s.refused),
		COUNTER("batches_total", "Batches of all nodes that it has applied.",
		        s.batches_read),
		GAUGE("retained_bytes", "Of batches that could still be lost.", s.retained_bytes),
		GAUGE("not_replicated", "Inserts that the node keeps to itself.", s.not_replicated),
		COUNTER("failures_total", "Exchanges with redis that failed.", s.failures),
		GAUGE("failing", "Whether it reports an error.", s.error[0] != '\0'),
		GAUGE("image_here_bytes", "Of an image on its way to the node.", s.image_here),
		GAUGE("image_bytes", "Of that image as a whole; 0: none is.", s.image_bytes),
	};
	if (i >= sizeof of / sizeof *of)
		return 0;
	*out = of[i];
	return 1;
}

static void say(const struct weir_replica *r, int result, const char *sentence)
{
	if (r->report)
		r->report(r->context, result, sentence);
	else
		fprintf(stderr, "weir: %s\n", sentence); /* escaped by weir_fail() */
}

void weir__service_tell_notice(struct weir_replica *r)
{
	if (r->notice[0])
		say(r, 0, r->notice);
}

void weir__service_tell_healed(struct weir_replica *r)
{
	char sentence[WEIR_SERVICE_SENTENCE];
	snprintf(sentence, sizeof sentence, "set %s: entries had gone from the stream, and no node "
	         "that lives has sent them: what nodes had inserted that have gone may be lacking",
	         r->node.set);
	say(r, 0, sentence);
}

/* Of a server that is full the sentence has numbers, which are others each time. */
static bool is_news(const struct weir_replica *r, int err, const char *sentence)
{
	static const char digits[] = "0123456789";
	const char *a = r->last_error, *b = sentence;
	for (const char *end = a + sizeof r->last_error - 1; a < end; a++, b++) {
		if (err == -ENOSPC) {
			a += strspn(a, digits);
			b += strspn(b, digits);
		}
		if (*a != *b || !*a)
			return *a != *b;
	}
	return false;
}

void weir__service_tell_news(struct weir_replica *r)
{
	const char *sentence = weir__reader_news(&r->redis.reader);
	if (sentence)
		say(r, -EHOSTUNREACH, sentence);
}

/* Has it failed when it was tried last, and is not due yet? */
static bool is_failing(const struct weir_replica *r)
{
	return weir__service_failing(r) || r->publish_error[0];
}

/* 1: a generation was swapped in. A failure is told when it begins, when its sentence changes, and
 * when it is over: that of a full server when something was appended. */
void weir__service_tell(struct weir_replica *r, int err)
{
	char sentence[WEIR_SERVICE_SENTENCE];
	if (!err && !is_failing(r))
		err = lacks_ours(r);
	if (err == 1) {
		snprintf(sentence, sizeof sentence, "set %s: generation %" PRIu64 " serves",
		         r->node.set, r->node.joined.generation);
		say(r, 1, sentence);
	} else if (err && is_news(r, err, weir_error_detail())) {
		snprintf(r->last_error, sizeof r->last_error, "%s", weir_error_detail());
		say(r, err, r->last_error);
	} else if (!err && r->last_error[0] && !r->redis.full && !is_failing(r)) {
		r->last_error[0] = '\0';
		snprintf(sentence, sizeof sentence, "set %s: all is well again", r->node.set);
		say(r, 0, sentence);
	}
}
