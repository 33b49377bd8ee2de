/* SPDX-License-Identifier: MIT
 * The subcommands of weir replicate. */
#ifndef WEIR_TOOL_REPLICATE_H
#define WEIR_TOOL_REPLICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>
#include <weir/replica.h>

/* The parsed command line. */
struct replicate {
	struct weir_replica_options options;
	const char *output;                     /* option of follow */
	double max_age;                         /* option of status, in seconds; 0: no limit */
	struct weir_replica_version generation; /* option of rollback */
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

/* Parses the options. argv[0] is the full name of the command, and argv[1] is the first option.
 * @command: a value of the enum above. Return: TOOL_OK, TOOL_TROUBLE after a message, or -1 if help
 * is wanted. */
int replicate_options(struct replicate *r, unsigned command, int argc, char **argv);

int replicate_publish(struct replicate *r);
int replicate_follow(struct replicate *r);
int replicate_status(struct replicate *r);
int replicate_rollback(struct replicate *r);
int replicate_key(struct replicate *r);

/* ---- the status of a set ---- */

/* Nodes report every 5 seconds. A node is late if its last report is older than LATE seconds, and
 * silent if its last report is older than SILENT seconds. A node that lacks inserts for more than
 * LACKING seconds gets an alert. ALERTS is the largest number of alerts. */
enum { LATE = 10, SILENT = 30, LACKING = 30, ALERTS = 1000 };

/* A list of alerts, each a sentence. */
struct alerts {
	char *of[ALERTS];
	size_t n;
};

/* Return: the whole status. Its members are named like the members of the structs in
 * <weir/replica.h>. The caller frees it by json_decref(). */
json_t *status_json(const struct replicate *r, const struct weir_replica_view *v,
                    const struct alerts *a);
/* status_print() prints the status as lines, and status_prometheus() prints it as metrics. */
void status_print(json_t *status);
void status_prometheus(json_t *status);

/* The printf format and the arguments of a version, such as "3.14". */
#define VERSION "%" PRIu64 ".%" PRIu64
#define VERSION_OF(v) (v).era, (v).number

static inline bool is_version(struct weir_replica_version a, struct weir_replica_version b)
{
	return a.era == b.era && a.number == b.number;
}

/* Return: the seconds between the signing of a generation and redis's time, never negative. */
double age_of(const struct weir_replica_view *v, const struct weir_replica_generation *g);
/* Return: the seconds until a generation with an expiry expires, by the clock of this machine. Each
 * node also uses the clock of its own machine for the expiry. */
double seconds_left(const struct weir_replica_generation *g);
/* Return: the number of log entries that a node has not applied. If the node's position is in an
 * older epoch than the log's last entry, the result is the length of the log. */
uint64_t entries_behind(const struct weir_replica_view *v, const struct weir_replica_node *n);

#endif
