/* SPDX-License-Identifier: MIT
 * Sets that the views of named share: one set for each path, limit and key.
 *
 *  [SET-LIST]  The list of sets, and the number of users of each set, change only under the lock.
 *  [SET-USERS]  Each user of a set is counted, so the set's handle is valid without the lock.
 *  [SET-READY]  ready is set after the first image was published, and never cleared. A query that
 *     sees ready finds that image or a later image.
 *  [SET-KIND]  A handle whose set takes inserts cannot switch to an image of a kind that is built
 *     once (reload.h), even though nothing is inserted here. Such a set is stuck: it still answers,
 *     and the next reload of the configuration makes a new set from the file.
 *  [FOLLOWER-STOPPED]  The follower is stopped, and its thread has ended, before its handle is
 *     destroyed. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/error.h>
#include <weir/follow.h>
#include <weir/handle.h>
#include "bind.h"
#include "match.h"
#include "set.h"

struct set {
	struct set *next;
	char *path;
	uint64_t max_size;
	struct secret key;
	unsigned users;
	struct weir_handle *handle;
	struct weir_follower *follower;
	_Atomic bool ready;
	_Atomic bool stuck; /* [SET-KIND]; relaxed: it publishes no other memory */
	char first_error[WEIR_SENTENCE_BYTES]; /* the error that open_set() logged; "": none */
	double lines;           /* number of log lines that might be written at the time `when` */
	double when;            /* seconds of CLOCK_MONOTONIC */
	unsigned long suppressed; /* lines suppressed since the last logged line */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct set *sets;

struct weir_handle *set_handle(const struct set *s) { return s->handle; }
const char *set_path(const struct set *s) { return s->path; }

bool set_ready(const struct set *s)
{
	/* acquire: [SET-READY]; pairs with image_loaded() */
	return atomic_load_explicit(&s->ready, memory_order_acquire);
}

/* The owner of the file decides how often the file changes. To keep the log small, write at most
 * LINES_AT_ONCE lines at once, then one line in LINE_EVERY seconds. Only one thread at a time logs
 * for a set. */
enum { LINES_AT_ONCE = 10, LINE_EVERY = 5 };

static void __attribute__((format(printf, 3, 4))) log_line(struct set *s, int level,
                                                           const char *format, ...)
{
	char line[2 * WEIR_SENTENCE_BYTES], others[64] = "";
	struct timespec t;
	va_list arguments;
	clock_gettime(CLOCK_MONOTONIC, &t);
	const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	s->lines += (now - s->when) / LINE_EVERY;
	s->lines = s->lines < LINES_AT_ONCE ? s->lines : LINES_AT_ONCE;
	s->when = now;
	if (s->lines < 1) {
		s->suppressed++;
		return;
	}
	s->lines -= 1;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (s->suppressed)
		snprintf(others, sizeof others, " (%lu lines before it were held back)",
		         s->suppressed);
	s->suppressed = 0;
	LOG(level, "%s%s", line, others);
}

/* Call this when the handle has published an image from the file. */
static void image_loaded(struct set *s)
{
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	/* release: [SET-READY]; otherwise a query could see ready but no set */
	atomic_store_explicit(&s->ready, true, memory_order_release);
	atomic_store_explicit(&s->stuck, false, memory_order_relaxed);
	if (weir_handle_measure(s->handle, &stats, &filter) == 0)
		log_line(s, ISC_LOG_INFO, "%s: a set of about %.0f keys, %.1f MiB", s->path,
		         filter.keys_estimated, (double)filter.bytes / 1048576);
}

/* Runs on the follower's thread. The follower's first read may fail with the error that open_set()
 * has logged already. Then do not log the error again. */
static void report(void *context, int result, const char *sentence)
{
	struct set *s = context;
	bool said = strcmp(s->first_error, sentence) == 0;
	s->first_error[0] = '\0';
	bool stuck = result == -ENOTSUP;
	if (stuck && !atomic_exchange_explicit(&s->stuck, true, memory_order_relaxed))
		log_line(s, ISC_LOG_WARNING, "%s: rndc reconfig takes over this kind of image",
		         s->path);
	if (result > 0)
		image_loaded(s);
	else if (!said)
		log_line(s, ISC_LOG_ERROR, "%s%s", sentence, /* the sentence has the path */
		         set_ready(s) ? ": the set in use stays" : "");
}

static int check(const struct weir_filter *next, void *context)
{
	struct set *s = context;
	if (match_serves(next))
		return 0;
	log_line(s, ISC_LOG_ERROR, "%s: its keys are addresses (--cidr), not domains", s->path);
	return -1;
}

/* The first read of the file runs here, so that named answers no query before it. */
static int open_set(struct set *s)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_refresh_options refresh = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_follow_options follow = WEIR_FOLLOW_OPTIONS_INIT;
	options.flags = WEIR_HANDLE_ANY_SEED | WEIR_HANDLE_ANY_STEPS;
	options.absent = WEIR_ABSENT_NO;
	options.secret = s->key.given ? s->key.bytes : NULL;
	gate.check = check;
	gate.context = s;
	refresh.gate = &gate;
	refresh.max_bytes = s->max_size;
	follow.refresh = &refresh;
	follow.report = report;
	follow.context = s;
	int result = weir_handle_create(&s->handle, NULL, &options);
	if (result < 0)
		return result;
	if (weir_handle_refresh(s->handle, s->path, &refresh) < 0) {
		strcpy(s->first_error, weir_error_detail()); /* at most 511 bytes: error.h */
		LOG(ISC_LOG_ERROR, "%s", s->first_error);
	} else {
		image_loaded(s);
	}
	return weir_follower_start(&s->follower, s->handle, s->path, &follow);
}

static void free_set(struct set *s)
{
	explicit_bzero(&s->key, sizeof s->key);
	free(s->path);
	free(s);
}

static void close_set(struct set *s)
{
	int result = weir_follower_stop(s->follower); /* [FOLLOWER-STOPPED] */
	if (result == 0)
		result = weir_handle_destroy(s->handle);
	if (result < 0) { /* no caller is in a read-side section, so this is a bug: keep the set */
		LOG(ISC_LOG_CRITICAL, "%s: the set stays: %s", s->path, weir_error_detail());
		return;
	}
	free_set(s);
}

static bool same_key(const struct secret *a, const struct secret *b)
{
	return a->given == b->given && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static struct set *find(const char *path, uint64_t max_size, const struct secret *key, bool stuck)
{
	struct set *s = sets;
	while (s && (strcmp(s->path, path) != 0 || s->max_size != max_size ||
	             !same_key(&s->key, key) ||
	             atomic_load_explicit(&s->stuck, memory_order_relaxed) != stuck))
		s = s->next;
	return s;
}

static struct set *make(const char *path, uint64_t max_size, const struct secret *key)
{
	struct set *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->path = strdup(path);
	s->max_size = max_size;
	s->lines = LINES_AT_ONCE;
	s->key = *key;
	if (s->path && open_set(s) == 0)
		return s;
	weir_handle_destroy(s->handle);
	free_set(s);
	return NULL;
}

struct set *set_get(const char *path, uint64_t max_size, const struct secret *key)
{
	pthread_mutex_lock(&lock);
	struct set *s = find(path, max_size, key, false);
	if (!s) {
		struct set *stuck = find(path, max_size, key, true);
		s = make(path, max_size, key);
		/* without an image, the new set is worse than the stuck set, which still answers */
		if (s && stuck && !set_ready(s)) {
			close_set(s);
			s = stuck;
		} else if (s) {
			s->next = sets;
			sets = s;
		}
	}
	if (s)
		s->users++;
	pthread_mutex_unlock(&lock);
	return s;
}

void set_put(struct set *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&lock);
	bool last = --s->users == 0;
	if (last) {
		struct set **at = &sets;
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
	}
	pthread_mutex_unlock(&lock);
	if (last)
		close_set(s); /* outside the lock, since this may wait for a grace period */
}
