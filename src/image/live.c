/* SPDX-License-Identifier: MIT
 * Live images: the live mark, and sealing. The lock that both need is in live_lock.c. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/compound.h"
#include "image/map.h"
#include "image/plain.h"

/* The life of an image's checksums: verification compares them, the live mark makes them void, and
 * sealing computes them again.
 *
 * The commit record is one aligned word, live or sealed. A mapper sets it to live and syncs it
 * before the first insert. To seal, the process with the only live mapping first syncs bits and
 * checksums, and then sets the word to sealed (the rules are in map.h). So a crash leaves either a
 * live image, which can be mapped live and sealed again, or a sealed image with correct checksums.
 * tests/fault/test_power_cut.c replays the steps of this file, cut off at every point. */

static uint64_t *commit_word(const struct weir_mapping *m)
{
	return (uint64_t *)(void *)(m->image + WEIR_IMAGE_COMMIT);
}

static int sync_pages(const struct weir_mapping *m, uint64_t length)
{
	if (msync(m->image, length, MS_SYNC) == 0)
		return 0;
	return weir__fail(-errno, "%s: cannot sync: %s", m->name, weir_strerror(errno));
}

static int mark_live(struct weir_mapping *m)
{
	weir__commit_store_release(commit_word(m), WEIR_IMAGE_LIVE);
	return sync_pages(m, WEIR_IMAGE_HEAD);
}

/* ---- holes ---- */

static bool refused(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EPERM;
}

/* Reserve disk space for a part of the image that will be written: @bytes bytes at offset @at. A
 * store into a hole needs disk space, and if none is left, the kernel kills the process with
 * SIGBUS. */
static int fill_holes(const struct weir_mapping *m, uint64_t at, uint64_t bytes)
{
	const int fd = m->lock.image.fd;
	const off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
	struct stat st;
	int answer;
	if (hole >= (off_t)(at + bytes))
		return 0;
	do
		answer = fallocate(fd, 0, (off_t)at, (off_t)bytes);
	while (answer && errno == EINTR);
	if (answer == 0)
		return 0;
	const int error = errno;
	if (!refused(error))
		return weir__fail(-error, "%s: has holes, and space for %llu bytes cannot be "
		                  "reserved: %s: free space there", m->name,
		                  (unsigned long long)bytes, weir_strerror(error));
	if (hole < 0 && fstat(fd, &st) == 0 && 512 * (uint64_t)st.st_blocks >= at + bytes)
		return 0;
	return weir__fail(-EOPNOTSUPP, "%s: has holes, and this file system cannot reserve space "
	                  "for them: replace it by a copy without (cp --sparse=never)", m->name);
}

/* Reserve disk space for all of the image but the padding. The padding stays a hole, since no store
 * goes there. */
static int reserve(const struct weir_mapping *m)
{
	const uint64_t bits = weir__image_bits_offset(&m->head);
	int err = fill_holes(m, 0, bits - weir__image_padding(&m->head));
	return err ? err : fill_holes(m, bits, m->length - bits);
}

/* Mark the image live. @found: the commit record that was read. */
static int begin(struct weir_mapping *m, uint64_t found)
{
	bool marked = found != WEIR_IMAGE_LIVE &&
	              weir__commit_swap_release(commit_word(m), found, WEIR_IMAGE_LIVE);
	int err = weir__live_enter(&m->lock, m->name, marked);
	return err ? err : mark_live(m);
}

int weir__live_begin(struct weir_mapping *m)
{
	int err = reserve(m);
	return err ? err : begin(m, m->head.commit);
}

/* Check that the reserved bytes between table and bits are still zero. */
static int check_gap(const struct weir_mapping *m)
{
	const uint64_t bits = weir__image_bits_offset(&m->head), n = weir__image_padding(&m->head);
	struct weir_source gap = weir__source_of_memory(m->name, m->image, bits);
	gap.at = bits - n;
	gap.memory += gap.at;
	return weir__source_zeros(&gap, n);
}

static int went_live(const struct weir_mapping *m)
{
	return weir__fail(-EBUSY, "%s: marked live since it was mapped: its checksums are void "
	                  "until it is sealed", m->name);
}

/* Verify a compound by reading the mapping as an image in memory. */
static int verify_members(const struct weir_mapping *m, const struct weir_filter *f)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_source source = weir__source_of_memory(m->name, m->image, m->length);
	struct weir_room discard = { .bytes = UINT64_MAX, .name = m->name };
	struct weir_preface p;
	int err = weir__preface_read(&p, &source, 0, false);
	if (err)
		return err;
	options.secret = weir__keyed(&f->hashing) ? f->hashing.key : NULL;
	err = p.head.commit == m->head.commit ?
	      weir__room_put(&discard, &p, &source, &options) :
	      weir__fail(-EBADMSG, "%s: its head is another one than when it was mapped", m->name);
	weir__preface_free(&p);
	return err;
}

int weir_verify(const struct weir_filter *f)
{
	const struct weir_mapping *m = weir__mapping_of(f);
	if (!m || m->mode != WEIR_MAP_READ)
		return weir__fail(-EINVAL,
		                  "weir_verify: the filter is not mapped with WEIR_MAP_READ");
	if (m->head.members)
		return verify_members(m, f);
	uint64_t commit = weir__commit_load_acquire(commit_word(m));
	if (commit == WEIR_IMAGE_LIVE)
		return went_live(m);
	struct weir_preface p = {
		.head = m->head,
		.table = m->image + WEIR_IMAGE_HEAD,
		.shard_bytes = f->bytes / f->shards
	};
	int err = check_gap(m);
	for (uint32_t shard = 0; !err && shard < f->shards; shard++)
		err = weir__preface_check(&p, shard, (const unsigned char *)f->array.words +
		                                     shard * p.shard_bytes, m->name);
	/* Bits and checksums belong together only if no live mapping started during the check. */
	return weir__commit_load_after(commit_word(m)) == commit ? err : went_live(m);
}

/* Write new checksums to the mapping: the table, and the two checksums in the head. @commit:
 * receives the new commit record. The mapping keeps the live mark until finish_seal(). */
static int seal_sums(struct weir_filter *f, uint64_t *commit)
{
	struct weir_mapping *m = weir__mapping_of(f);
	unsigned char bytes[WEIR_IMAGE_HEAD], *table = m->image + WEIR_IMAGE_HEAD;
	uint64_t shard_bytes = f->bytes / f->shards, *copy = malloc(shard_bytes);
	if (!copy)
		return weir__fail(-ENOMEM, "%s: no memory for %llu bytes to seal through", m->name,
		                  (unsigned long long)shard_bytes);
	for (uint32_t shard = 0; shard < f->shards; shard++) {
		weir__shard_copy(f, shard, copy);
		weir__image_put64(table + 8 * (size_t)shard, weir__checksum(copy, shard_bytes));
	}
	free(copy);
	weir__head_commit(&m->head, table, bytes);
	for (unsigned i = WEIR_IMAGE_CHECKSUM; i < WEIR_IMAGE_COMMIT; i++)
		m->image[i] = bytes[i];
	*commit = m->head.commit;
	return 0;
}

/* [SEAL-EXCLUSIVE]: write and sync everything but the sealed record. */
static int prepare_seal(struct weir_filter *f, struct weir_mapping *m, uint64_t *commit)
{
	/* mark the image live again: a process forked from this one may have sealed it */
	int err = begin(m, weir__commit_load_acquire(commit_word(m)));
	if (!err)
		err = seal_sums(f, commit);
	return err ? err : sync_pages(m, m->length);
}

/* [SEALED-READ-ONLY]: after the sealed record is stored, the mapping becomes read-only, even if the
 * record cannot be synced. */
static int finish_seal(struct weir_filter *f, struct weir_mapping *m, uint64_t commit)
{
	weir__commit_store_release(commit_word(m), commit);
	int err = msync(m->image, WEIR_IMAGE_HEAD, MS_SYNC) ? errno : 0;
	const bool lost = weir__live_is_lost(m);
	weir__filter_read_only(f);
	m->mode = WEIR_MAP_READ;
	/* a struct weir_inline_mut made from the filter earlier must not insert either */
	(void)mprotect(m->image, m->length, PROT_READ);
	weir__live_release(m);
	if (lost)
		return weir__fail(-ESTALE, "%s: was removed or replaced while it was mapped live: "
		                  "it is sealed, but no file has what was inserted: insert those "
		                  "keys again", m->name);
	return err ? weir__fail(-err, "%s: is sealed, but that cannot be synced, so a power cut "
	                        "may bring the live mark back: %s", m->name, weir_strerror(err)) :
	             0;
}

int weir_seal(struct weir_filter *f)
{
	struct weir_mapping *m = weir__mapping_of(f);
	uint64_t commit;
	if (!m || m->mode != WEIR_MAP_LIVE)
		return weir__fail(-EINVAL,
		                  "weir_seal: the filter is not mapped with WEIR_MAP_LIVE");
	if (!f->kind->snapshot)
		return weir__kind_cannot(f->kind, "be sealed");
	int err = weir__live_claim(m);
	if (err)
		return err;
	err = prepare_seal(f, m, &commit);
	if (!err)
		err = weir__live_empty(m);
	if (!err)
		return finish_seal(f, m, commit);
	weir__live_unclaim(m);
	return err;
}
