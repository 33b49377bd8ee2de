/* SPDX-License-Identifier: MIT
 * Implements node/store.h in redis, over two connections. Needs redis 7.0 or later (EXPIRE GT, SET
 * NX GET). One thread makes all calls; it uses the first connection. A second thread, which the
 * store starts, fetches or uploads one image at a time over the second connection. */
#ifndef WEIR_REPLICA_REDIS_H
#define WEIR_REPLICA_REDIS_H

#include "../format/keys.h"
#include "../node/store.h"

enum { WEIR_SIGNATURE_ROOM = 256 }; /* bytes of one line, including its NUL byte */

struct redisReply; /* hiredis */
struct weir_redis;

struct weir_redis_options {
	const char *set;
	/* Send a command and wait for its answer, which may be an error reply (weir__link_call()).
	 * Return: 0; or a negative errno, after which redis may or may not have run the command. */
	int (*call)(void *link, const struct iovec *args, size_t n, struct redisReply **reply);
	void *link, *image_link;
	/* After interrupt(), the call in flight on @image_link fails soon, and so does each later
	 * call, until rest() is called. Any thread may call interrupt(). NULL: each call on
	 * @image_link ends soon without it. */
	void (*interrupt)(void *image_link);
	void (*rest)(void *image_link);
	/* Check that a manifest may be used, as weir__trust_accept(). NULL: no check. */
	int (*trusted)(void *trust, const struct weir_manifest *m, const char *text, size_t len,
	               const char *signature, size_t signature_len);
	void *trust;
	/* As weir__signer_sign(). NULL: generations are not signed. */
	int (*sign)(void *signer, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM]);
	void *signer;
	void (*wake)(void *context);  /* called when an image transfer ends; NULL: no-op */
	void *wake_context;
	uint64_t expires_ms;          /* lifetime of a generation after signing; 0: no limit */
	uint64_t max_image_bytes;     /* limit of an image's size, both packed and unpacked */
	uint64_t reserve;             /* bytes of redis's memory that batches leave free for an
	                                 image; at least an image's size */
	uint32_t keep;                /* generations that redis keeps; at least 1 */
	uint32_t grace_ms;            /* how long weir_head.replicas counts a lost replica */
	int zstd_level;               /* 0: no compression */
	const void *secret;           /* secret key of keyed filters */
};

/* Open a store without a command to redis. All that the options point to must stay valid until
 * weir__redis_close().
 * Return: 0; -EINVAL; -ENOMEM. */
int weir__redis_open(struct weir_redis **out, const struct weir_redis_options *options);
/* Stops an image transfer and joins its thread. NULL: a no-op. */
void weir__redis_close(struct weir_redis *r);
const struct weir_store *weir__redis_store(struct weir_redis *r);
/* Replace the reserve of the options when the set has grown. */
void weir__redis_reserve(struct weir_redis *r, uint64_t bytes);
/* @here: receives the number of bytes fetched of an image. @all: receives the image's size; 0: no
 * fetch is in flight. */
void weir__redis_progress(const struct weir_redis *r, uint64_t *here, uint64_t *all);

/* ---- reading a set's state; a callback's nonzero result ends the call, which returns it ---- */

/* Calls @kept for each kept generation, in no order, and skips values that are not a manifest. The
 * callback must check the signature. */
typedef int weir_kept_fn(void *context, const struct weir_manifest *m, const char *text, size_t len,
                         const char *signature, size_t signature_len);
int weir__redis_kept(struct weir_redis *r, weir_kept_fn *kept, void *context);

/* Calls @report with each node's newest report, and the server's time of that report. */
typedef int weir_report_fn(void *context, uint64_t node, uint64_t ms, const char *report,
                           size_t len);
int weir__redis_reports(struct weir_redis *r, weir_report_fn *report, void *context);
/* Remove the report of a node that ends. */
int weir__redis_remove_report(struct weir_redis *r, uint64_t node);

/* Count the missing chunks of an image. Above 1,000 the count is an upper bound. */
int weir__redis_missing_chunks(struct weir_redis *r, const struct weir_manifest *m,
                               uint64_t *missing);

struct weir_redis_status {
	struct weir_head head;      /* mark 0: redis has no head */
	uint64_t entries;           /* length of the log */
	uint64_t kept,              /* number of kept generations */
	         nodes;             /* number of reports of nodes */
	uint64_t lease;             /* the owner's node id; 0: none */
	uint64_t used, max_memory;  /* used: bytes that redis uses; max_memory: limit; 0: none */
	char policy[24];            /* maxmemory-policy; the set is safe only with noeviction */
	size_t len, signature_len;  /* len: bytes of `text`; 0: no manifest. signature_len: bytes of
	                               `signature`. The call checks neither */
	char text[WEIR_MANIFEST_TEXT], signature[WEIR_SIGNATURE_ROOM];
};
/* All fields of the head are from one moment. The other fields are read later. */
int weir__redis_status(struct weir_redis *r, struct weir_redis_status *out);

/* Wait up to @ms until @replicas replicas have all writes of the first connection.
 * Return: 0; -EAGAIN fewer replicas have them. */
int weir__redis_wait(struct weir_redis *r, uint32_t replicas, uint32_t ms);

/* Remove all keys of the set. @n: receives the number of removed keys, without the log. */
int weir__redis_unlink(struct weir_redis *r, uint64_t *n);

#endif
