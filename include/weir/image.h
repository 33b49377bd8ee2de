/* SPDX-License-Identifier: MIT
 * Images: a filter as a file, in shared memory, or on the wire. One format, little-endian,
 * position-independent.
 *
 * Untrusted files: use weir_load(), which read()s into private memory and checks every byte before
 * one is used. A mapped file that another process truncates raises SIGBUS at the next lookup:
 * weir_map() is for files that only weir_save() replaces (it renames, never truncates).
 */
#ifndef WEIR_IMAGE_H
#define WEIR_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/kinds.h>

WEIR_BEGIN_DECLS

struct weir_filter;

/** Called now and then during long work. Return non-zero to stop: the call fails with -ECANCELED
 * and leaves nothing behind. */
typedef int weir_progress_fn(void *arg, uint64_t bytes_done, uint64_t bytes_total);

struct weir_save_options {
	size_t struct_size;         /* sizeof(struct weir_save_options) */
	/* 0: plain, mappable; 1 to 19: compressed for transport with that level */
	int zstd_level;
	/* permissions of a new file; 0: 0644 less the umask. A replaced file keeps its mode. */
	uint32_t mode;
	uint64_t generation;        /* a number of the caller's, kept in the image */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
};
#define WEIR_SAVE_OPTIONS_INIT { sizeof(struct weir_save_options), 0, 0, 0, 0, 0 }

struct weir_load_options {
	size_t struct_size;         /* sizeof(struct weir_load_options) */
	/* refuse images of more bytes of bits, before allocating; 0: no limit but memory */
	uint64_t max_bytes;
	/* enum weir_flags for the memory; weir_map() takes none of them */
	uint32_t flags;
	/* weir_map() only: leave the shard checksums to weir_verify(); the header is always
	 * checked */
	bool no_verify;
	/* weir_load*() only: where the bits go, as in struct weir_params */
	void *memory;
	size_t memory_bytes;
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
};
#define WEIR_LOAD_OPTIONS_INIT { sizeof(struct weir_load_options), 0, 0, false, 0, 0, 0, 0 }

/** How weir_map() shares. */
enum weir_map_mode {
	/* read-only, shared with every process that maps it; inserts answer -EROFS */
	WEIR_MAP_READ = 0,
	WEIR_MAP_PRIVATE = 1, /* copy-on-write: this process's inserts stay its own */
	/* read-write, shared: several processes insert at once; the file is marked live, its
	 * shard checksums are void until weir_seal() */
	WEIR_MAP_LIVE = 2,
};

/** What an image's header says. Start from WEIR_IMAGE_INFO_INIT. */
struct weir_image_info {
	size_t struct_size;
	uint32_t format;         /* format version */
	struct weir_shape shape; /* its kind and the kind's own numbers */
	uint32_t shards;
	uint64_t capacity;
	double fp_rate;
	uint64_t bytes;          /* of bits */
	uint64_t file_bytes;     /* of the whole image */
	uint64_t generation;
	uint64_t seed_fingerprint;
	bool compressed;
	bool live;               /* opened with WEIR_MAP_LIVE and not sealed since */
};
#define WEIR_IMAGE_INFO_INIT \
	{ sizeof(struct weir_image_info), 0, { 0, { 0 } }, 0, 0, 0.0, 0, 0, 0, 0, false, false }

/**
 * Save a filter to a file, atomically: an unnamed temporary beside it, space reserved first,
 * checksums, fsync, then the name is switched and the folder synced. Killed anywhere, the old file
 * is whole and no litter stays; only between the last two calls, linkat and rename, a kill leaves a
 * file .weir-new-* beside it, which the next save of the same name removes. (Where the file system
 * has no O_TMPFILE, a kill leaves the temporary file, .weir-tmp-*.) A symbolic link is followed:
 * the file it names is replaced.
 * @f: may be in use: each shard is copied, then checksummed; inserts concurrent with the call may
 *   or may not be in the file.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: what open, fallocate, write, fsync, rename answer (-ENOSPC, -EACCES, -EROFS, -EIO ...),
 *   naming the path; -ECANCELED; -EINVAL options out of range; -ENOTSUP zstd_level in a build
 *   without zstd. The old file stays as it was.
 * Threads: any; of several savers of one path the last to switch wins.  Progress: blocking (file
 *   system).  Cost: memory bandwidth, then the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_save(const struct weir_filter *f, const char *path,
                                       const struct weir_save_options *options);
/**
 * As weir_save(), appended to an open file, pipe or socket: no temporary, no fsync. Whoever reads
 * at the other end may go away: ignore SIGPIPE to be told -EPIPE.
 * Cost: the filter's size in memory once more, since a stream begins with the checksums of what
 *   follows: it is of a private copy.
 */
WEIR_API WEIR_MUST_CHECK int weir_save_fd(const struct weir_filter *f, int fd,
                                          const struct weir_save_options *options);

/**
 * Read an image, plain or compressed, into memory of its own.
 * @out: receives the filter; untouched on failure.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno; never an empty or partial filter.
 * Errors: -EBADMSG damaged: not an image, a field out of range or contradicting another, a checksum
 *   that differs, trailing bytes: the sentence names the field, what it holds and what it should;
 *   -EFBIG more than max_bytes; -ENOTSUP a newer format, an unknown kind, or zstd in a build
 *   without; -EBUSY marked live and not sealed, or it became so, or sealed, while it was read;
 *   -ENOMEM; what open and read answer.
 * Threads: any.  Progress: blocking (file system).
 */
WEIR_API WEIR_MUST_CHECK int weir_load(struct weir_filter **out, const char *path,
                                       const struct weir_load_options *options);
/** As weir_load(), from where an open file, pipe or socket is to the image's end. */
WEIR_API WEIR_MUST_CHECK int weir_load_fd(struct weir_filter **out, int fd,
                                          const struct weir_load_options *options);
/** As weir_load(), from @bytes bytes of memory that hold exactly one image. */
WEIR_API WEIR_MUST_CHECK int weir_load_memory(struct weir_filter **out, const void *image,
                                              size_t bytes,
                                              const struct weir_load_options *options);

/**
 * Map a plain image: loading is mapping, the pages are read when first asked for.
 * @mode: how it is shared.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL a mode unknown, or a compressed image (weir_load() it).
 *   WEIR_MAP_LIVE alone accepts an image that is marked live.
 * Threads: any.  Cost: with verification the whole file is read once; with no_verify some
 *   microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_map(struct weir_filter **out, const char *path,
                                      enum weir_map_mode mode,
                                      const struct weir_load_options *options);

/**
 * Check a mapped filter's bits against the checksums of its image.
 * Return: 0 or a negative errno.  Errors: -EBADMSG names the first shard that differs; -EINVAL the
 *   filter is not mapped, or not WEIR_MAP_READ; -EBUSY somebody has mapped the image live since.
 * Threads: any, with lookups.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_verify(const struct weir_filter *f);

/**
 * Seal a WEIR_MAP_LIVE image: checksums of what is there now, synced, the live mark removed.
 * Inserts of any process must have ended: one that comes during or after it is kept in memory, but
 * the checksum no longer fits and the next load says so.
 * Return: 0 or a negative errno.  Errors: -EINVAL not mapped live; what msync answers.
 */
WEIR_API WEIR_MUST_CHECK int weir_seal(struct weir_filter *f);

/**
 * Read and check an image's header alone.
 * @out: from WEIR_IMAGE_INFO_INIT.
 * Return: 0 or a negative errno.  Errors: as weir_load(), of the header only.
 * Threads: any.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_info(const char *path, struct weir_image_info *out);

WEIR_END_DECLS

#endif
