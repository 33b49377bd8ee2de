/* SPDX-License-Identifier: MIT
 * The image format, and the one parser of its header. Every number is little-endian; a word of bits
 * is as it lies in memory (B3).
 *
 *    offset  bytes  field                                 must be
 *         0      8  magic                                 WEIRIMG1
 *         8      4  format                                1
 *        12      4  kind                                  enum weir_kind_id
 *        16   2*4  the first two numbers of its shape,    kinds 0 and 1: 1 to 64, legal for the kind
 *                   where the first kinds have them       (words_per_key, bits_per_word); later kinds
 *                                                         have zeros here
 *        24      8  blocks of 64 bytes                    1 to 2^40
 *        32      8  capacity                              1 to 2^48
 *        40      8  fp_rate, IEEE 754 binary64            above 0, below 1
 *        48      4  hash                                  1: XXH3-64 with the seed, 2: XXH64; the
 *                                                         kind's
 *        52      4  shards                                1, or a power of two up to 65536 that cuts
 *                                                         the blocks into runs of 1024 or more
 *        56      8  seed
 *        64      8  generation
 *        72      4  compression                           0 none, 1 zstd
 *        80      8  offset of the table of checksums      512
 *        88      8  offset of the bits                    the end of the table, up to a multiple of
 *                                                         4096, or of 2 MiB for 2 MiB of plain bits
 *                                                         or more
 *        96      8  length of the image                   offset + bits; compressed: 0, since a
 *                                                         stream knows it only at its end
 *       104   7*4  the numbers of its shape              kinds 0 and 1: zero; later kinds: legal for
 *                                                         the kind
 *       488      8  XXH3-64 of bytes 0 to 487             header checksum
 *       496      8  XXH3-64 of the table                  void while live
 *       504      8  XXH3-64 of bytes 488 to 503           commit record; WEIR_IMAGE_LIVE: mapped live
 *                                                         and not sealed since
 *       512  8 each XXH3-64 of each shard's bits          void while live
 *                   everything else up to the bits        zero
 *
 * A compressed image has, in place of the bits, for each shard 8 bytes with the length of its
 * zstd frame, then the frame. Marking an image live and sealing it changes the last three only,
 * the commit record last: a crash in between leaves it live. */
#ifndef WEIR_SRC_IMAGE_HEAD_H
#define WEIR_SRC_IMAGE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/kinds.h>

#define WEIR_IMAGE_LIVE UINT64_C(0x4556494c52494557) /* "WEIRLIVE" */

enum {
	WEIR_IMAGE_HEAD = 512, /* bytes before the table */
	WEIR_IMAGE_CHECKSUM = 488,
	WEIR_IMAGE_COMMIT = 504,
	WEIR_IMAGE_FORMAT = 1,
	WEIR_IMAGE_PLAIN = 0,
	WEIR_IMAGE_ZSTD = 1,
};

/* The fields that are not the same in every image. */
struct weir_image_head {
	struct weir_shape shape;
	uint32_t hash;
	uint32_t shards;
	uint32_t compression;
	uint64_t nblocks;
	uint64_t capacity;
	uint64_t rate_bits;
	uint64_t seed;
	uint64_t generation;
	uint64_t header_checksum;
	uint64_t table_checksum;
	uint64_t commit;
};

/* What the caller knows of an image before a byte of it is believed. */
struct weir_image_given {
	uint64_t length;          /* bytes that there are; UINT64_MAX: unknown */
	bool exact;               /* the image must fill them; else it may end before */
	uint64_t max_bytes;       /* of bits; 0: no limit */
	uint64_t header_checksum; /* as computed from the bytes */
	uint64_t commit;          /* likewise */
};

/* What is wrong: @field holds @found, which breaks @rule, or is not @wanted where rule is NULL.
 * All strings are static. */
struct weir_image_fault {
	int err;
	const char *field;
	const char *rule;
	uint64_t found;
	uint64_t wanted;
};

/*
 * Check a header: a pure function of its arguments, proven free of run-time errors for every input
 * (tests/fuzz/run-eva.sh).
 * @bytes: the first WEIR_IMAGE_HEAD bytes.  @out: the fields, on success.  @fault: what is wrong,
 *   on failure.
 * Return: 0; -EBADMSG; -ENOTSUP a newer format; -EFBIG more than max_bytes.
 */
int weir__image_check(const unsigned char *bytes, const struct weir_image_given *given,
                      struct weir_image_head *out, struct weir_image_fault *fault);

/*
 * Check where the numbers of the shape stand, once the caller knows the kind: what a kind unknown to
 * this library does with these bytes is not for it to judge. Pure and proven as weir__image_check.
 * @bytes: those of @head.
 * Return: 0; -EBADMSG.
 */
int weir__image_check_numbers(const unsigned char *bytes, const struct weir_image_head *head,
                              struct weir_image_fault *fault);

/* The header of these fields: WEIR_IMAGE_HEAD bytes. */
void weir__image_put(unsigned char *bytes, const struct weir_image_head *head);

/* The zeros between table and bits, where the bits begin, and how long a plain image is. Checked
 * fields cannot make them overflow. */
uint64_t weir__image_padding(const struct weir_image_head *head);
uint64_t weir__image_bits_offset(const struct weir_image_head *head);
uint64_t weir__image_length(const struct weir_image_head *head);

/* One little-endian number, at any address. */
uint64_t weir__image_get64(const unsigned char *bytes);
void weir__image_put64(unsigned char *bytes, uint64_t value);

#endif
