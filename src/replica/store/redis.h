/* SPDX-License-Identifier: MIT
 * A set in redis: node/store.h over two connections. Redis 7.0 or later (EXPIRE GT, SET NX GET).
 * One thread calls everything here, and the first connection; a thread of the store's own, one at a
 * time, fetches or uploads an image by the second. */
#ifndef WEIR_REPLICA_REDIS_H
#define WEIR_REPLICA_REDIS_H

#include "../format/keys.h"
#include "../node/store.h"

enum { WEIR_SIGNATURE_ROOM = 256 }; /* for one line, with its NUL byte */

struct redisReply; /* hiredis */
struct weir_redis;

struct weir_redis_options {
	const char *set;
	/* Send a command and wait for its answer, as weir__link_call(). An error that redis answers
	 * is an answer. Return: 0, or a negative errno: nobody knows whether it was done. */
	int (*call)(void *link, const struct iovec *args, size_t n, struct redisReply **reply);
	void *link, *image_link;
	/* Any thread: calls on it end soon, also later ones, until rest(). NULL: they do anyway. */
	void (*interrupt)(void *image_link);
	void (*rest)(void *image_link);
	/* May a manifest be used? As weir__trust_take(). NULL: every one. */
	int (*trusted)(void *trust, const struct weir_manifest *m, const char *text, size_t len,
	               const char *signature, size_t signature_len);
	void *trust;
	/* As weir__signer_sign(). NULL: generations are not signed. */
	int (*sign)(void *signer, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM]);
	void *signer;
	void (*wake)(void *context);  /* by the thread of an image, when it ends; may be NULL */
	void *wake_context;
	uint64_t expires_ms;          /* after it was signed; 0: never */
	uint64_t max_image_bytes;     /* packed and unpacked */
	uint64_t reserve;             /* bytes that batches leave free, if the newest image has
	                                 less */
	uint32_t keep;                /* generations, the newest too; at least 1 */
	uint32_t grace_ms;            /* weir_head.replicas counts those since then */
	int zstd_level;               /* 0: plain */
	const void *secret;           /* of keyed filters */
};

/* Nothing is sent. What the options point to stays the caller's, until weir__redis_close().
 * Return: 0; -EINVAL; -ENOMEM. */
int weir__redis_open(struct weir_redis **out, const struct weir_redis_options *options);
/* NULL: nothing. Stops what is on its way and joins its thread. */
void weir__redis_close(struct weir_redis *r);
const struct weir_store *weir__redis_store(struct weir_redis *r);
/* The set has grown: another reserve than that of the options. */
void weir__redis_reserve(struct weir_redis *r, uint64_t bytes);
/* How much of the image that is being fetched is here. @all: 0: none is. */
void weir__redis_progress(const struct weir_redis *r, uint64_t *here, uint64_t *all);

/* ---- what is seen of a set. A callback's answer that is not 0 ends a call and is returned ---- */

/* Each generation that is kept, in no order. What is none is passed by. Nobody has checked the
 * signature: that is the caller's. */
typedef int weir_kept_fn(void *context, const struct weir_manifest *m, const char *text, size_t len,
                         const char *signature, size_t signature_len);
int weir__redis_kept(struct weir_redis *r, weir_kept_fn *kept, void *context);

/* Each node's newest report, and the server's time of it. */
typedef int weir_report_fn(void *context, uint64_t node, uint64_t ms, const char *report,
                           size_t len);
int weir__redis_reports(struct weir_redis *r, weir_report_fn *report, void *context);
/* Remove a node's report, since it ends. */
int weir__redis_leave(struct weir_redis *r, uint64_t node);

/* How many chunks of an image are not there. */
int weir__redis_absent(struct weir_redis *r, const struct weir_manifest *m, uint64_t *absent);

struct weir_redis_status {
	struct weir_head head;      /* mark 0: there is none */
	uint64_t entries;           /* of the log */
	uint64_t kept, nodes;       /* how many */
	uint64_t lease;             /* the node that has it; 0: none */
	uint64_t used, max_memory;  /* bytes; 0: no limit */
	char policy[24];            /* maxmemory-policy: all but noeviction may lose the set */
	size_t len, signature_len;  /* of the newest manifest, which nobody has checked; 0: none */
	char text[WEIR_MANIFEST_TEXT], signature[WEIR_SIGNATURE_ROOM];
};
/* The head is of one moment; the other parts are read after it. */
int weir__redis_status(struct weir_redis *r, struct weir_redis_status *out);

/* Do @replicas have everything that was written on the first connection? Waits up to @ms.
 * Return: 0; -EAGAIN: fewer have. */
int weir__redis_wait(struct weir_redis *r, uint32_t replicas, uint32_t ms);

/* Remove everything of the set. @n: receives how many keys, but for the log. */
int weir__redis_unlink(struct weir_redis *r, uint64_t *n);

#endif
