/* SPDX-License-Identifier: MIT
 * An image, in chunks under names that no manifest has yet: they go by themselves if none ever has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../replica/format/scripts.h"
#include "keys.h"
#include "set.h"

static void name_of(const struct set *s, const struct weir_manifest *m, uint64_t i, char *name,
                    size_t room)
{
	char names[WEIR_KEY_TEXT];
	weir__key_of_chunks(names, &s->keys, m->stored);
	snprintf(name, room, "%s%" PRIu64, names, i);
}

static int put_chunk(const struct set *s, const struct weir_manifest *m, uint64_t i,
                     const unsigned char *image)
{
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT], seconds[WEIR_NUMBER_TEXT];
	struct redis_reply *reply;
	uint64_t at = i * m->chunk_bytes;
	size_t len = m->bytes - at < m->chunk_bytes ? m->bytes - at : m->chunk_bytes;
	name_of(s, m, i, name, sizeof name);
	const struct iovec args[] = { weir__text(name), weir__bytes(image + at, len),
		                      weir__text("EX"),
		                      weir__number(seconds, WEIR_SET_STORED_S) };
	int err = set_command(s, "SET", args, 4, &reply);
	if (!err)
		redis.FreeCallReply(reply);
	return err;
}

void set_unstore(const struct set *s, const struct weir_manifest *m, int err)
{
	char name[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT], why[WEIR_SENTENCE_BYTES];
	struct redis_reply *reply;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	for (uint64_t i = 0; i < m->chunks; i++) {
		name_of(s, m, i, name, sizeof name);
		const struct iovec args[] = { weir__text(name) };
		if (set_command(s, "UNLINK", args, 1, &reply) != 0)
			break; /* they go by themselves */
		redis.FreeCallReply(reply);
	}
	(void)weir_fail(err, "%s", why);
}

/* Nothing looks at the server's memory between the commands that a command calls. */
static int put_chunks(const struct set *s, const struct weir_manifest *m,
                      const unsigned char *image)
{
	int err = 0;
	for (uint64_t i = 0; i < m->chunks && !err; i++)
		err = put_chunk(s, m, i, image);
	if (!err && redis.GetUsedMemoryRatio() > 1)
		err = weir_fail(-ENOMEM, "set %s: an image of %" PRIu64 " bytes would leave the "
		                "server above its maxmemory", s->keys.set, m->bytes);
	return err;
}

int set_store(const struct set *s, const struct weir_filter *f, struct weir_manifest *m)
{
	unsigned char *image = key_image(f, m->generation, &m->bytes);
	if (!image)
		return weir_fail(-EIO, "set %s: no image: %s", s->keys.set, weir_error_detail());
	XXH128_hash_t sum = XXH3_128bits(image, m->bytes);
	m->checksum[0] = sum.high64;
	m->checksum[1] = sum.low64;
	m->chunk_bytes = WEIR_SET_CHUNK;
	m->chunks = (m->bytes - 1) / m->chunk_bytes + 1;
	int err = put_chunks(s, m, image);
	munmap(image, m->bytes);
	if (err)
		set_unstore(s, m, err);
	return err;
}
