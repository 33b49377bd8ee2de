/* SPDX-License-Identifier: MIT
 * Reads and writes the head of a delta: see delta.h. */
#include <inttypes.h>
#include <string.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/delta.h"
#include "image/head.h"

enum { FORMAT = 8, OLD = 16, NEW = 40, CHANGED = 64, LENGTH = 72, ZEROS = 80, SUM = 120 };

static const unsigned char magic[8] = { 'W', 'E', 'I', 'R', 'D', 'L', 'T', '1' };
static const uint64_t least_image = 4096, most_image = UINT64_C(1) << 47;

static void put_end(unsigned char *bytes, const struct weir_delta_end *end)
{
	weir__image_put64(bytes, end->bytes);
	weir__image_put64(bytes + 8, end->commit);
	weir__image_put64(bytes + 16, end->generation);
}

static struct weir_delta_end get_end(const unsigned char *bytes)
{
	return (struct weir_delta_end){ .bytes = weir__image_get64(bytes),
		                        .commit = weir__image_get64(bytes + 8),
		                        .generation = weir__image_get64(bytes + 16) };
}

static uint64_t form(uint32_t format, uint32_t piece)
{
	return format | (uint64_t)piece << 32;
}

void weir__delta_put(unsigned char *bytes, const struct weir_delta_head *head)
{
	memset(bytes, 0, WEIR_DELTA_HEAD);
	memcpy(bytes, magic, sizeof magic);
	weir__image_put64(bytes + FORMAT, form(WEIR_DELTA_FORMAT, WEIR_DELTA_PIECE));
	put_end(bytes + OLD, &head->old);
	put_end(bytes + NEW, &head->new);
	weir__image_put64(bytes + CHANGED, head->changed);
	weir__image_put64(bytes + LENGTH, head->length);
	weir__image_put64(bytes + SUM, weir__checksum(bytes, SUM));
}

int weir__is_delta(const unsigned char bytes[8])
{
	return memcmp(bytes, magic, sizeof magic) == 0;
}

static int no_delta(const unsigned char *bytes, const char *name)
{
	return weir__fail(-EBADMSG, "%s: not a delta: its first bytes are not WEIRDLT1%s", name,
	                  memcmp(bytes, "WEIRIMG1", 8) ? ": weir delta -o makes one" :
	                  ", it is an image: weir delta makes one of two images");
}

/* Check the format before the checksum, since only a newer library can read a newer format. Check
 * all other fields after the checksum, so that damage is reported as damage. */
static int sound(const unsigned char *bytes, const char *name)
{
	const uint64_t format = weir__image_get64(bytes + FORMAT);
	if ((uint32_t)format > WEIR_DELTA_FORMAT)
		return weir__fail(-ENOTSUP, "%s: is a delta of format %u, and this library reads "
		                  "%d", name, (uint32_t)format, WEIR_DELTA_FORMAT);
	const uint64_t wanted = weir__checksum(bytes, SUM), found = weir__image_get64(bytes + SUM);
	if (found != wanted)
		return weir__fail(-EBADMSG, "%s: the delta's head sums to %016" PRIx64 " where %016"
		                  PRIx64 " should be", name, wanted, found);
	if (format != form(WEIR_DELTA_FORMAT, WEIR_DELTA_PIECE))
		return weir__fail(-EBADMSG, "%s: the delta's format is %u with pieces of %u bytes; "
		                  "allowed: %d with %d", name, (uint32_t)format,
		                  (uint32_t)(format >> 32), WEIR_DELTA_FORMAT, WEIR_DELTA_PIECE);
	return weir__zeros_check(name, bytes + ZEROS, ZEROS, SUM - ZEROS);
}

static int legal(const struct weir_delta_head *head, const struct weir_source *source)
{
	const struct weir_delta_end *const ends[] = { &head->old, &head->new };
	for (unsigned i = 0; i < 2; i++)
		if (ends[i]->bytes < least_image || ends[i]->bytes > most_image)
			return weir__fail(-EBADMSG, "%s: the delta's %s image has %" PRIu64
			                  " bytes; allowed: %" PRIu64 " to %" PRIu64, source->name,
			                  i ? "new" : "old", ends[i]->bytes, least_image,
			                  most_image);
	if (head->changed > weir__delta_pieces(head))
		return weir__fail(-EBADMSG, "%s: %" PRIu64 " pieces changed, and the delta's new "
		                  "image has %" PRIu64, source->name, head->changed,
		                  weir__delta_pieces(head));
	if (source->exact && head->length != source->length)
		return weir__fail(-EBADMSG, "%s: has %" PRIu64 " bytes where the delta's head has "
		                  "%" PRIu64, source->name, source->length, head->length);
	return 0;
}

int weir__delta_read(struct weir_delta_head *out, struct weir_source *source)
{
	unsigned char bytes[WEIR_DELTA_HEAD];
	int err = weir__source_read(source, bytes, sizeof magic);
	if (!err && !weir__is_delta(bytes))
		return no_delta(bytes, source->name);
	if (!err)
		err = weir__source_read(source, bytes + sizeof magic, sizeof bytes - sizeof magic);
	if (err == -EBADMSG) /* replace the message, which speaks of an image */
		return weir__fail(err, "%s: ends at byte %" PRIu64 ", in the middle of the delta's "
		                  "head", source->name, source->at);
	if (!err)
		err = sound(bytes, source->name);
	if (err)
		return err;
	*out = (struct weir_delta_head){ .old = get_end(bytes + OLD),
		                         .new = get_end(bytes + NEW),
		                         .changed = weir__image_get64(bytes + CHANGED),
		                         .length = weir__image_get64(bytes + LENGTH) };
	return legal(out, source);
}
