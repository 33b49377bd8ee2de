/* SPDX-License-Identifier: MIT
 * Images: a filter as a file, in shared memory, or on the wire. One format, little-endian,
 * position-independent.
 *
 * For untrusted files use weir_load() with max_bytes set: it reads them into private memory and
 * checks every byte before it uses one, and without that limit a compressed or sparse file of some
 * kilobytes takes as much memory as it declares. weir_map() is for files that only weir_save()
 * replaces, which renames and never truncates: if a process truncates a mapped file, the next
 * lookup raises SIGBUS.
 *
 * The seed lies in the image: whoever can read the file can choose keys that collide, so where
 * clients are hostile give it mode 0640 and the server's group, or make the filter keyed
 * (weir_params.secret), whose key is in no image.
 */
#ifndef WEIR_IMAGE_H
#define WEIR_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/kinds.h>
#include <weir/text.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_filter;
struct weir_stats;
struct stat; /* <sys/stat.h> */

/** What the header of an image says beside its fields. */
enum weir_image_marks {
	WEIR_MARK_KEYED = 1u << 0,            /* its filter has a weir_params.secret */
	WEIR_MARK_OVERFULL_ALLOWED = 1u << 1, /* its rate may be above twice the one asked: its
	                                         builder wanted it so */
	WEIR_MARK_SHRINK_ALLOWED = 1u << 2,   /* likewise: it may have under a tenth of the keys of
	                                         the set that it replaces */
};

/** What nobody can have meant of a set that is to replace another one, for weir build and
 * weir_handle_refresh(): more keys than capacity and a rate of absent keys above WEIR_SANE_RATE
 * times the one asked, or fewer keys than WEIR_SANE_KEYS of those of the set that it replaces. The
 * marks above allow it. */
#define WEIR_SANE_RATE 2.0
#define WEIR_SANE_KEYS 0.1

/** Called after each shard, and when an image is read or its bits are counted, at least after each
 * MiB. Return non-zero to stop: the call then fails with -ECANCELED and leaves nothing behind,
 * except what weir_save_fd() has written. */
typedef int weir_progress_fn(void *arg, uint64_t bytes_done, uint64_t bytes_total);

/** Start from WEIR_SAVE_OPTIONS_INIT. */
struct weir_save_options {
	size_t struct_size;         /* sizeof(struct weir_save_options) */
	int zstd_level;             /* 0: plain, mappable; 1 to 19: compressed, for transport */
	uint32_t mode;              /* permissions of the file; 0: those of the file it replaces
	                               but setuid, setgid, sticky and the right of group and others
	                               to write; of a new one 0644 less the umask */
	uint64_t generation;        /* a number of the caller's, kept in the image */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	uint32_t marks;             /* WEIR_MARK_OVERFULL_ALLOWED, WEIR_MARK_SHRINK_ALLOWED, or'ed:
	                               weir_handle_refresh() takes such an image. Those of an image
	                               that the filter was loaded from are not inherited. */
	struct stat *written;       /* of a file by its path: receives what fstat() says of it when
	                               it has no name yet, so that writing to it later is noticed
	                               by st_ino, st_size or st_mtim; may be NULL */
	bool only_images;           /* a file by its path that is neither empty nor an image stays:
	                               -EEXIST; one that cannot be read, likewise: why */
};
#define WEIR_SAVE_OPTIONS_INIT { sizeof(struct weir_save_options), 0, 0, 0, 0, 0, 0, 0, false }

/** Start from WEIR_LOAD_OPTIONS_INIT. */
struct weir_load_options {
	size_t struct_size;         /* sizeof(struct weir_load_options) */
	uint64_t max_bytes;         /* of bits: refuse larger images; 0: no limit but memory */
	uint32_t flags;             /* weir_load*() only: enum weir_flags, for the memory; reading
	                               touches every page of it, with WEIR_PREFAULT or without */
	bool no_verify;             /* weir_map() only: leave the bits to weir_verify(); all that
	                               precedes them is checked anyway */
	void *memory;               /* weir_load*() only: for the bits, as in struct weir_params */
	size_t memory_bytes;        /* weir_load*() only: bytes at memory */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	const void *secret;         /* of a keyed image: its 16 bytes, copied; NULL: not keyed */
	bool keyless;               /* weir_load*() only: load a keyed image without its key, to
	                               measure it, say: lookups return true, inserts answer
	                               -EROFS */
	struct weir_window_run run; /* weir_load*() only: of a window */
	uint32_t can;               /* enum weir_ability: -ENOTSUP unless the filter has them all,
	                               which its kind tells before a bit is read */
};
#define WEIR_LOAD_OPTIONS_INIT WEIR__INIT(weir_load_options)

/** How weir_map() shares. */
enum weir_map_mode {
	WEIR_MAP_READ = 0,    /* read-only, shared with all processes; inserts answer -EROFS */
	WEIR_MAP_PRIVATE = 1, /* copy-on-write: this process's inserts stay its own */
	WEIR_MAP_LIVE = 2,    /* read-write, shared: several processes insert. The file is marked
	                         live, its checksums are void until weir_seal(). The mapping keeps
	                         a descriptor open, whose lock (fcntl) keeps it and a seal apart. */
};

/** The header of an image. Start from WEIR_IMAGE_INFO_INIT. */
struct weir_image_info {
	size_t struct_size;        /* sizeof(struct weir_image_info) */
	uint32_t format;           /* version of the format */
	struct weir_shape shape;   /* its kind and the kind's own numbers */
	uint32_t shards;           /* contiguous runs of lines */
	uint64_t capacity;         /* keys, as asked */
	double fp_rate;            /* as asked */
	uint64_t bytes;            /* of bits */
	uint64_t file_bytes;       /* of the whole file */
	uint64_t generation;       /* as in struct weir_save_options */
	uint64_t seed_fingerprint; /* as in struct weir_stats; of a keyed image its key's */
	bool compressed;           /* with zstd */
	bool live;                 /* mapped with WEIR_MAP_LIVE and not sealed since */
	bool keyed;                /* to be loaded with the secret that it was made with */
	bool overfull_allowed;     /* WEIR_MARK_OVERFULL_ALLOWED */
	bool shrink_allowed;       /* WEIR_MARK_SHRINK_ALLOWED */
	const char *hash;          /* of its keys: "XXH3", "XXH64" or "SipHash-2-4" */
	struct weir_text text;   /* what is done to its keys before that */
};
#define WEIR_IMAGE_INFO_INIT \
	{ sizeof(struct weir_image_info), 0, { 0, { { 0 } } }, 0, 0, 0.0, 0, 0, 0, 0, false, \
	  false, false, false, false, 0, { 0, 0, 0, { 0 }, { 0 } } }

/**
 * Save a filter to a file, atomically. The image is written to an unnamed temporary file in the
 * same folder, with its space reserved first. It is synced, given its name, and the folder is
 * synced. If the process is killed, the old file is whole and nothing else stays. There is one
 * exception: a kill between linkat and rename, or at any moment on a file system without O_TMPFILE
 * or where a sandbox refuses linkat, leaves a file .weir-new-*, which the next save to the same
 * name by the same user removes.
 *
 * A symbolic link is followed if the kernel follows it (fs.protected_symlinks); this needs /proc.
 * The file it names is replaced. A link to nothing is refused.
 *
 * The new file is never open to more users than the one it replaces, unless by options->mode. Owner
 * and group are kept as far as this process may give them, but only in a folder of its own user or
 * root where neither group nor others may write; elsewhere the file belongs to who saves it. If the
 * group is not kept, or the old file had an access control list, the group may do no more than
 * others. Access control lists are not kept.
 * @f: may be in use. An insert concurrent with the call may or may not be in the file.
 * @options: NULL for the defaults. Where linkat alone is refused, all is written a second time, and
 *   progress begins anew.
 * Return: 0 or a negative errno, and the old file stays. Only if the sync of the folder failed, the
 *   call fails although the new file is in place, and a power cut may bring the old one back; the
 *   sentence reports so. To save again is safe.
 * Errors: the errno of open, fallocate, write, fsync and rename (-ENOSPC, -EACCES, -EROFS, -EIO
 *   ...); -ECANCELED; -EINVAL an option is out of its range, or @path is NULL or no regular file;
 *   -EISDIR; -ENOENT, -EACCES, -ELOOP, -EBUSY a link that cannot be followed; -ENOMEM; -ENOTSUP the
 *   kind cannot be saved, or zstd_level in a build without zstd; that of getrandom.
 * Threads: any, with lookups and inserts. Of several savers to one path the last to switch wins.
 * Order: relaxed.  Progress: blocking (file system).  Cost: a look at the folder's names, memory
 *   bandwidth, then the disk. Of a kind whose keys move (cuckoo) memory for a copy, which is saved:
 *   inserts that have to move one wait while it is made.
 */
WEIR_API WEIR_MUST_CHECK int weir_save(const struct weir_filter *f, const char *path,
                                       const struct weir_save_options *options);
/**
 * As weir_save(), to an open file, pipe or socket from its position on: no temporary file, no
 * fsync. mode is ignored. Ignore SIGPIPE to get -EPIPE if the reader goes away.
 * Return: 0 or a negative errno; a part of the image may have been written.
 * Errors: the errno of write and fcntl; -ECANCELED, -EINVAL, -ENOMEM, -ENOTSUP as weir_save().
 * Cost: memory for a copy of the filter, since a stream begins with the checksums of the bits.
 */
WEIR_API WEIR_MUST_CHECK int weir_save_fd(const struct weir_filter *f, int fd,
                                          const struct weir_save_options *options);

/**
 * Read an image, plain or compressed, into memory of its own.
 * @out: receives the filter; untouched on failure.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno; never an empty or partial filter.
 * Errors: -EBADMSG damaged: not an image, a field out of its range or in contradiction to another,
 *   a wrong checksum, trailing bytes; the sentence names the field, its value and the right one;
 *   -EFBIG more than max_bytes; -ENOTSUP a newer format, an unknown kind or mark, or zstd in a
 *   build without it, or the filter lacks an ability that options.can names; -EKEYREJECTED the
 *   image is keyed and secret is missing or another, or it is not keyed and secret was given;
 *   -EBUSY marked live and not sealed, or a process marked or sealed it during the call; -EISDIR,
 *   -EINVAL not a regular file (weir_load_fd() reads a pipe); -EINVAL an option; -ENOMEM; that of
 *   open and read.
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (file system).  Cost: the disk, then memory bandwidth. Memory for the bits,
 *   touched as they come, and up to 10 MiB to unpack a compressed image.
 */
WEIR_API WEIR_MUST_CHECK int weir_load(struct weir_filter **out, const char *path,
                                       const struct weir_load_options *options);
/** As weir_load(), from an open file, pipe or socket: from its position to the end of the image.
 * Other bytes may follow. */
WEIR_API WEIR_MUST_CHECK int weir_load_fd(struct weir_filter **out, int fd,
                                          const struct weir_load_options *options);
/** As weir_load(), from @bytes bytes of memory that hold exactly one image. */
WEIR_API WEIR_MUST_CHECK int weir_load_memory(struct weir_filter **out, const void *image,
                                              size_t bytes,
                                              const struct weir_load_options *options);

/**
 * Map a plain image: the file's pages are the filter's memory, and each is read on first use.
 * @out: receives the filter; untouched on failure.
 * @mode: how the mapping is shared.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL an unknown mode, or a compressed image (weir_load() it); the
 *   errno of mmap and msync. Only WEIR_MAP_LIVE accepts an image that is marked live: -EBUSY it is
 *   being sealed, and was so for a second; the errno of fcntl, where the file cannot be locked.
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (file system).  Cost: the whole file is read once to verify it, through 1 MiB
 *   of memory; with no_verify some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_map(struct weir_filter **out, const char *path,
                                      enum weir_map_mode mode,
                                      const struct weir_load_options *options);

/**
 * Read an image, plain or compressed, and put it as a plain one at @memory: the bytes that
 * weir_save() writes plain. It is for memory that processes share: one of them reads the file, and
 * each makes a filter of its own of it by weir_map_memory().
 * @memory: a multiple of 64; @room bytes of it. Nobody else uses it during the call. After a
 *   failure it may hold anything.
 * @bytes: receives the plain image's length; untouched on failure.
 * @path: the file.
 * @options: max_bytes, progress, progress_arg and secret; the others must have their defaults.
 *   NULL for the defaults. A keyed image is read with its secret or without one.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EFBIG also: the plain image has more than @room bytes, and the sentence
 *   has both numbers (of a compound the bytes up to the first member that has no room); -EINVAL
 *   also: @memory is misaligned or NULL, or @bytes is NULL.
 * Threads: any.  Order: none; publish the image with release order.
 * Progress: blocking (file system).  Cost: as weir_load(), into memory that is there.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_read(void *memory, size_t room, size_t *bytes,
                                             const char *path,
                                             const struct weir_load_options *options);

/**
 * Make a read-only filter around a plain image in memory, without a copy: inserts answer -EROFS, as
 * of WEIR_MAP_READ, and weir_verify() checks it. The memory stays the caller's, who keeps it, and
 * keeps it readable, until after weir_destroy().
 *
 * If somebody changes the image meanwhile, in this process or another, lookups answer by what they
 * find: they may miss keys and may find any, and weir_verify() fails. But none reads outside of the
 * image, since size and shape were copied and checked when the filter was made. That holds for a
 * change during this call as well.
 * @out: receives the filter; untouched on failure.
 * @image: exactly @bytes bytes, such as weir_image_read() puts there; a multiple of 64, as any
 *   page is.
 * @options: as for weir_map(). NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL also: @image is misaligned or NULL, or it is compressed
 *   (weir_load_memory() reads that).
 * Threads: any.  Order: none; an image that another thread or process wrote must be published to
 *   this one (release, acquire).
 * Progress: wait-free but for some memory.  Cost: the image is read once to verify it; with
 *   no_verify some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_map_memory(struct weir_filter **out, const void *image,
                                             size_t bytes,
                                             const struct weir_load_options *options);

/**
 * Check every byte of an image, plain or compressed, of any kind, and keep none.
 * @options: max_bytes, progress and progress_arg; the others must have their defaults. NULL for the
 *   defaults.
 * Return: 0 the image is whole, or a negative errno.
 * Errors: as weir_load().
 * Threads: any.  Progress: blocking (file system).
 * Cost: as weir_load(), but of memory at most 2 MiB, or 12 MiB if the image is compressed, however
 *   large it is.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_verify(const char *path,
                                               const struct weir_load_options *options);
/** As weir_image_verify(), from an open file, pipe or socket: from its position to the end of the
 * image. Other bytes may follow. */
WEIR_API WEIR_MUST_CHECK int weir_image_verify_fd(int fd, const struct weir_load_options *options);

/**
 * Check a mapped filter's bits against the checksums of its image.
 * @f: mapped with WEIR_MAP_READ, or sealed.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG names the first shard or reserved byte that is wrong; -EINVAL the filter is not
 *   mapped with WEIR_MAP_READ; -EBUSY a process has mapped the image live since, or did so during
 *   the call.
 * Threads: any, with lookups.  Progress: wait-free.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_verify(const struct weir_filter *f);

/**
 * Seal a WEIR_MAP_LIVE image: compute the checksums, sync, then remove the live mark. Only the last
 * live mapping can: while another one stands, here or in another process, the call is refused, and
 * while the call runs, no other can be made. So the image is always live, or sealed and valid,
 * whoever is killed when. A process that is killed loses its mapping, and with it the lock.
 *
 * Afterwards the filter is as if mapped with WEIR_MAP_READ: inserts answer -EROFS, a view of
 * <weir/inline.h> must not insert any more (its pages are read-only), weir_verify() checks it. To
 * insert again, map the image live again.
 *
 * A process that forks shares mapping and lock with its child. A seal by either of them does not
 * see the other, so the inserts of both must have ended; one by anybody else is refused until both
 * have unmapped it.
 * @f: mapped with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno, and the image is still live and takes inserts. Only if the last
 *   sync failed, it is sealed although the call fails, and a power cut may bring the live mark
 *   back; the sentence reports so.
 * Errors: -EBUSY the image is mapped live elsewhere too; -EINVAL not mapped live; -ENOTSUP the kind
 *   cannot; -ENOMEM; -EBADF the lock's descriptor was closed by somebody else; the errno of msync
 *   and fcntl.
 * Threads: one, without inserts.  Progress: blocking (file system).  Cost: memory bandwidth, then
 *   the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_seal(struct weir_filter *f);

/**
 * Read and check all of an image, of any kind, but its bits.
 * @out: from WEIR_IMAGE_INFO_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(), but a live image is no error; -EINVAL struct_size.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_info(const char *path, struct weir_image_info *out);

/**
 * The marks of the image that a filter was loaded or mapped from: what its builder allowed.
 * Return: enum weir_image_marks, or'ed; 0 of a filter that was created.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_marks_of(const struct weir_filter *f);

/**
 * As weir_measure(), of the filter in an image. No key is needed: secret is ignored. A plain
 * image is mapped, a compressed one is read into memory.
 * @options: as for weir_map(), NULL for the defaults. With no_verify only the sampled bits of a
 *   plain image are read; else all of the image is checked first.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_map() with WEIR_MAP_READ and weir_load(); -EINVAL struct_size.
 * Threads: any.  Progress: blocking (file system).  Cost: as weir_map(), or weir_load() of a
 *   compressed image, then as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_stats(const char *path,
                                              const struct weir_load_options *options,
                                              struct weir_stats *out);
/** As weir_image_stats(), of every bit, as weir_measure(). Where the bits are checked first,
 * progress begins anew when they are counted. */
WEIR_API WEIR_MUST_CHECK int weir_image_stats_exact(const char *path,
                                                    const struct weir_load_options *options,
                                                    struct weir_stats *out);

WEIR_END_DECLS

#endif
