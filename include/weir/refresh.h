/* SPDX-License-Identifier: MIT
 * Replace a handle's filter by an image file whenever that file is replaced. Call this from time to
 * time, or let a thread of the library do so (follow.h):
 *
 *     result = weir_handle_refresh(set, "blocked.weir", NULL);
 *                                     1 swapped, 0 no change, negative: the current filter stays
 *
 * The image is made at one moment and taken over at a later one. A key whose insert through the
 * handle began before weir_handle_refresh() returned is kept if the image holds it or carry is set.
 * A key inserted later is kept in any case. So a server that inserts keys of its own either sets
 * carry, or also writes them to the record from which the images are made.
 */
#ifndef WEIR_REFRESH_H
#define WEIR_REFRESH_H

#include <weir/image.h>
#include <weir/reload.h>

WEIR_BEGIN_DECLS

/** How to take over a file. Start from WEIR_REFRESH_OPTIONS_INIT. */
struct weir_refresh_options {
	size_t struct_size; /* sizeof(struct weir_refresh_options) */
	uint64_t max_bytes; /* of bits, all filters together; 0: no limit, even if a file of some
	                       kilobytes declares more than there is memory (image.h) */
	bool carry;         /* merge the current filter into the new one, which must have its
	                       kind, size, shape and seed: no insert is lost, and no key is ever
	                       removed. In kinds that count, the counts of both are added, so
	                       files that repeat keys fill the counters. Before the first filter
	                       there is nothing to merge. */
	bool keep_previous; /* as in struct weir_reload_options */
	bool defer_free;    /* as in struct weir_reload_options */
	const struct weir_gate *gate; /* as in struct weir_reload_options */
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
 * The call reads the file into memory and checks it, merges the current filter into it if carry is
 * set, asks the gate about the result, and swaps. The new filter takes inserts, unless it is mapped
 * read-only.
 *
 * Replace the file by renaming, as weir_save() does: then every look finds it whole. A writer that
 * changes it in place instead (cp, truncate) cannot harm the process: the call refuses a file that
 * is half written, and reads it again when it is written to again.
 *
 * The call refuses an image that looks like a mistake, as the gate does: if its bits answer true
 * for more than twice its fp_rate of absent keys (WEIR_SANE_RATE), or, without carry, if it has
 * under a tenth of the keys of the current filter (WEIR_SANE_KEYS). Both are estimated from bits at
 * random places, and if those do not tell the number of keys, from all bits. A set of few keys may
 * show twice the rate by chance. So an image that is not saturated, by the capacity in its head, is
 * refused if its rate is above twice fp_rate by more than 64 / (bytes looked at), or by 0.1. For a
 * growing filter only 0.1 counts. weir_save_options.marks allows either: the builder's
 * --allow-overfull and --allow-shrink set them. A set that is merely saturated is published, since
 * without it keys would be missing: weir_handle_measure() shows it.
 *
 * With map a plain image is mapped, privately if the current filter takes inserts, else read-only;
 * a compressed one is still read. Then a program that shortens the file in place, at any later
 * time, kills the process by SIGBUS, and one that overwrites it changes answers. The two ways:
 *              memory                                       time
 *   read       the file's bytes, private to the process, as the file is read once; no page fault
 *              weir_load() has them (huge pages)            is left to lookups
 *   map        the file's pages in the page cache, shared   the file is read once to check it, and
 *              by all processes; of a private mapping       each page faults on its first use;
 *              those that inserts change as well            4 KiB pages on most file systems
 *
 * With deltas the set is the image and the deltas (delta.h) beside it. A delta has the image's name
 * with ".delta-" and anything behind: users.weir.delta-7. The call looks at them in the order of
 * their versions (delta-9 before delta-10, as by strverscmp). It applies each that begins where the
 * image, or the last applied delta, ends, and passes over the others. If deltas lead back to an
 * earlier image, it leaves out those in between. So a sender sends a delta in place of a set while
 * that is smaller, and the receiver has nothing else to do. From time to time replace the image by
 * the result of weir apply, or by a new one, and then remove the deltas, in this order. A damaged
 * delta is refused, and the set with it, until the delta is removed. An empty file, one that is not
 * a regular file, and a link to nothing are not deltas.
 * With map an image that has deltas is read into memory. A call costs a look at the names in the
 * folder. If something has changed, it also costs memory for the larger of the images, twice if one
 * is larger than the one before, and the time to read all of them.
 * @path: of an image with the seed of the current filter (weir build --like, weir_params.seed), or
 *   if that is keyed, with its key.
 * @options: NULL for the defaults.
 * Return: 1 swapped; 0 the file has not changed, even if it was refused; or a negative errno, and
 *   the current filter stays. A file has changed if its device, inode, size, mtime, ctime or commit
 *   record (bytes 504 to 511 of the image) differ, or with deltas, those of the deltas or their
 *   names. So chmod and a new hard link are changes too.
 * Errors: some are verdicts on the file. The call reports them once and returns 0 until the file
 *   changes (but it reads a damaged file again for some 2.5 s, since that may change faster than
 *   its times do): -EBADMSG, -ENOTSUP, -EINVAL as weir_load(); -EISDIR; -EINVAL another seed or
 *   hash function, unless the handle was made with WEIR_HANDLE_ANY_SEED; -EINVAL a router with
 *   other sets; -EINVAL other steps of struct weir_text than the current filter's, or before the
 *   first filter any, unless the handle was made with WEIR_HANDLE_ANY_STEPS (its lengths and
 *   numbers of labels may differ; with carry those of the current filter are added);
 *   -EKEYREJECTED keyed otherwise than the current filter; -ECANCELED the gate refused; before the
 *   first filter those of weir_insert(), for a key that was kept for it.
 *   Some are verdicts on the file and the current filter. The call reports them once and returns 0
 *   until the file changes or another filter is current (a reload, a rollback): -ECANCELED the
 *   image is overfull or shrunk, as above; -ENOTSUP it lacks an ability that the handle asks of
 *   each filter (weir_handle_options.can), or its kind is built once (build.h), and the handle
 *   takes inserts, or keeps them for the first filter; with carry: -ECANCELED the gate refused;
 *   -EINVAL carry between different shapes or seeds; -EROFS carry into a read-only mapping; -ENOSPC
 *   a growing or cuckoo filter lacks room for the keys to carry. Inserts and removals do not make
 *   another filter current: if a removal has made room, or taken a must_miss key away, touch the
 *   file.
 *   After all others the next call tries the file again: -EBUSY marked live, or a process marked,
 *   sealed or overwrote it during the call, or a reload or another refresh runs; -EDEADLK inside a
 *   read-side section; -EFBIG more than max_bytes allows now; -E2BIG more than 4096 deltas;
 *   -ENOMEM; -ECANCELED progress stopped it, at any step; and any errno of open, read and mmap,
 *   those above too (-ENOENT, -EACCES, -EIO, -EINVAL ...). These are not verdicts either: -EINVAL
 *   an option is out of its range; -ENOTSUP the set is sharded.
 * Threads: as weir_reload_begin().  Progress: blocking (the file, a grace period, the pace).
 * Cost: reads the whole file once; then memory bandwidth for what the gate counts and for the keys
 *   to carry.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_refresh(struct weir_handle *h, const char *path,
                                                 const struct weir_refresh_options *options);

WEIR_END_DECLS

#endif
