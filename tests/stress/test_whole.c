/* SPDX-License-Identifier: MIT
 * Statistics, clones, merges and images of a filter while other threads insert and look up. Each
 * result has every key that was promised before the call began. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "stress.h"

enum { SAMPLE = 64 };

struct shared {
	struct weir_filter *f, /* the filter that threads insert into */
	        *from,         /* is merged into f */
	        *into;         /* f is merged into this filter */
	uint64_t keys, first;
	unsigned inserters;
	bool copies; /* a merge adds copies of keys, which fill the filter */
	uint64_t seed;
	/* for each inserter, the number of keys whose inserts have returned */
	_Atomic uint64_t promised[MOST_THREADS];
	_Atomic uint64_t merged; /* the number of keys that were merged from @from into f */
	atomic_uint inserting;
	uint64_t turns;
};

static uint64_t hash_of(const struct shared *s, unsigned thread, uint64_t i)
{
	return stress_hash(s->first + i * MOST_THREADS + thread);
}

static void insert(struct shared *s, unsigned thread)
{
	uint64_t random = s->seed * MOST_THREADS + thread;
	for (uint64_t i = 0; i < s->keys; i++) {
		/* without a delay few merges and copies would happen during the inserts */
		for (unsigned slowly = 0; slowly < 16; slowly++)
			stress_delay(&random);
		(void)weir_insert_hash(s->f, hash_of(s, thread, i));
		atomic_store_explicit(&s->promised[thread], i + 1, memory_order_release);
		uint64_t merged = atomic_load_explicit(&s->merged, memory_order_acquire);
		check(!merged || weir_contains_hash(s->f, hash_of(s, s->inserters, merged - 1)),
		      "a merged key is missed");
	}
	atomic_fetch_sub_explicit(&s->inserting, 1, memory_order_relaxed);
}

static void look(const struct shared *s, const struct weir_filter *copy, const uint64_t *promised,
                 uint64_t *random, const char *what)
{
	for (unsigned t = 0; t < s->inserters; t++)
		for (unsigned i = 0; i < SAMPLE && promised[t]; i++) {
			uint64_t back = i % 2 ? i : stress_random(random),
			         key = promised[t] - 1 - back % promised[t];
			check(weir_contains_hash(copy, hash_of(s, t, key)),
			      "%s misses key %llu of %llu promised by thread %u", what,
			      (unsigned long long)key, (unsigned long long)promised[t], t);
		}
}

/* Return: false if the kind lacks the function that was called. */
static bool done(int64_t err)
{
	check(err >= 0 || err == -ENOTSUP, "%s", weir_error_detail());
	return err >= 0;
}

static void image(const struct shared *s, const uint64_t *promised, uint64_t *random)
{
	struct weir_filter *loaded = NULL;
	int fd = memfd_create("image", 0);
	check(fd >= 0, "memfd_create");
	if (done(weir_save(s->f, weir_location_fd(fd), NULL))) {
		check(lseek(fd, 0, SEEK_SET) == 0, "lseek");
		int err = weir_load(&loaded, weir_location_fd(fd), NULL);
		check(err == 0, "%s", weir_error_detail());
		look(s, loaded, promised, random, "the image");
		weir_destroy(loaded);
	}
	close(fd);
}

static void statistics(const struct weir_filter *f, double *fill)
{
	struct weir_stats stats = WEIR_STATS_INIT, exact = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_SAMPLED, &stats);
	check(err == 0, "%s", weir_error_detail());
	err = weir_measure(f, WEIR_EXACT, &exact);
	check(err == 0, "%s", weir_error_detail());
	check(exact.fill >= *fill, "the fill went down from %g to %g", *fill, exact.fill);
	*fill = exact.fill;
}

static void merge(struct shared *s, uint64_t turn)
{
	(void)weir_insert_hash(s->from, hash_of(s, s->inserters, turn));
	if (!done(weir_merge(s->f, s->from)))
		return;
	atomic_store_explicit(&s->merged, turn + 1, memory_order_release);
	check(done(weir_merge(s->into, s->f)), "%s", weir_error_detail());
}

static void keep(struct shared *s)
{
	uint64_t random = ~s->seed, promised[MOST_THREADS];
	double fill = 0;
	for (; atomic_load_explicit(&s->inserting, memory_order_relaxed); s->turns++) {
		struct weir_filter *copy = NULL;
		for (unsigned t = 0; t < s->inserters; t++)
			promised[t] = atomic_load_explicit(&s->promised[t], memory_order_acquire);
		if (s->turns < s->keys && !s->copies)
			merge(s, s->turns);
		if (atomic_load_explicit(&s->merged, memory_order_relaxed))
			look(s, s->into, promised, &random, "what it was merged into");
		if (done(weir_clone(&copy, s->f))) {
			look(s, copy, promised, &random, "the copy");
			weir_destroy(copy);
		}
		image(s, promised, &random);
		statistics(s->f, &fill);
	}
}

static void work(void *shared, unsigned thread)
{
	struct shared *s = shared;
	if (thread < s->inserters)
		insert(s, thread);
	else
		keep(s);
}

static void run(const struct layout *layout, const struct stress *options, uint64_t keys)
{
	static struct shared s;
	uint64_t *words[3];
	size_t bytes;
	double start = stress_seconds();
	s = (struct shared){
		.keys = keys,
		.inserters = options->threads,
		.copies = layout->kind->copies,
		.seed = options->seed,
		.inserting = options->threads,
		.first = (options->seed * stress_layouts() + layout->number) << 40
	};
	struct weir_filter **filters[3] = { &s.f, &s.from, &s.into };
	for (unsigned i = 0; i < 3; i++)
		*filters[i] = stress_filter(layout, keys * (options->threads + 1), &words[i],
		                            &bytes);
	stress_run(options->threads + 1, work, &s);
	stress_check_fill(s.f);
	for (unsigned t = 0; t < s.inserters; t++)
		for (uint64_t i = 0; i < keys; i++)
			check(weir_contains_hash(s.f, hash_of(&s, t, i)),
			      "key %llu of thread %u is missed", (unsigned long long)i, t);
	printf("%-16s %8llu inserts, %5llu merges, copies and images meanwhile, %5.1f s\n",
	       layout->name, (unsigned long long)(keys * s.inserters), (unsigned long long)s.turns,
	       stress_seconds() - start);
	for (unsigned i = 0; i < 3; i++) {
		weir_destroy(*filters[i]);
		free(words[i]);
	}
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 2000000);
	for (size_t i = 0; i < stress_layouts(); i++) {
		struct layout layout = stress_layout(i);
		/* Skip kinds with removals that allow no insert during a copy. A kind that stores
		 * copies delays the insert instead (filter.h). Skip growing filters too, because
		 * their fill may decrease. */
		if ((layout.kind->reference.remove && !layout.kind->copies) || layout.kind->grows)
			continue;
		run(&layout, &options,
		    options.operations / stress_layouts() / options.threads + 1);
	}
	return 0;
}
