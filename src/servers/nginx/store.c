/* SPDX-License-Identifier: MIT
 * The slots and their locks. store.h has the rules. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "store.h"
#include "store_page.h"

enum { LEADER = 0, SLOT = 1 }; /* the byte of each lock: SLOT + i for slot i */
enum { MOST_TRIES = 8 };       /* most tries of a reader, if leaders publish in between */

/* ---- locks ---- */

static bool lock(const struct store *s, int byte, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int answer;
	do
		answer = fcntl(s->fd, F_SETLK, &l);
	while (answer && errno == EINTR);
	return answer == 0;
}

bool store_lead(struct store *s)
{
	s->leads = lock(s, LEADER, F_WRLCK);
	return s->leads;
}

void store_resign(struct store *s)
{
	lock(s, LEADER, F_UNLCK);
	s->leads = false;
}

/* F_GETLK does not report a process's own locks. */
static pid_t other_holder(const struct store *s, int byte)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	return fcntl(s->fd, F_GETLK, &l) || l.l_type == F_UNLCK ? 0 : l.l_pid;
}

pid_t store_leader(const struct store *s)
{
	return s->leads ? getpid() : other_holder(s, LEADER);
}

/* ---- creation ---- */

/* The seals keep the file from shrinking, which could send a process SIGBUS. The kernel reserves no
 * pages: it allocates each page on the first write. */
static int memory_file(off_t bytes)
{
	int fd = memfd_create("weir", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	                                                   F_SEAL_SEAL)) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void destroy(struct store *s)
{
	weir_destroy(s->filter);
	if (s->shared)
		munmap(s->shared, STORE_PAGE);
	if (s->slots)
		munmap(s->slots, STORE_SLOTS * s->room);
	if (s->fd >= 0)
		close(s->fd); /* [ONE-DESCRIPTOR] */
	free(s->path);
	explicit_bzero(s->secret_bytes, sizeof s->secret_bytes);
	free(s);
}

static void *map_part(const struct store *s, size_t at, size_t bytes, int protection)
{
	void *p = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, s->fd, (off_t)at);
	return p == MAP_FAILED ? NULL : p;
}

static int map_all(struct store *s)
{
	size_t slots = s->map ? 0 : STORE_SLOTS * s->room;
	s->fd = memory_file((off_t)(STORE_PAGE + slots));
	if (s->fd < 0)
		return s->fd;
	s->shared = map_part(s, 0, STORE_PAGE, PROT_READ | PROT_WRITE);
	s->slots = slots ? map_part(s, STORE_PAGE, slots, PROT_READ) : NULL;
	if (!s->shared || (slots && !s->slots))
		return -errno;
	s->current = &s->shared->current;
	return 0;
}

static size_t whole_pages(size_t room)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (room + page - 1) / page * page;
}

int store_create(struct store **out, const char *path, size_t room, bool map,
                 const void *secret)
{
	struct store *s = calloc(1, sizeof *s);
	*out = NULL;
	if (!s)
		return -ENOMEM;
	*s = (struct store){ .path = strdup(path), .map = map, .fd = -1, .slot = -1,
		             .room = whole_pages(room), .references = 1 };
	if (secret)
		s->secret = memcpy(s->secret_bytes, secret, sizeof s->secret_bytes);
	int err = s->path ? map_all(s) : -ENOMEM;
	if (err)
		destroy(s);
	else
		*out = s;
	return err;
}

bool store_is(const struct store *s, const char *path, size_t room, bool map,
              const void *secret)
{
	return s->map == map && s->room == whole_pages(room) && strcmp(s->path, path) == 0 &&
	       !s->secret == !secret &&
	       (!secret || memcmp(s->secret_bytes, secret, sizeof s->secret_bytes) == 0);
}

struct weir_load_options store_load_options(const struct store *s)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.no_verify = true;
	o.secret = s->secret;
	return o;
}

struct store *store_share(struct store *s)
{
	s->references++;
	return s;
}

void store_release(struct store *s)
{
	if (s && --s->references == 0)
		destroy(s);
}

/* ---- readers ---- */

static uint64_t current(const struct store *s)
{
	return atomic_load_explicit(&s->shared->current, memory_order_acquire);
}

/* Replace the process's filter by @filter, the set that @word names. NULL: there is no set. */
static void set_filter(struct store *s, uint64_t word, struct weir_filter *filter, int slot)
{
	weir_destroy(s->filter);
	if (s->slot >= 0 && s->slot != slot)
		lock(s, SLOT + s->slot, F_UNLCK); /* [SLOT-SHARED]: the process left the slot */
	s->filter = filter;
	s->slot = slot;
	s->seen = word;
	memset(&s->normal, 0, sizeof s->normal);
	if (filter)
		weir_text_of(filter, &s->normal);
}

/* Return: false if the caller must retry, since the word changed; true if the filter of @word is in
 * use, or cannot be loaded. */
static bool follow_slot(struct store *s, uint64_t word)
{
	const struct weir_load_options trusting = store_load_options(s); /* [WORD-LAST] */
	struct weir_filter *f;
	int slot = (int)store_place(word);
	const unsigned char *image = s->slots + (size_t)slot * s->room;
	if (slot != s->slot && !lock(s, SLOT + slot, F_RDLCK))
		return false; /* the leader writes to the slot, so the word has changed */
	/* [SLOT-SHARED]: check again under the lock */
	if (current(s) != word) {
		if (slot != s->slot)
			lock(s, SLOT + slot, F_UNLCK);
		return false;
	}
	uint64_t bytes = atomic_load_explicit(&s->shared->bytes[slot], memory_order_relaxed);
	if (weir_load(&f, weir_location_map_memory(image, bytes), &trusting) == 0)
		set_filter(s, word, f, slot);
	else if (slot != s->slot)
		lock(s, SLOT + slot, F_UNLCK);
	return true;
}

/* The path may name another file now. Load that file only if the leader has checked it.
 * Otherwise the old filter stays until the leader has checked the new file. */
static bool follow_file(struct store *s, uint64_t word)
{
	const struct weir_load_options trusting = store_load_options(s);
	struct file_identity before, after;
	struct store_facts facts;
	struct weir_filter *f;
	if (!store_facts(s, &facts) || facts.number != store_number(word))
		return current(s) == word;
	if (file_identify(&before, s->path) || !file_same(&before, &facts.file) ||
	    weir_load(&f, weir_location_map(s->path, WEIR_MAP_READ), &trusting))
		return true;
	if (file_identify(&after, s->path) || !file_same(&after, &before))
		weir_destroy(f);
	else
		set_filter(s, word, f, -1);
	return true;
}

void store_follow(struct store *s)
{
	bool done = false;
	for (unsigned i = 0; !done && i < MOST_TRIES; i++) {
		uint64_t word = current(s);
		if (word == s->seen)
			return;
		switch (store_place(word)) {
		case STORE_NOWHERE:
			set_filter(s, word, NULL, -1);
			return;
		case STORE_IN_FILE:
			done = follow_file(s, word);
			break;
		default:
			done = follow_slot(s, word);
		}
	}
}

/* ---- the leader ---- */

/* Return: a slot that the current word does not name. */
static int free_slot(const struct store *s)
{
	return store_place(current(s)) == 0 ? 1 : 0;
}

pid_t store_blocker(const struct store *s)
{
	if (!s->leads)
		return other_holder(s, LEADER);
	return s->map ? 0 : other_holder(s, SLOT + free_slot(s));
}

bool store_misses_set(const struct store *s)
{
	return !s->filter && store_has_set(s);
}

int store_begin(struct store *s)
{
	if (s->busy)
		return -EBUSY;
	if (s->map) {
		s->busy = true;
		return 0;
	}
	store_follow(s);
	int slot = free_slot(s);
	/* [PROCESS-LOCKS], [SLOT-EXCLUSIVE] */
	if (slot == s->slot || !lock(s, SLOT + slot, F_WRLCK))
		return -EBUSY;
	s->filling = map_part(s, STORE_PAGE + (size_t)slot * s->room, s->room,
	                      PROT_READ | PROT_WRITE);
	s->busy = s->filling != NULL;
	if (s->busy) { /* from now on the slot may have pages, even if this process is killed */
		atomic_store_explicit(&s->shared->bytes[slot], s->room, memory_order_relaxed);
		return 0;
	}
	int err = -errno;
	lock(s, SLOT + slot, F_UNLCK);
	return err;
}

void store_abandon(struct store *s)
{
	s->busy = false;
	if (s->map)
		return;
	munmap(s->filling, s->room);
	s->filling = NULL;
	lock(s, SLOT + free_slot(s), F_UNLCK);
}

bool store_has_unused_pages(const struct store *s)
{
	return !s->map &&
	       atomic_load_explicit(&s->shared->bytes[free_slot(s)], memory_order_relaxed);
}

void store_free_pages(struct store *s)
{
	if (s->map)
		return;
	int slot = free_slot(s);
	/* best effort: a later image overwrites the pages */
	(void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	                (off_t)(STORE_PAGE + (size_t)slot * s->room), (off_t)s->room);
	atomic_store_explicit(&s->shared->bytes[slot], 0, memory_order_relaxed);
}

/* [WORD-LAST]: write the facts, then store the word. The caller then unlocks the slot. From then
 * on, the word keeps leaders from writing to the slot ([SLOT-EXCLUSIVE]). */
static void publish_word(struct store *s, enum store_place place, struct store_facts *facts)
{
	facts->number = store_number(current(s)) + 1;
	store_write_facts(s->shared, facts);
	atomic_store_explicit(&s->shared->current, store_word(facts->number, place),
	                      memory_order_release);
}

void store_publish(struct store *s, struct store_facts *facts)
{
	int slot = free_slot(s);
	facts->since = (uint64_t)time(NULL);
	s->busy = false;
	if (s->map) {
		publish_word(s, STORE_IN_FILE, facts);
		return;
	}
	munmap(s->filling, s->room);
	s->filling = NULL;
	atomic_store_explicit(&s->shared->bytes[slot], facts->bytes, memory_order_relaxed);
	publish_word(s, (enum store_place)slot, facts);
	lock(s, SLOT + slot, F_UNLCK);
}

void store_withdraw(struct store *s)
{
	struct store_facts facts;
	store_facts(s, &facts); /* keep the refusal */
	struct store_facts none = { .refused = facts.refused,
		                    .refused_since = facts.refused_since,
		                    .refused_again = facts.refused_again };
	memcpy(none.sentence, facts.sentence, sizeof none.sentence);
	publish_word(s, STORE_NOWHERE, &none);
}

bool store_facts(const struct store *s, struct store_facts *out)
{
	/* A leader writes the facts, then the word. If this process reads in between, retry. */
	for (unsigned i = 0; i < MOST_TRIES; i++)
		if (store_read_facts(s->shared, out) && out->number == store_number(current(s)))
			return true;
	memset(out, 0, sizeof *out);
	return false;
}

bool store_has_set(const struct store *s)
{
	return store_place(current(s)) != STORE_NOWHERE;
}

void store_refused(struct store *s, const struct file_identity *file, const char *sentence,
                   bool again)
{
	static const struct file_identity none;
	struct store_facts facts;
	if (!store_facts(s, &facts))
		facts.number = store_number(current(s));
	facts.refused = sentence ? *file : none;
	facts.refused_since = sentence ? (uint64_t)time(NULL) : 0;
	facts.refused_again = again;
	strncpy(facts.sentence, sentence ? sentence : "", sizeof facts.sentence - 1);
	facts.sentence[sizeof facts.sentence - 1] = '\0';
	store_write_facts(s->shared, &facts);
}
