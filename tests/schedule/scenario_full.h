/* SPDX-License-Identifier: MIT
 * The common part of scenarios with filters that refuse and remove keys. The filters come from
 * bounded.h, and their capacity counts copies of keys. A key's hash is its number. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H

#include "../bounded.h"
#include "set/generation.h"
#include "set/reload/reload.h"
/* scenario_handle.h comes last, because its variables, such as answer, have the names of local
 * variables in the headers above (-Wshadow). */
#include "scenario_handle.h"

/* Starts a scenario with a handle on a filter for @most copies, which has key 0. */
void full_begin_with(uint32_t most);
/* Does the same as full_begin_with() for a filter with @flags (enum weir_flags). */
void full_begin_as(uint32_t most, uint32_t flags);
/* Begins a reload into a filter for @most copies. */
struct weir_reload *full_begin_into(uint32_t most, bool keep);
void full_load(struct weir_reload *r, uint64_t key);
/* Inserts key @key. If the insert is acknowledged, promises slot @key. */
void full_insert(unsigned key);

/* Thread functions. Each acts on one key. */
void full_spawn(void (*run)(void *), unsigned key);
void full_insert_thread(void *key);
void full_record_and_insert(void *key); /* writes the application's record before the insert */
void full_verify_thread(void *key);

/* Clears the record of each key. */
void full_forget_record(void);
int64_t full_count(unsigned key);
/* Checks that key 0 and the acknowledged keys are in the filter once, and that no other key is. */
void full_end_exactly(unsigned keys);
/* Return: true for a single layout, because these scenarios have their own filters. */
bool full_once(const struct subject *s);

#endif
