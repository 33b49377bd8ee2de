/* SPDX-License-Identifier: MIT
 * A set that nginx's processes share. The master makes a store before it forks: an unnamed file in
 * memory with a page of state and two slots, each with room for an image. One worker, the leader,
 * fills the slot that is free, and all workers go over to it, each between two lookups.
 *
 * The current word has a number that rises by one with each step, and where the set is: in a slot,
 * in the file itself (map), or nowhere. Byte ranges of the memory file are locked with fcntl(): one
 * for the leader, one for each slot. Such a lock belongs to a process, is not inherited by fork(),
 * and the kernel takes it away when the process ends, however it ends.
 *
 * N1  Only the holder of the leader's lock changes the current word, the facts, or a slot.
 * N2  A slot is written to only under its exclusive lock, and while the current word names another
 *     place. Whoever holds the leader's lock knows that it stays so until it changes the word.
 * N3  A worker reads a slot only under its shared lock, and only if it found the current word
 *     naming the slot after it had the lock. It gives the lock back when it has no filter there.
 *     With N2: no slot is written to while anybody reads it, and from the moment it may be written
 *     to nobody begins to.
 * N4  The word is stored (release) after the slot is whole and checked, and loaded (acquire) before
 *     the slot is read. So what a worker reads is what was checked.
 * N5  A process that is killed loses its locks. As leader it leaves the word as it was, or the next
 *     set published, and at worst half a slot that nobody reads: the next leader fills it anew. As
 *     reader it leaves the slot free.
 * N6  The lock is the process's, not the thread's: a process fills one slot at a time, and only
 *     while it has no filter there itself. store_begin() sees to both; and its own lookups do not
 *     go over to the slot before it publishes (N1: nobody else can).
 * N7  Closing any descriptor of the memory file would drop the process's locks. The store has the
 *     only one, and closes it last.
 * N8  The facts carry the number of the word that they belong to, and a count that is odd while
 *     they are written. Who finds another number, or an odd count, knows nothing: a leader then
 *     reads the file again. A leader that was killed while it wrote is repaired by the next.
 *
 * Workers of an older configuration that still drain are processes like the others: they follow,
 * and hold what they read. */
#ifndef WEIR_NGINX_STORE_H
#define WEIR_NGINX_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <weir/weir.h>

/* ---- which file it is, and whether it may still be written to ---- */

/* A file that is replaced has another inode, one that is written in place another time or size.
 * All zero: none, or one that is to be read again in any case. */
struct file_identity {
	uint64_t device, inode, size;
	uint64_t modified, changed; /* ns since 1970 */
};

/* Return: 0 or a negative errno. */
int file_identify(struct file_identity *out, const char *path);
bool file_same(const struct file_identity *a, const struct file_identity *b);

/* Was it written to within the kernel's tick before now? Another write could then leave every time
 * as it is: such a file is read a moment later. */
bool file_is_young(const struct file_identity *f);

/* ---- the store ---- */

enum { STORE_SLOTS = 2, STORE_TEXT = WEIR_SENTENCE_BYTES };

/* What is known of the set in use, and of the file that was refused last. */
struct store_facts {
	uint64_t number;               /* of the current word */
	struct file_identity file;     /* the set's */
	double keys, fp_rate, fp_rate_asked;
	uint64_t capacity, bytes, kind;
	uint64_t prefixes;             /* 1: its keys are prefixes */
	uint64_t saturated;            /* 1: yes */
	uint64_t since;                /* seconds since 1970: published */
	struct file_identity refused;  /* all zero: none */
	uint64_t refused_since;        /* 0: none is refused */
	uint64_t refused_again;        /* 1: by a failure of the system: to be tried again */
	char sentence[STORE_TEXT];     /* why */
};

struct store_shared; /* the page of state */

struct store {
	char *path;                 /* of the image */
	bool map;                   /* the set is used where the file is */
	size_t room;                /* of a slot */
	const void *secret;       /* of keyed images, or NULL; the bytes are the next ones */
	unsigned char secret_bytes[WEIR_SECRET_BYTES];
	int fd;
	unsigned references;        /* of this process: configurations that use it */
	const _Atomic uint64_t *current;
	struct store_shared *shared;
	unsigned char *slots;       /* read-only, one behind the other */
	/* this process's: */
	uint64_t seen;              /* the current word that the filter is of */
	int slot;                   /* that it holds, or -1 */
	struct weir_filter *filter; /* NULL: none */
	struct weir_text normal;    /* the filter's */
	bool leads;
	bool busy;                  /* between store_begin() and publish or abandon */
	unsigned char *filling;     /* then the free slot, mapped to be written */
};

/* @secret: WEIR_SECRET_BYTES, copied: images are keyed by it; NULL: they are not keyed.
 * Return: 0 or a negative errno; NULL is left in @out then. */
int store_create(struct store **out, const char *path, size_t room, bool map,
                 const void *secret);
/* Would such a store serve as well? */
bool store_is(const struct store *s, const char *path, size_t room, bool map,
              const void *secret);
/* For what has been checked before. */
struct weir_load_options store_trusting(const struct store *s);
struct store *store_share(struct store *s); /* one more reference */
void store_release(struct store *s);        /* one less; NULL: nothing */

/* Go over to the current set. What cannot be had (no memory) leaves the old one. */
void store_follow(struct store *s);

/* The set, or NULL: none. */
static inline const struct weir_filter *store_filter(struct store *s)
{
	if (atomic_load_explicit(s->current, memory_order_acquire) != s->seen)
		store_follow(s);
	return s->filter;
}

/* Be the leader, or stay it. Return: false: another process is. */
bool store_lead(struct store *s);
void store_resign(struct store *s);
/* Its process; 0: none leads. */
pid_t store_leader(const struct store *s);

/* Another process that keeps a new file from being taken, since it stands still, say: the leader,
 * or one that reads the free slot. 0: none does. */
pid_t store_hinders(const struct store *s);
/* Is there a set, that this process does not have? */
bool store_lacks(const struct store *s);

/* As leader: have the free slot, to be written at s->filling. Of a map store there is nothing to
 * write. Return: 0; -EBUSY it is still read, or being filled; or a negative errno. */
int store_begin(struct store *s);
/* Does the free slot hold pages that nobody needs? */
bool store_is_untidy(const struct store *s);
/* Between begin and abandon: give them back. */
void store_tidy(struct store *s);
/* After begin: the slot has an image of facts->bytes bytes that was checked; the facts' number is
 * filled in. */
void store_publish(struct store *s, struct store_facts *facts);
/* After begin: leave the slot as it is. */
void store_abandon(struct store *s);
/* As leader: there is no set any more. */
void store_withdraw(struct store *s);

/* What is known. Return: false: nothing, or not of the current set; @out is then all zero. */
bool store_facts(const struct store *s, struct store_facts *out);
/* Is there a set? */
bool store_has_set(const struct store *s);
/* As leader: note a refusal, or with NULL that it is over.
 * @again: the file is to be tried again, though it stays as it is. */
void store_refused(struct store *s, const struct file_identity *file, const char *sentence,
                   bool again);

#endif
