/* SPDX-License-Identifier: MIT
 * Maps images. A struct weir_mapping is the origin of the memory of a mapped filter. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include <sys/types.h>
#include "image/preface.h"

/* A descriptor that is kept open for a lock or to find a file. A program that closes all
 * descriptors, as daemons do, closes this one too, and the kernel may then reuse its number for
 * another file. So compare device and inode with fstat() before each use. */
struct weir_held {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

enum { WEIR_LIVE_LOCK_NAME = 11 + 16 + 1 + 16 + 1 }; /* ".weir-live-", device, "-", inode, 0 */

/* The descriptors of a live mapping ([LIVE-LOCKS]). */
struct weir_live_lock {
	struct weir_held file;   /* the lock file, locked */
	struct weir_held folder; /* the lock file's folder */
	struct weir_held image;  /* the image, with a shared lock */
	char name[WEIR_LIVE_LOCK_NAME];
};
#define WEIR_NO_LIVE_LOCK { .file.fd = -1, .folder.fd = -1, .image.fd = -1 }

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* a checked copy; weir_seal() renews its checksums */
	unsigned char *image;        /* the mapping, of length bytes */
	uint64_t length;
	bool given;                  /* the caller gave the memory, so it is not unmapped */
	struct weir_live_lock lock;  /* for a live mapping */
	char name[];                 /* the path, for error messages */
};

/* Check a mapping's mode and its options. @o: after weir__load_options(). */
int weir__map_check(const struct weir_load_options *o, uint32_t mode);

/* Map a location of the form WEIR_LOCATION_MAP or WEIR_LOCATION_MAP_MEMORY. @options: after
 * weir__load_options(). */
int weir__map_location(struct weir_filter **out, const struct weir_location *from,
                       const struct weir_load_options *options);

/* Make a filter around a plain image in an open file. With WEIR_MAP_READ the image may also be in
 * memory, which the filter then uses. @options: after weir__load_options(). */
int weir__map_source(struct weir_filter **out, struct weir_source *source, enum weir_map_mode mode,
                     const struct weir_load_options *options);

/* Map a plain image if possible, else load it. @mode: WEIR_MAP_READ or WEIR_MAP_PRIVATE. */
int weir__map_or_load(struct weir_filter **out, struct weir_source *source,
                      enum weir_map_mode mode, const struct weir_load_options *options);

/* Return: the mapping of a filter, or NULL if the filter has none. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

/* The live lock prevents a seal while another live mapping of the image exists, in this process or
 * another one. It is a lock (fcntl, F_OFD_SETLK) on a lock file. Only users who may write the image
 * can open that file, so a reader of the image cannot hold the lock. The lock file is in the
 * folder of the image, or in the caller's lock_dir. Its name has the image's device and inode. A
 * lock belongs to one open file description, so it ends when its mapping ends or its process is
 * killed. Unlike a flock lock, it changes from shared to exclusive in one step, or stays shared.
 *
 * The same image may be reached through another folder or another lock_dir, which leads to a second
 * lock file. So at most one lock file may count while an image is mapped live: the home, which is
 * the lock file that is not empty. Each live mapping also holds a shared lock on the image itself.
 * A mapper whose lock file is not the home finds that lock and is refused.
 *
 * [LIVE-LOCKS]  A live mapping holds both shared locks from before it reads the head until it is
 *    unmapped.
 * [LIVE-MARK]  Only a holder of the locks stores the live mark. Before any insert the mark is on
 *    the disk, and the lock file is the home.
 * [SEAL-EXCLUSIVE]  Only the holder of the home's exclusive lock computes checksums and stores the
 *    sealed record. If a user who may not write the image could swap lock files, the sealer needs
 *    the image's exclusive lock too. Before the record is stored, bits and checksums are on the
 *    disk and the lock file is empty again.
 * [SEALED-READ-ONLY]  After the sealed record is stored, the mapping becomes read-only, and only
 *    then are the locks released. The last mapper removes the lock file if it is empty, under its
 *    exclusive lock.
 * [REPLACE-READ]  A save with weir_save_options.replaces replaces only the image that was read. The
 *    saver holds the image's exclusive lock from its last check of the commit record until the
 *    rename. A saver that may only read the image cannot get that lock, and no saver gets it while
 *    a reader has locked the image. A saver without the lock reads the commit record once more
 *    after the rename, and reports a live mark. A mapper checks that its path still leads to the
 *    image when it has its locks, and again after it has stored the live mark. Two saves with
 *    replaces exclude each other by the claim ([TEMP-CLAIM] in temporary.c).
 *
 * So no process inserts between the first checksum and the sealed record, and an image with inserts
 * is live until it is sealed. At any time an image is either live, or sealed and valid.
 *
 * A mapper that leaves the image live, or is killed, leaves the lock file too. The next mapper
 * takes the lock file over. These rules do not prevent two cases:
 *
 *  - A killed process left a home in one folder. Later the image is mapped live through another
 *    folder, which makes a second home, and through the first folder at the same time.
 *  - The lock file of a live image is lost. A new lock file becomes the home only while no other
 *    process has locked the image. A reader can prevent that; then seal a copy of the image that
 *    the reader cannot read. */

/* [LIVE-LOCKS]: take shared locks on the lock file and on the image. Waits up to a second for a
 * seal to end.
 * @image: an open file. The lock borrows its descriptor. weir__live_release() or weir__live_close()
 * closes it with the mapping; after weir__live_drop() it belongs to the caller again.
 * @lock_dir: NULL: the folder of the image.
 * Return: 0; -EBUSY; -ESTALE the image was replaced since it was opened; or another negative
 * errno. */
int weir__live_share(struct weir_live_lock *lock, const struct weir_source *image,
                     const char *lock_dir);
/* [REPLACE-READ]: check that the path still leads to the image that was marked live. If not, empty
 * the lock file, unless another process has locked it. Return: 0 or -ESTALE. */
int weir__live_confirm(const struct weir_live_lock *lock, const char *name);
/* Return: true if the mapped image has no name any more. False if that cannot be determined. */
bool weir__live_is_lost(const struct weir_mapping *mapping);
/* Close the lock file, and remove it if no other mapping needs it. The image's descriptor stays
 * open, with its lock, and belongs to the caller again. */
void weir__live_drop(struct weir_live_lock *lock);
/* [LIVE-MARK]: check that the lock file is the home. @marked: this process has just marked the
 * image live, so make its lock file the home. Return: 0; -EBUSY another process marked or sealed
 * the image; or another negative errno. */
int weir__live_enter(const struct weir_live_lock *lock, const char *name, bool marked);
/* [SEAL-EXCLUSIVE]: make the mapping's lock on its lock file exclusive, and its lock on the image
 * too if a stranger could swap lock files. Return: 0; -EBUSY, without waiting, if another mapping
 * or reader holds such a lock; or another negative errno. */
int weir__live_claim(struct weir_mapping *mapping);
/* Make the locks on the lock file and on the image shared again after weir__live_claim(). */
void weir__live_unclaim(const struct weir_mapping *mapping);
/* [SEAL-EXCLUSIVE]: empty the lock file. */
int weir__live_empty(const struct weir_mapping *mapping);
/* [SEALED-READ-ONLY]: release the locks and close the descriptors. */
void weir__live_release(struct weir_mapping *mapping);
/* Close the descriptors without unlocking: a forked process keeps the locks with its mapping. */
void weir__live_close(struct weir_mapping *mapping);

/* ---- the live mark of a mapped image ---- */

/* [LIVE-MARK]: reserve disk space for the holes in a file that is mapped with WEIR_MAP_LIVE, mark
 * the image live, and sync the mark. Call this before any insert, with the locks of [LIVE-LOCKS].
 * Return: as weir__live_enter(), or the errno of fallocate or msync. */
int weir__live_begin(struct weir_mapping *mapping);

#endif
