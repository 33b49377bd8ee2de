/* SPDX-License-Identifier: MIT
 * A set that nginx's processes share. The master makes a store before it forks: an anonymous file
 * in memory, with a page of state and two slots that each have room for an image. One worker, the
 * leader, fills the free slot. Then each worker switches to it between two lookups.
 *
 * The current word holds a number, which each step raises by one, and the place of the set: a slot,
 * the file itself (map), or nowhere. Processes lock byte ranges of the memory file with fcntl():
 * one for the leader, one for each slot. A process owns such a lock: fork() does not pass it on,
 * and the kernel drops it however the process ends.
 *
 * N1  Only the holder of the leader's lock changes the current word, the facts, or a slot.
 * N2  The leader writes to a slot only under the slot's exclusive lock, and while the current word
 *     names another place. The word stays so until the leader changes it.
 * N3  A worker reads a slot only under the slot's shared lock, and only if the current word still
 *     named the slot after the worker took the lock. It drops the lock when it has no filter there.
 *     With N2: the leader never writes to a slot that a worker reads, and no worker begins to read
 *     a slot that the leader may write to.
 * N4  The leader stores the word (release) after the slot is complete and checked. A worker loads
 *     the word (acquire) before it reads the slot. So a worker reads only checked bytes.
 * N5  A killed process loses its locks. A killed leader leaves the old word or the next one, and at
 *     worst a half-filled slot that no process reads: the next leader fills it again. A killed
 *     reader leaves its slot free.
 * N6  A lock belongs to the process, not to a thread. So a process fills one slot at a time, and
 *     only while it has no filter there itself: store_begin() checks both. Its own lookups cannot
 *     switch to the slot before it publishes: no other process changes the word (N1).
 * N7  Closing any descriptor of the memory file would drop the process's locks. The store has the
 *     only one, and closes it last.
 * N8  The facts carry the number of their word, and a count that is odd during a write. A reader
 *     that finds another number or an odd count has no facts; a leader then reads the file again.
 *     If a leader is killed during a write, the next leader repairs the facts.
 *
 * Draining workers of an older configuration are processes like the others: they follow, and lock
 * the slot that they read. */
#ifndef WEIR_NGINX_STORE_H
#define WEIR_NGINX_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <weir/weir.h>

/* ---- identity and age of a file ---- */

/* A replaced file has another inode; a file written in place has another time or size.
 * All zero: no file, or one to read again in any case. */
struct file_identity {
	uint64_t device, inode, size;
	uint64_t modified, changed; /* ns since 1970 */
};

/* Return: 0 or a negative errno. */
int file_identify(struct file_identity *out, const char *path);
bool file_same(const struct file_identity *a, const struct file_identity *b);

/* Was the file changed within the last ticks of the kernel's clock? Another write could then leave
 * all times the same, so such a file is read a moment later. */
bool file_is_young(const struct file_identity *f);

/* ---- the store ---- */

enum { STORE_SLOTS = 2, STORE_TEXT = WEIR_SENTENCE_BYTES };

/* Facts about the set in use, and about the last refused file. */
struct store_facts {
	uint64_t number;               /* of the current word */
	struct file_identity file;     /* the set's */
	double keys, fp_rate, fp_rate_asked;
	uint64_t capacity, bytes, kind;
	uint64_t prefixes;             /* 1: its keys are prefixes */
	uint64_t saturated;            /* 1: yes */
	uint64_t since;                /* seconds since 1970: published */
	struct file_identity refused;  /* all zero: none */
	uint64_t refused_since;        /* 0: no file is refused */
	uint64_t refused_again;        /* 1: try again: the system failed, or the file was young */
	char sentence[STORE_TEXT];     /* why */
};

struct store_shared; /* the page of state */

struct store {
	char *path;                 /* of the image */
	bool map;                   /* use the set in the file itself */
	size_t room;                /* of a slot */
	const void *secret;       /* of keyed images: secret_bytes; or NULL */
	unsigned char secret_bytes[WEIR_SECRET_BYTES];
	int fd;
	unsigned references;        /* configurations of this process that use it */
	const _Atomic uint64_t *current;
	struct store_shared *shared;
	unsigned char *slots;       /* read-only, contiguous */
	/* for this process: */
	uint64_t seen;              /* the current word of the filter */
	int slot;                   /* the slot of the filter, or -1 */
	struct weir_filter *filter; /* NULL: none */
	struct weir_text normal;    /* the filter's */
	bool leads;
	bool busy;                  /* between store_begin() and publish or abandon */
	unsigned char *filling;     /* while busy: the free slot, mapped for writing */
};

/* @secret: the key of the images, WEIR_SECRET_BYTES, copied; NULL: images are not keyed
 * Return: 0, or a negative errno and NULL in @out. */
int store_create(struct store **out, const char *path, size_t room, bool map,
                 const void *secret);
/* Does the store have these properties? */
bool store_is(const struct store *s, const char *path, size_t room, bool map,
              const void *secret);
/* Options to load an image that was checked before. */
struct weir_load_options store_trusting(const struct store *s);
struct store *store_share(struct store *s); /* one more reference */
void store_release(struct store *s);        /* one reference less; NULL: a no-op */

/* Switch to the current set. If that fails (no memory), the old set stays. */
void store_follow(struct store *s);

/* Return: the current set, or NULL without a set. */
static inline const struct weir_filter *store_filter(struct store *s)
{
	if (atomic_load_explicit(s->current, memory_order_acquire) != s->seen)
		store_follow(s);
	return s->filter;
}

/* Become or stay the leader. Return: false: another process leads. */
bool store_lead(struct store *s);
void store_resign(struct store *s);
/* The leader's process; 0: no process leads. */
pid_t store_leader(const struct store *s);

/* Return: another process that may keep us from taking a new file, for instance because it hangs:
 * the leader, or a reader of the free slot. 0: no such process. */
pid_t store_hinders(const struct store *s);
/* Does a set exist that this process lacks? */
bool store_lacks(const struct store *s);

/* Leader only: lock the free slot and map it for writing at s->filling. A map store has no slots.
 * Return: 0; -EBUSY: the slot is still read, or being filled; or another negative errno. */
int store_begin(struct store *s);
/* Does the free slot hold pages? They are unused. */
bool store_is_untidy(const struct store *s);
/* Between begin and abandon: give these pages back. */
void store_tidy(struct store *s);
/* After begin: publish the checked image of facts->bytes bytes in the slot. It sets the number of
 * @facts. */
void store_publish(struct store *s, struct store_facts *facts);
/* After begin: unlock the slot as it is. */
void store_abandon(struct store *s);
/* Leader only: drop the set for all processes. */
void store_withdraw(struct store *s);

/* Return: false: the current set has no facts, and @out is all zero. */
bool store_facts(const struct store *s, struct store_facts *out);
/* Is there a set? */
bool store_has_set(const struct store *s);
/* Leader only: note a refusal or, with @sentence NULL, its end.
 * @again: try the file again even if it does not change */
void store_refused(struct store *s, const struct file_identity *file, const char *sentence,
                   bool again);

#endif
