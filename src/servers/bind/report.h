/* SPDX-License-Identifier: MIT
 * The statistics file, as Prometheus' node_exporter collects it from a folder: written beside and
 * renamed, so that whoever reads it finds a whole one. Lists that name the same file share it. */
#ifndef WEIR_SERVERS_BIND_REPORT_H
#define WEIR_SERVERS_BIND_REPORT_H

#include <stdint.h>

struct weir_handle;

/* A view's part of the file. Of two with the same name, as for a moment in a reload of the
 * configuration, the one that joined last is written. */
struct report_part {
	const char *name; /* of the list */
	int list;         /* of counts.h */
	struct weir_handle *block, *allow; /* allow: or NULL */
	struct report_part *next;
	struct report_file *file;
};

/* Begin to write, at once and then every @seconds. @part must live until report_leave().
 * Return: 0 or a negative errno, with which no thread could be started. */
int report_join(struct report_part *part, const char *path, uint32_t seconds);
/* The last to leave has the file written once more. Without a join nothing happens. */
void report_leave(struct report_part *part);

#endif
