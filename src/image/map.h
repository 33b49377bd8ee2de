/* SPDX-License-Identifier: MIT
 * Mapping, and the record of a mapped image, which is the origin of its filter's memory. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include <sys/types.h>
#include "image/preface.h"

/* A descriptor kept open for its lock, or to find a file. A daemon that closes every descriptor
 * closes it too, and its number may then belong to another file. So compare it with the file before
 * each use. */
struct weir_held {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

enum { WEIR_LIVE_LOCK_NAME = 11 + 16 + 1 + 16 + 1 }; /* ".weir-live-", two numbers, the end */

/* The descriptors of a live mapping (S1). */
struct weir_live_lock {
	struct weir_held file;   /* the lock file, locked */
	struct weir_held folder; /* the lock file's folder */
	struct weir_held image;  /* with a shared lock */
	char name[WEIR_LIVE_LOCK_NAME];
};
#define WEIR_NO_LIVE_LOCK { .file.fd = -1, .folder.fd = -1, .image.fd = -1 }

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* as it was checked; weir_seal() renews its checksums */
	unsigned char *image;        /* the mapping, of length bytes */
	uint64_t length;
	bool given;                  /* image is the caller's memory, which is not freed */
	struct weir_live_lock lock;  /* for a live mapping */
	char name[];                 /* the path, for sentences */
};

/* Check a mapping's mode and its options, as set by weir__load_options(). */
int weir__map_check(const struct weir_load_options *o, uint32_t mode);

/* Map a checked location of WEIR_LOCATION_MAP or WEIR_LOCATION_MAP_MEMORY. @options: as set by
 * weir__load_options(). */
int weir__map_location(struct weir_filter **out, const struct weir_location *from,
                       const struct weir_load_options *options);

/* Make a filter around a plain image: an opened file, or for WEIR_MAP_READ memory, which the filter
 * then uses. @options: checked. */
int weir__map_source(struct weir_filter **out, struct weir_source *source, enum weir_map_mode mode,
                     const struct weir_load_options *options);

/* Map a plain image if possible, else load it. @mode: not WEIR_MAP_LIVE. */
int weir__map_or_load(struct weir_filter **out, struct weir_source *source,
                      enum weir_map_mode mode, const struct weir_load_options *options);

/* The mapping of a filter, or NULL if it has none. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

/* The lock that keeps live mappings of an image and a seal apart, between processes and within one.
 * It is on a lock file (fcntl, F_OFD_SETLK), which only users who may write the image can open. So
 * a reader of the image cannot hold it. The lock file is beside the image, or in the caller's
 * lock_dir, and its name has the image's device and inode. A lock belongs to one opening of the
 * file, so it ends when its mapping ends or its process is killed. Unlike a flock lock, it changes
 * from shared to exclusive in one step, or stays shared.
 *
 * The home of a live image is its lock file that is not empty. There is at most one while an image
 * is mapped live. Each live mapping also holds a shared lock on the image: a mapper whose lock file
 * is not the home, because of a name in another folder or another lock_dir, sees that lock and is
 * refused.
 *
 * S1  A live mapping holds both shared locks from before it reads the head until it is unmapped.
 * S2  Only a holder of the locks stores the live mark. Before any insert the mark is on the disk,
 *     and the lock file is the home.
 * S3  Only the holder of the home's exclusive lock computes checksums and stores the sealed record.
 *     If a stranger could swap lock files, it holds the image's lock too. Before the record is
 *     stored, bits and checksums are on the disk and the lock file is empty again.
 * S4  From then on its mapping is read-only; only then does it release the locks. The last mapper
 *     removes the lock file if it is empty, under its exclusive lock.
 * S5  A save that replaces only the image that was read (weir_save_options.replaces) holds the
 *     image's exclusive lock from its last look at the commit record until the new file has the
 *     name. If it cannot get the lock, since the image is read-only to it or a reader has locked
 *     it, it reads the commit record once more after the rename, and reports a live mark. A mapper
 *     that has its locks checks that its path still leads to the image, and again after its live
 *     mark. A name that only one of them has at a time keeps two such saves apart (T4 in
 *     temporary.c).
 *
 * So no process inserts between the first checksum and the sealed record, and no process loses its
 * live mark: the image is always live, or sealed and valid.
 *
 * A mapper that leaves the image live, or is killed, leaves the lock file too. The next one takes
 * it over. Two cases are not covered:
 *
 *  - A process was killed, so its lock file is still a home. The image is then mapped live through
 *    another folder, which makes a second home, and through the first one at the same time.
 *  - The lock file of a live image is lost. A new one becomes the home only while no other process
 *    has locked the image. A reader can prevent that: seal a copy that it cannot read. */

/* S1: take both locks, shared. Waits a second for a seal.
 * @image: an opened file. Its descriptor is borrowed: weir__live_release() or _close() closes it
 * with the mapping, or weir__live_drop() returns it.
 * @lock_dir: NULL: the folder of the image.
 * Return: 0; -EBUSY; -ESTALE the image was replaced since it was opened; or another negative
 * errno. */
int weir__live_share(struct weir_live_lock *lock, const struct weir_source *image,
                     const char *lock_dir);
/* S5: does the path still lead to the image that was marked live? If not, empty the lock file,
 * unless another process has locked it. Return: 0 or -ESTALE. */
int weir__live_confirm(const struct weir_live_lock *lock, const char *name);
/* Has the mapped image lost its last name?  False if that cannot be determined. */
bool weir__live_is_lost(const struct weir_mapping *mapping);
/* Release the locks, and return the image's descriptor to its owner. */
void weir__live_drop(struct weir_live_lock *lock);
/* S2: is the lock file the home? @marked: this process has marked the image live, so make it the
 * home.
 * Return: 0; -EBUSY another process marked it or sealed it; or another negative errno. */
int weir__live_enter(const struct weir_live_lock *lock, const char *name, bool marked);
/* S3: make a mapping's lock exclusive, at once or not at all (-EBUSY). The second function makes it
 * shared again. */
int weir__live_claim(struct weir_mapping *mapping);
void weir__live_unclaim(const struct weir_mapping *mapping);
/* S3: empty the lock file. */
int weir__live_empty(const struct weir_mapping *mapping);
/* S4: release the locks and close the descriptors. */
void weir__live_release(struct weir_mapping *mapping);
/* Only close the descriptors: a process forked from this one keeps the locks with its mapping. */
void weir__live_close(struct weir_mapping *mapping);

/* ---- the live mark of a mapped image ---- */

/* S2: reserve space for holes in the file of a WEIR_MAP_LIVE mapping, which has its locks. Then
 * mark it live and sync the mark. Call it before any insert. Return: as weir__live_enter(), or the
 * errno of fallocate or msync. */
int weir__live_begin(struct weir_mapping *mapping);

#endif
