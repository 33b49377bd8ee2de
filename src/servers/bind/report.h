/* SPDX-License-Identifier: MIT
 * The counts of each list, and the statistics file. */
#ifndef WEIR_SERVERS_BIND_REPORT_H
#define WEIR_SERVERS_BIND_REPORT_H

#include <stdint.h>

/* Each thread counts the answers of each list. The list's name identifies its counts, which last
 * until named exits, also across reloads of the configuration. */

enum count {
	COUNT_QUERIES,   /* names looked up, including each target of a CNAME */
	COUNT_NXDOMAIN,  /* queries blocked with NXDOMAIN */
	COUNT_NODATA,    /* queries blocked with an empty answer */
	COUNT_ADDRESS,   /* queries blocked with a configured address */
	COUNT_ALLOWED,   /* queries for blocked names that the allow list has */
	COUNT_NOT_READY, /* queries before each image was loaded once */
	COUNTS,
};

enum { COUNT_LISTS = 64 }; /* limit of list names in the life of a process */

/* Return: the list with this name, 0 to COUNT_LISTS - 1; -1: too many names. */
int counts_list(const char *name);
/* Wait-free, except that a thread's first call allocates memory. If memory is short, the call
 * counts nothing, and the thread's next call tries again. */
void counts_add(int list, enum count what);
/* Sum the counts of all threads, which may still count. */
void counts_sum(int list, uint64_t sums[COUNTS]);

/* The statistics file, for the folder that Prometheus' node_exporter reads. It is renamed when
 * complete, so a reader always finds a complete file. Lists that name the same file share it. */

struct weir_handle;

/* One view's part of the file. During a reload of the configuration, two parts may have the same
 * name. The file then has only the part that joined last. */
struct report_part {
	const char *name; /* the list's name */
	int list;         /* result of counts_list() */
	struct weir_handle *block, *allow; /* allow: NULL without an allow list */
	struct report_part *next;
	struct report_file *file;
};

/* Add a part, and write the file at once and then every @seconds. @part must stay valid until
 * report_leave(). Return: 0; or a negative errno: no memory, or no thread. */
int report_join(struct report_part *part, const char *path, uint32_t seconds);
/* Remove a part. If it is the file's last part, write the file once more first. A no-op for a part
 * that has not joined. */
void report_leave(struct report_part *part);

/* ---- the file's text ---- */

struct report_part;

/* @parts: the first part of a linked list
 * Return: the metrics of the parts, which the caller frees; NULL: memory is short, or the library
 *   failed, and weir_error_detail() has the reason. */
char *text_of(const struct report_part *parts);

#endif
