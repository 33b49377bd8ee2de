/* SPDX-License-Identifier: MIT
 * Declarations that the files of this folder share. */
#ifndef WEIR_REPLICA_STORE_PARTS_H
#define WEIR_REPLICA_STORE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include "redis.h"

enum { WEIR_NUMBER_TEXT = 21, WEIR_SHA = 40 };
#define WEIR_CHUNK_SECONDS "120" /* lifetime of a chunk that no kept manifest names */

struct weir_script {
	const char *text,
	           *keys;        /* the number of keys that the script takes, as text */
	char sha[WEIR_SHA + 1];  /* the SHA-1 that names the script in redis; "": not loaded yet */
};

/* A fetch or upload of an image. */
struct weir_image_job {
	const struct weir_redis *r;
	struct weir_manifest m;
	bool upload, packed;
	unsigned char *bytes;    /* @room bytes, mapped, so pages take memory only when written */
	size_t room;
	_Atomic uint64_t chunks; /* number of chunks transferred so far, in order */
	uint64_t renewed_ms;
	struct weir_filter *filter;
	pthread_t thread;
	bool started;            /* the thread is started and not joined */
	atomic_bool stop, ended;
	int err;                 /* valid after `ended` is set */
	char sentence[WEIR_SENTENCE_BYTES];
};

struct weir_redis {
	struct weir_store store;
	struct weir_redis_options o;
	struct weir_key_names keys;
	struct weir_script touch, publish;
	uint32_t renew_ms;          /* interval of renewals of a chunk */
	struct weir_image_job *job; /* NULL: none */
};

static inline struct iovec weir__bytes(const void *data, size_t len)
{
	return (struct iovec){ (void *)(uintptr_t)data, len };
}
static inline struct iovec weir__text(const char *text)
{
	return weir__bytes(text, strlen(text));
}
/* Return: @text. */
const char *weir__number(char text[WEIR_NUMBER_TEXT], uint64_t number);

/* ---- call.c ---- */

/* @link: the link for commands, or the link for images.
 * @reply: receives the answer, unless that is an error. Return: 0, or the error as a negative
 *   errno. */
int weir__redis_command(const struct weir_redis *r, void *link, const struct iovec *args, size_t n,
                        struct redisReply **reply);
/* Send the texts up to NULL as a command on the first connection. @reply: NULL: drop the answer. */
int weir__redis_ask(const struct weir_redis *r, struct redisReply **reply, ...)
	__attribute__((sentinel));
/* Run a script. Texts up to NULL are its keys and first arguments; @n arguments of @more follow. */
int weir__redis_script(const struct weir_redis *r, struct weir_script *script,
                       const struct iovec *more, size_t n, struct redisReply **reply, ...)
	__attribute__((sentinel));
/* Fail because the answer to @of has the wrong form. Return: -EPROTO. */
int weir__redis_bad_answer(const struct weir_redis *r, const char *of);
/* Fail because the log or the head has an id that nodes refuse (weir__log_id_in_range()). Return:
 * -EOVERFLOW. */
int weir__redis_ids_used_up(const struct weir_redis *r);

/* Check the form of an answer, or read a value from it. Return: true if the form is right. */
static inline bool weir__is_array(const struct redisReply *reply, size_t elements)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == elements;
}
static inline bool weir__is_string(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING;
}
bool weir__reply_number(const struct redisReply *reply, uint64_t *out);
bool weir__reply_hex(const struct redisReply *reply, uint64_t *out);
bool weir__reply_log_id(const struct redisReply *reply, struct weir_log_id *out);
bool weir__reply_version(const struct redisReply *reply, struct weir_version *out);
/* @fields: mark prev base lost last tag version generation replicas. Return: true if valid. */
bool weir__reply_head(struct redisReply *const *fields, struct weir_head *out);

/* ---- functions of weir_store ---- */

int weir__redis_touch(void *context, const struct weir_touch *touch, struct weir_head *head);
int weir__redis_read(void *context, struct weir_log_id after, size_t most, weir_entry_fn *entry,
                     void *arg, size_t *n);
int weir__redis_manifest(void *context, struct weir_manifest *out);
int weir__redis_image(void *context, const struct weir_manifest *m, struct weir_filter **out);
int weir__redis_upload(void *context, const struct weir_filter *f, struct weir_manifest *m);
int weir__redis_publish(void *context, const struct weir_publication *p);
int weir__redis_lease(void *context, uint64_t node, uint32_t milliseconds);

/* ---- images ---- */

void weir__job_end(struct weir_redis *r);
/* Return: 0; -EFBIG; -ENOMEM. */
int weir__image_allocate(struct weir_image_job *j, uint64_t bytes);
/* Write a plain image of @f to the job's memory, in the calling thread. */
int weir__image_copy(struct weir_image_job *j, const struct weir_filter *f);
/* Run on the job's thread. After a connection error the next call resumes the transfer. */
int weir__image_fetch(struct weir_image_job *j);
int weir__image_upload(struct weir_image_job *j);

#endif
