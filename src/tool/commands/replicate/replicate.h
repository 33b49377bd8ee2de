/* SPDX-License-Identifier: MIT
 * weir replicate: its subcommands. */
#ifndef WEIR_TOOL_REPLICATE_H
#define WEIR_TOOL_REPLICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <weir/replica.h>

/* What the command line says. */
struct replicate {
	struct weir_replica_options options;
	const char *output;          /* follow */
	double max_age;              /* status: seconds; 0: any */
	uint64_t generation;         /* rollback */
	bool replace, force, json, prometheus, quiet;
	int zstd_level;              /* of images, here and there */
	char **arguments;
	int count;
};

enum {
	REPLICATE_PUBLISH = 1,
	REPLICATE_FOLLOW = 2,
	REPLICATE_STATUS = 4,
	REPLICATE_ROLLBACK = 8,
	REPLICATE_KEY = 16,
	REPLICATE_ANY = 31,
};

/* argv[0] is the full name, argv[1] the first option. @command: one of those above.
 * Return: TOOL_OK, TOOL_TROUBLE after a message, or -1: help is wanted. */
int replicate_options(struct replicate *r, unsigned command, int argc, char **argv);

int replicate_publish(struct replicate *r);
int replicate_follow(struct replicate *r);
int replicate_status(struct replicate *r);
int replicate_rollback(struct replicate *r);
int replicate_key(struct replicate *r);

/* ---- the status of a set for programs ---- */

enum { ALERTS = 1000 };

/* Sentences about what is not well. */
struct alerts {
	char *of[ALERTS];
	size_t n;
};

void status_json(const struct replicate *r, const struct weir_replica_view *v,
                 const struct alerts *a);
void status_prometheus(const struct replicate *r, const struct weir_replica_view *v,
                       const struct alerts *a);

/* Seconds since a generation was published; or until then, if a clock was set back. */
double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g);

#endif
