/* SPDX-License-Identifier: MIT
 * Images: a filter of any kind as a file, in memory or on the wire. The format is little-endian and
 * position-independent. A struct weir_location, passed by value, names the source or destination:
 *
 *     weir_save(f, weir_location_path("ids.weir"), NULL)
 *     weir_load(&f, weir_location_path("ids.weir"), NULL)                reads it into memory
 *     weir_load(&f, weir_location_map("ids.weir", WEIR_MAP_READ), NULL)  maps the file
 *
 * Read an untrusted file only with max_bytes set, and never map it. Without that limit a compressed
 * or sparse file of some kilobytes takes as much memory as it declares. If a process truncates a
 * mapped file, the next lookup raises SIGBUS.
 *
 * An image contains the seed of its filter, so anyone who can read the file can choose keys that
 * collide. Against hostile clients give the file mode 0640 and the server's group, or make the
 * filter keyed: the secret (weir_params.secret) is in no image.
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

/* ---- locations ---- */

enum weir_location_form {
	WEIR_LOCATION_PATH = 0,
	WEIR_LOCATION_FD = 1,
	WEIR_LOCATION_MEMORY = 2, /* memory to read from */
	WEIR_LOCATION_ROOM = 3,   /* memory to write to, called room */
	WEIR_LOCATION_MAP = 4,
	WEIR_LOCATION_MAP_MEMORY = 5,
	WEIR_LOCATION_CHAIN = 6,
};

/** How a mapping is shared. */
enum weir_map_mode {
	WEIR_MAP_READ = 0,    /* read-only, shared with all processes; inserts fail with -EROFS */
	WEIR_MAP_PRIVATE = 1, /* copy-on-write: inserts stay in this process */
	WEIR_MAP_LIVE = 2,    /* read-write, shared: several processes insert. The file is marked
	                         live, and its checksums are invalid until weir_seal(). The mapping
	                         keeps three descriptors open, whose fcntl locks prevent a seal. One
	                         of them is open on a lock file beside the image, .weir-live-*,
	                         which only processes that may write the image can open. */
};

/** The source or destination of an image. Make one with the functions below. A call fails with
 * -EINVAL if it does not accept the form, and its sentence lists the forms that it accepts. */
struct weir_location {
	const char *path;
	const void *memory;
	void *room;
	size_t bytes;              /* size of memory or room; for a chain the number of deltas */
	const char *const *deltas; /* for a chain: paths of the deltas */
	int fd;
	uint32_t form;             /* enum weir_location_form */
	uint32_t mode;             /* enum weir_map_mode */
	uint32_t reserved;
};

static inline struct weir_location weir__location(uint32_t form, const char *path)
{
	struct weir_location at = { path, 0, 0, 0, 0, -1, form, 0, 0 };
	return at;
}

/** Locate an image in a file. A save replaces the file atomically. */
static inline struct weir_location weir_location_path(const char *path)
{
	return weir__location(WEIR_LOCATION_PATH, path);
}

/** Locate an image at the position of an open file, pipe or socket. A load reads only the image. */
static inline struct weir_location weir_location_fd(int fd)
{
	struct weir_location at = weir__location(WEIR_LOCATION_FD, 0);
	at.fd = fd;
	return at;
}

static inline struct weir_location weir__location_of(uint32_t form, const void *image, size_t bytes)
{
	struct weir_location at = weir__location(form, 0);
	at.memory = image;
	at.bytes = bytes;
	return at;
}

/** Locate an image in memory to read from. The image must fill the memory exactly. */
static inline struct weir_location weir_location_memory(const void *image, size_t bytes)
{
	return weir__location_of(WEIR_LOCATION_MEMORY, image, bytes);
}

/** Locate memory to write to. With NULL and 0 a call only returns the bytes that it needs. */
static inline struct weir_location weir_location_room(void *room, size_t bytes)
{
	struct weir_location at = weir__location(WEIR_LOCATION_ROOM, 0);
	at.room = room;
	at.bytes = bytes;
	return at;
}

/** Locate a file to map. The filter uses the file's pages, which the kernel reads on first use. The
 * file must be a plain image. Replace it only by a rename: truncating it kills the process. */
static inline struct weir_location weir_location_map(const char *path, enum weir_map_mode mode)
{
	struct weir_location at = weir__location(WEIR_LOCATION_MAP, path);
	at.mode = (uint32_t)mode;
	return at;
}

/** Locate a plain image in memory, 64-byte aligned, as weir_image_copy() writes it. The
 * filter uses the image in place, read-only, as with WEIR_MAP_READ. The memory stays the caller's
 * and must be readable until weir_destroy() has returned.
 *
 * If a process changes the image later, or during weir_load(), lookups may miss keys or find absent
 * keys, and weir_verify() fails. But no lookup reads outside of the image, since weir_load() copies
 * and checks size and shape. */
static inline struct weir_location weir_location_map_memory(const void *image, size_t bytes)
{
	return weir__location_of(WEIR_LOCATION_MAP_MEMORY, image, bytes);
}

/** Locate, for reading, an image that results from an old image, plain or compressed, and @n deltas
 * (delta.h). The old image of each delta must be the result of the delta before it. */
static inline struct weir_location weir_location_chain(const char *old_image,
                                                       const char *const *deltas, size_t n)
{
	struct weir_location at = weir__location(WEIR_LOCATION_CHAIN, old_image);
	at.deltas = deltas;
	at.bytes = n;
	return at;
}

/* ---- save, load ---- */

/** Marks in the header of an image. */
enum weir_image_marks {
	WEIR_MARK_KEYED = 1u << 0,            /* the filter has a weir_params.secret */
	WEIR_MARK_OVERFULL_ALLOWED = 1u << 1, /* the builder allows a rate above WEIR_SANE_RATE
	                                         times fp_rate */
	WEIR_MARK_SHRINK_ALLOWED = 1u << 2,   /* the builder allows fewer keys than WEIR_SANE_KEYS
	                                         times those of the set that the image replaces */
	WEIR_MARK_ONCE = 1u << 3,             /* the filter has WEIR_ONCE */
};

/** Limits that catch mistakes. weir build and weir_handle_refresh() refuse a new set if its rate is
 * above WEIR_SANE_RATE times fp_rate, beyond what chance explains, or if it has fewer keys than
 * WEIR_SANE_KEYS times those of the set that it replaces. WEIR_MARK_OVERFULL_ALLOWED
 * lifts the first limit, WEIR_MARK_SHRINK_ALLOWED the second. */
#define WEIR_SANE_RATE 2.0
#define WEIR_SANE_KEYS 0.1

/** A callback for the progress of a call. The library calls it after each shard, and at least after
 * each MiB while it reads an image or counts its bits. Return non-zero to stop the call, which then
 * fails with -ECANCELED and leaves nothing behind, except what it has written to a descriptor or to
 * memory. */
typedef int weir_progress_fn(void *arg, uint64_t bytes_done, uint64_t bytes_total);

/** Options of weir_save(). Start from WEIR_SAVE_OPTIONS_INIT. */
struct weir_save_options {
	size_t struct_size;         /* sizeof(struct weir_save_options) */
	int zstd_level;             /* 0: plain, mappable; 1 to 19: compressed, for transport */
	uint32_t mode;              /* permissions of the file; 0: those of the replaced file, but
	                               no setuid, setgid and sticky, and no writing by group and
	                               others; for a new file 0644 less the umask */
	uint64_t generation;        /* chosen by the caller, stored in the image */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	uint32_t marks;             /* WEIR_MARK_OVERFULL_ALLOWED and WEIR_MARK_SHRINK_ALLOWED,
	                               or'ed: weir_handle_refresh() then accepts such an image. A
	                               loaded filter does not pass on the marks of its image */
	struct stat *written;       /* receives fstat() of the new file, called just before the
	                               file gets its name. To detect a later write, compare
	                               st_ino, st_size and st_mtim. May be NULL */
	bool only_images;           /* replace only an empty file or an image. Any other file stays
	                               (-EEXIST), and so does a file that cannot be read (the errno
	                               of open or read) */
	bool allow_uneven;          /* save even a filter whose hashes are not uniform, so that
	                               lookups return true far too often (hashes_uneven in struct
	                               weir_stats). A window is saved in any case, since it forgets
	                               such keys */
	uint64_t replaces;          /* 0: replace any file. WEIR_REPLACES_NOTHING: replace only an
	                               empty or missing file. Any other value: replace only the
	                               image with this weir_image_info.commit; read the commit
	                               before the image. A different file stays (-EAGAIN), even if
	                               it appears during the call. An image also stays if a process
	                               maps it live, or has inserted into it and sealed it since */
};
#define WEIR_REPLACES_NOTHING UINT64_MAX
#define WEIR_SAVE_OPTIONS_INIT WEIR__INIT(weir_save_options)

/** Options of weir_load(). Start from WEIR_LOAD_OPTIONS_INIT. */
struct weir_load_options {
	size_t struct_size;         /* sizeof(struct weir_load_options) */
	uint64_t max_bytes;         /* refuse an image whose bits take more bytes; 0: any size */
	uint32_t flags;             /* reading only: enum weir_flags, for the memory of the bits.
	                               WEIR_PREFAULT has no effect, since reading touches every
	                               page. WEIR_ONCE applies from now on, even to an image made
	                               without it */
	bool no_verify;             /* mapping only: leave the bits to weir_verify(); the call still
	                               checks everything before the bits */
	void *memory;               /* reading only: memory for the bits, as weir_params.memory */
	size_t memory_bytes;        /* reading only: bytes at memory */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	const void *secret;         /* the 16 bytes of a keyed image, copied; NULL: not keyed */
	bool keyless;               /* reading only: load a keyed image without its secret, for
	                               example to measure it: lookups return true, inserts fail with
	                               -EROFS */
	struct weir_window_run run; /* reading only: how a loaded window runs */
	uint32_t can;               /* enum weir_ability, or'ed: the filter must have all of them.
	                               Otherwise the call fails (-ENOTSUP), if possible before it
	                               reads any bit */
	const char *lock_dir;       /* WEIR_MAP_LIVE only: folder of the lock file, equal in all
	                               processes that map the image live; NULL: the image's own
	                               folder (links are followed). If users who may not write the
	                               image can rename files in that folder, weir_seal() also needs
	                               a lock on the image, which any reader can prevent */
};
#define WEIR_LOAD_OPTIONS_INIT WEIR__INIT(weir_load_options)

/** The header of an image. Start from WEIR_IMAGE_INFO_INIT. */
struct weir_image_info {
	size_t struct_size;        /* sizeof(struct weir_image_info) */
	uint32_t format;           /* version of the format */
	struct weir_shape shape;   /* the kind, and the numbers of its shape */
	uint32_t shards;           /* number of contiguous runs of cache lines */
	uint64_t capacity;         /* number of keys that the filter was made for */
	double fp_rate;            /* rate that the filter was made for */
	uint64_t bytes;            /* size of the bit array */
	uint64_t file_bytes;       /* size of the file; 0: a compressed image at a descriptor */
	uint64_t generation;       /* as in struct weir_save_options */
	uint64_t seed_fingerprint; /* fingerprint of the seed, as in struct weir_stats; for a keyed
	                              image the fingerprint of its secret */
	bool compressed;           /* the image is compressed by zstd */
	bool live;                 /* the image is marked live, see WEIR_MAP_LIVE */
	bool keyed;                /* weir_load() needs the secret that the image was made with */
	uint32_t marks;            /* enum weir_image_marks, or'ed */
	const char *hash;          /* hash function: "XXH3", "XXH64" or "SipHash-2-4" */
	struct weir_text text;     /* normalisation of the image's keys */
	uint64_t commit;           /* for weir_save_options.replaces: a checksum of the whole image,
	                              equal for equal images; 0 if the image is live */
};
#define WEIR_IMAGE_INFO_INIT WEIR__INIT(weir_image_info)

/**
 * Save a filter of any kind while other threads use it.
 *
 * Path. The call replaces the file atomically. It reserves space, writes the image to an unnamed
 * temporary file in the same folder, syncs that file, gives it the name and syncs the folder. If
 * the process is killed, the old file is intact. Normally no temporary file remains either. But a
 * kill between linkat and rename leaves a file .weir-new-*, and so does any kill if the file system
 * lacks O_TMPFILE or a sandbox refuses linkat. The next save to the same name by the same user
 * removes that file.
 *
 * With options->replaces the temporary file has a fixed name, and a second save with replaces waits
 * for the first. No reader can lock the file until its permissions are set, just before the rename.
 * In a folder with the sticky bit, a save waits for another user's file of that name only if that
 * user owns the image or the folder. If it does not wait, two saves with replaces may both succeed
 * while a reader locks the old image.
 *
 * The image has padding, so that bits of 2 MiB or more can be mapped with huge pages. The padding
 * is a hole, so on disk the file takes at most 64 KiB more than its bits, or 1 MiB more from 512
 * MiB of bits on. In a growing filter or a window each layer or generation has such padding.
 *
 * The call replaces the file that a symbolic link names, if the kernel follows the link
 * (fs.protected_symlinks). This needs /proc. A link to nothing is refused.
 *
 * Unless options->mode allows it, the new file is never open to more users than the old file. The
 * call keeps owner and group if this process may set them and the folder belongs to its user or
 * root, and neither group nor others may write to the folder. In any other folder the file belongs
 * to the saver. If the group is not kept, or the old file had an access control list, the group may
 * do no more than others. Access control lists are not kept.
 *
 * Descriptor. The call writes at the position, without a temporary file or fsync. The padding is a
 * hole at the end of a regular file without O_APPEND, and zeros anywhere else. If you ignore
 * SIGPIPE, the call returns -EPIPE when a reader closes the pipe. After a failure a descriptor or
 * memory may have a part of the image.
 * @f: may be in use. An insert concurrent with the call may or may not be in the image.
 * @to: a path, a descriptor or memory (weir_location_room()).
 * @options: NULL for the defaults. mode, written, only_images and replaces are for a path. If only
 *   linkat is refused, the call writes everything a second time, and progress starts again at 0.
 * Return: bytes of the image, or a negative errno. After a failure the old file stays, with two
 *   exceptions: after -ENOTRECOVERABLE, and if only the sync of the folder failed, the new file is
 *   in place. Without the sync a power cut may bring the old file back, so save again.
 * Errors: the errno of open, fallocate, write, fsync, fcntl, rename and getrandom (-ENOSPC,
 *   -EACCES, -EROFS, -EIO ...); -ENOSPC also if the memory is too small; -ECANCELED if progress
 *   stopped the call; -EAGAIN if the image is not the one that options->replaces names, or another
 *   save with replaces runs: read the image again; -EAGAIN if @f is the placeholder of a handle
 *   without a set (weir_handle_get()); -ENOTRECOVERABLE if the image that options->replaces names
 *   could not be locked, and a process mapped it live just before the rename: insert that process's
 *   keys again; -EINVAL if an option is out of its range, or the path is NULL or not a regular
 *   file; -EISDIR; -ENOENT, -EACCES, -ELOOP, -EBUSY for a link that cannot be followed; -ENOMEM;
 *   -ENOTSUP if the kind cannot be saved, or for zstd_level if this build lacks zstd; -EDOM if the
 *   hashes of the filter are not uniform (hashes_uneven in struct weir_stats), and allow_uneven is
 *   not set.
 * Threads: any, with lookups and inserts. If several savers save to one path, the last rename wins;
 *   with replaces only the first saver succeeds.
 * Order: relaxed.  Progress: blocking (file system).  Cost: reading the folder's names, memory
 *   bandwidth, then the disk. For a descriptor, or a kind whose keys move (cuckoo), the call needs
 *   memory for a copy of the filter. Inserts that move a key wait while the copy is made.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_save(const struct weir_filter *f, struct weir_location to,
                                           const struct weir_save_options *options);

/**
 * Load a filter of any kind: read the image into memory and check every byte, or map it.
 * @out: receives the filter; untouched on failure.
 * @from: any location except weir_location_room(). From a descriptor the call reads one image at
 *   the position; other bytes may follow the image.
 * @options: NULL for the defaults. Mapping allows none of flags, memory and keyless. Reading does
 *   not allow no_verify, and a chain allows neither flags nor memory. lock_dir needs WEIR_MAP_LIVE.
 * Return: 0 or a negative errno; never an empty or partial filter.
 * Errors: -EBADMSG if the image is damaged: not an image, a field out of its range or in
 *   contradiction to another, a wrong checksum, trailing bytes (the sentence names the field, its
 *   value and the right value); -EFBIG above max_bytes; -ENOTSUP for a newer format, an unknown
 *   kind or mark, zstd if this build lacks it, a kind that cannot be mapped in this mode, or a
 *   filter that lacks an ability in options.can; -EKEYREJECTED if the image is keyed and secret is
 *   missing or wrong, or if it is not keyed and secret is given; -EBUSY if the image is marked live
 *   and not sealed, or a process marked or sealed it during the call; -EISDIR; -EINVAL if the path
 *   is not a regular file (a descriptor may be a pipe), for an option, or for a compressed image to
 *   map; -ENOMEM; the errno of open and read.
 *
 *   When mapping: the errno of mmap and msync; -EINVAL if memory is misaligned or NULL; -ENOSPC as
 *   weir_verify(), if the memory is a mapped file. Only WEIR_MAP_LIVE accepts an image that is
 *   marked live. It fails with -EBUSY if, for a second, the image was being sealed or was mapped
 *   live with another lock file (by a name in another folder, say); -EPERM if the lock file may be
 *   a stranger's, or is a link; -ESTALE if the image was replaced again and again; -ENOSPC or
 *   another errno of fallocate if the image has holes that can get no space; the errno of open,
 *   linkat, ftruncate and fcntl if the lock file cannot be made or locked.
 *
 *   For a chain: as weir_delta_inspect(); -EINVAL if a delta is from another image (the sentence
 *   has both identities); -EBADMSG if a delta is damaged, or its result is not an image.
 * Threads: any.  Order: none; publish the filter with release order. An image in memory that
 *   another thread or process wrote must be published to this one (release, acquire).
 * Progress: blocking (file system).  Cost: reading takes the disk, then memory bandwidth, memory
 *   for the bits, and up to 10 MiB to unpack a compressed image. Mapping reads the whole
 *   file once to verify it, through 1 MiB of memory; with no_verify it takes some microseconds. A
 *   chain takes memory for the larger image of each step and 2 MiB.
 */
WEIR_API WEIR_MUST_CHECK int weir_load(struct weir_filter **out, struct weir_location from,
                                       const struct weir_load_options *options);

/**
 * Check a mapped filter's bits against the checksums of its image.
 * @f: mapped with WEIR_MAP_READ, or sealed.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG if a shard or reserved byte is wrong (the sentence names the first); -EINVAL if
 *   the filter is not mapped with WEIR_MAP_READ; -EBUSY if a process has mapped the image live
 *   after @f was mapped, or does so during the call; -ENOSPC if the image is on a full tmpfs:
 *   reading the hole before the bits through a mapping then takes pages (before Linux 5.14 it
 *   raises SIGBUS).
 * Threads: any, with lookups.  Progress: wait-free.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_verify(const struct weir_filter *f);

/**
 * Seal a WEIR_MAP_LIVE image: compute the checksums, sync, then remove the live mark. Each live
 * mapping holds a lock. The call is refused while this or another process has another live mapping,
 * and no live mapping can be made during the call. So the image is always live, or sealed and
 * valid, even if a process is killed at any moment. A killed process loses its mapping, and with it
 * the lock. A process that may only read the image cannot get that lock.
 *
 * The call removes the lock file. If a process unmaps the image without a seal, or is killed, the
 * lock file stays beside the live image, and the next live mapping uses it.
 *
 * Afterwards the filter is as if mapped with WEIR_MAP_READ: inserts fail with -EROFS, and
 * weir_verify() checks it. A view of <weir/inline.h> must not insert any more, since its pages are
 * read-only. To insert again, map the image live again.
 *
 * After fork() parent and child share mapping and lock. Neither notices a seal by the other. So end
 * the inserts of parent and child before one of them seals the image. Other processes cannot seal
 * the image until parent and child have unmapped it.
 *
 * If the image was renamed since it was mapped, it is sealed under its new name.
 * @f: mapped with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno. After a failure the image is still live and takes inserts, with
 *   two exceptions, which the sentence reports. If only the last sync failed, the image is sealed,
 *   but a power cut may bring the live mark back. If the image has no name any more (-ESTALE),
 *   it is sealed too.
 * Errors: -ESTALE if the image was removed or replaced since it was mapped, so that no file has the
 *   inserts; -EBUSY if the image is mapped live elsewhere too, or if strangers can rename its lock
 *   file (lock_dir) and a process has locked the image; -EINVAL if it is not mapped live; -ENOTSUP
 *   if the kind cannot be sealed; -ENOMEM; -EBADF if other code closed a descriptor of the lock;
 *   the errno of msync, fcntl and ftruncate, and of opening the lock file again if it was removed.
 * Threads: one, without inserts.  Progress: blocking (file system).  Cost: memory bandwidth, then
 *   the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_seal(struct weir_filter *f);

/* ---- images without a filter: these functions need no secret, even for a keyed image ---- */

/**
 * Read and check all of an image except its bits, for a filter of any kind.
 * @from: a path, a descriptor, memory or a chain. A descriptor's position moves past what was read.
 * @out: from WEIR_IMAGE_INFO_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(), but a live image is accepted; -EINVAL for struct_size.
 * Threads: any.  Progress: blocking (file system).  Cost: microseconds; for a chain as weir_load().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_inspect(struct weir_location from,
                                                struct weir_image_info *out);

/**
 * Check every byte of an image, plain or compressed, of any kind, without keeping it.
 * @from: a path, a descriptor, memory or a chain.
 * @options: max_bytes and progress; if a secret is given, it must be the right one. All other
 *   options must have their defaults. NULL for the defaults.
 * @id: receives the identity of the image's plain form, to which deltas refer. It is the image's
 *   commit record, a checksum of the head, which has the checksums of all bits. Equal images have
 *   equal identities, plain or compressed. Untouched on failure; may be NULL.
 * Return: 0 if the image is undamaged, or a negative errno.
 * Errors: as weir_load().
 * Threads: any.  Progress: blocking (file system).
 * Cost: as weir_load(), but with at most 2 MiB of memory, or 12 MiB if the image is compressed,
 *   whatever its size. A chain needs memory for the whole image, and so does an image of a router,
 *   since the call checks its names.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_verify(struct weir_location from,
                                               const struct weir_load_options *options,
                                               uint64_t *id);

/**
 * As weir_measure(), for the filter in an image. The call maps a plain image if it can. It reads
 * a compressed image, and an image from a pipe, into memory. If a process truncates a mapped file
 * during the call, SIGBUS ends this process, as with weir_location_map(). For the figures of
 * router.h and window.h load the image, if necessary with keyless.
 * @from: a path, a descriptor, memory or a chain.
 * @effort: enum weir_effort. With WEIR_EXACT progress starts again at 0 for the count of the bits.
 * @options: as for mapping; secret is ignored. NULL for the defaults. The call first checks the
 *   whole image. With no_verify it reads only the sampled bits of a plain image.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL for struct_size or effort.
 * Threads: any.  Progress: blocking (file system).  Cost: as weir_load(), then as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_measure(struct weir_location from, uint32_t effort,
                                                const struct weir_load_options *options,
                                                struct weir_stats *out);

/**
 * Copy an image and check every byte. Use it to compress or unpack an image, to put an image into
 * memory that processes share, or to apply deltas. Identity, generation and marks stay, so without
 * zstd_level the result has the bytes that weir_save() writes.
 * @to: a path (which may be that of the old image), a descriptor, or memory, 64-byte aligned
 *   (weir_location_room()).
 * @from: a path, a descriptor, memory or a chain.
 * @reading: max_bytes and progress; if a secret is given, it must be the right one. All other
 *   options must have their defaults. NULL for the defaults.
 * @writing: generation and marks must have their defaults. NULL for the defaults.
 * Return: bytes of the new image, or a negative errno.
 * Errors: as weir_load() and weir_save(); -ENOSPC if the memory is too small: the sentence has both
 *   sizes (growing, window: the bytes up to the first layer or generation that does not fit).
 * Threads: any.  Order: none; publish the image with release order.  Progress: blocking (file
 *   system).  Cost: as weir_load(), and memory for the plain image and one of its shards; no memory
 *   if @to is memory and zstd_level is 0.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_image_copy(struct weir_location to, struct weir_location from,
                                                 const struct weir_load_options *reading,
                                                 const struct weir_save_options *writing);

WEIR_END_DECLS

#endif
