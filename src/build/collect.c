/* SPDX-License-Identifier: MIT
 * Collects hashes in lanes, bins and blocks (see collect.h), and writes them to the file. */
#include "build/collect.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/error.h"
#include "ground/threads.h"

/* The sizes of blocks, in hashes. The largest size is 128 KiB. From this size on malloc() by
 * default maps memory, and free() returns it to the kernel. So the memory of these blocks is free
 * for the arrays of sorting, which are mapped too. */
enum { FIRST = 32, SMALL = 2048, MOST = 16384 };

void weir__collect_begin(struct weir_collected *c, uint64_t most_bytes, const char *folder)
{
	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < WEIR_LANES; i++)
		pthread_mutex_init(&c->lane[i].lock, NULL);
	pthread_mutex_init(&c->opening, NULL);
	c->most_bytes = most_bytes;
	c->folder = folder;
	c->fd = -1;
}

/* ---- the file ---- */

int weir__collect_to_file(struct weir_collected *c)
{
	int err = 0;
	pthread_mutex_lock(&c->opening);
	if (c->fd < 0)
		c->fd = open(c->folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (c->fd < 0)
		err = weir__fail(-errno, "spill_folder %s: cannot create a file without a name: %s",
		                 c->folder, weir_strerror(errno));
	pthread_mutex_unlock(&c->opening);
	return err;
}

static int file_failed(const struct weir_collected *c, int err, const char *what)
{
	return weir__fail(err, "spill_folder %s: cannot %s: %s", c->folder, what,
	                  weir_strerror(err));
}

int weir__collect_write(struct weir_collected *c, const uint64_t *hashes, uint64_t n, uint64_t *at)
{
	const char *from = (const char *)hashes;
	uint64_t left = 8 * n;
	*at = atomic_fetch_add_explicit(&c->end, left, memory_order_relaxed);
	for (uint64_t to = *at; left;) {
		const ssize_t wrote = pwrite(c->fd, from, left, (off_t)to);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return file_failed(c, wrote < 0 ? -errno : -ENOSPC, "write hashes");
		from += wrote;
		to += (uint64_t)wrote;
		left -= (uint64_t)wrote;
	}
	return 0;
}

int weir__collect_read(const struct weir_collected *c, uint64_t at, uint64_t n, uint64_t *out)
{
	char *to = (char *)out;
	for (uint64_t left = 8 * n; left;) {
		const ssize_t got = pread(c->fd, to, left, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return file_failed(c, got < 0 ? -errno : -EIO, "read hashes");
		to += got;
		at += (uint64_t)got;
		left -= (uint64_t)got;
	}
	return 0;
}

/* ---- blocks ---- */

static void free_blocks(struct weir_collected *c, struct weir_bin *bin)
{
	while (bin->last) {
		struct weir_block *block = bin->last;
		bin->last = block->before;
		atomic_fetch_sub_explicit(&c->bytes, sizeof *block + 8 * (uint64_t)block->room,
		                          memory_order_relaxed);
		free(block);
	}
}

static int no_memory(void)
{
	return weir__fail(-ENOMEM, "no memory for the hashes of the keys to build from");
}

static int add_extent(struct weir_bin *bin, uint64_t at, uint64_t n)
{
	if (bin->n_extents == bin->room) {
		const uint32_t room = bin->room ? 2 * bin->room : 4;
		struct weir_extent *more = malloc(room * sizeof *more);
		if (!more)
			return no_memory();
		if (bin->n_extents)
			memcpy(more, bin->extents, bin->n_extents * sizeof *more);
		free(bin->extents);
		bin->extents = more;
		bin->room = room;
	}
	bin->extents[bin->n_extents++] = (struct weir_extent){ at, n };
	return 0;
}

static int spill_bin(struct weir_collected *c, struct weir_bin *bin)
{
	int err = 0;
	for (struct weir_block *block = bin->last; block && !err; block = block->before) {
		uint64_t at;
		err = weir__collect_write(c, block->hashes, block->n, &at);
		if (!err)
			err = add_extent(bin, at, block->n);
	}
	free_blocks(c, bin);
	return err;
}

static int spill_lane(struct weir_collected *c, struct weir_lane *lane)
{
	int err = 0;
	for (unsigned i = 0; !err && i < WEIR_BINS; i++)
		err = spill_bin(c, &lane->bin[i]);
	return err;
}

/* Spill the thread's own lane and all unlocked lanes, since a thread that has stopped adding keys
 * may have filled them. A thread that holds a lane's lock only tries other locks, so it never
 * blocks on them. */
static int spill(struct weir_collected *c, struct weir_lane *own)
{
	int err = weir__collect_to_file(c);
	if (!err)
		err = spill_lane(c, own);
	for (struct weir_lane *lane = c->lane; !err && lane < c->lane + WEIR_LANES; lane++)
		if (lane != own && pthread_mutex_trylock(&lane->lock) == 0) {
			err = spill_lane(c, lane);
			pthread_mutex_unlock(&lane->lock);
		}
	return err;
}

static int check_memory(struct weir_collected *c, struct weir_lane *lane)
{
	const uint64_t bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed);
	if (bytes <= c->most_bytes)
		return 0;
	if (c->folder)
		return spill(c, lane);
	return weir__refused(
		weir__fail(-EFBIG, "the hashes of the keys so far take %" PRIu64 " bytes: "
		           "max_memory leaves %" PRIu64 "; give a spill_folder, or more", bytes,
		           c->most_bytes),
		WEIR_ERROR_HASHES, "max_memory", (double)c->most_bytes, (double)bytes, 0, 0);
}

static int grow(struct weir_collected *c, struct weir_lane *lane, struct weir_bin *bin)
{
	WEIR__UNCANCELLED; /* a thread cancelled in a write would keep the lane locked */
	int err = check_memory(c, lane);
	if (err)
		return err;
	struct weir_block *before = bin->last;
	const uint32_t room = !before               ? FIRST :
	                      before->room < SMALL ? 4 * before->room : MOST;
	struct weir_block *block = malloc(sizeof *block + 8 * (size_t)room);
	if (!block)
		return no_memory();
	*block = (struct weir_block){ .before = before, .room = room };
	atomic_fetch_add_explicit(&c->bytes, sizeof *block + 8 * (uint64_t)room,
	                          memory_order_relaxed);
	bin->last = block;
	return 0;
}

static int add(struct weir_collected *c, struct weir_lane *lane, const uint64_t *hashes, size_t n)
{
	int err = 0;
	for (size_t i = 0; i < n; i++) {
		struct weir_bin *bin = &lane->bin[hashes[i] >> (64 - WEIR_BIN_BITS)];
		if ((!bin->last || bin->last->n == bin->last->room) &&
		    (err = grow(c, lane, bin)) != 0)
			return err;
		bin->last->hashes[bin->last->n++] = hashes[i];
	}
	lane->added += n;
	return 0;
}

int weir__collect(struct weir_collected *c, const uint64_t *hashes, size_t n)
{
	const int cpu = sched_getcpu();
	struct weir_lane *lane = &c->lane[cpu < 0 ? 0 : (unsigned)cpu % WEIR_LANES];
	pthread_mutex_lock(&lane->lock);
	int err = add(c, lane, hashes, n);
	pthread_mutex_unlock(&lane->lock);
	return err;
}

/* ---- the collected hashes ---- */

uint64_t weir__collected(struct weir_collected *c)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < WEIR_LANES; i++) {
		struct weir_lane *lane = &c->lane[i];
		pthread_mutex_lock(&lane->lock);
		n += lane->added;
		pthread_mutex_unlock(&lane->lock);
	}
	return n;
}

uint64_t weir__collected_in(const struct weir_collected *c, unsigned bin)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < WEIR_LANES; i++) {
		const struct weir_bin *b = &c->lane[i].bin[bin];
		for (const struct weir_block *block = b->last; block; block = block->before)
			n += block->n;
		for (uint32_t e = 0; e < b->n_extents; e++)
			n += b->extents[e].n;
	}
	return n;
}

/* Move the hashes of a bin of one lane to *out. */
static int take(struct weir_collected *c, struct weir_bin *bin, uint64_t **out)
{
	int err = 0;
	for (const struct weir_block *block = bin->last; block; block = block->before) {
		memcpy(*out, block->hashes, 8 * (size_t)block->n);
		*out += block->n;
	}
	for (uint32_t i = 0; !err && i < bin->n_extents; i++) {
		err = weir__collect_read(c, bin->extents[i].at, bin->extents[i].n, *out);
		*out += bin->extents[i].n;
	}
	free_blocks(c, bin);
	return err;
}

int weir__collected_take(struct weir_collected *c, unsigned bin, uint64_t *out)
{
	int err = 0;
	for (unsigned i = 0; !err && i < WEIR_LANES; i++)
		err = take(c, &c->lane[i].bin[bin], &out);
	return err;
}

void weir__collect_end(struct weir_collected *c)
{
	for (unsigned i = 0; i < WEIR_LANES; i++) {
		for (unsigned j = 0; j < WEIR_BINS; j++) {
			free_blocks(c, &c->lane[i].bin[j]);
			free(c->lane[i].bin[j].extents);
		}
		pthread_mutex_destroy(&c->lane[i].lock);
	}
	pthread_mutex_destroy(&c->opening);
	if (c->fd >= 0)
		close(c->fd);
}
