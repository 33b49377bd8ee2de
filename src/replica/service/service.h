/* SPDX-License-Identifier: MIT
 * A replica: a node with its connections and its thread, as include/weir/replica.h promises.
 *
 * The thread runs rounds of the node (thread.c). It owns all fields of a replica except those that
 * the lock guards. Before the thread starts, weir_replica_open() owns the fields. Other threads
 * insert into the node, and queue requests under the lock.
 *
 * [CONFIRMED]  A flush is confirmed once the node has acknowledged it. If the options ask for
 *     replicas, a WAIT must have succeeded too. That WAIT follows a write on the same connection in
 *     the same epoch, and the epoch is still the same after its answer.
 * [REQUEST]  A request runs on the thread between two rounds. If it returns -EINPROGRESS, it runs
 *     again after the next round.
 * [SIGNED]  A node publishes nothing unsigned if it trusts keys, or if the last manifest that it
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
	WEIR_SERVICE_REPORT_MS = 5000, /* interval of reports to other nodes */
	WEIR_SERVICE_MASTER_MS = 5000, /* interval of requests to a Sentinel */
	WEIR_SERVICE_WATCH_MS = 15000, /* interval of checks of memory, expiry and clock */
	WEIR_SERVICE_LACKS_MS = 10000, /* how long a request waits for inserts, a head or redis */
	WEIR_SERVICE_LEASE_MS = 15000, /* how long a request waits for the lease */
	WEIR_SERVICE_SLOW_MS = 30000,  /* a node that lacks something this long reports it */
	WEIR_SERVICE_REPORT = 300,     /* bytes of a report */
	WEIR_SERVICE_PEER = 320,          /* bytes of an address */
};

/* An error and its sentence, saved from later errors. */
struct weir_failure {
	int err; /* 0: no error */
	char why[WEIR_SENTENCE_BYTES];
};

/* Save the result of the last call with its error sentence. Return: @err. */
static inline int weir__failure_save(struct weir_failure *f, int err)
{
	f->err = err;
	snprintf(f->why, sizeof f->why, "%s", err ? weir_error_detail() : "");
	return err;
}
/* Return: the saved errno, with its sentence set again; or 0. */
static inline int weir__failure_return(const struct weir_failure *f)
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

/* A connection for the store. Image commands get two tries: the first try may fail, since the main
 * link may have moved to another server. To repeat an image command does no harm. */
struct weir_store_link {
	struct weir_link *link;
	unsigned tries;
};

struct weir_replica {
	struct weir_replica_options o; /* with defaults; its texts and secret are copies */
	uint64_t id;
	struct weir_link *link, *image_link;
	struct weir_store_link line, image_line; /* store links of link and image_link */
	struct weir_redis *redis;
	const struct weir_store *store;
	struct weir_signer *signer;    /* NULL: this node cannot sign */
	struct weir_trust *trust;      /* NULL: this node accepts any generation */
	struct weir_handle *handle;
	struct weir_node node;
	bool own_handle, has_node, has_lock, has_thread;
	pthread_t thread;
	int wake;                      /* an eventfd that wakes the thread */

	/* `lock` guards the fields up to complete_ms. */
	pthread_mutex_t lock;
	pthread_cond_t done;           /* signals changes of the fields below */
	bool stopping, stopped;
	uint64_t waiting;              /* number of calls that wait for a flush */
	uint64_t confirmed;            /* flushes up to this number are confirmed */
	uint64_t refused;              /* flushes up to this number that are not confirmed are
	                                  refused because of `refusal` */
	struct weir_failure refusal;
	struct weir_failure too_few;   /* error if the last WAIT found too few replicas */
	struct weir_request *requests, **requests_end;
	struct weir_replica_stats stats;
	uint64_t synced_ms,            /* time of the last heartbeat with successful reads */
	         complete_ms;          /* the value of synced_ms at the last check that found the
	                                  node complete (weir_replica_stats.complete) */

	/* Owned by the thread. */
	uint64_t master_at, watch_at, report_at, take_at, link_number;
	char peer[WEIR_SERVICE_PEER];     /* the server's address at the last watch() */
	uint64_t moved_ms;             /* time when `peer` last changed; 0: never */
	uint32_t moved_replicas;       /* weir_head.replicas when `peer` last changed */
	bool is_signed;                /* the manifest accepted last is signed ([SIGNED]) */
	struct weir_failure distrust;  /* why the last manifest was not trusted */
	struct weir_failure clock;     /* error if the clock forbids signing */
	struct weir_failure watched;   /* problem found by the last watch() */
	struct weir_failure evicts;    /* error if redis may evict the set's keys */
	struct weir_failure saving;    /* error of the last weir_replica_save() */
	uint64_t published;            /* number of records, rollbacks and re-signed generations;
	                                  node.generations counts the other generations */
	uint64_t foreign_seen,         /* the value of node.foreign at the last check */
	         foreign_ms;           /* time of the last check that found a new value */
	enum weir_node_state reported;
	char text[WEIR_SERVICE_REPORT + 1]; /* the next report */
	bool runs;                    /* the thread has started. Before that, no error is
	                                 reported, since only the thread may call report() */
	char notice[WEIR_SENTENCE_BYTES];   /* first message to the application */
	char last_told[WEIR_SENTENCE_BYTES];     /* last reported error; "": none */
};

/* ---- base.c ---- */

uint64_t weir__service_now(void); /* milliseconds, monotonic */
struct weir_now weir__service_clocks(void);
void weir__service_wake(void *replica);
/* Sleep until @until_ms, or until weir__service_wake(). */
void weir__service_sleep(struct weir_replica *r, uint64_t until_ms);
/* Set whether the node may publish ([SIGNED]). Call this when the signer's clock or the newest
 * signature may have changed. */
void weir__service_may_publish(struct weir_replica *r);
/* Set the memory that redis must keep for an image, and the size of the log at which the node
 * publishes a generation. @bytes: the size of the set's filter. */
void weir__service_size(struct weir_replica *r, uint64_t bytes);
/* Send the application a message. */
void weir__service_tell(const struct weir_replica *r, int result, const char *sentence);

/* ---- options.c ---- */

int weir__service_check(const struct weir_replica_options *o);
/* Copy the options, and open connections, store, signer and trust. */
int weir__service_make(struct weir_replica *r, const struct weir_replica_options *o);
void weir__service_free(struct weir_replica *r);

/* ---- thread.c ---- */

int weir__service_start(struct weir_replica *r);
/* Stop the thread and join it. If the thread has not stopped 1 s after @patience_ms, interrupt its
 * connection. */
void weir__service_stop(struct weir_replica *r, uint32_t patience_ms);

/* ---- confirm.c ---- */

/* Confirm acknowledged flushes ([CONFIRMED]), or refuse flushes that cannot be confirmed. */
void weir__service_confirm(struct weir_replica *r);

/* ---- requests.c ---- */

/* Run all requests ([REQUEST]). Call weir__service_note() before weir__service_answer(): then the
 * callers see the effect in weir_replica_measure(). */
struct weir_request *weir__service_requests(struct weir_replica *r);
void weir__service_answer(struct weir_replica *r, struct weir_request *all);

/* ---- stats.c ---- */

/* After a round: update the stats, and report to the application and the other nodes. @swapped: a
 * generation has replaced the set. */
void weir__service_note(struct weir_replica *r, bool swapped);
/* While redis takes long to answer: update the stats and report to the application. The report for
 * the other nodes waits for that answer. */
void weir__service_waiting(void *replica);

#endif
