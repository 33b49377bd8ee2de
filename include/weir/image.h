/* SPDX-License-Identifier: MIT
 * Images: a filter of any kind as a file, in memory or on the wire. The format is little-endian and
 * position-independent. A struct weir_location, passed by value, says where an image is or goes:
 *
 *     weir_save(f, weir_location_path("ids.weir"), NULL)
 *     weir_load(&f, weir_location_path("ids.weir"), NULL)                reads it into memory
 *     weir_load(&f, weir_location_map("ids.weir", WEIR_MAP_READ), NULL)  maps the file
 *
 * Read an untrusted file with max_bytes set, and never map it. Without that limit a compressed or
 * sparse file of some kilobytes takes as much memory as it declares. If a process truncates a
 * mapped file, the next lookup raises SIGBUS.
 *
 * An image holds the seed of its filter, so anyone who can read the file can choose keys that
 * collide. Against hostile clients give it mode 0640 and the server's group, or make the filter
 * keyed: the secret (weir_params.secret) is in no image.
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
	WEIR_LOCATION_MEMORY = 2, /* to read */
	WEIR_LOCATION_ROOM = 3,   /* memory to write */
	WEIR_LOCATION_MAP = 4,
	WEIR_LOCATION_MAP_MEMORY = 5,
	WEIR_LOCATION_CHAIN = 6,
};

/** How a mapping is shared. */
enum weir_map_mode {
	WEIR_MAP_READ = 0,    /* read-only, shared with all processes; inserts fail with -EROFS */
	WEIR_MAP_PRIVATE = 1, /* copy-on-write: inserts stay in this process */
	WEIR_MAP_LIVE = 2,    /* read-write, shared: several processes insert. The file is marked
	                         live, and its checksums are void until weir_seal(). The mapping
	                         keeps three descriptors open, whose locks (fcntl) exclude a seal.
	                         One is of a lock file beside the image, .weir-live-*, which only
	                         processes that may write the image can open. */
};

/** Where an image is or goes. Make one with the functions below. A call that does not take the form
 * fails with -EINVAL, and its sentence lists the forms it takes. */
struct weir_location {
	const char *path;
	const void *memory;
	void *room;
	size_t bytes;              /* at memory or room; in a chain, the number of deltas */
	const char *const *deltas; /* paths */
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

/** A file. A save replaces it atomically. */
static inline struct weir_location weir_location_path(const char *path)
{
	return weir__location(WEIR_LOCATION_PATH, path);
}

/** An open file, pipe or socket, from its position on. Bytes after the image stay unread. */
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

/** Memory to read, which holds exactly one image. */
static inline struct weir_location weir_location_memory(const void *image, size_t bytes)
{
	return weir__location_of(WEIR_LOCATION_MEMORY, image, bytes);
}

/** Memory to write. With NULL and 0 the call writes nothing and returns the bytes it needs. */
static inline struct weir_location weir_location_room(void *room, size_t bytes)
{
	struct weir_location at = weir__location(WEIR_LOCATION_ROOM, 0);
	at.room = room;
	at.bytes = bytes;
	return at;
}

/** A file to map: the filter uses its pages, and the kernel reads each on first use. It must be a
 * plain image that only changes by renames: truncating a mapped file kills the process. */
static inline struct weir_location weir_location_map(const char *path, enum weir_map_mode mode)
{
	struct weir_location at = weir__location(WEIR_LOCATION_MAP, path);
	at.mode = (uint32_t)mode;
	return at;
}

/** A plain image in memory, 64-byte aligned, as weir_image_copy() puts it into room. The filter
 * uses it in place, read-only, as with WEIR_MAP_READ. The memory stays the caller's and must be
 * readable until weir_destroy() has returned.
 *
 * If this or another process changes the image, also during weir_load(), lookups may miss keys and
 * find others, and weir_verify() fails. But no lookup reads outside of the image, since weir_load()
 * copies and checks size and shape. */
static inline struct weir_location weir_location_map_memory(const void *image, size_t bytes)
{
	return weir__location_of(WEIR_LOCATION_MAP_MEMORY, image, bytes);
}

/** An old image, plain or compressed, with @n deltas (delta.h) applied one after another; to read.
 * Each delta must begin where the one before ended. With 0 deltas it is the old image. */
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
	WEIR_MARK_KEYED = 1u << 0,            /* its filter has a weir_params.secret */
	WEIR_MARK_OVERFULL_ALLOWED = 1u << 1, /* its builder allows a rate above WEIR_SANE_RATE
	                                         times the one asked */
	WEIR_MARK_SHRINK_ALLOWED = 1u << 2,   /* its builder allows fewer keys than WEIR_SANE_KEYS
	                                         times those of the set that it replaces */
	WEIR_MARK_ONCE = 1u << 3,             /* its filter has WEIR_ONCE */
};

/** Limits that stop a mistake: weir build and weir_handle_refresh() refuse a new set if its rate is
 * above WEIR_SANE_RATE times the one asked, beyond what chance explains, or if it has fewer keys
 * than WEIR_SANE_KEYS times those of the set that it replaces. The marks above allow both. */
#define WEIR_SANE_RATE 2.0
#define WEIR_SANE_KEYS 0.1

/** Progress of a call: called after each shard, and at least after each MiB while an image is read
 * or its bits are counted. Return non-zero to stop: the call then fails with -ECANCELED and leaves
 * nothing behind, except what it has written to a descriptor or to room. */
typedef int weir_progress_fn(void *arg, uint64_t bytes_done, uint64_t bytes_total);

/** Start from WEIR_SAVE_OPTIONS_INIT. */
struct weir_save_options {
	size_t struct_size;         /* sizeof(struct weir_save_options) */
	int zstd_level;             /* 0: plain, mappable; 1 to 19: compressed, for transport */
	uint32_t mode;              /* permissions of the file; 0: those of the file it replaces,
	                               without setuid, setgid, sticky and the right of group and
	                               others to write; for a new file 0644 less the umask */
	uint64_t generation;        /* chosen by the caller, stored in the image */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	uint32_t marks;             /* WEIR_MARK_OVERFULL_ALLOWED, WEIR_MARK_SHRINK_ALLOWED, or'ed:
	                               weir_handle_refresh() accepts such an image. A filter does
	                               not inherit them from the image that it was loaded from. */
	struct stat *written;       /* receives what fstat() tells of the file before it gets its
	                               name: a later write to the file shows in st_ino, st_size or
	                               st_mtim; may be NULL */
	bool only_images;           /* keep a file that is neither empty nor an image (-EEXIST), or
	                               that cannot be read (the errno of open or read) */
	bool allow_uneven;          /* save even a filter whose hashes are not uniform, so that its
	                               lookups return true far too often
	                               (weir_stats.hashes_uneven). A window is saved in any case:
	                               it forgets such keys. */
	uint64_t replaces;          /* replace only this image: its weir_image_info.commit from
	                               before you read it, or WEIR_REPLACES_NOTHING if the path had
	                               no file or an empty one. The call keeps the file there, with
	                               -EAGAIN, if it is another one before or after the new file is
	                               written, or a process maps it live or has inserted into it
	                               and sealed it since. 0: replace any file */
};
#define WEIR_REPLACES_NOTHING UINT64_MAX
#define WEIR_SAVE_OPTIONS_INIT WEIR__INIT(weir_save_options)

/** Start from WEIR_LOAD_OPTIONS_INIT. */
struct weir_load_options {
	size_t struct_size;         /* sizeof(struct weir_load_options) */
	uint64_t max_bytes;         /* of bits: refuse larger images; 0: no limit but memory */
	uint32_t flags;             /* reading only: enum weir_flags, for the memory; reading
	                               touches every page of it, with WEIR_PREFAULT or without.
	                               WEIR_ONCE holds from now on for a set made without it */
	bool no_verify;             /* mapping only: leave the bits to weir_verify(); the call still
	                               checks all that precedes them */
	void *memory;               /* reading only: for the bits, as in struct weir_params */
	size_t memory_bytes;        /* reading only: bytes at memory */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	const void *secret;         /* the 16 bytes of a keyed image, copied; NULL: not keyed */
	bool keyless;               /* reading only: load a keyed image without its secret, to
	                               measure it, say: lookups return true, inserts fail with
	                               -EROFS */
	struct weir_window_run run; /* reading only: for a window */
	uint32_t can;               /* enum weir_ability: -ENOTSUP unless the filter has them all;
	                               its kind decides that before a bit is read */
	const char *lock_dir;       /* WEIR_MAP_LIVE only: the folder of the lock file, the same in
	                               each process that maps the image live; NULL: that of the
	                               image, links followed. If users who may not write the image
	                               can rename files in that folder, weir_seal() also needs a
	                               lock on the image, which any reader of it can prevent. */
};
#define WEIR_LOAD_OPTIONS_INIT WEIR__INIT(weir_load_options)

/** The header of an image. Start from WEIR_IMAGE_INFO_INIT. */
struct weir_image_info {
	size_t struct_size;        /* sizeof(struct weir_image_info) */
	uint32_t format;           /* version of the format */
	struct weir_shape shape;   /* its kind and the kind's own numbers */
	uint32_t shards;           /* contiguous runs of lines */
	uint64_t capacity;         /* keys, as asked */
	double fp_rate;            /* as asked */
	uint64_t bytes;            /* of the bit array */
	uint64_t file_bytes;       /* of the whole file; 0: a compressed image at a descriptor */
	uint64_t generation;       /* as in struct weir_save_options */
	uint64_t seed_fingerprint; /* as in struct weir_stats; if keyed, of the secret */
	bool compressed;           /* with zstd */
	bool live;                 /* mapped with WEIR_MAP_LIVE and not sealed since */
	bool keyed;                /* needs the secret that it was made with */
	uint32_t marks;            /* enum weir_image_marks, or'ed */
	const char *hash;          /* of its keys: "XXH3", "XXH64" or "SipHash-2-4" */
	struct weir_text text;     /* normalisation of its keys */
	uint64_t commit;           /* for weir_save_options.replaces: a checksum of the whole image,
	                              equal for equal images; 0: live */
};
#define WEIR_IMAGE_INFO_INIT WEIR__INIT(weir_image_info)

/**
 * Save a filter of any kind while other threads use it.
 *
 * To a path: the call replaces the file atomically. It reserves space, writes the image to an
 * unnamed temporary file in the same folder, syncs it, gives it the name and syncs the folder. If
 * the process is killed, the old file is whole and no other file remains, with one exception: a
 * kill between linkat and rename leaves a file .weir-new-*. So does a kill at any moment if the
 * file system lacks O_TMPFILE or a sandbox refuses linkat. The next save to the same name by the
 * same user removes that file.
 *
 * With options->replaces the temporary name is a fixed one, and a second such save waits for it. No
 * reader can lock that file until its permissions are set, just before the rename. In a folder with
 * the sticky bit another user's file of that name counts only if that user owns the image or the
 * folder. If a file that does not count has the name, two such saves may both succeed while a
 * reader locks the old image.
 *
 * The padding that lets bits of 2 MiB or more be mapped with huge pages is a hole. So on disk the
 * file takes its bits and at most 64 KiB, or 1 MiB from 512 MiB of bits on; in a compound, for each
 * member.
 *
 * The call follows a symbolic link if the kernel does (fs.protected_symlinks), which needs /proc,
 * and replaces the file it names. It refuses a link to nothing.
 *
 * The new file is never open to more users than the one it replaces, unless options->mode says so.
 * Owner and group are kept if this process may set them, but only in a folder of its own user or
 * root that neither group nor others may write; elsewhere the file belongs to the saver. If the
 * group is not kept, or the old file had an access control list, the group may do no more than
 * others. Access control lists are not kept.
 *
 * To a descriptor: the call writes from the position on, without a temporary file or fsync. The
 * padding is a hole only at the end of a regular file without O_APPEND; elsewhere it is zeros.
 * Ignore SIGPIPE to get -EPIPE if the reader goes away. After a failure a part of the image may
 * have been written. Room may hold anything after a failure.
 * @f: may be in use. An insert concurrent with the call may or may not be in the image.
 * @to: a path, a descriptor or room.
 * @options: NULL for the defaults. mode, written, only_images and replaces are for a path. If only
 *   linkat is refused, the call writes everything a second time, and progress begins anew.
 * Return: bytes of the image, or a negative errno, and the old file stays. Two failures leave the
 *   new file in place. If the sync of the folder failed, a power cut may bring the old file back;
 *   the sentence reports so, and saving again is safe. The other is -ENOTRECOVERABLE.
 * Errors: the errno of open, fallocate, write, fsync, fcntl, rename and getrandom (-ENOSPC,
 *   -EACCES, -EROFS, -EIO ...); -ENOSPC also if the room is too small; -ECANCELED; -EAGAIN if the
 *   image is not the one that options->replaces names, or another such save is under way: read it
 *   again; or if @f is the placeholder of a handle without a set (weir_handle_get());
 *   -ENOTRECOVERABLE if the image that options->replaces names could not be locked, and a process
 *   mapped it live just before it was replaced: insert its keys again; -EINVAL if an option is out
 *   of its range, or the path is NULL or no regular file; -EISDIR; -ENOENT, -EACCES, -ELOOP, -EBUSY
 *   for a link that cannot be followed; -ENOMEM; -ENOTSUP if the kind cannot be saved, or for
 *   zstd_level in a build without zstd; -EDOM if the hashes of the filter are not uniform
 *   (hashes_uneven in struct weir_stats), and allow_uneven is not set.
 * Threads: any, with lookups and inserts. If several savers save to one path, the last rename wins;
 *   with replaces only the first saver succeeds.
 * Order: relaxed.  Progress: blocking (file system).  Cost: a look at the folder's names, memory
 *   bandwidth, then the disk. To a descriptor, or of a kind whose keys move (cuckoo), it saves a
 *   copy, and needs memory for it. Inserts that have to move a key wait while the copy is made.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_save(const struct weir_filter *f, struct weir_location to,
                                           const struct weir_save_options *options);

/**
 * Load a filter of any kind: read it, plain or compressed, into memory and check every byte, or map
 * it.
 * @out: receives the filter; untouched on failure.
 * @from: anywhere but room. From a descriptor it reads the image, beginning at the position; other
 *   bytes may follow.
 * @options: NULL for the defaults. When mapping: no flags, memory or keyless; when reading: no
 *   no_verify; for a chain: no flags or memory; lock_dir only with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno; never an empty or partial filter.
 * Errors: -EBADMSG if it is damaged: not an image, a field out of its range or in contradiction to
 *   another, a wrong checksum, trailing bytes; the sentence names the field, its value and the
 *   right one; -EFBIG if it is above max_bytes; -ENOTSUP for a newer format, an unknown kind or
 *   mark, zstd in a build without it, or if the kind cannot be mapped in this mode, or the filter
 *   lacks an ability in options.can; -EKEYREJECTED if the image is keyed and secret is missing or
 *   wrong, or it is not keyed and secret was given; -EBUSY if it is marked live and not sealed, or
 *   a process marked or sealed it during the call; -EISDIR, -EINVAL if it is not a regular file (a
 *   descriptor may be a pipe); -EINVAL for an option, or a compressed image to map; -ENOMEM; the
 *   errno of open and read.
 *
 *   When mapping: the errno of mmap and msync; -EINVAL if memory is misaligned or NULL; -ENOSPC as
 *   weir_verify(), if the memory is a mapped file. Only WEIR_MAP_LIVE accepts an image that is
 *   marked live: -EBUSY if for a second it was being sealed, or mapped live with another lock file
 *   (by a name in another folder, say); -EPERM if the lock file may be a stranger's, or is a link;
 *   -ESTALE if the image was replaced again and again; -ENOSPC, or another errno of fallocate, if
 *   the image has holes that can get no space; the errno of open, linkat, ftruncate and
 *   fcntl, if the lock file cannot be made or locked.
 *
 *   For a chain: as weir_delta_inspect(); -EINVAL if a delta is from another image: the sentence
 *   has the identities; -EBADMSG if a delta is damaged, or its result is not an image.
 * Threads: any.  Order: none; publish the filter with release order. An image in memory that
 *   another thread or process wrote must be published to this one (release, acquire).
 * Progress: blocking (file system).  Cost: reading: the disk, then memory bandwidth; memory for the
 *   bits, touched as they come, and up to 10 MiB to unpack a compressed image. Mapping: it reads
 *   the whole file once to verify it, through 1 MiB of memory; with no_verify some microseconds. A
 *   chain: memory for the larger image of each step and 2 MiB.
 */
WEIR_API WEIR_MUST_CHECK int weir_load(struct weir_filter **out, struct weir_location from,
                                       const struct weir_load_options *options);

/**
 * Check a mapped filter's bits against the checksums of its image.
 * @f: mapped with WEIR_MAP_READ, or sealed.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG names the first shard or reserved byte that is wrong; -EINVAL if the filter is
 *   not mapped with WEIR_MAP_READ; -EBUSY if a process has mapped the image live since, or did so
 *   during the call; -ENOSPC if the image is on a full tmpfs: there the hole before the bits takes
 *   pages when it is read through a mapping (before Linux 5.14 SIGBUS).
 * Threads: any, with lookups.  Progress: wait-free.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_verify(const struct weir_filter *f);

/**
 * Seal a WEIR_MAP_LIVE image: compute the checksums, sync, then remove the live mark. Only the last
 * live mapping can: the call is refused while another one exists, in this or another process. While
 * the call runs, no other can be made. So the image is always live, or sealed and valid, whichever
 * process is killed and when. A killed process loses its mapping, and with it the lock. A process
 * that may only read the image cannot hold the lock, whatever it locks.
 *
 * The call removes the lock file. An unmapping without a seal, or a kill, leaves it with the live
 * image, and the next live mapping takes it over.
 *
 * Afterwards the filter is as if mapped with WEIR_MAP_READ: inserts fail with -EROFS, and
 * weir_verify() checks it. A view of <weir/inline.h> must not insert any more, since its pages are
 * read-only. To insert again, map the image live again.
 *
 * A process that forks shares mapping and lock with its child. A seal by either does not notice the
 * other, so the inserts of both must have ended. A seal by any other process is refused until both
 * have unmapped the image.
 *
 * If the image was renamed since it was mapped, it is sealed under its new name.
 * @f: mapped with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno, and the image is still live and takes inserts. In two cases it is
 *   sealed although the call fails, and the sentence reports which: the last sync failed, so that a
 *   power cut may bring the live mark back; or the image has no name any more (-ESTALE).
 * Errors: -ESTALE if the image was removed or replaced since it was mapped, so that no file has the
 *   inserts; -EBUSY if it is mapped live elsewhere too, or a process has locked it where strangers
 *   can rename its lock file (lock_dir); -EINVAL if it is not mapped live; -ENOTSUP if the kind
 *   cannot; -ENOMEM; -EBADF if other code closed a descriptor of the lock; the errno of msync,
 *   fcntl and ftruncate, and of opening the lock file anew if it was removed.
 * Threads: one, without inserts.  Progress: blocking (file system).  Cost: memory bandwidth, then
 *   the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_seal(struct weir_filter *f);

/* ---- images without a filter; none of these needs a secret ---- */

/**
 * Read and check all of an image, of any kind, except its bits.
 * @from: a path, a descriptor, memory or a chain. A descriptor is then behind what was read.
 * @out: from WEIR_IMAGE_INFO_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(), but a live image is fine; -EINVAL for struct_size.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds; for a chain as
 *   weir_load().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_inspect(struct weir_location from,
                                                struct weir_image_info *out);

/**
 * Check every byte of an image, plain or compressed, of any kind, without keeping it.
 * @from: a path, a descriptor, memory or a chain.
 * @options: max_bytes and progress; if a secret is given, it must be the right one. The others
 *   must have their defaults. NULL for the defaults.
 * @id: receives the identity of its plain form, which deltas refer to. That is its commit record, a
 *   checksum of its head, and the head has those of all its bits. Equal images have equal
 *   identities, plain or compressed. Untouched on failure; may be NULL.
 * Return: 0 if the image is whole, or a negative errno.
 * Errors: as weir_load().
 * Threads: any.  Progress: blocking (file system).
 * Cost: as weir_load(), but with at most 2 MiB of memory, or 12 MiB if the image is compressed,
 *   however large it is. A chain needs memory for the whole image, and so does a router, whose
 *   names are checked too.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_verify(struct weir_location from,
                                               const struct weir_load_options *options,
                                               uint64_t *id);

/**
 * As weir_measure(), for the filter in an image. The call maps a plain image if it can, and reads
 * others into memory. So a process that truncates the file during the call can end this one
 * (SIGBUS), as with weir_location_map(); an image that comes through a pipe is read. For the
 * figures of router.h and window.h load the image, keyless if necessary.
 * @from: a path, a descriptor, memory or a chain.
 * @effort: enum weir_effort. With WEIR_EXACT progress begins anew when the bits are counted.
 * @options: as when mapping; secret is ignored. NULL for the defaults. With no_verify the call
 *   reads only the sampled bits of a plain image; otherwise it checks all of the image first.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL for struct_size or effort.
 * Threads: any.  Progress: blocking (file system).  Cost: as weir_load(), then as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_measure(struct weir_location from, uint32_t effort,
                                                const struct weir_load_options *options,
                                                struct weir_stats *out);

/**
 * Copy an image and check every byte: to compress or unpack it, to put it into memory that
 * processes share, or to apply deltas. Identity, generation and marks stay: without zstd_level the
 * result has the bytes that weir_save() writes plain.
 * @to: a path (which may be that of the old image), a descriptor, or room, 64-byte aligned.
 * @from: a path, a descriptor, memory or a chain.
 * @reading: max_bytes and progress; if a secret is given, it must be the right one. The others
 *   must have their defaults. NULL for the defaults.
 * @writing: generation and marks must have their defaults. NULL for the defaults.
 * Return: bytes of the new image, or a negative errno.
 * Errors: as weir_load() and weir_save(); -ENOSPC if the room is too small: the sentence has both
 *   numbers (for a compound, the bytes up to the first member that does not fit).
 * Threads: any.  Order: none; publish the image with release order.  Progress: blocking (file
 *   system).  Cost: as weir_load(). Without zstd_level into room it takes no other memory;
 *   otherwise memory for the plain image and one of its shards.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_image_copy(struct weir_location to, struct weir_location from,
                                                 const struct weir_load_options *reading,
                                                 const struct weir_save_options *writing);

WEIR_END_DECLS

#endif
