/* SPDX-License-Identifier: MIT
 * An image in chunks. A chunk that no kept manifest names goes after WEIR_CHUNK_SECONDS, so a node
 * that uploads or fetches renews those that it still needs. GT leaves alone what has no end: the
 * chunks of kept generations. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <weir/error.h>
#include <weir/filter.h>
#include <weir/image.h>
#include "parts.h"

enum { KEY = WEIR_KEY_TEXT + WEIR_NUMBER_TEXT };

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int stopped(const struct weir_image_work *w)
{
	return atomic_load(w->stop) ? weir_fail(-ECANCELED, "set %s: the image is not wanted any "
	                                        "more", w->r->set) : 0;
}

static int progress(void *stop, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return atomic_load((const atomic_bool *)stop);
}

static const char *key_of(char key[KEY], const struct weir_image_work *w, uint64_t i)
{
	weir__key_of_image(key, &w->r->keys, w->m.image);
	snprintf(key + strlen(key), WEIR_NUMBER_TEXT, "%" PRIu64, i);
	return key;
}

static size_t bytes_of(const struct weir_image_work *w, uint64_t i)
{
	uint64_t left = w->m.bytes - i * WEIR_CHUNK;
	return left < WEIR_CHUNK ? left : WEIR_CHUNK;
}

int weir__image_room(struct weir_image_work *w, uint64_t bytes)
{
	if (bytes > w->r->o.max_image_bytes)
		return weir_fail(-EFBIG, "set %s: the image has %" PRIu64 " bytes, allowed are %"
		                 PRIu64 ": raise max_image_bytes", w->r->set, bytes,
		                 w->r->o.max_image_bytes);
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return weir_fail(-ENOMEM, "set %s: no memory for an image of %" PRIu64 " bytes",
		                 w->r->set, bytes);
	w->bytes = room;
	w->room = bytes;
	return 0;
}

void weir__image_free(struct weir_image_work *w)
{
	if (w->bytes)
		munmap(w->bytes, w->room);
	w->bytes = NULL;
}

/* BLAKE2b-256 of w->m.bytes bytes. */
static int hash(const struct weir_image_work *w, unsigned char out[WEIR_IMAGE_HASH])
{
	crypto_generichash_state state;
	int err = 0;
	crypto_generichash_init(&state, NULL, 0, WEIR_IMAGE_HASH);
	for (uint64_t i = 0; i < w->m.chunks && !err; i++) {
		crypto_generichash_update(&state, w->bytes + i * WEIR_CHUNK, bytes_of(w, i));
		err = stopped(w);
	}
	crypto_generichash_final(&state, out, WEIR_IMAGE_HASH);
	return err;
}

/* @answer: receives the number that EXPIRE answers: 0: the chunk is not there, or has no end. */
static int renew_one(const struct weir_image_work *w, uint64_t i, long long *answer)
{
	char key[KEY], seconds[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("EXPIRE"), weir__text(key_of(key, w, i)),
		                      weir__number(seconds, WEIR_CHUNK_SECONDS),
		                      weir__text("GT") };
	int err = weir__redis_command(w->r, w->r->o.image_link, args, 4, &reply);
	if (err)
		return err;
	*answer = reply->type == REDIS_REPLY_INTEGER ? reply->integer : 0;
	freeReplyObject(reply);
	return 0;
}

/* Renew chunks of [@from, @to) if it is time. Where the first has no end, none has. */
static int renew(struct weir_image_work *w, uint64_t from, uint64_t to)
{
	long long renewed = 1;
	int err = stopped(w);
	if (err || now_ms() - w->renewed_ms < w->r->renew_ms)
		return err;
	for (uint64_t i = from; i < to && renewed && !err; i++)
		err = renew_one(w, i, &renewed);
	w->renewed_ms = now_ms();
	return err;
}

/* ---- fetch ---- */

static int get(struct weir_image_work *w, uint64_t i)
{
	char key[KEY];
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("GET"), weir__text(key_of(key, w, i)) };
	int err = weir__redis_command(w->r, w->r->o.image_link, args, 2, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_NIL)
		err = weir_fail(-ENOENT, "set %s: chunk %" PRIu64 " of an image is missing: "
		                "publish another", w->r->set, i);
	else if (!weir__is_string(reply))
		err = weir__redis_shape(w->r, "GET");
	else if (reply->len != bytes_of(w, i))
		err = weir_fail(-EBADMSG, "set %s: chunk %" PRIu64 " of an image has %zu bytes in "
		                "place of %zu: publish another", w->r->set, i, (size_t)reply->len,
		                bytes_of(w, i));
	else
		memcpy(w->bytes + i * WEIR_CHUNK, reply->str, reply->len);
	freeReplyObject(reply);
	return err;
}

/* What the manifest says of the filter, which decides who may insert what. */
static int check(const struct weir_image_work *w, struct weir_location image)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	int err = weir_image_inspect(image, &info);
	if (err)
		return err;
	return info.shape.kind == w->m.kind && info.seed_fingerprint == w->m.hashing &&
	       info.text.steps == w->m.steps ?
		0 : weir_fail(-EBADMSG, "it has another kind, seed or steps than its manifest "
		              "says");
}

static int load(const struct weir_image_work *w, struct weir_filter **out)
{
	const struct weir_location image = weir_location_memory(w->bytes, w->m.bytes);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = w->r->o.max_image_bytes;
	o.secret = w->r->o.secret;
	o.progress = progress;
	o.progress_arg = (void *)(uintptr_t)w->stop;
	int err = check(w, image);
	if (!err)
		err = weir_load(out, image, &o);
	return err ? weir_fail(err, "set %s: the image of a generation: %s", w->r->set,
	                       weir_error_detail()) : 0;
}

int weir__image_fetch(struct weir_image_work *w, struct weir_filter **out)
{
	unsigned char is[WEIR_IMAGE_HASH];
	int err = 0;
	while (w->chunks < w->m.chunks && !err) {
		err = renew(w, w->chunks, w->m.chunks);
		if (!err)
			err = get(w, w->chunks);
		w->chunks += !err;
	}
	if (!err)
		err = hash(w, is);
	if (err)
		return err;
	if (memcmp(is, w->m.image, sizeof is) != 0)
		return weir_fail(-EBADMSG, "set %s: the image is not the one of its manifest: its "
		                 "BLAKE2b differs: publish another", w->r->set);
	return load(w, out);
}

/* ---- upload ---- */

int weir__image_copy(struct weir_image_work *w, const struct weir_filter *f)
{
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	o.allow_uneven = true; /* its keys are confirmed */
	int64_t bytes = weir_save(f, weir_location_room(NULL, 0), &o);
	int err = bytes < 0 ? (int)bytes : weir__image_room(w, (uint64_t)bytes);
	if (err)
		return err;
	bytes = weir_save(f, weir_location_room(w->bytes, w->room), &o);
	if (bytes < 0)
		return (int)bytes;
	w->m.bytes = (uint64_t)bytes;
	return 0;
}

/* In place of the plain image, if that is smaller. */
static int pack(struct weir_image_work *w)
{
	struct weir_image_work packed = { .r = w->r };
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	struct weir_save_options writing = WEIR_SAVE_OPTIONS_INIT;
	int err = weir__image_room(&packed, w->m.bytes);
	if (err)
		return err;
	reading.progress = progress;
	reading.progress_arg = (void *)(uintptr_t)w->stop;
	writing.zstd_level = w->r->o.zstd_level;
	int64_t bytes = weir_image_copy(weir_location_room(packed.bytes, packed.room),
	                                weir_location_memory(w->bytes, w->m.bytes), &reading,
	                                &writing);
	if (bytes > 0) {
		weir__image_free(w);
		w->bytes = packed.bytes;
		w->room = packed.room;
		w->m.bytes = (uint64_t)bytes;
		return 0;
	}
	weir__image_free(&packed);
	return bytes == -ENOSPC ? 0 : (int)bytes;
}

/* The chunk is there already: an equal image's, so it has these bytes, or was damaged. */
static int compare(struct weir_image_work *w, uint64_t i, bool *same)
{
	char key[KEY];
	long long renewed;
	struct redisReply *reply;
	const struct iovec args[] = { weir__text("GET"), weir__text(key_of(key, w, i)) };
	int err = renew_one(w, i, &renewed);
	if (!err)
		err = weir__redis_command(w->r, w->r->o.image_link, args, 2, &reply);
	if (err)
		return err;
	*same = weir__is_string(reply) && reply->len == bytes_of(w, i) &&
	        memcmp(reply->str, w->bytes + i * WEIR_CHUNK, reply->len) == 0;
	freeReplyObject(reply);
	return 0;
}

/* @again: over a damaged one, with the time that it has. */
static int set(struct weir_image_work *w, uint64_t i, bool again, bool *done)
{
	char key[KEY], seconds[WEIR_NUMBER_TEXT];
	struct redisReply *reply;
	struct iovec args[] = { weir__text("SET"), weir__text(key_of(key, w, i)),
		                weir__bytes(w->bytes + i * WEIR_CHUNK, bytes_of(w, i)),
		                weir__text("NX"), weir__text("EX"),
		                weir__number(seconds, WEIR_CHUNK_SECONDS) };
	if (again) {
		args[3] = weir__text("XX");
		args[4] = weir__text("KEEPTTL");
	}
	int err = weir__redis_command(w->r, w->r->o.image_link, args, again ? 5 : 6, &reply);
	if (err)
		return err;
	*done = reply->type != REDIS_REPLY_NIL;
	freeReplyObject(reply);
	return 0;
}

static int put(struct weir_image_work *w, uint64_t i)
{
	bool done = false;
	for (unsigned tries = 0; tries < 4 && !done; tries++) {
		int err = set(w, i, tries % 2 != 0, &done);
		if (!err && !done && tries % 2 == 0)
			err = compare(w, i, &done);
		if (err)
			return err;
	}
	return done ? 0 : weir_fail(-EAGAIN, "set %s: chunk %" PRIu64 " comes and goes", w->r->set,
	                            i);
}

int weir__image_upload(struct weir_image_work *w, bool *packed)
{
	int err = *packed || !w->r->o.zstd_level ? 0 : pack(w);
	if (err)
		return err;
	*packed = true;
	w->m.chunks = (w->m.bytes - 1) / WEIR_CHUNK + 1;
	err = w->m.chunks > WEIR_CHUNKS ? weir_fail(-EFBIG, "set %s: an image of %" PRIu64 " bytes "
	                                            "has too many chunks", w->r->set, w->m.bytes) :
	                                  hash(w, w->m.image);
	while (w->chunks < w->m.chunks && !err) {
		err = renew(w, 0, w->chunks);
		if (!err)
			err = put(w, w->chunks);
		w->chunks += !err;
	}
	return err;
}
