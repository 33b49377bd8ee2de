/* SPDX-License-Identifier: MIT
 * The threads that most scenarios of a handle use. */
#include "scenario_handle.h"

static uint32_t record[SUBJECT_KEYS];
struct weir_handle *handle;
const struct rcu_flavor_struct *flavor;
const struct weir_reload_options keep_previous = { .struct_size = sizeof keep_previous,
                                                   .keep_previous = true };
const struct weir_reload_options defer_free = { .struct_size = sizeof defer_free,
                                                .defer_free = true };

void record_key(unsigned key)
{
	det_store(&record[key], sizeof record[key], 1, DET_RELAXED);
}

void clear_record(unsigned key)
{
	det_store(&record[key], sizeof record[key], 0, DET_RELAXED);
}

bool is_recorded(unsigned key)
{
	return det_load(&record[key], sizeof record[key], DET_RELAXED) == 1;
}

void handle_begin(const struct rcu_flavor_struct *of)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *initial;
	scenario_begin();
	flavor = of;
	options.flavor = of;
	options.flags = reseeds() ? WEIR_HANDLE_ANY_SEED : 0;
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		record[key] = key == 0;
	det_assert(weir_clone(&initial, subject->filter) == 0);
	det_assert(form_insert(initial, hash_of(0)) == WEIR_NEW);
	bool defaults = of == &urcu_bp_flavor && !options.flags;
	det_assert(weir_handle_create(&handle, initial, defaults ? NULL : &options) == 0);
}

bool handle_holds(unsigned key)
{
	return form_handle_contains(handle, hash_of(key));
}

void handle_end(void)
{
	det_assert(weir_handle_destroy(handle) == 0);
	det_assert(det_allocated() == 0);
}

void handle_end_with(unsigned inserted, unsigned swaps)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	for (unsigned key = 0; key <= inserted; key++)
		det_assert(handle_holds(key));
	det_assert(weir_handle_measure(handle, &s, NULL) == 0);
	det_assert(s.swaps == swaps && s.generation == swaps + 1);
	det_assert(!s.reloading && s.bytes == subject->bytes * (s.previous_kept ? 2 : 1));
	handle_end();
}

void handle_insert_thread(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	flavor->register_thread();
	if (reseeds())
		record_key(i->key);
	answer[i->slot] = form_handle_insert(handle, hash_of(i->key));
	promise(i->slot);
	flavor->unregister_thread();
}

void handle_verify_thread(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	if (!promised(i->slot))
		return;
	flavor->register_thread();
	det_assert(handle_holds(i->key));
	flavor->unregister_thread();
}

void handle_keep_thread(void *unused)
{
	(void)unused;
	acts_on_keys(1);
	flavor->register_thread();
	flavor->read_lock();
	const struct weir_filter *f = weir_handle_get(handle);
	det_assert(form_contains(f, hash_of(0)));
	promise(3); /* a store, at which det can switch threads */
	det_assert(form_contains(f, hash_of(0)));
	flavor->read_unlock();
	flavor->read_quiescent_state();
	flavor->read_lock();
	det_assert(form_contains(weir_handle_get(handle), hash_of(0)));
	flavor->read_unlock();
	flavor->unregister_thread();
}

const struct weir_gate any_hashes = { .struct_size = sizeof any_hashes, .allow_uneven = true };

int reload_begin(struct weir_reload **out, const struct weir_reload_options *options)
{
	struct weir_reload_options other = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params params = subject_params(subject);
	if (options)
		other = *options;
	if (!other.gate)
		other.gate = &any_hashes;
	if (reseeds()) {
		params.seed = alternate_seed();
		other.params = &params;
	}
	return weir_reload_begin(out, handle, &other);
}

struct weir_reload *reload_begun(const struct weir_reload_options *options)
{
	struct weir_reload *r = NULL;
	det_assert(reload_begin(&r, options) == 0);
	return r;
}

int carry_over(struct weir_reload *r)
{
	if (!reseeds())
		return weir_reload_copy(r, WEIR_ALL_SETS);
	for (unsigned key = 0; key < SUBJECT_KEYS; key++)
		if (is_recorded(key))
			det_assert(form_reload_insert(r, hash_of(key)) >= 0);
	return 0;
}

void reload_by_copy(const struct weir_reload_options *options)
{
	struct weir_reload *r = reload_begun(options);
	det_assert(carry_over(r) == 0);
	det_assert(weir_reload_commit(r) == 0);
}

void reload_by_copy_thread(void *options)
{
	flavor->register_thread();
	reload_by_copy(options);
	flavor->unregister_thread();
}

void spawn_insert_and_verify(void)
{
	static struct insertion one = { 1, 1 };
	det_spawn(handle_insert_thread, &one);
	det_spawn(handle_verify_thread, &one);
}
