/* SPDX-License-Identifier: MIT
 * A file's bytes, decompressed. The first bytes show the form; a name that promises another is
 * an error, because a set of the wrong bytes would answer "certainly not" for every real key. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "decode.h"
#include "say.h"

#define INPUT_BYTES ((size_t)256 << 10)

struct decoder {
	const char *name; /* for messages */
	int fd;
	bool at_end;      /* the file has no more bytes */
	bool in_stream;   /* a compressed stream has begun and not ended */
	uint64_t taken;
	ssize_t (*read)(struct decoder *d, char *to, size_t room);
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t start, end; /* the part of input that is not used yet */
	unsigned char input[INPUT_BYTES];
};

static ssize_t read_some(struct decoder *d, void *to, size_t room)
{
	ssize_t got;
	do
		got = read(d->fd, to, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		say("%s: %s", d->name, strerror(errno));
	else if (got == 0)
		d->at_end = true;
	else
		d->taken += (uint64_t)got;
	return got;
}

/* Read input if none is left, unless the file is at its end. */
static bool refill(struct decoder *d)
{
	if (d->start < d->end || d->at_end)
		return true;
	ssize_t got = read_some(d, d->input, sizeof d->input);
	d->start = 0;
	d->end = got > 0 ? (size_t)got : 0;
	return got >= 0;
}

static ssize_t read_plain(struct decoder *d, char *to, size_t room)
{
	if (d->start == d->end)
		return d->at_end ? 0 : read_some(d, to, room);
	size_t n = d->end - d->start < room ? d->end - d->start : room;
	memcpy(to, d->input + d->start, n);
	d->start += n;
	return (ssize_t)n;
}

static ssize_t cut_short(const struct decoder *d, const char *form)
{
	say("%s: the %s data ends too early: the file is cut short", d->name, form);
	return -1;
}

/* Between two members: zeros are padding. Return: whether another member begins. */
static bool gzip_next(struct decoder *d)
{
	while (d->start < d->end && d->input[d->start] == 0)
		d->start++;
	if (d->start == d->end)
		return false;
	d->in_stream = inflateReset(&d->gzip) == Z_OK;
	return true;
}

static ssize_t read_gzip(struct decoder *d, char *to, size_t room)
{
	size_t made = 0;
	while (!made) {
		if (!refill(d))
			return -1;
		if (d->start == d->end)
			return d->in_stream ? cut_short(d, "gzip") : 0;
		if (!d->in_stream && !gzip_next(d))
			continue;
		d->gzip.next_in = d->input + d->start;
		d->gzip.avail_in = (uInt)(d->end - d->start);
		d->gzip.next_out = (Bytef *)to;
		d->gzip.avail_out = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
		int result = inflate(&d->gzip, Z_NO_FLUSH);
		d->start = d->end - d->gzip.avail_in;
		made = (size_t)((char *)d->gzip.next_out - to);
		if (result == Z_STREAM_END) {
			d->in_stream = false;
		} else if (result != Z_OK && result != Z_BUF_ERROR) {
			say("%s: damaged gzip data: %s", d->name,
			    d->gzip.msg ? d->gzip.msg : zError(result));
			return -1;
		}
	}
	return (ssize_t)made;
}

/* Four bytes of input, unless the file ends before. */
static bool refill_magic(struct decoder *d)
{
	if (d->end - d->start >= 4)
		return true;
	memmove(d->input, d->input + d->start, d->end - d->start);
	d->end -= d->start;
	d->start = 0;
	while (d->end < 4 && !d->at_end) {
		ssize_t got = read_some(d, d->input + d->end, sizeof d->input - d->end);
		if (got < 0)
			return false;
		d->end += (size_t)got;
	}
	return true;
}

static bool is_zstd(const unsigned char *bytes);

/* Before each frame: zstd would decode one of its old formats too, by code that nobody looks at any
 * more. */
static bool frame_begins(struct decoder *d)
{
	if (!refill_magic(d))
		return false;
	if (d->start == d->end || (d->end - d->start >= 4 && is_zstd(d->input + d->start)))
		return true;
	say("%s: damaged zstd data: what follows a frame is none", d->name);
	return false;
}

static ssize_t read_zstd(struct decoder *d, char *to, size_t room)
{
	ZSTD_outBuffer out = { to, room, 0 };
	while (!out.pos) {
		if (d->in_stream ? !refill(d) : !frame_begins(d))
			return -1;
		if (d->start == d->end && !d->in_stream)
			return 0;
		ZSTD_inBuffer in = { d->input, d->end, d->start };
		size_t left = ZSTD_decompressStream(d->zstd, &out, &in);
		d->start = in.pos;
		if (ZSTD_isError(left)) {
			say("%s: damaged zstd data: %s", d->name, ZSTD_getErrorName(left));
			return -1;
		}
		d->in_stream = left != 0;
		if (d->in_stream && !out.pos && d->at_end && d->start == d->end)
			return cut_short(d, "zstd");
	}
	return (ssize_t)out.pos;
}

struct form {
	const char *name, *ending;
	size_t bytes;
	unsigned char magic[4], mask[4];
	ssize_t (*read)(struct decoder *d, char *to, size_t room);
};

static const struct form forms[] = {
	{ "gzip", ".gz", 3, { 0x1f, 0x8b, 0x08 }, { 0xff, 0xff, 0xff }, read_gzip },
	{ "zstd", ".zst", 4, { 0x28, 0xb5, 0x2f, 0xfd }, { 0xff, 0xff, 0xff, 0xff }, read_zstd },
	/* a skippable frame, as pzstd writes */
	{ "zstd", ".zst", 4, { 0x50, 0x2a, 0x4d, 0x18 }, { 0xf0, 0xff, 0xff, 0xff }, read_zstd },
};
#define FORMS (sizeof forms / sizeof *forms)

/* Whether the first min(have, magic) bytes are the form's. */
static bool begins_as(const struct form *form, const unsigned char *bytes, size_t have)
{
	for (size_t i = 0; i < form->bytes && i < have; i++)
		if ((bytes[i] & form->mask[i]) != form->magic[i])
			return false;
	return true;
}

static bool is_zstd(const unsigned char *bytes)
{
	for (size_t i = 0; i < FORMS; i++)
		if (forms[i].read == read_zstd && begins_as(&forms[i], bytes, 4))
			return true;
	return false;
}

/* Read first bytes until they show the form: a line of one letter from a terminal does so at
 * once. */
static bool sniff(struct decoder *d, const struct form **out)
{
	*out = NULL;
	for (;;) {
		const struct form *may_be = NULL;
		for (size_t i = 0; i < FORMS && !may_be; i++)
			if (begins_as(&forms[i], d->input, d->end))
				may_be = &forms[i];
		if (!may_be || d->at_end)
			return true;
		if (d->end >= may_be->bytes) {
			*out = may_be;
			return true;
		}
		ssize_t got = read_some(d, d->input + d->end, sizeof d->input - d->end);
		if (got < 0)
			return false;
		d->end += (size_t)got;
	}
}

static bool name_agrees(const struct decoder *d, const struct form *found)
{
	size_t len = strlen(d->name);
	for (size_t i = 0; i < FORMS; i++) {
		size_t ending = strlen(forms[i].ending);
		if (len <= ending || strcmp(d->name + len - ending, forms[i].ending) || d->end == 0)
			continue;
		if (found && strcmp(found->name, forms[i].name) == 0)
			return true;
		say("%s: named %s but not in %s format (--as-is takes the bytes as they are)",
		    d->name, forms[i].ending, forms[i].name);
		return false;
	}
	return true;
}

static bool start(struct decoder *d)
{
	const struct form *form;
	if (!sniff(d, &form) || !name_agrees(d, form))
		return false;
	if (!form)
		return true;
	d->read = form->read;
	bool ready = form->read == read_gzip ? inflateInit2(&d->gzip, 15 + 16) == Z_OK :
	                                       (d->zstd = ZSTD_createDStream()) != NULL;
	if (!ready)
		say("%s: no memory for decompression", d->name);
	d->in_stream = ready;
	return ready;
}

int open_to_read(const char *path)
{
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

struct decoder *decoder_open(const char *name, bool as_is)
{
	bool standard_input = strcmp(name, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open_to_read(name);
	if (fd < 0) {
		say("%s: %s", name, strerror(errno));
		return NULL;
	}
	struct decoder *d = need(sizeof *d);
	memset(d, 0, offsetof(struct decoder, input));
	d->name = standard_input ? "standard input" : name;
	d->fd = fd;
	d->read = read_plain;
	if (as_is || start(d))
		return d;
	decoder_close(d);
	return NULL;
}

ssize_t decoder_read(struct decoder *d, char *to, size_t room)
{
	return d->read(d, to, room);
}

uint64_t decoder_taken(const struct decoder *d)
{
	return d->taken;
}

void decoder_close(struct decoder *d)
{
	if (d->read == read_gzip)
		inflateEnd(&d->gzip);
	ZSTD_freeDStream(d->zstd);
	if (d->fd != STDIN_FILENO)
		close(d->fd);
	free(d);
}
