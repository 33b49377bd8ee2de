/* SPDX-License-Identifier: MIT
 * Replace a handle's filter by an image file, whenever somebody replaces that file. follow.h has a
 * thread that does so.
 *
 * The image is made at one moment and taken over at a later one. A key whose insert through the
 * handle began before weir_handle_refresh() returned is kept if the image has it or carry is set. A
 * key inserted later is kept in any case. So a server that inserts keys of its own either sets
 * carry, or also writes them to the record from which the images are made.
 */
#ifndef WEIR_REFRESH_H
#define WEIR_REFRESH_H

#include <weir/image.h>
#include <weir/reload.h>

WEIR_BEGIN_DECLS

/** Start from WEIR_REFRESH_OPTIONS_INIT. */
struct weir_refresh_options {
	size_t struct_size; /* sizeof(struct weir_refresh_options) */
	uint64_t max_bytes; /* of bits, all filters together; 0: no limit, also where a file of
	                       some kilobytes declares more than there is memory (image.h) */
	bool carry;         /* merge the current filter into the new one, which must have its
	                       kind, size, shape and seed: no insert is lost, no key ever
	                       leaves. Of kinds that count, a key that is in both counts as
	                       often as in both together, so files that repeat keys fill them up.
	                       Before the first filter there is nothing to merge. */
	bool keep_previous; /* as in struct weir_reload_options */
	bool defer_free;    /* likewise */
	const struct weir_gate *gate; /* likewise */
	weir_progress_fn *progress;   /* called at least after each MiB that is read, counted (for
	                                 the gate, or to see whether the set shrank) or carried;
	                                 bytes_done begins anew for each of these. It may stop the
	                                 call. May be NULL. */
	void *progress_arg;
	bool map;                     /* map a plain image instead of reading it into memory: for
	                                 a file that is only ever renamed to, see below */
	double pace;                  /* as in struct weir_reload_options: the call sleeps
	                                 between the MiB that are read, counted and carried.
	                                 progress is asked again after 20 ms of sleep, with the same
	                                 bytes_done. A mapped file has its pages before it is
	                                 published (Linux 5.14 and later), 2 MiB at a time, and
	                                 progress is asked after each. */
	bool deltas;                  /* apply the deltas beside the file, see below */
};
#define WEIR_REFRESH_OPTIONS_INIT WEIR__INIT(weir_refresh_options)

/**
 * Publish the image in a file, if the file has changed since the last call or this is the first.
 *
 * An image that nobody can have meant is refused, as by the gate: one whose bits answer more than
 * twice its fp_rate of absent keys with true (WEIR_SANE_RATE), and without carry one with under a
 * tenth of the keys of the current filter (WEIR_SANE_KEYS). Both are estimated from the bits: from
 * a sample at random places, and where that does not tell the keys, from all of them. Few keys may
 * have twice the rate by chance. So one that is not saturated, by the capacity in its head, is
 * refused if its rate is above twice fp_rate by more than 64 / (bytes looked at), or by 0.1. For a
 * growing filter only 0.1 counts.
 * weir_save_options.marks allows either: the builder's --allow-overfull and --allow-shrink set
 * them. A set that is merely saturated is published, since without it keys would be missing:
 * weir_handle_measure() shows it.
 *
 * If the file has changed, or this is the first call: read it into memory and check it, merge the
 * current filter into it if carry is set, ask the gate of the result, and swap. Replace the file by
 * renaming, as weir_save() does: it is then whole whenever it is looked at. Who writes to it in
 * place instead (cp, truncate) cannot harm the process: what is found half written is refused, and
 * read again when it is written to again. The filter takes inserts.
 *
 * With map a plain image is mapped, privately if the current filter takes inserts, else read-only;
 * a compressed one is still read. Then whoever shortens the file in place, at any
 * later time, kills the process by SIGBUS, and who overwrites it changes answers. What that saves:
 *              memory                                       time
 *   read       the file's bytes, private to the process, as the file is read once; no page fault
 *              weir_load() has them (huge pages)            is left to lookups
 *   map        the file's pages in the page cache, shared   the file is read once to check it, and
 *              by all processes; of a private mapping       each page faults on its first use;
 *              those that inserts change as well            4 KiB pages on most file systems
 *
 * With deltas the set is the image and the deltas (delta.h) beside it whose names are the image's
 * with ".delta-" and anything behind: users.weir.delta-7. They are looked at in the order of their
 * versions (delta-9 before delta-10, as by strverscmp), and each that begins where the image, or
 * the last one that was applied, ends is applied; others are passed by, and of those that lead back
 * to an image that was there before nothing is done. So whoever sends sets sends a delta in place
 * of each, as long as that is smaller, and where they are received nothing else has to be done; now
 * and then the image is replaced by that of weir apply, or by a new one, and the deltas are
 * removed, in this order. A delta that is damaged is refused, and the set with it, until it is
 * removed. What is empty, no regular file, or a link to nothing is no delta.
 * With map an image that has deltas is read into memory. A call costs a look at the names in the
 * folder, and if something has changed, memory for the larger of the images, twice where one is
 * larger than the one before, and the time to read all of them.
 * @path: of an image with the seed of the current filter (weir build --like, weir_params.seed), or
 *   if that is keyed, with its key.
 * @options: NULL for the defaults.
 * Return: 1 swapped; 0 the file has not changed, even if it was refused; or a negative errno, and
 *   the current filter stays. A file has changed if its device, inode, size, mtime, ctime or commit
 *   record (bytes 504 to 511 of the image) differ, or with deltas, those of the deltas or their
 *   names. So chmod and a new hard link are changes too.
 * Errors: some are verdicts on the file. The call reports them once and returns 0 until the file
 *   changes (a damaged file is read again all the same while it is news, for some 2.5 s, since it
 *   may change faster than its times do): -EBADMSG, -ENOTSUP, -EINVAL as weir_load();
 *   -EISDIR; -EINVAL another seed or hash function, unless the handle was made with
 *   WEIR_HANDLE_ANY_SEED; -EINVAL other steps of struct weir_text than the current filter's, or
 *   before the first filter any, unless the handle was made with WEIR_HANDLE_ANY_STEPS (its lengths
 *   and numbers of labels may differ; with carry those of the current filter are added);
 *   -EKEYREJECTED keyed otherwise than the current filter; -ECANCELED the gate refused; before the
 *   first filter those of weir_insert(), of a key that was kept for it.
 *   Some are verdicts on the file and the current filter. The call reports them once and returns 0
 *   until the file changes or another filter is current (a reload, a rollback): -ECANCELED the
 *   image is overfull or shrunk, as above; -ENOTSUP it lacks an ability that the handle asks of
 *   each filter (weir_handle_options.can), or its kind is built once (build.h), and the handle
 *   takes inserts, or keeps them for the first filter; with carry: -ECANCELED the gate refused;
 *   -EINVAL carry between different shapes or seeds; -EROFS carry into a read-only mapping; -ENOSPC
 *   growing or cuckoo, there is no room for what is carried. Inserts and removals make no other
 *   filter of the current one: where a removal has made room, or taken a must_miss key away, touch
 *   the file.
 *   After all others the next call tries the file again: -EBUSY marked live, or a process marked,
 *   sealed or overwrote it during the call, or a reload or another refresh runs; -EDEADLK inside a
 *   read-side section; -EFBIG more than max_bytes allows now; -ENOMEM; -ECANCELED progress stopped
 *   it, at whatever step; and any errno of open, read and mmap, those above too (-ENOENT, -EACCES,
 *   -EIO, -EINVAL ...). No verdicts either: -EINVAL an option is out of its range; -ENOTSUP the set
 *   is sharded.
 * Threads: as weir_reload_begin().  Progress: blocking (the file, a grace period, the pace).
 * Cost: reads the whole file once; then memory bandwidth for what the gate counts and what is
 *   carried.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_refresh(struct weir_handle *h, const char *path,
                                                 const struct weir_refresh_options *options);

WEIR_END_DECLS

#endif
