/* SPDX-License-Identifier: MIT
 * The threads of scenarios whose filters refuse keys. */
#include "scenario_full.h"

static struct weir_filter *make(uint32_t most, uint32_t flags)
{
	struct weir_filter *f = bounded_make_with(&bounded_removes, 1, most, flags);
	det_assert(f);
	return f;
}

void full_begin_as(uint32_t most, uint32_t flags)
{
	struct weir_filter *initial = make(most, flags);
	scenario_begin();
	flavor = &urcu_bp_flavor;
	det_assert(weir_insert_hash(initial, 0) == WEIR_NEW);
	det_assert(weir_handle_create(&handle, initial, NULL) == 0);
}

void full_begin_with(uint32_t most)
{
	full_begin_as(most, 0);
}

struct weir_reload *full_begin_into(uint32_t most, bool keep)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = keep;
	det_assert(weir__writer_begin(handle, "the test") == 0);
	weir__standby_free(handle);
	det_assert(weir__reload_open(&r, handle, make(most, 0), &o) == 0);
	return r;
}

void full_load(struct weir_reload *r, uint64_t key)
{
	det_assert(form_reload_insert(r, key) >= 0);
}

void full_insert(unsigned key)
{
	answer[key] = form_handle_insert(handle, key);
	det_assert(answer[key] >= 0 || answer[key] == -ENOSPC);
	if (answer[key] >= 0)
		promise(key);
}

void full_insert_thread(void *key)
{
	full_insert((unsigned)(uintptr_t)key);
}

void full_verify_thread(void *key)
{
	unsigned k = (unsigned)(uintptr_t)key;
	if (promised(k))
		det_assert(form_handle_contains(handle, k));
}

void full_spawn(void (*run)(void *), unsigned key)
{
	det_spawn(run, (void *)(uintptr_t)key);
}

int64_t full_count(unsigned key)
{
	return weir_count_hash(weir_handle_get(handle), key);
}

void full_end_exactly(unsigned keys)
{
	det_assert(full_count(0) == 1);
	for (unsigned key = 1; key <= keys; key++)
		det_assert(full_count(key) == (answer[key] >= 0));
	handle_end();
}

void full_record_and_insert(void *key)
{
	record_key((unsigned)(uintptr_t)key);
	full_insert_thread(key);
}

void full_forget_record(void)
{
	for (unsigned key = 0; key < 3; key++)
		clear_record(key);
}

bool full_once(const struct subject *s)
{
	for (const struct subject *before = subjects; before < s; before++)
		if (smallest(before))
			return false;
	return smallest(s);
}
