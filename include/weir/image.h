/* SPDX-License-Identifier: MIT
 * Images: a filter of any kind as a file, in memory or on the wire. One format, little-endian,
 * position-independent. A struct weir_location, passed by value, says where an image is or goes:
 *
 *     weir_save(f, weir_location_path("ids.weir"), NULL)
 *     weir_load(&f, weir_location_path("ids.weir"), NULL)                reads it into memory
 *     weir_load(&f, weir_location_map("ids.weir", WEIR_MAP_READ), NULL)  maps the file
 *
 * Read an untrusted file with max_bytes set, and never map it: without that limit a compressed or
 * sparse file of some kilobytes takes as much memory as it declares, and if a process truncates a
 * mapped file, the next lookup raises SIGBUS.
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
	WEIR_MAP_READ = 0,    /* read-only, shared with all processes; inserts answer -EROFS */
	WEIR_MAP_PRIVATE = 1, /* copy-on-write: this process's inserts stay its own */
	WEIR_MAP_LIVE = 2,    /* read-write, shared: several processes insert. The file is marked
	                         live, its checksums are void until weir_seal(). The mapping keeps
	                         three descriptors open: their locks (fcntl) keep it and a seal
	                         apart. One is of a lock file beside the image, .weir-live-*,
	                         which only those who may write the image can open. */
};

/** Where an image is or goes. Make one with the functions below. A call that does not take the form
 * answers -EINVAL, and its sentence says which forms it takes. */
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

/** A file to map: its pages are the filter's memory, and each is read on first use. It must be a
 * plain image that only changes by renames: truncating a mapped file kills the process. */
static inline struct weir_location weir_location_map(const char *path, enum weir_map_mode mode)
{
	struct weir_location at = weir__location(WEIR_LOCATION_MAP, path);
	at.mode = (uint32_t)mode;
	return at;
}

/** A plain image in memory, at a multiple of 64, as weir_image_copy() puts it into room: the filter
 * uses it in place, read-only, as with WEIR_MAP_READ. The memory stays the caller's, who keeps it
 * readable until after weir_destroy().
 *
 * If somebody changes the image meanwhile, in this process or another, lookups answer by what they
 * find: they may miss keys and may find any, and weir_verify() fails. But none reads outside of the
 * image, since size and shape were copied and checked when the filter was made. That holds for a
 * change during weir_load() as well. */
static inline struct weir_location weir_location_map_memory(const void *image, size_t bytes)
{
	return weir__location_of(WEIR_LOCATION_MAP_MEMORY, image, bytes);
}

/** An old image, plain or compressed, with @n deltas (delta.h) applied to it, each of which begins
 * where the one before ended; to read. With 0 deltas it is the old image. */
static inline struct weir_location weir_location_chain(const char *old_image,
                                                       const char *const *deltas, size_t n)
{
	struct weir_location at = weir__location(WEIR_LOCATION_CHAIN, old_image);
	at.deltas = deltas;
	at.bytes = n;
	return at;
}

/* ---- save, load ---- */

/** What the header of an image says beside its fields. */
enum weir_image_marks {
	WEIR_MARK_KEYED = 1u << 0,            /* its filter has a weir_params.secret */
	WEIR_MARK_OVERFULL_ALLOWED = 1u << 1, /* its rate may be above twice the one asked: its
	                                         builder wanted it so */
	WEIR_MARK_SHRINK_ALLOWED = 1u << 2,   /* likewise: it may have under a tenth of the keys of
	                                         the set that it replaces */
	WEIR_MARK_ONCE = 1u << 3,             /* its filter has WEIR_ONCE */
};

/** What nobody can have meant of a set that is to replace another one, for weir build and
 * weir_handle_refresh(): a rate of absent keys above WEIR_SANE_RATE times the one asked, beyond
 * what chance explains, or fewer keys than WEIR_SANE_KEYS of those of the set that it replaces. The
 * marks above allow it. */
#define WEIR_SANE_RATE 2.0
#define WEIR_SANE_KEYS 0.1

/** Called after each shard, and when an image is read or its bits are counted, at least after each
 * MiB. Return non-zero to stop: the call then fails with -ECANCELED and leaves nothing behind,
 * except what was written to a descriptor or to room. */
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
	bool allow_uneven;          /* save a filter too whose hashes are not uniform: its lookups
	                               answer true far too often (weir_stats.hashes_uneven). A
	                               window is saved in any case: it forgets them. */
	uint64_t replaces;          /* weir_image_info.commit of the image by that path, from before
	                               it was read; WEIR_REPLACES_NOTHING: no file stood there, or
	                               an empty one. If another file stands there before or after
	                               the new one is written, or a process has the image mapped
	                               live, or has inserted into it and sealed it since, it stays:
	                               -EAGAIN. 0: whatever stands there is replaced */
};
#define WEIR_REPLACES_NOTHING UINT64_MAX
#define WEIR_SAVE_OPTIONS_INIT WEIR__INIT(weir_save_options)

/** Start from WEIR_LOAD_OPTIONS_INIT. */
struct weir_load_options {
	size_t struct_size;         /* sizeof(struct weir_load_options) */
	uint64_t max_bytes;         /* of bits: refuse larger images; 0: no limit but memory */
	uint32_t flags;             /* not to map: enum weir_flags, for the memory; reading
	                               touches every page of it, with WEIR_PREFAULT or without.
	                               WEIR_ONCE: from now on, of a set made without it */
	bool no_verify;             /* to map: leave the bits to weir_verify(); all that
	                               precedes them is checked anyway */
	void *memory;               /* not to map: for the bits, as in struct weir_params */
	size_t memory_bytes;        /* not to map: bytes at memory */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
	const void *secret;         /* of a keyed image: its 16 bytes, copied; NULL: not keyed */
	bool keyless;               /* not to map: load a keyed image without its key, to
	                               measure it, say: lookups return true, inserts answer
	                               -EROFS */
	struct weir_window_run run; /* not to map: of a window */
	uint32_t can;               /* enum weir_ability: -ENOTSUP unless the filter has them all,
	                               which its kind tells before a bit is read */
	const char *lock_dir;       /* to map live: the folder for the lock file, the same one in
	                               each process that maps the image live; NULL: that of the
	                               image, links followed. Where users who may not write the
	                               image can rename files in it, weir_seal() needs a lock on
	                               the image too, which any of its readers can prevent. */
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
	uint64_t bytes;            /* of bits */
	uint64_t file_bytes;       /* of the whole file; 0: a compressed image at a descriptor */
	uint64_t generation;       /* as in struct weir_save_options */
	uint64_t seed_fingerprint; /* as in struct weir_stats; of a keyed image its key's */
	bool compressed;           /* with zstd */
	bool live;                 /* mapped with WEIR_MAP_LIVE and not sealed since */
	bool keyed;                /* to be loaded with the secret that it was made with */
	uint32_t marks;            /* enum weir_image_marks, or'ed */
	const char *hash;          /* of its keys: "XXH3", "XXH64" or "SipHash-2-4" */
	struct weir_text text;     /* what is done to its keys before that */
	uint64_t commit;           /* a checksum of all of it: of equal images equal; 0: live. For
	                              weir_save_options.replaces. */
};
#define WEIR_IMAGE_INFO_INIT WEIR__INIT(weir_image_info)

/**
 * Save a filter of any kind, while other threads use it.
 *
 * A file is replaced atomically: the image is written to an unnamed temporary file in the same
 * folder, with its space reserved first. It is synced, given its name, and the folder is synced. If
 * the process is killed, the old file is whole and nothing else stays. There is one exception: a
 * kill between linkat and rename, or at any moment on a file system without O_TMPFILE or where a
 * sandbox refuses linkat, leaves a file .weir-new-*, which the next save to the same name by the
 * same user removes. With options->replaces the name of that file is a fixed one, and a second
 * such save waits for it. No reader can lock that file before its permissions are set, just before
 * the rename. In a folder with the sticky bit another user's file of that name counts only if that
 * user owns the image or the folder. While it stands, a reader that locks the old image may let two
 * such saves both succeed.
 *
 * The padding that lets bits of 2 MiB or more be mapped with huge pages is a hole. So on the disk
 * the file takes its bits and at most 64 KiB, or 1 MiB from 512 MiB of bits on. Of a compound that
 * holds for each member.
 *
 * A symbolic link is followed if the kernel follows it (fs.protected_symlinks); this needs /proc.
 * The file it names is replaced. A link to nothing is refused.
 *
 * The new file is never open to more users than the one it replaces, unless by options->mode. Owner
 * and group are kept as far as this process may give them, but only in a folder of its own user or
 * root where neither group nor others may write; elsewhere the file belongs to who saves it. If the
 * group is not kept, or the old file had an access control list, the group may do no more than
 * others. Access control lists are not kept.
 *
 * To an open file, pipe or socket it writes from the position on: no temporary file, no fsync. Only
 * at the end of a regular file without O_APPEND is the padding a hole; elsewhere zeros are written.
 * After a failure a part of the image may have been written. Ignore SIGPIPE to get -EPIPE if the
 * reader goes away. Room may hold anything after a failure.
 * @f: may be in use. An insert concurrent with the call may or may not be in the image.
 * @to: a path, a descriptor or room.
 * @options: NULL for the defaults. mode, written, only_images and replaces are for a path. Where
 *   linkat alone is refused, all is written a second time, and progress begins anew.
 * Return: bytes of the image, or a negative errno, and the old file stays. Only if the sync of the
 *   folder failed, the call fails although the new file is in place, and a power cut may bring the
 *   old one back; the sentence reports so. To save again is safe. After -ENOTRECOVERABLE too the
 *   new file is in place.
 * Errors: the errno of open, fallocate, write, fsync, fcntl and rename (-ENOSPC, -EACCES, -EROFS,
 *   -EIO ...); -ENOSPC also if the room is too small; -ECANCELED; -EAGAIN the image is not the one
 *   that options->replaces names, or another such save is under way: read it again; or @f is the
 *   placeholder of a handle without a set (weir_handle_get()); -ENOTRECOVERABLE the image that
 *   options->replaces names could not be locked, and a process mapped it live just before it was
 *   replaced: insert its keys again;
 *   -EINVAL an option is out of its range, or the path is NULL or no regular file; -EISDIR;
 *   -ENOENT, -EACCES, -ELOOP, -EBUSY a link that cannot be followed; -ENOMEM;
 *   -ENOTSUP the kind cannot be saved, or zstd_level in a build without zstd; -EDOM the filter was
 *   filled by hashes that are not uniform (hashes_uneven in struct weir_stats), and allow_uneven is
 *   not set; that of getrandom.
 * Threads: any, with lookups and inserts. Of several savers to one path the last to switch wins;
 *   with replaces only the first one does.
 * Order: relaxed.  Progress: blocking (file system).  Cost: a look at the folder's names, memory
 *   bandwidth, then the disk. To a descriptor, or of a kind whose keys move (cuckoo), memory for a
 *   copy, which is saved: inserts that have to move a key wait while it is made.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_save(const struct weir_filter *f, struct weir_location to,
                                           const struct weir_save_options *options);

/**
 * Load a filter of any kind: read it, plain or compressed, into memory of its own and check every
 * byte, or map it.
 * @out: receives the filter; untouched on failure.
 * @from: anywhere but room. Of a descriptor the image is read from the position to its end; other
 *   bytes may follow.
 * @options: NULL for the defaults. To map, no flags, memory or keyless; to read, no no_verify; of a
 *   chain, none of flags and memory; lock_dir only with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno; never an empty or partial filter.
 * Errors: -EBADMSG damaged: not an image, a field out of its range or in contradiction to another,
 *   a wrong checksum, trailing bytes; the sentence names the field, its value and the right one;
 *   -EFBIG more than max_bytes; -ENOTSUP a newer format, an unknown kind or mark, or zstd in a
 *   build without it, or the kind cannot be mapped in this mode, or the filter lacks an ability
 *   that options.can names; -EKEYREJECTED the image is keyed and secret is missing or another, or
 *   it is not keyed and secret was given; -EBUSY marked live and not sealed, or a process marked or
 *   sealed it during the call; -EISDIR, -EINVAL not a regular file (a descriptor may be a pipe);
 *   -EINVAL an option, or a compressed image to map; -ENOMEM; that of open and read.
 *
 *   To map: the errno of mmap and msync; -EINVAL memory that is misaligned or NULL; -ENOSPC as
 *   weir_verify(), if the memory is a mapped file. Only WEIR_MAP_LIVE accepts an image that is
 *   marked live: -EBUSY it is being sealed, or mapped live with another lock file (by a name in
 *   another folder, say), and was so for a second; -EPERM the lock file may be a stranger's, or a
 *   link; -ESTALE the image was replaced again and again; -ENOSPC, or another errno of fallocate,
 *   the image has holes, and there is no space for them; the errno of open, linkat, ftruncate and
 *   fcntl, where the lock file cannot be made or locked.
 *
 *   Of a chain: as weir_delta_inspect(); -EINVAL a delta is from another image, whose identity the
 *   sentence has; -EBADMSG a delta is damaged, or what it makes is no image.
 * Threads: any.  Order: none; publish the filter with release order. An image in memory that
 *   another thread or process wrote must be published to this one (release, acquire).
 * Progress: blocking (file system).  Cost: the disk, then memory bandwidth. Memory for the bits,
 *   touched as they come, and up to 10 MiB to unpack a compressed image. To map: the whole file is
 *   read once to verify it, through 1 MiB of memory; with no_verify some microseconds. Of a chain
 *   memory for the larger image of each step and 2 MiB.
 */
WEIR_API WEIR_MUST_CHECK int weir_load(struct weir_filter **out, struct weir_location from,
                                       const struct weir_load_options *options);

/**
 * Check a mapped filter's bits against the checksums of its image.
 * @f: mapped with WEIR_MAP_READ, or sealed.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG names the first shard or reserved byte that is wrong; -EINVAL the filter is not
 *   mapped with WEIR_MAP_READ; -EBUSY a process has mapped the image live since, or did so during
 *   the call; -ENOSPC the image is on a tmpfs that is full: there the hole before the bits takes
 *   pages when it is read through a mapping (before Linux 5.14 SIGBUS).
 * Threads: any, with lookups.  Progress: wait-free.  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_verify(const struct weir_filter *f);

/**
 * Seal a WEIR_MAP_LIVE image: compute the checksums, sync, then remove the live mark. Only the last
 * live mapping can: while another one stands, here or in another process, the call is refused, and
 * while the call runs, no other can be made. So the image is always live, or sealed and valid,
 * whoever is killed when. A process that is killed loses its mapping, and with it the lock. A
 * process that may only read the image cannot hold the lock, whatever it locks.
 *
 * The call removes the lock file. An unmapping without a seal, or a kill, leaves it with the live
 * image, and the next live mapping takes it over.
 *
 * Afterwards the filter is as if mapped with WEIR_MAP_READ: inserts answer -EROFS, a view of
 * <weir/inline.h> must not insert any more (its pages are read-only), weir_verify() checks it. To
 * insert again, map the image live again.
 *
 * A process that forks shares mapping and lock with its child. A seal by either of them does not
 * see the other, so the inserts of both must have ended; one by anybody else is refused until both
 * have unmapped it.
 *
 * An image that was renamed meanwhile is sealed under its new name.
 * @f: mapped with WEIR_MAP_LIVE.
 * Return: 0 or a negative errno, and the image is still live and takes inserts. It is sealed
 *   although the call fails in two cases, and the sentence reports which: the last sync failed, so
 *   that a power cut may bring the live mark back; or the image has no name any more (-ESTALE).
 * Errors: -ESTALE the image was removed or replaced meanwhile, so no file has what was inserted;
 *   -EBUSY it is mapped live elsewhere too, or a process has locked it where strangers can rename
 *   its lock file (lock_dir); -EINVAL not mapped live; -ENOTSUP the kind cannot; -ENOMEM; -EBADF a
 *   descriptor of the lock was closed by somebody else; the errno of msync, fcntl and ftruncate,
 *   and of opening the lock file anew if it was removed.
 * Threads: one, without inserts.  Progress: blocking (file system).  Cost: memory bandwidth, then
 *   the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_seal(struct weir_filter *f);

/* ---- images without a filter; none of these needs a secret ---- */

/**
 * Read and check all of an image, of any kind, but its bits.
 * @from: a path, a descriptor, memory or a chain. A descriptor is behind what was read then.
 * @out: from WEIR_IMAGE_INFO_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(), but a live image is no error; -EINVAL struct_size.
 * Threads: any.  Progress: blocking (file system).  Cost: some microseconds; of a chain as
 *   weir_load().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_inspect(struct weir_location from,
                                                struct weir_image_info *out);

/**
 * Check every byte of an image, plain or compressed, of any kind, and keep none.
 * @from: a path, a descriptor, memory or a chain.
 * @options: max_bytes and progress; a secret, if one is given, must be the right one. The others
 *   must have their defaults. NULL for the defaults.
 * @id: receives the identity of its plain form, which deltas refer to: its commit record, a
 *   checksum of its head, which has those of all its bits. Equal images have equal ones, plain or
 *   compressed. Untouched on failure; may be NULL.
 * Return: 0 the image is whole, or a negative errno.
 * Errors: as weir_load().
 * Threads: any.  Progress: blocking (file system).
 * Cost: as weir_load(), but of memory at most 2 MiB, or 12 MiB if the image is compressed, however
 *   large it is; of kinds whose places have more than bits to check (cuckoo) and of a chain, all of
 *   it.
 */
WEIR_API WEIR_MUST_CHECK int weir_image_verify(struct weir_location from,
                                               const struct weir_load_options *options,
                                               uint64_t *id);

/**
 * As weir_measure(), of the filter in an image. A plain image is mapped where it can be, others are
 * read into memory. So whoever may cut the file short meanwhile can end the program (SIGBUS), as
 * with weir_location_map(); what comes through a pipe is read. To get the figures of router.h and
 * window.h, load the image, keyless if necessary.
 * @from: a path, a descriptor, memory or a chain.
 * @effort: enum weir_effort. With WEIR_EXACT progress begins anew when the bits are counted.
 * @options: as to map; secret is ignored. NULL for the defaults. With no_verify only the sampled
 *   bits of a plain image are read; else all of the image is checked first.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: as weir_load(); -EINVAL struct_size, effort.
 * Threads: any.  Progress: blocking (file system).  Cost: as weir_load(), then as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_image_measure(struct weir_location from, uint32_t effort,
                                                const struct weir_load_options *options,
                                                struct weir_stats *out);

/**
 * Copy an image and check every byte: to compress or unpack it, to put it into memory that
 * processes share, or to apply deltas. Identity, generation and marks stay: without zstd_level what
 * comes out is the bytes that weir_save() writes plain.
 * @to: a path (which may be that of the old image), a descriptor, or room at a multiple of 64.
 * @from: a path, a descriptor, memory or a chain.
 * @reading: max_bytes and progress; a secret, if one is given, must be the right one. The others
 *   must have their defaults. NULL for the defaults.
 * @writing: generation and marks must have their defaults. NULL for the defaults.
 * Return: bytes of the new image, or a negative errno.
 * Errors: as weir_load() and weir_save(). -ENOSPC the room is too small: the sentence has both
 *   numbers (of a compound the bytes up to the first member that has no room).
 * Threads: any.  Order: none; publish the image with release order.  Progress: blocking (file
 *   system).  Cost: as weir_load(). Without zstd_level into room it takes no other memory; else
 *   memory for the plain image and one of its shards.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_image_copy(struct weir_location to, struct weir_location from,
                                                 const struct weir_load_options *reading,
                                                 const struct weir_save_options *writing);

WEIR_END_DECLS

#endif
