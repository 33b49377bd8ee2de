/* SPDX-License-Identifier: MIT
 * Refresh: replace a handle's filter by an image file whenever that file is replaced. Call
 * weir_handle_refresh() from time to time, or let a thread of the library do so (follow.h):
 *
 *     result = weir_handle_refresh(set, "blocked.weir", NULL);
 *                                     1 swapped, 0 no change, negative: the current filter stays
 *
 * An image lacks keys that were inserted after it was made. A key whose insert through the handle
 * began before weir_handle_refresh() returned is kept only if the image has it or carry is set. A
 * key inserted later is always kept. So a server that inserts keys of its own either sets carry, or
 * also writes the keys to the record from which the images are made.
 */
#ifndef WEIR_REFRESH_H
#define WEIR_REFRESH_H

#include <weir/image.h>
#include <weir/reload.h>

WEIR_BEGIN_DECLS

/** How to publish the image in a file. Start from WEIR_REFRESH_OPTIONS_INIT. */
struct weir_refresh_options {
	size_t struct_size; /* sizeof(struct weir_refresh_options) */
	uint64_t max_bytes; /* limit in bytes of the bits of all filters together; 0: no limit, even
	                       if a file of some kilobytes declares more bytes than the machine's
	                       memory has (image.h) */
	bool carry;         /* merge the current filter into the new one. Both must have the
	                       same kind, size, shape and seed. Then no insert is lost, but no key
	                       is ever removed. In kinds that count, the counts of both filters are
	                       added, so files that repeat keys fill the counters. Before the first
	                       filter there is nothing to merge. */
	bool keep_previous; /* as in struct weir_reload_options */
	bool defer_free;    /* as in struct weir_reload_options */
	const struct weir_gate *gate; /* as in struct weir_reload_options */
	weir_progress_fn *progress;   /* called at least after each MiB that is read, counted (for
	                                 the gate or the limits of weir_handle_refresh()) or
	                                 merged. bytes_done starts at 0 for each of these steps.
	                                 A result other than 0 stops the call. NULL:
	                                 no calls. */
	void *progress_arg;
	bool map;                     /* map a plain image instead of reading it into memory. The
	                                 file must only be replaced by renames, see below */
	double pace;                  /* as in struct weir_reload_options. The call sleeps after
	                                 each MiB that is read, counted or merged, and calls
	                                 progress every 20 ms of sleep, with the same bytes_done.
	                                 Before the call publishes a mapped file, it has the kernel
	                                 map the file's pages (Linux 5.14 and later), 2 MiB at a
	                                 time, and calls progress after each 2 MiB. */
	bool deltas;                  /* apply the deltas beside the file, see below */
};
#define WEIR_REFRESH_OPTIONS_INIT WEIR__INIT(weir_refresh_options)

/**
 * Publish the image in a file, at the first call and whenever the file has changed since the last
 * call. The call reads the file into memory and checks it. If carry is set, it merges the current
 * filter into the new one. It asks the gate about the result, and swaps. The new filter takes
 * inserts, unless it is mapped read-only.
 *
 * Replace the file by renaming, as weir_save() does: then every call finds a whole file. If a
 * writer changes the file in place (cp, truncate), the process is not harmed: the call refuses a
 * file that is half written, and reads it again when it has changed again.
 *
 * The call also refuses an image that looks like a mistake: if its bits answer true for more than
 * twice fp_rate of absent keys (WEIR_SANE_RATE), or, without carry, if it has fewer than a tenth of
 * the keys of the current filter (WEIR_SANE_KEYS). Rate and keys are estimated from a random sample
 * of bits, or from all bits if the sample does not tell the number of keys. A set of few keys may
 * show twice the rate by chance. So an image that is not saturated, by the capacity in its head, is
 * refused only if its rate exceeds twice fp_rate by more than 64 / (bytes sampled) or 0.1,
 * whichever is less. For a growing filter that bound is always 0.1. The marks of an image can allow
 * either fault (weir_save_options.marks, the builder's --allow-overfull and --allow-shrink). A set
 * that is only saturated is published, since lookups would miss its new keys otherwise.
 * weir_handle_measure() reports that it is saturated.
 *
 * With map a plain image is mapped, privately if the current filter takes inserts, else read-only.
 * A compressed image is still read. If a program later shortens a mapped file in place, SIGBUS
 * kills this process; if it overwrites the file, answers change. The two ways to load an image:
 *              memory                                       time
 *   read       the file's bytes, private to the process,    the file is read once; lookups take no
 *              as weir_load() allocates them (huge pages)   page faults
 *   map        the file's pages in the page cache, shared   the file is read once to check it, and
 *              by all processes; a private mapping also     each page faults on its first use;
 *              has the pages that inserts change            4 KiB pages on most file systems
 *
 * With deltas the set is the image and the deltas (delta.h) beside it. The name of a delta is the
 * image's name, ".delta-" and any end: users.weir.delta-7. The call takes the deltas in the order
 * of strverscmp() (delta-9 before delta-10). It applies a delta if it begins with the image, or
 * with the result of the last applied delta, and skips other deltas. If deltas lead back to an
 * earlier image, the call leaves out the deltas in between. So a sender may send a delta instead of
 * a set while the delta is smaller, and the receiver need not do anything. From time to time
 * replace the image by the result of weir apply, or by a new image, and only then remove the
 * deltas. A damaged delta makes the call refuse the set until the delta is removed. An empty file,
 * a file that is not a regular file, and a link to nothing are not deltas.
 * With map an image that has deltas is read into memory. Each call reads the names in the folder.
 * If something has changed, the call also needs the time to read all files. It then needs memory
 * for the largest image, or twice that memory if an image is larger than the image before it.
 * @path: an image with the seed of the current filter (weir build --like, weir_params.seed), or if
 *   the current filter is keyed, with its secret.
 * @options: NULL for the defaults.
 * Return: 1 swapped; 0 the file has not changed, even if it was refused; or a negative errno, and
 *   the current filter stays. A file has changed if its device, inode, size, mtime, ctime or commit
 *   record (bytes 504 to 511 of the image) differ. With deltas it has also changed if the names of
 *   the deltas or one of these values of a delta differ. So chmod and a new hard link are changes.
 * Errors: three groups. The first is verdicts on the file: the call returns each once, and then 0
 *   until the file changes (it reads a damaged file again for some 2.5 s, since the file may
 *   change faster than its times do): -EBADMSG, -ENOTSUP, -EINVAL as weir_load(); -EISDIR; -EINVAL
 *   for another seed or hash function without WEIR_HANDLE_ANY_SEED, or a router with other sets;
 *   -EINVAL without WEIR_HANDLE_ANY_STEPS for other steps of struct weir_text than the current
 *   filter's, or for any steps before the first filter (lengths and numbers of labels may differ;
 *   carry adds those of the current filter); -EKEYREJECTED if the image is keyed and the current
 *   filter is not, or the reverse, or the secrets differ; -ECANCELED if the gate refused.
 *   The second is verdicts on the file and the current filter: the call returns each once, and then
 *   0 until the file changes or another filter is current (a reload, a rollback): -ECANCELED if the
 *   rate is too high or the keys too few, as above; -ENOTSUP if the image lacks an ability in
 *   weir_handle_options.can, or its kind is built once (build.h) and the handle takes inserts or
 *   keeps them for the first filter; before the first filter the errors of weir_insert(), for a
 *   kept key; with carry -ECANCELED if the gate refused, -EINVAL for different shapes or seeds,
 *   -EROFS for a read-only mapping, -ENOSPC if a growing or cuckoo filter cannot hold the keys to
 *   merge. Inserts and removals do not make another filter current: touch the file if a removal has
 *   freed slots, or has removed a must_miss key.
 *   The third is all other errors, after which the next call tries again: -EBUSY if the image is
 *   marked live, if a process marked, sealed or overwrote it during the call, or if a reload or
 *   another refresh runs;
 *   -EDEADLK inside a read-side section; -EFBIG above max_bytes; -E2BIG for more than 4096 deltas;
 *   -ENOMEM; -ECANCELED if progress stopped the call; the errno of open, read and mmap, even if it
 *   is one of the above (-ENOENT, -EACCES, -EIO, -EINVAL ...); -EINVAL if an option is out of its
 *   range; -ENOTSUP if the set is sharded.
 * Threads: as weir_reload_begin().  Progress: blocking (the file, a grace period, the pace).
 * Cost: reads the whole file once; then memory bandwidth for what the gate counts and carry merges.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_refresh(struct weir_handle *h, const char *path,
                                                 const struct weir_refresh_options *options);

WEIR_END_DECLS

#endif
