/* SPDX-License-Identifier: MIT
 * A thousand swaps of a filter of some megabytes during lookups and inserts. Memory returns to its
 * size at the start, and there are never more filters than weir/handle.h allows: two, or three
 * while the handle keeps the previous filter. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "flavor.h"

enum { CAPACITY = 3000000, MEBI = 1 << 20, SLACK = 2 * MEBI };

struct swaps {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *handle;
	uint64_t swaps;
	bool keep_previous, defer_free;
	uint64_t peak; /* bytes above the size at the start */
	atomic_bool over;
};

/* The value of a line of /proc/self/status, in bytes. */
static uint64_t status(const char *name)
{
	char line[128];
	uint64_t kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	check(f, "/proc/self/status");
	while (fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0)
			kib = strtoull(line + strlen(name), NULL, 10);
	fclose(f);
	check(kib, "no %s", name);
	return kib * 1024;
}

/* Reset VmHWM, which is then the maximum of VmRSS from now on. */
static void forget_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	check(f && fputs("5", f) >= 0 && fclose(f) == 0, "/proc/self/clear_refs");
}

static void load_lightly(struct swaps *s, unsigned thread)
{
	uint64_t random = thread, key = 0;
	while (!atomic_load_explicit(&s->over, memory_order_relaxed)) {
		check(weir_handle_insert_hash(s->handle, stress_hash(key)) >= 0, "%s",
		      weir_error_detail());
		check(weir_handle_contains_hash(s->handle, stress_hash(key)),
		      "a key that was just inserted is missed");
		/* choose among few keys, so that they fit, however long the test takes */
		key = stress_random(&random) % (CAPACITY / 10);
		if (key % 64)
			continue;
		s->flavor->thread_offline();
		usleep(100);
		s->flavor->thread_online();
	}
}

static void swap(struct swaps *s)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	options.keep_previous = s->keep_previous;
	options.defer_free = s->defer_free;
	int err = weir_reload_begin(&r, s->handle, &options);
	check(err == 0, "%s", weir_error_detail());
	err = weir_reload_copy(r, WEIR_ALL_SETS);
	check(err == 0, "%s", weir_error_detail());
	err = weir_reload_commit(r);
	check(err == 0, "%s", weir_error_detail());
}

/* Return: the memory of the program, after call_rcu has freed the old filters and malloc() has
 * returned its spare memory. */
static uint64_t settled(const struct swaps *s)
{
	s->flavor->barrier();
	malloc_trim(0);
	return status("VmRSS:");
}

static void work(void *shared, unsigned thread)
{
	struct swaps *s = shared;
	s->flavor->register_thread();
	if (thread) {
		load_lightly(s, thread);
	} else {
		for (unsigned i = 0; i < 20; i++) /* start liburcu's threads first */
			swap(s);
		uint64_t before = settled(s);
		forget_peak();
		for (uint64_t i = 0; i < s->swaps; i++)
			swap(s);
		s->peak = status("VmHWM:") - before;
		uint64_t after = settled(s);
		printf(" %5.1f MiB before, %5.1f after, %5.1f more at the peak\n",
		       (double)before / MEBI, (double)after / MEBI, (double)s->peak / MEBI);
		check(after < before + SLACK, "%llu bytes more than before",
		      (unsigned long long)(after - before));
		atomic_store_explicit(&s->over, true, memory_order_relaxed);
	}
	s->flavor->unregister_thread();
}

static void run(const struct stress *options, bool keep_previous, bool defer_free)
{
	struct layout layout = stress_layout(0);
	struct swaps s = { .flavor = options->flavor,
	                   .swaps = options->operations,
	                   .keep_previous = keep_previous,
	                   .defer_free = defer_free };
	struct weir_filter *f = stress_filter(&layout, CAPACITY, NULL, NULL);
	struct weir_stats stats = WEIR_STATS_INIT;
	check(weir_measure(f, WEIR_SAMPLED, &stats) == 0, "%s", weir_error_detail());
	for (uint64_t i = 0; i < CAPACITY / 2; i++)
		(void)weir_insert_hash(f, stress_hash(i));
	s.handle = flavor_handle(s.flavor, 0, f);
	printf("%s, %.1f MiB%s%s, %llu swaps:", options->flavor_name, (double)stats.bytes / MEBI,
	       keep_previous ? ", previous kept" : "", defer_free ? ", freed by call_rcu" : "",
	       (unsigned long long)s.swaps);
	stress_run(options->threads + 1, work, &s);
	/* The current filter exists at the start, and so does the previous filter if the handle
	 * keeps it. At the peak there is one filter more, the filter of the reload. The number of
	 * filters that call_rcu has not freed yet has no bound. */
	check(defer_free || s.peak < stats.bytes + SLACK + 2 * MEBI,
	      "%llu bytes more at the peak: a filter has %llu", (unsigned long long)s.peak,
	      (unsigned long long)stats.bytes);
	check(weir_handle_destroy(s.handle) == 0, "%s", weir_error_detail());
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 1000);
	options.flavor = flavor_named(options.flavor_name);
	run(&options, false, false);
	run(&options, true, false);
	run(&options, false, true);
	return 0;
}
