/* SPDX-License-Identifier: MIT
 * Unpacks gzip and zstd. Every build of weir has both. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "decode.h"
#include "output/say.h"

/* ---- gzip: a file has one or more members, perhaps with zeros between two members ---- */

static bool gzip_begin(struct decoder *d)
{
	z_stream *z = xmalloc(sizeof *z);
	*z = (z_stream){ 0 };
	d->state = z;
	return inflateInit2(z, 15 + 16) == Z_OK;
}

static void gzip_end(struct decoder *d)
{
	inflateEnd(d->state);
	free(d->state);
}

/* Skips the zeros that may pad a member. Return: true if another member begins. */
static bool next_member(struct decoder *d)
{
	while (d->start < d->end && d->input[d->start] == 0)
		d->start++;
	if (d->start == d->end)
		return false;
	d->in_stream = inflateReset(d->state) == Z_OK;
	return true;
}

static ssize_t read_gzip(struct decoder *d, char *to, size_t room)
{
	z_stream *z = d->state;
	size_t made = 0;
	while (!made) {
		if (!unpack_refill(d))
			return -1;
		if (d->start == d->end)
			return d->in_stream ? unpack_cut_short(d) : 0;
		if (!d->in_stream && !next_member(d))
			continue;
		z->next_in = d->input + d->start;
		z->avail_in = (uInt)(d->end - d->start);
		z->next_out = (Bytef *)to;
		z->avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
		int result = inflate(z, Z_NO_FLUSH);
		d->start = d->end - z->avail_in;
		made = (size_t)((char *)z->next_out - to);
		if (result == Z_MEM_ERROR)
			return unpack_no_memory(d);
		if (result == Z_STREAM_END)
			d->in_stream = false;
		else if (result != Z_OK && result != Z_BUF_ERROR)
			return unpack_damaged(d, z->msg ? z->msg : zError(result));
	}
	return (ssize_t)made;
}

const struct form form_gzip = { .name = "gzip",
	                        .ending = ".gz",
	                        .bytes = 3,
	                        .magic = { 0x1f, 0x8b, 0x08 },
	                        .mask = { 0xff, 0xff, 0xff },
	                        .begin = gzip_begin,
	                        .read = read_gzip,
	                        .end = gzip_end };

/* ---- zstd: a file has one or more frames ---- */

/* Return: log2 of the largest window to accept, since a frame may declare a window of any size. The
 * memory limit must also cover the memory that zstd takes beside the window, which is less than 1
 * MiB. */
static unsigned window_bits(const struct decoder *d)
{
	unsigned bits = 27; /* zstd's own limit */
	while (bits > 10 && (UINT64_C(1) << bits) + (UINT64_C(1) << (bits < 20 ? bits : 20)) >
	                            d->most)
		bits--;
	return bits;
}

static bool zstd_begin(struct decoder *d)
{
	const int bits = (int)window_bits(d);
	d->state = ZSTD_createDStream();
	return d->state &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(d->state, ZSTD_d_windowLogMax, bits));
}

static void zstd_end(struct decoder *d)
{
	ZSTD_freeDStream(d->state);
}

/* Reads until the input buffer has four bytes, or the file ends. Return: false after a message. */
static bool refill_magic(struct decoder *d)
{
	if (d->end - d->start >= 4)
		return true;
	memmove(d->input, d->input + d->start, d->end - d->start);
	d->end -= d->start;
	d->start = 0;
	while (d->end < 4 && !d->at_end) {
		ssize_t got = unpack_some(d, d->input + d->end, sizeof d->input - d->end);
		if (got < 0)
			return false;
		d->end += (size_t)got;
	}
	return true;
}

static bool is_zstd(const unsigned char *bytes)
{
	return form_begins(&form_zstd, bytes, 4) || form_begins(&form_zstd_skippable, bytes, 4);
}

/* Checks the magic of each frame. Without this check, zstd would decode its legacy formats too,
 * with unmaintained code. */
static bool frame_begins(struct decoder *d)
{
	if (!refill_magic(d))
		return false;
	if (d->start == d->end || (d->end - d->start >= 4 && is_zstd(d->input + d->start)))
		return true;
	(void)unpack_damaged(d, "bytes that are not a frame follow a frame");
	return false;
}

static ssize_t read_zstd(struct decoder *d, char *to, size_t room)
{
	ZSTD_outBuffer out = { to, room, 0 };
	while (!out.pos) {
		if (d->in_stream ? !unpack_refill(d) : !frame_begins(d))
			return -1;
		if (d->start == d->end && !d->in_stream)
			return 0;
		ZSTD_inBuffer in = { d->input, d->end, d->start };
		size_t left = ZSTD_decompressStream(d->state, &out, &in);
		d->start = in.pos;
		if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
			return unpack_too_large(d, UINT64_C(1) << window_bits(d));
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return unpack_no_memory(d);
		if (ZSTD_isError(left))
			return unpack_damaged(d, ZSTD_getErrorName(left));
		d->in_stream = left != 0;
		if (d->in_stream && !out.pos && d->at_end && d->start == d->end)
			return unpack_cut_short(d);
	}
	return (ssize_t)out.pos;
}

const struct form form_zstd = { .name = "zstd",
	                        .ending = ".zst",
	                        .bytes = 4,
	                        .magic = { 0x28, 0xb5, 0x2f, 0xfd },
	                        .mask = { 0xff, 0xff, 0xff, 0xff },
	                        .begin = zstd_begin,
	                        .read = read_zstd,
	                        .end = zstd_end };
/* skippable frames, which pzstd writes */
const struct form form_zstd_skippable = { .name = "zstd",
	                                  .ending = ".zst",
	                                  .bytes = 4,
	                                  .magic = { 0x50, 0x2a, 0x4d, 0x18 },
	                                  .mask = { 0xf0, 0xff, 0xff, 0xff },
	                                  .begin = zstd_begin,
	                                  .read = read_zstd,
	                                  .end = zstd_end };
