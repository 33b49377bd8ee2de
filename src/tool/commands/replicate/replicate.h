/* SPDX-License-Identifier: MIT
 * weir replicate: its subcommands. */
#ifndef WEIR_TOOL_REPLICATE_H
#define WEIR_TOOL_REPLICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>
#include <weir/replica.h>

/* The command line. */
struct replicate {
	struct weir_replica_options options;
	const char *output;                     /* follow */
	double max_age;                         /* status: seconds; 0: any */
	struct weir_replica_version generation; /* rollback */
	bool replace, force, json, prometheus, quiet;
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

/* ---- the status of a set ---- */

/* Seconds without a report after which a node is late, and silent; seconds that a node may lack
 * inserts; the most alerts. Nodes report every 5 seconds. */
enum { LATE = 10, SILENT = 30, LACKING = 30, ALERTS = 1000 };

/* One sentence each. */
struct alerts {
	char *of[ALERTS];
	size_t n;
};

/* The whole status, named as in <weir/replica.h>. Free it with json_decref(). */
json_t *status_json(const struct replicate *r, const struct weir_replica_view *v,
                    const struct alerts *a);
/* Print it as lines, and as metrics. */
void status_print(json_t *status);
void status_prometheus(json_t *status);

/* "3.14" */
#define VERSION "%" PRIu64 ".%" PRIu64
#define VERSION_OF(v) (v).era, (v).number

static inline bool is_version(struct weir_replica_version a, struct weir_replica_version b)
{
	return a.era == b.era && a.number == b.number;
}

/* Seconds between the signing of a generation and now, by redis's clock; never negative. */
double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g);
/* Seconds until it expires, if ever, by this machine's clock. Nodes use their own clock too. */
double seconds_left(const struct weir_replica_generation *g);
/* Entries of the log that a node has not applied. */
uint64_t entries_behind(const struct weir_replica_view *v, const struct weir_replica_node *n);

#endif
