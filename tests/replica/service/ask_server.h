/* SPDX-License-Identifier: MIT
 * What the tests of ask.c give it instead of a server, a set and a thread: these answer as a test
 * says, and what is asked of them is written down. */
#ifndef WEIR_TESTS_ASK_SERVER_H
#define WEIR_TESTS_ASK_SERVER_H

#include <errno.h>
#include "../../test.h"
#include "service/service.h"

enum { ANSWERS = 4 };

extern struct weir_replica replica;
extern struct ask_server {
	int look[ANSWERS], publish[ANSWERS]; /* in turn */
	int lease, keep, read, release;
	bool lacks;              /* the newest image */
	uint64_t kept_meanwhile; /* of inserts, while it publishes */
	unsigned looks, publishes;
	bool held, takes;        /* the lease: from whoever had it */
	uint32_t lease_ms;
	unsigned notes;
	char noted[WEIR_SERVICE_SENTENCE]; /* at last */
	char did[32]; /* a letter each */
} server;

int ask_setup(void **state);
/* Return: @err, with a sentence that names the letter. */
int ask_did(char what, int err);

#endif
