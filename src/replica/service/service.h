/* SPDX-License-Identifier: MIT
 * A replica: a node with its connections and its thread. It does what include/weir/replica.h
 * promises.
 *
 * The thread runs rounds of the node (thread.c). It owns everything in a replica but the locked
 * part; before it starts, weir_replica_open() does. Other threads insert into the node, which
 * allows that, and leave requests under the lock.
 *
 * S1 (confirmation) A flush is confirmed once the node has acknowledged it. If the options ask for
 *     replicas, a WAIT must have succeeded too. That WAIT follows a write on the same connection in
 *     the same epoch, and the epoch is still the same after its answer.
 * S2 (request) A request runs on the thread between two rounds. One that answers -EINPROGRESS runs
 *     again after the next round.
 * S3 (signed) A node publishes nothing unsigned if it trusts keys, or if the last manifest that it
 *     accepted is signed. */
#ifndef WEIR_REPLICA_SERVICE_H
#define WEIR_REPLICA_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <weir/error.h>
#include <weir/replica.h>
#include "../link/link.h"
#include "../node/node.h"
#include "../store/redis.h"
#include "../trust/trust.h"

enum {
	WEIR_SERVICE_REPORT_MS = 5000, /* between two reports for the other nodes */
	WEIR_SERVICE_MASTER_MS = 5000, /* between two questions to a Sentinel */
	WEIR_SERVICE_WATCH_MS = 15000, /* between two looks at memory, expiry and the clock */
	WEIR_SERVICE_LACKS_MS = 10000, /* a request waits this long for what the node lacks */
	WEIR_SERVICE_LEASE_MS = 15000, /* or for another node's lease */
	WEIR_SERVICE_SLOW_MS = 30000,  /* until lacking something is an error */
	WEIR_SERVICE_REPORT = 300,     /* bytes of a report */
	WEIR_SERVICE_PEER = 320,          /* bytes of an address */
};

/* A failure and its sentence, which later failures do not overwrite. */
struct weir_failure {
	int err; /* 0: nothing */
	char why[WEIR_SENTENCE_BYTES];
};

/* @err: the answer of the last call. Return: @err. */
static inline int weir__failure_take(struct weir_failure *f, int err)
{
	f->err = err;
	snprintf(f->why, sizeof f->why, "%s", err ? weir_error_detail() : "");
	return err;
}
/* Return: its errno with its sentence, or 0. */
static inline int weir__failure_answer(const struct weir_failure *f)
{
	return f->err ? weir_fail(f->err, "%s", f->why) : 0;
}

typedef int weir_request_fn(struct weir_replica *r, void *arg);
struct weir_request {
	struct weir_request *next;
	weir_request_fn *run;
	void *arg;
	bool done;
	struct weir_failure result;
};

/* A connection, for the store. Commands about images are tried twice: this connection may lead to a
 * server that the first one has left, and repeating such a command does no harm. */
struct weir_line {
	struct weir_link *link;
	unsigned tries;
};

struct weir_replica {
	struct weir_replica_options o; /* with defaults; its texts and secret are copies */
	uint64_t id;
	struct weir_link *link, *image_link;
	struct weir_line line, image_line; /* of these two links */
	struct weir_redis *redis;
	const struct weir_store *store;
	struct weir_signer *signer;    /* NULL: this node cannot sign */
	struct weir_trust *trust;      /* NULL: this node takes any generation */
	struct weir_handle *handle;
	struct weir_node node;
	bool own_handle, has_node, has_lock, has_thread;
	pthread_t thread;
	int wake;                      /* eventfd */

	/* locked */
	pthread_mutex_t lock;
	pthread_cond_t done;           /* signals changes of all that follows */
	bool stopping, stopped;
	uint64_t waiting;              /* calls that wait for a flush */
	uint64_t confirmed;            /* flushes up to this one are confirmed */
	uint64_t refused;              /* flushes up to this one are refused, for this reason: */
	struct weir_failure refusal;
	struct weir_failure too_few;   /* the last WAIT found too few replicas */
	struct weir_request *requests, **requests_end;
	struct weir_replica_stats stats;
	uint64_t met_ms, whole_ms;     /* time of the last heartbeat after which all went well; last
	                                  time when the node was complete */

	/* the thread's own */
	uint64_t master_at, watch_at, report_at, take_at, link_number;
	char peer[WEIR_SERVICE_PEER];     /* the address when watch() last ran */
	uint64_t moved_ms;             /* when it last changed; 0: never */
	uint32_t moved_replicas;       /* how many the head counted then */
	bool is_signed;                /* the last manifest accepted is signed (S3) */
	struct weir_failure distrust;  /* why the last manifest was not trusted */
	struct weir_failure clock;     /* this node's clock forbids it to sign */
	struct weir_failure watched;   /* what the last watch() found wrong */
	struct weir_failure evicts;    /* redis may evict the set's keys */
	struct weir_failure saving;    /* of the last weir_replica_save() */
	uint64_t published;            /* generations by this service; the node counts its own */
	uint64_t passed_by, passed_ms; /* foreign entries, and when the last one was seen */
	enum weir_node_state reported;
	char text[WEIR_SERVICE_REPORT + 1]; /* the next report */
	bool tells;                    /* the thread runs: it alone calls report() */
	char notice[WEIR_SENTENCE_BYTES];   /* what the thread tells the application first */
	char told[WEIR_SENTENCE_BYTES];     /* the last failure told; "": none */
};

/* ---- base.c ---- */

uint64_t weir__service_now(void); /* milliseconds, monotonic */
struct weir_now weir__service_clocks(void);
void weir__service_wake(void *replica);
/* Sleep until then, or until woken. */
void weir__service_sleep(struct weir_replica *r, uint64_t until_ms);
/* S3. Call this when the signer's clock or the newest signature may have changed. */
void weir__service_may_publish(struct weir_replica *r);
/* Set an image's room in redis, and how much of the log is worth a generation. */
void weir__service_size(struct weir_replica *r, uint64_t bytes);
/* Tell the application. */
void weir__service_say(const struct weir_replica *r, int result, const char *sentence);

/* ---- options.c ---- */

int weir__service_check(const struct weir_replica_options *o);
/* Copy the options, and make the connections, store, signer and trust that they ask for. */
int weir__service_make(struct weir_replica *r, const struct weir_replica_options *o);
void weir__service_unmake(struct weir_replica *r);

/* ---- thread.c ---- */

int weir__service_start(struct weir_replica *r);
/* Stop the thread and join it. @patience_ms: after that, and a second, interrupt its connection. */
void weir__service_stop(struct weir_replica *r, uint32_t patience_ms);

/* ---- confirm.c ---- */

/* S1. Confirm what the node has acknowledged, or refuse what cannot be confirmed. */
void weir__service_confirm(struct weir_replica *r);

/* ---- requests.c ---- */

/* S2. Run all requests. Call weir__service_note() before answering them: then their callers see in
 * weir_replica_measure() what they did. */
struct weir_request *weir__service_requests(struct weir_replica *r);
void weir__service_answer(struct weir_replica *r, struct weir_request *all);

/* ---- stats.c ---- */

/* After a round: update what measure() gives, and tell the application and the other nodes.
 * @swapped: a generation took the place of the set. */
void weir__service_note(struct weir_replica *r, bool swapped);
/* Redis takes long to answer the thread: update what measure() gives, and tell the application. The
 * other nodes hear nothing, since the report must wait for that answer. */
void weir__service_waiting(void *replica);

#endif
