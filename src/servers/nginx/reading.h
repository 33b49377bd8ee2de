/* SPDX-License-Identifier: MIT
 * Reading a file into a store's free slot: every byte checked, and whether anybody can have meant
 * it; else the slot is emptied. It is one call without nginx, for a thread beside the event
 * loop. */
#ifndef WEIR_NGINX_READING_H
#define WEIR_NGINX_READING_H

#include "store.h"

struct reading {
	struct store *store;         /* after store_begin() */
	double keys_before;          /* of the set in use; 0: none */
	bool any_before, prefixes_before;
	weir_progress_fn *stop;      /* answers non-zero to end it */
	/* what comes of it: */
	int err;                     /* 0: facts are right */
	bool changed;                /* the file was written to or replaced meanwhile */
	struct file_identity file;   /* that was read */
	struct store_facts facts;
	char sentence[STORE_TEXT];   /* if err is not 0 */
};

void reading_run(struct reading *r);

/* Will the same file fail in the same way again? Else it was the system's failure. */
bool reading_is_verdict(int err);

/* Is it for want of memory or descriptors, and nothing is known of the file? */
bool reading_is_blameless(int err);

/* The identity of a file that cannot be asked for, for this reason. */
struct file_identity reading_absent(int err);
/* Its sentence. */
void reading_explain_absent(char sentence[STORE_TEXT], const char *path, int err);
/* Why store_begin() has failed. */
void reading_explain_no_slot(char sentence[STORE_TEXT], const struct store *store, int err);

#endif
