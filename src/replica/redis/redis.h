/* SPDX-License-Identifier: MIT
 * The server of server.h as redis is one: a connection, the keys of a set, scripts. One thread. */
#ifndef WEIR_REPLICA_REDIS_H
#define WEIR_REPLICA_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../format/keys.h"
#include "../format/scripts.h"
#include "../server.h"
#include "../trust/fetch.h"
#include "../trust/sign.h"
#include "../wire/wire.h"

/* Is the replica that images are read from worth asking? */

struct weir_reader {
	uint64_t again_ms;  /* until then it is not asked */
	bool away, told;    /* and whether somebody has been told */
	char sentence[256];
};

bool weir__reader_is_due(const struct weir_reader *reader);
/* After an image. @away: why it was not read to the end; "". @gave: whether some of it was read. */
void weir__reader_note(struct weir_reader *reader, const char *away, bool gave);
/* A sentence once, when it is away or gives wrong images, until it was read from again.
 * Return: NULL: there is nothing to tell. */
const char *weir__reader_news(struct weir_reader *reader);

/* ---- the server ---- */

enum {
	WEIR_REDIS_SHA = 40,          /* characters of a script's name */
	WEIR_REDIS_LATELY_MS = 600000, /* then one that was there is taken for removed */
};
#define WEIR_REDIS_ALL UINT32_MAX /* replicas: as many as there are, or were lately */

struct weir_coming;

/* Whoever makes it may change what is not marked as its own. */
struct weir_redis {
	struct weir_server server;
	struct weir_wire *wire;
	struct weir_wire *image_wire; /* of the thread that fetches images; NULL: none is */
	struct weir_wire *read_wire;  /* likewise: to a replica, which is asked first; NULL: none */
	void (*wake)(void *context);  /* by that thread, when it has ended; NULL: nobody waits */
	void *wake_context;
	struct weir_key_names keys;
	char owner[WEIR_REPLICA_NODE + 1]; /* of the lease: the node's id */
	uint32_t chunk_bytes;
	uint32_t keep;             /* generations, the current one too */
	uint32_t stored_s;         /* how long chunks stay that no manifest names yet */
	uint32_t superseded_s;     /* and those that none names any more */
	uint32_t replicas;         /* that must have a generation; WEIR_REDIS_ALL */
	uint32_t wait_ms;          /* how long to wait for them */
	uint64_t max_image_bytes;
	uint64_t reserve;          /* bytes that batches leave free: of one image and a manifest */
	int zstd_level;
	const void *secret;      /* of keyed filters */
	const char *image_folder;  /* where a publisher puts images for a web server; NULL: redis */
	struct weir_signer *signer;            /* may be NULL */
	struct weir_trust *trust;              /* NULL: no signature is asked for */
	const struct weir_fetch_options *http; /* NULL: no image is got by HTTP */
	/* its own */
	struct weir_coming *coming; /* an image on its way, or what came before a failure */
	struct weir_reader reader;
	uint32_t most_replicas;  /* that there were at once lately, and when */
	uint64_t most_ms;
	struct weir_redis_which {
		uint64_t generation, stored; /* drawn for its image; 0: nothing says it */
	} there,         /* beside the manifest, as of the last reading of the stream */
		looked,  /* at the last look; */
		in_vain; /* at two looks, which saw another: somebody writes into the keys */
	bool is_signed;      /* the manifest that was read last */
	char none[WEIR_REDIS_SHA + 1]; /* SHA-1 of its text, if that is no manifest of the set */
	uint64_t stored;     /* drawn for the image that was stored last, in redis; 0: none was */
	bool full;           /* it took no entry when one was appended last */
	char sha[WEIR_SCRIPTS][WEIR_REDIS_SHA + 1]; /* "": not loaded yet */
	unsigned char image_hash[WEIR_IMAGE_HASH];  /* of the manifest that was verified last, or
	                                               of the image that was stored last */
};

/* Fill in @r->server, and defaults. @wire: stays the caller's. */
void weir__redis_make(struct weir_redis *r, struct weir_wire *wire, const char *set, uint64_t node);

/* Was @m the manifest there is, as of the last reading of the stream? Who begins a set anew by hand
 * may give it the number that it had. */
static inline bool weir__redis_is_there(const struct weir_redis *r, const struct weir_manifest *m)
{
	const struct weir_redis_which *t = &r->there;
	return t->generation == m->generation &&
	       (t->stored == m->stored || !t->stored || !t->generation);
}
/* Is there nothing to see, since @m was seen? */
static inline bool weir__redis_is_seen(struct weir_redis *r, const struct weir_manifest *m)
{
	const struct weir_redis_which none = { UINT64_MAX, 0 };
	if (!weir__redis_is_there(r, m))
		return memcmp(&r->there, &r->in_vain, sizeof none) == 0;
	r->looked = r->in_vain = none;
	return true;
}
/* Numbers that were looked at in vain may come to be true: not for ever. */
static inline void weir__redis_lapse(struct weir_redis *r)
{
	r->looked = r->in_vain = (struct weir_redis_which){ UINT64_MAX, 0 };
}
/* Look again, whatever stands there: somebody may have changed the manifest alone. */
static inline void weir__redis_unsee(struct weir_redis *r)
{
	weir__redis_lapse(r);
	r->there = (struct weir_redis_which){ UINT64_MAX, 1 };
}
static inline void weir__redis_looked(struct weir_redis *r)
{
	if (memcmp(&r->there, &r->looked, sizeof r->there) == 0)
		r->in_vain = r->there;
	r->looked = r->there;
}

/* Who has the lease may publish. @milliseconds: from now on. @take: from whoever has it: what that
 * node is about to publish is refused.
 * Return: 0; -EPERM somebody else has it: who, and for how long; or the connection's. */
int weir__redis_lease(struct weir_redis *r, uint32_t milliseconds, bool take);
int weir__redis_release(struct weir_redis *r);

/* Put a node's report among those of the others; @text: without a NUL byte. */
int weir__redis_report(struct weir_redis *r, const char *text, size_t len);
/* Take this node's report away, and the lease. */
int weir__redis_leave(struct weir_redis *r);
/* The nodes that have reported within so many milliseconds.
 * @nodes: receives a malloc'ed array of @n. */
int weir__redis_alive(struct weir_redis *r, uint64_t milliseconds, uint64_t **nodes, size_t *n);
/* Remove the reports of nodes that have sent none for so long. */
int weir__redis_prune(struct weir_redis *r, uint64_t milliseconds);

/* The text of a generation that is kept; its signature is checked.
 * @text: receives malloc'ed text. Return: 0; -ENOENT it is not kept; or the connection's. */
int weir__redis_kept(struct weir_redis *r, uint64_t generation, char **text, size_t *len);

/* WAIT, on this connection, for all that was written before, by whomever.
 * Return: 0; -EAGAIN fewer than @replicas have it after wait_ms; or the connection's. */
int weir__redis_wait(struct weir_redis *r, uint32_t replicas);

/* Of the parts of this folder. */

/* Call a script; it is loaded if the server does not know it.
 * @reply: receives an answer that is no error. Return: 0, or the error as a negative errno. */
int weir__redis_call(struct weir_redis *r, enum weir_script script, const struct iovec *args,
                     size_t n, struct redisReply **reply);
/* Call a command. Likewise. */
int weir__redis_command(struct weir_redis *r, const struct iovec *args, size_t n,
                        struct redisReply **reply);
/* Return: what an error of the server's means, with its sentence. */
int weir__redis_error(const struct weir_redis *r, const char *text, size_t len);
/* An answer of another shape than it should have. */
int weir__redis_shape(const struct weir_redis *r, const char *of);

/* Of the file in image_folder. */
void weir__redis_image_name(char name[WEIR_MANIFEST_PATH + 1], const struct weir_redis *r,
                            const struct weir_manifest *m);

int weir__redis_append(void *context, const struct weir_sending *s, struct weir_stream_id *id);
int weir__redis_read(void *context, const char *epoch, struct weir_stream_id after, size_t most,
                     struct weir_stream_counts *counts, weir_entry_fn *entry, void *arg,
                     size_t *n);
int weir__redis_manifest(void *context, char epoch[WEIR_REPLICA_EPOCH + 1], char **text,
                         size_t *len);
/* Away with the pieces that were stored last, if they are @m's: it was refused. */
void weir__redis_unstore(struct weir_redis *r, const struct weir_manifest *m);
int weir__redis_store(void *context, const struct weir_filter *f, struct weir_manifest *m,
                      bool *safe);
int weir__redis_now(void *context, uint64_t *ms);
int weir__redis_publish(void *context, const struct weir_manifest *m, const char *text,
                        size_t len);

/* ---- checksum and hash of the bytes of an image in a file ---- */

struct weir_bytes_sum {
	uint64_t checksum[2];                /* XXH3 of 128 bits, the high half first */
	unsigned char hash[WEIR_IMAGE_HASH]; /* if it was asked for */
};

/* @bytes: of the file, from its beginning. Return: 0 or a negative errno; -EBADMSG it is shorter.
 */
int weir__bytes_sum(struct weir_bytes_sum *out, int fd, uint64_t bytes, bool hash);

/* ---- a folder of images that a web server shows ---- */

/* Copy @bytes of @fd to a new file, readable by all, whole or not at all: it has its name when it
 * is on the disk. Return: 0 or a negative errno. */
int weir__folder_put(const char *folder, const char *name, int fd, uint64_t bytes);
/* Remove images of a set (SET-GENERATION-HEX.weir), and what was left of making them, that are not
 * among @names and are @seconds old: before that somebody may still fetch one, or publish it.
 * Return: 0 or a negative errno. */
int weir__folder_prune(const char *folder, const char *set, char *const *names, size_t n,
                       unsigned seconds);

#endif
