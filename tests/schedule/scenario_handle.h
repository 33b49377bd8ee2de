/* SPDX-License-Identifier: MIT
 * What the scenarios of a handle share. All of them hold the handle to its promise: a key whose
 * insert has returned is found by every later lookup, what a section found is not freed before it
 * ends, and at the end all memory is back.
 *
 * These scenarios are compiled with the instrumentation too: the verbs that the headers inline
 * count. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H

#include <errno.h>
#include "det_urcu.h"
#include "forms.h"

extern struct weir_handle *handle;              /* of the execution under way */
extern const struct rcu_flavor_struct *flavor;  /* its */

/* The application's record, a flag for each key: where filters hash differently, loaders read it,
 * since nothing can be copied. Written before the insert and read after begin: no other order
 * between them. */
void note(unsigned key);
void unnote(unsigned key);
bool noted(unsigned key);

/* A handle on a filter of the subject's layout that holds key 0. */
void handle_begin(const struct rcu_flavor_struct *of);
/* Destroys it: nothing is left. */
void handle_end(void);
/* As that, and before: key 0 and the first @inserted keys after it are in, so many swaps were
 * made. */
void handle_end_with(unsigned inserted, unsigned swaps);
bool handle_holds(unsigned key);

/* Threads. */
void handle_insert_thread(void *insertion);
void handle_verify_thread(void *insertion); /* a thread that has the promise sees the key */
/* looks twice at a filter that it has got once, for key 0, then gets it anew */
void handle_keep_thread(void *unused);
void reload_by_copy_thread(void *options);  /* NULL: none */

/* The steps of loaders. */
struct weir_reload *reload_begun(const struct weir_reload_options *options);
/* As weir_reload_begin(); with the other seed if the form says so. */
int reload_begin(struct weir_reload **out, const struct weir_reload_options *options);
/* What the current filter holds, by a copy or from the record. Return: 0, or the copy's error. */
int carry_over(struct weir_reload *r);
void reload_by_copy(const struct weir_reload_options *options);

extern const struct weir_reload_options keep_previous, defer_free;

/* An inserter of key 1 and who verifies it, beside what the scenario is about. */
void spawn_insert_and_verify(void);

static inline bool small(const struct subject *s)
{
	return one_line(s) && s->row->handles;
}

static inline bool smallest(const struct subject *s)
{
	return small(s) && subject_words(s) == 1;
}

static inline bool two_words(const struct subject *s)
{
	return small(s) && subject_words(s) == 2;
}

#endif
