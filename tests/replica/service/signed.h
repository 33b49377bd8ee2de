/* SPDX-License-Identifier: MIT
 * Nodes of a signed set. */
#ifndef WEIR_TESTS_REPLICA_SERVICE_SIGNED_H
#define WEIR_TESTS_REPLICA_SERVICE_SIGNED_H

#include "service.h"

static char secret_file[300], public_file[300], state_file[300], other_state[300];

/* A node that trusts one key and has its secret. */
static inline struct weir_replica_options signer(void)
{
	struct weir_replica_options o = options();
	snprintf(secret_file, sizeof secret_file, "%s/secret", server.folder);
	snprintf(public_file, sizeof public_file, "%s/public", server.folder);
	snprintf(state_file, sizeof state_file, "%s/state", server.folder);
	snprintf(other_state, sizeof other_state, "%s/other", server.folder);
	if (access(secret_file, F_OK) != 0)
		assert_ok(weir_replica_key_make(secret_file, public_file));
	o.secret_key = secret_file;
	o.trusted_keys = public_file;
	o.state_file = state_file;
	return o;
}

static inline struct weir_replica_options follower(void)
{
	struct weir_replica_options o = signer();
	o.secret_key = NULL;
	o.state_file = other_state;
	return o;
}

#endif
