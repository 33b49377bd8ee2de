/* SPDX-License-Identifier: MIT
 * Reads a file into a store's free slot, and checks every byte and whether the set is plausible. If
 * a check fails, it empties the slot. It is one call, independent of nginx, for a thread beside the
 * event loop. */
#ifndef WEIR_NGINX_READING_H
#define WEIR_NGINX_READING_H

#include "store.h"

struct reading {
	struct store *store;         /* after store_begin() */
	double keys_before;          /* in the set in use; 0: no set */
	bool any_before, prefixes_before;
	weir_progress_fn *stop;      /* returns non-zero to end the reading */
	/* the result: */
	int err;                     /* 0: facts are valid */
	bool changed;                /* the file was written to or replaced during the reading */
	struct file_identity file;   /* the one read */
	struct store_facts facts;
	char sentence[STORE_TEXT];   /* if err is not 0 */
};

void reading_run(struct reading *r);

/* Will the same file fail in the same way again? Otherwise the system has failed. */
bool reading_is_verdict(int err);

/* Did memory or descriptors run out, so that the error says nothing about the file? */
bool reading_is_blameless(int err);

/* A stand-in identity, made from @err, for a file that cannot be identified. */
struct file_identity reading_absent(int err);
/* The sentence for such a file. */
void reading_explain_absent(char sentence[STORE_TEXT], const char *path, int err);
/* The sentence for a failure of store_begin(). */
void reading_explain_no_slot(char sentence[STORE_TEXT], const struct store *store, int err);

#endif
