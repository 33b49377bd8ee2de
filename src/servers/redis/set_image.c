/* SPDX-License-Identifier: MIT
 * The image of a manifest. Its chunks are read where they lie in this server, and only when all of
 * them are there does it take memory: as much as they have. */
#define XXH_INLINE_ALL
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include "../../replica/format/scripts.h"
#include "set.h"

/* Look at chunk @i. @to: NULL, or where its bytes go. */
static int chunk(const struct set *s, const char *names, uint64_t i, unsigned char *to)
{
	const struct weir_manifest *m = &s->manifest;
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT];
	uint64_t at = i * m->chunk_bytes;
	size_t expected = m->bytes - at < m->chunk_bytes ? m->bytes - at : m->chunk_bytes, len = 0;
	snprintf(name, sizeof name, "%s%" PRIu64, names, i);
	struct redis_string *string = redis.CreateString(s->context, name, strlen(name));
	struct redis_key *key = redis.OpenKey(s->context, string, REDIS_READ);
	bool is = key && redis.KeyType(key) == REDIS_STRING;
	const char *data = is && to ? redis.StringDMA(key, &len, REDIS_READ) : NULL;
	if (is && !to)
		len = redis.ValueLength(key);
	if (data && len == expected)
		memcpy(to + at, data, len);
	redis.CloseKey(key);
	redis.FreeString(s->context, string);
	if (!is)
		return weir_fail(-EAGAIN, "set %s: chunk %" PRIu64 " of generation %" PRIu64
		                 " is not there (any more): publish another", s->keys.set, i,
		                 m->generation);
	return len == expected ? 0 :
	       weir_fail(-EBADMSG, "set %s: chunk %" PRIu64 " of generation %" PRIu64 " has %zu "
	                 "bytes instead of %zu", s->keys.set, i, m->generation, len, expected);
}

static int chunks(const struct set *s, unsigned char *to)
{
	char names[WEIR_KEY_TEXT];
	int err = 0;
	weir__key_of_chunks(names, &s->keys, s->manifest.stored);
	for (uint64_t i = 0; i < s->manifest.chunks && !err; i++)
		err = chunk(s, names, i, to);
	return err;
}

static int check_sum(const struct set *s, const unsigned char *image)
{
	const struct weir_manifest *m = &s->manifest;
	XXH128_hash_t is = XXH3_128bits(image, m->bytes);
	if (is.high64 == m->checksum[0] && is.low64 == m->checksum[1])
		return 0;
	return weir_fail(-EBADMSG, "set %s: the image of generation %" PRIu64 " is damaged: its "
	                 "checksum is %016" PRIx64 "%016" PRIx64 " instead of %016" PRIx64
	                 "%016" PRIx64, s->keys.set, m->generation, is.high64, is.low64,
	                 m->checksum[0], m->checksum[1]);
}

static int check_filter(const struct set *s, const struct weir_filter *f)
{
	const struct weir_manifest *m = &s->manifest;
	struct weir_stats st = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_SAMPLED, &st);
	if (!err && (st.shape.kind != m->kind || st.seed_fingerprint != m->hashing))
		err = weir_fail(-EBADMSG, "set %s: the image of generation %" PRIu64 " is of "
		                "another kind or seed than its manifest says", s->keys.set,
		                m->generation);
	return err;
}

static int load(const struct set *s, const unsigned char *image, uint64_t most,
                struct weir_filter **out)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	const struct weir_manifest *m = &s->manifest;
	struct weir_filter *f;
	o.max_bytes = most ? most : m->bytes;
	int err = weir_load(&f, weir_location_memory(image, m->bytes), &o);
	if (err)
		return weir_fail(err, "set %s: generation %" PRIu64 ": %s%s", s->keys.set,
		                 m->generation, weir_error_detail(),
		                 err == -EFBIG && !most ? " (max-bytes of the module allows more)"
		                                        : "");
	err = check_filter(s, f);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

int set_image(const struct set *s, uint64_t most, struct weir_filter **out)
{
	int err = chunks(s, NULL);
	if (err)
		return err;
	unsigned char *image = key_memory.get(s->manifest.bytes);
	if (!image)
		return weir_fail(-ENOMEM, "set %s: no memory for an image of %" PRIu64 " bytes",
		                 s->keys.set, s->manifest.bytes);
	err = chunks(s, image);
	if (!err)
		err = check_sum(s, image);
	if (!err)
		err = load(s, image, most, out);
	key_memory.put(image);
	return err;
}
