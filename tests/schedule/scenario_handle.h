/* SPDX-License-Identifier: MIT
 * The common part of scenarios of a handle. All of them test three promises. After an insert has
 * returned, every later lookup finds the key. A filter that a read-side section has found is freed
 * only after the section ends. At the end all memory is freed.
 *
 * These scenarios are compiled with the instrumentation too, so det also sees the functions that
 * the headers inline. */
#ifndef WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H
#define WEIR_TESTS_SCHEDULE_SCENARIO_HANDLE_H

#include <errno.h>
#include "det_urcu.h"
#include "forms.h"

extern struct weir_handle *handle;              /* the handle of the current execution */
extern const struct rcu_flavor_struct *flavor;  /* the flavor of the handle */

/* The application's record: a flag for each key. A thread writes the flag before it inserts the
 * key, and a loader reads the flag after its reload has begun. Nothing else orders the two threads.
 * If filters hash differently, loaders read the record, because a filter cannot be copied. */
void record_key(unsigned key);
void clear_record(unsigned key);
bool is_recorded(unsigned key);

/* Creates a handle on a filter of the subject's layout that contains key 0. */
void handle_begin(const struct rcu_flavor_struct *of);
/* Destroys the handle, and checks that all memory is freed. */
void handle_end(void);
/* Ends like handle_end(), after two checks: key 0 and the next @inserted keys are in the set, and
 * @swaps swaps were made. */
void handle_end_with(unsigned inserted, unsigned swaps);
bool handle_holds(unsigned key);

/* Thread functions. */
void handle_insert_thread(void *insertion);
void handle_verify_thread(void *insertion); /* a thread that sees the promise must find the key */
/* gets a filter and looks up key 0 twice in it, then gets the filter again */
void handle_keep_thread(void *unused);
void reload_by_copy_thread(void *options);  /* @options may be NULL */

/* ---- the steps of loaders ---- */
struct weir_reload *reload_begun(const struct weir_reload_options *options);
/* Calls weir_reload_begin(), with the other seed if the form reseeds. */
int reload_begin(struct weir_reload **out, const struct weir_reload_options *options);
/* Brings the keys of the current filter into the next filter: by a copy or, if the form reseeds,
 * from the record. Return: 0, or the error of the copy. */
int carry_over(struct weir_reload *r);
void reload_by_copy(const struct weir_reload_options *options);

extern const struct weir_reload_options keep_previous, defer_free;

/* Spawns a thread that inserts key 1 and a thread that verifies it, in addition to the scenario's
 * own threads. */
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
