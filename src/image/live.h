/* SPDX-License-Identifier: MIT
 * The lock that keeps live mappings of an image and a seal apart, between processes and within one.
 * It is on the bytes of the file's commit record (fcntl, F_OFD_SETLK). A lock belongs to one
 * opening of the file, so it goes when its mapping goes or its process is killed; and unlike one by
 * flock it is turned from shared to exclusive in one step, or stays shared.
 *
 * S1  A live mapping holds the lock, shared, from before it reads the head until it is unmapped.
 * S2  Only a holder of the lock stores the live mark. It is on the disk before any insert.
 * S3  Only the one holder of the exclusive lock computes checksums and stores the sealed record;
 *     first bits and checksums are on the disk.
 * S4  From then on its mapping is read-only, and only after that is the lock given back.
 *
 * So nobody inserts between the first checksum and the sealed record, and nobody's live mark is
 * taken away: the image is always live, or sealed and valid. */
#ifndef WEIR_SRC_IMAGE_LIVE_H
#define WEIR_SRC_IMAGE_LIVE_H

#include "image/map.h"

/* S1: take the lock, shared. Waits a second for a seal. Return: 0, -EBUSY, or another negative
 * errno. */
int weir__live_share(int fd, const char *name);
/* S3: make a mapping's lock exclusive, at once or not at all: -EBUSY; and shared again. */
int weir__live_claim(const struct weir_mapping *mapping);
void weir__live_unclaim(const struct weir_mapping *mapping);
/* Give the lock back and close the descriptor that held it. */
void weir__live_release(struct weir_mapping *mapping);
/* Close the descriptor only: a process forked from this one keeps the lock with its mapping. */
void weir__live_close(const struct weir_mapping *mapping);

#endif
