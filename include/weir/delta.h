/* SPDX-License-Identifier: MIT
 * Deltas: what is different between two images, as a file that is small when little is.
 *
 * Save one with weir_delta_save() where the images are made. Apply it elsewhere with
 * weir_location_chain(): weir_load() of a chain makes the filter, weir_image_copy() of a chain
 * writes the new image.
 *
 * A delta is of the images' plain form, as weir_save() writes it without zstd_level, whichever form
 * the files have. That is cut into pieces of 1 MiB; of each piece that differs the delta has the
 * exclusive or of old and new, compressed by zstd. So any two images have a delta, of whatever kind
 * and size, but only those of one layout, size and seed have a small one: weir build gives an
 * image those of the one that it replaces. Of a filter with single bits (blocked, classic, split,
 * growing) it has some bytes for each bit that changed; of counters likewise. Of those
 * that are built once (fuse, layered) a part of one to two million keys changes as a whole if one
 * of its keys does; give them a capacity, or their size follows the number of keys. Of cuckoo a
 * place depends on the order of inserts, so only what was added to the old image is little.
 *
 * Both ends are named by the identity of their plain form, a checksum of everything in it. A delta
 * is refused on any image but the one it was made from, and what it makes is checked as every image
 * is, each byte, and is byte for byte the plain form of the new one. So a damaged or hostile delta
 * does what a damaged or hostile image does: nothing.
 *
 * Who can read a delta and the old image has the new one, and its seed (image.h).
 */
#ifndef WEIR_DELTA_H
#define WEIR_DELTA_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/image.h>

WEIR_BEGIN_DECLS

enum { WEIR_DELTA_PIECE = 1 << 20 }; /* bytes of a piece */

/** Start from WEIR_DELTA_OPTIONS_INIT. */
struct weir_delta_options {
	size_t struct_size;         /* sizeof(struct weir_delta_options) */
	int zstd_level;             /* 1 to 19; 0: 3 */
	uint32_t mode;              /* of the file that is written: struct weir_save_options */
	uint64_t max_bytes;         /* of bits: refuse larger images; 0: no limit but memory */
	uint64_t max_delta;         /* bytes of the delta, which else is refused; 0: no limit */
	weir_progress_fn *progress; /* as in struct weir_load_options, of the bytes of each image
	                               that is read, then of the pieces; may be NULL */
	void *progress_arg;
};
#define WEIR_DELTA_OPTIONS_INIT WEIR__INIT(weir_delta_options)

/** What the head of a delta says. Start from WEIR_DELTA_INFO_INIT. */
struct weir_delta_info {
	size_t struct_size;      /* sizeof(struct weir_delta_info) */
	uint32_t format;         /* version of the format */
	uint64_t old_id, new_id; /* identities of the images' plain forms: weir_image_verify() */
	uint64_t old_bytes;      /* of the old image's plain form, as a file */
	uint64_t new_bytes;      /* likewise of the new one's */
	uint64_t old_generation; /* as in struct weir_image_info */
	uint64_t new_generation;
	uint64_t pieces;         /* of the new one */
	uint64_t changed;        /* of them, those that the delta has */
	uint64_t file_bytes;     /* of the delta */
};
#define WEIR_DELTA_INFO_INIT WEIR__INIT(weir_delta_info)

/**
 * Save the delta from one image to another.
 * @to: a path, which is replaced atomically, as weir_save() replaces an image; or room.
 * @old_image, @new_image: of filters of any kind, plain or compressed, anywhere that
 *   weir_image_copy() reads from.
 * @options: NULL for the defaults.
 * Return: bytes of the delta, or a negative errno; what was at a path stays then, but for the last
 *   error of weir_save().
 * Errors: those of weir_load() of either image, but no key is needed of a keyed one; those of
 *   weir_save(); -EFBIG more than max_delta bytes; -ENOTSUP this build has no zstd, or @to is a
 *   descriptor.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for both images and 2 MiB; reads both, then memory bandwidth, and zstd's time for
 *   what differs.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_delta_save(struct weir_location to,
                                                 struct weir_location old_image,
                                                 struct weir_location new_image,
                                                 const struct weir_delta_options *options);

/**
 * Read the head of a delta.
 * @from: a path, a descriptor or memory.
 * @out: from WEIR_DELTA_INFO_INIT; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG no delta, or a damaged one; -ENOTSUP a newer format; -EINVAL struct_size, or no
 *   regular file; -EISDIR; the errno of open and read.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_inspect(struct weir_location from,
                                                struct weir_delta_info *out);

/**
 * Check a delta without its images: its head, its map, and that each piece unpacks to its length.
 * A byte of a piece that zstd unpacks to another one shows only when the delta is applied:
 * weir_image_verify() of a chain checks all of what it makes.
 * @from: a path, a descriptor or memory.
 * @options: max_bytes, of the memory for the bits of all pieces, and progress, of the bytes of the
 *   new image; the rest is not looked at. NULL: none.
 * Return: 0 the delta is whole, or a negative errno.
 * Errors: as weir_delta_inspect(); -ENOTSUP also if this build has no zstd; -ENOMEM; -ECANCELED.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for a piece and a bit for each; reads it once, and zstd's time.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_verify(struct weir_location from,
                                               const struct weir_load_options *options);

WEIR_END_DECLS

#endif
