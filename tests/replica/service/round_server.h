/* SPDX-License-Identifier: MIT
 * What the test of round.c gives it instead of a server and a set: these answer as the test says,
 * and what is asked of them is written down. */
#ifndef WEIR_TESTS_ROUND_SERVER_H
#define WEIR_TESTS_ROUND_SERVER_H

#include <errno.h>
#include "../../test.h"
#include "service/service.h"

enum { ANSWERS = 5 };

/* Of a call, and what it does beside. */
struct answer {
	int err;
	bool cuts;           /* the connection */
	const char *epoch;   /* the node meets another; NULL: it does not */
	uint64_t generation; /* it joins that; 0: none */
};
#define FAILS(why) { .err = (why) }
#define CUT(why) { .err = (why), .cuts = true }

extern struct weir_replica replica;
extern struct round_server {
	struct answer look[ANSWERS], send[ANSWERS], read, wait; /* in turn */
	bool wants, comes; /* the newest image */
	bool left;         /* a batch is to be sent again, when the stream was read */
	bool asks;         /* somebody, while replicas are waited for */
	unsigned looks, sends;
	const struct weir_manifest *only;
	int fd;
	char did[32];      /* a letter each; a failure's sentence names it */
} server;

/* A set that is joined, of which there is nothing to see. */
int round_setup(void **state);

#endif
