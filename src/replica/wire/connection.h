/* SPDX-License-Identifier: MIT
 * What a wire is made of. */
#ifndef WEIR_REPLICA_CONNECTION_H
#define WEIR_REPLICA_CONNECTION_H

#include "link.h"

struct weir_wire {
	struct weir_manner manner;
	char *user, *password, *password_file, *sentinel_user, *sentinel_password;
	struct weir_link link;
	uint64_t number;
	struct weir_host moved;       /* where a Cluster said that the keys are; port 0: nowhere */
	char moved_name[WEIR_HOST_TEXT];
	char peer[WEIR_HOST_TEXT];
	char host[WEIR_HOST_TEXT];    /* to which it is connected */
};

/* Open another connection to a server, as this wire's user. */
int weir__wire_link(struct weir_wire *w, struct weir_link *l, const struct weir_host *host);
/* Connect to the master, if that is not done. */
int weir__wire_connect(struct weir_wire *w);
/* Close a connection that failed, or whose server cannot serve. Where there are several, the next
 * one is to another: a server that hangs or is cut off from the rest would be found again. */
void weir__wire_leave(struct weir_wire *w);

/* ---- passwords in memory and in files ---- */

/* The first line of a file. @out: receives malloc'ed text.
 * Return: 0; -EINVAL it is empty or too long; -ENOMEM; the errno of reading. */
int weir__secret_read(char **out, const char *path);
void weir__secret_free(char *secret);

#endif
