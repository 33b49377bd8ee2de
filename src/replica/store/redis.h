/* SPDX-License-Identifier: MIT
 * A set in redis: it implements node/store.h over two connections. It needs redis 7.0 or later
 * (EXPIRE GT, SET NX GET). One thread calls everything here and uses the first connection. A thread
 * of the store's own, one at a time, fetches or uploads an image by the second. */
#ifndef WEIR_REPLICA_REDIS_H
#define WEIR_REPLICA_REDIS_H

#include "../format/keys.h"
#include "../node/store.h"

enum { WEIR_SIGNATURE_ROOM = 256 }; /* for one line, with its NUL byte */

struct redisReply; /* hiredis */
struct weir_redis;

struct weir_redis_options {
	const char *set;
	/* Send a command and wait for its answer, as weir__link_call(). An error reply of redis is
	 * an answer too. Return: 0; a negative errno: redis may have run the command or not. */
	int (*call)(void *link, const struct iovec *args, size_t n, struct redisReply **reply);
	void *link, *image_link;
	/* Any thread: make all calls on the link end soon, later ones too, until rest(). NULL: they
	 * end soon anyway. */
	void (*interrupt)(void *image_link);
	void (*rest)(void *image_link);
	/* May a manifest be used? As weir__trust_take(). NULL: all may. */
	int (*trusted)(void *trust, const struct weir_manifest *m, const char *text, size_t len,
	               const char *signature, size_t signature_len);
	void *trust;
	/* As weir__signer_sign(). NULL: generations are not signed. */
	int (*sign)(void *signer, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM]);
	void *signer;
	void (*wake)(void *context);  /* called by an image's thread when it ends; or NULL */
	void *wake_context;
	uint64_t expires_ms;          /* a generation's lifetime after signing; 0: no limit */
	uint64_t max_image_bytes;     /* limit, packed and unpacked */
	uint64_t reserve;             /* bytes that batches leave free, or the newest image's size
	                                 if that is more */
	uint32_t keep;                /* generations that stay, the newest too; at least 1 */
	uint32_t grace_ms;            /* how long weir_head.replicas counts a replica */
	int zstd_level;               /* 0: no compression */
	const void *secret;           /* of keyed filters */
};

/* Sends nothing. The caller keeps all that the options point to until weir__redis_close().
 * Return: 0; -EINVAL; -ENOMEM. */
int weir__redis_open(struct weir_redis **out, const struct weir_redis_options *options);
/* Stops an image in flight and joins its thread. NULL: a no-op. */
void weir__redis_close(struct weir_redis *r);
const struct weir_store *weir__redis_store(struct weir_redis *r);
/* Replace the reserve of the options, since the set has grown. */
void weir__redis_reserve(struct weir_redis *r, uint64_t bytes);
/* How many bytes of the image that is being fetched are here. @all: its size; 0: none is. */
void weir__redis_progress(const struct weir_redis *r, uint64_t *here, uint64_t *all);

/* ---- looking at a set. A callback's answer other than 0 ends the call, which returns it ---- */

/* Calls @kept for each kept generation, in no order, and skips values that are not one. The
 * callback must check the signature. */
typedef int weir_kept_fn(void *context, const struct weir_manifest *m, const char *text, size_t len,
                         const char *signature, size_t signature_len);
int weir__redis_kept(struct weir_redis *r, weir_kept_fn *kept, void *context);

/* Calls @report with each node's newest report, and the server's time of it. */
typedef int weir_report_fn(void *context, uint64_t node, uint64_t ms, const char *report,
                           size_t len);
int weir__redis_reports(struct weir_redis *r, weir_report_fn *report, void *context);
/* Remove a node's report, since it ends. */
int weir__redis_leave(struct weir_redis *r, uint64_t node);

/* Count the chunks of an image that redis lacks. Above 1,000 the count is an upper bound. */
int weir__redis_absent(struct weir_redis *r, const struct weir_manifest *m, uint64_t *absent);

struct weir_redis_status {
	struct weir_head head;      /* mark 0: redis has none */
	uint64_t entries;           /* of the log */
	uint64_t kept, nodes;       /* how many */
	uint64_t lease;             /* the node that holds it; 0: none */
	uint64_t used, max_memory;  /* bytes; 0: no limit */
	char policy[24];            /* maxmemory-policy: all but noeviction may lose the set */
	size_t len, signature_len;  /* of the newest manifest, which is not checked; 0: none */
	char text[WEIR_MANIFEST_TEXT], signature[WEIR_SIGNATURE_ROOM];
};
/* The head is of one moment; the other parts are read later. */
int weir__redis_status(struct weir_redis *r, struct weir_redis_status *out);

/* Wait up to @ms until @replicas of them have all that the first connection has written.
 * Return: 0; -EAGAIN fewer have it. */
int weir__redis_wait(struct weir_redis *r, uint32_t replicas, uint32_t ms);

/* Remove everything of the set. @n: receives how many keys, besides the log. */
int weir__redis_unlink(struct weir_redis *r, uint64_t *n);

#endif
