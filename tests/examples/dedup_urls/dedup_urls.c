/* SPDX-License-Identifier: MIT
 * A crawler fetches each URL once, however often its threads find the URL. Usage: dedup_urls URLS
 * THREADS RATE
 *
 * For each new key exactly one insert is answered WEIR_NEW, because with words_per_key = 1 a single
 * atomic OR decides. The thread that gets WEIR_NEW fetches the URL. A URL that is a false positive
 * is never fetched. RATE is the largest share of URLs that are false positives. The share is
 * smaller while the filter fills.
 *
 * Each URL is found three times, in a random order, and perhaps by two threads at once. A table
 * counts how often each URL was fetched. The memory of a hash set, the crawler's alternative, is
 * measured for the same URLs. */
#include <malloc.h>
#include <stdatomic.h>
#include "../example.h"

static const char usage[] = "dedup_urls URLS THREADS RATE";

enum { LINKS = 3 /* links to each URL */, BATCH = 64 /* URLs made at a time */ };

static struct weir_filter *seen;
static struct key_lines paths; /* paths that dpkg knows, if there are any */
static uint64_t urls;
static atomic_uchar *fetched;  /* how often each URL was fetched */
static atomic_ullong next, ns;

static void *crawl(void *unused)
{
	char url[BATCH][KEY_URL_ROOM];
	uint64_t page[BATCH], at, mine = 0;
	size_t len[BATCH], n;
	while ((at = atomic_fetch_add(&next, BATCH)) < LINKS * urls) {
		for (n = 0; n < BATCH && at + n < LINKS * urls; n++) {
			page[n] = key_permute(SEED, at + n, LINKS * urls) / LINKS;
			len[n] = key_url(url[n], SEED, page[n], &paths);
		}
		double began = cpu_seconds();
		for (size_t i = 0; i < n; i++)
			if (weir_insert(seen, url[i], len[i]) == WEIR_NEW)
				atomic_fetch_add(&fetched[page[i]], 1);
		mine += (uint64_t)((cpu_seconds() - began) * 1e9);
	}
	atomic_fetch_add(&ns, mine);
	return unused;
}

/* Each thread inserts all new URLs in the same order, at almost the same time. */
static void *race(void *unused)
{
	char url[KEY_URL_ROOM];
	for (uint64_t i = urls; i < urls + urls / 8; i++) {
		size_t len = key_url(url, SEED, i, &paths);
		if (weir_insert(seen, url, len) == WEIR_NEW)
			atomic_fetch_add(&fetched[i], 1);
	}
	return unused;
}

/* Return: the bytes of a hash set of the URLs. The hash set is a table of pointers that is at most
 * three quarters full, and a block of malloc() for the text of each URL. */
static double hash_set(uint64_t *different)
{
	uint64_t slots = 1, bytes;
	char url[KEY_URL_ROOM];
	while (slots * 3 / 4 < urls)
		slots *= 2;
	char **table = room_for(slots, sizeof *table);
	bytes = slots * sizeof *table;
	*different = 0;
	for (uint64_t i = 0; i < urls; i++) {
		size_t len = key_url(url, SEED, i, &paths);
		uint64_t at = weir_hash_seeded(SEED, url, len) & (slots - 1);
		while (table[at] && strcmp(table[at], url) != 0)
			at = (at + 1) & (slots - 1);
		if (table[at])
			continue;
		++*different;
		table[at] = strdup(url);
		if (!table[at])
			abort();
		bytes += malloc_usable_size(table[at]) + sizeof(size_t); /* and malloc's header */
	}
	for (uint64_t i = 0; i < slots; i++)
		free(table[i]);
	free(table);
	return (double)bytes;
}

static void count(uint64_t first, uint64_t n, uint64_t *skipped, uint64_t *twice)
{
	for (uint64_t i = first; i < first + n; i++) {
		*skipped += fetched[i] == 0;
		*twice += fetched[i] > 1;
	}
}

int main(int argc, char **argv)
{
	double rate = argc == 4 ? atof(argv[3]) : 0;
	if (!(rate >= 1e-6 && rate <= 0.1)) {
		fprintf(stderr, "usage: %s (of 1e-6 to 0.1)\n", usage);
		return 2;
	}
	urls = number(argv[1], 10000, 100000000, usage);
	unsigned threads = (unsigned)number(argv[2], 1, MOST_THREADS, usage);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	uint64_t skipped = 0, twice = 0, raced_skipped = 0, different, raced = urls / 8;
	p.capacity = urls + raced;
	p.fp_rate = rate;
	p.blocked.words_per_key = 1;
	must(weir_create(&seen, &p), "create");
	must(key_lines(&paths, KEY_PATHS, 64 << 20), "paths");
	fetched = room_for(urls + raced, sizeof *fetched);
	in_threads(threads, crawl);
	count(0, urls, &skipped, &twice);
	in_threads(threads, race);
	count(urls, raced, &raced_skipped, &twice);
	must(weir_measure(seen, WEIR_SAMPLED, &stats), "stats");
	double set = hash_set(&different);
	printf("%llu URLs, found %d times each by %u threads: %llu fetched twice, %.4f %% wrongly "
	       "skipped (asked %.4f %%); %.1f MB beside %.1f MB of a hash set; %.0f ns an insert, "
	       "its mark in the table included\n", (unsigned long long)urls, LINKS,
	       threads, (unsigned long long)twice, (double)skipped / (double)urls * 100, rate * 100,
	       (double)stats.bytes * 1e-6, set * 1e-6, (double)ns / (double)(LINKS * urls));
	weir_destroy(seen);
	free(fetched);
	key_lines_free(&paths);
	bool kept = promise(different == urls, "the URLs are distinct");
	kept &= promise(!twice, "each URL is fetched once");
	kept &= promise(within(skipped, rate, urls) && within(raced_skipped, rate, raced),
	                "no more are skipped than the rate");
	kept &= promise(skipped + raced_skipped > 0 || rate * (double)urls < 100,
	                "some are skipped, or this counts nothing");
	return !kept;
}
