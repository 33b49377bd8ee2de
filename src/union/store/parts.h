/* SPDX-License-Identifier: MIT
 * What the files of this folder share. */
#ifndef WEIR_UNION_STORE_PARTS_H
#define WEIR_UNION_STORE_PARTS_H

#include <stdatomic.h>
#include <hiredis/hiredis.h>
#include "redis.h"

enum {
	WEIR_NUMBER_TEXT = 21,
	WEIR_SHA = 40,            /* characters of a script's name */
	WEIR_CHUNK_SECONDS = 120, /* that a chunk stays which no kept manifest names */
};

struct weir_script {
	const char *text, *keys; /* keys: how many it has */
	char sha[WEIR_SHA + 1];  /* "": not known yet */
};

struct weir_image_job;

struct weir_redis {
	struct weir_store store;
	struct weir_redis_options o;
	struct weir_key_names keys;
	char set[WEIR_SET_NAME + 1];
	struct weir_script touch, publish;
	uint32_t renew_ms;          /* how often a chunk that is needed is renewed */
	struct weir_image_job *job; /* an image on its way; NULL: none is */
};

static inline struct iovec weir__bytes(const void *data, size_t len)
{
	return (struct iovec){ (void *)(uintptr_t)data, len };
}
static inline struct iovec weir__text(const char *text)
{
	return weir__bytes(text, strlen(text));
}
struct iovec weir__number(char text[WEIR_NUMBER_TEXT], uint64_t number);

/* ---- call.c ---- */

/* @link: that of commands, or of images.
 * @reply: receives an answer that is no error. Return: 0, or the error as a negative errno. */
int weir__redis_command(const struct weir_redis *r, void *link, const struct iovec *args, size_t n,
                        struct redisReply **reply);
/* Likewise, a script: @args has room for three in front. */
int weir__redis_script(const struct weir_redis *r, struct weir_script *script, struct iovec *args,
                       size_t n, struct redisReply **reply);
/* An answer of another shape than it should have. */
int weir__redis_shape(const struct weir_redis *r, const char *of);

/* Is it an array of so many, a string? */
bool weir__is_array(const struct redisReply *reply, size_t elements);
static inline bool weir__is_string(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING;
}
/* What strings say. Return: false: this one is no such. */
bool weir__reply_number(const struct redisReply *reply, uint64_t *out);
bool weir__reply_hex(const struct redisReply *reply, uint64_t *out);
bool weir__reply_log_id(const struct redisReply *reply, struct weir_log_id *out);
bool weir__reply_version(const struct redisReply *reply, struct weir_version *out);

/* ---- the parts of weir_store ---- */

int weir__redis_touch(void *context, const struct weir_touch *touch, struct weir_head *head);
int weir__redis_read(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
                     void *arg, size_t *n);
int weir__redis_manifest(void *context, struct weir_manifest *out);
int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out);
int weir__redis_upload(void *context, const struct weir_filter *f, struct weir_manifest *m);
int weir__redis_publish(void *context, const struct weir_publication *p);
int weir__redis_lease(void *context, uint64_t node, uint32_t milliseconds);

/* ---- job.c ---- */

void weir__job_end(struct weir_redis *r);

/* ---- image.c: on the job's thread ---- */

struct weir_image_work {
	const struct weir_redis *r;
	const atomic_bool *stop;
	struct weir_manifest m;
	unsigned char *bytes;   /* mapped, @room of them; a page is taken when it is written */
	size_t room;
	_Atomic uint64_t chunks;  /* that are here, or there, from the first on */
	uint64_t renewed_ms;
};

/* Return: 0; -EFBIG; -ENOMEM. */
int weir__image_room(struct weir_image_work *w, uint64_t bytes);
void weir__image_free(struct weir_image_work *w);
/* A plain image of @f, in the calling thread. */
int weir__image_copy(struct weir_image_work *w, const struct weir_filter *f);
/* Each goes on where it ended, after an error of the connection. */
int weir__image_fetch(struct weir_image_work *w, struct weir_filter **out);
int weir__image_upload(struct weir_image_work *w, bool *packed);

#endif
