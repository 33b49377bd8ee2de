/* SPDX-License-Identifier: MIT
 * A set that nginx's processes share. The master makes a store before it forks: an anonymous memory
 * file with a page of state and two slots, each of which can hold an image. One worker, the leader,
 * fills the free slot. Then each worker switches to that slot between two lookups.
 *
 * The current word contains a number, which increases by one with each change, and the location of
 * the set: a slot, the file itself (map), or nowhere. Processes lock byte ranges of the memory file
 * with fcntl(): one for the leader, one for each slot. An fcntl() lock belongs to a process:
 * fork() does not pass the lock on, and the kernel releases the lock however the process ends.
 *
 * [LEADER-WRITES]  Only the holder of the leader's lock changes the current word, the facts, or a
 *    slot.
 * [SLOT-EXCLUSIVE]  The leader writes to a slot only under the slot's exclusive lock, and while the
 *    current word names another location. Only the leader can change the word.
 * [SLOT-SHARED]  A worker reads a slot only under the slot's shared lock, and only if the current
 *    word still names the slot after the worker took the lock. It releases the lock when it has no
 *    filter in the slot. With [SLOT-EXCLUSIVE], the leader never writes to a slot that a worker
 *    reads, and no worker begins to read a slot that the leader may write to.
 * [WORD-LAST]  The leader stores the word (release) after the slot is complete and checked. A
 *    worker loads the word (acquire) before it reads the slot. So a worker reads only checked
 *    bytes.
 * [KILLED-LOCKS]  A killed process loses its locks. A killed leader leaves either the old word or
 *    the new word, and at worst a half-filled slot, which no process reads and the next leader
 *    fills again. A killed reader leaves its slot free.
 * [PROCESS-LOCKS]  A lock belongs to the process, not to a thread. So a process fills one slot at a
 *    time, and only a slot in which it has no filter: store_begin() checks both. Its own lookups
 *    cannot switch to the slot before it publishes, since no other process changes the word
 *    ([LEADER-WRITES]).
 * [ONE-DESCRIPTOR]  Closing any descriptor of the memory file would release the process's locks.
 *    The store has the only descriptor, and closes it last.
 * [FACTS-COUNT]  The facts contain the number of their word, and a count that is odd during a
 *    write. A reader that finds another number or an odd count has no facts; a leader then reads
 *    the file again. If a leader is killed during a write, the next leader repairs the facts.
 *
 * Exiting workers of an older configuration are processes like all others: they follow the word,
 * and lock the slot that they read. */
#ifndef WEIR_NGINX_STORE_H
#define WEIR_NGINX_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <weir/weir.h>

/* ---- identity and age of a file ---- */

/* A replaced file has another inode. A file that was written in place has another time or size. All
 * zero: no file, or a file that must be read again. */
struct file_identity {
	uint64_t device, inode, size;
	uint64_t modified, changed; /* ns since 1970 */
};

/* Return: 0 or a negative errno. */
int file_identify(struct file_identity *out, const char *path);
bool file_same(const struct file_identity *a, const struct file_identity *b);

/* Return: true if the file was changed within the last ticks of the kernel's clock. Another write
 *   may then leave all times the same, so read such a file later. */
bool file_is_young(const struct file_identity *f);

/* ---- the store ---- */

enum { STORE_SLOTS = 2, STORE_TEXT = WEIR_SENTENCE_BYTES };

/* Facts about the set in use, and about the last refused file. */
struct store_facts {
	uint64_t number;               /* the current word's number */
	struct file_identity file;     /* the file of the set */
	double keys, fp_rate, fp_rate_asked;
	uint64_t capacity, bytes, kind;
	uint64_t prefixes;             /* 1: the keys are prefixes */
	uint64_t saturated;            /* 1: more keys than the capacity */
	uint64_t since;                /* publication time, seconds since 1970 */
	struct file_identity refused;  /* the refused file; all zero: none */
	uint64_t refused_since;        /* 0: no file is refused */
	uint64_t refused_again;        /* 1: read it again (system failure or young file) */
	char sentence[STORE_TEXT];     /* the reason of the refusal */
};

struct store_shared; /* the page of state */

struct store {
	char *path;                 /* path of the image */
	bool map;                   /* use the set in the file itself */
	size_t room;                /* bytes of a slot */
	const void *secret;       /* points to secret_bytes; NULL: images are not keyed */
	unsigned char secret_bytes[WEIR_SECRET_BYTES];
	int fd;
	unsigned references;        /* configurations of this process that use the store */
	const _Atomic uint64_t *current;
	struct store_shared *shared;
	unsigned char *slots;       /* read-only, contiguous */
	/* For this process only: */
	uint64_t seen;              /* the current word when the filter was loaded */
	int slot;                   /* the slot of the filter; -1: none */
	struct weir_filter *filter; /* NULL: none */
	struct weir_text normal;    /* text steps of the filter */
	bool leads;
	bool busy;                  /* true from store_begin() to store_publish() or _abandon() */
	unsigned char *filling;     /* while busy: the free slot, mapped for writing */
};

/* @secret: key of the images, WEIR_SECRET_BYTES, copied; NULL: images are not keyed
 * Return: 0, or a negative errno and NULL in @out. */
int store_create(struct store **out, const char *path, size_t room, bool map,
                 const void *secret);
/* Return: true if the store has these properties. */
bool store_is(const struct store *s, const char *path, size_t room, bool map,
              const void *secret);
/* Options to load an image without checks, since the leader has checked it. */
struct weir_load_options store_load_options(const struct store *s);
struct store *store_share(struct store *s); /* one more reference */
void store_release(struct store *s);        /* one reference less; NULL: a no-op */

/* Switch to the current set. If memory is short, the old set stays. */
void store_follow(struct store *s);

/* Return: the current set; NULL: none. */
static inline const struct weir_filter *store_filter(struct store *s)
{
	if (atomic_load_explicit(s->current, memory_order_acquire) != s->seen)
		store_follow(s);
	return s->filter;
}

/* Try to become the leader, or stay the leader. Return: false if another process leads. */
bool store_lead(struct store *s);
void store_resign(struct store *s);
/* The leader's process; 0: none. */
pid_t store_leader(const struct store *s);

/* Return: another process that may delay a new file, for instance because it hangs: the leader, or
 *   a reader of the free slot. 0: none. */
pid_t store_blocker(const struct store *s);
/* Return: true if a set exists that this process could not load. */
bool store_misses_set(const struct store *s);

/* Leader only: lock the free slot and map it for writing at s->filling. A map store has no slots.
 * Return: 0; -EBUSY a process reads or fills the slot; or another negative errno. */
int store_begin(struct store *s);
/* Return: true if the free slot has unused pages. */
bool store_has_unused_pages(const struct store *s);
/* Between store_begin() and store_abandon(): free the pages of the free slot. */
void store_free_pages(struct store *s);
/* After store_begin(): publish the checked image in the slot, which has facts->bytes bytes. Sets
 * facts->number. */
void store_publish(struct store *s, struct store_facts *facts);
/* After store_begin(): unlock the slot, and publish nothing. */
void store_abandon(struct store *s);
/* Leader only: drop the set for all processes. */
void store_withdraw(struct store *s);

/* Return: false if the current set has no facts; @out is then all zero. */
bool store_facts(const struct store *s, struct store_facts *out);
/* Return: true if there is a set. */
bool store_has_set(const struct store *s);
/* Leader only: note a refusal, or the end of a refusal if @sentence is NULL. @again: read the file
 * again even if it does not change. */
void store_refused(struct store *s, const struct file_identity *file, const char *sentence,
                   bool again);

#endif
