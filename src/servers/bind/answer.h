/* SPDX-License-Identifier: MIT
 * Answers to queries for blocked names. */
#ifndef WEIR_SERVERS_BIND_ANSWER_H
#define WEIR_SERVERS_BIND_ANSWER_H

#include "bind.h"
#include "options.h"

/* Answer the query and end it. The answer keeps the CNAMEs that led to this name.
 * @label: the first label of the suffix that is in the set
 * @given: receives the kind of answer; ANSWER_NODATA if no address of this type is configured
 * Return: the result that the hook passes to named. */
isc_result_t answer_blocked(query_ctx_t *q, const struct options *o, unsigned label,
                            enum answer *given);
/* Return: the kind of answer that answer_blocked() will give. */
enum answer answer_for(const query_ctx_t *q, const struct options *o);
/* Answer SERVFAIL with the extended error "Not Ready". */
isc_result_t answer_not_ready(query_ctx_t *q);

#endif
