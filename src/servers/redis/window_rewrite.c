/* SPDX-License-Identifier: MIT
 * How a window is written into an append-only file that is rewritten without a preamble, and sent
 * to replicas when it is new:
 *
 *     WEIR.WINDOW.MAKE key settings [header] AT ms    a window; its first generation began at ms
 *     WEIR.WINDOW.LOAD key begin data AT ms           a part of the newest generation, or a new one
 *
 * The settings are 48 bytes: error rate, capacity, seed, seconds, generations and expansion. The
 * header of a chain, and the chunks with its bits, are those of a dump (dump.c). Data is the header
 * if it begins a generation. ms in LOAD becomes the newest time. Both commands are refused from
 * clients, because of their times. */
#include <string.h>
#include <strings.h>
#include "dump.h"
#include "window_keys.h"

/* ---- time ---- */

uint64_t window_clock(void)
{
	long long now = redis.Milliseconds();
	return now > 0 ? (uint64_t)now : 0;
}

bool window_take_time(struct redis_context *context, struct redis_string **argv, int *argc,
                      uint64_t *time)
{
	static const char bad[] = "ERR a master or a file ends this command with AT ms";
	*time = window_clock();
	if (key_is_client(context))
		return true;
	if (*argc < 3 || strcasecmp(redis.StringPtrLen(argv[*argc - 2], NULL), "AT") ||
	    key_number(argv[*argc - 1], 0, WINDOW_TIME_MOST, time, bad, bad)) {
		redis.ReplyWithError(context, bad);
		return false;
	}
	*argc -= 2;
	return true;
}

enum { SETTINGS = 6 };

/* ---- writing ---- */

static void put_settings(const struct window *w, uint64_t out[SETTINGS])
{
	const uint64_t s[SETTINGS] = { 0, w->capacity, w->seed, w->seconds, w->generations,
		                       w->expansion };
	memcpy(out, s, sizeof s);
	memcpy(out, &w->error, sizeof w->error);
	for (int i = 0; i < SETTINGS; i++)
		out[i] = key_little(out[i]);
}

void window_replicate_new(struct redis_context *context, struct redis_string *name,
                          const struct window *w)
{
	uint64_t s[SETTINGS];
	put_settings(w, s);
	redis.Replicate(context, "WEIR.WINDOW.MAKE", "sbcl", name, (const char *)s, sizeof s, "AT",
	                (long long)w->newest);
}

static void emit(struct redis_io *io, struct redis_string *key, uint64_t begin, const void *data,
                 size_t bytes, uint64_t time)
{
	redis.EmitAOF(io, "WEIR.WINDOW.LOAD", "slbcl", key, (long long)begin, (const char *)data,
	              bytes, "AT", (long long)time);
}

/* Write the chunks of an array. @offset: of the array in all arrays. Return: 0, or -1 without
 * memory for a chunk. */
static int emit_array(struct redis_io *io, struct redis_string *key, const struct dump_key *k,
                      unsigned i, const struct dump_frame *first, uint64_t begin, uint64_t time)
{
	uint64_t all;
	const unsigned char *bits = dump_array(k, i, &all);
	for (uint64_t at = 0, bytes; at < all; at += bytes) {
		bytes = all - at < DUMP_BITS_MOST ? all - at : DUMP_BITS_MOST;
		struct dump_frame f = { first->name, first->offset + at, first->items };
		/* Not key_memory: a rewrite goes on if maxmemory is reached. */
		unsigned char *chunk = redis.TryAlloc(DUMP_FRAME_BYTES + bytes);
		if (!chunk)
			return -1;
		memcpy(chunk + DUMP_FRAME_BYTES, bits + at, bytes);
		dump_put_frame(chunk, &f, chunk + DUMP_FRAME_BYTES, bytes);
		emit(io, key, begin, chunk, DUMP_FRAME_BYTES + bytes, time);
		redis.Free(chunk);
	}
	return 0;
}

/* Return: as emit_array(). @time: the newest time after this generation. */
static int rewrite_generation(struct redis_io *io, struct redis_string *key,
                              const struct window *w, unsigned i, uint64_t time)
{
	const struct window_generation *g = &w->ring[i];
	struct dump_key k = dump_of_chain(g->chain);
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t settings[SETTINGS], offset = 0;
	struct dump_frame f = { 0 };
	size_t bytes = dump_put_header(&k, header, &f.name);
	put_settings(w, settings);
	if (i)
		emit(io, key, g->begin, header, bytes, g->begin);
	else
		redis.EmitAOF(io, "WEIR.WINDOW.MAKE", "sbbcl", key, (const char *)settings,
		              sizeof settings, (const char *)header, bytes, "AT",
		              (long long)g->begin);
	for (unsigned j = 0; j < k.n; j++) {
		f.offset = offset;
		f.items = k.link[j]->items;
		if (emit_array(io, key, &k, j, &f, g->begin, time))
			return -1;
		offset += k.link[j]->bytes;
	}
	return 0;
}

void window_rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
	const struct window *w = value;
	int failed = 0;
	for (unsigned i = 0; !failed && i < w->n; i++)
		failed = rewrite_generation(io, key, w, i,
		                            i + 1u < w->n ? w->ring[i].begin : w->newest);
	if (failed)
		rewrite_fail(io);
}

/* ---- reading ---- */

/* Make a generation of a header. Return: as window_append(). */
static int append(struct window *w, uint64_t begin, const struct redis_string *header)
{
	size_t bytes;
	const char *at = redis.StringPtrLen(header, &bytes);
	struct chain *c;
	int err = dump_make_chain((const unsigned char *)at, bytes, 0, &c);
	if (err)
		return err;
	err = window_append(w, begin, c);
	if (err)
		chain_destroy(c);
	return err;
}

/* Return: true if the settings have the right size. */
static bool take_settings(const struct redis_string *from, struct window_settings *s)
{
	uint64_t f[SETTINGS];
	size_t bytes;
	const char *at = redis.StringPtrLen(from, &bytes);
	if (bytes != sizeof f)
		return false;
	memcpy(f, at, sizeof f);
	for (int i = 0; i < SETTINGS; i++)
		f[i] = key_little(f[i]);
	*s = (struct window_settings){ .capacity = f[1], .seed = f[2], .seconds = f[3],
		                       .generations = f[4], .expansion = f[5] };
	memcpy(&s->error, &f[0], sizeof s->error);
	return true;
}

static int make(struct window **out, const struct window_settings *s, uint64_t time,
                const struct redis_string *header)
{
	struct window *w;
	if (!header)
		return window_create(out, s, time, 0, &key_memory);
	int err = window_make(&w, s, &key_memory);
	if (err)
		return err;
	err = append(w, time, header);
	if (err)
		window_destroy(w);
	else
		*out = w;
	return err;
}

static bool refuse_client(struct redis_context *context)
{
	if (!key_is_client(context))
		return false;
	redis.ReplyWithError(context, "ERR only a master or a file sends this command");
	return true;
}

int window_make_key(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct window_settings s;
	struct redis_key *key;
	struct window *w;
	uint64_t time;
	if (refuse_client(context) || !window_take_time(context, argv, &argc, &time))
		return REDIS_OK;
	if (argc != 3 && argc != 4)
		return redis.WrongArity(context);
	if (!take_settings(argv[2], &s))
		return redis.ReplyWithError(context, "ERR the settings are bad");
	if (!key_open(context, &window_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &w)) {
		int err = 0;
		if (w) {
			redis.ReplyWithError(context, "ERR item exists");
		} else if ((err = make(&w, &s, time, argc == 4 ? argv[3] : NULL))) {
			key_fail(context, err, NULL);
		} else {
			window_note_clock(w, time, window_clock());
			redis.ModuleTypeSetValue(key, window_keys.type, w);
			redis.ReplicateVerbatim(context);
			redis.ReplyWithSimpleString(context, "OK");
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

static const char bad_data[] = "ERR received bad data";

static const char *load_chunk(struct chain *c, const struct redis_string *data)
{
	struct dump_key k = dump_of_chain(c);
	unsigned char header[DUMP_HEADER_MOST];
	struct dump_frame f;
	uint64_t name, all;
	size_t bytes;
	const unsigned char *at = (const unsigned char *)redis.StringPtrLen(data, &bytes);
	(void)dump_put_header(&k, header, &name);
	if (!dump_get_frame(at, bytes, &f) || f.name != name)
		return bad_data;
	bytes -= DUMP_FRAME_BYTES;
	unsigned i = dump_find(&k, &f.offset);
	if (i == k.n)
		return bad_data;
	unsigned char *bits = dump_array(&k, i, &all);
	if (bytes > all - f.offset)
		return bad_data;
	memcpy(bits + f.offset, at + DUMP_FRAME_BYTES, bytes);
	return NULL;
}

/* Return: NULL, or the error. */
static const char *load(struct window *w, uint64_t begin, const struct redis_string *data,
                        uint64_t time)
{
	struct window_generation *newest = &w->ring[w->n - 1];
	if (begin < newest->begin)
		return bad_data;
	if (begin > newest->begin) {
		if (append(w, begin, data))
			return bad_data;
	} else {
		const char *wrong = load_chunk(newest->chain, data);
		if (wrong)
			return wrong;
	}
	window_note_clock(w, time, window_clock());
	return window_advance(w, time) ? bad_data : NULL;
}

int window_load_part(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct window *w;
	uint64_t begin, time;
	if (refuse_client(context) || !window_take_time(context, argv, &argc, &time))
		return REDIS_OK;
	if (argc != 4)
		return redis.WrongArity(context);
	const char *wrong = key_number(argv[2], 0, WINDOW_TIME_MOST, &begin, bad_data, bad_data);
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	if (!key_open(context, &window_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &w)) {
		wrong = w ? load(w, begin, argv[3], time) : "ERR not found";
		key_end(context, wrong);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
