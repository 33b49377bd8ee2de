/* SPDX-License-Identifier: MIT
 * What a client gets in place of a blocked name. */
#ifndef WEIR_SERVERS_BIND_ANSWER_H
#define WEIR_SERVERS_BIND_ANSWER_H

#include "bind.h"
#include "options.h"

/* Answer the query, as for a name that the set has from its label @label on, and end it. What is in
 * the answer already, the CNAMEs that lead here, stays.
 * @given: receives what was answered: ANSWER_NODATA too, where there is no address of this type.
 * Return: what the hook returns to named. */
isc_result_t answer_blocked(query_ctx_t *q, const struct options *o, unsigned label,
                            enum answer *given);
/* Which answer that will be. */
enum answer answer_for(const query_ctx_t *q, const struct options *o);
/* SERVFAIL, with the extended error "Not Ready". */
isc_result_t answer_not_ready(query_ctx_t *q);

#endif
