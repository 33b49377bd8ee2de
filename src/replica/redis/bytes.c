/* SPDX-License-Identifier: MIT
 * Bytes are read, not mapped: a file that a web server gives may be cut by somebody meanwhile. */
#define XXH_INLINE_ALL
#include "redis.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>
#include <weir/error.h>

enum { PIECE = 1 << 20 };

struct summing {
	XXH3_state_t *xxh;
	struct weir_image_hash hash;
	bool hashed;
};

static int add(struct summing *s, const unsigned char *data, size_t len)
{
	if (XXH3_128bits_update(s->xxh, data, len) != XXH_OK)
		return weir_fail(-EIO, "no checksum");
	if (s->hashed)
		weir__image_hash_add(&s->hash, data, len);
	return 0;
}

static int read_all(struct summing *s, int fd, uint64_t bytes, unsigned char *piece)
{
	for (uint64_t at = 0; at < bytes;) {
		size_t most = bytes - at < PIECE ? bytes - at : PIECE;
		ssize_t n = pread(fd, piece, most, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return weir_fail(-errno, "the image cannot be read");
		if (n == 0)
			return weir_fail(-EBADMSG, "the image ends after %llu of %llu bytes",
			                 (unsigned long long)at, (unsigned long long)bytes);
		int err = add(s, piece, (size_t)n);
		if (err)
			return err;
		at += (uint64_t)n;
	}
	return 0;
}

static int sum(struct summing *s, struct weir_bytes_sum *out, int fd, uint64_t bytes,
               unsigned char *piece)
{
	int err = s->hashed ? weir__image_hash_begin(&s->hash) : 0;
	if (!err && XXH3_128bits_reset(s->xxh) != XXH_OK)
		err = weir_fail(-EIO, "no checksum");
	if (!err)
		err = read_all(s, fd, bytes, piece);
	if (err)
		return err;
	XXH128_hash_t x = XXH3_128bits_digest(s->xxh);
	out->checksum[0] = x.high64;
	out->checksum[1] = x.low64;
	if (s->hashed)
		weir__image_hash_end(&s->hash, out->hash);
	return 0;
}

int weir__bytes_sum(struct weir_bytes_sum *out, int fd, uint64_t bytes, bool hash)
{
	struct summing s = { .xxh = XXH3_createState(), .hashed = hash };
	unsigned char *piece = malloc(PIECE);
	*out = (struct weir_bytes_sum){ { 0, 0 }, { 0 } };
	int err = s.xxh && piece ? sum(&s, out, fd, bytes, piece) :
	                           weir_fail(-ENOMEM, "no memory for a checksum");
	free(piece);
	XXH3_freeState(s.xxh);
	return err;
}
