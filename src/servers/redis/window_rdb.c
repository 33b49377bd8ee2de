/* SPDX-License-Identifier: MIT
 * The key type of windows: how Redis saves, loads, copies, measures and frees them. A value has the
 * settings, the newest time, and each generation's begin and chain. Times are absolute, so a window
 * ages while its file lies on a disk. */
#include <errno.h>
#include "rdb.h"
#include "window_keys.h"

enum { VERSION = 1 };
struct key_kind window_keys = { NULL, "WEIR.WINDOW.LOAD", false };

static void save(struct redis_io *io, void *value)
{
	const struct window *w = value;
	redis.SaveUnsigned(io, w->n | (uint64_t)w->generations << 8 | (uint64_t)w->expansion << 32);
	redis.SaveUnsigned(io, w->seconds);
	redis.SaveDouble(io, w->error);
	redis.SaveUnsigned(io, w->capacity);
	redis.SaveUnsigned(io, w->seed);
	redis.SaveUnsigned(io, w->newest);
	for (unsigned i = 0; i < w->n; i++) {
		redis.SaveUnsigned(io, w->ring[i].begin);
		rdb_save_chain(io, w->ring[i].chain);
	}
}

static int load_generation(struct redis_io *io, struct window *w)
{
	struct chain *c = NULL;
	uint64_t begin = redis.LoadUnsigned(io);
	int err = redis.IsIOError(io) ? rdb_ended() : rdb_load_chain(io, &c);
	if (!err)
		err = window_append(w, begin, c);
	if (err)
		chain_destroy(c);
	return err;
}

static int load_window(struct redis_io *io, struct window **out)
{
	uint64_t packed = redis.LoadUnsigned(io);
	struct window_settings s = { .generations = packed >> 8 & 0xff, .expansion = packed >> 32 };
	s.seconds = redis.LoadUnsigned(io);
	s.error = redis.LoadDouble(io);
	s.capacity = redis.LoadUnsigned(io);
	s.seed = redis.LoadUnsigned(io);
	uint64_t newest = redis.LoadUnsigned(io);
	if (redis.IsIOError(io))
		return rdb_ended();
	if (packed >> 16 & 0xffff)
		return weir_fail(-EBADMSG, "a window has unknown options");
	int err = window_make(out, &s, &key_memory);
	for (uint64_t i = 0; !err && i < (packed & 0xff); i++)
		err = load_generation(io, *out);
	return err ? err : window_advance(*out, newest);
}

static void *load(struct redis_io *io, int version)
{
	struct window *w = NULL;
	int err = version == VERSION ? load_window(io, &w)
	                             : weir_fail(-EBADMSG, "encoding %d is unknown", version);
	if (!err) {
		window_note_clock(w, w->newest, window_clock());
		return w;
	}
	redis.LogIOError(io, key_log_level(), "a window is refused: %s", weir_error_detail());
	window_destroy(w);
	return NULL;
}

static size_t usage(const void *value)
{
	return window_usage(value) + VALUE_RECORDS;
}

static void release(void *value)
{
	window_destroy(value);
}

/* Return: the size in MB; above 64 Redis frees the value in the background. */
static size_t effort(struct redis_string *key, const void *value)
{
	(void)key;
	return window_bytes(value) >> 20;
}

static void *copy(struct redis_string *from, struct redis_string *to, const void *value)
{
	struct window *w = NULL;
	(void)from;
	(void)to;
	return window_copy(&w, value) ? NULL : w;
}

static void digest_number(void *to, uint64_t n)
{
	unsigned char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(n >> 8 * i);
	redis.DigestAddStringBuffer(to, (const char *)bytes, sizeof bytes);
}

/* DEBUG DIGEST-VALUE. The chains' headers have the other settings. */
static void digest(void *to, void *value)
{
	const struct window *w = value;
	digest_number(to, w->generations);
	digest_number(to, w->seconds);
	digest_number(to, w->capacity);
	digest_number(to, w->newest);
	for (unsigned i = 0; i < w->n; i++) {
		struct dump_key k = dump_of_chain(w->ring[i].chain);
		digest_number(to, w->ring[i].begin);
		rdb_digest(to, &k);
	}
	redis.DigestEndSequence(to);
}

int window_type_create(struct redis_context *context)
{
	static struct redis_methods is = { .version = 4, .rdb_load = load, .rdb_save = save,
		.aof_rewrite = window_rewrite, .mem_usage = usage, .digest = digest,
		.free = release, .free_effort = effort, .copy = copy };
	window_keys.type = redis.CreateDataType(context, "weirwindo", VERSION, &is);
	return window_keys.type ? REDIS_OK : REDIS_ERR;
}
