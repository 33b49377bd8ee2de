/* SPDX-License-Identifier: MIT
 * What the scenarios of filters that refuse and remove share. The filters are toys with room for
 * so many copies; a key's hash is its number. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_FULL_H

#include "../bounded.h"
#include "set/generation.h"
#include "set/reload/reload.h"
/* after those, which have a parameter of the name of its variable */
#include "scenario_handle.h"

/* Key 0 is in. */
void full_begin_with(uint32_t most);
/* @flags: enum weir_flags. */
void full_begin_as(uint32_t most, uint32_t flags);
/* Begin a reload into a filter with room for so many. */
struct weir_reload *full_begin_into(uint32_t most, bool keep);
void full_load(struct weir_reload *r, uint64_t key);
/* Inserts key @key and promises that slot if it is acknowledged. */
void full_insert(unsigned key);

/* Threads, of a key each. */
void full_spawn(void (*run)(void *), unsigned key);
void full_insert_thread(void *key);
void full_record_and_insert(void *key); /* the application's record first, as always */
void full_verify_thread(void *key);

/* No key has a record. */
void full_forget_record(void);
int64_t full_count(unsigned key);
/* Key 0 and what was acknowledged are in once; nothing else is. */
void full_end_exactly(unsigned keys);
/* In one layout: these scenarios have filters of their own. */
bool full_once(const struct subject *s);

#endif
