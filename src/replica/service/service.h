/* SPDX-License-Identifier: MIT
 * A node with its connection and its thread: what include/weir/replica.h promises.
 *
 * The thread runs rounds (round.c): it looks, sends, reads, answers. All of the node but its
 * pending lists is the thread's own; other threads leave tickets and requests under the lock, and
 * wake it.
 *
 * S1  A ticket is confirmed when a round that began after it was drawn has sent everything, which
 *     includes all that was pending then; if replicas are to be waited for, when WAIT has answered
 *     after that, and the epoch was the same after WAIT: another server's WAIT says nothing of what
 *     the old one was sent.
 * S2  A request runs on the thread between two rounds, alone. One that needs an image that is on
 *     its way answers -EINPROGRESS, and runs again after the next round, unless that image came
 *     before and could not be joined: it would wait for ever.
 * S3  An image is fetched, checked and loaded on another thread (redis/coming.h), which touches
 *     nothing of the node: the thread goes on with its rounds, and joins the image when it is
 *     here. */
#ifndef WEIR_REPLICA_SERVICE_H
#define WEIR_REPLICA_SERVICE_H

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>
#include <weir/replica.h>
#include "../clock.h"
#include "../node.h"
#include "../redis/coming.h"

/* ---- what is due by the clock ---- */

struct weir_due {
	uint64_t at; /* 0: at once */
};

static inline bool weir__is_due(const struct weir_due *d, uint64_t now)
{
	return now >= d->at;
}

/* Some milliseconds more, up to @most: nodes that begin together do not stay together. */
static inline uint64_t weir__jitter(uint64_t most)
{
	static _Thread_local unsigned seed;
	if (!seed)
		seed = (unsigned)(uintptr_t)&seed ^ (unsigned)weir__now_ms();
	return (uint64_t)rand_r(&seed) % (most + 1);
}

static inline void weir__due_now(struct weir_due *d)
{
	d->at = 0;
}

/* Again after @ms, up to a quarter more. */
static inline void weir__due_after(struct weir_due *d, uint64_t now, uint64_t ms)
{
	d->at = now + ms + weir__jitter(ms / 4);
}

/* ---- the service ---- */

enum {
	WEIR_SERVICE_IDLE_MS = 5000,   /* between words of a node that has nothing to send, and
	                                  between reports */
	WEIR_SERVICE_TURNS = 4,        /* of those: then a node that said nothing has gone */
	WEIR_SERVICE_RETRY_MS = 30000, /* after a generation that could not be published */
	WEIR_SERVICE_TRIES = 6,        /* that count while the connection stands: a second */
	WEIR_SERVICE_GONE_MS = 7 * 24 * 3600 * 1000, /* then a node is forgotten, */
	WEIR_SERVICE_FORGET_MS = 3600 * 1000,        /* by one that has been there for so long */
	WEIR_SERVICE_CUT_MS = 24 * 3600 * 1000,      /* then it takes another name */
	WEIR_SERVICE_HEAR_MS = 30000, /* between tries to hear of generations */
	WEIR_SERVICE_PASSED_MS = 3600 * 1000, /* for which entries are said that were passed by */
	WEIR_SERVICE_REFUSED_MS = 3600 * 1000, /* then a refused image is fetched again */
	WEIR_SERVICE_GROWS_MS = 200,  /* between looks at the size of a set that grows */
	WEIR_SERVICE_SENTENCE = WEIR_SENTENCE_BYTES,
	WEIR_SERVICE_DUE = 3, /* kinds of what is due but for a generation */
};

/* What failed, and its sentence, whatever has failed since. */
struct weir_failure {
	int err; /* 0: nothing */
	char why[WEIR_SERVICE_SENTENCE];
};

/* @err: that of the call before, whose weir_error_detail() it has; 0: nothing failed. */
static inline void weir__failure_take(struct weir_failure *f, int err)
{
	f->err = err;
	snprintf(f->why, sizeof f->why, "%s", err ? weir_error_detail() : "");
}
/* Return: its number, with its sentence; or 0. */
static inline int weir__failure_answer(const struct weir_failure *f)
{
	return f->err ? weir_fail(f->err, "%s", f->why) : 0;
}

/* A request of another thread. */
struct weir_request {
	struct weir_request *next;
	int (*run)(struct weir_replica *r, void *arg);
	void *arg;
	bool local; /* it needs no server */
	bool done;
	int result;
	char sentence[WEIR_SERVICE_SENTENCE];
};

struct weir_replica {
	struct weir_handle *handle;
	bool own_handle, made_node, passing;
	uint64_t opened; /* the id at first */
	struct weir_wire *wire, *ear; /* ear: subscribed to the channel */
	struct weir_wire *image_wire; /* of the thread that fetches images, */
	struct weir_wire *read_wire;  /* and to replicas; NULL: none */
	struct weir_redis redis;
	struct weir_node node;
	struct weir_fetch_options http;
	pthread_t thread;
	int wake; /* eventfd */
	uint32_t poll_ms, idle_ms, confirm_replicas, confirm_ms, publish_ms;
	char *folder; /* of images */
	char *image_url, *image_ca_file;
	unsigned char *secret;
	void (*report)(void *context, int result, const char *sentence);
	void *context;

	_Atomic uint64_t not_replicated;

	pthread_mutex_t lock;
	pthread_cond_t done;             /* of what follows */
	bool stopping;
	uint64_t asked, confirmed;       /* tickets: drawn; confirmed up to */
	uint64_t failed;                 /* up to here: not confirmed, and why */
	int failure;
	struct weir_request *requests, **requests_end;
	struct weir_replica_stats stats;

	/* the thread's own */
	struct weir_due idle, status, publish, want, heal, hear, grows, refused;
	uint64_t epoch_ms;               /* when the epoch was met */
	bool owed;                       /* a generation, since it is another */
	uint64_t met_ms;                 /* of the last exchange that succeeded */
	uint64_t incomplete_ms;          /* since when; 0: it is not */
	uint64_t lacking_ms;             /* when it last lacked nothing, nor an image */
	uint64_t alone_ms;               /* when it last had nothing that others might lack */
	uint64_t passed_by, passed_ms;   /* foreign entries, and when the last of them was seen */
	bool hurried;                    /* the last round was not waited for */
	unsigned failures;               /* in a row */
	uint64_t all_failures;
	char last_epoch[WEIR_REPLICA_EPOCH + 1];
	int look_err;                    /* of the last look of a round that came to its end: 0, or
	                                    what kept the newest generation from being joined */
	char look_error[WEIR_SERVICE_SENTENCE];
	char notice[WEIR_SERVICE_SENTENCE]; /* to be told at first; "": nothing */
	char last_error[WEIR_SERVICE_SENTENCE];
	char publish_error[WEIR_SERVICE_SENTENCE]; /* of the last generation, if it could not be
	                                              published */
	struct weir_failure tried[WEIR_SERVICE_DUE]; /* how each ended last */
	char save_error[WEIR_SERVICE_SENTENCE]; /* of the last image, if it could not be saved */
	size_t wanted;                   /* whose turn it is to be asked for batches */
	bool ended;                      /* the thread */
};

/* Are these options? Return: 0, -EINVAL, -ENOTSUP. */
int weir__service_check(const struct weir_replica_options *o);
int weir__service_wire(struct weir_wire **wire, const struct weir_replica_options *o);
/* The connections by which images come. */
int weir__service_image_wires(struct weir_replica *r, const struct weir_replica_options *o);
int weir__service_redis(struct weir_replica *r, const struct weir_replica_options *o);
/* Make the handle from what redis has, or the set's first generation; and its node. */
int weir__service_begin(struct weir_replica *r, const struct weir_replica_options *o);
/* The node of the handle that there is. */
int weir__service_node(struct weir_replica *r, const struct weir_replica_options *o);
/* Leave as many bytes free in redis as a generation takes of a filter of so many. */
void weir__service_reserve(struct weir_replica *r, uint64_t filter);
/* Away with node and handle. */
void weir__service_unmake(struct weir_replica *r);
/* The thread. @arg: a replica. */
void *weir__service_run(void *arg);
void weir__service_wake(struct weir_replica *r);
/* One round: look, send, read, confirm. Return: 0, or what failed first. */
int weir__service_round(struct weir_replica *r);
/* What is due: words of an idle node, reports, a generation. Return: 0, or what failed now: of
 * several kinds that fail, whenever it is, the first. */
int weir__service_due(struct weir_replica *r);
/* Of what was due before, and failed when it was tried last. Return: NULL, nothing. */
static inline const struct weir_failure *weir__service_failing(const struct weir_replica *r)
{
	for (size_t i = 0; i < WEIR_SERVICE_DUE; i++)
		if (r->tried[i].err)
			return &r->tried[i];
	return NULL;
}
/* End the waiting for nodes that do not live (L8). Return: 0, or the server's. */
int weir__service_heal(struct weir_replica *r);
/* Run @run on the thread, and wait for it. Return: its answer, with its sentence. */
int weir__service_ask(struct weir_replica *r, int (*run)(struct weir_replica *r, void *arg),
                      void *arg);
/* Also when there is no connection. */
int weir__service_ask_local(struct weir_replica *r, int (*run)(struct weir_replica *r, void *arg),
                            void *arg);
/* Answer all requests with @err, or run them if it is 0. */
void weir__service_answer(struct weir_replica *r, int err);
/* Publish because somebody asks for it. */
int weir__service_publish(struct weir_replica *r, void *arg);
/* Publish because it is this node's duty, if no other has the lease. */
int weir__service_duty(struct weir_replica *r);
/* Copy how the node stands. Of what failed one sentence is seen: that of the round (@err, whose
 * weir_error_detail() it is), else of what was due, else of the last generation, else of the last
 * image to be saved. */
void weir__service_note(struct weir_replica *r, int err);
/* Tell the application what was noticed when the set was joined. */
void weir__service_tell_notice(struct weir_replica *r);
/* L8: that it waits no more. */
void weir__service_tell_healed(struct weir_replica *r);
/* Tell the application of a change: of @err, or that it is over. */
void weir__service_tell(struct weir_replica *r, int err);
/* Tell it what is no failure, but to be known. */
void weir__service_tell_news(struct weir_replica *r);

/* ---- parts of a view: reports of nodes ---- */

/* { node, report, ... }: the reports that can be read, by age.
 * Return: how many; @out has room for half of the elements. */
size_t weir__view_nodes(struct weir_replica_node *out, const redisReply *flat, uint64_t now_ms);

#endif
