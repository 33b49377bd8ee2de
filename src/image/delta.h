/* SPDX-License-Identifier: MIT
 * The format of deltas, and the only parser of their head. All numbers are little-endian.
 *
 *    offset   bytes  field                                must be
 *         0       8  magic                                WEIRDLT1
 *         8       4  format                               1
 *        12       4  bytes of a piece                     2^20
 *        16       8  old image: bytes of its plain form   4096 to 2^47
 *        24       8  old image: commit record
 *        32       8  old image: generation
 *        40       8  new image: bytes of its plain form   4096 to 2^47
 *        48       8  new image: commit record
 *        56       8  new image: generation
 *        64       8  pieces that changed                  the number of bits set in the map
 *        72       8  length of the delta
 *        80      40  words of later formats               zero
 *       120       8  checksum                             XXH3-64 of bytes 0 to 119
 *       128  8 each  map: bit n % 64 of word n / 64 is    zero beyond the last piece of the new
 *                    set if piece n of the new image      image
 *                    differs from the old image
 *
 * A delta is made from the plain forms of both images, which are their bytes without compression
 * (plain.h). The changed pieces follow the map in order. Each piece is 8 bytes with the length of
 * its zstd frame, then the frame (zstd.h). The frame unpacks to the exclusive or of the piece in
 * the old image and the piece in the new image. If the old image is shorter, the delta takes zeros
 * beyond the end of the old image.
 *
 * [FRAMES-UNTRUSTED]  The reader trusts nothing after the head. It counts the map's bits before it
 *    reads a frame, and a frame may unpack to at most one piece. The parser of images checks every
 *    byte of the result before the caller gets the result. So the frames need no checksums.
 * [DELTA-BASE]  The old image is valid, and its commit record is that in the delta's head, so the
 *    delta was made from this image. If the result is valid and has the commit record of the new
 *    image, the result is the new image. */
#ifndef WEIR_SRC_IMAGE_DELTA_H
#define WEIR_SRC_IMAGE_DELTA_H

#include <weir/delta.h>
#include "image/io.h"
#include "image/plain.h"

enum { WEIR_DELTA_HEAD = 128, WEIR_DELTA_FORMAT = 1 };

/* The old or the new image of a delta. */
struct weir_delta_end {
	uint64_t bytes;
	uint64_t commit;
	uint64_t generation;
};

struct weir_delta_head {
	struct weir_delta_end old, new;
	uint64_t changed;
	uint64_t length;
};

/* Return: the number of pieces of the new image. */
static inline uint64_t weir__delta_pieces(const struct weir_delta_head *head)
{
	return (head->new.bytes + WEIR_DELTA_PIECE - 1) / WEIR_DELTA_PIECE;
}

/* Return: the bytes of the map. */
static inline uint64_t weir__delta_map(const struct weir_delta_head *head)
{
	return (weir__delta_pieces(head) + 63) / 64 * 8;
}

/* Return: the bytes of piece @i in an image of @bytes bytes, or 0 if the image ends before it. */
static inline uint64_t weir__delta_piece(uint64_t bytes, uint64_t i)
{
	const uint64_t at = i * WEIR_DELTA_PIECE;
	if (at >= bytes)
		return 0;
	return bytes - at < WEIR_DELTA_PIECE ? bytes - at : WEIR_DELTA_PIECE;
}

/* Write the head, which has WEIR_DELTA_HEAD bytes. */
void weir__delta_put(unsigned char *bytes, const struct weir_delta_head *head);
/* Read the head of a delta, and check it. */
int weir__delta_read(struct weir_delta_head *out, struct weir_source *source);
/* Return: not 0 if @bytes are the first eight bytes of a delta. */
int weir__is_delta(const unsigned char bytes[8]);

/* ---- shared by the functions for deltas ---- */

/* XOR @n bytes of @from into @to. */
void weir__delta_xor(unsigned char *to, const unsigned char *from, uint64_t n);

/* ---- applying a delta to an image in memory ---- */

/* Turn the old image into the new one, in place, and check every byte. After a failure the contents
 * are undefined.
 * @name: the old image's name, for error messages.  @path: the delta's path.
 * @options: only max_bytes and progress are used. */
int weir__delta_apply(struct weir_plain *plain, const char *name, const char *path,
                      const struct weir_load_options *options);

/* Check a delta without its two images. @options: max_bytes (for the map) and progress are used. */
int weir__delta_verify(struct weir_source *source, const struct weir_load_options *options);

#endif
