/* SPDX-License-Identifier: MIT
 * A server that follows a file, for test_flow.py: threads constantly look up keys that every good
 * file has.
 *
 *     flow_server any|one IMAGE KEYS
 *
 * any: the handle accepts any seed, and may start before IMAGE exists. one: the handle has the seed
 * of IMAGE at the start. After each line on standard input the server prints its statistics, one
 * "name value" a line, and an empty line. The server exits at the end of its input, with status 1
 * if a key was missed. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <urcu/urcu-bp.h>
#include "flavor.h"

enum { READERS = 2, MOST_KEYS = 4096 };

struct server {
	struct weir_handle *set;
	struct iovec keys[MOST_KEYS]; /* every good file has these keys */
	size_t n;
	_Atomic uint64_t lookups, lost;
	atomic_bool over;
};

static void read_keys(struct server *s, const char *path)
{
	char line[256];
	FILE *f = fopen(path, "r");
	check(f, "%s", path);
	while (s->n < MOST_KEYS && fgets(line, sizeof line, f)) {
		size_t length = strcspn(line, "\n");
		s->keys[s->n++] = (struct iovec){ strndup(line, length), length };
	}
	fclose(f);
	check(s->n >= 64, "%s has %zu keys", path, s->n);
}

/* Look up all keys: one by one, as a batch, or in a section. Return: the number of keys found. */
static uint64_t ask(const struct server *s, unsigned way)
{
	uint64_t answers[WEIR_BITMAP_WORDS(MOST_KEYS)], found = 0;
	if (way == 0) {
		for (size_t i = 0; i < s->n; i++)
			found += weir_handle_contains(s->set, s->keys[i].iov_base,
			                              s->keys[i].iov_len);
	} else if (way == 1) {
		found = weir_handle_contains_keys(s->set, weir_keys_iov(s->keys, s->n), answers);
	} else {
		urcu_bp_read_lock();
		const struct weir_filter *f = weir_handle_get(s->set);
		for (size_t i = 0; i < s->n; i++)
			found += weir_contains(f, s->keys[i].iov_base, s->keys[i].iov_len);
		flavor_read_unlock(&urcu_bp_flavor);
	}
	return found;
}

static void *look_up(void *argument)
{
	struct server *s = argument;
	for (unsigned way = 0; !atomic_load(&s->over); way = (way + 1) % 3) {
		uint64_t found = ask(s, way);
		atomic_fetch_add(&s->lookups, s->n);
		atomic_fetch_add(&s->lost, s->n - found);
	}
	return NULL;
}

static void report(struct server *s)
{
	struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	check(weir_handle_measure(s->set, &now, &filter) == 0, "%s", weir_error_detail());
	printf("lookups %" PRIu64 "\nlost %" PRIu64 "\nabsent %d\ngeneration %" PRIu64
	       "\nswaps %" PRIu64 "\nrefused %" PRIu64 "\nrefused_since %.9f\nkeys %.0f\n"
	       "saturated %d\nlast_reload %.6f\nsentence %s\n\n",
	       atomic_load(&s->lookups), atomic_load(&s->lost), now.absent, now.generation,
	       now.swaps, now.refused, now.refused_since, filter.keys_estimated,
	       filter.saturated, now.last_reload, now.refused_sentence);
	fflush(stdout);
}

static void open_set(struct server *s, bool any, const char *image)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *first = NULL;
	if (any) {
		options.flags = WEIR_HANDLE_ANY_SEED;
		options.absent = WEIR_ABSENT_YES;
	} else {
		check(weir_load(&first, weir_location_path(image), NULL) == 0, "%s",
		      weir_error_detail());
	}
	check(weir_handle_create(&s->set, first, &options) == 0, "%s", weir_error_detail());
}

int main(int argc, char **argv)
{
	static struct server s;
	struct weir_follower *follower;
	pthread_t readers[READERS];
	char line[16];
	check(argc == 4, "usage: %s any|one IMAGE KEYS", argv[0]);
	read_keys(&s, argv[3]);
	open_set(&s, strcmp(argv[1], "any") == 0, argv[2]);
	check(weir_follower_start(&follower, s.set, argv[2], NULL) == 0, "%s", weir_error_detail());
	for (int i = 0; i < READERS; i++)
		check(pthread_create(&readers[i], NULL, look_up, &s) == 0, "no thread");
	while (fgets(line, sizeof line, stdin))
		report(&s);
	atomic_store(&s.over, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	check(weir_follower_stop(follower) == 0, "%s", weir_error_detail());
	check(weir_handle_destroy(s.set) == 0, "%s", weir_error_detail());
	for (size_t i = 0; i < s.n; i++)
		free(s.keys[i].iov_base);
	return atomic_load(&s.lost) != 0;
}
