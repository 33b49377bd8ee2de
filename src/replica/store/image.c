/* SPDX-License-Identifier: MIT
 * Transfer an image in chunks. A chunk that no kept manifest names expires, so a node renews the
 * chunks that it still needs. EXPIRE GT does not change chunks of kept generations, which never
 * expire. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <weir/filter.h>
#include <weir/image.h>
#include "parts.h"

enum { KEY = WEIR_KEY_TEXT + WEIR_NUMBER_TEXT };

static int stopped(const struct weir_image_job *j)
{
	return atomic_load(&j->stop) ? weir_fail(-ECANCELED, "set %s: the image is not wanted any "
	                                         "more", j->r->o.set) : 0;
}

static int progress(void *stop, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return atomic_load((const atomic_bool *)stop);
}

static size_t bytes_of(const struct weir_image_job *j, uint64_t i)
{
	uint64_t left = j->m.bytes - i * WEIR_CHUNK;
	return left < WEIR_CHUNK ? left : WEIR_CHUNK;
}

int weir__image_allocate(struct weir_image_job *j, uint64_t bytes)
{
	if (bytes > j->r->o.max_image_bytes)
		return weir_fail(-EFBIG, "set %s: the image has %" PRIu64 " bytes, allowed are %"
		                 PRIu64 ": raise max_image_bytes", j->r->o.set, bytes,
		                 j->r->o.max_image_bytes);
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return weir_fail(-ENOMEM, "set %s: no memory for an image of %" PRIu64 " bytes",
		                 j->r->o.set, bytes);
	j->bytes = room;
	j->room = bytes;
	return 0;
}

static int hash(const struct weir_image_job *j, unsigned char out[WEIR_IMAGE_HASH])
{
	crypto_generichash_state state;
	int err = 0;
	crypto_generichash_init(&state, NULL, 0, WEIR_IMAGE_HASH);
	for (uint64_t i = 0; i < j->m.chunks && !err; i++) {
		crypto_generichash_update(&state, j->bytes + i * WEIR_CHUNK, bytes_of(j, i));
		err = stopped(j);
	}
	crypto_generichash_final(&state, out, WEIR_IMAGE_HASH);
	return err;
}

/* Send a command about chunk @i. @args: the command's name, a slot for the key, the arguments. */
static int command(const struct weir_image_job *j, uint64_t i, struct iovec *args, size_t n,
                   struct redisReply **reply)
{
	char key[KEY];
	weir__key_of_image(key, &j->r->keys, j->m.image);
	snprintf(key + strlen(key), WEIR_NUMBER_TEXT, "%" PRIu64, i);
	args[1] = weir__text(key);
	return weir__redis_command(j->r, j->r->o.image_link, args, n, reply);
}

/* @renewed: receives true if redis has the chunk, and the chunk has an expiry. */
static int renew_one(const struct weir_image_job *j, uint64_t i, bool *renewed)
{
	struct redisReply *reply;
	struct iovec args[] = { weir__text("EXPIRE"), { NULL, 0 }, weir__text(WEIR_CHUNK_SECONDS),
		                weir__text("GT") };
	int err = command(j, i, args, 4, &reply);
	if (err)
		return err;
	*renewed = reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}

/* Renew the chunks [@from, @to) at intervals. If the first chunk never expires, no chunk does. */
static int renew(struct weir_image_job *j, uint64_t from, uint64_t to)
{
	bool renewed = true;
	struct timespec t;
	int err = stopped(j);
	clock_gettime(CLOCK_MONOTONIC, &t);
	const uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	if (err || now - j->renewed_ms < j->r->renew_ms)
		return err;
	for (uint64_t i = from; i < to && renewed && !err; i++)
		err = renew_one(j, i, &renewed);
	j->renewed_ms = now;
	return err;
}

/* ---- fetch ---- */

static int get(struct weir_image_job *j, uint64_t i)
{
	struct redisReply *reply;
	struct iovec args[] = { weir__text("GET"), { NULL, 0 } };
	int err = command(j, i, args, 2, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_NIL)
		err = weir_fail(-ENOENT, "set %s: chunk %" PRIu64 " of an image is missing: "
		                "publish another", j->r->o.set, i);
	else if (!weir__is_string(reply))
		err = weir__redis_bad_answer(j->r, "GET");
	else if (reply->len != bytes_of(j, i))
		err = weir_fail(-EBADMSG, "set %s: chunk %" PRIu64 " of an image has %zu bytes in "
		                "place of %zu: publish another", j->r->o.set, i,
		                (size_t)reply->len, bytes_of(j, i));
	else
		memcpy(j->bytes + i * WEIR_CHUNK, reply->str, reply->len);
	freeReplyObject(reply);
	return err;
}

/* Check the image's kind, seed and steps against its manifest, since inserts depend on them. */
static int check(const struct weir_image_job *j, struct weir_location image)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	int err = weir_image_inspect(image, &info);
	if (err)
		return err;
	return info.shape.kind == j->m.kind && info.seed_fingerprint == j->m.hashing &&
	       info.text.steps == j->m.steps ?
		0 : weir_fail(-EBADMSG, "it has another kind, seed or steps than its manifest "
		              "says");
}

static int load(struct weir_image_job *j)
{
	const struct weir_location image = weir_location_memory(j->bytes, j->m.bytes);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = j->r->o.max_image_bytes;
	o.secret = j->r->o.secret;
	o.progress = progress;
	o.progress_arg = &j->stop;
	int err = check(j, image);
	if (!err)
		err = weir_load(&j->filter, image, &o);
	return err ? weir_fail(err, "set %s: the image of a generation: %s", j->r->o.set,
	                       weir_error_detail()) : 0;
}

int weir__image_fetch(struct weir_image_job *j)
{
	unsigned char is[WEIR_IMAGE_HASH];
	int err = 0;
	while (j->chunks < j->m.chunks && !err) {
		err = renew(j, j->chunks, j->m.chunks);
		if (!err)
			err = get(j, j->chunks);
		j->chunks += !err;
	}
	if (!err)
		err = hash(j, is);
	if (err)
		return err;
	if (memcmp(is, j->m.image, sizeof is) != 0)
		return weir_fail(-EBADMSG, "set %s: the image is not the one of its manifest: its "
		                 "BLAKE2b differs: publish another", j->r->o.set);
	return load(j);
}

/* ---- upload ---- */

int weir__image_copy(struct weir_image_job *j, const struct weir_filter *f)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.allow_uneven = true; /* publish confirmed keys even if their hashes are not uniform */
	int64_t bytes = weir_save(f, weir_location_room(NULL, 0), &o);
	int err = bytes < 0 ? (int)bytes : weir__image_allocate(j, (uint64_t)bytes);
	if (err)
		return err;
	bytes = weir_save(f, weir_location_room(j->bytes, j->room), &o);
	j->m.bytes = (uint64_t)bytes;
	return bytes < 0 ? (int)bytes : 0;
}

/* Replace the image by its compressed form, if the compressed form is smaller. */
static int pack(struct weir_image_job *j)
{
	struct weir_image_job packed = { .r = j->r };
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	struct weir_save_options writing = WEIR_SAVE_OPTIONS_INIT;
	int err = weir__image_allocate(&packed, j->m.bytes);
	if (err)
		return err;
	reading.progress = progress;
	reading.progress_arg = &j->stop;
	writing.zstd_level = j->r->o.zstd_level;
	int64_t bytes = weir_image_copy(weir_location_room(packed.bytes, packed.room),
	                                weir_location_memory(j->bytes, j->m.bytes), &reading,
	                                &writing);
	unsigned char *unused = bytes > 0 ? j->bytes : packed.bytes;
	munmap(unused, j->room);
	if (bytes > 0) {
		j->bytes = packed.bytes;
		j->room = packed.room;
		j->m.bytes = (uint64_t)bytes;
	}
	return bytes > 0 || bytes == -ENOSPC ? 0 : (int)bytes;
}

/* Upload a chunk. The chunk's key contains the image's hash, so if the key exists, redis has either
 * this chunk or a damaged chunk. Overwrite a damaged chunk, and keep its expiry. */
static int put(struct weir_image_job *j, uint64_t i)
{
	bool renewed;
	struct redisReply *reply;
	const struct iovec bytes = weir__bytes(j->bytes + i * WEIR_CHUNK, bytes_of(j, i));
	struct iovec first[] = { weir__text("SET"), { NULL, 0 }, bytes, weir__text("NX"),
		weir__text("GET"), weir__text("EX"), weir__text(WEIR_CHUNK_SECONDS) };
	struct iovec again[] = { weir__text("SET"), { NULL, 0 }, bytes, weir__text("XX"),
		weir__text("KEEPTTL") };
	int err = command(j, i, first, 7, &reply);
	if (err)
		return err;
	const bool new = reply->type == REDIS_REPLY_NIL;
	const bool same = weir__is_string(reply) && reply->len == bytes.iov_len &&
	                  memcmp(reply->str, bytes.iov_base, reply->len) == 0;
	freeReplyObject(reply);
	if (new)
		return 0;
	err = renew_one(j, i, &renewed);
	if (err || same)
		return err;
	err = command(j, i, again, 5, &reply);
	if (!err)
		freeReplyObject(reply);
	return err;
}

int weir__image_upload(struct weir_image_job *j)
{
	int err = j->packed || !j->r->o.zstd_level ? 0 : pack(j);
	if (err)
		return err;
	j->packed = true;
	j->m.chunks = (j->m.bytes - 1) / WEIR_CHUNK + 1;
	err = j->m.chunks <= WEIR_CHUNKS ? hash(j, j->m.image) :
	      weir_fail(-EFBIG, "set %s: an image of %" PRIu64 " bytes has too many chunks",
	                j->r->o.set, j->m.bytes);
	while (j->chunks < j->m.chunks && !err) {
		err = renew(j, 0, j->chunks);
		if (!err)
			err = put(j, j->chunks);
		j->chunks += !err;
	}
	return err;
}
