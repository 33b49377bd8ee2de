/* SPDX-License-Identifier: MIT
 * How a key is written into an append-only file that is rewritten without a preamble: as a dump,
 * the LOADCHUNK commands of its header and chunks (dump.c). */
#include <string.h>
#include <unistd.h>
#include "dump.h"

static void emit(struct redis_io *io, struct redis_string *key, const struct key_kind *kind,
                 uint64_t iterator, const void *data, size_t bytes)
{
	redis.EmitAOF(io, kind->load_chunk, "slb", key, (long long)iterator, (const char *)data,
	              bytes);
}

/* Redis has no other way to hear that a value was not written whole. */
void rewrite_fail(struct redis_io *io)
{
	redis.LogIOError(io, "warning", "the rewrite ends, and the old append-only file stays: no "
	                 "memory for a chunk of up to 16 MiB");
	_exit(1);
}

/* Return: 0, or -1 without memory for a chunk. */
static int emit_array(struct redis_io *io, struct redis_string *key, const struct key_kind *kind,
                      const struct dump_key *k, unsigned i, uint64_t *offset, uint64_t name)
{
	uint64_t all;
	const unsigned char *bits = dump_array(k, i, &all);
	for (uint64_t at = 0, bytes; at < all; at += bytes, *offset += bytes) {
		bytes = all - at < DUMP_BITS_MOST ? all - at : DUMP_BITS_MOST;
		uint64_t next = dump_iterator(k, name, *offset + bytes);
		if (dump_is_raw(k)) {
			emit(io, key, kind, next, bits + at, bytes);
			continue;
		}
		/* Not key_memory: a rewrite goes on if maxmemory is reached. */
		unsigned char *chunk = redis.TryAlloc(DUMP_FRAME_BYTES + bytes);
		if (!chunk)
			return -1;
		memcpy(chunk + DUMP_FRAME_BYTES, bits + at, bytes);
		dump_put_frame(chunk, &(struct dump_frame){ name, *offset,
		                                            k->chain ? k->link[i]->items : 0 },
		               chunk + DUMP_FRAME_BYTES, bytes);
		emit(io, key, kind, next, chunk, DUMP_FRAME_BYTES + bytes);
		redis.Free(chunk);
	}
	return 0;
}

static void rewrite(struct redis_io *io, struct redis_string *key, const struct key_kind *kind,
                    const struct dump_key *k)
{
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t name, offset = 0;
	size_t bytes = dump_put_header(k, header, &name);
	int failed = 0;
	emit(io, key, kind, dump_iterator(k, name, 0), header, bytes);
	for (unsigned i = 0; !failed && i < k->n; i++)
		failed = emit_array(io, key, kind, k, i, &offset, name);
	if (failed)
		rewrite_fail(io);
}

void bf_rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
	struct dump_key k = dump_of_chain(value);
	rewrite(io, key, &bf_keys, &k);
}

void cf_rewrite(struct redis_io *io, struct redis_string *key, void *value)
{
	struct dump_key k = dump_of_cuckoo(value);
	rewrite(io, key, &cf_keys, &k);
}
