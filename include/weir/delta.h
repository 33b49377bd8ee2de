/* SPDX-License-Identifier: MIT
 * Deltas: what is different between two images, as a file that is small when little is.
 *
 *     weir_delta_save("d", "old.weir", "new.weir", NULL)         where the images are made
 *     weir_delta_apply("new.weir", "old.weir", deltas, 1, NULL)  where they are used
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
	int zstd_level;             /* weir_delta_save() only: 1 to 19; 0: 3 */
	uint32_t mode;              /* of the file that is written: struct weir_save_options */
	uint64_t max_bytes;         /* of bits: refuse larger images, also those that a delta
	                               makes; 0: no limit but memory */
	uint64_t max_delta;         /* weir_delta_save() only: bytes of the delta, which else is
	                               refused; 0: no limit */
	weir_progress_fn *progress; /* as in struct weir_load_options, of the bytes of each image
	                               that is read, then of the pieces; may be NULL */
	void *progress_arg;
};
#define WEIR_DELTA_OPTIONS_INIT { sizeof(struct weir_delta_options), 0, 0, 0, 0, 0, 0 }

/** What the head of a delta says. Start from WEIR_DELTA_INFO_INIT. */
struct weir_delta_info {
	size_t struct_size;      /* sizeof(struct weir_delta_info) */
	uint32_t format;         /* version of the format */
	uint64_t old_id, new_id; /* identities of the two images' plain forms: weir_image_id() */
	uint64_t old_bytes;      /* of the old image's plain form, as a file */
	uint64_t new_bytes;      /* likewise of the new one's */
	uint64_t old_generation; /* as in struct weir_image_info */
	uint64_t new_generation;
	uint64_t pieces;         /* of the new one */
	uint64_t changed;        /* of them, those that the delta has */
	uint64_t file_bytes;     /* of the delta */
};
#define WEIR_DELTA_INFO_INIT { sizeof(struct weir_delta_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * The identity of an image: the commit record of its plain form, a checksum of its head, which has
 * those of all its bits. Equal images have equal ones, plain or compressed.
 * @out: receives it; untouched on failure.
 * @options: as for weir_image_verify(). NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: as weir_image_verify().
 * Threads: any.  Progress: blocking (file system).
 * Cost: as weir_load(): all of it is read and checked, into memory.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_id(uint64_t *out, const char *image,
                                           const struct weir_load_options *options);

/**
 * Save the delta from one image to another, atomically, as weir_save() saves an image.
 * @path: of the delta.
 * @old_image, @new_image: of filters, windows or routers; plain or compressed.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno; what was at @path stays then, but for the last error of
 *   weir_save().
 * Errors: those of weir_load() of either image, but no key is needed of a keyed one; those of
 *   weir_save(); -EFBIG more than max_delta bytes; -ENOTSUP this build has no zstd.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for both images and 2 MiB; reads both, then memory bandwidth, and zstd's time for
 *   what differs.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_save(const char *path, const char *old_image,
                                             const char *new_image,
                                             const struct weir_delta_options *options);

/**
 * Read the head of a delta.
 * @out: from WEIR_DELTA_INFO_INIT; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG no delta, or a damaged one; -ENOTSUP a newer format; -EINVAL struct_size, or no
 *   regular file; -EISDIR; the errno of open and read.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_info(const char *path, struct weir_delta_info *out);

/**
 * Make the new image of an old one and a chain of deltas, and save it in its plain form,
 * atomically, as weir_save() does.
 * @path: of the new image; may be that of the old one.
 * @old_image: plain or compressed.
 * @deltas: @n paths, at least one, each of which begins where the one before ended.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno; what was at @path stays then, but for the last error of
 *   weir_save().
 * Errors: as weir_load(), but no key is needed; as weir_delta_info(); as weir_save(); -EINVAL a
 *   delta is from another image, whose identity the sentence has; -EBADMSG a delta is damaged, or
 *   what it makes is no image: the sentence has what is wrong with it; -EFBIG max_bytes.
 * Threads: any.  Progress: blocking (file system).
 * Cost: memory for the larger image of each step and 2 MiB; reads all files, then memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_apply(const char *path, const char *old_image,
                                              const char *const *deltas, size_t n,
                                              const struct weir_delta_options *options);

/**
 * Likewise, into a filter, as weir_load() of the new image would give it.
 * @out: receives the filter; untouched on failure.
 * @n: 0: the old image is the new one.
 * @options: flags, memory and memory_bytes are not for this call. NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: as weir_load() of the new image; as weir_delta_apply().
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (file system).  Cost: likewise.
 */
WEIR_API WEIR_MUST_CHECK int weir_delta_load(struct weir_filter **out, const char *old_image,
                                             const char *const *deltas, size_t n,
                                             const struct weir_load_options *options);

WEIR_END_DECLS

#endif
