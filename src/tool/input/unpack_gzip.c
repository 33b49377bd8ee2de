/* SPDX-License-Identifier: MIT
 * gzip, as a form of input: members one after another, perhaps with zeros between them. */
#include <stdlib.h>
#include <zlib.h>
#include "output/say.h"
#include "unpack.h"

static bool begin(struct decoder *d)
{
	z_stream *z = need(sizeof *z);
	*z = (z_stream){ 0 };
	d->state = z;
	return inflateInit2(z, 15 + 16) == Z_OK;
}

static void end(struct decoder *d)
{
	inflateEnd(d->state);
	free(d->state);
}

/* Between two members: zeros are padding. Return: whether another member begins. */
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
	                        .begin = begin,
	                        .read = read_gzip,
	                        .end = end };
