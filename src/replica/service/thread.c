/* SPDX-License-Identifier: MIT
 * The thread: rounds, and the waiting between them. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/error.h>
#include "service.h"

void weir__service_wake(struct weir_replica *r)
{
	uint64_t one = 1;
	while (write(r->wake, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void slept(struct weir_replica *r)
{
	uint64_t n;
	while (read(r->wake, &n, sizeof n) < 0 && errno == EINTR)
		;
}

/* The channel tells of generations sooner than the next look would. It is a hint: nothing depends
 * on it, so it is tried now and then, and only where the connection itself works. */
static void listen(struct weir_replica *r)
{
	uint64_t now = weir__now_ms();
	if (weir__wire_fd(r->ear) >= 0 || !weir__is_due(&r->hear, now))
		return;
	weir__due_after(&r->hear, now, WEIR_SERVICE_HEAR_MS);
	(void)weir__wire_subscribe(r->ear, r->redis.keys.hint);
}

/* Until somebody wakes it, or it is time to look again. After a failure, whatever others want has
 * to wait: else each of them would try the server that just failed. */
static void wait(struct weir_replica *r, int err)
{
	struct pollfd fds[] = { { .fd = r->wake, .events = POLLIN },
		                { .fd = weir__wire_fd(r->ear), .events = POLLIN } };
	unsigned ms = r->poll_ms + (unsigned)weir__jitter(r->poll_ms / 2);
	if (err) {
		ms = weir__wire_backoff(r->failures);
		if (weir__wire_fd(r->wire) >= 0 && ms > 1000)
			ms = 1000; /* it is there: only something is wrong with it */
	}
	bool quiet = err && weir__wire_fd(r->wire) < 0;
	(void)weir__wire_wait(r->wire, fds, quiet ? 0 : 2, (int)ms);
	slept(r);
	if (fds[1].revents)
		(void)weir__wire_heard(r->ear); /* whatever it was: it is time to look */
}

static bool stopping(struct weir_replica *r)
{
	pthread_mutex_lock(&r->lock);
	bool s = r->stopping;
	pthread_mutex_unlock(&r->lock);
	return s;
}

/* What others remember of a node that was away for so long may have been forgotten. */
static void take_another_name(struct weir_replica *r)
{
	uint64_t now = weir__now_ms();
	if (r->met_ms && now - r->met_ms > WEIR_SERVICE_CUT_MS)
		(void)weir__node_rename(&r->node);
	r->met_ms = now;
	/* here, or by whoever asked for too much: the report and the lease are the old one's */
	char name[WEIR_REPLICA_NODE + 1];
	snprintf(name, sizeof name, "%016llx", (unsigned long long)r->node.id);
	if (strcmp(name, r->redis.owner) == 0)
		return;
	(void)weir__redis_leave(&r->redis);
	memcpy(r->redis.owner, name, sizeof name);
}

/* What is due includes a report, so how the round ended is noted before. */
static int round_and_due(struct weir_replica *r)
{
	char why[WEIR_SERVICE_SENTENCE];
	int err = weir__service_round(r);
	bool there = weir__wire_fd(r->wire) >= 0;
	weir__service_note(r, err);
	snprintf(why, sizeof why, "%s", err ? weir_error_detail() : "");
	if (there)
		take_another_name(r);
	weir__service_answer(r, there && r->node.epoch[0] ? 0 : err ? err : -EAGAIN);
	int due = there && r->node.epoch[0] ? weir__service_due(r) : 0;
	if (err)
		return weir_fail(err, "%s", why); /* not what is due said since */
	return due == -ESTALE ? 0 : due;
}

/* A generation that came meanwhile is looked at at once: once, since the number beside a manifest
 * may be another than that within it. */
static bool hurries(struct weir_replica *r)
{
	bool news = !weir__redis_is_seen(&r->redis, &r->node.seen);
	r->hurried = news && !r->hurried;
	return r->hurried;
}

void *weir__service_run(void *arg)
{
	struct weir_replica *r = arg;
	weir__service_tell_notice(r);
	while (!stopping(r)) {
		int err = round_and_due(r);
		r->failures = err ? r->failures + 1 : 0;
		if (weir__wire_fd(r->wire) >= 0 && r->failures > WEIR_SERVICE_TRIES)
			r->failures = WEIR_SERVICE_TRIES;
		r->all_failures += err != 0;
		if (stopping(r))
			break;
		weir__service_note(r, err);
		weir__service_tell(r, err);
		weir__service_tell_news(r);
		if (!err)
			listen(r);
		if (err || !hurries(r))
			wait(r, err);
	}
	weir__redis_image_stop(&r->redis);
	if (weir__wire_fd(r->wire) >= 0)
		(void)weir__redis_leave(&r->redis); /* a courtesy */
	(void)weir_fail(-ECANCELED, "set %s: the node is closed", r->node.set);
	weir__service_answer(r, -ECANCELED);
	return NULL;
}
