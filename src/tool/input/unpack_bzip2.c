/* SPDX-License-Identifier: MIT
 * Unpacks bzip2, if the weir command is built with libbz2. */
#include "decode.h"

#ifdef WEIR_HAVE_BZIP2
#include <bzlib.h>
#include <stdlib.h>
#include "output/say.h"

static bool begin(struct decoder *d)
{
	bz_stream *bz = xmalloc(sizeof *bz);
	*bz = (bz_stream){ 0 };
	d->state = bz;
	return BZ2_bzDecompressInit(bz, 0, 0) == BZ_OK;
}

static void end(struct decoder *d)
{
	(void)BZ2_bzDecompressEnd(d->state);
	free(d->state);
}

/* Begins the next stream of a file with several streams. */
static bool next_stream(struct decoder *d)
{
	bz_stream *bz = d->state;
	(void)BZ2_bzDecompressEnd(bz);
	*bz = (bz_stream){ 0 };
	d->in_stream = BZ2_bzDecompressInit(bz, 0, 0) == BZ_OK;
	return d->in_stream;
}

static ssize_t read_bzip2(struct decoder *d, char *to, size_t room)
{
	bz_stream *bz = d->state;
	size_t made = 0;
	while (!made) {
		if (!unpack_refill(d))
			return -1;
		if (d->start == d->end)
			return d->in_stream ? unpack_cut_short(d) : 0;
		if (!d->in_stream && !next_stream(d))
			return unpack_no_memory(d);
		bz->next_in = (char *)d->input + d->start;
		bz->avail_in = (unsigned)(d->end - d->start);
		bz->next_out = to;
		bz->avail_out = room > UINT32_MAX ? UINT32_MAX : (unsigned)room;
		int result = BZ2_bzDecompress(bz);
		d->start = d->end - bz->avail_in;
		made = (size_t)(bz->next_out - to);
		if (result == BZ_MEM_ERROR)
			return unpack_no_memory(d);
		if (result == BZ_STREAM_END)
			d->in_stream = false;
		else if (result != BZ_OK)
			return unpack_damaged(d, result == BZ_DATA_ERROR_MAGIC ?
			                         "bytes that are not a stream follow a stream" :
			                         "its checksums or its structure are wrong");
	}
	return (ssize_t)made;
}
#define CODE .begin = begin, .read = read_bzip2, .end = end
#else
#define CODE .library = "libbz2"
#endif

/* Text may begin with BZh, so the magic also includes bytes 5 to 10. In form_bzip2 these bytes
 * begin a block, and in form_bzip2_empty they begin the end of an empty file. */
const struct form form_bzip2 = {
	.name = "bzip2",
	.ending = ".bz2",
	.bytes = 10,
	.magic = { 'B', 'Z', 'h', '0', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 },
	.mask = { 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	CODE
};
const struct form form_bzip2_empty = {
	.name = "bzip2",
	.ending = ".bz2",
	.bytes = 10,
	.magic = { 'B', 'Z', 'h', '0', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 },
	.mask = { 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	CODE
};
