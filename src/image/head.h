/* SPDX-License-Identifier: MIT
 * The image format and the only parser of its header. All numbers are little-endian. A 64-bit word
 * of the bits has the same bytes in the image as in memory ([LITTLE-ENDIAN]).
 *
 *    offset   bytes  field                                must be
 *         0       8  magic                                WEIRIMG1
 *         8       4  format                               1; 2 if marks or steps are not 0; 3 for
 *                                                         a compound
 *        12       4  kind                                 enum weir_kind_id
 *        16     2*4  shape numbers of kinds 0 and 1       1 to 64, legal for the kind; zero for all
 *                                                         other kinds
 *        24       8  blocks of 64 bytes                   1 to 2^40
 *        32       8  capacity                             1 to 2^48
 *        40       8  fp_rate, IEEE 754 binary64           above 0, below 1
 *        48       4  hash                                 the kind's: 1 XXH3-64, 2 XXH64, both with
 *                                                         the seed; or 3 SipHash-2-4 with a key
 *                                                         that is not in the image, if and only if
 *                                                         bit 0 of marks is set
 *        52       4  shards                               1, or a power of two up to 65536 that
 *                                                         cuts the blocks into runs of 1024 or more
 *        56       8  seed                                 1 or more; for hash 3 the check value of
 *                                                         the secret key; 0 for kinds of foreign
 *                                                         formats (split)
 *        64       8  generation
 *        72       4  compression                          0 none, 1 zstd
 *        76       4  number of members                    1 to 16 in format 3; else zero
 *        80       8  offset of the table of checksums     512
 *        88       8  offset of the bits                   the end of the table, rounded up to 4096,
 *                                                         or to 2 MiB for plain bits of 2 MiB or
 *                                                         more
 *        96       8  length of the image                  offset + bits; compressed: 0, since a
 *                                                         stream knows it only at its end
 *       104     7*4  shape numbers of all other kinds     legal for the kind; kinds 0 and 1: zero
 *       136       4  marks                                zero in format 1; bit 0 keyed; the
 *                                                         builder allowed an overfull (bit 1) or a
 *                                                         shrunk set (bit 2); bit 3 WEIR_ONCE
 *       140       4  steps that normalise keys            zero in format 1; enum weir_text_steps;
 *                                                         in format 2 marks or steps are not 0
 *       144     1+3  IPv4, then IPv6 prefix lengths: n    bits 0 to 32, 0 to 128; zero without
 *              * 8   is bit n % 64 of word n / 64         the step cidr
 *       176     2*8  numbers of labels: bits as above     bits 1 to 127; zero without suffixes
 *       192     4*8  the compound's own words             legal for the kind; zero before format 3
 *       224     264  words of later formats               zero
 *       488       8  header checksum                      XXH3-64 of bytes 0 to 487
 *       496       8  table checksum                       XXH3-64 of the table; void while live
 *       504       8  commit record                        XXH3-64 of bytes 488 to 503, or
 *                                                         WEIR_IMAGE_LIVE: mapped live and not
 *                                                         sealed since
 *       512  8 each  table: each shard's checksum         XXH3-64 of its bits; void while live
 *                    everything else before the bits      zero
 *
 * The image of a compound has format 3. It is a head and a table, followed by the complete image of
 * each member, which starts at a multiple of 4096 (compound.h). In the compound's head, blocks is
 * the sum over the members, shards is 1, the offset of the bits is that of the first member, and
 * the length ends with the last member. The table has 16 bytes for each member. They are a number
 * of the kind (growing: the member's count of keys; window: its age) and the commit record from the
 * member's head, so no member can be exchanged for another. The own words are max_capacity for
 * growing, and the fields in window/window.h for a window. A compound is never live.
 *
 * In a compressed image each shard is 8 bytes with the length of its zstd frame, then the frame.
 * A saver writes the lowest format that can express the image. A reader reports an image with an
 * unknown mark, step or word as made by a newer library.
 * Marking an image live changes only the commit record. Sealing the image writes the table, the
 * table checksum and, last, the commit record. So a crash in between leaves the image live. */
#ifndef WEIR_SRC_IMAGE_HEAD_H
#define WEIR_SRC_IMAGE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/image.h>
#include <weir/kinds.h>
#include <weir/text.h>

#define WEIR_IMAGE_LIVE UINT64_C(0x4556494c52494557) /* "WEIRLIVE" */

enum {
	WEIR_IMAGE_HEAD = 512,     /* bytes before the table */
	WEIR_IMAGE_CHECKSUM = 488, /* offset of the header checksum */
	WEIR_IMAGE_COMMIT = 504,   /* offset of the commit record */
	WEIR_IMAGE_FORMAT = 3, /* the newest format that this library reads */
	WEIR_IMAGE_COMPOUND = 3, /* the format of compounds */
	WEIR_IMAGE_MEMBERS = 16, /* the most members of a compound */
	WEIR_IMAGE_MEMBER = 16,  /* bytes of a member's row in the table */
	WEIR_IMAGE_OWN = 4,      /* the number of words that a compound's kind defines */
	WEIR_IMAGE_PLAIN = 0,
	WEIR_IMAGE_ZSTD = 1,
};

/* The header fields that differ between images. */
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
	uint32_t marks; /* enum weir_image_marks; always 0 in format 1 */
	struct weir_text text; /* has no steps in format 1 */
	uint32_t members; /* the number of members in format 3; otherwise 0 */
	uint64_t own[WEIR_IMAGE_OWN]; /* only in format 3 */
	uint64_t length;  /* in format 3: bytes of the whole image, or 0 if compressed */
	uint64_t header_checksum;
	uint64_t table_checksum;
	uint64_t commit;
};

/* Facts about an image that its header does not tell. */
struct weir_image_given {
	uint64_t length;          /* bytes from the start of the image to the end of the file or
	                           * memory; UINT64_MAX: unknown */
	bool exact;               /* true: no bytes may follow the image */
	uint64_t max_bytes;       /* limit for the bytes of bits; 0: no limit */
	uint64_t header_checksum; /* computed from the bytes; the header should store it */
	uint64_t commit;          /* the commit record that a sealed image should store */
};

/* A fault in a header. The field named @field is @found. If @rule is not NULL, it says what is
 * allowed. Otherwise the field should be @wanted. All strings are static. */
struct weir_image_fault {
	int err;
	const char *field;
	const char *rule;
	bool hex; /* print @found and @wanted in base 16 */
	uint64_t found;
	uint64_t wanted;
};

/*
 * Check a header. This is a pure function, proven free of run-time errors for every input
 * (tests/fuzz/run-eva.sh).
 * @bytes: the first WEIR_IMAGE_HEAD bytes of the image.
 * @out: receives the fields on success.  @fault: receives the fault on failure.
 * Return: 0; -EBADMSG; -ENOTSUP a newer format; -EFBIG more than max_bytes.
 */
int weir__image_check(const unsigned char *bytes, const struct weir_image_given *given,
                      struct weir_image_head *out, struct weir_image_fault *fault);

/*
 * Check the shape numbers in a header. Call this only for a kind that the library knows, since
 * other kinds may use these bytes differently. This is a pure function, proven free of run-time
 * errors for every input.
 * @bytes: the header that @head was read from.
 * Return: 0; -EBADMSG.
 */
int weir__image_check_numbers(const unsigned char *bytes, const struct weir_image_head *head,
                              struct weir_image_fault *fault);

/* Write a header of WEIR_IMAGE_HEAD bytes. */
void weir__image_put(unsigned char *bytes, const struct weir_image_head *head);

/* Return: the lowest format that can express these fields. */
uint32_t weir__image_format(const struct weir_image_head *head);

/* Return: the bytes of the table. */
uint64_t weir__image_table(const struct weir_image_head *head);

/* Return: the bytes of padding between table and bits. */
uint64_t weir__image_padding(const struct weir_image_head *head);
/* Return: the offset of the bits. */
uint64_t weir__image_bits_offset(const struct weir_image_head *head);
/* Return: the length of a plain image. It cannot overflow after weir__image_check(). */
uint64_t weir__image_length(const struct weir_image_head *head);

/* Read a little-endian number at any address. */
uint64_t weir__image_get64(const unsigned char *bytes);
/* Write a little-endian number to any address. */
void weir__image_put64(unsigned char *bytes, uint64_t value);

/* ---- the normalisation of keys: bytes 140 to 191 ---- */

/* Read the steps from a header. */
struct weir_text weir__steps_get(const unsigned char *bytes);
/* Write the steps to a header. */
void weir__steps_put(unsigned char *bytes, const struct weir_text *n);

/* Check that the steps are known, and that prefix lengths or numbers of labels are valid and belong
 * to a step. This is a pure function, proven free of run-time errors for every input. Return: true;
 * or false, with the fault set. */
bool weir__steps_check(const struct weir_text *n, struct weir_image_fault *fault);

#endif
