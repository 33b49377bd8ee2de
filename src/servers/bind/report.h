/* SPDX-License-Identifier: MIT
 * The counts of each list, and the statistics file. */
#ifndef WEIR_SERVERS_BIND_REPORT_H
#define WEIR_SERVERS_BIND_REPORT_H

#include <stdint.h>

/* Each thread counts the answers of each list. The name of a list identifies it. Its counts last as
 * long as named runs, over reloads of the configuration too. */

enum count {
	COUNT_QUERIES,   /* names looked up; each target of a CNAME counts too */
	COUNT_NXDOMAIN,  /* blocked, by answer */
	COUNT_NODATA,
	COUNT_ADDRESS,
	COUNT_ALLOWED,   /* in the set, but passed on: the allow list has them */
	COUNT_NOT_READY, /* asked before an image was there */
	COUNTS,
};

enum { COUNT_LISTS = 64 }; /* names that a process can count in its life */

/* Return: the list of this name, 0 to COUNT_LISTS - 1, or -1: too many names. */
int counts_list(const char *name);
/* Wait-free after a thread's first call, which allocates. Without memory it counts nothing. */
void counts_add(int list, enum count what);
/* Sum the counts of all threads. Other threads may count at the same time. */
void counts_sum(int list, uint64_t sums[COUNTS]);

/* The statistics file, for the folder that Prometheus' node_exporter collects. It is written beside
 * and renamed, so that a reader always finds a complete file. Lists that name one file share it. */

struct weir_handle;

/* The part of one view in the file. During a reload of the configuration two parts may have the
 * same name: the file has the one that joined last. */
struct report_part {
	const char *name; /* of the list */
	int list;         /* from counts_list() */
	struct weir_handle *block, *allow; /* allow: may be NULL */
	struct report_part *next;
	struct report_file *file;
};

/* Begin to write, at once and then every @seconds. @part must live until report_leave().
 * Return: 0 or a negative errno: no memory, or no thread. */
int report_join(struct report_part *part, const char *path, uint32_t seconds);
/* The last part to leave has the file written once more. A no-op for a part that never joined. */
void report_leave(struct report_part *part);

/* ---- its text ---- */

struct report_part;

/* @parts: the head of their list
 * Return: the metrics of the parts; free() them. NULL: no memory, or weir_error_detail() has a
 * sentence. */
char *text_of(const struct report_part *parts);

#endif
