/* SPDX-License-Identifier: MIT
 * Read a file into a store's free slot, check every byte, and check that the set is plausible. If a
 * check fails, free the slot's pages. reading_run() does not depend on nginx, and runs in a thread
 * beside the event loop. */
#ifndef WEIR_NGINX_READING_H
#define WEIR_NGINX_READING_H

#include "store.h"

struct reading {
	struct store *store;         /* after store_begin() */
	double keys_before;          /* number of keys in the set in use; 0: no set */
	bool any_before, prefixes_before;
	weir_progress_fn *stop;      /* a nonzero result ends the read */
	/* The result: */
	int err;                     /* 0: the field facts is valid */
	bool changed;                /* the file was written or replaced during the read */
	struct file_identity file;
	struct store_facts facts;
	char sentence[STORE_TEXT];   /* if err is not 0 */
};

void reading_run(struct reading *r);

/* Return: true if the same file would fail in the same way again; false if the system failed. */
bool reading_is_final(int err);

/* Return: true if memory or descriptors ran out, so that the error says nothing about the file. */
bool reading_lacked_resources(int err);

/* Return: a stand-in identity, made from @err, for a file that cannot be identified. */
struct file_identity reading_no_file(int err);
/* Write the error sentence for a file that cannot be identified. */
void reading_explain_no_file(char sentence[STORE_TEXT], const char *path, int err);
/* Write the error sentence for a failure of store_begin(). */
void reading_explain_no_slot(char sentence[STORE_TEXT], const struct store *store, int err);

#endif
