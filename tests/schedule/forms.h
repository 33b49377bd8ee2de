/* SPDX-License-Identifier: MIT
 * The forms in which scenarios pass keys to inserts and lookups. A scenario runs in each form that
 * fits it, so that a promise for a hash is also tested for a key and for batches. Scenarios are
 * written in hashes. A form that takes keys gets the eight bytes with that hash. */
#ifndef WEIR_TESTS_SCHEDULE_FORMS_H
#define WEIR_TESTS_SCHEDULE_FORMS_H

#include "scenario.h"

/* The form in which one key is passed: as a hash, as a key, or in a batch of one in the three forms
 * of batches. NUMBER passes a u64 to the functions of a handle. In the last two forms, each reload
 * changes the seed, so the filters of the handle hash differently. */
enum form { HASH, KEY, HASHES, KEYS, FIXED, NUMBER, KEY_RESEEDED, KEYS_RESEEDED, FORMS };
extern enum form form; /* the form of the current run */
extern const char *const form_names[FORMS];

static inline bool reseeds(void)
{
	return form >= KEY_RESEEDED;
}

int form_insert(struct weir_filter *f, uint64_t hash);
bool form_contains(const struct weir_filter *f, uint64_t hash);
int form_reload_insert(struct weir_reload *r, uint64_t hash);
int form_handle_insert(struct weir_handle *h, uint64_t hash);
bool form_handle_contains(const struct weir_handle *h, uint64_t hash);
/* Return: 0 or a negative errno. */
int form_handle_remove(struct weir_handle *h, uint64_t hash);

/* These functions take at most FORM_MOST keys. They pass hashes, unless the form takes keys. */
enum { FORM_MOST = 4 };
int64_t form_insert_all(struct weir_filter *f, const uint64_t *hashes, size_t n, uint64_t *bitmap);
int64_t form_contains_all(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                          uint64_t *bitmap);
int64_t form_reload_insert_all(struct weir_reload *r, const uint64_t *hashes, size_t n);
int64_t form_handle_insert_all(struct weir_handle *h, const uint64_t *hashes, size_t n,
                               uint64_t *bitmap);
int64_t form_handle_contains_all(const struct weir_handle *h, const uint64_t *hashes, size_t n,
                                 uint64_t *bitmap);

#endif
