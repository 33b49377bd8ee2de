/* SPDX-License-Identifier: MIT
 * An image is stored under names that no manifest has yet: in pieces that go by themselves if none
 * ever has, or in a folder that a web server shows. Then WAIT. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include <weir/image.h>
#include "../clock.h"
#include "../format/number.h"
#include "../format/scripts.h"
#include "../node.h"
#include "redis.h"

int weir__redis_now(void *context, uint64_t *ms)
{
	struct weir_redis *r = context;
	struct redisReply *reply;
	uint64_t s = 0, us = 0;
	const struct iovec args[] = { weir__text("TIME") };
	if (r->trust || r->signer) { /* what redis says of the time nobody has signed */
		*ms = weir__since_1970_ms();
		return 0;
	}
	int err = weir__redis_command(r, args, 1, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    reply->element[1]->type != REDIS_REPLY_STRING ||
	    !weir__number_parse(&s, reply->element[0]->str, reply->element[0]->len) ||
	    !weir__number_parse(&us, reply->element[1]->str, reply->element[1]->len) ||
	    s > UINT64_MAX / 2000)
		err = weir__redis_shape(r, "TIME");
	*ms = s * 1000 + us / 1000;
	freeReplyObject(reply);
	return err;
}

/* Fill in what the manifest says of the image in @fd. */
static int describe(struct weir_redis *r, struct weir_manifest *m, int fd)
{
	struct weir_bytes_sum sum;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return weir_fail(-errno, "the image that was made cannot be read");
	m->bytes = (uint64_t)st.st_size;
	m->chunk_bytes = r->chunk_bytes;
	m->chunks = (m->bytes - 1) / m->chunk_bytes + 1;
	if (m->chunks > WEIR_MANIFEST_CHUNKS)
		return weir_fail(-EFBIG, "set %s: an image of %" PRIu64 " bytes has more than %d "
		                 "chunks of %u bytes", r->keys.set, m->bytes, WEIR_MANIFEST_CHUNKS,
		                 r->chunk_bytes);
	int err = weir__random(&m->stored);
	if (!err)
		err = weir__bytes_sum(&sum, fd, m->bytes, r->signer != NULL);
	if (err)
		return err;
	memcpy(m->checksum, sum.checksum, sizeof m->checksum);
	memcpy(r->image_hash, sum.hash, sizeof r->image_hash);
	return weir__redis_now(r, &m->published_ms);
}

static int set_chunk(struct weir_redis *r, const char *names, uint64_t i, const void *data,
                     size_t len)
{
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT], seconds[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	snprintf(name, sizeof name, "%s%" PRIu64, names, i);
	const struct iovec args[] = { weir__text("SET"), weir__text(name), weir__bytes(data, len),
		                      weir__text("EX"), weir__number(seconds, r->stored_s) };
	int err = weir__redis_command(r, args, 5, &reply);
	if (!err)
		freeReplyObject(reply);
	return err;
}

/* Whoever has no room for an image needs what was stored of it. */
static void remove_chunks(struct weir_redis *r, const char *names, uint64_t n)
{
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s%" PRIu64, names, i);
		const struct iovec args[] = { weir__text("UNLINK"), weir__text(name) };
		if (weir__redis_command(r, args, 2, &reply) != 0)
			return; /* they go by themselves */
		freeReplyObject(reply);
	}
}

static int set_chunks(struct weir_redis *r, const struct weir_manifest *m, int fd)
{
	char names[WEIR_KEY_TEXT];
	const unsigned char *image = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		return weir_fail(-errno, "no address space for an image of %" PRIu64 " bytes",
		                 m->bytes);
	int err = 0;
	uint64_t i;
	weir__key_of_chunks(names, &r->keys, m->stored);
	for (i = 0; i < m->chunks && !err; i++) {
		uint64_t at = i * m->chunk_bytes;
		size_t len = m->bytes - at < m->chunk_bytes ? m->bytes - at : m->chunk_bytes;
		err = set_chunk(r, names, i, image + at, len);
	}
	munmap((void *)(uintptr_t)image, m->bytes);
	r->stored = err ? 0 : m->stored;
	if (err == -ENOSPC) {
		char why[512];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		remove_chunks(r, names, i);
		err = weir_fail(err, "%s", why);
	}
	return err;
}

void weir__redis_unstore(struct weir_redis *r, const struct weir_manifest *m)
{
	char names[WEIR_KEY_TEXT];
	if (m->stored == r->stored)
		remove_chunks(r, weir__key_of_chunks(names, &r->keys, m->stored), m->chunks);
	r->stored = 0;
}

void weir__redis_image_name(char name[WEIR_MANIFEST_PATH + 1], const struct weir_redis *r,
                            const struct weir_manifest *m)
{
	snprintf(name, WEIR_MANIFEST_PATH + 1, "%s-%" PRIu64 "-%016" PRIx64 ".weir", r->keys.set,
	         m->generation, m->stored);
}

/* The bytes themselves are copied: the filter may have taken inserts since. */
static int put_into_folder(struct weir_redis *r, struct weir_manifest *m, int fd)
{
	weir__redis_image_name(m->path, r, m);
	return weir__folder_put(r->image_folder, m->path, fd, m->bytes);
}

static int store(struct weir_redis *r, const struct weir_filter *f, struct weir_manifest *m, int fd)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.zstd_level = r->zstd_level;
	o.generation = m->generation;
	o.allow_uneven = true; /* its keys are confirmed: figures say what is uneven */
	int64_t saved = weir_save(f, weir_location_fd(fd), &o);
	if (saved < 0)
		return (int)saved;
	int err = describe(r, m, fd);
	if (err)
		return err;
	return r->image_folder ? put_into_folder(r, m, fd) : set_chunks(r, m, fd);
}

int weir__redis_store(void *context, const struct weir_filter *f, struct weir_manifest *m,
                      bool *safe)
{
	struct weir_redis *r = context;
	int fd = memfd_create("weir-image", MFD_CLOEXEC);
	if (fd < 0)
		return weir_fail(-errno, "no file in memory for an image");
	int err = store(r, f, m, fd);
	close(fd);
	if (err)
		return err;
	err = weir__redis_wait(r, r->replicas);
	*safe = !err;
	return err == -EAGAIN ? 0 : err;
}
