/* SPDX-License-Identifier: MIT
 * What each list answered, as it is counted, and the statistics file. */
#ifndef WEIR_SERVERS_BIND_REPORT_H
#define WEIR_SERVERS_BIND_REPORT_H

#include <stdint.h>

/* What each list answered, counted by thread. A list is known by its name, and its counts stay for
 * as long as named runs: a reload of the configuration goes on with them. */

enum count {
	COUNT_QUERIES,   /* names looked up; the target of a CNAME is one more */
	COUNT_NXDOMAIN,  /* of those, blocked, by answer */
	COUNT_NODATA,
	COUNT_ADDRESS,
	COUNT_ALLOWED,   /* in the set, and passed on as in the allow list */
	COUNT_NOT_READY, /* an image has not been there yet */
	COUNTS,
};

enum { COUNT_LISTS = 64 }; /* names in the life of a process */

/* Return: the list of this name, 0 to COUNT_LISTS - 1, or -1: there are too many names. */
int counts_list(const char *name);
/* Wait-free but for a thread's first call, which allocates; without memory nothing is counted. */
void counts_add(int list, enum count what);
/* The sums of all threads, each as it was a moment ago. */
void counts_sum(int list, uint64_t sums[COUNTS]);

/* The statistics file, as Prometheus' node_exporter collects it from a folder: written beside and
 * renamed, so that whoever reads it finds a whole one. Lists that name the same file share it. */

struct weir_handle;

/* A view's part of the file. Of two with the same name, as for a moment in a reload of the
 * configuration, the one that joined last is written. */
struct report_part {
	const char *name; /* of the list */
	int list;         /* of report.h */
	struct weir_handle *block, *allow; /* allow: or NULL */
	struct report_part *next;
	struct report_file *file;
};

/* Begin to write, at once and then every @seconds. @part must live until report_leave().
 * Return: 0 or a negative errno, with which no thread could be started. */
int report_join(struct report_part *part, const char *path, uint32_t seconds);
/* The last to leave has the file written once more. Without a join nothing happens. */
void report_leave(struct report_part *part);

/* ---- its text ---- */

struct report_part;

/* Return: the metrics of the parts from the head of their list, to be freed; NULL: no memory, or
 * weir_error_detail() has a sentence. */
char *text_of(const struct report_part *parts);

#endif
