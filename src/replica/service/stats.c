/* SPDX-License-Identifier: MIT
 * The state of the node: stats, messages to the application, reports to the other nodes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "service.h"

enum { COMPLETE_MS = 2000, SOON_MS = 1000, PASSED_MS = 3600 * 1000 };

const char *weir_replica_state_name(uint32_t state)
{
	static const char *const names[] = { "offline", "catching up", "following", "publishing" };
	return state < sizeof names / sizeof *names ? names[state] : "?";
}

static struct weir_replica_version version(struct weir_version v)
{
	return (struct weir_replica_version){ v.era, v.number };
}

/* ---- failures ---- */

/* Return: an error if this node read an entry with another seed or key within the last hour. */
static int foreign_failure(struct weir_replica *r)
{
	const struct weir_node *n = &r->node;
	if (r->foreign_seen != n->foreign)
		r->foreign_ms = n->now;
	r->foreign_seen = n->foreign;
	if (!n->foreign || n->now - r->foreign_ms >= PASSED_MS)
		return 0;
	return weir_fail(-EKEYREJECTED, "set %s: %" PRIu64 " entries of the log are by another "
	                 "seed or key: this node passed them by: find the node that has another "
	                 "filter of this name", r->o.set, n->foreign);
}

/* Return: an error if this node has been incomplete for 30 s although no call fails. An image may
 * come slowly, or log entries may be missing, for example if a server holds back data. */
static int lag_failure(const struct weir_replica *r, const struct weir_replica_stats *s)
{
	char what[100] = "the log is not here up to its end";
	/* Not s->lacking_ms, which may be from an older round. */
	const uint64_t now = weir__service_now(), lacking_ms = now - r->complete_ms;
	if (s->complete || lacking_ms < WEIR_SERVICE_SLOW_MS)
		return 0;
	if (s->image_bytes)
		snprintf(what, sizeof what, "%" PRIu64 " of %" PRIu64 " bytes of an image are here",
		         s->image_here, s->image_bytes);
	else if (now - r->synced_ms > COMPLETE_MS)
		snprintf(what, sizeof what, "an answer has begun and does not end");
	return weir_fail(-ETIMEDOUT, "set %s: incomplete for %" PRIu64 " s: %s: redis answers "
	                 "slowly or in part: see its load, the network, and what stands between",
	                 r->o.set, lacking_ms / 1000, what);
}

/* Return: 0; or the most urgent error, with its sentence. */
static int current_failure(struct weir_replica *r, const struct weir_replica_stats *s)
{
	const struct weir_node *n = &r->node;
	const struct weir_failure *noted[] = { &r->evicts, &r->clock, &r->watched, &r->saving };
	const int passed = foreign_failure(r);
	if (n->error)
		return weir_fail(n->error, "%s", n->why);
	if (weir__node_head_is_old(n))
		return weir_fail(-EKEYREJECTED, "set %s: redis has generation %" PRIu64 ".%" PRIu64
		                 ", which is older than %" PRIu64 ".%" PRIu64 " that was taken "
		                 "here: see that a node with the secret key runs, which publishes "
		                 "again", r->o.set, n->newest.version.era,
		                 n->newest.version.number, n->floor.era, n->floor.number);
	if (!n->may_publish && weir__debts_lowest_stamp(&r->node) != UINT64_MAX)
		return weir_fail(-ENODATA, "set %s: redis lost a generation, and this node cannot "
		                 "sign it: start a node with the secret key, or save this set and "
		                 "publish the file, signed",
		                 r->o.set);
	if (n->head.full)
		return weir_fail(-ENOSPC, "set %s: redis is full, so inserts stay on this node: "
		                 "raise maxmemory", r->o.set);
	for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
		if (noted[i]->err)
			return weir__failure_return(noted[i]);
	if (n->state != WEIR_NODE_OFFLINE && !n->head.generation && !n->may_publish)
		return weir_fail(-ENOENT, "set %s: redis has no generation of it, and this node "
		                 "cannot sign one: start a node that has the secret key", r->o.set);
	const int late = lag_failure(r, s);
	return late ? late : passed;
}

/* ---- messages to the application ---- */

/* Two sentences that differ only in their numbers are about the same failure. */
static bool differs(const char *a, const char *b)
{
	static const char digits[] = "0123456789";
	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b || !*a)
			return *a != *b;
	}
}

static void tell(struct weir_replica *r, const struct weir_failure *f, bool swapped)
{
	char sentence[WEIR_SENTENCE_BYTES];
	const struct weir_version v = r->node.joined.version;
	if (swapped) {
		snprintf(sentence, sizeof sentence, "set %s: generation %" PRIu64 ".%" PRIu64
		         " serves", r->o.set, v.era, v.number);
		weir__service_tell(r, 1, sentence);
	}
	if (f->err && differs(r->last_told, f->why))
		weir__service_tell(r, f->err, f->why);
	if (!f->err && r->last_told[0]) {
		snprintf(sentence, sizeof sentence, "set %s: all is well again", r->o.set);
		weir__service_tell(r, 0, sentence);
	}
	memcpy(r->last_told, f->why, sizeof r->last_told);
}

/* ---- the report for the other nodes ---- */

static void add(char *text, size_t room, const char *word, uint64_t value)
{
	const size_t n = strlen(text);
	if (value)
		snprintf(text + n, room - n, " %s %" PRIu64, word, value);
}

/* Add the fill of the set, and note its size, which may have grown. */
static void add_fill(struct weir_replica *r, char *text, size_t room)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	if (weir_handle_measure(r->handle, &s, &filter) != 0)
		return;
	weir__service_size(r, filter.bytes);
	const double keys = filter.keys_estimated; /* infinite if every bit is set */
	add(text, room, "keys", keys < 1e18 ? (uint64_t)(keys + 0.5) : (uint64_t)1e18);
	add(text, room, "capacity", filter.max_capacity);
	add(text, room, "saturated", filter.saturated);
	add(text, room, "nearly_full", s.nearly_full);
}

/* Write each word whose value is not 0, and its value. The error comes last, since its value may
 * have blanks: it takes the rest of the text. */
static void write_report(struct weir_replica *r, const struct weir_replica_stats *s)
{
	char id[WEIR_ID_TEXT], host[65] = "";
	const struct weir_node *n = &r->node;
	const size_t room = sizeof r->text;
	gethostname(host, sizeof host - 1);
	int len = snprintf(r->text, room, "host %s pid %ld state %u position %s",
	                   host[0] ? host : "-", (long)getpid(), s->state,
	                   weir__log_id_write(id, n->cursor));
	if (s->joined.era)
		len += snprintf(r->text + len, room - (size_t)len, " joined %s",
		                weir__version_write(id, n->joined.version));
	if (s->refused.era)
		(void)snprintf(r->text + len, room - (size_t)len, " refused %" PRIu64 ".%" PRIu64,
		               s->refused.era, s->refused.number);
	add(r->text, room, "complete", s->complete);
	add(r->text, room, "owes", s->owes);
	add(r->text, room, "lacking", s->lacking_ms);
	add(r->text, room, "pending", s->pending_bytes);
	add(r->text, room, "given_up", s->given_up);
	add(r->text, room, "publisher", r->o.publish_seconds && n->may_publish);
	add(r->text, room, "here", s->image_here);
	add(r->text, room, "image", s->image_bytes);
	add_fill(r, r->text, room);
	const size_t end = strlen(r->text);
	if (s->error[0])
		snprintf(r->text + end, room - end, " error %s", s->error);
}

static void report(struct weir_replica *r, const struct weir_replica_stats *s)
{
	const uint64_t now = r->node.now;
	const bool changed = r->node.state != r->reported;
	if (now + (changed ? WEIR_SERVICE_REPORT_MS - SOON_MS : 0) < r->report_at)
		return;
	r->reported = r->node.state;
	r->report_at = now + WEIR_SERVICE_REPORT_MS;
	write_report(r, s);
	r->node.report = r->text;
}

/* ---- stats ---- */

/* The thread may block in a call, so compute here how long redis has not answered. */
static void set_complete(const struct weir_replica *r, struct weir_replica_stats *s, uint64_t now)
{
	s->complete = s->complete && now - r->synced_ms <= COMPLETE_MS;
	s->lacking_ms = s->complete ? 0 : now - r->complete_ms;
}

static void fill(struct weir_replica *r, struct weir_replica_stats *s)
{
	struct weir_node_status of;
	const struct weir_node *n = &r->node;
	weir__node_status(&r->node, &of);
	s->state = of.state;
	if (of.state != WEIR_NODE_OFFLINE)
		s->complete = !of.behind;
	s->owes = of.owes;
	s->overflowed = of.token;
	s->joined = version(of.joined);
	s->newest = version(of.newest);
	s->refused = version(weir__node_head_is_old(n) ? n->newest.version : n->refused);
	s->pending_bytes = of.ring_bytes;
	s->batches_read = n->batches;
	s->foreign = of.foreign;
	s->given_up = of.given_up;
	s->published = of.generations + r->published;
	s->failures = n->failures;
	s->node = r->id;
	weir__redis_progress(r->redis, &s->image_here, &s->image_bytes);
}

/* Publish the stats for weir_replica_measure(). */
static void publish_stats(struct weir_replica *r, struct weir_replica_stats *s,
                          const struct weir_failure *f)
{
	memcpy(s->error, f->why, sizeof s->error);
	pthread_mutex_lock(&r->lock);
	r->stats = *s;
	pthread_mutex_unlock(&r->lock);
}

void weir__service_note(struct weir_replica *r, bool swapped)
{
	struct weir_failure f;
	const struct weir_node *n = &r->node;
	struct weir_replica_stats s = r->stats; /* only this thread writes it */
	fill(r, &s);
	pthread_mutex_lock(&r->lock);
	/* Do not use answered_at, since reads may fail while heartbeats succeed. */
	r->synced_ms = n->synced_at;
	set_complete(r, &s, n->now);
	r->complete_ms = s.complete ? r->synced_ms : r->complete_ms;
	pthread_mutex_unlock(&r->lock);
	weir__failure_save(&f, current_failure(r, &s));
	publish_stats(r, &s, &f);
	if (r->runs)
		tell(r, &f, swapped);
	report(r, &s);
}

void weir__service_waiting(void *replica)
{
	struct weir_failure f;
	struct weir_replica *r = replica;
	const uint64_t now = weir__service_now();
	if (!r->runs || now - r->complete_ms < WEIR_SERVICE_SLOW_MS)
		return;
	struct weir_replica_stats s = r->stats;
	weir__redis_progress(r->redis, &s.image_here, &s.image_bytes);
	set_complete(r, &s, now);
	weir__failure_save(&f, current_failure(r, &s));
	publish_stats(r, &s, &f);
	tell(r, &f, false);
}

int weir_replica_measure(const struct weir_replica *r, struct weir_replica_stats *out)
{
	struct weir_replica *own = (struct weir_replica *)(uintptr_t)r; /* not const, to lock it */
	if (!r || !out)
		return weir_fail(-EINVAL, "the %s is NULL", r ? "result" : "replica");
	if (out->struct_size != sizeof *out)
		return weir_fail(-EINVAL, "struct_size is %zu, this library's is %zu: start from "
		                 "WEIR_REPLICA_STATS_INIT", out->struct_size, sizeof *out);
	pthread_mutex_lock(&own->lock);
	*out = r->stats;
	set_complete(r, out, weir__service_now());
	pthread_mutex_unlock(&own->lock);
	return 0;
}

/* These metrics have the names that weir replicate status gives them, so the same alerts apply. */
#define GAUGE(name, help, value) { "weir_replica_node_" name, help, (double)(value), 0, 0 }
#define COUNTER(name, help, value) { "weir_replica_node_" name, help, (double)(value), 1, 0 }

int weir_replica_metric(const void *replica, uint32_t i, struct weir_metric *out)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	if (weir_replica_measure(replica, &s) != 0)
		return 0;
	const struct weir_metric of[] = {
		GAUGE("state", "0 offline, 1 catching up, 2 following, 3 publishing.", s.state),
		GAUGE("complete", "Whether it has all that it knows of.", s.complete),
		GAUGE("lacking_seconds", "For how long it has not.", (double)s.lacking_ms / 1000),
		GAUGE("owes", "Whether it holds what redis lacks.", s.owes),
		GAUGE("era", "Of the generation that the node has.", s.joined.era),
		GAUGE("generation", "Its number within the era.", s.joined.number),
		GAUGE("newest_era", "Of the generation that redis was seen to have.", s.newest.era),
		GAUGE("newest_generation", "Its number within the era.", s.newest.number),
		GAUGE("refused_era", "Of a generation that will not do here.", s.refused.era),
		GAUGE("refused_generation", "Its number within the era.", s.refused.number),
		GAUGE("pending_bytes", "Of inserts that no generation covers.", s.pending_bytes),
		COUNTER("batches_total", "Batches of all nodes that it has applied.",
		        s.batches_read),
		COUNTER("foreign_total", "Entries by another seed or key.", s.foreign),
		COUNTER("given_up_total", "How often it went on without what no node has.",
		        s.given_up),
		COUNTER("published_total", "Generations, by this node.", s.published),
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
