/* SPDX-License-Identifier: MIT
 * Reads a file's bytes, and decompresses them if their first bytes are those of a compressed form.
 * A file name whose ending names another form is an error, because a set of the wrong bytes would
 * answer "certainly not" for every real key. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "decode.h"
#include "file.h"
#include "output/say.h"
#include "output/units.h"

#define NUL_SEARCH_BYTES ((size_t)64 << 10) /* bytes to search for NUL */
#define UNPACK_MOST (UINT64_C(256) << 20) /* xz -9 needs 65 MiB to unpack, and zstd up to 128 MiB */

ssize_t unpack_some(struct decoder *d, void *to, size_t room)
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

bool unpack_refill(struct decoder *d)
{
	if (d->start < d->end || d->at_end)
		return true;
	ssize_t got = unpack_some(d, d->input, sizeof d->input);
	d->start = 0;
	d->end = got > 0 ? (size_t)got : 0;
	return got >= 0;
}

static ssize_t read_plain(struct decoder *d, char *to, size_t room)
{
	if (d->start == d->end)
		return d->at_end ? 0 : unpack_some(d, to, room);
	size_t n = d->end - d->start < room ? d->end - d->start : room;
	memcpy(to, d->input + d->start, n);
	d->start += n;
	return (ssize_t)n;
}

ssize_t unpack_cut_short(const struct decoder *d)
{
	say("%s: the %s data ends too early: the file is cut short", d->name, d->form->name);
	return -1;
}

ssize_t unpack_damaged(const struct decoder *d, const char *why)
{
	say("%s: damaged %s data: %s", d->name, d->form->name, why);
	return -1;
}

ssize_t unpack_no_memory(const struct decoder *d)
{
	say("%s: no memory to unpack this %s data: unpack it before", d->name, d->form->name);
	return -1;
}

ssize_t unpack_too_large(const struct decoder *d, uint64_t most)
{
	say("%s: to unpack this %s data takes more than %s of memory: unpack it before", d->name,
	    d->form->name, show_bytes(SHOW, most));
	return -1;
}

/* Images and deltas are refused as input, since a user who swaps the arguments would otherwise get
 * a set of an image's bytes. */
static const struct form form_image = { .name = "weir image",
	                                .bytes = 8,
	                                .magic = "WEIRIMG1",
	                                .mask = { 255, 255, 255, 255, 255, 255, 255, 255 } };
static const struct form form_delta = { .name = "weir delta",
	                                .bytes = 8,
	                                .magic = "WEIRDLT1",
	                                .mask = { 255, 255, 255, 255, 255, 255, 255, 255 } };

static const struct form *const forms[] = {
	&form_gzip, &form_zstd, &form_zstd_skippable, &form_xz, &form_bzip2, &form_bzip2_empty,
	&form_image, &form_delta,
};
#define FORMS (sizeof forms / sizeof *forms)

bool form_begins(const struct form *form, const unsigned char *bytes, size_t have)
{
	for (size_t i = 0; i < form->bytes && i < have; i++)
		if ((bytes[i] & form->mask[i]) != form->magic[i])
			return false;
	return true;
}

/* Reads until the first bytes identify a form, or rule out every form. So a short line from a
 * terminal ends the loop at once, if no form begins like the line. */
static bool sniff(struct decoder *d, const struct form **out)
{
	*out = NULL;
	for (;;) {
		const struct form *may_be = NULL;
		for (size_t i = 0; i < FORMS && !may_be; i++)
			if (form_begins(forms[i], d->input, d->end))
				may_be = forms[i];
		if (!may_be || d->at_end)
			return true;
		if (d->end >= may_be->bytes) {
			*out = may_be;
			return true;
		}
		ssize_t got = unpack_some(d, d->input + d->end, sizeof d->input - d->end);
		if (got < 0)
			return false;
		d->end += (size_t)got;
	}
}

static bool name_agrees(const struct decoder *d, const struct form *found)
{
	size_t len = strlen(d->name);
	for (size_t i = 0; i < FORMS && forms[i]->ending; i++) {
		size_t ending = strlen(forms[i]->ending);
		if (len <= ending || strcmp(d->name + len - ending, forms[i]->ending) ||
		    d->end == 0)
			continue;
		if (found && strcmp(found->name, forms[i]->name) == 0)
			return true;
		say("%s: named %s but not in %s format (--as-is takes the bytes as they are)",
		    d->name, forms[i]->ending, forms[i]->name);
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
	if (form == &form_image || form == &form_delta) {
		say("%s: is a %s, and no file of keys: swapped? (--as-is takes the bytes as they "
		    "are)", d->name, form->name);
		return false;
	}
	if (!form->begin) {
		say("%s: is in %s format, and this weir was built without %s: unpack it (--as-is "
		    "takes the bytes as they are)", d->name, form->name, form->library);
		return false;
	}
	d->form = form;
	d->in_stream = form->begin(d);
	if (!d->in_stream)
		say("%s: no memory for decompression", d->name);
	return d->in_stream;
}

/* ---- files other than lists of keys ---- */

#define UNPACK "unpack it"
#define EXPORT "write the keys to a file of text, one a line"
#define UTF_16 "in UTF-16, as its byte order mark shows"
#define ICONV "iconv -f UTF-16 -t UTF-8 makes lines of it"

/* The known formats, each recognised by the @bytes bytes of @magic at offset @at of a file. The
 * message says that the file is @is, and advises @remedy. */
static const struct foreign_format {
	size_t at, bytes;
	const char *magic, *is, *remedy;
} foreign[] = {
	{ 0, 4, "PK\3\4", "a zip archive (.zip, .xlsx, .docx, .jar)", UNPACK ", or " EXPORT },
	{ 0, 4, "PK\5\6", "an empty zip archive", EXPORT },
	{ 0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK },
	{ 0, 6, "Rar!\x1a\7", "a rar archive", UNPACK },
	{ 256, 6, "\0ustar", "a tar archive", UNPACK },
	{ 0, 4, "\4\x22\x4d\x18", "in lz4 format", UNPACK },
	{ 0, 5, "PAR1\x15", "a Parquet file", EXPORT },
	{ 0, 16, "SQLite format 3", "an SQLite database", EXPORT },
	{ 0, 5, "%PDF-", "a PDF document", EXPORT },
	{ 0, 4, "\x7f\x45LF", "an ELF program", EXPORT },
	{ 0, 2, "\xff\xfe", UTF_16, ICONV },
	{ 0, 2, "\xfe\xff", UTF_16, ICONV },
};

static bool refuse_foreign(const char *name, const char *is, const char *remedy)
{
	say("%s: is %s, and no file of keys: %s (--as-is takes the bytes as they are)", name, is,
	    remedy);
	return false;
}

/* Return: true if carriage returns end the lines. A single carriage return at the end proves
 * nothing, since a last line from Windows may lack its newline. */
static bool ends_lines_in_cr(const char *bytes, size_t n)
{
	const char *cr = memchr(bytes, '\r', n);
	return cr && cr + 1 < bytes + n && !memchr(bytes, '\n', n);
}

/* Return: true if there are NUL bytes, and if their number is at least a quarter of the number of
 * lines. Fewer NUL bytes prove nothing, since a few keys may contain one. */
static bool are_binary(const char *bytes, size_t n)
{
	size_t nuls = 0, lines = 0;
	for (size_t i = 0; i < n; i++) {
		nuls += bytes[i] == '\0';
		lines += bytes[i] == '\n';
	}
	return nuls && 4 * nuls >= lines;
}

bool looks_like_keys(const char *name, const char *bytes, size_t n, char delimiter)
{
	const size_t few = n < NUL_SEARCH_BYTES ? n : NUL_SEARCH_BYTES;
	for (const struct foreign_format *a = foreign;
	     a < foreign + sizeof foreign / sizeof *foreign; a++)
		if (n >= a->at + a->bytes && memcmp(bytes + a->at, a->magic, a->bytes) == 0)
			return refuse_foreign(name, a->is, a->remedy);
	if (delimiter == '\0')
		return true;
	if (are_binary(bytes, few))
		return refuse_foreign(name, "binary, with NUL bytes",
		                      EXPORT ", or give -0 if a NUL byte ends each key");
	if (ends_lines_in_cr(bytes, n))
		return refuse_foreign(name,
		                      "one line with carriage returns in it, as from an old Mac",
		                      "tr '\\r' '\\n' makes lines of it");
	return true;
}

struct decoder *decoder_open(const char *name, bool as_is, uint64_t most)
{
	bool standard_input = strcmp(name, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open_to_read(name);
	if (fd < 0) {
		(void)trouble_unopened(errno, name, SAY_KEYS);
		return NULL;
	}
	if (standard_input && isatty(fd))
		say("reads keys from the terminal, one a line; Ctrl-D ends them");
	struct decoder *d = xmalloc(sizeof *d);
	memset(d, 0, offsetof(struct decoder, input));
	d->name = standard_input ? "standard input" : name;
	d->fd = fd;
	d->most = most < UNPACK_MOST ? most : UNPACK_MOST;
	if (as_is || start(d))
		return d;
	decoder_close(d);
	return NULL;
}

ssize_t decoder_read(struct decoder *d, char *to, size_t room)
{
	return d->form ? d->form->read(d, to, room) : read_plain(d, to, room);
}

uint64_t decoder_taken(const struct decoder *d)
{
	return d->taken;
}

void decoder_close(struct decoder *d)
{
	if (d->form)
		d->form->end(d);
	if (d->fd != STDIN_FILENO)
		close(d->fd);
	free(d);
}
