/* SPDX-License-Identifier: MIT
 * The common part of the scenarios of a handle. All of them test the handle's promise. After an
 * insert has returned, every later lookup finds the key. A filter that a section found is freed
 * only after the section ends. At the end all memory is free again.
 *
 * These scenarios are compiled with the instrumentation too, so det also sees the verbs that the
 * headers inline. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H

#include <errno.h>
#include "det_urcu.h"
#include "forms.h"

extern struct weir_handle *handle;              /* of the current execution */
extern const struct rcu_flavor_struct *flavor;  /* its flavor */

/* The application's record, a flag for each key. If filters hash differently, loaders read it,
 * because nothing can be copied. It is written before the insert and read after begin; no other
 * order holds between the two. */
void note(unsigned key);
void unnote(unsigned key);
bool noted(unsigned key);

/* A handle on a filter of the subject's layout that holds key 0. */
void handle_begin(const struct rcu_flavor_struct *of);
/* Destroy it; check that all memory is free. */
void handle_end(void);
/* The same, after these checks: key 0 and the first @inserted keys after it are in, and @swaps
 * swaps were made. */
void handle_end_with(unsigned inserted, unsigned swaps);
bool handle_holds(unsigned key);

/* Threads. */
void handle_insert_thread(void *insertion);
void handle_verify_thread(void *insertion); /* a thread that has the promise sees the key */
/* gets a filter and looks twice in it for key 0, then gets it anew */
void handle_keep_thread(void *unused);
void reload_by_copy_thread(void *options);  /* NULL: none */

/* The steps of loaders. */
struct weir_reload *reload_begun(const struct weir_reload_options *options);
/* As weir_reload_begin(), with the other seed if the form reseeds. */
int reload_begin(struct weir_reload **out, const struct weir_reload_options *options);
/* Bring over the keys of the current filter, by a copy or from the record. Return: 0, or the copy's
 * error. */
int carry_over(struct weir_reload *r);
void reload_by_copy(const struct weir_reload_options *options);

extern const struct weir_reload_options keep_previous, defer_free;

/* Spawn an inserter of key 1 and a thread that verifies it, besides the scenario's own threads. */
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
