/* SPDX-License-Identifier: MIT
 * Unpacks xz, if the weir command is built with liblzma. */
#include "decode.h"

#ifdef WEIR_HAVE_XZ
#include <lzma.h>
#include <stdlib.h>
#include "output/say.h"

static bool begin(struct decoder *d)
{
	lzma_stream *xz = xmalloc(sizeof *xz);
	*xz = (lzma_stream)LZMA_STREAM_INIT;
	d->state = xz;
	return lzma_stream_decoder(xz, d->most, LZMA_CONCATENATED) == LZMA_OK;
}

static void end(struct decoder *d)
{
	lzma_end(d->state);
	free(d->state);
}

static const char *why(lzma_ret result)
{
	switch (result) {
	case LZMA_OPTIONS_ERROR: return "options that this liblzma does not know";
	case LZMA_FORMAT_ERROR: return "bytes that are not a stream follow a stream";
	default: return "its checksums or its structure are wrong";
	}
}

static ssize_t read_xz(struct decoder *d, char *to, size_t room)
{
	lzma_stream *xz = d->state;
	size_t made = 0;
	while (!made && d->in_stream) {
		if (!unpack_refill(d))
			return -1;
		xz->next_in = d->input + d->start;
		xz->avail_in = d->end - d->start;
		xz->next_out = (uint8_t *)to;
		xz->avail_out = room;
		bool last = d->at_end;
		lzma_ret result = lzma_code(xz, last ? LZMA_FINISH : LZMA_RUN);
		d->start = d->end - xz->avail_in;
		made = room - xz->avail_out;
		d->in_stream = result != LZMA_STREAM_END;
		if (result == LZMA_BUF_ERROR && last && !made)
			return unpack_cut_short(d);
		if (result == LZMA_MEMLIMIT_ERROR)
			return unpack_too_large(d, d->most);
		if (result == LZMA_MEM_ERROR)
			return unpack_no_memory(d);
		if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
			return unpack_damaged(d, why(result));
	}
	return (ssize_t)made;
}
#define CODE .begin = begin, .read = read_xz, .end = end
#else
#define CODE .library = "liblzma"
#endif

const struct form form_xz = { .name = "xz",
	                      .ending = ".xz",
	                      .bytes = 6,
	                      .magic = { 0xfd, '7', 'z', 'X', 'Z', 0 },
	                      .mask = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	                      CODE };
