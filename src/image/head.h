/* SPDX-License-Identifier: MIT
 * The image format, and the only parser of its header. All numbers are little-endian. A word of
 * bits has the same bytes as in memory (B3).
 *
 *    offset   bytes  field                                must be
 *         0       8  magic                                WEIRIMG1
 *         8       4  format                               1; 2 if marks or steps are not 0; 3 for
 *                                                         a compound
 *        12       4  kind                                 enum weir_kind_id
 *        16     2*4  numbers of the shape, of kinds 0     1 to 64, legal for the kind; later kinds:
 *                    and 1                                zero
 *        24       8  blocks of 64 bytes                   1 to 2^40
 *        32       8  capacity                             1 to 2^48
 *        40       8  fp_rate, IEEE 754 binary64           above 0, below 1
 *        48       4  hash                                 the kind's: 1 XXH3-64, 2 XXH64, both with
 *                                                         the seed; or 3 SipHash-2-4 with a key
 *                                                         that is not in the image, if and only if
 *                                                         bit 0 of marks is set
 *        52       4  shards                               1, or a power of two up to 65536 that
 *                                                         cuts the blocks into runs of 1024 or more
 *        56       8  seed                                  1 or more: to a builder 0 means random;
 *                                                         for hash 3 the key's check value; for
 *                                                         kinds of foreign formats (split) 0
 *        64       8  generation
 *        72       4  compression                          0 none, 1 zstd
 *        76       4  members, of format 3                 1 to 16; else zero
 *        80       8  offset of the table of checksums     512
 *        88       8  offset of the bits                   the end of the table, rounded up to 4096,
 *                                                         or to 2 MiB for plain bits of 2 MiB or
 *                                                         more
 *        96       8  length of the image                  offset + bits; compressed: 0, since a
 *                                                         stream knows it only at its end
 *       104     7*4  numbers of the shape, of later       legal for the kind; kinds 0 and 1: zero
 *                    kinds
 *       136       4  marks, of format 2; in format 1      bit 0 keyed; bits 1 and 2 the builder was
 *                    zero                                 allowed to save an overfull, a shrunk
 *                                                         set; bit 3 WEIR_ONCE
 *       140       4  steps, of format 2                   enum weir_text_steps: the normalisation
 *                                                         of keys; marks or steps are not 0
 *       144     1+3  lengths of IPv4, of IPv6 prefixes:   bits 0 to 32, 0 to 128; zero without
 *              * 8   bit n % 64 of word n / 64            the step cidr
 *       176     2*8  numbers of labels, in the same way   bits 1 to 127; zero without suffixes
 *       192     4*8  the compound's own, of format 3      legal for the kind; else zero
 *       224     264  words of later formats               zero
 *       488       8  header checksum                      XXH3-64 of bytes 0 to 487
 *       496       8  table checksum                       XXH3-64 of the table; void while live
 *       504       8  commit record                        XXH3-64 of bytes 488 to 503, or
 *                                                         WEIR_IMAGE_LIVE: mapped live and not
 *                                                         sealed since
 *       512  8 each  table: each shard's checksum         XXH3-64 of its bits; void while live
 *                    everything else before the bits      zero
 *
 * A compound's image, of format 3, is a head followed by the complete images of its members, each
 * from a multiple of 4096 on: compound.h. In that head, blocks counts those of all members, shards
 * is 1, the bits' offset is that of the first member, and the length ends with the last one. The
 * table has 16 bytes a member: a number of the kind's (growing: its count of keys; window: its
 * age), then the commit record in the member's head, so that no member can be exchanged for
 * another. The compound's own words: max_capacity for growing, those in window/window.h for a
 * window. A compound is never live.
 *
 * In a compressed image each shard is 8 bytes with the length of its zstd frame, then the frame.
 * A saver writes format 2 only if format 1 cannot express the image. A reader refuses an unknown
 * mark, step or word as newer, since its writer relied on it.
 * Marking an image live and sealing it change only the table, its checksum and the commit record.
 * The commit record changes first to live and last to sealed, so a crash in between leaves the
 * image live. */
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
	WEIR_IMAGE_FORMAT = 3, /* the newest that this library reads */
	WEIR_IMAGE_COMPOUND = 3, /* the format of compounds */
	WEIR_IMAGE_MEMBERS = 16, /* most of a compound */
	WEIR_IMAGE_MEMBER = 16,  /* bytes of one in its table */
	WEIR_IMAGE_OWN = 4,      /* words of a compound's own */
	WEIR_IMAGE_PLAIN = 0,
	WEIR_IMAGE_ZSTD = 1,
};

/* The fields of the header, except those that are the same in every image. */
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
	uint32_t marks; /* enum weir_image_marks; format 2 if not 0 */
	struct weir_text text; /* format 2 if its steps are not 0 */
	uint32_t members; /* format 3 if not 0 */
	uint64_t own[WEIR_IMAGE_OWN]; /* only in format 3 */
	uint64_t length;  /* in format 3: of the whole image; 0 if compressed */
	uint64_t header_checksum;
	uint64_t table_checksum;
	uint64_t commit;
};

/* Facts about an image that do not come from its fields. */
struct weir_image_given {
	uint64_t length;          /* bytes from the image's first on; UINT64_MAX: unknown */
	bool exact;               /* the image must fill it; otherwise other bytes may follow */
	uint64_t max_bytes;       /* of bits; 0: no limit */
	uint64_t header_checksum; /* computed from the bytes */
	uint64_t commit;          /* computed from the bytes */
};

/* A fault: @field holds @found, which breaks @rule. If rule is NULL, it should be @wanted. All
 * strings are static. */
struct weir_image_fault {
	int err;
	const char *field;
	const char *rule;
	bool hex; /* both are names or checksums, to be written in base 16 */
	uint64_t found;
	uint64_t wanted;
};

/*
 * Check a header. This is a pure function, proven free of run-time errors for every input
 * (tests/fuzz/run-eva.sh).
 * @bytes: the first WEIR_IMAGE_HEAD bytes.
 * @out: receives the fields on success.  @fault: receives the fault on failure.
 * Return: 0; -EBADMSG; -ENOTSUP a newer format; -EFBIG more than max_bytes.
 */
int weir__image_check(const unsigned char *bytes, const struct weir_image_given *given,
                      struct weir_image_head *out, struct weir_image_fault *fault);

/*
 * Check the bytes of the shape's numbers. Call it only for a kind that the library knows, since
 * other kinds may use these bytes differently. Pure and proven as weir__image_check.
 * @bytes: the header that @head came from.
 * Return: 0; -EBADMSG.
 */
int weir__image_check_numbers(const unsigned char *bytes, const struct weir_image_head *head,
                              struct weir_image_fault *fault);

/* Write a header with these fields: WEIR_IMAGE_HEAD bytes. */
void weir__image_put(unsigned char *bytes, const struct weir_image_head *head);

/* The format that these fields require. */
uint32_t weir__image_format(const struct weir_image_head *head);

/* The bytes of the table. */
uint64_t weir__image_table(const struct weir_image_head *head);

/* The bytes of padding between table and bits; the offset of the bits; the length of a plain image.
 * With checked fields they cannot overflow. */
uint64_t weir__image_padding(const struct weir_image_head *head);
uint64_t weir__image_bits_offset(const struct weir_image_head *head);
uint64_t weir__image_length(const struct weir_image_head *head);

/* Read or write a little-endian number at any address. */
uint64_t weir__image_get64(const unsigned char *bytes);
void weir__image_put64(unsigned char *bytes, uint64_t value);

/* ---- the normalisation of keys: bytes 140 to 191 ---- */

/* Read from the head's bytes, and write to them. */
struct weir_text weir__steps_get(const unsigned char *bytes);
void weir__steps_put(unsigned char *bytes, const struct weir_text *n);

/* Are the steps known, the lengths valid, and only present with their step? Pure and proven as
 * weir__image_check(). Return: false if not, and the fault is set. */
bool weir__steps_check(const struct weir_text *n, struct weir_image_fault *fault);

#endif
