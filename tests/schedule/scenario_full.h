/* SPDX-License-Identifier: MIT
 * The common part of the scenarios of filters that refuse and remove. The filters are toys with
 * room for a given number of copies. A key's hash is its number. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H

#include "../bounded.h"
#include "set/generation.h"
#include "set/reload/reload.h"
/* the last: its variable has the name of a parameter in the headers above */
#include "scenario_handle.h"

/* Begin with key 0 in a filter with room for @most copies. */
void full_begin_with(uint32_t most);
/* @flags: enum weir_flags. */
void full_begin_as(uint32_t most, uint32_t flags);
/* Begin a reload into a filter with room for @most copies. */
struct weir_reload *full_begin_into(uint32_t most, bool keep);
void full_load(struct weir_reload *r, uint64_t key);
/* Insert key @key; if it is acknowledged, promise slot @key. */
void full_insert(unsigned key);

/* Threads. Each acts on one key. */
void full_spawn(void (*run)(void *), unsigned key);
void full_insert_thread(void *key);
void full_record_and_insert(void *key); /* the application's record first, as always */
void full_verify_thread(void *key);

/* Clear the record of each key. */
void full_forget_record(void);
int64_t full_count(unsigned key);
/* Key 0 and the acknowledged keys are in the filter once, the others are not. */
void full_end_exactly(unsigned keys);
/* In a single layout, because these scenarios have filters of their own. */
bool full_once(const struct subject *s);

#endif
