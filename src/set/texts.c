/* SPDX-License-Identifier: MIT
 * The verbs of a handle on texts: each filter does to them what its own keys had done. */
#include <weir/normalise.h>
#include "set/absent.h"
#include "set/generation.h"

int weir_handle_normal_contains(const struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu,
	                 answer = weir_normal_contains(weir__generation(h)->current, text, len));
	return answer;
}

/* H1, H10: into every filter of the record. */
static int insert(const struct weir_generation *g, const void *text, size_t len)
{
	const struct weir_given given = { .key = text ? text : "", .len = len, .text = true };
	int answer = g->absence ? weir__absence_keep(g->absence, &given) : 0;
	for (unsigned i = 0; i < WEIR_TAKERS && answer >= 0; i++) {
		struct weir_filter *taker = weir__taker(g, i);
		if (!taker)
			continue;
		int one = weir_normal_insert(taker, given.key, len);
		answer = one < 0 || i == 0 ? one : answer;
	}
	return answer;
}

int weir_handle_normal_insert(struct weir_handle *h, const void *text, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert(weir__generation(h), text, len));
	return answer;
}
