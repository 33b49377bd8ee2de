/* SPDX-License-Identifier: MIT
 * The verbs of a handle on texts: each filter does to them what its own keys had done. */
#include <weir/normalise.h>
#include "set/dual_write.h"
#include "set/generation.h"

int weir_handle_normal_contains(const struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu,
	                 answer = weir_normal_contains(weir__generation(h)->current, text, len));
	return answer;
}

int weir_handle_normal_insert(struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir__insert_text(weir__generation(h), text, len));
	return answer;
}
