/* SPDX-License-Identifier: MIT
 * Short read-side sections: threads measure a handle, look up a key and insert a key, while another
 * thread swaps the handle's filter as fast as possible. The set is so small that there is a swap
 * for every few sections. A thread that read the record outside its section would read freed
 * memory. */
#include <stdio.h>
#include "flavor.h"

enum { CAPACITY = 20, KEY = 1 };

struct shared {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *handle;
	uint64_t bytes; /* size of every filter */
	uint64_t sections;
	unsigned users;
	atomic_uint using;
	atomic_uint_fast64_t swaps;
};

/* Check that the figures are those of a valid filter, and that they never decrease. */
static void measure(const struct shared *s, struct weir_handle_stats *last)
{
	struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	int err = weir_handle_measure(s->handle, &now, &current);
	check(err == 0, "%s", weir_error_detail());
	check(current.bytes == s->bytes && current.capacity == CAPACITY,
	      "a filter of %llu bytes for %llu keys", (unsigned long long)current.bytes,
	      (unsigned long long)current.capacity);
	check(now.generation >= last->generation && now.age >= 0, "generation %llu after %llu",
	      (unsigned long long)now.generation, (unsigned long long)last->generation);
	check(now.bytes >= s->bytes && now.bytes <= 4096 * s->bytes, "%llu bytes",
	      (unsigned long long)now.bytes);
	*last = now;
}

static void use(struct shared *s, unsigned thread)
{
	struct weir_handle_stats last = WEIR_HANDLE_STATS_INIT;
	/* go on until there was a swap, because the swapping thread may start last */
	for (uint64_t i = 0; i < s->sections || !atomic_load(&s->swaps); i++) {
		uint64_t hash = stress_hash(i * s->users + thread);
		switch (i % 4) {
		case 0: check(weir_handle_contains_hash(s->handle, stress_hash(KEY)),
			      "the key is missed");
			break;
		case 1: check(weir_handle_insert_hash(s->handle, hash) >= 0, "%s",
			      weir_error_detail());
			break;
		default: measure(s, &last);
		}
		s->flavor->read_quiescent_state();
	}
	atomic_fetch_sub_explicit(&s->using, 1, memory_order_relaxed);
}

static void swap(struct shared *s)
{
	uint64_t swaps = 0;
	while (atomic_load_explicit(&s->using, memory_order_relaxed)) {
		struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
		struct weir_reload *r = NULL;
		options.keep_previous = swaps % 8 == 7;
		int err = weir_reload_begin(&r, s->handle, &options);
		check(err == 0, "%s", weir_error_detail());
		check(weir_reload_insert_hash(r, stress_hash(KEY)) >= 0, "%s", weir_error_detail());
		err = weir_reload_commit(r);
		check(err == 0, "%s", weir_error_detail());
		if (options.keep_previous)
			err = swaps % 16 == 7 ? weir_handle_rollback(s->handle) :
			                        weir_handle_drop_previous(s->handle);
		check(err == 0, "%s", weir_error_detail());
		atomic_store(&s->swaps, ++swaps);
		s->flavor->read_quiescent_state();
	}
}

static void work(void *shared, unsigned thread)
{
	struct shared *s = shared;
	s->flavor->register_thread();
	if (thread < s->users)
		use(s, thread);
	else
		swap(s);
	s->flavor->unregister_thread();
}

static void run(const struct layout *layout, const struct stress *options)
{
	static struct shared s;
	double start = stress_seconds();
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *f = stress_filter(layout, CAPACITY, NULL, NULL);
	check(weir_measure(f, WEIR_SAMPLED, &stats) == 0, "%s", weir_error_detail());
	s = (struct shared){
		.flavor = options->flavor,
		.bytes = stats.bytes,
		.sections = options->operations / stress_layouts() / options->threads + 1,
		.users = options->threads,
		.using = options->threads,
	};
	(void)weir_insert_hash(f, stress_hash(KEY));
	s.handle = flavor_handle(s.flavor, 0, f);
	stress_run(s.users + 1, work, &s);
	int err = weir_handle_destroy(s.handle);
	check(err == 0, "%s", weir_error_detail());
	printf("%-16s %8llu sections, %6llu swaps, %5.1f s\n", layout->name,
	       (unsigned long long)(s.sections * s.users),
	       (unsigned long long)atomic_load(&s.swaps),
	       stress_seconds() - start);
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 400000);
	options.flavor = flavor_named(options.flavor_name);
	for (size_t i = 0; i < stress_layouts(); i++) {
		struct layout layout = stress_layout(i);
		if (layout.kind->copies || layout.kind->grows) /* CAPACITY is too small */
			continue;
		run(&layout, &options);
	}
	return 0;
}
